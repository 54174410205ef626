# The dashboards of monitoring/grafana: a model that Grafana reads as it is meant, units that fit the
# metrics, and queries of metrics that there are.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin, "$FindBin::Bin/../../monitoring/grafana";
use patience;
use Dashboard;
use JSON::PP;
use List::Util qw(first);
use PostgreSQL::Test::Utils;
use Test::More;
use scrape;

my @names = qw(working_set working_set_fleet);
my %dashboard = map { $_ => Dashboard->new(monitoring("grafana/$_.json")) } @names;

my %rules = map { $_ => 1 } map { slurp_file(monitoring("prometheus/$_.rules.yml")) =~ /^ *- record: (\S+)/mg }
  qw(working_set working_set_fleet);
my %metrics = map { %$_ } values %{ documented_metrics() };
cmp_ok(scalar(keys %metrics), '>', 30, 'README.md names the metrics');
# not ours: Prometheus' own, and what Debian's exporter says about itself
my %known = (%metrics, %rules, map { $_ => 1 } qw(up sql_exporter_last_scrape_failed));

# what Grafana stores for each kind of panel, and what it has no sensible default for
my %needed = (
	stat             => { options => [qw(reduceOptions colorMode graphMode textMode orientation)], defaults => [qw(unit thresholds noValue)] },
	timeseries       => { options => [qw(legend tooltip)], defaults => [qw(unit color custom)] },
	trend            => { options => [qw(legend tooltip xField)], defaults => [qw(unit color custom)] },
	table            => { options => [qw(showHeader cellHeight footer)], defaults => [qw(custom)] },
	'state-timeline' => { options => [qw(showValue rowHeight legend tooltip)], defaults => [qw(custom)] },
);

# The unit that the names of the metrics ask for.
sub unit_of
{
	my ($expr) = @_;
	$expr =~ s/ unless on \(\) sql_exporter_last_scrape_failed\{[^}]*\} == 1$//;
	return 'none' if $expr =~ /^count_values\("with", /;    # a sentence
	return 'none' if $expr =~ /^10 \* min .*_failure:max/;
	return 'suffix:MB' if $expr =~ s{ / 2\^20$}{} && $expr =~ /_bytes/;
	return 'percentunit' if $expr =~ m{ / };
	return 'none' if $expr =~ /^count by \(cluster\) \(max|^sum by \(verdict\)|^sum by \(cluster\) \(max by \(cluster, instance\) \(instance:working_set_scraped:max/;
	return 'rps' if $expr =~ /^count_values.*_lookups_total|_reads(?:_saved)?_per_second|_reads:rate/;
	return 'ops' if $expr =~ /\brate\(/;
	return 'percentunit' if $expr =~ /_ratio|:ratio/;
	return 'none' if $expr =~ /_(?:verdict|status|confidence|info|scrape_failed)\b/;
	return '?';
}

# Complaints about a query's selectors: each is of a metric that there is, and of those servers
# that were chosen.
sub selectors
{
	my ($expr) = @_;
	my @complaints;
	my $rest = $expr;
	while ($expr =~ /([a-zA-Z_:][\w:]*)?\{([^}]*)\}/g)
	{
		my ($metric, $labels) = ($1, $2);
		push @complaints, "no metric $metric" if defined $metric && !$known{$metric};
		push @complaints, "all clusters: $labels" unless $labels =~ /\bcluster=~"\$cluster"/;
		push @complaints, "all servers: $labels" unless $labels =~ /\binstance=~"\$instance"/;
		push @complaints, "all jobs: $labels" unless $labels =~ /\bjob=~"\$job"/;
	}
	$rest =~ s/[\w:]*\{[^}]*\}//g;
	$rest =~ s/"[^"]*"//g;
	push @complaints, "$_ without a selector" for grep { $known{$_} } $rest =~ /([a-zA-Z_:][\w:]*)/g;
	return @complaints;
}

# What a query's values are called: the legend, or the column that they become.
sub name_of
{
	my ($panel, $target) = @_;
	return $target->{legendFormat} if $target->{format} ne 'table';
	my $many = @{ $panel->{targets} } > 1;
	my $organize = first { $_->{id} eq 'organize' } @{ $panel->{transformations} };
	my $value = $many ? "Value #$target->{refId}" : 'Value';
	return undef if $organize->{options}{excludeByName}{$value};
	return $organize->{options}{renameByName}{$value};
}

for my $name (@names)
{
	my $model = $dashboard{$name}{model};
	my $text = slurp_file(monitoring("grafana/$name.json"));

	is($model->{id}, undef, "$name: the id is Grafana's to give");
	like($model->{uid}, qr/^[a-z-]{8,40}$/, 'the uid is fixed');
	cmp_ok($model->{schemaVersion}, '>=', 39, 'schema of Grafana 11');
	is_deeply([ grep { !defined $model->{$_} } qw(title description tags time refresh templating annotations links panels) ], [],
		'nothing is missing');
	unlike($text, qr{https?://|localhost|\b\d+\.\d+\.\d+\.\d+\b}, 'nothing depends on a host');

	cmp_ok(scalar $dashboard{$name}->panels, '<=', { working_set => 24, working_set_fleet => 8 }->{$name}, 'on one page');
	unlike($text, qr/"(?:dec)?[kmgtp]?bytes"|[KMG]iB/, 'sizes are in one unit');
	my (%id, %cell, @complaints);
	my %variable = map { $_->{name} => $_ } @{ $model->{templating}{list} };
	is($variable{datasource}{type}, 'datasource', 'the data source is a variable');
	is($variable{datasource}{query}, 'prometheus', 'for one of the type prometheus');
	is($model->{editable}, JSON::PP::false, 'what is generated is not edited in Grafana');
	is_deeply([ map { $_->{name} } grep { $_->{type} eq 'query' && !($_->{multi} && $_->{includeAll}) } values %variable ], [],
		'of each variable one, several or all can be chosen');

	for my $panel (@{ $model->{panels} })
	{
		my $what = "$panel->{id} $panel->{title}";
		my $at = $panel->{gridPos};
		push @complaints, "$what: id used twice" if $id{ $panel->{id} }++;
		push @complaints, "$what: wider than 24" if $at->{x} + $at->{w} > 24;
		for my $x ($at->{x} .. $at->{x} + $at->{w} - 1)
		{
			for my $y ($at->{y} .. $at->{y} + $at->{h} - 1)
			{
				push @complaints, "$what: covers panel $cell{$x, $y}" if $cell{ $x, $y };
				$cell{ $x, $y } = $panel->{id};
			}
		}
		if ($panel->{type} eq 'row')
		{
			push @complaints, "$what: not a row of width 1" unless $at->{h} == 1 && $at->{w} == 24 && $at->{x} == 0;
			next;
		}
		my $needed = $needed{ $panel->{type} };
		if (!$needed)
		{
			push @complaints, "$what: unknown type $panel->{type}";
			next;
		}
		push @complaints, "$what: no option $_" for grep { !defined $panel->{options}{$_} } @{ $needed->{options} };
		push @complaints, "$what: no $_" for grep { !defined $panel->{fieldConfig}{defaults}{$_} } @{ $needed->{defaults} };
		push @complaints, "$what: no description" unless length($panel->{description} // '') > 5;
		push @complaints, "$what: no interval" unless ($panel->{interval} // '') =~ /^\d+[sm]$/;
		push @complaints, "$what: another data source" if grep { $_->{datasource}{uid} ne '${datasource}' } $panel, @{ $panel->{targets} };
		push @complaints, "$what: no query" unless @{ $panel->{targets} };

		my (%ref, %shown);
		for my $target (@{ $panel->{targets} })
		{
			push @complaints, "$what: refId used twice" if $ref{ $target->{refId} }++;
			push @complaints, "$what: range and instant" if !$target->{range} == !$target->{instant};
			push @complaints, "$what: a query of the past where the present is shown"
			  if $panel->{type} =~ /^(?:stat|table|trend)$/ && !$target->{instant};
			my $shown = name_of($panel, $target);
			$shown{$shown} = 1 if defined $shown;

			push @complaints, map { "$what: $_" } selectors($target->{expr});
			my $wanted = unit_of($target->{expr});
			my $unit = defined $shown ? Dashboard::field($panel, $shown)->{unit} : 'none';
			push @complaints, "$what: unit " . ($unit // 'none') . ", not $wanted: $target->{expr}" if ($unit // 'none') ne $wanted;
		}
		push @complaints, "$what: two axes" if grep { $_->{id} eq 'custom.axisPlacement' } map { @{ $_->{properties} } } @{ $panel->{fieldConfig}{overrides} };

		# an override of a name that nothing has is a misspelling
		for my $transformation (grep { $_->{id} eq 'organize' } @{ $panel->{transformations} || [] })
		{
			$shown{$_} = 1 for values %{ $transformation->{options}{renameByName} };
		}
		if (!grep { /\{\{/ } keys %shown)
		{
			for my $override (@{ $panel->{fieldConfig}{overrides} })
			{
				my $of = $override->{matcher}{options};
				push @complaints, "$what: nothing is called $of" unless $shown{$of};
			}
		}
		push @complaints, "$what: no x" if $panel->{type} eq 'trend' && !$shown{ $panel->{options}{xField} };
	}
	for my $annotation (grep { $_->{target} } @{ $model->{annotations}{list} })
	{
		push @complaints, map { "annotation $annotation->{name}: $_" } selectors($annotation->{target}{expr});
	}
	push @complaints, map { "$_->{name}: another data source" } grep { $_->{datasource}{uid} !~ /^(?:\$\{datasource\}|-- Grafana --)$/ }
	  @{ $model->{annotations}{list} }, grep { $_->{type} eq 'query' } values %variable;
	is(join("\n", @complaints), '', "$name: panels");

	# variables of Grafana's own begin with two underscores
	my %used;
	$used{$1} = 1 while $text =~ /\$\{?([a-z]\w*)/g;
	is_deeply([ grep { !$variable{$_} } sort keys %used ], [], 'variables are defined');
	is_deeply([ grep { !$used{$_} } sort keys %variable ], [], 'and used');
}
isnt($dashboard{working_set}{model}{uid}, $dashboard{working_set_fleet}{model}{uid}, 'two dashboards');
like(slurp_file(monitoring('grafana/working_set_fleet.json')), qr{"/d/\Q$dashboard{working_set}{model}{uid}\E\?},
	'the fleet leads to its servers');

done_testing();

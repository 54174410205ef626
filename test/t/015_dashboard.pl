# The dashboards of monitoring/grafana: made from the mixin as it is, a model that Grafana
# reads as it is meant, units that fit the metrics, and each query, with the variables put in
# as Grafana does, answered by a real Prometheus that scrapes a real server.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin, "$FindBin::Bin/../../monitoring/grafana";
use patience;
use Dashboard;
use IPC::Run;
use JSON::PP;
use List::Util qw(first);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use scrape;

my $tmp = PostgreSQL::Test::Utils::tempdir();
my @names = qw(working_set working_set_fleet);
my %dashboard = map { $_ => Dashboard->new(monitoring("grafana/$_.json")) } @names;

# ---------------------------------------------------------------- made from the mixin

SKIP:
{
	skip 'there is no jsonnet on PATH', 3 unless find_program('jsonnet');
	system_or_bail(monitoring('mixin/generate'), $tmp);
	for my $name (@names)
	{
		ok(slurp_file("$tmp/$name.json") eq slurp_file(monitoring("grafana/$name.json")),
			"$name.json is what monitoring/mixin/generate makes");
	}
	system_or_bail(monitoring('mixin/generate'), "$tmp/other", q({ clusterLabel: 'env', selector: 'job="db"' }));
	is(join("\n", grep { !/\benv=~"\$cluster"/ || !/\bjob="db"/ || /\bcluster=/ } map { /(\{[^}]*\})/g }
			map { map { $_->{expr} } @{ $_->{targets} } } Dashboard->new("$tmp/other/working_set.json")->panels),
		'', 'another label and a selector are in each query');
}

# ---------------------------------------------------------------- the model

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
	heatmap          => { options => [qw(calculate color cellValues rowsFrame yAxis tooltip legend)], defaults => [] },
	table            => { options => [qw(showHeader cellHeight footer)], defaults => [qw(custom)] },
	'state-timeline' => { options => [qw(showValue rowHeight legend tooltip)], defaults => [qw(custom)] },
);

# The unit that the names of the metrics ask for.
sub unit_of
{
	my ($expr) = @_;
	$expr =~ s/ unless on \(\) sql_exporter_last_scrape_failed\{[^}]*\} == 1$//;
	return 'none' if $expr =~ /^count_values\("now", /;    # a sentence
	return 'dateTimeAsIso' if $expr =~ /^1000 \* .*timestamp/;
	return 's' if $expr =~ /^time\(\) - /;
	return 'percentunit' if $expr =~ m{ / };
	return 'none' if $expr =~ /^count (?:by \(cluster\) )?\(max|^count\(max|^sum by \((?:verdict|status)\)/;
	return 'short' if $expr =~ /^count\(|increase\(/;
	return 'rps' if $expr =~ /_reads(?:_saved)?_per_second|_reads:rate/;
	return 'ops' if $expr =~ /\brate\(|_lookups:rate/;
	return 'percentunit' if $expr =~ /_ratio|:ratio/;
	return 'binBps' if $expr =~ /_bytes_per_second/;
	return 'bytes' if $expr =~ /_bytes/;
	return 'short' if $expr =~ /_pages|^max by \(duration_seconds\) \(lfc_/;
	return 'none' if $expr =~ /_(?:verdict|status|tracking|worker_running|advice_reliable|info|instances|scrape_failed)\b/;
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
			my $unit =
			    $panel->{type} eq 'heatmap' ? $panel->{options}{cellValues}{unit}
			  : defined $shown              ? Dashboard::field($panel, $shown)->{unit}
			  :                               'none';
			push @complaints, "$what: unit " . ($unit // 'none') . ", not $wanted: $target->{expr}" if ($unit // 'none') ne $wanted;
		}
		if ($panel->{type} eq 'heatmap')
		{
			# Grafana puts rows in order if their names are numbers; names of another kind stay as they come
			push @complaints, "$what: rows are not named by their number"
			  unless $panel->{targets}[0]{legendFormat} =~ /^\{\{\w+_seconds\}\}$/ && $panel->{options}{yAxis}{unit} eq 's';
			# as a `heatmap' it would subtract neighbours, taking them for a cumulative histogram
			push @complaints, "$what: not a time series" if $panel->{targets}[0]{format} ne 'time_series';
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
				for my $property (@{ $override->{properties} })
				{
					push @complaints, "$what: nothing is called $property->{value}"
					  if $property->{id} eq 'custom.fillBelowTo' && !$shown{ $property->{value} };
				}
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

# ---------------------------------------------------------------- the pictures

# The titles of a table's columns.
sub columns
{
	my ($panel) = @_;
	return map { my $o = $_->{options}; map { $o->{renameByName}{$_} } grep { !$o->{excludeByName}{$_} } sort keys %{ $o->{renameByName} } }
	  grep { $panel->{type} eq 'table' && $_->{id} eq 'organize' } @{ $panel->{transformations} // [] };
}

for my $row (map { $dashboard{$_}->rows } @names)
{
	my ($word) = lc($row->{title}) =~ /(\w+)/;
	my $file = "$FindBin::Bin/../../doc/dashboard_$word.svg";
	my $svg = -e $file ? slurp_file($file) : '';
	is(join(', ', grep { $svg !~ />$_</ } map { quotemeta(Dashboard::escaped($_)) =~ s/\\\$instance/[\\w.:-]+/r } $row->{title}, map { ($_->{title}, columns($_)) } @{ $row->{panels} }),
		'', "doc/dashboard_$word.svg has all of the row");
	cmp_ok(length $svg, '<', 150_000, 'and is not large');
	unlike($svg, qr/>-?\d+\.\.\.</, 'and no number is cut off');
}

# ---------------------------------------------------------------- real data

my @missing = grep { !find_program($_) } qw(prometheus prometheus-sql-exporter pgbench);
if (@missing)
{
	SKIP: { skip "there is no @missing on PATH", 1 }
	done_testing();
	exit;
}

# smaller than what is worked on, and in a hurry to say so
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf(
	'postgresql.conf', q{
shared_preload_libraries = 'working_set'
working_set.interval = 1
working_set.hold = 2
working_set.save = 2
compute_query_id = on
shared_buffers = '16MB'
log_statement = none
autovacuum = off
fsync = off
});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION working_set');
$node->command_ok([ 'psql', '-X', '-q', '-d', $node->connstr('postgres'), '-f', monitoring('grants.sql') ], 'grants.sql');
# five seconds are not much on a busy machine
$node->safe_psql('postgres', q{ALTER ROLE working_set_scrape SET statement_timeout = '10min'});
$node->poll_query_until('postgres', 'SELECT memory_limit_bytes > 0 FROM working_set_recommendation');
pretend_memory_advice($node, 'public');
$node->safe_psql('postgres', 'ALTER ROLE working_set_scrape IN DATABASE postgres SET search_path = pg_catalog, figures, public, pg_temp');
$node->command_ok([ 'pgbench', '-i', '-q', '-s', '3', '-p', $node->port, '-h', $node->host, 'postgres' ], 'tables');

my @running;
END
{
	my $status = $?;
	$_->kill_kill(grace => 10) for @running;
	$? = $status;
}
push @running, IPC::Run::start(
	[ 'pgbench', '-n', '-S', '-M', 'prepared', '-R', '2000', '-T', '1800', '-h', $node->host, '-p', $node->port, 'postgres' ],
	'<', \undef, '>', '/dev/null', '2>', '/dev/null');

my $began = time;
my ($in, $out, $err) = ('', '', '');
push @running, IPC::Run::start([
	'bash', '-c', q{
		set -euo pipefail
		. "$1/lib.sh"
		begin_monitoring "$2"
		start_exporter "$3" "$4" postgres working_set_scrape 1s "$1"/prometheus-sql-exporter/*.yml
		start_prometheus 1s
		hold_monitoring
	}, 'bash', monitoring('.'), $tmp, $node->host, $node->port ], '<', \$in, '>', \$out, '2>', \$err);
my $monitoring = $running[-1];
my $prometheus;
eventually(sub {
	die "monitoring/lib.sh: $err" if !$monitoring->pumpable;
	$monitoring->pump_nb;
	return ($prometheus) = $out =~ /^prometheus (\S+)\n/m;
}) or die "monitoring/lib.sh: $err";

for my $dashboard (values %dashboard)
{
	@$dashboard{qw(prometheus from)} = ($prometheus, $began);
}

# The servers that Grafana offers
sub servers
{
	my ($dashboard) = @_;
	my $variable = first { $_->{name} eq 'instance' } @{ $dashboard->{model}{templating}{list} };
	my ($selector, $label) = $variable->{query}{query} =~ /^label_values\((.*), (\w+)\)$/ or die 'not label_values()';
	is($variable->{definition}, $variable->{query}{query}, 'the variable says twice what it asks');
	my $query = $dashboard->substituted("count by ($label) ($selector)");
	my @names;
	eventually(sub { @names = map { $_->{metric}{$label} } @{ $dashboard->ask('query', query => $query)->{result} } });
	return @names;
}
$_->{to} = time for values %dashboard;
my @servers = servers($dashboard{working_set});
is(scalar @servers, 1, 'one server is offered') or diag($err);
$dashboard{working_set}{variables}{instance} = $servers[0];

# Complaints about one panel's results
sub complaints
{
	my ($dashboard, $panel) = @_;
	my @complaints;
	for my $target (@{ $panel->{targets} })
	{
		my $series = $dashboard->series($panel, $target);
		if (!grep { @{ $_->{points} } } @$series)
		{
			push @complaints, "$target->{refId} has no data: " . $dashboard->substituted($target->{expr}, $panel, $target);
			next;
		}
		my %seen;
		push @complaints, "$target->{refId}: two series of the same name" if $target->{format} eq 'time_series'
		  && grep { $seen{ Dashboard::legend($target, $_->{labels}) }++ } @$series;
		next unless $panel->{type} eq 'heatmap';
		push @complaints, 'rows that are not numbers' if grep { Dashboard::legend($target, $_->{labels}) !~ /^\d+$/ } @$series;
		push @complaints, 'one row' if @$series < 2;
	}
	return @complaints if @complaints;

	if ($panel->{type} eq 'stat' || $panel->{type} eq 'state-timeline')
	{
		for my $target (@{ $panel->{targets} })
		{
			for my $series (@{ $dashboard->series($panel, $target) })
			{
				my $field = Dashboard::field($panel, Dashboard::legend($target, $series->{labels}));
				next unless @{ $field->{mappings} || [] };
				my $value = $series->{points}[-1][1];
				push @complaints, "$value means nothing" unless grep { $_->{options}{$value} } @{ $field->{mappings} };
			}
		}
	}
	elsif ($panel->{type} eq 'table' || $panel->{type} eq 'trend')
	{
		my $table = $dashboard->table($panel);
		for my $column (@{ $table->{columns} })
		{
			push @complaints, "nothing in $column" unless grep { length($_->{$column} // '') } @{ $table->{rows} };
			push @complaints, "column $column" if $column =~ /^(?:Time|Value\b.*)$/;
		}
		if ($panel->{type} eq 'trend')
		{
			my @x = map { $_->{ $panel->{options}{xField} } } @{ $table->{rows} };
			push @complaints, "not in order: @x" unless @x > 3 && !grep { $x[$_] >= $x[ $_ + 1 ] } 0 .. $#x - 1;
		}
	}
	return @complaints;
}

# All that was there at once: a minute is needed for a recommendation.
my %complaints;
my $complete;
eventually(sub {
	%complaints = ();
	$complete = time;
	$_->{to} = $complete for values %dashboard;
	for my $name (@names)
	{
		for my $panel ($dashboard{$name}->panels)
		{
			my @found = complaints($dashboard{$name}, $panel);
			$complaints{"$name $panel->{title}"} = join "\n", @found if @found;
		}
	}
	return !%complaints;
});
for my $name (@names)
{
	is($complaints{"$name $_->{title}"} // '', '', "$name, $_->{title}: there is data") for $dashboard{$name}->panels;
	for my $annotation (grep { $_->{target} } @{ $dashboard{$name}{model}{annotations}{list} })
	{
		ok($dashboard{$name}->ask('query', query => $dashboard{$name}->substituted($annotation->{target}{expr})),
			"annotation $annotation->{name}");
	}
}

# --- some figures beside SQL's

sub panel
{
	my ($title) = @_;
	my $panel = first { $_->{title} eq $title } $dashboard{working_set}->panels;
	die "no panel $title" unless $panel;
	return $panel;
}

sub shown_by
{
	my ($title) = @_;
	my $panel = panel($title);
	my $series = $dashboard{working_set}->series($panel, $panel->{targets}[0]);
	return (Dashboard::shown(@$series ? $series->[0]{points}[-1][1] : undef, Dashboard::field($panel, '')))[0];
}
is(shown_by('shared_buffers'), '16.0 MiB', 'shared_buffers in its unit');
# two moments: a few tries until they agree
my ($shown, $said);
eventually(sub {
	$dashboard{working_set}{to} = time if $shown;
	$shown = shown_by('Status') . ' ' . shown_by('Verdict');
	$said = $node->safe_psql('postgres', q{SELECT status || ' ' || verdict FROM working_set_recommendation});
	return $shown eq $said;
});
is($shown, $said, 'status and verdict by their names');
like(shown_by('Hit ratio now'), qr/^\d\d\.\d\d%$/, 'a ratio as percentage');
my $advice = $dashboard{working_set}->table(panel('Hit ratio against shared_buffers'));
is_deeply([ map { $_->{'Size of shared_buffers'} } grep { defined $_->{'Present size'} } @{ $advice->{rows} } ],
	[ 16 * 1024 * 1024 ], 'the present size is marked, and no other');
is(scalar(grep { $_->{'Lower bound'} > $_->{Predicted} || $_->{'Upper bound'} < $_->{Predicted} } @{ $advice->{rows} }),
	0, 'what is predicted is within its bounds');

my $memory = $dashboard{working_set}->table(panel('Disk reads against memory'));
my ($limit) = split /\n/, $node->safe_psql('postgres', 'SELECT memory_bytes FROM figures.memory WHERE present');
is_deeply([ map { $_->{Memory} } grep { defined $_->{Now} && defined $_->{Suggested} } @{ $memory->{rows} } ], [$limit],
	'the present memory is marked, and no other');
is(scalar @{ $memory->{rows} }, 15, 'among all sizes of memory');

# The query of pgbench reads random accounts.  Its identifier is what SQL shows for it.
my $queries = $dashboard{working_set}->table(panel('Queries that use most in five minutes'));
my ($id) = split /\n/, $node->safe_psql('postgres', q{SELECT query_id FROM pg_stat_activity WHERE query LIKE 'SELECT abalance FROM pgbench_accounts%' AND query_id IS NOT NULL});
my ($row) = grep { $_->{Query} eq $id } @{ $queries->{rows} };
is(join(' ', @{ $row // {} }{qw(Database Role)}), 'postgres ' . $node->safe_psql('postgres', 'SELECT current_user'), 'a query has its database and its role');
# two questions to the server, a moment apart
cmp_ok(1.02 * ($row->{'In the set'} // 0), '>=', $row->{Alone} // 1, 'of what it uses, others use a part');
cmp_ok($row->{Reads} // 0, '>', 0, 'and it reads');
cmp_ok(scalar @{ $queries->{rows} }, '<=', 20, 'there are no more than twenty');

# --- drawn

mkdir "$tmp/pictures";
for my $name (@names)
{
	my @variables = $name eq 'working_set' ? "instance=$servers[0]" : ();
	command_ok([ monitoring('grafana/render'), monitoring("grafana/$name.json"), $prometheus, $began, $complete, "$tmp/pictures", @variables ],
		"$name is drawn");
}
my @pictures = glob("$tmp/pictures/*.svg");
is(scalar @pictures, scalar(map { $dashboard{$_}->rows } @names), 'each row');
for my $file (@pictures)
{
	my $svg = slurp_file($file);
	my ($word) = $file =~ m{/(dashboard_\w+\.svg)$};
	unlike($svg, qr/No data|not known|nan|inf\b/i, "$word has it all");
	# what is opened is closed, in order
	my @open;
	while ($svg =~ m{<(/?)(\w+)[^>]*?(/?)>}g)
	{
		if ($1) { (pop @open // '') eq $2 or last; }
		elsif (!$3) { push @open, $2; }
	}
	is_deeply(\@open, [], "$word is XML");
}

# --- the server stops: Debian's exporter goes on with its last figures, the dashboard does not

$node->stop('fast');
my @still;
eventually(sub {
	$dashboard{working_set}{to} = time;
	@still = ();
	for my $row ($dashboard{working_set}->rows)
	{
		next if $row->{title} =~ /^Health/;
		for my $panel (grep { $_->{title} ne 'Reasons given in this range' } @{ $row->{panels} })
		{
			for my $target (@{ $panel->{targets} })
			{
				my $now = { %$target, instant => 1 };
				push @still, $panel->{title} if @{ $dashboard{working_set}->series($panel, $now) };
			}
		}
	}
	return !@still;
});
is("@still", '', 'a server that is down has no present figures');
my $states = panel('Status over time');
my ($scrape) = grep { $_->{legendFormat} eq 'scrape' } @{ $states->{targets} };
is($dashboard{working_set}->series($states, { %$scrape, instant => 1 })->[0]{points}[0][1], 0, 'and is said to be down');

done_testing();

# The dashboards of monitoring/grafana: each query, with the variables put in as Grafana does, is
# answered by a real Prometheus that scrapes a real server, and each panel has what it is to show.
# What clients did in a minute they did for a week, and the time since is Prometheus' own.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin, "$FindBin::Bin/../../monitoring/grafana";
use patience;
use past;
use Dashboard;
use IPC::Run;
use List::Util qw(first);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use scrape;

my $tmp = PostgreSQL::Test::Utils::tempdir();
my @names = qw(working_set working_set_fleet);
my %dashboard = map { $_ => Dashboard->new(monitoring("grafana/$_.json")) } @names;
my @missing = grep { !find_program($_) } qw(prometheus prometheus-sql-exporter pgbench);
plan skip_all => "there is no @missing on PATH" if @missing;

# smaller than what is worked on, and in a hurry to say so
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf(
	'postgresql.conf', q{
shared_preload_libraries = 'working_set'
working_set.interval = 1
working_set.save = 2
working_set.break_even = 30
compute_query_id = on
shared_buffers = '16MB'
log_statement = none
autovacuum = off
fsync = off
});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION working_set');
grant($node);
$node->poll_query_until('postgres', 'SELECT memory_limit_bytes > 0 FROM working_set_recommendation');
pretend_memory_advice($node, 'public');
$node->safe_psql('postgres', 'ALTER ROLE working_set_scrape IN DATABASE postgres SET search_path = pg_catalog, figures, public, pg_temp');
$node->command_ok([ 'pgbench', '-i', '-q', '-s', '3', '-p', $node->port, '-h', $node->host, 'postgres' ], 'tables');
$node->command_ok([ 'pgbench', '-n', '-S', '-c', '2', '-T', '62', '-p', $node->port, '-h', $node->host, 'postgres' ], 'a minute of work');
$node->poll_query_until('postgres', q{SELECT status = 'ok' AND read_time_share IS NOT NULL FROM working_set_recommendation});
$node->stop;
give_past($node, 7, -1, 0.1);
$node->start;

run_until_end(
	[ 'pgbench', '-n', '-S', '-M', 'prepared', '-R', '2000', '-T', 10 * patience(), '-h', $node->host, '-p', $node->port, 'postgres' ],
	'<', \undef, '>', '/dev/null', '2>', '/dev/null');

my $began = time;
my $prometheus = start_prometheus(qq{start_exporter "\$1" "\$2" postgres working_set_scrape 1s "\${\@:3}"; start_prometheus 1s},
	$node->host, $node->port, glob(monitoring('prometheus-sql-exporter/*.yml')))->{url};

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
is(scalar @servers, 1, 'one server is offered');
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
is(shown_by('shared_buffers'), '16 MB', 'shared_buffers in its unit');
# two moments: a few tries until they agree
my ($shown, $said);
eventually(sub {
	$dashboard{working_set}{to} = time if $shown;
	$shown = shown_by('Measurement') . ' ' . shown_by('Verdict');
	$said = $node->safe_psql('postgres', q{SELECT status || ' ' || verdict FROM working_set_recommendation});
	return $shown eq $said;
});
is($shown, $said, 'status and verdict by their names');
like(shown_by('Reads, of query time'), qr/^\d+\.\d%$/, 'a ratio as percentage');
for my $of (['Reads against shared_buffers', 'Measured'], ['Query time for reads against shared_buffers', 'Present'])
{
	my $advice = $dashboard{working_set}->table(panel($of->[0]));
	is_deeply([ map { $_->{shared_buffers} } grep { defined $_->{ $of->[1] } } @{ $advice->{rows} } ],
		[16], "$of->[0]: the present size is marked, and no other");
}

my $memory = $dashboard{working_set}->table(panel('Disk reads against memory'));
my ($limit) = split /\n/, $node->safe_psql('postgres', 'SELECT memory_bytes / 1048576.0::float8 FROM figures.memory WHERE present');
is_deeply([ map { sprintf '%.3f', $_->{Memory} } grep { defined $_->{Now} && defined $_->{Suggested} } @{ $memory->{rows} } ], [ sprintf '%.3f', $limit ],
	'the present memory is marked, and no other');
is(scalar @{ $memory->{rows} }, 15, 'among all sizes of memory');

# The query of pgbench reads random accounts.  The end of its identifier is what SQL shows for it.
my $queries = $dashboard{working_set}->table(panel('Queries'));
my ($id) = split /\n/, $node->safe_psql('postgres', q{SELECT right(query_id::text, 6) FROM pg_stat_activity WHERE query LIKE 'SELECT abalance FROM pgbench_accounts%' AND query_id IS NOT NULL});
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
	for my $panel ($dashboard{working_set}->panels)
	{
		for my $target (grep { ($_->{legendFormat} // '') ne 'scrape' } @{ $panel->{targets} })
		{
			push @still, $panel->{title} if @{ $dashboard{working_set}->series($panel, { %$target, instant => 1 }) };
		}
	}
	return !@still;
});
is("@still", '', 'a server that is down has no present figures');
my $states = panel('Verdict and measurement');
my ($scrape) = grep { $_->{legendFormat} eq 'scrape' } @{ $states->{targets} };
my $is_up;
eventually(sub {
	$dashboard{working_set}{to} = time;
	my ($series) = @{ $dashboard{working_set}->series($states, { %$scrape, instant => 1 }) };
	$is_up = $series ? $series->{points}[0][1] : 'unknown';
	return $is_up eq '0';
});
is($is_up, 0, 'and is said to be down');

done_testing();

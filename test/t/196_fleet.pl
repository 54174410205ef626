# A fleet in which servers and exporters fail, as a real Prometheus sees it by way of four kinds of exporters:
# what is the matter with each server, in the recording rules; that the dashboard of the fleet counts each
# once, shows those without figures first and says why; and that the alerts are of the same servers.

use strict;
use warnings;
use FindBin;
use IPC::Run;
use JSON::PP;
use lib $FindBin::Bin, "$FindBin::Bin/../../monitoring/grafana";
use patience;
use Dashboard;
use HTTP::Tiny;
use List::Util qw(first);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use scrape;

my @missing = grep { !find_program($_) } qw(prometheus prometheus-sql-exporter prometheus-postgres-exporter);
plan skip_all => "there is no @missing on PATH" if @missing;

my $tmp = PostgreSQL::Test::Utils::tempdir();

# ---------------------------------------------------------------- servers

sub new_node
{
	my ($name, @settings) = @_;
	my $n = PostgreSQL::Test::Cluster->new($name);
	$n->init;
	$n->append_conf('postgresql.conf', join "\n", "shared_buffers = '16MB'", 'autovacuum = off', 'fsync = off', @settings, '');
	$n->start;
	$n->safe_psql('postgres', 'CREATE EXTENSION working_set');
	grant($n);
	return $n;
}

my $preload = "shared_preload_libraries = 'working_set'";
my $main = new_node('main', $preload);
my $off = new_node('off', $preload, 'working_set.enabled = off');
my $bare = new_node('bare');
my $stops = new_node('stops', $preload);
# each of these roles sees views of its own
$main->safe_psql('postgres', q{
	CREATE DATABASE other;
	CREATE ROLE stranger LOGIN;
	CREATE ROLE half LOGIN IN ROLE pg_monitor;
	CREATE SCHEMA half;
	CREATE VIEW half.working_set_cache_advice AS SELECT * FROM public.working_set_cache_advice WHERE 1 / (SELECT 0) > 0;
	CREATE ROLE stale LOGIN IN ROLE pg_monitor;
	CREATE SCHEMA stale;
	CREATE VIEW stale.working_set_recommendation AS
		SELECT (jsonb_populate_record(r, '{"status": "stale", "verdict": null}')).* FROM public.working_set_recommendation r;
	GRANT USAGE ON SCHEMA half TO half;
	GRANT USAGE ON SCHEMA stale TO stale;
	GRANT SELECT ON half.working_set_cache_advice TO half;
	GRANT SELECT ON stale.working_set_recommendation TO stale;
	ALTER ROLE half SET search_path = half, public;
	ALTER ROLE stale SET search_path = stale, public;
});

sub url
{
	my ($n, %params) = @_;
	return 'postgres://' . ($params{user} || 'working_set_scrape') . '@/' . ($params{database} || 'postgres') . '?host=' . $n->host . '&port=' . $n->port . '&sslmode=disable';
}

# ---------------------------------------------------------------- exporters

# Of many servers, by way of the stand-in for burningalchemist's: (address, process)
sub many
{
	my ($name, %clusters) = @_;
	my $text = slurp_file(monitoring('sql_exporter/sql_exporter_jobs.yml')) =~ s/^jobs:.*//msr;
	my $collectors = File::Spec->rel2abs(monitoring('sql_exporter'));
	$text =~ s{- 'working_set\*}{- '$collectors/working_set*} or die 'no collector_files';
	$text =~ s/^( *scrape_timeout): .*/$1: 600s/m or die 'no scrape_timeout';
	$text .= "jobs:\n";
	for my $cluster (sort keys %clusters)
	{
		my %url = %{ $clusters{$cluster} };
		$text .= "  - job_name: $cluster\n    collectors:\n      - working_set\n    static_configs:\n      - targets:\n"
		  . join('', map { "          '$_': '$url{$_}'\n" } sort keys %url);
	}
	append_to_file("$tmp/$name.yml", $text);
	return start_stand_in("$tmp/$name.yml");
}

my $nowhere = PostgreSQL::Test::Cluster::get_free_port();
my ($monitor) = many('monitor',
	shop => {
		well => url($main),
		half => url($main, user => 'half'),
		stale => url($main, user => 'stale'),
		not_tracking => url($off),
		down => "postgres://nobody\@127.0.0.1:$nowhere/postgres?sslmode=disable",
		refused => url($main, user => 'no_such_role') },
	billing => {
		well => url($main),
		no_extension => url($main, database => 'other'),
		no_grant => url($main, user => 'stranger'),
		not_preloaded => url($bare) });
my ($monitor2, $exporter2) = many('monitor2', billing => { behind_monitor2 => url($main) });
my %debian = (debian => new_exporter($main), debian_half => new_exporter($main, user => 'half'),
	debian_down => new_exporter($stops), debian_exporter_down => new_exporter($main));
my %postgres = (postgres => new_postgres_exporter($main, 'queries'), postgres_half => new_postgres_exporter($main, 'queries', user => 'half'),
	postgres_down => new_postgres_exporter($stops, 'queries'));

# ---------------------------------------------------------------- Prometheus

# The targets of a job, each an instance of the cluster billing
sub targets
{
	my ($job, %address) = @_;
	my $list = [ map { { targets => [ $address{$_} ], labels => { instance => $_, $job eq 'working_set_exporter' ? () : (cluster => 'billing') } } } sort keys %address ];
	open my $fh, '>', "$tmp/$job.new" or die $!;
	print $fh encode_json($list);
	close $fh;
	rename "$tmp/$job.new", "$tmp/$job.json" or die $!;
	return;
}

my %one_each = map { $_ => "127.0.0.1:$debian{$_}{port}" } keys %debian;
targets('working_set_debian', %one_each);
targets('working_set_exporter', monitor => $monitor, monitor2 => $monitor2);
targets('working_set_postgres_exporter', map { my ($address) = $postgres{$_}{url} =~ m{//([^/]+)/}; ($_ => $address) } keys %postgres);
# this exporter is asked about one server, by another name
my ($taken_out) = many('taken_out', shop => { taken_out => url($main) });
targets('working_set', taken_out => $taken_out);

my $config = slurp_file(monitoring('prometheus/prometheus.yml'));
$config =~ s/^( *(?:scrape_interval|evaluation_interval|scrape_timeout): ).*/${1}20s/mg;
$config =~ s{^rule_files:\n(?:  .*\n)*}{rule_files: ['RULES/*.yml']\n}m or die 'no rule_files';
$config =~ s{(- job_name: (\w+)\n.*?)    static_configs:\n(?:      [^\n]*\n)+}{$1    file_sd_configs: [{files: ['$tmp/$2.json'], refresh_interval: 1s}]\n}sg;
append_to_file("$tmp/prometheus.yml", $config);
my $p = start_prometheus(qq{CONFIG=\$1\nprometheus_configuration() { sed "s:RULES:\$monitoring_dir/rules:" "\$CONFIG"; }\nstart_prometheus 20s}, "$tmp/prometheus.yml");

# ---------------------------------------------------------------- what is the matter

my %failure = (
	'shop well' => 0, 'shop half' => 3, 'shop stale' => 2, 'shop not_tracking' => 1, 'shop down' => 7, 'shop refused' => 7,
	'billing well' => 0, 'billing no_extension' => 6, 'billing no_grant' => 6, 'billing not_preloaded' => 6,
	'billing behind_monitor2' => 0, 'billing debian' => 0, 'billing debian_half' => 3, 'billing debian_down' => 0,
	'billing debian_exporter_down' => 0, 'billing postgres' => 0, 'billing postgres_half' => 3, 'billing postgres_down' => 0,
	'billing taken_out' => 0);

sub name_of { my ($labels) = @_; return "$labels->{cluster} $labels->{instance}"; }

sub as_text { my (%value) = @_; return join ', ', map { "$_ $value{$_}" } sort keys %value; }

# Groups of rules are evaluated one after another.
sub becomes
{
	my ($ask, $expected, $what) = @_;
	my $found;
	eventually(sub { $found = $ask->(); return $found eq $expected });
	is($found, $expected, $what);
	return;
}

# What Prometheus says of each
sub failures_are
{
	my ($what) = @_;
	becomes(sub { as_text(map { name_of($_->{metric}) => $_->{value}[1] } @{ ask_prometheus($p, 'query', query => 'instance:working_set_failure:max')->{result} }) },
		as_text(%failure), $what);
	return;
}
failures_are('what is the matter with each server; exporters are none');

$stops->stop;
$exporter2->kill_kill(grace => 5);
stop_exporter($debian{debian_exporter_down});
# nobody asks taken_out any more; while an exporter of several servers is down, it might be one of its servers
targets('working_set');
@failure{ 'billing behind_monitor2', 'billing debian_down', 'billing debian_exporter_down', 'billing postgres_down', 'billing taken_out' } = (9, 4, 8, 7, 9);
failures_are('and what they become when servers and exporters stop');

# ---------------------------------------------------------------- the dashboard

my $began = time - 60;
my $fleet = Dashboard->new(monitoring('grafana/working_set_fleet.json'), prometheus => $p->{url}, from => $began, to => time + 1);    # the sample of this second too

sub panel
{
	my ($title) = @_;
	my $panel = first { $_->{title} eq $title } $fleet->panels;
	return $panel // die "no panel $title";
}

# {name => value} of a panel with one query
sub figures
{
	my ($panel) = @_;
	$fleet->{to} = time + 1;
	return { map { Dashboard::legend($panel->{targets}[0], $_->{labels}) => $_->{points}[-1][1] } @{ $fleet->series($panel, $panel->{targets}[0]) } };
}

my @all = sort keys %failure;
my @without = grep { $failure{$_} >= 4 } @all;
my %of;
for (@all) { my ($cluster) = split / /; $of{$cluster}[0]++; $of{$cluster}[1]++ if $failure{$_} < 4; }

my ($tile) = keys %{ figures(panel('Servers with figures')) };
is($tile, (@all - @without) . ' of ' . @all, 'the tile says how many of how many have figures');
my $sum = 0;
$sum += $_ for values %{ figures(panel('Verdicts')) };
is($sum, scalar @all, 'each server has one verdict, or none');

my $table = panel('All servers, worst first');
my @rows = @{ $fleet->table($table)->{rows} };
is(scalar @rows, scalar @all, 'the table has a row for each');
for my $by (reverse @{ $table->{options}{sortBy} })
{
	@rows = sort { ($b->{ $by->{displayName} } // -1) <=> ($a->{ $by->{displayName} } // -1) } @rows;
}
my %says = map { ("$_->{Cluster} $_->{Server}" => (Dashboard::shown($_->{Verdict}, Dashboard::field($table, 'Verdict')))[0]) } @rows;
is(join(', ', sort map { "$_->{Cluster} $_->{Server}" } @rows[ 0 .. $#without ]), join(', ', @without), 'those without figures come first');
is(join(', ', grep { $says{$_} !~ /^no figures: [a-z]/ } @without), '', 'with the reason in words');
my %words = (
	'shop down' => qr/server down, or role refused$/, 'shop refused' => qr/server down, or role refused$/, 'billing postgres_down' => qr/server down, or role refused$/,
	'billing no_extension' => qr/extension or rights missing$/, 'billing debian_down' => qr/queries fail$/, 'billing debian_exporter_down' => qr/exporter or server down$/,
	'billing behind_monitor2' => qr/its exporter is down$/, 'billing taken_out' => qr/its exporter is down$/,
	'shop half' => qr/some figures missing/, 'billing debian_half' => qr/some figures missing/, 'billing postgres_half' => qr/some figures missing/,
	'shop stale' => qr/worker is late$/, 'shop not_tracking' => qr/not counted$/);
like($says{$_}, $words{$_}, "$_: $says{$_}") for sort keys %words;
is(join(', ', map { "$_->{Cluster} $_->{Server}" } grep { keys %$_ > 3 && $failure{"$_->{Cluster} $_->{Server}"} >= 4 } @rows), '',
	'what has no figures shows none, not the rates of minutes ago either');

for my $row (@{ $fleet->table(panel('Sums by cluster'))->{rows} })
{
	is("$row->{'With figures'} of $row->{Servers}", "$of{ $row->{Cluster} }[1] of $of{ $row->{Cluster} }[0]", "$row->{Cluster}: the same servers in its sums");
}
for my $rule ([ 'cluster:working_set_instances:count', 0 ], [ 'cluster:working_set_scraped:sum', 1 ])
{
	my ($name, $i) = @$rule;
	becomes(sub { as_text(map { $_->{metric}{cluster} => $_->{value}[1] } @{ ask_prometheus($p, 'query', query => $name)->{result} }) },
		as_text(map { $_ => $of{$_}[$i] } keys %of), "$name counts them, too");
}
my @offered = map { $_->{query}{query} =~ /^label_values\((.*), \w+\)$/ ? $fleet->substituted($1) : () } grep { $_->{name} eq 'instance' } @{ $fleet->{model}{templating}{list} };
is(scalar @{ ask_prometheus($p, 'query', query => "count by (cluster, instance) ($offered[0])")->{result} }, scalar @all, 'each of them can be chosen');

command_ok([ monitoring('grafana/render'), monitoring('grafana/working_set_fleet.json'), $p->{url}, $began, time, $ENV{WS_PICTURES} // $tmp ], 'it is drawn');

# ---------------------------------------------------------------- the alerts

sub alerts
{
	my ($alert) = @_;
	return join ', ', sort map { ($_->{metric}{cluster} // '') . " $_->{metric}{instance}" }
	  @{ ask_prometheus($p, 'query', query => qq(ALERTS{alertname="$alert"}))->{result} };
}
becomes(sub { alerts('WorkingSetScrapeFailing') }, join(', ', sort(' monitor2', grep { $failure{$_} != 9 } @without)),
	'WorkingSetScrapeFailing is about to be raised for each server without figures, and once for those of an exporter');
becomes(sub { alerts('WorkingSetScrapeIncomplete') }, join(', ', grep { $failure{$_} == 3 } @all),
	'WorkingSetScrapeIncomplete for each with a query that fails, with each kind of exporter');

stop_prometheus($p);
$_->stop for $main, $off, $bare;
done_testing();

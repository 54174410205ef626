# Failures as Prometheus sees them, through a stand-in for burningalchemist/sql_exporter, which
# is no package: what it answers to each failure of a server, and which alerts a real
# Prometheus, if there is one, is about to raise.  One exporter asks all the servers, by a
# copy of monitoring/sql_exporter/sql_exporter_jobs.yml.

use strict;
use warnings;
use FindBin;
use HTTP::Tiny;
use IPC::Run;
use lib $FindBin::Bin;
use patience;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use scrape;

my $tmp = PostgreSQL::Test::Utils::tempdir();
# an answer of all servers takes long on a busy machine
my $http = HTTP::Tiny->new(timeout => patience());
my $copies = 0;

# ---------------------------------------------------------------- servers

sub new_node
{
	my ($name, $preload) = @_;
	my $n = PostgreSQL::Test::Cluster->new($name);
	$n->init;
	$n->append_conf('postgresql.conf', "shared_preload_libraries = '$preload'\nshared_buffers = '16MB'\nautovacuum = off\nfsync = off\n");
	$n->start;
	$n->safe_psql('postgres', 'CREATE EXTENSION working_set');
	grant($n);
	return $n;
}

my $main = new_node('main', 'working_set');
my $bare = new_node('bare', '');
$main->safe_psql('postgres', q{
	CREATE DATABASE other;
	CREATE ROLE stranger LOGIN;
	CREATE SCHEMA slow;
	CREATE ROLE slow LOGIN IN ROLE pg_monitor;
	GRANT USAGE ON SCHEMA slow TO slow;
	ALTER ROLE slow SET search_path = slow, public;
	CREATE VIEW slow.working_set_cache_advice AS SELECT * FROM public.working_set_cache_advice WHERE 1 / (SELECT 0) > 0;
	GRANT SELECT ON slow.working_set_cache_advice TO slow;
});

sub url
{
	my ($n, %params) = @_;
	my ($user, $database) = ($params{user} || 'working_set_scrape', $params{database} || 'postgres');
	return "postgres://$user@/$database?host=" . $n->host . '&port=' . $n->port . '&sslmode=disable';
}

my $nowhere = PostgreSQL::Test::Cluster::get_free_port();
my %server = (
	well => url($main),
	no_extension => url($main, database => 'other'),
	no_grant => url($main, user => 'stranger'),
	not_preloaded => url($bare),
	one_query_fails => url($main, user => 'slow'),
	down => "postgres://nobody\@127.0.0.1:$nowhere/postgres?sslmode=disable");
my @refused = qw(no_extension no_grant not_preloaded);

# ---------------------------------------------------------------- exporters

# a file of monitoring/sql_exporter with other servers
sub configuration
{
	my ($file, $change) = @_;
	my $text = slurp_file(monitoring("sql_exporter/$file"));
	my $collectors = File::Spec->rel2abs(monitoring('sql_exporter'));
	$text =~ s{- 'working_set\*}{- '$collectors/working_set*} or die "no collector_files in $file";
	# ten seconds are not much on a busy machine
	$text =~ s/^( *scrape_timeout): .*/$1: 600s/m or die "no scrape_timeout in $file";
	my $copy = "$tmp/" . ++$copies . "_$file";
	open my $fh, '>', $copy or die $!;
	print $fh $change->($text);
	close $fh;
	return $copy;
}

# (status, {series => value})
sub scrape_now
{
	my ($url) = @_;
	my $answer = $http->get($url);
	return ($answer->{status}, $answer->{success} ? parse_exposition($answer->{content}) : {});
}

sub count_of
{
	my ($series, $pattern) = @_;
	return scalar grep { /$pattern/ } keys %$series;
}

# a stand-in with this file: where its metrics are
sub started { return 'http://' . (start_stand_in($_[0]))[0] . '/metrics' }

my @states = qw(working_set_tracking working_set_worker_running working_set_status);

# ---------------------------------------------------------------- one server

my $one = sub { my ($url) = @_; return configuration('sql_exporter.yml', sub { $_[0] =~ s/data_source_name: '.*'/data_source_name: '$url'/r }) };
my ($status, $series) = scrape_now(started($one->($server{well})));
is($status, 200, 'one server, well');
is($series->{working_set_tracking}, 1, 'it tracks');
is(count_of($series, qr/^(?:scrape_errors_total|up)\b/), 0, 'there are no errors, and no up of the exporter');

($status, $series) = scrape_now(started($one->($server{$_}))), is($status, 200, "$_: no error"),
  is(count_of($series, qr/^working_set_/), 0, "$_: and no figures"),
  is($series->{'scrape_errors_total{collector="working_set",query="working_set_tracking"}'}, 1, "$_: but a count of errors")
  for @refused;

($status, $series) = scrape_now(started($one->($server{one_query_fails})));
is($status, 200, 'one query fails: no error');
is($series->{'scrape_errors_total{collector="working_set",query="working_set_advice"}'}, 1, 'one query fails: it is counted');
is(count_of($series, qr/^scrape_errors_total/), 1, 'one query fails: no other');
is(count_of($series, qr/^$_\b/), $_ eq 'working_set_status' ? 4 : 1, "one query fails: $_ is there") for @states;

is((scrape_now(started($one->($server{down}))))[0], 500, 'the server is down: an error 500');

# A server that stops is one too, unless there was an error of a query before.
my $gone = started($one->(url($bare)));
scrape_now($gone);
$bare->stop;
($status, $series) = scrape_now($gone);
is($status, 200, 'the server stops after an error: no error 500');
is(count_of($series, qr/^working_set_/), 0, 'and no figures');
$bare->start;

# ---------------------------------------------------------------- many servers

my $many = started(configuration('sql_exporter_jobs.yml', sub {
	my ($text) = @_;
	$text =~ s/^jobs:.*//ms;
	return $text . "jobs:\n  - job_name: shop\n    collectors:\n      - working_set\n    static_configs:\n      - targets:\n"
	  . join('', map { "          '$_': '$server{$_}'\n" } sort keys %server);
}));
($status, $series) = scrape_now($many);
is($status, 200, 'many servers');
is($series->{qq(up{job="shop",target="$_"})}, $_ eq 'down' ? 0 : 1, "$_: up") for sort keys %server;
is_deeply([ map { /target="(\w+)"/ } grep { /^working_set_tracking\b/ } sort keys %$series ], [qw(one_query_fails well)],
	'many servers: those that track');
is($series->{'scrape_errors_total{job="shop",target="down"}'}, 1, 'many servers: a server that is down counts as an error');

# ---------------------------------------------------------------- Prometheus

SKIP:
{
	skip 'there is no prometheus on PATH', 1 if !find_program('prometheus');
	my $p = start_prometheus("exporter_url=\$1\nsample_job=working_set_exporter\nstart_prometheus 20s", $many);
	ok($p->{url}, 'Prometheus starts');
	# "instance value", when there are that many
	my $ask = sub { return [ sort map { "$_->{metric}{instance} $_->{value}[1]" } have_in_prometheus($p, @_) ] };
	is_deeply($ask->(6, 'up{job="working_set", cluster="shop"}'), [ map { $_ . ($_ eq 'down' ? ' 0' : ' 1') } sort keys %server ],
		'instances are servers');
	is_deeply($ask->(4, 'ALERTS{alertname="WorkingSetScrapeFailing"}'), [ map { "$_ 1" } sort @refused, 'down' ],
		'WorkingSetScrapeFailing is about to be raised for each of those without figures');
	is_deeply($ask->(1, 'ALERTS{alertname="WorkingSetScrapeIncomplete"}'), ['one_query_fails 1'],
		'WorkingSetScrapeIncomplete for the one that lacks some');
	is_deeply($ask->(6, 'instance:working_set_scraped:max'),
		[ map { $_ . (/^(?:well|one_query_fails)$/ ? ' 1' : ' 0') } sort keys %server ], 'all of them are servers of the fleet');
	stop_prometheus($p);
}

$_->stop for $main, $bare;
done_testing();

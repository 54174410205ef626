# monitoring/report.sql on a real server: its figures are those of SQL, and it says what there is
# not, for a plain member of pg_monitor.  Time stands still, and with it what is recommended.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use patience;
use clock;
use pages qw(make_pages);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use report_page;
use scrape;

my $clock = clock->new;
my $node = new_report_node('', sub { $clock->lend(@_) });
$node->safe_psql('postgres', "ALTER DATABASE postgres SET search_path = public, $ws");
my $early = page_of('collecting', $node, role => 'ws_monitor');
says($early, qr/^.*COLLECTING: counting since .* first recommendation/s, 'says that it is too early');
make_pages($node);
work_until_known($clock, $node);

# ---- figures are those of SQL

my @bytes = qw(working_set_bytes shared_buffers_bytes pg_size_bytes(suggested_shared_buffers) memory_limit_bytes);
my @want = split /\|/, $node->safe_psql('postgres', 'SELECT ' . join(', ', @bytes) . " FROM working_set_recommendation");
my ($longest) = map { /^(\d+) s/ } (rows_of(page_of('a page before', $node, role => 'ws_monitor'), 'curve'))[-1][0];
my $pages = "SELECT pages FROM working_set_curve('{$longest}')";
my $least = $node->safe_psql('postgres', $pages);
my $tree = page_of('a real page', $node, role => 'ws_monitor');
my ($tiles) = by_class($tree, 'dl', 'tiles');
is(join('|', map { $_->{at}{value} } find($tiles, sub { $_[0]{name} eq 'data' })), join('|', grep { $_ ne '' } @want), 'the figures are those of the recommendation');
my ($reason, $verdict) = split /\|/, $node->safe_psql('postgres', "SELECT reason, verdict FROM working_set_recommendation");
my ($card) = find($tree, sub { ($_[0]{at}{class} // '') =~ /verdict/ });
is(join('; ', map { text($_) } find($card, sub { $_[0]{name} eq 'p' })), $reason, 'the reason, too');
my @lines = split /\n/, $node->safe_psql('postgres', "SELECT working_set()");
my $headline = shift @lines;
is(join('', map { text($_) } find($card, sub { $_[0]{name} eq 'h2' })), $headline, 'it begins with the words of working_set()');
# (the largest relations are of the moment)
is(text((find($card, sub { $_[0]{name} eq 'pre' }))[0]) =~ s/^Top: .*$/Top:/mr, join("\n", @lines) =~ s/^Top: .*$/Top:/mr, 'and goes on with them');
like($headline, qr/^\Q@{[uc $verdict]}\E:? shared_buffers/, 'and the verdict');
# (that of memory needs five minutes)
like(pictures($tree), qr/^curve advice (?:memory )?week relation query$/, 'all pictures are there');
says($tree, qr/primary/, 'it is a primary');
my ($title) = find($tree, sub { $_[0]{name} eq 'h1' });
is(text($title), sprintf('%s:%s, cluster main', `hostname` =~ s/\s+//r, $node->port), 'it belongs to one server');
is(scalar(grep { text($_) eq '' } find($tree, sub { ($_[0]{at}{class} // '') eq 'card' })), 0, 'no card is empty');

my @windows = rows_of($tree, 'curve');
cmp_ok(scalar(@windows), '>', 10, 'the curve has a row for each window');
my ($most) = sort { $b <=> $a } map { $_->[1] } @windows;
is($windows[-1][1], $most, 'and rises');
# pages are added all the time (autovacuum reads some, too): to a size between that of SQL before and after, give
# or take a standard error of 0.46 %, several times over
cmp_ok($windows[-1][1], '>', 0.97 * $least, 'to the size of SQL, not less than before');
cmp_ok($windows[-1][1], '<', 1.03 * $node->safe_psql('postgres', $pages), 'nor more than after');
is(scalar(rows_of($tree, 'advice')), 20, 'the advice has twenty rows');

# ---- a standby

$node->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'backup', has_streaming => 1);
$clock->lend(sub { $standby->start });
$tree = page_of('a standby', $standby, role => 'ws_monitor');
says($tree, qr/standby/, 'it is a standby');
$standby->stop;

# ---- no sample; not tracking; no worker

$node->append_conf('postgresql.conf', 'working_set.sample_pages = 0');
$clock->lend(sub { $node->restart });
$node->poll_query_until('postgres', "SELECT EXISTS (SELECT FROM working_set_memory_advice WHERE note LIKE '%sample_pages is 0%')")
  or die 'the worker has not spoken';
$tree = page_of('no sample', $node, role => 'ws_monitor');
says($tree, qr/No page is sampled: working_set.sample_pages is 0/, 'says so', 'relation');
says($tree, qr/No page is sampled: working_set.sample_pages is 0/, 'here, too', $_) for qw(query advice);
says($tree, qr/This is not known\.working_set.sample_pages is 0/, 'nor is the memory advice known', 'memory');
$node->append_conf('postgresql.conf', 'working_set.enabled = off');
$node->reload;
$node->poll_query_until('postgres', "SELECT NOT tracking FROM working_set_info") or die 'it tracks';
$tree = page_of('not tracking', $node, role => 'ws_monitor');
says($tree, qr/NOT TRACKING: working_set.enabled is off/, 'says so, and why');
says($tree, qr/Nothing is tracked/, 'and in each section', $_) for qw(curve advice memory relation query);
says($tree, qr/working_set\.enabled is off/, 'with the reason', 'memory');
$node->append_conf('postgresql.conf', "working_set.enabled = on\nworking_set.sample_pages = 1024\nmax_worker_processes = 0\nmax_parallel_workers = 0\nworking_set.interval = 1");
$clock->lend(sub { $node->restart });
$tree = page_of('no worker', $node, role => 'ws_monitor');
says($tree, qr/Worker\s*does not run/, 'says so');

$node->stop;
done_testing();

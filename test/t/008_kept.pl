# What is kept over a restart: the set and the sample; over crashes what was saved; and over a time
# without the library.  (The history is 061's.)

use lib 'test/t';
use server;
use crashing;

my $node = new_server('main', 'working_set.save = 1');
make_table($node, 'pages', 4000);
$node->safe_psql('postgres', 'CHECKPOINT');

# pages of the table that the sample knows
sub known
{
	return $node->safe_psql('postgres', q{
		SELECT coalesce(sum(bytes) / current_setting('block_size')::int, 0)::int FROM working_set_relations('1 hour') WHERE relid = 'pages'::regclass});
}

# ---- a restart
my $first = $node->safe_psql('postgres', 'SELECT clock_timestamp()');
# six times, so that it looks up more than a start and all that is asked
$node->safe_psql('postgres', 'SELECT count(filler) FROM pages') for 1 .. 6;
wait_for($node, 'approximate_working_set_size_seconds(2) < 2000', 'time stands still');
my $before = size($node, 3600);
# 5 standard errors of 0.46 % are 92; there are some hundred pages of catalogs
cmp_ok($before, '>', 4000 - error_of(4000), 'the table was used');
cmp_ok($before, '<', 4000 + error_of(4000) + 600, 'once');
knows($node, 2000, 'the sample knows the table');
my $relations = known();
my ($since, $looked_up) = split /\|/, $node->safe_psql('postgres', 'SELECT since, lookups FROM working_set_info');

$node->restart;
wait_for_worker($node);
# starting and asking uses pages of catalogs, most of which were used before
cmp_ok(size($node, 3600), '>=', $before - error_of(4000), 'after a restart the set is as it was');
cmp_ok(size($node, 3600), '<=', $before + error_of(4000) + 600, 'and no larger');
cmp_ok(size($node, 2), '<', 2000, 'what was used long ago is not of the last two seconds');
# the window is made in the statement that asks, so that it is not too short for a slow one
cmp_ok($node->safe_psql('postgres', qq{
	SELECT approximate_working_set_size_seconds(ceil(extract(epoch FROM clock_timestamp() - '$first'))::int + 2)}),
	'>=', 4000 - error_of(4000), 'and is as old as it is, with the time that the server was down');
knows($node, $relations * 0.9, 'the sample, too');
is($node->safe_psql('postgres', "SELECT since > '$since', lookups < $looked_up FROM working_set_info"), 't|t',
	'counters begin anew');
is($node->safe_psql('postgres', q{
	SELECT bool_and(pages >= lag) FROM (
	  SELECT pages, lag(pages) OVER (ORDER BY seconds) FROM working_set_curve(ARRAY[1, 60, 600, 3600])) c
	 WHERE lag IS NOT NULL}), 't', 'the curve rises over the gap');

# ---- the postmaster is killed: no more than the time between two saves is lost
$node->safe_psql('postgres', 'SELECT count(filler) FROM pages');
saved($node);
saved($node);
$before = size($node, 3600);
$node->stop('immediate');
$node->start;
wait_for_worker($node);
cmp_ok(size($node, 3600), '>=', $before - error_of(4000), 'after a crash the set is as it was saved');

# ---- a backend crashes, and shared memory is made anew
saved($node);
$node->append_conf('postgresql.conf', 'restart_after_crash = on');
$node->reload;
wait_for_worker($node);
my $worker = $node->safe_psql('postgres', 'SELECT worker_pid FROM working_set_info');
kill 'KILL', $worker;
until_true($node, "worker_pid <> $worker FROM working_set_info", 'does not come back');
cmp_ok(size($node, 3600), '>=', $before - error_of(4000), 'after a crash of the worker, too');

# ---- preloaded no more, and again
$node->safe_psql('postgres', 'SELECT count(filler) FROM pages');
saved($node);
$node->append_conf('postgresql.conf', q{shared_preload_libraries = ''});
$node->restart;
is($node->safe_psql('postgres', 'SELECT 1'), 1, 'without us the file disturbs nobody');
$node->append_conf('postgresql.conf', q{shared_preload_libraries = 'working_set'});
$node->restart;
wait_for_worker($node);
cmp_ok(size($node, 3600), '>', 4000 - error_of(4000), 'and with us again it is used');
finish($node);

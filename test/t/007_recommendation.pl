# The recommendation: live_set and its settings, peak, memory, the split of it,
# and the history: over crashes, and with a clock that is set.  (What is kept
# over a restart is 008's.)

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use patience;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $file = 'pg_stat/working_set.saved';

sub new_node
{
	my ($name, $settings) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	$node->init;
	$node->append_conf(
		'postgresql.conf', q{
shared_preload_libraries = 'working_set'
working_set.interval = 1
working_set.break_even = 30
working_set.hold = 5
working_set.save = 2
shared_buffers = 2048
autovacuum = off
timezone = 'UTC'
} . ($settings || ''));
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION working_set');
	return $node;
}

sub wait_for
{
	my ($node, $query, $what) = @_;
	$node->poll_query_until('postgres', $query) or die $what;
	return;
}

sub ok_status
{
	my ($node) = @_;
	wait_for($node, "SELECT status = 'ok' FROM working_set_recommendation", 'no recommendation');
	return;
}

# Ask until the answer is as it should be, and scan a table all the time: how often the worker
# reports, and how much time passes, depends on how busy the machine is.
sub becomes
{
	my ($node, $query, $expected, $name, $scan) = @_;
	my $answer;
	eventually(sub {
		$node->safe_psql('postgres', $scan) if $scan;
		$answer = $node->safe_psql('postgres', $query);
		return $answer eq $expected;
	});
	return is($answer, $expected, $name);
}

sub history
{
	my ($node, $columns) = @_;
	return $node->safe_psql('postgres', "SELECT $columns FROM working_set_history");
}

# Wait until all that has been so far is saved.
sub saved
{
	my ($node) = @_;
	my $now = $node->safe_psql('postgres', 'SELECT clock_timestamp()');
	wait_for($node, "SELECT last_saved > '$now' FROM working_set_info", 'not saved');
	return;
}

my $node = new_node('main');

# ---- first start: no history, and nothing is claimed
is(history($node, 'count(*)'), 0, 'first start: there is no history');
is($node->safe_psql('postgres', q{
	SELECT status, live_bytes IS NULL, peak_cache_bytes IS NULL, peak_at IS NULL, verdict IS NULL,
	       suggested_shared_buffers IS NULL
	  FROM working_set_recommendation}), 'collecting|t|t|t|t|t', 'and nothing is recommended');

# a second node does its minute of waiting while the first is busy
my $clocked;
my $rc = PostgreSQL::Test::Utils::tempdir() . '/clock';

sub set_clock
{
	my ($wall, $monotonic) = @_;
	open my $fh, '>', "$rc.new" or die $!;
	print $fh $wall, ' ', $monotonic || '+0';
	close $fh;
	rename "$rc.new", $rc or die $!;
	return;
}

my $library = PostgreSQL::Test::Utils::tempdir() . '/clock.so';
my $cc = $ENV{CC} || 'gcc';
if (system("$cc -shared -fPIC -O2 -o $library test/t/clock.c") == 0)
{
	set_clock('+0');
	local $ENV{LD_PRELOAD} = $library;
	local $ENV{WS_TEST_CLOCK} = $rc;
	$clocked = new_node('clocked');
	$clocked->safe_psql('postgres', q{
		CREATE TABLE hot (id int, filler text);
		ALTER TABLE hot ALTER filler SET STORAGE PLAIN;
		INSERT INTO hot SELECT g, repeat('x', current_setting('block_size')::int - 1192) FROM generate_series(1, 3000) g;
		VACUUM (FREEZE, ANALYZE) hot;
	});
}

# in a chroot, this process may be in a control group that is not to be seen
my $memory_known = !-e '/proc/self/cgroup' || slurp_file('/proc/self/mountinfo') =~ / - cgroup/;
SKIP: {
	skip 'no control groups are mounted here', 1 unless $memory_known;
	wait_for($node, 'SELECT memory_limit_bytes > 0 FROM working_set_recommendation', 'memory is not known');
	pass('but the memory is known at once');
}
unlike(slurp_file($node->logfile), qr/working_set: /, 'nor complained about');

# ---- what comes back counts, what does not, does not
$node->safe_psql('postgres', q{
	CREATE TABLE hot (id int, filler text);
	CREATE TABLE cold (id int, filler text);
	CREATE TABLE growing (id int, filler text);
	ALTER TABLE hot ALTER filler SET STORAGE PLAIN;
	ALTER TABLE cold ALTER filler SET STORAGE PLAIN;
	ALTER TABLE growing ALTER filler SET STORAGE PLAIN;
	INSERT INTO hot SELECT g, repeat('x', current_setting('block_size')::int - 1192) FROM generate_series(1, 3000) g;
	INSERT INTO cold SELECT g, repeat('x', current_setting('block_size')::int - 1192) FROM generate_series(1, 12000) g;
	INSERT INTO growing SELECT g, repeat('x', current_setting('block_size')::int - 1192) FROM generate_series(1, 30000) g;
	VACUUM (FREEZE, ANALYZE) hot, cold, growing;
});
# the break-even time after the loading, it is not part of anything any more
my $loaded = time;
my $hot = 'SELECT count(filler) FROM hot \g /dev/null';
while (time - $loaded < 36)
{
	$node->safe_psql('postgres', $hot);
	select(undef, undef, undef, 0.5);
}
ok_status($node);
# 3,000 pages and some hundred of catalogs; the standard error of all of them is
# 0.46 % (registers), 5 of these are 75 pages; sampling adds nothing here, for
# everything counts
# (what is recommended is what the projection foresees, three times as much at most, and the
# headroom on top)
my $live = q{(live_bytes / current_setting('block_size')::int) BETWEEN 3000 - 75 AND 3000 + 75 + 700};
becomes($node, qq{
	SELECT method, $live, working_set_bytes >= live_bytes, low_bytes <= working_set_bytes,
	       high_bytes >= working_set_bytes, live_low_bytes <= live_bytes, live_high_bytes >= live_bytes,
	       recommended_low_bytes <= recommended_cache_bytes, recommended_high_bytes >= recommended_cache_bytes, window_seconds,
	       recommended_cache_bytes BETWEEN 1.1 * live_bytes - current_setting('block_size')::int AND 3.3 * live_bytes + current_setting('block_size')::int,
	       plateau_end_bytes > 12000::bigint * current_setting('block_size')::int
	  FROM working_set_recommendation}, 'live_set|t|t|t|t|t|t|t|t|30|t|t',
	'live_set counts what comes back; plateau_end what was loaded, too', $hot)
  or diag($node->safe_psql('postgres', q{SELECT live_bytes / current_setting('block_size')::int, working_set_bytes / current_setting('block_size')::int FROM working_set_recommendation}));

# ---- the method follows a reload, and both values stay
$node->append_conf('postgresql.conf', 'working_set.method = plateau_end');
$node->reload;
wait_for($node, "SELECT method = 'plateau_end' AND live_bytes < plateau_end_bytes / 2 FROM working_set_recommendation", 'method');
becomes($node, q{
	SELECT plateau_end_bytes = working_set_bytes, live_bytes < plateau_end_bytes / 2,
	       recommended_cache_bytes >= plateau_end_bytes, reason ~ '; now, the .* seen so far need'
	  FROM working_set_recommendation}, 't|t|t|t', 'plateau_end stays selectable, and both are shown', $hot);
$node->append_conf('postgresql.conf', 'working_set.method = live_set');
$node->reload;
wait_for($node, "SELECT method = 'live_set' FROM working_set_recommendation", 'method');

# ---- memory, and how it is split
SKIP: {
skip 'no control groups are mounted here', 6 unless $memory_known;
my ($total) = slurp_file('/proc/meminfo') =~ /^MemTotal: +(\d+) kB/m;
my $limit = $node->safe_psql('postgres', 'SELECT memory_limit_bytes FROM working_set_recommendation');
cmp_ok($limit, '>', 0, 'memory is known');
cmp_ok($limit, '<=', $total * 1024, 'and not more than the machine has');
becomes($node, q{
	WITH reserved AS (
		SELECT least(memory_limit_bytes / 2, current_setting('max_connections')::int *
		         (2 * 1048576::bigint + pg_size_bytes(current_setting('work_mem'))) +
		         current_setting('autovacuum_max_workers')::int *
		         pg_size_bytes(current_setting('maintenance_work_mem'))) AS bytes, *
		  FROM working_set_recommendation)
	SELECT suggested_effective_cache_size = least(memory_limit_bytes - bytes, memory_limit_bytes * 3 / 4) / 1048576 || 'MB',
	       suggested_shared_buffers ~ '^[0-9]+MB$',
	       CASE WHEN reason ~ 'that much would save hardly any reads'
	            THEN suggested_shared_buffers = current_setting('shared_buffers')
	            ELSE pg_size_bytes(suggested_shared_buffers) BETWEEN greatest(peak_cache_bytes, 128 * 1048576)
	                 AND greatest(1.1 * peak_cache_bytes, 128 * 1048576) END
	  FROM reserved}, 't|t|t', 'the split is by the rule', $hot)
  or diag($node->safe_psql('postgres', 'SELECT suggested_shared_buffers, peak_cache_bytes, verdict, reason FROM working_set_recommendation'));
# The statement of the document, which sets nothing yet, and then without that condition.
my ($set) = slurp_file('doc/recommendation.md') =~ /^```sql\n(SET search_path.*?)^```$/ms;
my $set_so_far = q{
	SELECT count(*) FROM pg_file_settings WHERE sourcefile LIKE '%auto.conf'
	   AND name IN ('shared_buffers', 'effective_cache_size')};
$node->safe_psql('postgres', $set);
is($node->safe_psql('postgres', $set_so_far), 0, 'nothing is set while the confidence is low');
# (it does nothing while the worker is late, so a few tries)
becomes($node, $set_so_far, 2, 'what is suggested goes straight into ALTER SYSTEM',
	$set =~ s/ AND verdict <> 'keep' AND confidence <> 'low'$//mr);
becomes($node, q{
	SELECT verdict, peak_cache_bytes >= 3000::bigint * current_setting('block_size')::int, peak_at <= clock_timestamp(),
	       reason ~ '^Grow shared_buffers from 16 MB to .* for the busiest time; .*[.] Based on .*; the busiest time was .* and needed ',
	       confidence
	  FROM working_set_recommendation}, 'grow|t|t|t|low', 'the verdict is for the peak, and the reason says so');
# (the worker may report between the two)
becomes($node, q{
	SELECT s ~ ('^GROW shared_buffers 16 MB -> [0-9.]+ [MG]B +confidence LOW: [0-9]+ minutes? seen, wait a day\n'
	            'Busiest time [0-9.]+ MB [(][0-9]{2}:[0-9]{2}[)]; now [0-9.]+ MB[^\n]*\nHit ratio [^\n]*\nMemory [^\n]*: fits(; reads from disk [^\n]*)?\n'
	            'Top: [^\n]*(hot|cold|growing) [0-9.]+ MB[^\n]*\nDo: '),
	       split_part(s, E'\nDo: ', 2) = format('ALTER SYSTEM SET shared_buffers = %L;  then restart', suggested_shared_buffers)
	  FROM working_set_recommendation, working_set() AS s}, 't|t', 'working_set() says what the view does', $hot);
}

# ---- history
my $rows = history($node, 'count(*)');
cmp_ok($rows, '>=', 1, 'a row for each minute');
is(history($node, q{bool_and(minutes = 1), bool_and(date_trunc('minute', at) = at), bool_and(at <= clock_timestamp()),
	bool_and(hits BETWEEN 0 AND lookups) AND sum(hits) > 0, bool_and(recommended_cache_bytes <= 1.1 * greatest(live_bytes, plateau_end_bytes) + current_setting('block_size')::int),
	max(recommended_cache_bytes) > 1000 * current_setting('block_size')::int,
	count(DISTINCT at) = count(*)}), 't|t|t|t|t|t|t', 'which says what there was');
wait_for($node, 'SELECT last_saved > clock_timestamp() - interval \'10 s\' FROM working_set_info', 'not saved');

# of a crash no more than the time since the last save is lost
# (read before and after, as it may rise meanwhile)
my $before;
for (1 .. 60)
{
	$before = history($node, 'max(recommended_cache_bytes)');
	saved($node);
	last if history($node, 'max(recommended_cache_bytes)') eq $before;
}
$node->stop('immediate');
ok(-s $node->data_dir . "/$file", 'there is a file');
$node->start;
wait_for($node, 'SELECT count(*) > 0 FROM working_set_history', 'history is not loaded');
is(history($node, 'max(recommended_cache_bytes)'), $before, 'the history survives a crash');
SKIP: {
	skip 'nothing was suggested', 1 unless $memory_known;
	my ($set) = slurp_file($node->data_dir . '/postgresql.auto.conf') =~ /^shared_buffers = '([^']+)'/m;
	is($node->safe_psql('postgres', qq{SELECT pg_size_bytes(current_setting('shared_buffers')) = pg_size_bytes('$set') AND pg_size_bytes('$set') >= 128 * 1048576}),
		't', 'and shared_buffers is what was suggested');
}

$node->stop;

# ---- a reset forgets the history, also that on disk
$node->start;
wait_for($node, 'SELECT count(*) > 0 FROM working_set_history', 'history is not loaded');
$node->safe_psql('postgres', 'SELECT approximate_working_set_size(true)');
cmp_ok(history($node, 'count(*)'), '>', 0, 'forgetting the set keeps the history');
my $reset = $node->safe_psql('postgres', 'SELECT date_trunc(\'minute\', clock_timestamp()) FROM working_set_reset()');
is(history($node, 'count(*)'), 0, 'a reset empties it');
saved($node);
$node->stop('immediate');
$node->start;
wait_for($node, 'SELECT worker_pid IS NOT NULL FROM working_set_info', 'no worker');
is(history($node, "count(*) FILTER (WHERE at < '$reset')"), 0, 'also that on disk');

# ---- the peak is what was needed, not what a projection foresaw
# pages come in for the first time and again, until a projection is more than anything needed since
# the reset (before it, a slow machine may have needed all that was loaded)
ok_status($node);
my ($projected, $beyond) = (0, 0);
for (my $blocks = 300; $projected < 2 && $blocks <= 30000; $blocks += 150)
{
	my ($now, $most, $needed) = split /\|/, $node->safe_psql('postgres', qq{
		SELECT count(filler), pg_sleep(0.2) FROM growing WHERE ctid < '($blocks,1)' \\g /dev/null
		SELECT recommended_cache_bytes, peak_cache_bytes,
		       (SELECT max(recommended_cache_bytes) FROM working_set_history)
		  FROM working_set_recommendation});
	next if $now <= $needed;
	$projected++;
	$beyond++ if $most > $needed;
}
cmp_ok($projected, '>', 0, 'while the set grows, what is recommended exceeds all that was needed');
is($beyond, 0, 'and the peak does not');
wait_for($node, q{SELECT peak_cache_bytes = (SELECT max(recommended_cache_bytes) FROM working_set_history)
	FROM working_set_recommendation}, 'the peak is not that of the history');
$node->stop;

# ---- the clock is set
SKIP:
{
	skip 'no library could be made', 17 unless $clocked;
	ok_status($clocked);
	becomes($clocked, "SELECT method, $live FROM working_set_recommendation", 'live_set|t', 'live_set counts what comes back here, too', $hot);
	wait_for($clocked, 'SELECT count(*) > 0 FROM working_set_history', 'no history');
	my $known = $clocked->safe_psql('postgres', 'SELECT max(recommended_cache_bytes) FROM working_set_history');

	# an hour back
	set_clock('-3600');
	wait_for($clocked, q{SELECT computed_at BETWEEN clock_timestamp() - interval '5 s' AND clock_timestamp() + interval '1 s'
		FROM working_set_recommendation}, 'the worker has stopped');
	becomes($clocked, 'SELECT status FROM working_set_recommendation', 'ok',
		'set back by an hour: the recommendation goes on');
	is(history($clocked, "max(recommended_cache_bytes) >= $known, bool_and(at <= clock_timestamp()), min(at) > clock_timestamp() - interval '30 min'"),
		't|t|t', 'and the history was moved with it');
	like(slurp_file($clocked->logfile), qr/the system clock was set back by 3(599|600|601) seconds/, 'which the log says');

	# two days ahead, and a minute by the clock of ages, so that nothing is live: the peak is of the past
	my $when = q{SELECT reason LIKE '%; the busiest time was ' || to_char(peak_at, CASE
			WHEN clock_timestamp() - peak_at < interval '1 day' THEN 'HH24:MI' ELSE 'FMDay HH24:MI' END) || ' and needed %'
		FROM working_set_recommendation};
	becomes($clocked, 'SELECT max(recommended_cache_bytes) > 1e7 FROM working_set_history', 't', 'what is used again is needed', $hot);
	becomes($clocked, $when, 't', 'a peak of today is called by its time');
	set_clock('+172800', '+60000');
	wait_for($clocked, q{SELECT peak_at < clock_timestamp() - interval '1 day' FROM working_set_recommendation}, 'the peak is of today');
	becomes($clocked, $when, 't', 'and one of another day by its day, too');

	# ten days ahead
	$clocked->append_conf('postgresql.conf', "working_set.history = '6d'");
	$clocked->reload;
	set_clock('+864000', '+60000');
	wait_for($clocked, q{SELECT count(*) > 0 FROM working_set_history WHERE at > clock_timestamp() - interval '2 min'},
		'no row of now');
	becomes($clocked, 'SELECT status FROM working_set_recommendation', 'ok',
		'set ahead by ten days: the recommendation goes on');
	is(history($clocked, 'bool_and(at <= clock_timestamp()), count(*) FILTER (WHERE at < clock_timestamp() - interval \'9 days\' AND minutes = 15) > 0'),
		't|t', 'and what was before is ten days old');
	becomes($clocked, q{SELECT peak_at > clock_timestamp() - interval '7 days' FROM working_set_recommendation},
		't', 'so that it is not the peak of six days');
	becomes($clocked, q{SELECT count(*) FROM working_set_cache_advice WHERE note ~ 'has not reported'},
		0, 'and the advice goes on, too');

	# thirteen years ahead, where ticks of 32 bits end, with the worker stopped and then with it
	my $pid = $clocked->safe_psql('postgres', 'SELECT worker_pid FROM working_set_info');
	my $kept = history($clocked, 'count(*)');
	kill 'STOP', $pid;
	set_clock('+864000', '+423000000000');
	$clocked->safe_psql('postgres', $hot);
	is($clocked->safe_psql('postgres', 'SELECT approximate_working_set_size_seconds(3600) BETWEEN 2800 AND 4200'),
		't', 'thirteen years later without a worker: what is used is counted');
	kill 'CONT', $pid;
	wait_for($clocked, "SELECT approximate_working_set_size() < 2000", 'nothing was forgotten');
	$clocked->safe_psql('postgres', $hot);
	is($clocked->safe_psql('postgres', 'SELECT approximate_working_set_size() BETWEEN 2800 AND 4200'),
		't', 'with one, the working set starts over');
	wait_for($clocked, 'SELECT approximate_working_set_size_seconds(1) < 1000', 'time stands still');
	like(slurp_file($clocked->logfile), qr/LOG:  working_set: the working set starts over, since the clock has come to its end/,
		'which the log says');
	is(history($clocked, "count(*) >= $kept"), 't', 'and the history is kept');
	is($clocked->safe_psql('postgres', q{SELECT status IN ('collecting', 'ok') FROM working_set_recommendation}),
		't', 'and the worker is on time');

	# ---- the rate of sampling after a reset
	# a large table fills the sample; after a reset few pages are used, and the time that
	# the sample keeps a page is not over
	$clocked->append_conf('postgresql.conf', 'working_set.sample_pages = 1024');
	{
		local $ENV{LD_PRELOAD} = $library;
		local $ENV{WS_TEST_CLOCK} = $rc;
		$clocked->restart;
	}
	$clocked->safe_psql('postgres', q{
		CREATE TABLE cold (id int, filler text);
		ALTER TABLE cold ALTER filler SET STORAGE PLAIN;
		INSERT INTO cold SELECT g, repeat('x', current_setting('block_size')::int - 1192) FROM generate_series(1, 12000) g;
		VACUUM (FREEZE, ANALYZE) cold;
		SELECT count(filler) FROM cold \\g /dev/null
	});
	wait_for($clocked, 'SELECT sample_rate BETWEEN 0.001 AND 0.1 AND sampled_pages > 400 FROM working_set_info', 'the sample is not full');
	my $rate = $clocked->safe_psql('postgres', 'SELECT approximate_working_set_size(true) \g /dev/null' . "\n" .
		'SELECT sample_rate FROM working_set_info');
	my $risen = $rate;
	for (my $passed = 0; $risen <= $rate && $passed < 900; $passed += 15)
	{
		set_clock('+864000', '+' . (423000100 + $passed) . '000');
		$clocked->safe_psql('postgres', 'SELECT count(filler) FROM hot WHERE ctid < \'(1000,1)\' \g /dev/null');
		$risen = $clocked->safe_psql('postgres', 'SELECT pg_sleep(0.5) \g /dev/null' . "\n" . 'SELECT sample_rate FROM working_set_info');
	}
	cmp_ok($risen, '>', $rate, 'after a reset pages of before do not keep the rate of sampling low');
	$clocked->stop;
}

done_testing();

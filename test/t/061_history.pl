# The history: what its rows are; it survives a crash, and a reset forgets it, also on disk.  The
# clocks are the test's, and go on by themselves.  (What is kept over a restart is 008's.)  Then the clock is
# set: back by an hour, ahead by days, and to where ticks of 32 bits end.  The recommendation goes on, and
# the history is moved with it.

use lib 'test/t';
use server;
use clock;

my $clock = clock->new(running => 1);
my $node = $clock->new_server(q{
working_set.break_even = 30
working_set.save = 2
shared_buffers = 2048
timezone = 'UTC'
});
my $hot = 'SELECT count(filler) FROM hot \g /dev/null';

# in each second a table is scanned, until there is a recommendation, and a row of it
make_table($node, 'hot', 3000);
$clock->pass(61);
wait_for($node, q{status = 'ok' FROM working_set_recommendation}, 'no recommendation');
eventually(sub {
	$node->safe_psql('postgres', $hot);
	$clock->let_pass($node, 1);
	return history($node, "max(recommended_cache_bytes) > 3000 * current_setting('block_size')::int") eq 't';
}) or die 'there is no history';

my $rows = history($node, 'count(*)');
cmp_ok($rows, '>=', 1, 'a row for each minute');
is(history($node, q{bool_and(minutes = 1), bool_and(date_trunc('minute', at) = at), bool_and(at <= clock_timestamp()),
	bool_and(hits BETWEEN 0 AND lookups) AND sum(hits) > 0, bool_and(recommended_cache_bytes <= 1.1 * working_set_bytes + current_setting('block_size')::int),
	max(recommended_cache_bytes) > 1000 * current_setting('block_size')::int,
	count(DISTINCT at) = count(*)}), 't|t|t|t|t|t|t', 'which says what there was');
saved($node);

# of a crash no more than the time since the last save is lost
# (the row of this minute, and those that come, may rise)
my $least = history($node, 'max(recommended_cache_bytes)');
saved($node);
$node->stop('immediate');
ok(-s $node->data_dir . '/pg_stat/working_set.saved', 'there is a file');
$clock->lend(sub { $node->start });
wait_for($node, 'count(*) > 0 FROM working_set_history', 'history is not loaded');
cmp_ok(history($node, 'max(recommended_cache_bytes)'), '>=', $least, 'the history survives a crash');
$node->stop;

# ---- a reset forgets the history, also that on disk
$clock->lend(sub { $node->start });
wait_for($node, 'count(*) > 0 FROM working_set_history', 'history is not loaded');
$clock->pass(120);
unlike($node->safe_psql('postgres', 'SELECT approximate_working_set_size(true); SELECT working_set_chart()'), qr/^.{5}1 min /m,
	'after forgetting the set the chart has no row of the time before');
cmp_ok(history($node, 'count(*)'), '>', 0, 'forgetting the set keeps the history');
my $reset = $node->safe_psql('postgres', 'SELECT date_trunc(\'minute\', clock_timestamp()) FROM working_set_reset()');
is(history($node, 'count(*)'), 0, 'a reset empties it');
saved($node);
$node->stop('immediate');
$clock->lend(sub { $node->start });
wait_for_worker($node);
is(history($node, "count(*) FILTER (WHERE at < '$reset')"), 0, 'also that on disk');

# ---- the clock is set

# Ask until the answer is as it should be.  In each second a table is scanned.
sub becomes
{
	my ($query, $expected, $name, $sql) = @_;
	my $answer;
	eventually(sub {
		$node->safe_psql('postgres', $sql // $hot);
		$clock->pass(1);
		$answer = $node->safe_psql('postgres', $query);
		return $answer eq $expected;
	});
	return is($answer, $expected, $name);
}

# 3,000 pages and some hundred of catalogs; the standard error of all of them is
# 0.92 % (registers), 5 of these are 150 pages
my $live = q{(live_bytes / current_setting('block_size')::int) BETWEEN 3000 - 150 AND 3000 + 150 + 700};
$clock->pass(61);
wait_for($node, q{status = 'ok' FROM working_set_recommendation}, 'no recommendation');
becomes("SELECT $live FROM working_set_recommendation", 't', 'live_set counts what comes back here, too');
wait_for($node, 'count(*) > 0 FROM working_set_history', 'no history');
my $known = $node->safe_psql('postgres', 'SELECT max(recommended_cache_bytes) FROM working_set_history');

# an hour back
$clock->jump(-3600, 0);
wait_for($node, q{computed_at BETWEEN clock_timestamp() - interval '5 s' AND clock_timestamp() + interval '1 s'
	FROM working_set_recommendation}, 'the worker has stopped');
becomes('SELECT status FROM working_set_recommendation', 'ok',
	'set back by an hour: the recommendation goes on');
is(history($node, "max(recommended_cache_bytes) >= $known, bool_and(at <= clock_timestamp()), min(at) > clock_timestamp() - interval '30 min'"),
	't|t|t', 'and the history was moved with it');
# (less or more by what the worker takes to look at both clocks)
like(slurp_file($node->logfile), qr/the system clock was set back by 3[56]\d\d seconds/, 'which the log says');

# two days ahead, and a minute by the clock of ages, so that nothing is live: the peak is of the past
becomes('SELECT max(recommended_cache_bytes) > 1e7 FROM working_set_history', 't', 'what is used again is needed');
# first nothing is live: a worker that saw only one of the clocks set would take the peak for one of that day
$clock->jump(0, 60);
wait_for($node, q{live_bytes < 1e7 FROM working_set_recommendation}, 'nothing is live');
$clock->jump(3600 + 172800, 0);
wait_for($node, q{peak_at < clock_timestamp() - interval '1 day' FROM working_set_recommendation}, 'the peak is of today');

# ten days ahead
$node->append_conf('postgresql.conf', "working_set.history = '6d'");
$node->reload;
$clock->jump(864000 - 172800, 0);
wait_for($node, q{count(*) > 0 FROM working_set_history WHERE at > clock_timestamp() - interval '2 min'},
	'no row of now');
becomes('SELECT status FROM working_set_recommendation', 'ok',
	'set ahead by ten days: the recommendation goes on');
is(history($node, 'bool_and(at <= clock_timestamp()), count(*) FILTER (WHERE at < clock_timestamp() - interval \'9 days\' AND minutes = 15) > 0'),
	't|t', 'and what was before is ten days old');
becomes(q{SELECT peak_at > clock_timestamp() - interval '7 days' FROM working_set_recommendation},
	't', 'so that it is not the peak of six days');
becomes(q{SELECT count(*) FROM working_set_cache_advice WHERE note ~ 'has not reported'},
	0, 'and the advice goes on, too');

# thirteen years ahead, where ticks of 32 bits end, with the worker stopped and then with it
my $pid = $node->safe_psql('postgres', 'SELECT worker_pid FROM working_set_info');
my $kept = history($node, 'count(*)');
kill 'STOP', $pid;
$clock->jump(0, 423000000);
$node->safe_psql('postgres', $hot);
is($node->safe_psql('postgres', 'SELECT approximate_working_set_size_seconds(3600) BETWEEN 2800 AND 4200'),
	't', 'thirteen years later without a worker: what is used is counted');
kill 'CONT', $pid;
wait_for($node, "approximate_working_set_size() < 2000", 'nothing was forgotten');
$node->safe_psql('postgres', $hot);
is($node->safe_psql('postgres', 'SELECT approximate_working_set_size() BETWEEN 2800 AND 4200'),
	't', 'with one, the working set starts over');
wait_for($node, 'approximate_working_set_size_seconds(1) < 1000', 'time stands still');
like(slurp_file($node->logfile), qr/LOG:  working_set: the working set starts over, since the clock has come to its end/,
	'which the log says');
is(history($node, "count(*) >= $kept"), 't', 'and the history is kept');
wait_for($node, q{status IN ('collecting', 'ok') FROM working_set_recommendation}, 'the worker is late');
pass('and the worker is on time');

finish($node);

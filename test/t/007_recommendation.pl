# The recommendation: what it is at first, live_set and plateau_end, memory and how it is divided.
# The clock is the test's.

use lib 'test/t';
use server;
use clock;
use past;

my $clock = clock->new;
my $node = $clock->new_server(q{
working_set.break_even = 30
working_set.save = 2
shared_buffers = 2048
timezone = 'UTC'
});
my $hot = 'SELECT count(filler) FROM hot \g /dev/null';

# Ask until the answer is as it should be.  In each second a table is scanned.
sub becomes
{
	my ($query, $expected, $name, $sql) = @_;
	my $answer;
	eventually(sub {
		$node->safe_psql('postgres', $sql // $hot);
		$clock->let_pass($node, 1);
		$answer = $node->safe_psql('postgres', $query);
		return $answer eq $expected;
	});
	return is($answer, $expected, $name);
}

# ---- first start: no history, and nothing is claimed
is(history($node, 'count(*)'), 0, 'first start: there is no history');
is($node->safe_psql('postgres', q{
	SELECT status, live_bytes IS NULL, peak_cache_bytes IS NULL, peak_at IS NULL, verdict IS NULL,
	       suggested_shared_buffers IS NULL
	  FROM working_set_recommendation}), 'collecting|t|t|t|t|t', 'and nothing is recommended');

SKIP: {
	skip 'no control groups are mounted here', 1 unless memory_known();
	wait_for($node, 'memory_limit_bytes > 0 FROM working_set_recommendation', 'memory is not known');
	pass('but the memory is known at once');
}
unlike(slurp_file($node->logfile), qr/working_set: /, 'nor complained about');

# ---- what comes back counts, what does not, does not
make_table($node, 'hot', 3000);
make_table($node, 'cold', 12000);
# until there is a recommendation, and the break-even time after the loading, it is not part of
# anything any more
$clock->let_pass($node, 61);
for (1 .. 36)
{
	$node->safe_psql('postgres', $hot);
	$clock->let_pass($node, 1);
}
wait_for($node, q{status = 'ok' FROM working_set_recommendation}, 'no recommendation');
# 3,000 pages and some hundred of catalogs; the standard error of all of them is
# 0.92 % (registers), 5 of these are 150 pages; sampling adds nothing here, for
# everything counts
# (what is recommended is what the projection foresees, three times as much at most, and a
# tenth on top)
my $live = q{(live_bytes / current_setting('block_size')::int) BETWEEN 3000 - 150 AND 3000 + 150 + 700};
becomes(qq{
	SELECT $live, working_set_bytes >= live_bytes,
	       recommended_cache_bytes BETWEEN 1.1 * live_bytes - current_setting('block_size')::int AND 3.3 * live_bytes + current_setting('block_size')::int,
	       plateau_end_bytes > 12000::bigint * current_setting('block_size')::int
	  FROM working_set_recommendation}, 't|t|t|t',
	'live_set counts what comes back; plateau_end what was loaded, too')
  or diag($node->safe_psql('postgres', q{SELECT live_bytes / current_setting('block_size')::int, working_set_bytes / current_setting('block_size')::int FROM working_set_recommendation}));

# ---- the method follows a reload, and both values stay
$node->append_conf('postgresql.conf', 'working_set.method = plateau_end');
$node->reload;
becomes("SELECT plateau_end_bytes = working_set_bytes AND live_bytes < plateau_end_bytes / 2 FROM working_set_recommendation", 't', 'the method follows a reload');
becomes(q{
	SELECT live_bytes < plateau_end_bytes / 2, recommended_cache_bytes >= plateau_end_bytes
	  FROM working_set_recommendation}, 't|t', 'plateau_end stays selectable, and both are shown');
$node->append_conf('postgresql.conf', 'working_set.method = live_set');
$node->reload;
becomes("SELECT recommended_cache_bytes < plateau_end_bytes / 2 FROM working_set_recommendation", 't', 'and another one');

# ---- memory, and what is affordable; a week of this, so that there is a suggestion
SKIP: {
skip 'no control groups are mounted here', 9 unless memory_known();
my ($total) = slurp_file('/proc/meminfo') =~ /^MemTotal: +(\d+) kB/m;
my $limit = $node->safe_psql('postgres', 'SELECT memory_limit_bytes FROM working_set_recommendation');
cmp_ok($limit, '>', 0, 'memory is known');
cmp_ok($limit, '<=', $total * 1024, 'and not more than the machine has');
# The statement of the document
my ($set) = slurp_file('doc/recommendation.md') =~ /^```sql\n(SET search_path.*?)^```$/ms;
my $set_so_far = q{
	SELECT count(*) FROM pg_file_settings WHERE sourcefile LIKE '%auto.conf'
	   AND name IN ('shared_buffers', 'effective_cache_size')};
$node->safe_psql('postgres', $set);
is($node->safe_psql('postgres', $set_so_far), 0, 'nothing is set while the confidence is low');
is(recommendation($node, 'verdict IS NULL, suggested_shared_buffers IS NULL, confidence'), 't|t|low', 'and nothing is suggested');
$node->stop;
give_past($node, 7, -1, 0.1);
$clock->lend(sub { $node->start });
becomes(q{
	WITH reserved AS (
		SELECT least(memory_limit_bytes / 2, current_setting('max_connections')::int *
		         (2 * 1048576::bigint + pg_size_bytes(current_setting('work_mem'))) +
		         current_setting('autovacuum_max_workers')::int *
		         pg_size_bytes(current_setting('maintenance_work_mem'))) AS bytes, *
		  FROM working_set_recommendation)
	SELECT suggested_effective_cache_size = least(memory_limit_bytes - bytes, memory_limit_bytes * 3 / 4) / 1048576 || 'MB',
	       suggested_shared_buffers ~ '^[0-9]+MB$', pg_size_bytes(suggested_shared_buffers) BETWEEN 128 * 1048576 AND (memory_limit_bytes - bytes) * 3 / 4,
	       verdict, confidence
	  FROM reserved}, 't|t|t|grow|high', 'after a week there is a size, and it is affordable')
  or diag($node->safe_psql('postgres', 'SELECT suggested_shared_buffers, suggested_effective_cache_size, verdict, confidence, reason FROM working_set_recommendation'));
# (it does nothing while the worker is late)
becomes($set_so_far, 2, 'what is suggested goes straight into ALTER SYSTEM', $set);
# (the worker may report between the two)
becomes(q{
	SELECT s ~ ('^GROW shared_buffers 16 MB -> [0-9.]+ [MG]B[^\n]*\nWorth: [^\n]*\nConfidence HIGH: 7 days seen\n'
	            'Memory [^\n]*, fits\nTop: [^\n]*(hot|cold|growing) [0-9.]+ MB[^\n]*\nDo: '),
	       split_part(s, E'\nDo: ', 2) = format('ALTER SYSTEM SET shared_buffers = %L;  then restart', suggested_shared_buffers)
	  FROM working_set_recommendation, working_set() AS s}, 't|t', 'working_set() says what the view does')
  or diag($node->safe_psql('postgres', 'SELECT working_set()'));
$clock->lend(sub { $node->restart });
my ($suggested) = slurp_file($node->data_dir . '/postgresql.auto.conf') =~ /^shared_buffers = '([^']+)'/m;
is($node->safe_psql('postgres', qq{SELECT pg_size_bytes(current_setting('shared_buffers')) = pg_size_bytes('$suggested') AND pg_size_bytes('$suggested') >= 128 * 1048576}),
	't', 'and shared_buffers is what was suggested');
}

finish($node);

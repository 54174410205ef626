# What counts: pages once, also with parallel workers and with any number of registers; VACUUM apart;
# and neither temporary tables nor evictions.

use lib 'test/t';
use server;

my $node = new_server('main');
make_table($node, 'pages', 5000);

# A scan after a reset: its pages, and no more than 150 others.
sub scanned
{
	my ($settings, $name, $bound) = @_;
	$bound //= error_of(5000);
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $got = $node->safe_psql('postgres', qq{
		$settings
		SELECT working_set_reset() \\g /dev/null
		SELECT count(filler) FROM pages \\g /dev/null
		SELECT approximate_working_set_size()});
	cmp_ok($got, '>=', 5000 - $bound, "$name: all pages of a scan");
	return cmp_ok($got, '<=', 5000 + $bound + 150, "$name: once");
}
my $alone = 'SET max_parallel_workers_per_gather = 0;';
my $parallel = q{SET max_parallel_workers_per_gather = 2; SET min_parallel_table_scan_size = 0;
	SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET cpu_tuple_cost = 1;};
scanned($alone, 'alone');
is($node->safe_psql('postgres', qq{
	$alone
	SELECT approximate_working_set_size() AS before \\gset
	SELECT count(filler) FROM pages \\g /dev/null
	SELECT approximate_working_set_size() - :before BETWEEN 0 AND 150}), 't', 'scanned again, nothing is added');
like($node->safe_psql('postgres', "$parallel EXPLAIN (ANALYZE) SELECT count(filler) FROM pages"), qr/Workers Launched: [12]/, '(there are parallel workers)');
scanned($parallel, 'parallel workers');
is($node->safe_psql('postgres', qq{
	$parallel
	SELECT lookups AS before FROM working_set_info \\gset
	SELECT count(filler) FROM pages \\g /dev/null
	SELECT lookups - :before BETWEEN 5000 AND 8000 FROM working_set_info}), 't', 'whose lookups are counted once');
# also those of their start, of which the leader is not told
my $counts = q{SELECT (SELECT lookups FROM working_set_info) || ' ' || sum(blks_hit + blks_read) FROM pg_stat_database};
my ($ours, $servers) = split / /, $node->safe_psql('postgres', $counts);
$node->safe_psql('postgres', $parallel . 'SELECT count(filler) FROM pages WHERE id < 5;' x 20);
my $said;
ok(eventually(sub {
	my ($we, $it) = split / /, $node->safe_psql('postgres', $counts);
	$said = sprintf '%d of %d', $we - $ours, $it - $servers;
	return $it - $servers > 100000 && abs($we - $ours - $it + $servers) < 1000;
}), 'as many as the server counts') or diag($said);
# while they run, and if they are ended
my $slow = $node->background_psql('postgres', on_error_stop => 0);
sql($node, q{CREATE FUNCTION scan() RETURNS bigint LANGUAGE plpgsql PARALLEL SAFE AS 'BEGIN RETURN (SELECT count(filler) FROM pages); END'});
my $before = $node->safe_psql('postgres', 'SELECT lookups FROM working_set_info');
$slow->query_until(qr/begun/, "$parallel SET parallel_leader_participation = off;\n\\echo begun\n" .
	"SELECT sum(scan()) FROM pages;\n");
ok(eventually(sub { $node->safe_psql('postgres', "SELECT lookups - $before > 300000 FROM working_set_info") eq 't' }), 'nor later than they come about');
is($node->safe_psql('postgres', q{SELECT count(*) > 1, bool_or(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE query ~ '^SELECT sum' AND state = 'active'}),
	't|t', '(the query still runs)');
$slow->{run}->finish;

cmp_ok($node->safe_psql('postgres', q{
	CREATE TEMP TABLE temporary AS SELECT g AS id, repeat('x', 1000) AS filler FROM generate_series(1, 14000) g;
	SELECT working_set_reset() \g /dev/null
	SELECT count(filler) FROM temporary \g /dev/null
	SELECT approximate_working_set_size()}), '<=', 300, 'temporary tables, which have buffers of their own, are not seen');

# a client that vacuums is maintenance, and client again afterwards
my $all = sprintf 'BETWEEN %d AND %d', 5000 - error_of(5000), 5000 + error_of(5000) + 150;
is($node->safe_psql('postgres', qq{
	SELECT working_set_reset() \\g /dev/null
	VACUUM (FREEZE, DISABLE_PAGE_SKIPPING) pages;
	SELECT c.pages < 300, m.pages $all
	  FROM working_set_curve('{3600}') c, working_set_curve('{3600}', 'maintenance') m}), 't|t', 'VACUUM is kept apart');
is($node->safe_psql('postgres', qq{
	VACUUM (FREEZE, DISABLE_PAGE_SKIPPING) pages;
	SELECT working_set_reset() \\g /dev/null
	SELECT count(filler) FROM pages \\g /dev/null
	SELECT c.pages $all, m.pages < 100, a.pages >= c.pages
	  FROM working_set_curve('{3600}') c, working_set_curve('{3600}', 'maintenance') m,
	       working_set_curve('{3600}', 'all') a}), 't|t|t', 'and its session counts as a client again');

# Evictions are no accesses.  Two tables of 5000 pages do not fit in 8192 buffers, so
# reading one in full (by its index, for a scan of such a table would not fill the
# buffers) drives out at least 1808 pages of the other one.
$node->safe_psql('postgres', q{
	CREATE TABLE others (LIKE pages INCLUDING STORAGE);
	INSERT INTO others SELECT * FROM pages;
	CREATE INDEX ON pages (id);
	CREATE INDEX ON others (id);
	VACUUM (FREEZE, ANALYZE) others;
});
my $by_index = 'SET enable_seqscan = off; SET enable_bitmapscan = off;';
$node->safe_psql('postgres',
	"$by_index SELECT sum(length(filler)) FROM pages WHERE id BETWEEN 1 AND 5000");
my ($evicted, $size) = split /\|/, $node->safe_psql('postgres', $by_index . q{
	SELECT working_set_reset() \g /dev/null
	SELECT sum(length(filler)) FROM others WHERE id BETWEEN 1 AND 5000 \g /dev/null
	SELECT evictions, approximate_working_set_size() FROM working_set_info;
});
cmp_ok($evicted, '>=', 1808 - 200, 'reading one table evicts pages of the other');
cmp_ok($size, '>=', 5000 - error_of(5000), 'the pages read are counted');
cmp_ok($size, '<=', 5000 + error_of(5000) + 150, 'those evicted are not');

# the fewest registers, and the most: 5 standard errors of 0.589 / sqrt(m)
for my $registers (1024, 65536)
{
	$node->append_conf('postgresql.conf', "working_set.registers = $registers");
	$node->restart;
	scanned($alone, "$registers registers", 5 * 0.589 / sqrt($registers) * 5000);
}

finish($node);

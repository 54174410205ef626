# What is predicted to be read where rows are updated, beside what is.  The clock is the test's.

use lib 'test/t';
use server;
use clock;

my $clock = clock->new;
my $node = $clock->new_server(q{
shared_buffers = 2048
max_parallel_workers_per_gather = 0
});
# the first recommendation, so that one can wait for the next
$clock->let_pass($node, 61);

# An update finds its row, and then looks up the page again that it still has pinned: one use.
# 1,000 pages that are used often, and 6,000 in each of which one row is updated and has room for
# another version.
my %use = (
	often => [1000, 'SELECT count(t.filler) FROM r JOIN often t USING (id)'],
	updated => [6000, 'UPDATE updated t SET n = n + 1 FROM r WHERE t.id = r.id']);
my @queries;
for my $table (sort keys %use)
{
	my ($rows, $use) = @{ $use{$table} };
	sql($node, qq{
		CREATE TABLE $table (id int PRIMARY KEY, n int, filler text) WITH (fillfactor = 40, autovacuum_enabled = off);
		ALTER TABLE $table ALTER filler SET STORAGE PLAIN;
		INSERT INTO $table SELECT g, 0, repeat('x', current_setting('block_size')::int / 3) FROM generate_series(1, $rows) g;
		VACUUM (FREEZE, ANALYZE) $table});
	push @queries, "WITH r AS MATERIALIZED (SELECT 1 + floor($rows * random())::int AS id FROM generate_series(1, 100)) $use";
}

# For so many rounds of fifteen seconds: 100 of each in a second.
sub use_and_update
{
	my ($rounds) = @_;
	for (1 .. $rounds)
	{
		sql($node, join('; ', 'SET enable_seqscan = off', 'SET enable_bitmapscan = off', 'SET enable_hashjoin = off',
				'SET enable_mergejoin = off', (@queries) x 15));
		$clock->let_pass($node, 15);
	}
	return;
}

use_and_update(12);
sql($node, 'SELECT working_set_reset()');
# as above
$clock->let_pass($node, 61);
use_and_update(24);
# All pages are sampled, and what is simulated are the uses that are measured, so chance is small:
# it was 0.001 and 0.005.  With two uses for each update it was 0.1.
my ($off, $misses, $rate) = split /\|/, sql($node, q{
	SELECT (1 - a.predicted_hit_ratio) / (1 - i.hits::float8 / i.lookups) - 1, 1 - i.hits::float8 / i.lookups, i.sample_rate
	  FROM working_set_cache_advice a, working_set_info i WHERE a.size_factor = 1});
is($rate, 1, 'all pages are sampled');
cmp_ok($misses, '>', 0.05, 'some of the lookups miss');
cmp_ok(abs($off), '<', 0.03, "as many as are predicted ($off)");

finish($node);

# A sample with room for few pages, for many, and for none; and of next to nothing.

use lib 'test/t';
use server;
use clock;
use sampling;

# The clocks go on by themselves, but for the minute until there is a recommendation.
my $clock = clock->new(running => 1);
my $node = new_sampled('', $clock);

for my $pages (1024, 32768)
{
	$node->safe_psql('postgres', "ALTER SYSTEM SET working_set.sample_pages = $pages");
	$clock->lend(sub { $node->restart });
	look_up($node, 30000);
	wait_until($node, 'sampled_pages > 20 FROM working_set_info', "$pages pages: sampled");
	is(info($node, "sampled_pages <= $pages, (SELECT allocated_size FROM pg_shmem_allocations WHERE name = 'working_set') < 12 * 1024 * 1024"), 't|t',
		"$pages pages: no more than there is room for");
	wait_until($node, q{predicted_hit_ratio IS NOT NULL FROM working_set_cache_advice WHERE size_factor = 1},
		"$pages pages: advice")
	  or diag($node->safe_psql('postgres', q{
		SELECT * FROM working_set_cache_advice, working_set_info WHERE size_factor = 1}) . "\n" . changes_of_rate($node));
	# (of an hour, whose end is far away: pages that leave a window between two looks do no harm)
	is($node->safe_psql('postgres', q{
		SELECT sum(bytes) <= min(size) + count(*) * current_setting('block_size')::int
		  FROM working_set_relations('1 hour'), working_set_size(interval '1 hour') AS size}),
		't', "$pages pages: relations");
	is($node->safe_psql('postgres', q{
		SELECT count(*) FROM working_set_relations
		 WHERE bytes > pg_relation_size(relid, 'main') + pg_relation_size(relid, 'fsm') + pg_relation_size(relid, 'vm')}),
		'0', "$pages pages: no relation is larger than its files");
}

my ($ret, $stdout, $stderr) = $node->psql('postgres', 'ALTER SYSTEM SET working_set.sample_pages = 5',
	extra_params => [ '-v', 'VERBOSITY=verbose' ]);
like($stderr, qr/22023.*The number of sampled pages must be 0, or from 1024 to 32768\./s,
	'a few pages are no sample');

$node->safe_psql('postgres', 'ALTER SYSTEM SET working_set.sample_pages = 0');
$clock->lend(sub { $node->restart });
look_up($node, 20000);
is(info($node, 'sample_rate, sampled_pages, dropped_samples, (SELECT allocated_size FROM pg_shmem_allocations WHERE name = \'working_set\') < 3000000'), '0|0|0|t',
	'no sample, no memory for it');
is($node->safe_psql('postgres', 'SELECT count(*) FROM working_set_relations'), '0', 'and no relations');
$clock->pass(61);
# (its state is from the file at first, and hits are counted a moment later)
wait_until($node, q{status = 'ok' AND current_hit_ratio IS NOT NULL FROM working_set_recommendation}, 'a recommendation without a sample');
is($node->safe_psql('postgres', q{
	SELECT working_set_bytes = plateau_end_bytes, live_bytes IS NULL, current_hit_ratio > 0, expected_hit_ratio IS NULL,
	       working_set() ~ 'Confidence LOW: working_set.sample_pages is 0',
	       expected_reads_per_second IS NULL,
	       (SELECT count(*) FROM working_set_cache_advice)
	  FROM working_set_recommendation}),
	't|t|t|t|t|t|0', 'the recommendation is of plateau_end, there is no advice, and working_set() says why');

# --- next to nothing is used

$node->safe_psql('postgres', 'ALTER SYSTEM RESET working_set.sample_pages');
$clock->lend(sub { $node->restart });
# a worker that starts later than the reset begins with an empty sample
wait_until($node, 'worker_pid IS NOT NULL FROM working_set_info', 'the worker runs');
my $look = 'SELECT length(filler) FROM pages WHERE id = 1 \g /dev/null' . "\n";
$node->safe_psql('postgres', $look . "SELECT working_set_reset();\n" . $look x 20);
wait_until($node, q{note = 'too few pages are sampled' OR predicted_hit_ratio IS NOT NULL
	FROM working_set_cache_advice WHERE size_factor = 1}, 'a handful of pages: advice or none');
becomes($node, 'postgres', q{
	SELECT bytes / current_setting('block_size')::int FROM working_set_relations WHERE relid = 'pages'::regclass},
	'1', 'and the table of which one page was used');

finish($node);

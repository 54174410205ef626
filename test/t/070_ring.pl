# The cache advice after a restart: pages that were read through a ring are in no cache that would
# use one.

use lib 'test/t';
use server;
use sampling;

my $node = new_sampled();

# The table of 4000 pages goes through a ring where that is more than a quarter of the cache: up
# to four times the present size, not at eight times.
sub scan
{
	my ($times) = @_;
	$node->safe_psql('postgres', "SET max_parallel_workers_per_gather = 0;\n"
		  . "SELECT count(filler) FROM pages \\g /dev/null\n" x $times);
	return;
}
# (what made the table went through none, so nothing of that is kept)
$node->stop;
unlink $node->data_dir . '/pg_stat/working_set.saved';
$node->start;
wait_for_worker($node);
scan(5);
wait_until($node, 'sampled_pages > 100 FROM working_set_info', 'scanned');
$node->restart;
wait_for_worker($node);
scan(20);
wait_until($node, 'min(predicted_hit_ratio) IS NOT NULL FROM working_set_cache_advice', 'advice after a restart');
is($node->safe_psql('postgres', q{
	SELECT string_agg(size_factor || CASE WHEN predicted_hit_ratio < 0.5 THEN ' misses' WHEN predicted_hit_ratio > 0.9 THEN ' hits' END,
		', ' ORDER BY size_factor)
	  FROM working_set_cache_advice WHERE size_factor IN (1, 4, 8, 16)}),
	'1 misses, 4 misses, 8 hits, 16 hits', 'with a ring nearly all is read, without one it is there from the start');

finish($node);

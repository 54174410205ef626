# The cache advice: for the present size it is what the server itself counted.

use lib 'test/t';
use server;
use sampling;

my $node = new_sampled();

wait_until($node, 'sample_rate > 0 FROM working_set_info', 'pages are sampled');
look_up($node, 40000);
$node->safe_psql('postgres', 'SELECT working_set_reset()');
look_up($node, 40000);
wait_until($node, q{predicted_hit_ratio IS NOT NULL FROM working_set_cache_advice WHERE size_factor = 1},
	'there is advice');
# What is predicted rests on the sampled pages of the 4000, of which some share
# is in the cache; bound: four standard errors of such a share.
becomes($node, 'postgres', q{
	SELECT abs(a.predicted_hit_ratio - i.hits::float8 / i.lookups) < 4 * sqrt(0.25 / (4000 * i.sample_rate)),
	       a.note IS NULL OR a.note ~ '^(what other sizes would do is not known|the cache is still filling, probably until|reads are uncertain: )',
	       a.error BETWEEN 0 AND 1
	  FROM working_set_cache_advice AS a, working_set_info AS i WHERE a.size_factor = 1},
	't|t|t', 'at the present size it is what was measured')
  or diag($node->safe_psql('postgres', q{
	SELECT 'predicted ' || a.predicted_hit_ratio || ', measured ' || i.hits::float8 / i.lookups || ', rate ' ||
	       i.sample_rate || ', dropped ' || i.dropped_samples || ', ' || coalesce(a.note, 'no note')
	  FROM working_set_cache_advice AS a, working_set_info AS i WHERE a.size_factor = 1}));
is($node->safe_psql('postgres', q{
	SELECT l.predicted_hit_ratio > h.predicted_hit_ratio, h.predicted_reads_per_second > p.predicted_reads_per_second,
	       l.predicted_reads_per_second < 0.5 * p.predicted_reads_per_second
	  FROM working_set_cache_advice AS h, working_set_cache_advice AS p, working_set_cache_advice AS l
	 WHERE h.size_factor = 0.5 AND p.size_factor = 1 AND l.size_factor = 2.5}),
	't|t|t', 'half of it would read more, and two and a half times, which hold the table, little');

finish($node);

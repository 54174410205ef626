# What a query reads, and what another one finds; a reset; and a session without identifiers.

use lib 'test/t';
use server;
use queries;

my $node = new_queried();

$node->restart;
wait_for_worker($node);
sql($node, 'SELECT count(filler) FROM pages');
# 1,500 pages, all of them sampled or not: four standard errors of a sample of one in four
ok($node->poll_query_until('postgres', q{
	SELECT abs(reads_per_second * extract(epoch FROM clock_timestamp() - since) - 1500) < 1500 * 0.25
	  FROM working_set_queries, working_set_info WHERE queryid = id_of('SELECT count(filler) FROM pages')}), 'a query reads so many pages')
  or diag(sql($node, 'SELECT queryid, bytes, reads_per_second, clock_timestamp() - since FROM working_set_queries, working_set_info'));
sql($node, 'SELECT avg(length(filler)) FROM pages');
uses($node, 'SELECT avg(length(filler)) FROM pages', 'another one finds them');
# of the 1,500 pages; the catalog's few weigh much in the first seconds
ok($node->poll_query_until('postgres', q{SELECT reads_per_second < 1 FROM working_set_queries WHERE queryid = id_of('SELECT avg(length(filler)) FROM pages')}),
	'and reads none, or a few of the catalog');

# Reads of before a reset, whose events the worker has not seen yet, are no reads after it.
$node->restart;
wait_for_worker($node);
sql($node, "SELECT count(filler), 9 FROM pages;\nSELECT working_set_reset()");
sql($node, 'SELECT count(filler), 9 FROM pages');
uses($node, 'SELECT count(filler), 9 FROM pages', 'after a reset', 'reads_per_second IS NOT NULL');
ok($node->poll_query_until('postgres', q{SELECT reads_per_second < 1 FROM working_set_queries WHERE queryid = id_of('SELECT count(filler), 9 FROM pages')}),
	'what was read before it does not count');

# A session that tells nobody what it does has no identifier.
sql($node, q{SET track_activities = off; SELECT stddev(length(filler)) FROM pages});
sql($node, q{SELECT variance(length(filler)) FROM pages});
uses($node, 'SELECT variance(length(filler)) FROM pages', 'one with an identifier');
is(sql($node, q{SELECT count(*) FROM working_set_queries WHERE queryid = id_of('SELECT stddev(length(filler)) FROM pages')}), '0', 'and one without');

finish($node);

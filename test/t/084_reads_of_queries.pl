# What a query reads, and what another one finds; a reset; a session without identifiers; and what is
# known of queries when the worker ends, the server crashes, and nothing is sampled.

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
ok($node->poll_query_until('postgres', q{
	SELECT abs(reads_per_second * extract(epoch FROM clock_timestamp() - since) - 1500) < 1500 * 0.25
	  FROM working_set_relations, working_set_info WHERE relation = 'pages'}), 'and so many of the table are read');
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
is(sql($node, q{SELECT reads_per_second FROM working_set_relations WHERE relation = 'pages'}), '0', 'nor of the table');

# A session that tells nobody what it does has no identifier.
sql($node, q{SET track_activities = off; SELECT stddev(length(filler)) FROM pages});
sql($node, q{SELECT variance(length(filler)) FROM pages});
uses($node, 'SELECT variance(length(filler)) FROM pages', 'one with an identifier');
is(sql($node, q{SELECT count(*) FROM working_set_queries WHERE queryid = id_of('SELECT stddev(length(filler)) FROM pages')}), '0', 'and one without');

# ---- the worker ends, a crash, and nothing sampled

sql($node, 'SELECT count(filler), 2, 3 FROM pages');
my $worker = sql($node, 'SELECT worker_pid FROM working_set_info');
kill TERM => $worker;
ok($node->poll_query_until('postgres', "SELECT worker_pid <> $worker FROM working_set_info"), 'another worker');
uses($node, 'SELECT count(filler), 2, 3 FROM pages', 'goes on with what was there');

# An update of the server may change identifiers, so none is kept where the sample is.
sql($node, 'SELECT count(filler), 2, 3 FROM pages');
uses($node, 'SELECT count(filler), 2, 3 FROM pages', 'used in the last five minutes');
my $before = sql($node, 'SELECT array_agg(queryid) FROM working_set_queries WHERE queryid IS NOT NULL');
$node->restart;
ok($node->poll_query_until('postgres', q{SELECT sum(bytes) > 1000 * current_setting('block_size')::int FROM working_set_relations}), 'over a restart it knows the pages');
is(sql($node, "SELECT count(*) FROM working_set_queries WHERE queryid = ANY ('$before')"), '0', 'and no query');

$node->stop('immediate');
$node->start;
wait_for_worker($node);
is(sql($node, q{SELECT count(*) FROM working_set_queries WHERE bytes > 1000 * current_setting('block_size')::int}), '0', 'after a restart it starts over');
sql($node, 'SELECT count(filler), 4 FROM pages');
uses($node, 'SELECT count(filler), 4 FROM pages', 'and sees what comes');

$node->append_conf('postgresql.conf', 'working_set.enabled = off');
$node->reload;
ok($node->poll_query_until('postgres', 'SELECT NOT tracking FROM working_set_info'), 'switched off');
is(sql($node, 'SELECT count(*) FROM working_set_queries'), '0', 'there are no rows');
$node->append_conf('postgresql.conf', "working_set.enabled = on\nworking_set.sample_pages = 0");
$node->restart;
is(sql($node, 'SELECT tracking, (SELECT count(*) FROM working_set_queries) FROM working_set_info'), 't|0', 'nor without a sample');
$node->append_conf('postgresql.conf', "working_set.sample_pages = 1024");
$node->restart;
wait_for_worker($node);
sql($node, 'SELECT count(filler), 5 FROM pages');
uses($node, 'SELECT count(filler), 5 FROM pages', 'the smallest sample gives an answer');

unlike(slurp_file($node->logfile), qr/was terminated by signal|PANIC:|TRAP:/, 'no crash');
finish($node);

# What is known of queries when the worker ends, the server crashes, and nothing is sampled.

use lib 'test/t';
use server;
use queries;

my $node = new_queried();

sql($node, 'SELECT count(filler), 2, 3 FROM pages');
my $worker = sql($node, 'SELECT worker_pid FROM working_set_info');
kill TERM => $worker;
ok($node->poll_query_until('postgres', "SELECT worker_pid <> $worker FROM working_set_info"), 'another worker');
uses($node, 'SELECT count(filler), 2, 3 FROM pages', 'goes on with what was there');

# An update of the server may change identifiers, so none is kept where the sample is.
sql($node, 'SELECT count(filler), 2, 3 FROM pages');
uses($node, 'SELECT count(filler), 2, 3 FROM pages', 'used in the last five minutes');
my $before = sql($node, 'SELECT array_agg(queryid) FROM working_set_queries WHERE queryid IS NOT NULL');
$node->stop;
my $file = $node->data_dir . '/pg_stat/working_set.saved';
unlike(slurp_file($file), qr/SELECT|filler|pages|postgres|psql/, 'the file has no text of a query, and no name');
is((stat $file)[2] & 077, 0, 'and is for nobody but the server');
$node->start;
ok($node->poll_query_until('postgres', q{SELECT sum(bytes) > 1000 * current_setting('block_size')::int FROM working_set_relations}), 'over a restart it knows the pages');
is(sql($node, "SELECT count(*) FROM working_set_queries WHERE queryid = ANY ('$before')"), '0', 'and no query');

$node->stop('immediate');
$node->start;
wait_for_worker($node);
is(sql($node, 'SELECT count(*) FROM working_set_queries WHERE bytes > 1000 * current_setting(\'block_size\')::int'), '0', 'after a restart it starts over');
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

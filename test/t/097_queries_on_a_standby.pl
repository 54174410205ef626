# Redo on a standby is no query, and queries beside it have their own pages.

use lib 'test/t';
use server;
use beside;

my $node = new_stated();
$node->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'backup', has_streaming => 1);
$standby->start;
$node->wait_for_catchup($standby);
wait_for_worker($standby);
sql($standby, 'SELECT working_set_reset()');
sql($node, q{SELECT make('more')});
sql($node, q{SELECT fill('more')});
$node->wait_for_catchup($standby);
my $redo = 'datname IS NULL AND rolname IS NULL AND queryid IS NULL AND application_name IS NULL';
has_pages($standby, $redo, 'redo has neither query nor role nor database');
my $fill = sql($node, 'SELECT queryid FROM pg_stat_statements WHERE query LIKE ' . q{'SELECT fill($1)'} . ' AND toplevel');
is(sql($standby, "SELECT count(*) FROM working_set_queries WHERE queryid = $fill"), '0', 'and not the query of the primary');
sql($standby, 'SELECT count(filler) FROM pages');
my $there = of_statement('SELECT count(filler) FROM pages');
has_pages($standby, $there, 'a query on a standby has its own pages');
sql($standby, 'SELECT min(filler) FROM more');
my $min = of_statement('SELECT min(filler) FROM more');
has_pages($standby, $min, 'also of what redo brought');
reads_none($standby, $min, 'which it need not read');
nothing_else($standby, 'no other has them', "$there OR $min");
has_pages($standby, $redo, 'redo has those that it had');

# What it has an image of in the log, it does not read.
$standby->restart;
wait_for_worker($standby);
sql($standby, 'SELECT working_set_reset()');
sql($node, 'CHECKPOINT');
sql($node, 'UPDATE pages SET filler = filler');
$node->wait_for_catchup($standby);
has_pages($standby, $redo, 'redo needs the pages of an update', pages => 3000);
is(sql($standby, qq{
	SELECT q.reads_per_second * extract(epoch FROM clock_timestamp() - i.since) < 0.1 * q.bytes / current_setting('block_size')::int
	  FROM working_set_queries q, working_set_info i WHERE $redo}), 't', 'but it does not read them')
  or diag(sql($standby, "SELECT q.bytes, q.reads_per_second, clock_timestamp() - i.since, i.lookups, i.hits FROM working_set_queries q, working_set_info i WHERE $redo"));

finish($standby, $node);

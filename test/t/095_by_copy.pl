# COPY, which has no plan, has the pages that it makes and reads; and autovacuum, which reads all pages of a
# table while a query reads another one, is no query, and is not ascribed to one.

use lib 'test/t';
use server;
use beside;

my $tmp = PostgreSQL::Test::Utils::tempdir;
my $node = new_stated('autovacuum_naptime = 1');

sql($node, "COPY pages TO '$tmp/pages'");
sql($node, 'SELECT working_set_reset()');
sql($node, "SELECT make('copied'); COPY copied FROM '$tmp/pages'");
my $from = of_statement('COPY copied FROM%');
has_pages($node, $from, 'COPY FROM has the pages that it makes');
reads_none($node, $from, 'and has not read those of a new table');
sql($node, "COPY copied FROM '$tmp/pages'");
has_pages($node, $from, 'those by which it extends the table, too', pages => 3000);
reads_none($node, $from, 'and has not read them either');
sql($node, q{COPY pages TO '/dev/null'});
my $to = of_statement(q{COPY pages TO '/dev/null'});
has_pages($node, $to, 'COPY TO has the pages that it reads');
sql($node, q{COPY (SELECT max(filler) FROM copied) TO '/dev/null'});
my $of_query = of_statement('COPY (SELECT%');
has_pages($node, $of_query, 'COPY of a query has those of the query', pages => 3000);
nothing_else($node, 'no other has them', join(' OR ', $from, $to, $of_query));

# ---- autovacuum

sql($node, q{SELECT make('dead'); SELECT fill('dead'); DELETE FROM dead WHERE id % 10 = 0});

sql($node, 'SELECT working_set_reset()');
sql($node, 'ALTER TABLE dead SET (autovacuum_enabled = on, autovacuum_vacuum_threshold = 1, autovacuum_vacuum_scale_factor = 0, autovacuum_analyze_threshold = 1, autovacuum_analyze_scale_factor = 0)');
$node->append_conf('postgresql.conf', 'autovacuum = on');
$node->reload;
my $vacuumed = q{SELECT autovacuum_count > 0 AND autoanalyze_count > 0 FROM pg_stat_user_tables WHERE relname = 'dead'};
ok(eventually(sub { sql($node, 'SELECT count(filler) FROM pages'); return sql($node, $vacuumed) eq 't' }), 'autovacuum has vacuumed and analyzed');
# 5 standard errors of 0.46 %
cmp_ok(sql($node, q{SELECT pages FROM working_set_curve('{3600}', 'maintenance')}), '>=', 1500 - 35, 'what it uses is maintenance');
my $count = of_statement('SELECT count(filler) FROM pages');
has_pages($node, $count, 'a query beside it has its own pages');
# (and what all its queries use of the catalog)
has_pages($node, q{rolname IS NOT NULL}, 'and so has its role', catalog => 400, rows => q{working_set_queries('5 min', 'role')});
is(sql($node, q{SELECT count(*) FROM working_set_queries WHERE queryid IS NULL AND bytes > 400 * current_setting('block_size')::int}), '0', 'autovacuum has no row');
nothing_else($node, 'nor are its pages in another', $count);

finish($node);

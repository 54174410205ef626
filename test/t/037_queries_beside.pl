# Autovacuum, which reads all pages of a table while a query reads another one, is no query, and is
# not ascribed to one.

use lib 'test/t';
use server;
use beside;

my $node = new_stated('autovacuum_naptime = 1');
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

# When the server is not what the probe expects, it starts and serves as if
# the extension were not there, and says why nothing is tracked.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# a library that makes the probe doubt
my $pg_config = $ENV{PG_CONFIG} || 'pg_config';
chomp(my $include = `$pg_config --includedir-server`);
chomp(my $libdir = `$pg_config --pkglibdir`);
my $rival = "$libdir/ws_test_rival.so";
system_or_bail('cc', '-O2', '-fPIC', '-shared', '-D_GNU_SOURCE', '-DWS_VERSION="test"',
	'-DPGDLLEXPORT=__attribute__((visibility("default")))',
	'-Isrc', "-I$include", 'test/t/rival.c', '-o', $rival);

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf(
	'postgresql.conf', q{
shared_preload_libraries = 'working_set, ws_test_rival'
working_set.interval = 1
});
$node->start;
unlink $rival;

my $reason = 'found 2 candidates for the header of "Shared Buffer Lookup Table", not one';
my $log = slurp_file($node->logfile);
is(scalar(() = $log =~ /working_set is not tracking/g), 1, 'one line in the log');
like($log, qr/LOG:  working_set is not tracking: \Q$reason\E/, 'and why');

$node->safe_psql('postgres', 'CREATE EXTENSION working_set');
is($node->safe_psql('postgres', q{
	SELECT tracking, reason, since IS NULL, lookups IS NULL, hits IS NULL, evictions IS NULL
	  FROM working_set_info}),
	"f|$reason|t|t|t|t", 'the view says why');
is($node->safe_psql('postgres', q{
	SELECT approximate_working_set_size_seconds(60) IS NULL,
	       approximate_working_set_size() IS NULL,
	       approximate_working_set_size(true) IS NULL,
	       working_set_size() IS NULL,
	       (SELECT count(*) FROM working_set_curve),
	       (SELECT count(*) FROM working_set_curve('{60}', 'all'))}),
	't|t|t|t|0|0', 'sizes are not known');
is($node->safe_psql('postgres', q{
	SELECT status, reason, computed_at IS NULL, recommended_cache_bytes IS NULL
	  FROM working_set_recommendation}),
	"not tracking|$reason|t|t", 'nothing is recommended');
is($node->safe_psql('postgres', 'SELECT working_set_reset() IS NOT NULL'), 't', 'reset does no harm');
is($node->safe_psql('postgres', q{SELECT value FROM working_set_plateau_end('{1,2,3,4,5,6}')}),
	'6', 'the heuristic works on any series');

# the server serves
$node->safe_psql('postgres', q{
	CREATE TABLE t AS SELECT g FROM generate_series(1, 100000) g;
	CREATE INDEX ON t (g); VACUUM t; CHECKPOINT; DROP TABLE t;
});
# turning it on does not force it
$node->safe_psql('postgres', 'ALTER SYSTEM SET working_set.enabled = on');
$node->reload;
is($node->safe_psql('postgres', 'SELECT tracking FROM working_set_info'), 'f', 'and so it stays');
$node->stop;

done_testing();

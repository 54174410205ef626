# Without preloading, the extension can be created, and every call that asks the server
# says what to do.

use lib 'test/t';
use server;

my $node = PostgreSQL::Test::Cluster->new('plain');
$node->init;
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION working_set');
pass('extension can be created');

for my $query (
	'SELECT approximate_working_set_size_seconds(60)',
	'SELECT approximate_working_set_size_seconds()',
	'SELECT approximate_working_set_size_seconds(-1)',
	'SELECT approximate_working_set_size()',
	'SELECT approximate_working_set_size(true)',
	"SELECT working_set_size('1 minute')",
	'SELECT * FROM working_set_curve()',
	"SELECT * FROM working_set_curve('{}')",
	'SELECT * FROM working_set_curve',
	'SELECT * FROM working_set_recommendation',
	'SELECT working_set_chart()',
	'SELECT working_set_memory_chart()',
	'SELECT * FROM working_set_memory_advice',
	'SELECT * FROM working_set_memory_advice(0, 0)',
	'SELECT working_set()',
	'SELECT * FROM working_set_cache_advice',
	'SELECT * FROM working_set_relations',
	"SELECT * FROM working_set_relations('1 hour')",
	'SELECT * FROM working_set_queries',
	'SELECT * FROM working_set_history',
	'SELECT * FROM working_set_forecast',
	'SELECT * FROM working_set_info',
	'SELECT working_set_reset()')
{
	my ($status, $out, $err) =
	  $node->psql('postgres', "\\set VERBOSITY verbose\n$query");
	like(
		$err,
		qr/ERROR:  55000: working_set must be loaded via shared_preload_libraries.*HINT:  .*shared_preload_libraries.*restart/s,
		$query);
}

# but one, which asks for nothing but its arguments
is($node->safe_psql('postgres', "SELECT * FROM working_set_plateau_end('{1,2,3,4,5,6,20,40,60,80}')"),
	'5|5', 'the plateau of a series needs no preloading');

# its settings are unknown then, but do no harm
is( $node->safe_psql('postgres', "SELECT current_setting('working_set.interval', true)"),
	'', 'no settings');

# loading it into a session, too, only makes the functions callable
my ($status, $out, $err) = $node->psql('postgres',
	"LOAD 'working_set'; SELECT approximate_working_set_size()");
like($err, qr/must be loaded via shared_preload_libraries/, 'LOAD is not enough');

$node->safe_psql('postgres', 'DROP EXTENSION working_set');
finish($node);

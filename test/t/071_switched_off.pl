# Switched off by a reload nothing is known, nor counted; switched on it is counted from then on.
# The clock is the test's.

use lib 'test/t';
use server;
use clock;

my $clock = clock->new;
my $node = $clock->new_server(q{
working_set.method = plateau_end
shared_buffers = 8192
});
make_table($node, 'pages', 2000);
my $scan = 'SELECT count(filler) FROM pages \g /dev/null';

is(recommendation($node, 'status, computed_at IS NULL, recommended_cache_bytes IS NULL, reason LIKE \'counting since %\''),
	'collecting|t|t|t', 'collecting at first, without a number');

$node->append_conf('postgresql.conf', 'working_set.enabled = off');
$node->reload;
wait_for($node, 'NOT tracking FROM working_set_info', 'could not turn it off');
is($node->safe_psql('postgres', 'SELECT reason, since IS NULL FROM working_set_info'),
	'working_set.enabled is off|t', 'off, and says so');
is($node->safe_psql('postgres', q{
	SELECT approximate_working_set_size_seconds(60) IS NULL,
	       approximate_working_set_size() IS NULL,
	       approximate_working_set_size(true) IS NULL,
	       working_set_size('1 min') IS NULL,
	       (SELECT count(*) FROM working_set_curve)}),
	't|t|t|t|0', 'nothing is known while it is off');
is(recommendation($node, 'status, recommended_cache_bytes IS NULL, reason'),
	'not tracking|t|working_set.enabled is off', 'nor recommended');
# arguments are checked all the same
my ($status, $out, $err) = $node->psql('postgres', 'SELECT approximate_working_set_size_seconds(-1)');
like($err, qr/must not be negative/, 'bad arguments are errors even so');

# what a session that was there before reads while it is off, is not counted
my $session = $node->background_psql('postgres');
$session->query_safe('SELECT 1');
$session->query_safe($scan);
# the worker has heard, too: it saves, which it has not done before
$node->append_conf('postgresql.conf', 'working_set.save = 1');
$node->reload;
$clock->pass(2);
wait_for($node, 'last_saved IS NOT NULL FROM working_set_info', 'nothing is saved');
$node->append_conf('postgresql.conf', "working_set.save = 300\nworking_set.enabled = on");
my $moment = $node->safe_psql('postgres', 'SELECT clock_timestamp()');
$node->reload;
wait_for($node, "tracking AND since > '$moment' FROM working_set_info", 'could not turn it on');
cmp_ok($node->safe_psql('postgres', 'SELECT approximate_working_set_size()'),
	'<', 1000, 'what was read meanwhile is not known');
$session->query_safe($scan);
# 5 standard errors of 0.46 % are 46
cmp_ok($node->safe_psql('postgres', 'SELECT approximate_working_set_size()'),
	'>=', 2000 - error_of(2000), 'what is read afterwards is');
$session->quit;

finish($node);

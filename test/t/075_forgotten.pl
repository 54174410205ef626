# What was forgotten does not come back: by a reset, and where nobody saw what was used, because
# tracking was off.

use lib 'test/t';
use server;

my $node = new_server('main', 'working_set.save = 1');
make_table($node, 'pages', 4000);
$node->safe_psql('postgres', 'CHECKPOINT');

$node->safe_psql('postgres', 'SELECT working_set_reset()');
saved($node);
$node->stop('immediate');
$node->start;
wait_for_worker($node);
cmp_ok(size($node, 3600), '<', 2000, 'a reset is not undone by a crash');
$node->safe_psql('postgres', 'SELECT count(filler) FROM pages');
$node->safe_psql('postgres', 'ALTER SYSTEM SET working_set.enabled = off');
$node->reload;
wait_for($node, 'NOT tracking FROM working_set_info', 'still tracking');
# the second save begins after the worker has heard, too
saved($node) for 1 .. 2;
my $off = $node->safe_psql('postgres', 'ALTER SYSTEM RESET working_set.enabled; SELECT clock_timestamp()');
$node->reload;
# the worker has heard
wait_for($node, "tracking AND since > '$off' FROM working_set_info", 'not tracking');
$node->restart;
wait_for_worker($node);
cmp_ok(size($node, 3600), '<', 2000, 'nor is switching off and on by a restart');

# off, and on again by a restart: what was used meanwhile nobody knows
$node->safe_psql('postgres', 'SELECT count(filler) FROM pages');
$node->safe_psql('postgres', 'ALTER SYSTEM SET working_set.enabled = off');
$node->reload;
wait_for($node, 'NOT tracking FROM working_set_info', 'still tracking');
saved($node) for 1 .. 2;
$node->safe_psql('postgres', 'ALTER SYSTEM RESET working_set.enabled');
$node->restart;
wait_for_worker($node);
cmp_ok(size($node, 3600), '<', 2000, 'nor by one alone');

# or while there is no worker: the next one has not seen it off
$node->safe_psql('postgres', 'SELECT count(filler) FROM pages');
$node->safe_psql('postgres', 'ALTER SYSTEM SET working_set.enabled = off');
$node->reload;
wait_for($node, 'NOT tracking FROM working_set_info', 'still tracking');
saved($node);
my $worker = $node->safe_psql('postgres', 'SELECT worker_pid FROM working_set_info');
my $moment = $node->safe_psql('postgres', 'SELECT clock_timestamp()');
kill 'TERM', $worker;
$node->safe_psql('postgres', 'ALTER SYSTEM RESET working_set.enabled');
$node->reload;
wait_for($node, "tracking AND since > '$moment' AND worker_pid <> $worker FROM working_set_info", 'it does not start over');
cmp_ok(size($node, 3600), '<', 2000, 'nor while the worker is another');

finish($node);

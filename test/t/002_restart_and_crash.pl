# Tracking goes on after restarts, after a crash of a backend or of the worker, and after an
# immediate shutdown.

use lib 'test/t';
use server;
use crashing;

my $node = new_server('main', 'restart_after_crash = on');
make_table($node, 'pages', 5000);

counts_a_scan($node, 'start', 5000);

$node->restart;
counts_a_scan($node, 'restart', 5000);

# one candidate, no complaint
unlike(slurp_file($node->logfile), qr/not tracking/, 'never refused');

# a backend crashes: shared memory is made anew, and the table found again
my $before = $node->safe_psql('postgres', 'SELECT since FROM working_set_info');
my $worker = worker_pid($node);
my $session = $node->background_psql('postgres');
my $pid = $session->query_safe('SELECT pg_backend_pid()');
chomp $pid;
kill 'KILL', $pid;
until_true($node, "worker_pid <> $worker FROM working_set_info", 'worker did not come back');
eval { $session->quit };
pass('worker is back after a crash');
is($node->safe_psql('postgres', "SELECT since > '$before' FROM working_set_info"),
	't', 'all is known since the crash');
counts_a_scan($node, 'crash', 5000);

# so does the worker itself
$worker = worker_pid($node);
kill 'KILL', $worker;
until_true($node, "worker_pid <> $worker FROM working_set_info", 'worker did not come back');
pass('worker is back after it crashed');
counts_a_scan($node, 'crash of the worker', 5000);

$node->stop('immediate');
$node->start;
counts_a_scan($node, 'immediate shutdown', 5000);

finish($node);

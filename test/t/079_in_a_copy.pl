# A copy of the data directory does not take the memory of the other for its own; a standby keeps
# what it has seen itself, also over a promotion.

use lib 'test/t';
use server;

my $node = new_server('main', 'working_set.save = 1', allows_streaming => 1);
make_table($node, 'pages', 4000);
$node->safe_psql('postgres', 'CHECKPOINT');

$node->safe_psql('postgres', 'SELECT count(filler) FROM pages');
saved($node);
$node->backup('backup');
ok(-s $node->backup_dir . '/backup/pg_stat/working_set.saved', 'the file is in a base backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'backup', has_streaming => 1);
$standby->start;
wait_for_worker($standby);
cmp_ok(size($standby, 3600), '<', 2000, 'a standby does not take the memory of its primary for its own');
like(slurp_file($standby->logfile), qr/is not used: it was saved in another directory/, 'which its log says');

# what it has seen itself it keeps, also when it has become a primary
$node->wait_for_catchup($standby);
$standby->safe_psql('postgres', 'SELECT count(filler) FROM pages');
$standby->restart;
wait_for_worker($standby);
cmp_ok(size($standby, 3600), '>', 4000 - error_of(4000), 'its own it keeps');
$standby->stop;
$standby->start;
$standby->promote;
$standby->restart;
wait_for_worker($standby);
cmp_ok(size($standby, 3600), '>', 4000 - error_of(4000), 'also over a promotion');
finish($standby, $node);

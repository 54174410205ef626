# On a standby redo counts as a client, reads are counted, and promotion
# changes nothing.

use lib 'test/t';
use server;

my $primary = new_server('primary', '', allows_streaming => 1);
$primary->backup('backup');

my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'backup', has_streaming => 1);
$standby->start;

is($standby->safe_psql('postgres', 'SELECT tracking FROM working_set_info'),
	't', 'a standby tracks');
ok($standby->poll_query_until('postgres', 'SELECT worker_pid > 0 FROM working_set_info'),
	'and has a worker');

# 2000 pages arrive by redo alone
$standby->safe_psql('postgres', 'SELECT working_set_reset()');
$primary->safe_psql('postgres', q{
	CREATE TABLE pages (id int, filler text);
	ALTER TABLE pages ALTER filler SET STORAGE PLAIN;
	INSERT INTO pages SELECT g, repeat('x', current_setting('block_size')::int - 1192) FROM generate_series(1, 2000) g;
});
$primary->wait_for_catchup($standby);
cmp_ok($standby->safe_psql('postgres', 'SELECT approximate_working_set_size()'),
	'>=', 2000 - error_of(2000), 'redo counts');

counts_a_scan($standby, 'standby', 2000);
$standby->promote;
counts_a_scan($standby, 'promoted', 2000);
is($standby->safe_psql('postgres', 'SELECT tracking, worker_pid > 0 FROM working_set_info'),
	't|t', 'tracking goes on');

finish($standby, $primary);

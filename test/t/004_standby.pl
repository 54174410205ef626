# On a standby redo counts as a client, reads are counted, and promotion
# changes nothing.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use patience;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);
$primary->append_conf(
	'postgresql.conf', q{
shared_preload_libraries = 'working_set'
shared_buffers = 8192
autovacuum = off
});
$primary->start;
$primary->safe_psql('postgres', 'CREATE EXTENSION working_set');
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
# 5 standard errors of 0.46 % are 46
cmp_ok($standby->safe_psql('postgres', 'SELECT approximate_working_set_size()'),
	'>=', 2000 - 46, 'redo counts');

sub scan_counts
{
	my ($name) = @_;
	my $size = $standby->safe_psql('postgres', q{
		SELECT working_set_reset() \g /dev/null
		SELECT count(filler) FROM pages \g /dev/null
		SELECT approximate_working_set_size()});
	cmp_ok($size, '>=', 2000 - 46, "$name: reads count");
	cmp_ok($size, '<=', 2000 + 46 + 150, "$name: once");
}

scan_counts('standby');
$standby->promote;
scan_counts('promoted');
is($standby->safe_psql('postgres', 'SELECT tracking, worker_pid > 0 FROM working_set_info'),
	't|t', 'tracking goes on');

$standby->stop;
$primary->stop;
done_testing();

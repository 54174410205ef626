# Tracking goes on after restarts, after a backend's crash and an immediate
# shutdown; settings out of range are refused.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use patience;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use crashing;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf(
	'postgresql.conf', q{
shared_preload_libraries = 'working_set'
restart_after_crash = on
autovacuum = off
shared_buffers = 8192
});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION working_set');

# 5000 pages of one row each
$node->safe_psql('postgres', q{
	CREATE TABLE pages (id int, filler text);
	ALTER TABLE pages ALTER filler SET STORAGE PLAIN;
	INSERT INTO pages SELECT g, repeat('x', current_setting('block_size')::int - 1192) FROM generate_series(1, 5000) g;
	VACUUM (FREEZE, ANALYZE) pages;
});
is($node->safe_psql('postgres', "SELECT relpages FROM pg_class WHERE relname = 'pages'"),
	'5000', 'table has 5000 pages');

# The standard error is below 0.589 / sqrt(16384) = 0.46 %, and a few dozen pages
# of catalogs come on top: 5 standard errors and 150 pages.
sub counts_a_scan
{
	my ($name) = @_;
	my ($tracking, $size) = split /\|/, $node->safe_psql('postgres', q{
		SET max_parallel_workers_per_gather = 0;
		SELECT working_set_reset() \g /dev/null
		SELECT count(filler) FROM pages \g /dev/null
		SELECT tracking, approximate_working_set_size() FROM working_set_info;
	});
	is($tracking, 't', "$name: tracking");
	cmp_ok($size, '>=', 5000 - 115, "$name: all pages of a scan are counted");
	cmp_ok($size, '<=', 5000 + 115 + 150, "$name: once");
}

counts_a_scan('start');

# Evictions are no accesses.  Two tables of 5000 pages do not fit in 8192 buffers, so
# reading one in full (by its index, for a scan of such a table would not fill the
# buffers) drives out at least 1808 pages of the other one.
$node->safe_psql('postgres', q{
	CREATE TABLE others (LIKE pages INCLUDING STORAGE);
	INSERT INTO others SELECT * FROM pages;
	CREATE INDEX ON pages (id);
	CREATE INDEX ON others (id);
	VACUUM (FREEZE, ANALYZE) others;
});
my $by_index = 'SET enable_seqscan = off; SET enable_bitmapscan = off;';
$node->safe_psql('postgres',
	"$by_index SELECT sum(length(filler)) FROM pages WHERE id BETWEEN 1 AND 5000");
my ($evicted, $size) = split /\|/, $node->safe_psql('postgres', $by_index . q{
	SELECT working_set_reset() \g /dev/null
	SELECT sum(length(filler)) FROM others WHERE id BETWEEN 1 AND 5000 \g /dev/null
	SELECT evictions, approximate_working_set_size() FROM working_set_info;
});
cmp_ok($evicted, '>=', 1808 - 200, 'reading one table evicts pages of the other');
cmp_ok($size, '>=', 5000 - 115, 'the pages read are counted');
cmp_ok($size, '<=', 5000 + 115 + 150, 'those evicted are not');

$node->restart;
counts_a_scan('restart');

# one candidate, no complaint
unlike(slurp_file($node->logfile), qr/not tracking/, 'never refused');

# There is one, or there will be.
sub worker_pid
{
	$node->poll_query_until('postgres', 'SELECT worker_pid > 0 FROM working_set_info') or die 'no worker';
	return $node->safe_psql('postgres', 'SELECT worker_pid FROM working_set_info');
}

# a backend crashes: shared memory is made anew, and the table found again
my $before = $node->safe_psql('postgres', 'SELECT since FROM working_set_info');
my $worker = worker_pid();
my $session = $node->background_psql('postgres');
my $pid = $session->query_safe('SELECT pg_backend_pid()');
chomp $pid;
kill 'KILL', $pid;
until_true($node, "worker_pid <> $worker FROM working_set_info", 'worker did not come back');
eval { $session->quit };
pass('worker is back after a crash');
is($node->safe_psql('postgres', "SELECT since > '$before' FROM working_set_info"),
	't', 'all is known since the crash');
counts_a_scan('crash');

# so does the worker itself
$worker = worker_pid();
kill 'KILL', $worker;
until_true($node, "worker_pid <> $worker FROM working_set_info", 'worker did not come back');
pass('worker is back after it crashed');
counts_a_scan('crash of the worker');

$node->stop('immediate');
$node->start;
counts_a_scan('immediate shutdown');

# settings
for my $bad (
	[ 'working_set.registers', 512, qr/1024 \.\. 65536/ ],
	[ 'working_set.registers', 131072, qr/1024 \.\. 65536/ ],
	[ 'working_set.registers', 5000, qr/power of two from 1024 to 65536/ ],
	[ 'working_set.interval', 0, qr/1 s? ?\.\. 3600 ?s?/ ],
	[ 'working_set.min_wait', 1, qr/2 (min )?\.\. 60/ ],
	[ 'working_set.window_size', 1, qr/2 (min )?\.\. 30/ ],
	[ 'working_set.max_increase', 0.5, qr/1 \.\. 1000/ ],
	[ 'working_set.headroom', -0.1, qr/0 \.\. 10/ ],
	[ 'working_set.headroom', "'NaN'", qr/headroom/ ],
	[ 'working_set.method', 'guess', qr/Available values: live_set, plateau_end/ ],
	[ 'working_set.break_even', 29, qr/30 s? ?\.\. 86400 ?s?/ ],
	[ 'working_set.break_even', "'25 h'", qr/30 s? ?\.\. 86400 ?s?/ ],
	[ 'working_set.hold', -1, qr/0 s? ?\.\. 3600 ?s?/ ],
	[ 'working_set.history', 0, qr/1 (min )?\.\. 576000/ ],
	[ 'working_set.save', -1, qr/0 s? ?\.\. 86400 ?s?/ ],
	[ 'working_set.enabled', 'perhaps', qr/requires a Boolean/ ],
	[ 'working_set.unheard_of', 1, qr/working_set/ ])
{
	my ($name, $value, $message) = @$bad;
	my ($status, $out, $err) = $node->psql('postgres', "ALTER SYSTEM SET $name = $value");
	isnt($status, 0, "$name = $value is refused");
	like($err, $message, 'and the reason given');
}

# other geometries
for my $registers (1024, 65536)
{
	$node->append_conf('postgresql.conf', "working_set.registers = $registers");
	$node->restart;
	my $got = $node->safe_psql('postgres', q{
		SELECT working_set_reset() \g /dev/null
		SELECT count(filler) FROM pages \g /dev/null
		SELECT approximate_working_set_size();
	});
	# 5 standard errors of 0.589 / sqrt(m)
	my $bound = 5 * 0.589 / sqrt($registers) * 5000;
	cmp_ok($got, '>=', 5000 - $bound, "$registers registers: lower bound");
	cmp_ok($got, '<=', 5000 + $bound + 150, "$registers registers: upper bound");
}

$node->stop;
done_testing();

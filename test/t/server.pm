# A server with the extension, what the tests ask it, and what they expect of a size.
#
#   my $node = new_server('main', 'working_set.save = 1');
#   make_table($node, 'pages', 3000);
#   wait_for($node, 'worker_pid > 0 FROM working_set_info', 'no worker');
#   about(size($node, 3600), 3000, 300, 'a scan');
#   finish($node);
#
# Who uses it has what each test needs, too: strict, warnings, patience, PostgreSQL's modules and
# Test::More.

package server;

use strict;
use warnings;
use patience;
use Exporter;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(new_node new_server finish sql info recommendation history size knows memory_known wait_for wait_for_worker worker_pid saved
  has_ended postmaster_pid kill_postmaster make_table error_of about counts_a_scan log_from log_size refusal);

sub import
{
	my ($class, @names) = @_;
	my $user = caller;
	strict->import;
	warnings->import;
	eval "package $user; \$_->import for qw(patience PostgreSQL::Test::Cluster PostgreSQL::Test::Utils Test::More); 1" or die $@
	  unless @names;
	return Exporter::export($class, $user, @names);
}

# The last line of a test.
sub finish
{
	$_->stop for @_;
	return done_testing();
}

# A server that preloads the extension, with these settings.  It is not started.
sub new_node
{
	my ($name, $settings, %params) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	$node->init(%params);
	$node->append_conf(
		'postgresql.conf', q{
shared_preload_libraries = 'working_set'
working_set.interval = 1
shared_buffers = 8192
max_connections = 20
autovacuum = off
fsync = off
jit = off
timezone = 'UTC'
} . ($settings // ''));
	return $node;
}

# The same, started, with the extension in the database postgres, and its worker at work.
sub new_server
{
	my $node = new_node(@_);
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION working_set');
	wait_for_worker($node);
	return $node;
}

sub sql
{
	my ($node, $query) = @_;
	return $node->safe_psql('postgres', $query);
}

sub info
{
	my ($node, $columns, $database) = @_;
	return $node->safe_psql($database || 'postgres', "SELECT $columns FROM working_set_info");
}

sub recommendation
{
	my ($node, $columns) = @_;
	return $node->safe_psql('postgres', "SELECT $columns FROM working_set_recommendation");
}

sub history
{
	my ($node, $columns) = @_;
	return sql($node, "SELECT $columns FROM working_set_history");
}

# The sample has more than so many of the table pages: the worker reads it in its turn.
sub knows
{
	my ($node, $pages, $name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return ok($node->poll_query_until('postgres', qq{
		SELECT bytes > $pages * current_setting('block_size')::bigint FROM working_set_relations('1 hour') WHERE relid = 'pages'::regclass}), $name);
}

# In a chroot, this process may be in a control group that is not to be seen.
sub memory_known
{
	return !-e '/proc/self/cgroup' || slurp_file('/proc/self/mountinfo') =~ / - cgroup/;
}

# pages that were used in the last so many seconds
sub size
{
	my ($node, $seconds) = @_;
	return $node->safe_psql('postgres', "SELECT approximate_working_set_size_seconds($seconds)");
}

sub wait_for
{
	my ($node, $condition, $what, $database) = @_;
	$node->poll_query_until($database || 'postgres', "SELECT $condition") or die $what;
	return;
}

# The worker reads the saved file, begins to sample, and then shows its pid.  What was used before
# is not in the sample.
sub wait_for_worker
{
	my ($node) = @_;
	wait_for($node, 'worker_pid IS NOT NULL FROM working_set_info', 'there is no worker');
	return;
}

# There is one, or there will be.
sub worker_pid
{
	my ($node) = @_;
	wait_for_worker($node);
	return info($node, 'worker_pid');
}

# A process has ended, also if nobody has asked for its status yet: init does so in its turn.
sub has_ended
{
	my ($pid) = @_;
	open my $fh, '<', "/proc/$pid/stat" or return 1;
	return (<$fh> // ') Z') =~ /\) Z/;
}

sub postmaster_pid
{
	my ($node) = @_;
	return (split /\n/, slurp_file($node->data_dir . '/postmaster.pid'))[0];
}

# A server is not started as long as there is a process with that number, also if it has ended and
# nobody has asked for its status.
sub kill_postmaster
{
	my ($node) = @_;
	my $pid = postmaster_pid($node);
	$node->kill9;
	eventually(sub { !kill(0, $pid) }) or die 'the postmaster is still there';
	return;
}

# Wait until all that has been so far is saved.
sub saved
{
	my ($node) = @_;
	my $now = $node->safe_psql('postgres', 'SELECT clock_timestamp()');
	wait_for($node, "last_saved > '$now' FROM working_set_info", 'not saved');
	return;
}

# a table of so many pages, one row each
sub make_table
{
	my ($node, $name, $pages, $database) = @_;
	$database ||= 'postgres';
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	$node->safe_psql($database, qq{
		CREATE TABLE $name (id int, filler text);
		ALTER TABLE $name ALTER filler SET STORAGE PLAIN;
		INSERT INTO $name SELECT g, repeat('x', current_setting('block_size')::int - 1192) FROM generate_series(1, $pages) g;
		VACUUM (FREEZE, ANALYZE) $name;
	});
	return is($node->safe_psql($database, "SELECT relpages FROM pg_class WHERE relname = '$name'"),
		$pages, "$database: $name has $pages pages");
}

# Five standard errors of an estimate of so many pages, of the usual number of registers.
sub error_of
{
	my ($pages) = @_;
	return 5 * 0.589 / sqrt(4096) * $pages;
}

# An estimate of so many pages: within five standard errors, and with no more
# than so many other pages: catalogs, indexes and maps.
sub about
{
	my ($got, $pages, $others, $name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	cmp_ok($got, '>=', $pages - error_of($pages), "$name: all of them");
	return cmp_ok($got, '<=', $pages + error_of($pages) + $others, "$name: once");
}

# It tracks, and a scan of the table pages, which has so many of them, is counted once.
sub counts_a_scan
{
	my ($node, $name, $pages) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($tracking, $size) = split /\|/, sql($node, q{
		SET max_parallel_workers_per_gather = 0;
		SELECT working_set_reset() \g /dev/null
		SELECT count(filler) FROM pages \g /dev/null
		SELECT tracking, approximate_working_set_size() FROM working_set_info;
	});
	is($tracking, 't', "$name: tracking");
	return about($size, $pages, 150, $name);
}

sub log_from
{
	my ($node, $offset) = @_;
	return substr slurp_file($node->logfile), $offset;
}

sub log_size
{
	my ($node) = @_;
	return -s $node->logfile || 0;
}

# what a statement is refused with
sub refusal
{
	my ($node, $database, $sql, %params) = @_;
	my ($status, $out, $err) = $node->psql($database, "\\set VERBOSITY verbose\n$sql", %params);
	return $status == 0 ? "not refused: $out" : $err;
}

1;

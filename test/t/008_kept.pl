# What is kept over a restart: the set, the sample and the history; from files
# that are not to be trusted, not; and not by a copy of the data directory.
# What a file may be wrong in is tried out by test/unit/statefile_t.c; here is that
# the server takes no notice of it.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use patience;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use crashing;
use state_file;

my $file = 'pg_stat/working_set.saved';
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1);
$node->append_conf(
	'postgresql.conf', q{
shared_preload_libraries = 'working_set'
working_set.interval = 1
working_set.save = 1
shared_buffers = 8192
autovacuum = off
timezone = 'UTC'
});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION working_set');
started();
$node->safe_psql('postgres', q{
	CREATE TABLE pages (id int, filler text);
	ALTER TABLE pages ALTER filler SET STORAGE PLAIN;
	INSERT INTO pages SELECT g, repeat('x', current_setting('block_size')::int - 1192) FROM generate_series(1, 4000) g;
	CHECKPOINT;
});
my $path = $node->data_dir . "/$file";

sub wait_for
{
	my ($query, $what, $n) = @_;
	($n || $node)->poll_query_until('postgres', $query) or die $what;
	return;
}

# the worker has read the file, if there is one, before it says who it is
sub started
{
	my ($n) = @_;
	wait_for('SELECT worker_pid IS NOT NULL FROM working_set_info', 'no worker', $n);
	return;
}

sub saved
{
	my $now = $node->safe_psql('postgres', 'SELECT clock_timestamp()');
	wait_for("SELECT last_saved > '$now' FROM working_set_info", 'not saved');
	return;
}

sub size
{
	my ($seconds, $n) = @_;
	return ($n || $node)->safe_psql('postgres', "SELECT approximate_working_set_size_seconds($seconds)");
}

# Ask until there are more than so many: the worker reads the sample in its turn.
sub knows
{
	my ($pages, $name) = @_;
	return ok($node->poll_query_until('postgres', qq{
		SELECT sum(pages) > $pages FROM working_set_relations('1 hour') WHERE relation = 'pages'::regclass}), $name);
}

# pages of the table that the sample knows
sub known
{
	return $node->safe_psql('postgres', q{
		SELECT coalesce(sum(pages), 0) FROM working_set_relations('1 hour') WHERE relation = 'pages'::regclass});
}

# ---- a restart
my $first = $node->safe_psql('postgres', 'SELECT clock_timestamp()');
# six times, so that it looks up more than a start and all that is asked
$node->safe_psql('postgres', 'SELECT count(filler) FROM pages') for 1 .. 6;
sleep 3;
my $before = size(3600);
# 5 standard errors of 0.46 % are 92; there are some hundred pages of catalogs
cmp_ok($before, '>', 4000 - 92, 'the table was used');
cmp_ok($before, '<', 4000 + 92 + 600, 'once');
knows(2000, 'the sample knows the table');
my $relations = known();
my ($since, $looked_up) = split /\|/, $node->safe_psql('postgres', 'SELECT since, lookups FROM working_set_info');

$node->restart;
started();
# starting and asking uses pages of catalogs, most of which were used before
cmp_ok(size(3600), '>=', $before - 92, 'after a restart the set is as it was');
cmp_ok(size(3600), '<=', $before + 92 + 600, 'and no larger');
cmp_ok(size(2), '<', 2000, 'what was used long ago is not of the last two seconds');
# the window is made in the statement that asks, so that it is not too short for a slow one
cmp_ok($node->safe_psql('postgres', qq{
	SELECT approximate_working_set_size_seconds(ceil(extract(epoch FROM clock_timestamp() - '$first'))::int + 2)}),
	'>=', 4000 - 92, 'and is as old as it is, with the time that the server was down');
knows($relations * 0.9, 'the sample, too');
is($node->safe_psql('postgres', "SELECT since > '$since', lookups < $looked_up FROM working_set_info"), 't|t',
	'counters begin anew');
is($node->safe_psql('postgres', q{
	SELECT bool_and(pages >= lag) FROM (
	  SELECT pages, lag(pages) OVER (ORDER BY seconds) FROM working_set_curve(ARRAY[1, 60, 600, 3600])) c
	 WHERE lag IS NOT NULL}), 't', 'the curve rises over the gap');

# ---- memory, also after several saves.  While the worker saves, or computes a curve, it is
# more for some milliseconds.
sub private_kb
{
	my ($pid) = $node->safe_psql('postgres', $_[0]);
	my ($kb) = slurp_file("/proc/$pid/status") =~ /^RssAnon:\s+(\d+) kB$/m;
	return $kb;
}

sub memory_mb
{
	return $node->safe_psql('postgres', 'SELECT shared_memory_bytes FROM working_set_info') / 1048576 +
	  (private_kb('SELECT worker_pid FROM working_set_info') -
		private_kb(q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'})) / 1024;
}
saved() for 1 .. 4;
my $memory;
eventually(sub { ($memory = memory_mb()) <= 9 });
cmp_ok($memory, '<=', 9, sprintf('after four saves the extension takes %.1f MB in all', $memory));

# ---- the postmaster is killed: no more than the time between two saves is lost
$node->safe_psql('postgres', 'SELECT count(filler) FROM pages');
saved();
saved();
$before = size(3600);
$node->stop('immediate');
$node->start;
started();
cmp_ok(size(3600), '>=', $before - 92, 'after a crash the set is as it was saved');

# ---- a backend crashes, and shared memory is made anew
saved();
$node->append_conf('postgresql.conf', 'restart_after_crash = on');
$node->reload;
started();
my $worker = $node->safe_psql('postgres', 'SELECT worker_pid FROM working_set_info');
kill 'KILL', $worker;
until_true($node, "worker_pid <> $worker FROM working_set_info", 'does not come back');
cmp_ok(size(3600), '>=', $before - 92, 'after a crash of the worker, too');

# ---- what was forgotten does not come back
$node->safe_psql('postgres', 'SELECT working_set_reset()');
saved();
$node->stop('immediate');
$node->start;
started();
cmp_ok(size(3600), '<', 2000, 'a reset is not undone by a crash');
$node->safe_psql('postgres', 'SELECT count(filler) FROM pages');
$node->safe_psql('postgres', 'ALTER SYSTEM SET working_set.enabled = off');
$node->reload;
wait_for('SELECT NOT tracking FROM working_set_info', 'still tracking');
# the second save begins after the worker has heard, too
saved() for 1 .. 2;
my $off = $node->safe_psql('postgres', 'ALTER SYSTEM RESET working_set.enabled; SELECT clock_timestamp()');
$node->reload;
# the worker has heard
wait_for("SELECT tracking AND since > '$off' FROM working_set_info", 'not tracking');
$node->restart;
started();
cmp_ok(size(3600), '<', 2000, 'nor is switching off and on by a restart');

# off, and on again by a restart: what was used meanwhile nobody knows
$node->safe_psql('postgres', 'SELECT count(filler) FROM pages');
$node->safe_psql('postgres', 'ALTER SYSTEM SET working_set.enabled = off');
$node->reload;
wait_for('SELECT NOT tracking FROM working_set_info', 'still tracking');
saved() for 1 .. 2;
$node->safe_psql('postgres', 'ALTER SYSTEM RESET working_set.enabled');
$node->restart;
started();
cmp_ok(size(3600), '<', 2000, 'nor by one alone');

# or while there is no worker: the next one has not seen it off
$node->safe_psql('postgres', 'SELECT count(filler) FROM pages');
$node->safe_psql('postgres', 'ALTER SYSTEM SET working_set.enabled = off');
$node->reload;
wait_for('SELECT NOT tracking FROM working_set_info', 'still tracking');
saved();
$worker = $node->safe_psql('postgres', 'SELECT worker_pid FROM working_set_info');
my $moment = $node->safe_psql('postgres', 'SELECT clock_timestamp()');
kill 'TERM', $worker;
$node->safe_psql('postgres', 'ALTER SYSTEM RESET working_set.enabled');
$node->reload;
wait_for("SELECT tracking AND since > '$moment' AND worker_pid <> $worker FROM working_set_info", 'it does not start over');
cmp_ok(size(3600), '<', 2000, 'nor while the worker is another');

# ---- files that are not to be trusted
$node->safe_psql('postgres', 'SELECT count(filler) FROM pages');
# also what the worker has not yet read from the stream
$node->stop;
my $good = slurp_file($path);

my $state = read_state($path);
ok(state_of($state) eq $good, 'the file is as it is described');
is($state->{registers}, 16384, 'of so many registers');

my $flipped = $good;
substr($flipped, 777777, 1) ^= "\x10";
for my $case (
	[ 'empty', '', 'it is empty' ],
	[ 'of another byte order', scalar reverse(substr($good, 0, 8)) . substr($good, 8),
		'it was not written by working_set on such a machine' ],
	[ 'of another format', state_of($state, format => $state->{format} + 1), 'it has another format' ],
	[ 'truncated', substr($good, 0, 1000000), 'it has a wrong length' ],
	[ 'with a bit flipped', $flipped, 'its checksum is wrong' ],
	[ 'of another cluster', state_of($state, system => $state->{system} + 1), 'it belongs to another database cluster' ],
	[ 'of another directory', state_of($state, place => $state->{place} ^ 1),
		'it was saved in another directory, which this one is a copy of' ])
{
	my ($name, $content, $why) = @$case;
	my $offset = -s $node->logfile;
	write_raw($path, $content);
	unlink "$path.bad";
	$node->start;
	started();
	cmp_ok(size(3600), '<', 2000, "a file $name: not used");
	$node->stop;
	my $log = substr slurp_file($node->logfile), $offset;
	like($log, qr/LOG: .*working_set\.saved" is not used: $why$/m, "a file $name: and why");
	ok(slurp_file("$path.bad") eq $content, "a file $name: kept aside");
}

# another geometry
write_raw($path, $good);
my $offset = -s $node->logfile;
$node->append_conf('postgresql.conf', 'working_set.registers = 4096');
$node->start;
started();
cmp_ok(size(3600), '<', 2000, 'with another number of registers it is not used');
$node->stop;
like(substr(slurp_file($node->logfile), $offset), qr/only the history is used: it is of another number of registers$/m, 'and why');
$node->append_conf('postgresql.conf', 'working_set.registers = 16384');

# a smaller table of samples, and none
write_raw($path, $good);
$node->append_conf('postgresql.conf', 'working_set.sample_pages = 0');
$node->start;
started();
cmp_ok(size(3600), '>', 4000 - 92, 'without a sample the set comes back');
$node->append_conf('postgresql.conf', 'working_set.sample_pages = 1024');
$node->restart;
started();
cmp_ok(size(3600), '>', 4000 - 92, 'also from a file without one');
$node->stop;
write_raw($path, $good);
$node->start;
started();
knows(1000, 'a smaller table takes fewer pages');

# ---- nowhere to write to: said once, and tracking goes on
sub complains
{
	my ($name, $prepare, $mend, $pattern) = @_;
	my $offset = -s $node->logfile;
	$prepare->();
	# it is said at the first time, and not at the next ones, of which there are some in four seconds
	eventually(sub { substr(slurp_file($node->logfile), $offset) =~ /could not .*working_set\.saved/ });
	select(undef, undef, undef, 4);
	is($node->safe_psql('postgres', 'SELECT tracking, worker_pid IS NOT NULL FROM working_set_info'), 't|t',
		"$name: tracking goes on");
	my $log = substr slurp_file($node->logfile), $offset;
	is(scalar(() = $log =~ /WARNING: .*could not $pattern/g), 1, "$name: and one warning says so");
	is(scalar(() = $log =~ /^.*working_set\.saved/mg), 1, "$name: and nothing else does");
	$mend->();
	saved();
	pass("$name: it is saved when that is possible again");
	return;
}

my $dir = $node->data_dir . '/pg_stat';
complains('no directory', sub { rename $dir, "$dir.away" or die $! }, sub { rename "$dir.away", $dir or die $! },
	# the file may have been written when the directory went
	qr/(?:create|open|rename|fsync) file "pg_stat\/working_set\.saved(?:\.tmp)?".*: No such file or directory/);
my $limit = sub {
	my ($bytes) = @_;
	my $pid = $node->safe_psql('postgres', 'SELECT worker_pid FROM working_set_info');
	system('prlimit', "--pid=$pid", "--fsize=$bytes:") == 0 or die 'prlimit';
};
complains('no room', sub { $limit->(100 * 8192) }, sub { $limit->('unlimited') },
	qr/write file "pg_stat\/working_set\.saved\.tmp": File too large/);
SKIP:
{
	skip 'root may write anywhere', 4 if $> == 0;
	complains('no permission', sub { chmod 0500, $dir or die $! }, sub { chmod 0700, $dir or die $! },
		qr/(?:create file "pg_stat\/working_set\.saved\.tmp"|rename file .*): Permission denied/);
}

# ---- copies
$node->safe_psql('postgres', 'SELECT count(filler) FROM pages');
saved();
$node->backup('backup');
ok(-s $node->backup_dir . "/backup/$file", 'the file is in a base backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'backup', has_streaming => 1);
$standby->start;
started($standby);
cmp_ok(size(3600, $standby), '<', 2000, 'a standby does not take the memory of its primary for its own');
like(slurp_file($standby->logfile), qr/is not used: it was saved in another directory/, 'which its log says');

# what it has seen itself it keeps, also when it has become a primary
$node->wait_for_catchup($standby);
$standby->safe_psql('postgres', 'SELECT count(filler) FROM pages');
$standby->restart;
started($standby);
cmp_ok(size(3600, $standby), '>', 4000 - 92, 'its own it keeps');
$standby->stop;
$standby->start;
$standby->promote;
$standby->restart;
started($standby);
cmp_ok(size(3600, $standby), '>', 4000 - 92, 'also over a promotion');
$standby->stop;

# ---- preloaded no more, and again
$node->safe_psql('postgres', 'SELECT count(filler) FROM pages');
saved();
$node->append_conf('postgresql.conf', q{shared_preload_libraries = ''});
$node->restart;
is($node->safe_psql('postgres', 'SELECT 1'), 1, 'without us the file disturbs nobody');
$node->append_conf('postgresql.conf', q{shared_preload_libraries = 'working_set'});
$node->restart;
started();
cmp_ok(size(3600), '>', 4000 - 92, 'and with us again it is used');
$node->stop;
done_testing();

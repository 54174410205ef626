# When the server is not what the probe expects, it starts and serves as if
# the extension were not there, and says why nothing is tracked.  Each step of the
# probe is made to fail, one at a time.

use lib 'test/t';
use server;
use library;

# a library that makes the probe doubt
my $rival = pg_config('pkglibdir') . '/ws_test_rival.so';

build_library($rival, 'test/t/rival.c');

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf(
	'postgresql.conf', q{
shared_preload_libraries = 'working_set, ws_test_rival'
working_set.interval = 1
});
$node->start;
unlink $rival;

my $reason = 'found more than one header of "Shared Buffer Lookup Table"';
my $log = slurp_file($node->logfile);
is(scalar(() = $log =~ /working_set is not tracking/g), 1, 'one line in the log');
like($log, qr/LOG:  working_set is not tracking: \Q$reason\E/, 'and why');

$node->safe_psql('postgres', 'CREATE EXTENSION working_set');
is($node->safe_psql('postgres', q{
	SELECT tracking, reason, since IS NULL, lookups IS NULL, hits IS NULL, evictions IS NULL
	  FROM working_set_info}),
	"f|$reason|t|t|t|t", 'the view says why');
is($node->safe_psql('postgres', q{
	SELECT approximate_working_set_size_seconds(60) IS NULL,
	       approximate_working_set_size() IS NULL,
	       approximate_working_set_size(true) IS NULL,
	       working_set_size() IS NULL,
	       (SELECT count(*) FROM working_set_curve),
	       (SELECT count(*) FROM working_set_curve('{60}', 'all'))}),
	't|t|t|t|0|0', 'sizes are not known');
is($node->safe_psql('postgres', q{
	SELECT status, reason, computed_at IS NULL, recommended_cache_bytes IS NULL
	  FROM working_set_recommendation}),
	"not tracking|$reason|t|t", 'nothing is recommended');
is($node->safe_psql('postgres', 'SELECT working_set_reset() IS NOT NULL'), 't', 'reset does no harm');
is($node->safe_psql('postgres', q{SELECT value FROM working_set_plateau_end('{1,2,3,4,5,6}')}),
	'6', 'the heuristic works on any series');

# the server serves
$node->safe_psql('postgres', q{
	CREATE TABLE t AS SELECT g FROM generate_series(1, 100000) g;
	CREATE INDEX ON t (g); VACUUM t; CHECKPOINT; DROP TABLE t;
});
# and its worker rests, but for once a second
my $worker = worker_pid($node);
my $naps = sub { return (slurp_file("/proc/$worker/status") =~ /^voluntary_ctxt_switches:\s+(\d+)$/m)[0] };
my ($before, $begin) = ($naps->(), time);
$node->safe_psql('postgres', 'SELECT count(*) FROM pg_class') while time - $begin < 5;
cmp_ok($naps->() - $before, '<', 2 * (time - $begin), 'statements do not keep the worker awake');
# turning it on does not force it
$node->safe_psql('postgres', 'ALTER SYSTEM SET working_set.enabled = on');
$node->reload;
is($node->safe_psql('postgres', 'SELECT tracking FROM working_set_info'), 'f', 'and so it stays');
$node->stop;

# ---- one fault at a time, of a server that is started anew for each

my $fault = PostgreSQL::Test::Utils::tempdir() . '/ws_test_fault.so';
build_library($fault, 'test/t/fault.c', 'src/path/buftable.c');
$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', "'working_set, $fault'");
$node->append_conf('postgresql.conf', 'ws_test.fault = none');
my $t = '"Shared Buffer Lookup Table"';

# Start with a fault; returns what the log has to say of us from then on.
sub start_with
{
	my ($name) = @_;
	my $logged = length slurp_file($node->logfile);
	$node->adjust_conf('postgresql.conf', 'ws_test.fault', $name);
	$node->start;
	return sub {
		return grep { /^\d.*(?:LOG|WARNING|ERROR|FATAL|PANIC):.*working_set/ && !/LOG:  statement:/ } split /\n/, substr(slurp_file($node->logfile), $logged);
	};
}

# The server serves, and nothing has crashed.
sub serves
{
	my ($name) = @_;
	is($node->safe_psql('postgres', q{
		CREATE TABLE served AS SELECT g FROM generate_series(1, 20000) g;
		CREATE INDEX ON served (g);
		SELECT count(*), sum(g) FROM served;
		VACUUM served; CHECKPOINT; DROP TABLE served}), '20000|200010000', "$name: the server serves");
	wait_for_worker($node);
	return;
}

# The worker's end, when the server is told to stop, is no crash.
sub stops
{
	my ($name) = @_;
	ok($node->stop, "$name: and it stops");
	unlike(slurp_file($node->logfile), qr/TRAP:|PANIC:|terminated by signal|server process .* was/,
		"$name: nothing has crashed");
	return;
}

# What was counted before is known after a fault, too: nobody saved nothing over it.  It
# can only have become more; the standard error is 0.46 %, and this is four of them.
my $known = 0;

sub tracks
{
	my ($which, $name, $more) = @_;
	$name //= $which;
	my $say = start_with($which);
	serves($name);
	$node->safe_psql('postgres', $more) if $more;
	is($node->safe_psql('postgres', q{
		SELECT tracking, reason, since IS NOT NULL, lookups > 0, hits > 0 FROM working_set_info}),
		't|every lookup of shared buffers is seen|t|t|t', "$name: tracking");
	# a worker that did not get its turn is missed, and then it comes
	$node->poll_query_until('postgres', q{
		SELECT status IN ('ok', 'collecting') FROM working_set_recommendation})
	  or die 'the worker does not work';
	# (the window is as long as anything can last, and the server was started just now)
	is($node->safe_psql('postgres', q{
		SELECT approximate_working_set_size_seconds(3600) > 50, approximate_working_set_size() > 50,
		       working_set_size() > 50 * current_setting('block_size')::int, (SELECT count(*) FROM working_set_curve),
		       (SELECT count(*) FROM working_set_cache_advice)}),
		't|t|t|60|20', "$name: and sizes are known");
	my $pages = $node->safe_psql('postgres', 'SELECT approximate_working_set_size()');
	cmp_ok($pages, '>=', 0.98 * $known, "$name: and what was counted before");
	$known = $pages;
	note("$pages pages");
	is(join("\n", $say->()), '', "$name: nothing to complain of");
	stops($name);
	return;
}

sub refuses
{
	my ($which, $why, $name) = @_;
	$name //= $which;
	my $say = start_with($which);
	serves($name);
	my $told = $node->safe_psql('postgres', 'SELECT reason FROM working_set_info');
	is($told, $why, "$name: why");
	is($node->safe_psql('postgres', q{
		SELECT tracking, since IS NULL, lookups IS NULL, hits IS NULL, evictions IS NULL
		  FROM working_set_info}), 'f|t|t|t|t', "$name: not tracking");
	is($node->safe_psql('postgres', q{
		SELECT approximate_working_set_size_seconds(60) IS NULL,
		       approximate_working_set_size_seconds() IS NULL,
		       approximate_working_set_size() IS NULL,
		       approximate_working_set_size(true) IS NULL,
		       working_set_size('1 min') IS NULL,
		       (SELECT count(*) FROM working_set_curve),
		       (SELECT count(*) FROM working_set_curve('{60}', 'all')),
		       (SELECT count(*) FROM working_set_relations),
		       (SELECT count(*) FROM working_set_queries),
		       (SELECT count(*) FROM working_set_cache_advice)}),
		't|t|t|t|t|0|0|0|0|0', "$name: sizes are not known");
	is($node->safe_psql('postgres', q{
		SELECT status, reason, computed_at IS NULL, recommended_cache_bytes IS NULL, verdict IS NULL
		  FROM working_set_recommendation}), "not tracking|$told|t|t|t", "$name: nothing is recommended");
	my @lines = $say->();
	is(scalar(@lines), 1, "$name: one line in the log");
	like($lines[0] // '', qr/ LOG:  working_set is not tracking: \Q$told\E$/, "$name: and that says why");
	stops($name);
	return;
}

# at first far more than a run uses by itself, which would be all that is known after a loss
tracks('none', 'none', q{CREATE TABLE once AS SELECT g FROM generate_series(1, 73 * current_setting('block_size')::int) g; DROP TABLE once});
cmp_ok($known, '>', 2000, 'much is known');

# nothing of the server's is touched yet
for (
	[ no_functions => 'the server does not export the functions of its buffer lookup table' ],
	# a header is another structure
	[ layout => 'the layout of hash table headers was not recognized' ],
	[ layout_name => 'the layout of hash table headers was not recognized' ],
	# the name is another one, or leads nowhere, or to what only begins like it
	[ other_name => "found no header of a shared hash table $t" ],
	[ no_name => "found no header of a shared hash table $t" ],
	[ unreadable_name => "found no header of a shared hash table $t" ],
	[ endless_name => "found no header of a shared hash table $t" ],
	[ not_shared => "found no header of a shared hash table $t" ],
	# no list of memory, none that can be understood, none that may be read, no program
	[ no_proc => 'could not open file "/proc/self/maps": No such file or directory' ],
	[ garbled_maps => 'no private memory is listed in "/proc/self/maps"' ],
	[ unreadable => 'the layout of hash table headers was not recognized' ],
	[ no_program => "found no header of a shared hash table $t" ],
	# two of them
	[ copied_header => "found more than one header of $t" ],
	# somebody else's callbacks
	[ server_hash => "the header of $t does not hash with tag_hash()" ],
	[ server_match => "the header of $t does not compare with memcmp()" ],
	[ server_keycopy => "the header of $t does not copy with memcpy()" ],
	# the locks are elsewhere, or fewer
	[ other_locks => 'the locks of the buffer lookup table are not where they are expected' ])
{
	refuses(@$_);
}
tracks('none', 'after all of these');

# all is found, but does not work when tried out
for (
	[ other_key => 'the hash of a page is not that of its tag' ],
	[ uncounted => "a page entered on trial was not among the table's entries" ],
	[ not_found => 'a page entered on trial was not found in the buffer lookup table' ],
	[ miss_recorded => 'looking up a page that is not there was recorded' ],
	[ insert_unseen => 'entering a page was not recorded' ],
	[ hit_unseen => 'finding a page was not recorded' ],
	[ removal_recorded => 'removing a page was recorded as a use' ],
	[ removal_fails => 'shared buffer hash table corrupted' ])
{
	refuses(@$_);
	tracks('none', "after $_->[0]");
}

# ---- the same where the server makes each error fatal

$node->append_conf('postgresql.conf', 'exit_on_error = on');
tracks('none', 'exit_on_error');
refuses(copied_header => "found more than one header of $t", 'exit_on_error, refused');
refuses(removal_fails => 'shared buffer hash table corrupted', 'exit_on_error, with an error');
$node->adjust_conf('postgresql.conf', 'exit_on_error', 'off');

# ---- and what must not keep it from tracking

# words in the program's data that lead to memory that must not be read
tracks('wild_pointers');
tracks('wilder_pointers');
# a name behind which nothing must be read, a header that two variables lead to, and
# more pieces of memory than there is room for at first
tracks('name_at_the_end');
tracks('two_variables');
tracks('pieces');
# a lock that does not tell in which mode it is held: the server is asked then
tracks('unclear_bit');

done_testing();

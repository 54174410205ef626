# pg_upgrade from an older major version, with the extension in it.  WS_OLD_BINDIR
# names that version's directory of programs; the extension has to be installed there,
# too.  WS_OLD_LIBRARY_PATH is where its programs find their libraries, if need be.

use lib 'test/t';
use server;
use File::Copy;

my $old_bin = $ENV{WS_OLD_BINDIR} or plan skip_all => 'WS_OLD_BINDIR is not set';
my $old_path = $ENV{WS_OLD_LIBRARY_PATH};
my $pg_config = $ENV{PG_CONFIG} || 'pg_config';

sub major
{
	my ($command) = @_;
	return `$command --version` =~ /(\d+)/ ? $1 : 0;
}

# for the programs of the old version
sub with_old
{
	my ($do) = @_;
	local $ENV{LD_LIBRARY_PATH} = $old_path if defined $old_path;
	return $do->();
}

die "there is no pg_upgrade source in $old_bin" unless -x "$old_bin/pg_ctl" && -x "$old_bin/pg_config";
my $old_major = with_old(sub { major("$old_bin/pg_config") });
my $new_major = major($pg_config);
chomp(my $old_libdir = with_old(sub { `$old_bin/pg_config --pkglibdir` }));
chomp(my $new_bin = `$pg_config --bindir`);
plan skip_all => "$old_bin has version $old_major, which is not older than $new_major"
  unless $old_major && $old_major < $new_major;
plan skip_all => "the extension is not installed in $old_libdir" unless -e "$old_libdir/working_set.so";
plan skip_all => "there is no pg_upgrade in $new_bin" unless -x "$new_bin/pg_upgrade";
note("from $old_major to $new_major");

# ---- the old cluster, by its own programs
my $tmp = PostgreSQL::Test::Utils::tempdir_short();
my $old_data = PostgreSQL::Test::Utils::tempdir() . '/old';
my $old_log = "$PostgreSQL::Test::Utils::log_path/012_old.log";
my $old_port = PostgreSQL::Test::Cluster::get_free_port();
my $user = getpwuid($>);
# version 18 checksums pages unless told not to; both have to be the same
my @new_extra = ('--encoding', 'UTF8', '--locale', 'C');
push @new_extra, '--no-data-checksums' if $new_major >= 18;
my @old_extra = ('--encoding', 'UTF8', '--locale', 'C');
push @old_extra, '--no-data-checksums' if $old_major >= 18;

sub old_runs
{
	my ($running) = @_;
	my @how =
	  $running
	  ? ('-l', $old_log, '-o', "-p $old_port -k '$tmp' -c listen_addresses=''", 'start')
	  : ('-m', 'fast', 'stop');
	with_old(sub { system_or_bail("$old_bin/pg_ctl", '-w', '-s', '-D', $old_data, @how) });
	return;
}

sub old_psql
{
	my ($db, $sql) = @_;
	my ($out, $err);
	my $fine = with_old(sub {
		IPC::Run::run([ "$old_bin/psql", '-XAtq', '-v', 'ON_ERROR_STOP=1', '-h', $tmp, '-p', $old_port, '-d', $db, '-f', '-' ],
			'<', \$sql, '>', \$out, '2>', \$err);
	});
	die "error running SQL in the old cluster: $err" unless $fine;
	chomp $out;
	return $out;
}

sub old_wait
{
	my ($condition, $what) = @_;
	eventually(sub { old_psql('postgres', "SELECT $condition") eq 't' }) or die $what;
	return;
}

with_old(sub { system_or_bail("$old_bin/initdb", '-A', 'trust', '-N', '-D', $old_data, @old_extra) });
append_to_file("$old_data/postgresql.conf", q{
shared_preload_libraries = 'working_set'
working_set.save = 1
shared_buffers = 8192
autovacuum = off
compute_query_id = on
fsync = off
});
old_runs(1);
my $table = q{
	CREATE TABLE pages (id int PRIMARY KEY, filler text);
	ALTER TABLE pages ALTER filler SET STORAGE PLAIN;
	INSERT INTO pages SELECT g, repeat('x', current_setting('block_size')::int - 1192) FROM generate_series(1, 2000) g;
	VACUUM (FREEZE, ANALYZE) pages;
};
old_psql('postgres', q{CREATE ROLE resetter; CREATE DATABASE app});
old_psql('app', q{
	CREATE SCHEMA tools;
	CREATE EXTENSION working_set SCHEMA tools;
	GRANT USAGE ON SCHEMA tools TO resetter;
	GRANT EXECUTE ON FUNCTION tools.working_set_reset() TO resetter;
	CREATE VIEW my_curve AS SELECT seconds / 60 AS minutes, pages FROM tools.working_set_curve;
});
old_psql('postgres', 'CREATE EXTENSION working_set');
old_wait('worker_pid IS NOT NULL FROM working_set_info', 'no worker');
old_psql('app', $table);
# five standard errors of 0.46 % are 46 pages
my $bound = 46;
is(old_psql('app', "SELECT count(filler) FROM pages"), '2000', 'the old cluster has its data');
cmp_ok(old_psql('app', 'SELECT tools.approximate_working_set_size()'), '>=', 2000 - $bound, 'and counts');
# the worker reads what is in the stream
old_wait(q{count(*) > 0 FROM working_set_queries WHERE queryid IS NOT NULL AND bytes > 1500 * current_setting('block_size')::int}, 'no query has an identifier');
my $old_ids = old_psql('app', 'SELECT array_agg(queryid) FROM tools.working_set_queries WHERE queryid IS NOT NULL');
my $now = old_psql('postgres', 'SELECT clock_timestamp()');
old_wait("last_saved > '$now' FROM working_set_info", 'not saved');
# There are builds that mark the columns of every table with an option of their own, which
# no other version's pg_upgrade can take over.  That is not our business here.
my $not_portable = old_psql('app', q{
	SELECT count(*) > 0 FROM pg_attribute WHERE attrelid = 'pages'::regclass AND attoptions IS NOT NULL}) eq 't';
if ($not_portable)
{
	diag("tables of this build of version $old_major cannot be upgraded; the table is made anew afterwards");
	old_psql('app', 'DROP TABLE pages');
}
my $version = old_psql('app', q{SELECT extversion FROM pg_extension WHERE extname = 'working_set'});
old_runs(0);
my $saved = 'pg_stat/working_set.saved';
ok(-s "$old_data/$saved", 'and has saved what it knows');

# ---- pg_upgrade
my $new = PostgreSQL::Test::Cluster->new('new');
$new->init(extra => [@new_extra]);
$new->append_conf(
	'postgresql.conf', q{
shared_preload_libraries = 'working_set'
working_set.interval = 1
shared_buffers = 8192
autovacuum = off
compute_query_id = on
});
my $new_data = $new->data_dir;

# It wants to write to the present directory.
my $here = PostgreSQL::Test::Utils::tempdir();
sub upgrade
{
	my @options = @_;
	# both need their libraries
	local $ENV{LD_LIBRARY_PATH} = join ':', grep { defined && length } $ENV{LD_LIBRARY_PATH}, $old_path;
	delete $ENV{LD_LIBRARY_PATH} if $ENV{LD_LIBRARY_PATH} eq '';
	my $fine = IPC::Run::run(
		[ "$new_bin/pg_upgrade", '-b', $old_bin, '-B', $new_bin, '-d', $old_data, '-D', $new_data,
		  '-s', $tmp, '-p', $old_port, '-P', $new->port, '-U', $user, @options ],
		'<', '/dev/null', '>&', \my $out,
		init => sub { chdir $here or die $! });
	note($out);
	return 1 if $fine;
	# what it says is in these, which it removes if all went well
	for my $log (glob "'$new_data'/pg_upgrade_output.d/*/log/*.log")
	{
		my @lines = split /\n/, slurp_file($log);
		diag("the end of $log:\n" . join "\n", @lines > 12 ? @lines[ -12 .. -1 ] : @lines);
	}
	return 0;
}
ok(upgrade('--check'), 'pg_upgrade --check has no objection');
ok(upgrade(), 'pg_upgrade') or die 'pg_upgrade failed';
# the new server was started for it, and has saved what it knows itself
ok(!-e "$new_data/$saved" || slurp_file("$new_data/$saved") ne slurp_file("$old_data/$saved"),
	'it does not copy what was saved');

# ---- the new cluster
sub since_start
{
	$new->poll_query_until('postgres', 'SELECT worker_pid IS NOT NULL FROM working_set_info') or die 'no worker';
	return $new->safe_psql('app', 'SELECT tools.approximate_working_set_size_seconds(3600)');
}

# Somebody copies it, who wants to keep what was known: it is another cluster's.
copy("$old_data/$saved", "$new_data/$saved") or die $!;
my $content = slurp_file("$new_data/$saved");
$new->start;
cmp_ok(since_start(), '<', 1500, 'what the old cluster knew is not taken over');
like(slurp_file($new->logfile),
	qr/LOG:  working_set: what was saved in file "pg_stat\/working_set\.saved" is not used: it (belongs to another database cluster|was saved in another directory)/,
	'and the log says so');
ok(slurp_file("$new_data/$saved.bad") eq $content, 'and it is kept aside');
unlike(slurp_file($new->logfile), qr/not tracking|PANIC|TRAP/, 'nothing else is wrong');

# the same text may have another identifier now, and the same identifier may be of another text
is($new->safe_psql('app', "SELECT count(*) FROM tools.working_set_queries WHERE queryid = ANY ('$old_ids')"), '0',
	'no query of the old cluster is shown');

is($new->safe_psql('app', q{SELECT extversion, extnamespace::regnamespace FROM pg_extension WHERE extname = 'working_set'}),
	"$version|tools", 'the extension is there');
is($new->safe_psql('app', 'SELECT tracking, worker_pid > 0 FROM tools.working_set_info'), 't|t', 'and tracks');
is($new->safe_psql('app', q{SELECT has_function_privilege('resetter', 'tools.working_set_reset()', 'EXECUTE')}),
	't', 'with what was granted');
is($new->safe_psql('app', 'SELECT count(*), min(minutes), max(minutes) FROM my_curve'), '60|1|60',
	"the user's view works");

$new->safe_psql('app', $table) if $not_portable;
is($new->safe_psql('app', 'SELECT count(filler) FROM pages'), '2000', 'there is data');
my ($new_id) = $new->safe_psql('app', 'EXPLAIN (VERBOSE) SELECT count(filler) FROM pages') =~ /Query Identifier: (-?\d+)/;
ok($new->poll_query_until('app', "SELECT count(*) = 1 FROM tools.working_set_queries WHERE queryid = $new_id AND bytes > 1500 * current_setting('block_size')::int"),
	'the query has the identifier of now');

sub counts_it
{
	my ($name) = @_;
	my $size = $new->safe_psql('app', q{
		SELECT tools.working_set_reset() \g /dev/null
		SELECT count(filler) FROM pages \g /dev/null
		SELECT tools.approximate_working_set_size()});
	cmp_ok($size, '>=', 2000 - $bound, "$name: all pages of a scan are counted");
	cmp_ok($size, '<=', 2000 + $bound + 300, "$name: once");
	return;
}
counts_it('upgraded');

# ---- and the extension itself
$new->safe_psql('app', 'ALTER EXTENSION working_set UPDATE');
is($new->safe_psql('app', q{
	SELECT extversion = default_version FROM pg_extension JOIN pg_available_extensions ON name = extname
	 WHERE extname = 'working_set'}), 't', 'its update is one to the present version');
counts_it('updated');

# the members of the upgraded extension are those of a fresh one
my $members = q{
	SELECT string_agg(line, E'\n' ORDER BY line COLLATE "C") FROM (
		SELECT format('%s %L', pg_describe_object(d.classid, d.objid, 0),
		              (SELECT string_agg(a::text, ' ' ORDER BY a::text COLLATE "C")
		                 FROM pg_init_privs AS i, unnest(i.initprivs) AS a
		                WHERE i.classoid = d.classid AND i.objoid = d.objid AND i.objsubid = 0)) AS line
		  FROM pg_depend AS d JOIN pg_extension AS e ON d.refobjid = e.oid
		 WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND e.extname = 'working_set') AS m};
$new->safe_psql('postgres', 'CREATE DATABASE fresh');
$new->safe_psql('fresh', 'CREATE SCHEMA tools; CREATE EXTENSION working_set SCHEMA tools');
my $fresh = $new->safe_psql('fresh', $members);
cmp_ok(scalar(() = $fresh =~ /^/mg), '>=', 15, 'a fresh one has members');
is($new->safe_psql('app', $members), $fresh, 'the upgraded one has the same');

# its own it keeps
$new->restart;
cmp_ok(since_start(), '>=', 2000 - $bound, 'over a restart it knows what it has seen itself');
finish($new);

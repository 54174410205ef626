# Scripts, queries and examples that a user is asked to run, where somebody else has laid
# traps: functions, operators, types and views for every name in them that the server or the
# extension has, with every combination of types that could fit better than the real ones.
# None may be stepped on; and all examples of the documentation work as they are printed.

use FindBin;
use lib $FindBin::Bin;
use server;
use Cwd qw(abs_path);
use IPC::Run;
use scrape;

my $top = abs_path("$FindBin::Bin/../..");
my $tmp = PostgreSQL::Test::Utils::tempdir();
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf(
	'postgresql.conf', q{
shared_preload_libraries = 'working_set'
working_set.interval = 1
shared_buffers = '16MB'
autovacuum = off
fsync = off
});
$node->start;
$node->safe_psql('postgres', q{
	CREATE SCHEMA ws;
	CREATE EXTENSION working_set SCHEMA ws;
	CREATE ROLE ws_mallory LOGIN;
	GRANT CREATE ON DATABASE postgres TO ws_mallory;
	CREATE DATABASE shared;
});
$node->safe_psql('shared', q{
	CREATE EXTENSION working_set SCHEMA public;
	GRANT CREATE ON SCHEMA public TO ws_mallory;
});
my $superuser = $node->safe_psql('postgres', 'SELECT current_user');

# run(DATABASE, psql's arguments...): whether it succeeded, and all that it printed.  Options:
# as => ROLE, path => search_path, input => TEXT
sub run
{
	my ($db, $options, @arguments) = @_;
	my $out = '';
	local $ENV{PGOPTIONS} = $options->{path} ? '-c search_path=' . $options->{path} =~ s/ /\\ /gr : '';
	chdir $tmp or die $!;
	my $ok = IPC::Run::run([ 'psql', '-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-U', $options->{as} // $superuser,
			'-d', $node->connstr($db), @arguments ],
		'<', \($options->{input} // ''), '>', \$out, '2>&1');
	return ($ok, $out);
}

# ---------------------------------------------------------------- what is asked of users

my %script = map { $_ => slurp_file("$top/monitoring/$_") } qw(grants.sql report.sql which_instance.sql metrics.sql);

# {file => [queries]} of all files of exporters
my %queries;
sub collect
{
	my ($file, $from, $under) = @_;
	if (ref $from eq 'HASH')
	{
		collect($file, $from->{$_}, $under || $_ =~ /^(query|sqls?)$/) for sort keys %$from;
	}
	elsif (ref $from eq 'ARRAY')
	{
		collect($file, $_, $under) for @$from;
	}
	elsif ($under)
	{
		push @{ $queries{$file} }, $from;
	}
	return;
}
for my $file (glob "$top/monitoring/*/*.y*ml")
{
	my $name = $file =~ s{^.*/monitoring/}{}r;
	# those of Grafana, Prometheus and Kubernetes have no SQL
	next if $name =~ m{^(prometheus|grafana|kubernetes)/};
	collect($name, read_yaml($file));
}
$queries{'telegraf/working_set.conf'} = [ slurp_file("$top/monitoring/telegraf/working_set.conf") =~ /"""\n(.*?)"""/msg ];
($queries{working_set_follow}) = map { [$_] } slurp_file("$top/follow/working_set_follow") =~ /^QUERY = """\n(.*?)"""$/ms;
cmp_ok(scalar(grep { /^$_/ } keys %queries), '>', 0, "queries of $_ are found")
  for qw(pgwatch postgres_exporter sql_exporter prometheus-sql-exporter opentelemetry telegraf working_set_follow);

# {file, line => text} of all examples in SQL
my %example;
for my $file (map { s{^\Q$top\E/}{}r } "$top/README.md", glob("$top/doc/*.md"), glob("$top/monitoring/*.md"), glob("$top/monitoring/*/*.md"))
{
	my $text = slurp_file("$top/$file");
	while ($text =~ /^```sql\n(.*?)^```$/msg)
	{
		$example{ sprintf '%s:%03d', $file, 1 + (substr($text, 0, $-[1]) =~ tr/\n//) } = $1;
	}
}
cmp_ok(scalar(grep { /^README/ } keys %example), '>=', 4, 'README.md has examples');

# A literal without a type fits a function with arguments of another type, too.
for my $file ('README.md', 'bench/demo', map { s{^\Q$top\E/}{}r } glob("$top/doc/*.md"), glob("$top/monitoring/*.*"), glob("$top/monitoring/*/*.*"))
{
	my @calls = slurp_file("$top/$file") =~ /\b((?:approximate_)?working_set_\w+\((?:[^()]*, *)?(?:NULL|'[^']*')[,)])/g;
	is("@calls", '', "$file has no call of ours with a literal without a type");
}

# ---------------------------------------------------------------- traps

my $all = join "\n", values %script, map({ @$_ } values %queries), values %example;
$all =~ s/--.*$//mg;
my %words = map { lc $_ => 1 } $all =~ /[a-z_][a-z0-9_]*/gi;
my $symbols = '-+*/<>=~!@#%^&|`?';
my %operators = map { $_ => 1 } $all =~ /[\Q$symbols\E]+/g;

# Types of what is in the scripts; an argument of a trap has one of these, whatever that of
# the real function or operator is.
my @types = qw(bool int4 int8 float8 numeric text name oid regclass char timestamptz interval _int4 _text);
my @texts = qw(text name oid);

sub combine
{
	my ($first, @rest) = @_;
	return ([]) if !$first;
	my @tails = combine(@rest);
	return map { my $type = $_; map { [ $type, @$_ ] } @tails } @$first;
}

# Functions, as [name, [types]]: with each number of arguments that the real one can be called
# with.  From four arguments on their types are the real ones.
my @functions = functions();
my @operators = catalog('SELECT DISTINCT oprname FROM pg_operator');
my @names_of_types = catalog(q{
	SELECT typname FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace AND typtype = 'b' AND typelem = 0});
my @relations = catalog(q{
	SELECT relname FROM pg_class WHERE relnamespace IN ('pg_catalog'::regnamespace, 'ws'::regnamespace) AND relkind IN ('r', 'v')});

sub catalog
{
	return split /\n/, $node->safe_psql('postgres', $_[0]);
}

sub functions
{
	my %signatures;
	for my $line (catalog(q{
		SELECT proname, pronargs - pronargdefaults, pronargs + CASE WHEN provariadic <> 0 THEN 2 ELSE 0 END,
		       array_to_string(ARRAY(SELECT CASE WHEN typname IN ('any', 'anyarray', 'anyelement') THEN 'text' ELSE typname END
		                               FROM unnest(proargtypes) WITH ORDINALITY a(type, i) JOIN pg_type t ON t.oid = type ORDER BY i), ' ')
		  FROM pg_proc WHERE prokind <> 'p' AND pronamespace IN ('pg_catalog'::regnamespace, 'ws'::regnamespace)}))
	{
		my ($name, $least, $most, $real) = split /\|/, $line, -1;
		next if !$words{$name};
		my @real = split / /, $real;
		for my $n ($least .. $most)
		{
			my @choices = map {
				my $type = $real[$_] // 'text';
				$n <= 2 ? \@types : $n == 3 ? [ $type, grep { $_ ne $type } @texts ] : [$type]
			} 0 .. $n - 1;
			$signatures{ join ' ', $name, @$_ } = [ $name, $_ ] for $n == 0 && $name eq 'count' ? () : combine(@choices);
		}
	}
	return map { $signatures{$_} } sort keys %signatures;
}

# lay_traps(DATABASE, SCHEMA): Mallory does, who may create there; returns how many there are
sub lay_traps
{
	my ($db, $schema) = @_;
	my $s = '"' . $schema =~ s/"/""/gr . '"';
	my $called = sub { my ($name, @types) = @_; return "$name(" . join(', ', @types) . ')' };
	my $quoted = sub { return join ', ', map { qq{pg_catalog."$_"} } @_ };
	my $body = sub { return qq{RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN $s.spring_trap(''$_[0]''); END'} };
	my @sql = (
		"CREATE FUNCTION $s.spring_trap(pg_catalog.text) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''sprung: %'', \$1; END'");
	for my $function (@functions)
	{
		my ($name, $types) = @$function;
		push @sql, qq{CREATE FUNCTION $s."$name"(} . $quoted->(@$types) . ') ' . $body->($called->($name, @$types));
	}
	for my $types (combine(\@types, \@types))
	{
		my $trap = 'trap_' . join('_', @$types);
		push @sql, "CREATE FUNCTION $s.$trap(" . $quoted->(@$types) . ') ' . $body->($called->('operator', @$types));
		push @sql, map { sprintf 'CREATE OPERATOR %s.%s (LEFTARG = pg_catalog."%s", RIGHTARG = pg_catalog."%s", FUNCTION = %s.%s)',
			  $s, $_, @$types, $s, $trap } grep { $operators{$_} } @operators;
	}
	push @sql, "CREATE FUNCTION $s.trap_count(bigint) " . $body->('count(*)'),
	  "CREATE AGGREGATE $s.count(*) (SFUNC = $s.trap_count, STYPE = bigint)";
	push @sql, map { qq{CREATE DOMAIN $s."$_" AS pg_catalog."$_" CHECK ($s.spring_trap('type $_') > 0)} }
	  grep { $words{$_} } @names_of_types;
	push @sql, map { qq{CREATE VIEW $s."$_" AS SELECT $s.spring_trap('relation $_')} } grep { $words{$_} } @relations;
	my $sql = "SET search_path = pg_catalog; SET check_function_bodies = off;\n" . join('', map { "$_;\n" } @sql)
	  . "GRANT SELECT ON ALL TABLES IN SCHEMA $s TO public;\n";
	my ($ok, $out) = run($db, { as => 'ws_mallory', input => $sql }, '-v', 'ON_ERROR_STOP=0');
	# what has the name of something of the extension's in its schema
	my $refused = () = $out =~ /ERROR:/g;
	note($out) if $refused;
	return @sql - $refused;
}

# ---------------------------------------------------------------- to become a superuser

# Mallory has a schema that is named like the superuser, which comes first in the search_path
# by default, and in it functions that fit better than the server's: they answer as the real
# one does, and make her a superuser.
my $capture = qq{CREATE SCHEMA "$superuser"; GRANT USAGE ON SCHEMA "$superuser" TO public;\n};
for my $arguments ('text, text', 'text, name', 'text, text, text', 'text, text, name', 'text, name, text', 'text, name, name',
	'text, text, name, name')
{
	my $passed = join ', ', map { '$' . $_ } 1 .. 1 + ($arguments =~ tr/,//);
	$capture .= qq{CREATE FUNCTION "$superuser".format($arguments) RETURNS text LANGUAGE plpgsql AS
		\$\$BEGIN ALTER ROLE ws_mallory SUPERUSER; RETURN pg_catalog.format($passed); END\$\$;\n};
}
my ($laid, $said) = run('postgres', { as => 'ws_mallory', input => $capture });
ok($laid, 'Mallory lays traps') or diag($said);
my ($made, $why) = run('postgres', {}, '-f', "$top/monitoring/grants.sql");
ok($made, 'a superuser runs grants.sql') or diag($why);
is($node->safe_psql('postgres', q{SELECT rolsuper FROM pg_roles WHERE rolname = 'ws_mallory'}), 'f', 'which does not make her one');
is($node->safe_psql('postgres', q{SELECT pg_catalog.format('%s', 'x'::text); SELECT rolsuper FROM pg_roles WHERE rolname = 'ws_mallory'}), "x\nf",
	'nor does a name with its schema');
is($node->safe_psql('postgres', q{SELECT format('%s', 'x'::text); SELECT rolsuper FROM pg_roles WHERE rolname = 'ws_mallory'}), "x\nt",
	'as one without it would');
run('postgres', {}, '-c', qq{ALTER ROLE ws_mallory NOSUPERUSER; DROP SCHEMA "$superuser" CASCADE});

# ---------------------------------------------------------------- every trap

# What was stepped on, by the server's log, since the last call.
my $log_read = 0;
sub sprung
{
	my $log = slurp_file($node->logfile, $log_read);
	$log_read += length $log;
	return join '; ', $log =~ /^.*ERROR:  (?:sprung: )(.*)$/mg;
}

$node->safe_psql('postgres', 'SET ROLE ws_mallory; CREATE SCHEMA hostile; GRANT USAGE ON SCHEMA hostile TO public');
my $traps = lay_traps('postgres', 'hostile');
cmp_ok($traps, '>', 3000, "there are $traps traps");
cmp_ok(lay_traps('shared', 'public'), '>', 3000, 'and in the schema of the extension');
sprung();

# Each kind of trap works.
for my $step (
	[ 'shared', q{SELECT format('%s', 'x'::text)} ],
	[ 'shared', q{SELECT 1::bigint * 2::float8} ],
	[ 'shared', q{SELECT unnest('{a}'::text[])} ],
	[ 'shared', q{SELECT quote_ident('x'::name)} ],
	[ 'shared', q{SELECT * FROM working_set_relations('1 min')} ],
	[ 'shared', q{SELECT working_set_size('5 min')} ],
	[ 'postgres', q{SET search_path = hostile, pg_catalog; SELECT count(*)} ],
	[ 'postgres', q{SET search_path = hostile, pg_catalog; SELECT now()} ],
	[ 'postgres', q{SET search_path = hostile, pg_catalog; SELECT 'x'::text} ],
	[ 'postgres', q{SET search_path = hostile, pg_catalog; SELECT * FROM pg_roles} ],
	[ 'postgres', q{SET search_path = hostile, pg_catalog; SELECT 'a'::pg_catalog.name = 'b'} ])
{
	run($step->[0], {}, '-c', $step->[1]);
	isnt(sprung(), '', "a trap for: $step->[1]");
}

# ---------------------------------------------------------------- the scripts

# Where the traps are: [what, database, search_path]
my @ways = (
	[ 'traps before everything', 'postgres', 'hostile, pg_catalog, ws' ],
	[ 'traps that come after the server\'s own', 'postgres', 'hostile' ],
	[ 'traps beside the extension', 'shared', '' ]);

for my $way (@ways)
{
	my ($what, $db, $path) = @$way;
	my ($ok, $out) = run($db, { path => $path }, '-f', "$top/monitoring/grants.sql");
	ok($ok, "grants.sql with $what") or diag($out);
	is(sprung(), '', 'steps on none');
	$db eq 'shared'
	  ? like($out, qr/WARNING:  role "ws_mallory" may create objects in the schema of the extension, "public"/, 'and warns that there may be some')
	  : is($out, '', 'and has nothing to say');
	($ok, $out) = run($db, { path => $path }, '-v', "file=$tmp/report.html", '-f', "$top/monitoring/report.sql");
	ok($ok, "report.sql with $what") or diag($out);
	is(sprung(), '', 'steps on none');
	like(-e "$tmp/report.html" ? slurp_file("$tmp/report.html") : '', qr{</html>}, 'and writes its page');
	unlink "$tmp/report.html";
	append_to_file("$tmp/machines.csv", "large,16GB,180\n") unless -e "$tmp/machines.csv";
	($ok, $out) = run($db, { path => $path }, '-v', "file=$tmp/machines.csv", '-f', "$top/monitoring/which_instance.sql");
	ok($ok && $out =~ /^large\|16GB/m, "which_instance.sql with $what") or diag($out);
	is(sprung(), '', 'steps on none');
	($ok, $out) = run($db, { path => $path }, '-f', "$top/monitoring/metrics.sql");
	ok($ok, "metrics.sql with $what") or diag($out);
	is(sprung(), '', 'steps on none');
}

# A role that is there already may be more than it seems.
$node->safe_psql('postgres', qq{
	CREATE ROLE ws_member; GRANT "$superuser" TO ws_member;
	CREATE ROLE ws_files; GRANT pg_execute_server_program TO ws_files;
	CREATE ROLE ws_group; GRANT ws_group TO ws_mallory});
for my $role ([ 'ws_member', qr/ERROR:  role "ws_member" exists and is a member of \"?\Q$superuser\E"?, which is a superuser/ ],
	[ 'ws_files', qr/ERROR:  role "ws_files" exists and is a member of pg_execute_server_program, which may use files or programs/ ],
	[ 'ws_group', qr/^\S+ WARNING:  role "ws_mallory" is a member of "ws_group", and can read all that it can$/ ])
{
	my ($ok, $out) = run('postgres', { path => 'pg_catalog' }, '-v', "role=$role->[0]", '-f', "$top/monitoring/grants.sql");
	like($out, $role->[1], "grants.sql and the role $role->[0]");
}

# ---------------------------------------------------------------- a function that looks another one up by name

# A reset by approximate_working_set_size(true) needs the privilege to execute the extension's own
# working_set_reset().  A function of Mallory's with that name does not count.
$node->safe_psql('postgres', q{
	CREATE SCHEMA theirs AUTHORIZATION ws_mallory;
	CREATE FUNCTION theirs.size(boolean) RETURNS bigint AS '$libdir/working_set', 'ws_approximate_working_set_size' LANGUAGE C;
	SET ROLE ws_mallory;
	CREATE FUNCTION theirs.working_set_reset() RETURNS timestamptz LANGUAGE sql AS 'SELECT now()';
});
my (undef, $refused) = run('postgres', { as => 'ws_mallory' }, '-c', 'SELECT theirs.size(true)');
like($refused, qr/ERROR:  permission denied to reset the working set/, "theirs.size(true) beside a function of Mallory's");

# ---------------------------------------------------------------- the exporters' queries

# They run as the role that grants.sql makes, with the search_path that it sets.  Its timeout of
# five seconds is not much on a busy machine: the usual patience instead.
$node->safe_psql('postgres', sprintf q{ALTER ROLE working_set_scrape SET statement_timeout = '%ds'}, patience());
for my $file (sort keys %queries)
{
	my ($ok, $out) = run('shared', { as => 'working_set_scrape', input => join('', map { s/;?\s*$/;\n/r } @{ $queries{$file} }) });
	ok($ok, "all queries of $file") or diag($out);
	is(sprung(), '', 'step on no trap');
}

# ---------------------------------------------------------------- the examples

# As printed, in psql, one after the other; what creates the extension has a database of its own.
my $databases = 0;
my $previous = '';
my $created = 0;
my $in;
for my $name (sort keys %example)
{
	my ($file) = $name =~ /^(.*):/;
	if ($file ne $previous || $created || $example{$name} =~ /CREATE EXTENSION/)
	{
		$in = 'example_' . ++$databases;
		$node->safe_psql('postgres', "CREATE DATABASE $in");
		$node->safe_psql($in, 'CREATE EXTENSION working_set') if $example{$name} !~ /CREATE EXTENSION/;
	}
	$previous = $file;
	$created = $example{$name} =~ /CREATE EXTENSION/;
	my ($ok, $out) = run($in, { input => $example{$name} });
	ok($ok, "$name works as printed") or diag($out);

	# Where others create beside the extension it may fail, but runs nothing of theirs.
	next if $example{$name} =~ /CREATE EXTENSION/;
	sprung();
	run('shared', { input => $example{$name} });
	is(sprung(), '', 'and steps on no trap');
}

finish($node);

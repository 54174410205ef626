# monitoring/report.sql: the page is well-formed, nothing in it leaves its picture, names cannot
# break it, its figures are those of SQL, and what is missing is said; for a plain member of
# pg_monitor, on a standby, in any schema, with any settings of the session.

use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename;
use IPC::Run;
use FindBin;
use lib $FindBin::Bin;
use patience;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $script = dirname(abs_path(__FILE__)) . '/../../monitoring/report.sql';
my $dir = PostgreSQL::Test::Utils::tempdir();
my $pages = 0;

# ---- a strict parser of the XML that a page may be: a tree of { name, at, kids }, where a
# kid is a node or text; dies if it is anything else

sub text_of_source
{
	my ($text) = @_;
	my %named = (amp => '&', lt => '<', gt => '>', quot => '"', apos => "'");
	die "a character that is not allowed\n" if $text =~ /[^\t\n\x20-\x7e]/;
	$text =~ s{&([^;&\s]*;?)}{
		my $entity = $1;
		if    ($entity =~ /^(\w+);$/ && exists $named{$1}) { $named{$1} }
		elsif ($entity =~ /^#(\d+);$/ && $1 >= 32 && $1 <= 0x10ffff
			&& !($1 >= 0xd800 && $1 <= 0xdfff) && $1 != 0xfffe && $1 != 0xffff) { chr($1) }
		else { die "bad entity &$entity\n" }
	}ge;
	return $text;
}

sub parse
{
	my ($page) = @_;
	my $top = { name => '', at => {}, kids => [] };
	my @open = ($top);

	$page =~ s/^<!DOCTYPE html>\n// or die "no doctype\n";
	while ($page ne '')
	{
		if ($page =~ s/^([^<]+)//)
		{
			push @{ $open[-1]{kids} }, text_of_source($1);
		}
		elsif ($page =~ s{^</([a-zA-Z][\w]*)>}{})
		{
			die "</$1> ends <$open[-1]{name}>\n" if $1 ne $open[-1]{name};
			pop @open;
		}
		elsif ($page =~ s{^<([a-zA-Z][\w]*)((?:\s+[a-zA-Z][\w:-]*="[^"<]*")*)\s*(/?)>}{})
		{
			my ($name, $attributes, $empty) = ($1, $2, $3);
			my %at;
			while ($attributes =~ /([a-zA-Z][\w:-]*)="([^"]*)"/g)
			{
				die "$1 twice in <$name>\n" if exists $at{$1};
				$at{$1} = text_of_source($2);
			}
			my $node = { name => $name, at => \%at, kids => [] };
			push @{ $open[-1]{kids} }, $node;
			push @open, $node if !$empty;
		}
		else
		{
			die 'no markup: ' . substr($page, 0, 60) . "\n";
		}
	}
	die "<$open[-1]{name}> does not end\n" if @open > 1;
	my @elements = grep { ref } @{ $top->{kids} };
	die "not one element\n" if @elements != 1;
	return $elements[0];
}

sub text
{
	my ($node) = @_;
	return ref $node ? join('', map { text($_) } @{ $node->{kids} }) : $node;
}

# all elements below for which a test is true
sub find
{
	my ($node, $test) = @_;
	return () if !ref $node;
	return (($test->($node) ? $node : ()), map { find($_, $test) } @{ $node->{kids} });
}

sub by_id
{
	my ($tree, $id) = @_;
	return (find($tree, sub { ($_[0]{at}{id} // '') eq $id }))[0];
}

sub by_class
{
	my ($tree, $name, $class) = @_;
	return find($tree, sub { $_[0]{name} eq $name && ($_[0]{at}{class} // '') eq $class });
}

# what is wrong with a page, besides not being XML
sub faults
{
	my ($tree) = @_;
	my (%id, @faults);
	my %element = map { $_ => 1 } qw(html head meta title style body main header h1 h2 p section ul li pre dl div dt dd data wbr
		svg desc text rect line path circle i details summary table thead tbody tr th td footer);

	push @faults, "the page is <$tree->{name}>" if $tree->{name} ne 'html';
	for my $node (find($tree, sub { 1 }))
	{
		push @faults, "<$node->{name}>" if !$element{ $node->{name} };
		for (sort keys %{ $node->{at} })
		{
			push @faults, "$_ in <$node->{name}>" if /^(on|src|href|xlink|style$|action|srcdoc)/i;
			push @faults, "$_=$node->{at}{$_}"
			  if $node->{at}{$_} =~ m{://}
			  && !($_ eq 'xmlns' && $node->{at}{$_} =~ m{^http://www\.w3\.org/(1999/xhtml|2000/svg)$});
		}
		push @faults, "id $node->{at}{id} twice" if defined $node->{at}{id} && $id{ $node->{at}{id} }++;
	}
	push @faults, 'style loads something' if text((find($tree, sub { $_[0]{name} eq 'style' }))[0]) =~ /url\(|\@import|expression/;

	for my $svg (find($tree, sub { $_[0]{name} eq 'svg' }))
	{
		my ($x0, $y0, $width, $height) = ($svg->{at}{viewBox} // '') =~ /^(\d+) (\d+) (\d+) (\d+)$/
		  or push @faults, 'no viewBox';
		for (split / /, $svg->{at}{'aria-labelledby'} // 'none')
		{
			push @faults, "no $_ in the picture" if !by_id($svg, $_) || text(by_id($svg, $_)) eq '';
		}
		my @labels = sort { $a <=> $b } map { $_->{at}{y} } find($svg, sub { ($_[0]{at}{class} // '') =~ /^label / });
		push @faults, "labels at $labels[$_ - 1] and $labels[$_]" for grep { $labels[$_] - $labels[ $_ - 1 ] < 20 } 1 .. $#labels;
		my $check = sub {
			my ($what, $x, $y) = @_;
			push @faults, "$what at " . ($x // 'no x') . ', ' . ($y // 'no y')
			  if grep { !defined || !/^-?\d+(\.\d+)?$/ } $x, $y
			  or $x < $x0 || $x > $x0 + $width || $y < $y0 || $y > $y0 + $height;
		};
		for my $node (find($svg, sub { 1 }))
		{
			my ($name, $at) = ($node->{name}, $node->{at});
			if ($name eq 'text') { $check->('text', $at->{x}, $at->{y}); }
			elsif ($name eq 'circle') { $check->('circle', $at->{cx}, $at->{cy}); }
			elsif ($name eq 'line')
			{
				$check->('line', $at->{x1}, $at->{y1});
				$check->('line', $at->{x2}, $at->{y2});
			}
			elsif ($name eq 'rect')
			{
				$check->('rect', $at->{x}, $at->{y});
				push @faults, 'rect of no size' if grep { ($_ // '') !~ /^\d+(\.\d+)?$/ } $at->{width}, $at->{height};
				$check->('rect', $at->{x} + $at->{width}, $at->{y} + $at->{height});
			}
			elsif ($name eq 'path')
			{
				push @faults, "path $at->{d}"
				  if $at->{d} !~ /^M[\d.]+ [\d.]+(h[\d.]+)?(L[\d.]+ [\d.]+(h[\d.]+)?)*(h0|Z)$/;
				while ($at->{d} =~ /[ML]([^ ]*) ([\d.]*)(?:h([\d.]+))?/g)
				{
					$check->('path', $1, $2);
					$check->('path', $1 + ($3 // 0), $2);
				}
			}
		}
	}
	return @faults;
}

# does the checker check?
my $good = "<!DOCTYPE html>\n<html><style></style><svg viewBox=\"0 0 9 9\" aria-labelledby=\"t\"><title id=\"t\">a &lt; &#233;</title>"
  . '<path d="M1 2h3L4 5h0"/></svg></html>';
sub verdict
{
	my ($page) = @_;
	my $tree = eval { parse($page) };
	return $@ if !$tree;
	return join('; ', faults($tree));
}
is(verdict($good), '', 'a good page is good');
my @worse = (
	[ 'a &lt;', 'a <' ], [ 'a &lt;', 'a & b' ], [ '&#233;', "\xe9" ], [ '&#233;', '&eacute;' ], [ '&#233;', '&#1;' ],
	[ '</title>', '' ], [ '</svg></html>', '</html></svg>' ], [ '"M1', 'M1' ], [ 'M1 2', 'M1 20' ], [ 'h3', 'h30' ], [ 'M1 2', 'MNaN 2' ],
	[ 'id="t"', 'id="u"' ], [ '<path', '<script></script><path' ], [ '<path', '<path onclick="x"' ], [ '<path', '<path d="M1 1h0"' ],
	[ '<path', '<line x1="1" x2="2" y1="3" y2="-1"/><path' ], [ '<path', '<rect x="1" y="2" width="-1" height="2"/><path' ],
	[ '<path', '<text class="label a" x="1" y="1">a</text><text class="label b" x="1" y="9">b</text><path' ],
	[ '<path', '<title id="t">x</title><path' ], [ '</style>', '@import x</style>' ]);
for (@worse)
{
	my $page = $good;
	$page =~ s/\Q$_->[0]\E/$_->[1]/ or die "no $_->[0]";
	isnt(verdict($page), '', "and with $_->[1] for $_->[0] it is not");
}

# ---- running it

# Runs psql on the script; returns its exit status, what it printed, and the page, if any.
sub run_report
{
	my ($node, %how) = @_;
	my $file = $how{file} // "$dir/page" . ++$pages . '.html';
	my ($out, $err) = ('', '');
	my @command = ('psql', '-X', '-A', '-t', '-q', '-d', $node->connstr($how{database} // 'postgres'), '-v', 'ON_ERROR_STOP=1', '-v', "file=$file");
	push @command, '-U', $how{role} if $how{role};
	push @command, @{ $how{options} // [] };
	unlink $file;
	IPC::Run::run([ @command, '-f', '-' ], '<', \(($how{before} // '') . "\n\\i $script\n" . ($how{after} // '')), '>', \$out, '2>', \$err);
	return ($? >> 8, $out, $err, -e $file ? slurp_file($file) : undef);
}

# The tree of the page that there has to be.
sub page_of
{
	my ($name, $node, %how) = @_;
	my ($status, $out, $err, $page) = run_report($node, %how);
	is("$status $err", '0 ', "$name: no error");
	is(verdict($page // ''), '', "$name: a page, and nothing is wrong with it");
	return eval { parse($page // '') } // { name => 'none', at => {}, kids => [] };
}

# the text of a section, or of the whole page
sub says
{
	my ($tree, $pattern, $name, $id) = @_;
	my $text = text($id ? by_id($tree, $id) // '' : (find($tree, sub { $_[0]{name} eq 'main' }))[0] // '');
	like($text, $pattern, $name);
	return;
}

sub pictures
{
	my ($tree) = @_;
	return join(' ', map { $_->{at}{id} } find($tree, sub {
		$_[0]{name} eq 'section' && $_[0]{at}{id} && find($_[0], sub { $_[0]{name} eq 'svg' }) }));
}

# ---- what is missing

my $plain = PostgreSQL::Test::Cluster->new('plain');
$plain->init;
$plain->start;
my ($status, $out, $err, $page) = run_report($plain);
is($status, 3, 'not installed: an error');
like($err, qr/^psql:\S+ ERROR:  the extension working_set is not installed in database "postgres"\nHINT:  CREATE EXTENSION working_set;\n\z/,
	'that says so, and nothing else');
is($page, undef, 'and no page');

$plain->safe_psql('postgres', 'CREATE EXTENSION working_set');
($status, $out, $err, $page) = run_report($plain);
is($status, 3, 'not preloaded: an error');
like($err, qr/^psql:\S+ ERROR:  working_set must be loaded via shared_preload_libraries\nHINT:  .*restart the server\.\n\z/, 'that says so, and nothing else');
is($page, undef, 'and no page');
# with placeholders for the settings, all the same
$plain->append_conf('postgresql.conf', 'working_set.registers = 1024');
$plain->restart;
($status, $out, $err, $page) = run_report($plain);
like($err, qr/must be loaded via shared_preload_libraries/, 'whatever settings there are');
$plain->stop;

# ---- a server with hostile names, in a schema that is one

# Some packages of the server have no contrib.
chomp(my $libraries = `@{[ $ENV{PG_CONFIG} || 'pg_config' ]} --pkglibdir`);
my $has_texts = -e "$libraries/pg_stat_statements.so";
my $preload = $has_texts ? 'pg_stat_statements, working_set' : 'working_set';
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1, extra => [ '--encoding=UTF8', '--locale=C' ]);
$node->append_conf(
	'postgresql.conf', qq{
shared_preload_libraries = '$preload'
compute_query_id = on
working_set.interval = 1
shared_buffers = '64MB'
autovacuum = off
timezone = 'UTC'
});
$node->start;
$node->safe_psql('postgres', q{
	CREATE SCHEMA "w's ""<&>";
	CREATE EXTENSION working_set SCHEMA "w's ""<&>";
	CREATE ROLE ws_monitor LOGIN;
	GRANT pg_monitor TO ws_monitor;
	CREATE ROLE ws_nobody LOGIN;
	CREATE DATABASE "<b>&'""]]>";
	CREATE DATABASE octets TEMPLATE template0 ENCODING SQL_ASCII;
});
($status, $out, $err, $page) = run_report($node, role => 'ws_nobody');
is($status, 3, 'without privileges: an error');
like($err, qr/^psql:\S+ ERROR:  role "ws_nobody" may not read what working_set knows\nHINT:  GRANT pg_monitor TO ws_nobody;\n\z/, 'that says so, and nothing else');
is($page, undef, 'and no page');
($status, $out, $err, $page) = run_report($node, role => 'ws_monitor');
like($err, qr/^psql:\S+ ERROR:  role "ws_monitor" may not read .*\nHINT:  GRANT USAGE ON SCHEMA "w's ""<&>" TO ws_monitor;\n\z/, 'or may not use the schema');
$node->safe_psql('postgres', q{GRANT USAGE ON SCHEMA "w's ""<&>" TO public});

# Names with all that could break a page; those of databases need not even be UTF-8.
my $odd_bytes = "caf\\d\xe9";
my $make = q{
	SELECT format('CREATE TABLE %I AS SELECT g, repeat(''x'', 1000) AS filler FROM generate_series(1, 20000) g', '<script>&"''];--') \gexec
	SELECT format('CREATE TABLE %I AS SELECT g, repeat(''x'', 1000) AS filler FROM generate_series(1, 6000) g',
	              concat(chr(1), chr(10), chr(9), chr(127), ' <!-- ]]> \ &lt; and long enough to be cut short', chr(233), chr(20013), chr(128512))) \gexec
};
# run a script in the database of that name, once it is made
sub in_odd
{
	my ($make_it, $sql) = @_;
	local $ENV{PGCLIENTENCODING} = 'SQL_ASCII';
	my $out = '';
	IPC::Run::run([ 'psql', '-X', '-q', '-At', '-d', $node->connstr('octets'), '-v', 'ON_ERROR_STOP=1' ], '<',
		\"SELECT convert_from('\\x6361665c64e9', 'SQL_ASCII') AS odd \\gset\n$make_it\n\\c :\"odd\"\n$sql", '>', \$out, '2>&1')
	  or die $out;
	return;
}
in_odd('CREATE DATABASE :"odd";', q{CREATE TABLE pages AS SELECT g, repeat('x', 1000) AS filler FROM generate_series(1, 3000) g;});
$node->safe_psql($_, $make) for 'postgres', q{<b>&'"]]>};
$node->safe_psql(q{<b>&'"]]>}, 'CREATE EXTENSION working_set');

# Reads all tables until they are seen among the largest of the last five minutes: the sample is read once a second.
my $touch = q{SELECT format('SELECT count(*) FROM %s', oid::regclass) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace \gexec};
my $ws = q{"w's ""<&>"};
sub use_all
{
	my ($database, $schema) = @_;
	eventually(sub {
		$node->safe_psql($database, $touch);
		return $node->safe_psql($database, "SELECT count(*) FROM $schema.working_set_relations WHERE relation::text LIKE '%;--%' AND bytes > 8e6 OR relation::text LIKE '%long%' AND bytes > 4e6") == 2;
	}) or die "the tables of $database are not seen";
	return;
}
my $tree;

# ---- a minute after the start, nothing is recommended; names are there already

for my $database ('postgres', q{<b>&'"]]>}, 'octets')
{
	$node->safe_psql('octets', 'CREATE EXTENSION IF NOT EXISTS working_set');
	use_all('postgres', $ws);
	use_all(q{<b>&'"]]>}, 'public');
	in_odd('', 'SELECT count(*) FROM pages;');
	$tree = page_of("names, from $database", $node, role => 'ws_monitor', database => $database);
	my $all = text($tree);
	my $here = $database eq 'octets' ? 'pg_' : q{public."<script>&""'];--"};
	my @names = map { text($_) } by_class(by_id($tree, 'relation'), 'text', 'name');
	ok((grep { index($_, $here) >= 0 } @names), 'a relation has its name') or diag(join("\n", @names));
	ok((grep { $_ =~ /^(<b>&'"\]\]>|postgres): file \d+$/ } @names), 'one of another database has a number');
	if ($database ne 'octets')
	{
		ok((grep { /^public\.\"\?\?\?\? <!-- \]\]> \\ &lt; and long/ && /\.\.\.$/ } @names), 'one name is cut short');
		like($all, qr/ &lt; and long enough to be cut short\x{e9}\x{4e2d}\x{1f600}/, 'and is there in full');
	}
	my @databases = map { text($_) } by_class(by_id($tree, 'database'), 'text', 'name');
	ok((grep { $_ eq 'caf\\\\d\\351' } @databases), 'a name that is not UTF-8 is shown by its bytes') or diag(join("\n", @databases));
}
SKIP:
{
	my $early = page_of('collecting', $node, database => 'octets');
	skip 'the minute is over', 1 if $node->safe_psql('octets', 'SELECT status FROM working_set_recommendation') ne 'collecting';
	says($early, qr/^.*COLLECTING: counting since .* first recommendation/s, 'says that it is too early');
}

# ---- the texts of queries

# Run a statement until a condition holds: the sample is read once a second, and does not
# hear of a page again that was used a moment ago.
sub read_until
{
	my ($read, $condition) = @_;
	eventually(sub {
		$node->safe_psql('postgres', $read);
		return $node->safe_psql('postgres', "SELECT $condition") eq 't';
	}) or die "never true: $condition";
	return;
}

# One that could break a page, of more than one line, and too long.
my $statement = q{SELECT count(*), '<u>'
	/* </th><script>alert("1")</script> &amp; ]]> -- */
	FROM "<script>&""'];--" WHERE } . "'\x{c3}\x{a9}' <> '" . 'y' x 300 . q{' AND filler <> ''};
sub named_queries
{
	my ($name, %how) = @_;
	return map { $_->[0] } rows_of(page_of($name, $node, %{ { role => 'ws_monitor', database => 'postgres', %how } }), 'query');
}
my $largest = "(SELECT max(bytes) > 1e7 FROM $ws.working_set_queries WHERE queryid IS NOT NULL AND datname = 'postgres')";
read_until($statement, $largest);
my @named = named_queries('no pg_stat_statements');
ok((grep { /^query -?\d+$/ } @named), 'without pg_stat_statements, queries have their identifiers') or diag(join("\n", @named));
is(join(' ', grep { !/^query -?\d+$|^all that|^without/ } @named), '', 'and nothing else');
SKIP:
{
	skip 'there is no pg_stat_statements', 1 unless $has_texts;
	# (a text that is not UTF-8, see below, is there already)
	$node->safe_psql('postgres', q{CREATE SCHEMA "s<&>"; CREATE EXTENSION pg_stat_statements SCHEMA "s<&>"; SELECT "s<&>".pg_stat_statements_reset()});
	read_until($statement, "EXISTS (SELECT FROM $ws.working_set_queries JOIN \"s<&>\".pg_stat_statements USING (queryid) WHERE query LIKE '%<script>alert%' AND bytes > 1e7)");
	@named = named_queries('pg_stat_statements that may not be used');
	is(join(' ', grep { !/^query -?\d+$|^all that|^without/ } @named), '', 'where its schema may not be used, too');
	$node->safe_psql('postgres', q{GRANT USAGE ON SCHEMA "s<&>" TO public});
	@named = named_queries('pg_stat_statements in another schema');
	my ($text) = grep { /<script>alert/ } @named;
	# (PostgreSQL puts parameters in the place of constants)
	like($text // join("\n", @named), qr{^SELECT count\(\*\), \$1 /\* </th><script>alert\("1"\)</script> &amp; \]\]> -- \*/ FROM "<script>&""'\];--" WHERE \$2 <> \$3 AND filler <> \$4$},
		'with it, they have their text, in one line');
	read_until('SELECT count(*) FROM "<script>&""\'];--" WHERE ' . join(' OR ', map { "g = $_" } 1 .. 100),
		"EXISTS (SELECT FROM $ws.working_set_queries JOIN \"s<&>\".pg_stat_statements USING (queryid) WHERE query LIKE '%g = \$100' AND bytes > 1e7)");
	my @long = grep { /g = \$12\b/ } named_queries('a long text');
	is(length($long[0] // ''), 200, 'cut short');
	$node->safe_psql('postgres', q{REVOKE SELECT ON "s<&>".pg_stat_statements FROM public});
	@named = named_queries('pg_stat_statements that may not be read');
	is(join(' ', grep { !/^query -?\d+$|^all that|^without/ } @named), '', 'where it may not be read, they have their identifiers');
	$node->safe_psql('postgres', q{GRANT SELECT ON "s<&>".pg_stat_statements TO public});
	# a text that is not UTF-8 makes pg_stat_statements fail in other databases
	{
		local $ENV{PGCLIENTENCODING} = 'SQL_ASCII';
		$node->safe_psql('octets', "SELECT count(*) /* caf\xe9 */ FROM pg_class");
	}
	isnt($node->psql('postgres', 'SELECT count(query) FROM "s<&>".pg_stat_statements'), 0, 'a text that pg_stat_statements cannot show');
	@named = named_queries('a text of no encoding');
	is(join(' ', grep { !/^query -?\d+$|^all that|^without/ } @named), '', 'then there are identifiers');
	$node->safe_psql('octets', 'CREATE EXTENSION pg_stat_statements');
	ok((grep { /^SELECT count\(\*\), \$1/ } named_queries('texts in that database', database => 'octets')) == 1, 'but in that database, texts');
	$node->safe_psql('octets', 'SELECT pg_stat_statements_reset()');
}

# ---- whatever the session is like; and it is as it was, afterwards

my $ask = q{
\echo === :AUTOCOMMIT :ON_ERROR_STOP :SINGLELINE :SHOW_CONTEXT :QUIET :ENCODING :file
\echo === :{?ws_report_page} :{?ws_report_path} :{?ws_report_schema} :{?ws_report_file} :{?ws_report_problem} :{?ws_report_newpath}
\pset
SHOW search_path;
SHOW client_encoding;
SELECT pg_catalog.count(*) FROM pg_catalog.pg_class WHERE relnamespace = pg_catalog.pg_my_temp_schema();
};
my $hostile = q{
	CREATE SCHEMA IF NOT EXISTS hostile;
	CREATE OR REPLACE FUNCTION hostile.spring() RETURNS bigint LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'sprung'; END$$;
	CREATE OR REPLACE FUNCTION hostile.trap(bigint, bigint) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'sprung'; END$$;
	CREATE OR REPLACE FUNCTION hostile.concat(text, text) RETURNS text LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'sprung'; END$$;
	CREATE OPERATOR hostile.> (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = hostile.trap);
	CREATE VIEW hostile.pg_extension AS SELECT hostile.spring();
	CREATE VIEW hostile.working_set_info AS SELECT hostile.spring();
	GRANT ALL ON SCHEMA hostile TO public;
};
$node->safe_psql('postgres', $hostile);
my %session = (
	'standard_conforming_strings off' => "SET standard_conforming_strings = off;",
	'a hostile path' => 'SET search_path = hostile, pg_catalog, public; CREATE TEMP VIEW pg_settings AS SELECT hostile.spring();',
	'odd formats' => "SET datestyle = 'German'; SET timezone = '<A\"B>-5:30'; SET extra_float_digits = -10; SET intervalstyle = iso_8601; SET bytea_output = escape;",
	'another encoding' => "\\encoding LATIN1",
	'the printing of psql' => "\\x on\n\\pset format html\n\\pset null nothing\n\\pset recordsep_zero on\n\\pset title title\n\\pset footer on\n\\set FETCH_COUNT 1",
	'single lines' => '\set SINGLELINE on',
	'no plans' => 'SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit_above_cost = 0; SET work_mem = 64;',
	'parallel plans' => 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;'
	  . ($node->pg_version >= 16 ? 'SET debug_parallel_query = on;' : 'SET force_parallel_mode = on;'),
	'a transaction' => 'BEGIN READ ONLY;',
	'no autocommit' => '\set AUTOCOMMIT off',
	'errors do not stop' => '\unset ON_ERROR_STOP');
# from 19 on it cannot be turned off
delete $session{'standard_conforming_strings off'} if $node->psql('postgres', 'SET standard_conforming_strings = off') != 0;
for my $what (sort keys %session)
{
	my $before = $session{$what};
	my ($status, $out, $err, $page) = run_report($node, role => $what =~ /hostile/ ? undef : 'ws_monitor', before => "$before\n$ask\\echo ----", after => "\\echo ----\n$ask");
	is("$status $err", '0 ', "$what: no error");
	is(verdict($page // ''), '', "$what: a good page");
	my ($then, $said, $now) = split /^----\n/m, $out;
	is($now, $then, "$what: all is as it was");
}
$node->safe_psql('postgres', 'DROP SCHEMA hostile CASCADE');

# ---- where it goes

($status, $out, $err, $page) = run_report($node, role => 'ws_monitor', file => "$dir/a name.html");
is(verdict($page // ''), '', 'into a file with a space in its name');
($status, $out, $err) = run_report($node, role => 'ws_monitor', file => "|cat");
like($out, qr/^<!DOCTYPE html>$/m, 'to another program');
($status, $out, $err) = run_report($node, role => 'ws_monitor', file => "$dir/nowhere/page.html");
is($status, 3, 'a file that cannot be written is an error');
like($err, qr/nowhere\/page\.html: No such file/, 'of psql');
{
	my $back = Cwd::getcwd();
	chdir $dir;
	IPC::Run::run([ 'psql', '-X', '-q', '-d', $node->connstr('postgres'), '-U', 'ws_monitor', '-f', $script ], '>', \$out, '2>', \$err);
	chdir $back;
	is(verdict(-e "$dir/working_set_report.html" ? slurp_file("$dir/working_set_report.html") : ''), '', 'without a name, into the current directory');
}
($status, $out, $err, $page) = run_report($node, role => 'ws_monitor', before => "\\set ON_ERROR_STOP off\nBEGIN; SELECT 1/0;\n");
like($err, qr/current transaction is aborted/, 'in a failed transaction, it fails');
is($page, undef, 'and writes nothing');

# ---- figures are those of SQL: the recommendation stands still, once there is one

$node->poll_query_until('postgres', "SELECT status = 'ok' AND recommended_cache_bytes > 0 FROM $ws.working_set_recommendation") or die 'no recommendation';
$node->safe_psql('postgres', $touch);
$node->append_conf('postgresql.conf', 'working_set.interval = 3600');
$node->reload;
# until the worker has heard: with an interval of one second it would be stale by then
$node->poll_query_until('postgres', "SELECT status = 'ok' AND computed_at < clock_timestamp() - interval '8 s' FROM $ws.working_set_recommendation") or die 'it does not stop';

my @bytes = qw(working_set_bytes recommended_cache_bytes peak_cache_bytes shared_buffers_bytes memory_limit_bytes);
my @want = split /\|/, $node->safe_psql('postgres', 'SELECT ' . join(', ', @bytes) . " FROM $ws.working_set_recommendation");
my $pages_of_a_day = "SELECT pages FROM $ws.working_set_curve('{86400}')";
my $least = $node->safe_psql('postgres', $pages_of_a_day);
$tree = page_of('a real page', $node, role => 'ws_monitor');
my ($tiles) = by_class($tree, 'dl', 'tiles');
is(join('|', map { $_->{at}{value} } find($tiles, sub { $_[0]{name} eq 'data' })), join('|', @want), 'the figures are those of the recommendation');
my ($reason, $verdict) = split /\|/, $node->safe_psql('postgres', "SELECT reason, verdict FROM $ws.working_set_recommendation");
my ($card) = find($tree, sub { ($_[0]{at}{class} // '') =~ /verdict/ });
is(join('; ', map { text($_) } find($card, sub { $_[0]{name} eq 'p' })), $reason, 'the reason, too');
my @lines = split /\n/, $node->safe_psql('postgres', "SELECT $ws.working_set()");
my $headline = shift @lines;
is(join('', map { text($_) } find($card, sub { $_[0]{name} eq 'h2' })), $headline, 'it begins with the words of working_set()');
# (the largest relations are of the moment)
is(text((find($card, sub { $_[0]{name} eq 'pre' }))[0]) =~ s/^Top: .*$/Top:/mr, join("\n", @lines) =~ s/^Top: .*$/Top:/mr, 'and goes on with them');
like($headline, qr/^\Q@{[uc $verdict]}\E:? shared_buffers/, 'and the verdict');
# (that of memory needs five minutes)
like(pictures($tree), qr/^curve advice (?:memory )?day relation query database$/, 'all pictures are there but that of the month');
says($tree, qr/Nothing is known that is older than a day/, 'which says so', 'month');
says($tree, qr/primary/, 'it is a primary');
my ($title) = find($tree, sub { $_[0]{name} eq 'h1' });
is(text($title), sprintf('%s:%s, cluster main', `hostname` =~ s/\s+//r, $node->port), 'it belongs to one server');
says($tree, qr/up for (?:less than two|\d+) minutes; cache report of /, 'which runs since then');
is(scalar(grep { text($_) eq '' } find($tree, sub { ($_[0]{at}{class} // '') eq 'card' })), 0, 'no card is empty');

sub rows_of
{
	my ($tree, $id) = @_;
	return map { [ map { text($_) } grep { ref } @{ $_->{kids} } ] }
	  find((find(by_id($tree, $id), sub { $_[0]{name} eq 'tbody' }))[0], sub { $_[0]{name} eq 'tr' });
}
my @windows = rows_of($tree, 'curve');
cmp_ok(scalar(@windows), '>', 10, 'the curve has a row for each window');
my ($most) = sort { $b <=> $a } map { $_->[1] } @windows;
is($windows[-1][1], $most, 'and rises');
# pages are added all the time (autovacuum reads some, too): to a size between that of SQL before and after, give
# or take a standard error of 0.46 %, several times over
cmp_ok($windows[-1][1], '>', 0.97 * $least, 'to the size of SQL, not less than before');
cmp_ok($windows[-1][1], '<', 1.03 * $node->safe_psql('postgres', $pages_of_a_day), 'nor more than after');
is(scalar(rows_of($tree, 'advice')), 20, 'the advice has twenty rows');
my %share = map { $_->[0] => $_->[2] } rows_of($tree, 'relation');

# ---- a standby

$node->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'backup', has_streaming => 1);
$standby->start;
$tree = page_of('a standby', $standby, role => 'ws_monitor');
says($tree, qr/standby/, 'it is a standby');
$standby->stop;

# ---- pg_stat_statements is not loaded

SKIP:
{
	skip 'there is no pg_stat_statements', 1 unless $has_texts;
	$node->append_conf('postgresql.conf', "shared_preload_libraries = 'working_set'");
	$node->restart;
	read_until($statement, $largest);
	isnt($node->psql('postgres', 'SELECT count(*) FROM "s<&>".pg_stat_statements'), 0, 'pg_stat_statements is not loaded');
	@named = named_queries('pg_stat_statements that is not loaded');
	ok((grep { /^query -?\d+$/ } @named), 'then there are identifiers');
	is(join(' ', grep { !/^query -?\d+$|^all that|^without/ } @named), '', 'and nothing else');
}

# ---- no sample; not tracking; no worker

$node->append_conf('postgresql.conf', 'working_set.sample_pages = 0');
$node->restart;
$node->poll_query_until('postgres', "SELECT EXISTS (SELECT FROM $ws.working_set_memory_advice WHERE note LIKE '%sample_pages is 0%')")
  or die 'the worker has not spoken';
$tree = page_of('no sample', $node, role => 'ws_monitor');
says($tree, qr/No page is sampled: working_set.sample_pages is 0/, 'says so', 'relation');
says($tree, qr/No page is sampled: working_set.sample_pages is 0/, 'here, too', $_) for qw(query database advice);
says($tree, qr/This is not known\.working_set.sample_pages is 0/, 'nor is the memory advice known', 'memory');
$node->append_conf('postgresql.conf', 'working_set.enabled = off');
$node->reload;
$node->poll_query_until('postgres', "SELECT NOT tracking FROM $ws.working_set_info") or die 'it tracks';
$tree = page_of('not tracking', $node, role => 'ws_monitor');
says($tree, qr/NOT TRACKING: working_set.enabled is off/, 'says so, and why');
says($tree, qr/Nothing is tracked/, 'and in each section', $_) for qw(curve advice memory relation query database);
says($tree, qr/working_set\.enabled is off/, 'with the reason', 'memory');
$node->append_conf('postgresql.conf', "working_set.enabled = on\nworking_set.sample_pages = 1024\nmax_worker_processes = 0\nmax_parallel_workers = 0\nworking_set.interval = 1");
$node->restart;
$tree = page_of('no worker', $node, role => 'ws_monitor');
says($tree, qr/Worker\s*does not run/, 'says so');

# ---- anything else that could be, by views that tell it

$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', 'CREATE EXTENSION working_set');
my %usual = (
	recommendation => {
		computed_at => 'now()', status => "'ok'::text", method => "'live_set'::text", working_set_bytes => '160440320::bigint',
		low_bytes => '159383552::bigint', high_bytes => '161505280::bigint', window_seconds => 900, plateau_end_bytes => '120481280::bigint',
		live_bytes => '159514624::bigint', live_low_bytes => '157286400::bigint', live_high_bytes => '161480704::bigint',
		recommended_cache_bytes => '175472640::bigint', recommended_low_bytes => '173015040::bigint', recommended_high_bytes => '177635328::bigint',
		recommended_cache => "'167 MB'::text", peak_cache_bytes => '195472640::bigint', peak_at => "now() - interval '2 days'", idle_cache_bytes => 'NULL::bigint',
		shared_buffers_bytes => '67108864::bigint', memory_limit_bytes => '25276502016::bigint',
		current_hit_ratio => '0.99::float8', expected_hit_ratio => '0.999::float8', confidence => "'low'::text",
		reads_per_second => '1000::float8', expected_reads_per_second => '400::float8', saved_read_ms_per_second => '100::float8', suggested_shared_buffers => "'187MB'::text",
		suggested_effective_cache_size => "'23313MB'::text", verdict => "'grow'::text", reason => "'because; and <so> on'::text" },
	info => {
		tracking => 'true', reason => "'every lookup of shared buffers is seen'::text", since => "now() - interval '3 hours'", registers => 16384,
		sample_rate => '0.0625::float8', sampled_pages => '1234::bigint', lookups => '123456789::bigint', hits => '123000000::bigint',
		evictions => '10::bigint', dropped_samples => '0::bigint', predictions_checked => 144, predictions_within_error => 140, worker_pid => 4711, last_saved => 'now()', shared_memory_bytes => '4800000::bigint',
		version => "'1.0.0'::text" });
my @columns = (
	recommendation => [qw(status verdict confidence recommended_cache suggested_shared_buffers suggested_effective_cache_size reason
		recommended_cache_bytes recommended_low_bytes recommended_high_bytes working_set_bytes low_bytes high_bytes window_seconds
		live_bytes live_low_bytes live_high_bytes plateau_end_bytes peak_cache_bytes peak_at idle_cache_bytes
		shared_buffers_bytes memory_limit_bytes current_hit_ratio expected_hit_ratio
		reads_per_second expected_reads_per_second saved_read_ms_per_second method computed_at)],
	info => [qw(tracking reason since registers sample_rate sampled_pages lookups hits evictions dropped_samples predictions_checked
		predictions_within_error worker_pid last_saved
		shared_memory_bytes version)]);
my %from = (
	cache_advice => q{SELECT f::float8 AS size_factor, (67108864 * f)::bigint AS cache_bytes, ''::text AS cache, %s AS predicted_hit_ratio,
		NULL::float8 AS predicted_hit_ratio_without_scans, %s AS predicted_reads_per_second,
		1::float8 AS read_factor, %s AS error, %s AS note
		FROM unnest('{0.1,0.125,0.25,0.35,0.5,0.6,0.7,0.8,0.9,1,1.1,1.25,1.5,1.75,2,2.5,3,4,8,16}'::float8[]) f},
	history => q{SELECT now() - m * interval '15 min' + interval '%5$s' AS at, %1$s AS working_set_bytes, (180000000 + 1e7 * sin(m))::bigint AS recommended_cache_bytes,
		NULL::bigint AS mean_cache_bytes,
		NULL::bigint AS plateau_end_bytes, NULL::bigint AS live_bytes, %2$s AS lookups, %3$s AS hits, 15 AS minutes FROM generate_series(1, 2900) m WHERE %4$s},
	relations => q{SELECT 'other'::text AS datname, NULL::regclass AS relation, NULL::"char" AS relkind, (20000 + g)::oid AS relfilenode, 'main'::text AS fork,
		g::bigint AS pages, (8192 * g)::bigint AS bytes, 0.01::float8 AS share, 8192::bigint AS standard_error_bytes, (4096 * g)::bigint AS resident_bytes,
		(2048 * g)::bigint AS reused_bytes, 1::float8 AS reads_saved_per_second, 1::float8 AS reads_saved_standard_error, 0.5::float8 AS density
		FROM generate_series(1, %s) g},
	queries => q{SELECT 'd <1>'::text AS datname, 'r&' || g AS rolname, %3$s AS queryid, g = 7 AS is_other,
		g::bigint AS pages, (8192 * g)::bigint AS bytes, 0.01::float8 AS share, 8192::bigint AS standard_error_bytes, (2048 * g)::bigint AS reused_bytes,
		(4096 * g)::bigint AS exclusive_bytes, %1$s AS reads_per_second, 10 * %1$s AS reads_saved_per_second, 1::float8 AS reads_saved_standard_error
		FROM generate_series(1, %2$s) g},
	databases => q{SELECT 'd' || g AS datname, %s AS pages, %s AS bytes, 0.5::float8 AS share, 8192::bigint AS standard_error_bytes,
		0::bigint AS resident_bytes, 0::bigint AS reused_bytes FROM generate_series(1, %s) g});
my @rows = (
	cache_advice => [ '1 - 0.3 / (1 + f)', '1000 / f', '0.02::float8', 'NULL::text' ],
	history => [ '(150000000 + 1e7 * cos(m / 50.0))::bigint', '1000::bigint', '990::bigint', 'true', '0' ],
	relations => [25],
	queries => [ '100 / g::float8', 23, 'g::bigint' ],
	databases => [ 'g::bigint', '8192 * g::bigint', 3 ]);

# %change: a view's columns, or what its rows are made from; curve and words: how these functions begin;
# memory: reads with f times the memory, and the note (with what there is, as with 0.8 times, as suggested, as with 0.9)
sub pretend
{
	my (%change) = @_;
	my $sql = '';
	my (%columns) = @columns;
	for my $view (sort keys %usual)
	{
		my %row = (%{ $usual{$view} }, %{ $change{$view} // {} });
		$sql .= "CREATE OR REPLACE VIEW working_set_$view AS SELECT " . join(', ', map { "$row{$_} AS $_" } @{ $columns{$view} }) . ";\n";
	}
	my %rows = (@rows, map { $_ => $change{$_} } grep { exists $from{$_} } keys %change);
	for my $view (sort keys %from)
	{
		my $order = $view eq 'history' ? 'SELECT at, working_set_bytes, recommended_cache_bytes, mean_cache_bytes, plateau_end_bytes, live_bytes, lookups, hits, minutes FROM' : 'SELECT * FROM';
		$sql .= "CREATE OR REPLACE VIEW working_set_$view AS $order (" . sprintf($from{$view}, @{ $rows{$view} }) . ") v;\n";
	}
	my $curve = $change{curve} // 'SELECT s, (100 * sqrt(s))::bigint, (819200 * sqrt(s))::bigint, (99 * sqrt(s))::bigint, (101 * sqrt(s))::bigint FROM unnest($1) s';
	$sql .= "CREATE OR REPLACE FUNCTION working_set_curve(periods integer[] DEFAULT NULL, kind text DEFAULT 'client', OUT seconds integer, OUT pages bigint,
		OUT bytes bigint, OUT pages_low bigint, OUT pages_high bigint) RETURNS SETOF record LANGUAGE sql AS \$sql\$$curve\$sql\$;";
	my ($reads, $note) = @{ $change{memory} // [ '1000 / f', 'NULL' ] };
	$sql .= "CREATE OR REPLACE FUNCTION working_set_memory_advice(memory bigint DEFAULT NULL, shared_buffers bigint DEFAULT NULL,
		OUT size text, OUT setting text, OUT memory_bytes bigint, OUT shared_buffers_bytes bigint, OUT page_cache_bytes bigint,
		OUT predicted_hit_ratio float8, OUT predicted_os_hit_ratio float8, OUT predicted_disk_reads_per_second float8,
		OUT predicted_disk_bytes_per_second float8, OUT measured_disk_bytes_per_second float8, OUT predicted_read_seconds_per_second float8,
		OUT error float8, OUT present boolean, OUT note text) RETURNS SETOF record LANGUAGE sql AS \$sql\$
		SELECT NULL::text, NULL::text, bytes, bytes / 4, bytes / 2, 0.9::float8, 0.95::float8, $reads, 8192 * $reads,
		       CASE WHEN now THEN 3145728 END::float8, NULL::float8, 0.02::float8, now, $note\::text
		  FROM (SELECT round(25276502016 * f)::bigint AS bytes, f, false AS now
		          FROM unnest('{0.25,0.35,0.5,0.6,0.7,0.8,0.9,1,1.25,1.5,1.75,2,2.5,3,4}'::float8[]) f WHERE \$1 IS NULL
		        UNION ALL SELECT 25276502016, 0.8, true WHERE \$1 IS NULL
		        UNION ALL SELECT \$1, 0.9, false WHERE \$2 = 196083712) v\$sql\$;";
	my $words = $change{words} // q{'GROW shared_buffers 64 MB -> 187 MB  confidence LOW' || chr(10) || 'Do: this'};
	$sql .= "CREATE OR REPLACE FUNCTION working_set() RETURNS text LANGUAGE sql AS \$sql\$SELECT $words\$sql\$;";
	$node->safe_psql('other', $sql);
	return;
}

# From a place in a picture to a value, by what is written at the ticks between two heights.
sub scale_of
{
	my ($svg, $from, $to) = @_;
	my %unit = ('' => 1, k => 1e3, M => 1e6, '%' => 0.01, bytes => 1, kB => 1024, MB => 1024**2, GB => 1024**3, TB => 1024**4);
	my @ticks = map { [ $_->{at}{y} - 4.5, text($_) =~ /^([\d.]+) ?(\S*)$/ ? $1 * $unit{$2} : die text($_) ] }
	  grep { $_->{at}{x} eq '78' && $_->{at}{y} >= $from && $_->{at}{y} <= $to } by_class($svg, 'text', 'tick');
	my ($a, $b) = (sort { $a->[0] <=> $b->[0] } @ticks)[ 0, -1 ];
	return sub { $a->[1] + ($b->[1] - $a->[1]) * ($_[0] - $a->[0]) / ($b->[0] - $a->[0]) };
}

# Largest difference of two lists, as a share of the largest value; coordinates have one decimal.
sub far
{
	my ($shown, $true) = @_;
	my ($most) = sort { $b <=> $a } map { abs } @$true;
	my ($worst) = sort { $b <=> $a } map { abs($shown->[$_] - $true->[$_]) / $most } 0 .. $#$true;
	return @$shown == @$true ? $worst : 'other lengths: ' . @$shown . ' and ' . @$true;
}

pretend();
$tree = page_of('usual', $node, database => 'other');
is(pictures($tree), 'curve advice memory day month relation query database', 'all pictures are there');
says($tree, qr/GROW shared_buffers 64 MB -> 187 MB  confidence LOW.*Do: this.*because; and <so> on.*ALTER SYSTEM SET shared_buffers = '187MB';.*ALTER SYSTEM SET effective_cache_size = '23313MB'/s,
	'what to do, and why');
says($tree, qr/The twenty largest; 5 more have 120 kB together/, 'and who is left out', 'relation');
says($tree, qr/A page counts for each query that used it\. The twenty largest of 23\. Their texts are shown if/, 'of the queries, too', 'query');
is(join('|', @{ (rows_of($tree, 'query'))[0] }), "query 23|23|r&23, d <1>|184 kB \x{b1} 16 kB|1.0 %|92 kB|46 kB|4.3|43.5", 'a query has its figures');
is((rows_of($tree, 'query'))[16][0], 'all that are not kept apart', 'and so have all others together');
my $place = scale_of(by_id($tree, 'curve'), 0, 330);
for (['want', 175472640], ['end', 120481280], ['have', 67108864])
{
	my ($line) = by_class(by_id($tree, 'curve'), 'line', "rule $_->[0]");
	cmp_ok(far([ $place->($line->{at}{y1}) ], [ $_->[1] ]), '<', 0.01, "the line $_->[0] is where the scale says");
}
my @seconds = map { /^(\d+) s$/ } map { $_->[0] } rows_of($tree, 'curve');
my ($path) = map { $_->{at}{d} } by_class(by_id($tree, 'curve'), 'path', 'line set');
cmp_ok(far([ map { $place->($_) } $path =~ /[ML][\d.]+ ([\d.]+)/g ], [ map { 819200 * sqrt($_) } @seconds ]), '<', 0.01, 'and so is the curve');
cmp_ok(far([ map { exp(($_ - 84) / 544 * log($seconds[-1])) } $path =~ /[ML]([\d.]+) /g ], \@seconds), '<', 0.01, 'from left to right, too');
my $block = $node->safe_psql('postgres', 'SHOW block_size');
($path) = map { $_->{at}{d} } by_class(by_id($tree, 'curve'), 'path', 'band');
cmp_ok(far([ map { $place->($_) } $path =~ /[ML][\d.]+ ([\d.]+)/g ],
	[ map({ $block * 101 * sqrt($_) } @seconds), map({ $block * 99 * sqrt($_) } reverse @seconds) ]), '<', 0.01, 'and its bounds');
my @factors = (0.1, 0.125, 0.25, 0.35, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4, 8, 16);
my @dots = grep { $_->{at}{r} == 3 } by_class(by_id($tree, 'advice'), 'circle', 'set');
# the points of both panels are in no order
$place = scale_of(by_id($tree, 'advice'), 0, 210);
cmp_ok(far([ sort { $a <=> $b } map { $place->($_->{at}{cy}) } grep { $_->{at}{cy} < 210 } @dots ], [ map { 1 - 0.3 / (1 + $_) } @factors ]), '<', 0.01, 'predicted hit ratios, too');
$place = scale_of(by_id($tree, 'advice'), 210, 330);
cmp_ok(far([ sort { $b <=> $a } map { $place->($_->{at}{cy}) } grep { $_->{at}{cy} > 210 } @dots ], [ map { 1000 / $_ } @factors ]), '<', 0.01, 'and reads');
my $memory = by_id($tree, 'memory');
my @sizes = (0.25, 0.35, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4);
@dots = sort { $a->{at}{cx} <=> $b->{at}{cx} } grep { $_->{at}{r} == 3 } by_class($memory, 'circle', 'set');
$place = scale_of($memory, 0, 330);
cmp_ok(far([ map { $place->($_->{at}{cy}) } @dots ], [ map { 1000 / $_ } @sizes ]), '<', 0.01, 'reads from disk, too');
cmp_ok(far([ map { 0.25 * exp(($_->{at}{cx} - 84) / 544 * log(16)) } @dots ], \@sizes), '<', 0.01, 'against memory');
for (['have', 0.8], ['want', 0.9])
{
	my ($dot, @more) = grep { $_->{at}{r} != 3 } by_class($memory, 'circle', $_->[0]);
	is(scalar(@more), 0, "one dot $_->[0]");
	cmp_ok(far([ $place->($dot->{at}{cy}) ], [ 1000 / $_->[1] ]), '<', 0.01, 'is where its reads are');
	is($dot->{at}{cx}, '356.0', 'with the present memory');
}
is(join(' ', map { text($_) } by_class($memory, 'text', 'label have')), 'memory 24 GB', 'which has a name');
says($tree, qr/Now 9\.77 MB per second from disk are predicted, and 3\.00 were measured\./, 'what was measured is beside the prediction', 'memory');
my @figures = rows_of($tree, 'memory');
is(scalar(@figures), 17, 'each size of memory has a row');
is(join('; ', map { join(' ', @$_[ 0 .. 4 ]) } @figures[ 0 .. 2 ]), join('; ', '24 GB, now 6026 MB 1250.0 9.77 95.00 %', '24 GB, suggested 6026 MB 1111.1 8.68 95.00 %',
	'6026 MB 1507 MB 4000.0 31.25 95.00 %'), 'what there is and what is suggested come first');
for my $chart ('day', 'month')
{
	my ($line) = grep { /M[\d.]+ ([\d.]+)/ && $1 < 210 } map { $_->{at}{d} } by_class(by_id($tree, $chart), 'path', 'line set');
	my @values = map { scale_of(by_id($tree, $chart), 0, 210)->($_) } $line =~ /[ML][\d.]+ ([\d.]+)/g;
	my ($least, $most) = (sort { $a <=> $b } @values)[ 0, -1 ];
	cmp_ok(far([ $least, $most ], [ $chart eq 'day' ? 150e6 + 1e7 * cos(96 / 50) : 140e6, 160e6 ]), '<', 0.02, "the history of a $chart is where it should be");
}
my ($longest) = map { $_->{at}{d} } by_class(by_id($tree, 'curve'), 'path', 'line set');
like($longest, qr/^M84\.0 [\d.]+L.*L628\.0 [\d.]+h0$/, 'the curve fills its picture');
is(scalar(my @steps = $longest =~ /L/g), scalar(rows_of($tree, 'curve')) - 1, 'with all of its points');

my %nothing = map { $_ => 'NULL::' . ($usual{recommendation}{$_} =~ /(bigint|text|float8)$/ ? $1 : /_at$/ ? 'timestamptz' : 'integer') }
  grep { !/^(status|method|reason|shared_buffers_bytes)$/ } keys %{ $usual{recommendation} };
my @cases = (
	[ 'no advice', { cache_advice => [ 'NULL::float8', 'NULL::float8', 'NULL::float8', q{'too <few> & "so"'::text} ] },
		'advice', qr/not known\.too <few> & "so"/, 'curve memory day month relation query database' ],
	[ 'advice but for some sizes', { cache_advice => [ 'CASE WHEN f < 0.3 OR f BETWEEN 0.9 AND 1.1 THEN NULL ELSE 1 - 0.1 / f END', '1 / f', '0.5::float8', 'NULL::text' ] },
		'advice', qr/The figures/, 'curve advice memory day month relation query database' ],
	[ 'a perfect cache', { cache_advice => [ '1::float8', '0::float8', '0::float8', 'NULL::text' ], recommendation => { current_hit_ratio => '1::float8' } },
		'advice', qr/100 %/, 'curve advice memory day month relation query database' ],
	[ 'a useless cache', { cache_advice => [ '0::float8', '1e9 * f', '1::float8', 'NULL::text' ], recommendation => { current_hit_ratio => '0::float8' } },
		'advice', qr/\b0 %/, 'curve advice memory day month relation query database' ],
	[ 'no hit ratio', { cache_advice => [ '1 - 0.1 / f', 'NULL::float8', 'NULL::float8', q{'because'::text} ] },
		'advice', qr/because/, 'curve advice memory day month relation query database' ],
	[ 'no memory advice', { memory => [ 'NULL::float8', q{'too <few> & "so"'} ] },
		'memory', qr/^What more or less memory would do: This is not known\.too <few> & "so"$/, 'curve advice day month relation query database' ],
	[ 'memory advice with a doubt', { memory => [ 'CASE WHEN f < 0.5 THEN NULL ELSE 100 / f END', q{CASE WHEN f > 1 THEN 'a <doubt>' END} ] },
		'memory', qr/a <doubt>The figures.*not known/, 'curve advice memory day month relation query database' ],
	[ 'nothing is read from disk', { memory => [ '0::float8', 'NULL' ] }, 'memory', qr/24 GB, now6026 MB0\.00\.00/, 'curve advice memory day month relation query database' ],
	[ 'no history', { history => [ 'NULL::bigint', '0::bigint', '0::bigint', 'false', '0' ] }, 'day', qr/There is no history yet/, 'curve advice memory relation query database' ],
	[ 'an hour of history', { history => [ 'm::bigint', '10::bigint', '5::bigint', 'm < 4', '0' ] }, 'month', qr/Nothing is known that is older/, 'curve advice memory day relation query database' ],
	[ 'one row of history', { history => [ '8192::bigint', '10::bigint', '5::bigint', 'm = 1', '0' ] }, 'day', qr/50\.00 %/, 'curve advice memory day relation query database' ],
	[ 'an old history', { history => [ '8192::bigint', '10::bigint', '5::bigint', 'm > 2000', '0' ] }, 'day', qr/Nothing was recorded in the last day/, 'curve advice memory month relation query database' ],
	[ 'history with holes', { history => [ 'NULLIF(m, 7)::bigint', '(m % 10)::bigint', '(m % 10)::bigint', 'm % 7 < 2', '0' ] }, 'month', qr/100\.00 %/, 'curve advice memory day month relation query database' ],
	[ 'history from the future', { history => [ '8192::bigint', '10::bigint', '5::bigint', 'm < 103', '1 day' ] },
		'day', qr/50\.00 %/, 'curve advice memory day relation query database' ],
	[ 'nothing but the future', { history => [ '8192::bigint', '10::bigint', '5::bigint', 'm < 3', '10 days' ] },
		'day', qr/Nothing was recorded/, 'curve advice memory relation query database' ],
	[ 'no relations', { relations => [0] }, 'relation', qr/No sampled page was used in the last five minutes/, 'curve advice memory day month query database' ],
	[ 'no queries', { queries => [ '1::float8', 0, 'g::bigint' ] }, 'query', qr/No sampled page was used in the last five minutes/, 'curve advice memory day month relation database' ],
	[ 'no identifiers', { queries => [ '1::float8', 2, 'NULL::bigint' ] }, 'query', qr/There are no identifiers: set compute_query_id to on.*without an identifier/,
		'curve advice memory day month relation query database' ],
	[ 'no reads of queries', { queries => [ 'NULL::float8', 1, 'g::bigint' ] }, 'query', qr/query 11r&1, d <1>8192 bytes/, 'curve advice memory day month relation query database' ],
	[ 'a database of no size', { databases => [ '0::bigint', '0::bigint', 1 ] }, 'database', qr/d1.*0 bytes/, 'curve advice memory day month relation query database' ],
	[ 'a curve of one row', { curve => q{SELECT 60, 1000::bigint, 8192000::bigint, 990::bigint, 1010::bigint} }, 'curve', qr/60 s1000/, 'curve advice memory day month relation query database' ],
	[ 'a curve of nothing', { curve => q{SELECT s, 0::bigint, 0::bigint, 0::bigint, 0::bigint FROM unnest($1) s},
			recommendation => { map { $_ => '0::bigint' } qw(working_set_bytes low_bytes high_bytes plateau_end_bytes recommended_cache_bytes peak_cache_bytes) } },
		'curve', qr/0 bytes/, 'curve advice memory day month relation query database' ],
	[ 'no curve', { curve => q{SELECT 1, 1::bigint, 1::bigint, 1::bigint, 1::bigint WHERE false} }, 'curve', qr/The curve is not known/, 'advice memory day month relation query database' ],
	[ 'a sketch that is full', { curve => q{SELECT s, 1000000000000 + s, 8192000000000000 + s, 900000000000, NULL::bigint FROM unnest($1) s},
			recommendation => { high_bytes => 'NULL::bigint', working_set_bytes => '8192000000000000::bigint' } }, 'curve', qr/to more/, 'curve advice memory day month relation query database' ],
	[ 'shared_buffers far above', { recommendation => { shared_buffers_bytes => '1099511627776::bigint', verdict => "'shrink'::text" } },
		'curve', qr/shared_buffers 1024 GB, above/, 'curve advice memory day month relation query database' ],
	[ 'memory is not known', { recommendation => { map { $_ => $nothing{$_} } qw(memory_limit_bytes suggested_shared_buffers suggested_effective_cache_size) } },
		undef, qr/^(?!.*Memory)/s, 'curve advice memory day month relation query database' ],
	[ 'it exceeds memory', { recommendation => { verdict => "'exceeds memory'::text" }, words => "'EXCEEDS MEMORY: and so on'" }, undef, qr/EXCEEDS MEMORY: and so on/, 'curve advice memory day month relation query database' ],
	[ 'no recommendation', { recommendation => { %nothing, status => "'collecting'::text" }, words => "'COLLECTING: wait'" }, undef, qr/COLLECTING: wait/, 'curve advice memory day month relation query database' ],
	[ 'a stale one', { recommendation => { %nothing, status => "'stale'::text" }, info => { worker_pid => 'NULL::integer' }, words => "'STALE: because'" }, undef, qr/STALE: because/, 'curve advice memory day month relation query database' ],
	[ 'nothing at all', {
			recommendation => { %nothing, status => "'not tracking'::text", reason => "'because'::text" },
			info => { tracking => 'false', map({ $_ => 'NULL::bigint' } qw(lookups hits evictions)), since => 'NULL::timestamptz', last_saved => 'NULL::timestamptz' },
			history => [ '0::bigint', '0::bigint', '0::bigint', 'false', '0' ], relations => [0], queries => [ '1::float8', 0, 'g::bigint' ], databases => [ '0::bigint', '0::bigint', 0 ],
			memory => [ 'NULL::float8', q{'because'} ],
			cache_advice => [ 'NULL::float8', 'NULL::float8', 'NULL::float8', 'NULL::text' ], curve => 'SELECT 1, 1::bigint, 1::bigint, 1::bigint, 1::bigint WHERE false' },
		undef, qr/because/s, '' ],
	[ 'words that are hostile', { words => q{concat('<b>', chr(1), chr(10), '<i>&amp;')} }, undef, qr/<b>\?.*<i>&amp;/s, 'curve advice memory day month relation query database' ],
	[ 'text that is hostile', { recommendation => { reason => q{concat('<script>alert(1)</script>; &amp; " '' ]]>', chr(1), chr(65534), chr(233))::text}, status => q{'<i>'::text},
			method => q{'<b>'::text}, verdict => q{'<u>'::text} }, info => { version => q{'<s>'::text}, reason => q{'&&&'::text} } },
		undef, qr/<script>alert\(1\)<\/script>/, 'curve advice memory day month relation query database' ]);
for (@cases)
{
	my ($case, $change, $section, $pattern, $pictures) = @$_;
	pretend(%$change);
	my $tree = page_of($case, $node, database => 'other', before => 'SET timezone = \'America/St_Johns\';');
	says($tree, $pattern, "$case: said", $section);
	is(pictures($tree), $pictures, "$case: and the pictures that there can be");
}
$node->stop;

done_testing();

# Names that are no text in the encoding of the database that shows them, or change how others look:
# of databases, roles and tables, in every view, text and script.

use lib 'test/t';
use server;
use members;
use queries;
use scrape;

my $node = new_queried();
my $dir = PostgreSQL::Test::Utils::tempdir();

# Run psql with bytes as they are, in a client of this encoding; returns whether it went well, and all
# that it said.
sub client
{
	my ($encoding, $database, @arguments) = @_;
	local $ENV{PGCLIENTENCODING} = $encoding;
	local @ENV{qw(PGHOST PGPORT)} = ($node->host, $node->port);
	my $out = '';
	my $ok = IPC::Run::run([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $database, @arguments ], '<', \undef, '>&', \$out);
	return ($ok, $out);
}

sub bytes_of
{
	my ($database, @arguments) = @_;
	my ($ok, $out) = client('SQL_ASCII', $database, @arguments);
	die $out if !$ok;
	chomp $out;
	return $out;
}

# ---- two of each whose names are equal once they are text; marks that change how a line looks

my @databases = ("caf\xe9", "caf\xe8");
# (19 refuses a line feed)
my @roles = ("andr\xe9", "andr\xe8", $node->pg_version->major >= 19 ? "line\x0bfeed" : "line\nfeed", "flip\xe2\x80\xaeped");
my $superuser = sql($node, 'SELECT current_user');
sql($node, q{CREATE DATABASE octets TEMPLATE template0 ENCODING SQL_ASCII LOCALE 'C'});
$node->safe_psql('octets', 'CREATE EXTENSION working_set');
bytes_of('octets', '-c', qq{CREATE DATABASE "$_" TEMPLATE octets}) for @databases;
bytes_of('octets', '-c', qq{CREATE ROLE "$_" LOGIN; GRANT pg_read_all_data TO "$_"}) for @roles;
my %oid = map { my $name = $_; $name => bytes_of('octets', '-c',
	qq{SELECT oid FROM pg_database WHERE datname = '$name' UNION ALL SELECT oid FROM pg_roles WHERE rolname = '$name'}) } @databases, @roles;
for my $database (@databases)
{
	bytes_of($database, '-c', qq{CREATE TABLE "big\xe9" AS SELECT g, repeat('y', 500) AS y FROM generate_series(1, 15000) g});
}

# what is shown in a database of UTF8, and in one without an encoding
my %shown = (
	postgres => [ map({ "caf? ($oid{$_})" } @databases), map({ "andr? ($oid{$_})" } @roles[ 0, 1 ]), "line?feed ($oid{$roles[2]})", "flip?ped ($oid{$roles[3]})" ],
	octets => [ map({ "caf? ($oid{$_})" } @databases), map({ "andr? ($oid{$_})" } @roles[ 0, 1 ]), "line?feed ($oid{$roles[2]})", "flip???ped ($oid{$roles[3]})" ]);
for my $database (sort keys %shown)
{
	my $names = join ',', map { qq{'$_'} } sort @{ $shown{$database} };
	ok(eventually(sub {
		for my $used (@databases)
		{
			bytes_of($used, '-c', qq{SET ROLE "$_"}, '-c', qq{SELECT count(y) FROM "big\xe9"}) for @roles;
		}
		return bytes_of($database, '-c', qq{
			SELECT count(DISTINCT name) FROM (
				SELECT datname FROM working_set_relations UNION
				SELECT datname FROM working_set_queries UNION SELECT rolname FROM working_set_queries) n (name)
			 WHERE name IN ($names)}) eq scalar @{ $shown{$database} };
	}), "names in the database $database: $names")
	  or diag(bytes_of($database, '-c', 'SELECT datname, rolname FROM working_set_queries GROUP BY 1, 2'));
	is(bytes_of($database, '-c', qq{
		SELECT count(*) FROM (
			SELECT datname FROM working_set_relations UNION ALL SELECT relation FROM working_set_relations UNION ALL
			SELECT datname FROM working_set_queries UNION ALL SELECT rolname FROM working_set_queries('5 min', 'role')) n (name)
		 WHERE name ~ '[^ -~]'}), '0', 'and all of them are text');
}

# ---- every view and text, for clients of any encoding

my @statements = map { "SELECT * FROM $_" } views($node), q{working_set_queries('5 min', 'role')};
push @statements, map { "SELECT $_()" } qw(working_set working_set_chart working_set_memory_chart);
my $first = 'a';
for my $database ('postgres', 'octets', $databases[0])
{
	for my $encoding (qw(UTF8 SQL_ASCII LATIN1))
	{
		my $name = ($database =~ /\A\w+\z/a ? $database : 'caf?') . " and a client of $encoding";
		my ($ok, $out) = client($encoding, $database, map { ('-c', $_) } @statements);
		ok($ok, "$name: all views") or diag($out);

		($ok, $out) = client($encoding, $database, '-f', monitoring('metrics.sql'));
		ok($ok, "$name: metrics.sql") or diag($out);
		ok($out =~ /\|public\."big\?" \(\d+\)\|r\|/, 'with the name of its table') or diag($out) if $database eq $databases[0];

		# grants.sql: a role that is made, with a warning about one that is not text; and refusals
		($ok, $out) = client($encoding, $database, '-v', "role=scrape_$first", '-f', monitoring('grants.sql'));
		ok($ok, "$name: grants.sql") or diag($out);
		is(sql($node, qq{SELECT count(*) FROM pg_roles WHERE rolname = 'scrape_$first'}), '1', 'makes its role');
		bytes_of('octets', '-c', qq{GRANT scrape_$first TO "$roles[0]"});
		($ok, $out) = client($encoding, $database, '-v', "role=scrape_$first", '-f', monitoring('grants.sql'));
		ok($ok && $out =~ /WARNING:  role "andr\\351" is a member of "scrape_$first"/, 'and warns of one') or diag($out);
		bytes_of('octets', '-c', qq{ALTER ROLE "$roles[1]" CREATEDB; CREATE ROLE sub_$first; GRANT "$roles[1]" TO sub_$first});
		($ok, $out) = client($encoding, $database, '-v', "role=sub_$first", '-f', monitoring('grants.sql'));
		ok(!$ok && $out =~ /is a member of "?andr\\350"?, which may create databases/, 'and refuses one') or diag($out);
		$first++;

		my $page = "$dir/page.html";
		unlink $page;
		($ok, $out) = client($encoding, $database, '-v', "file=$page", '-f', monitoring('report.sql'));
		ok($ok && -s $page, "$name: report.sql") or diag($out);
		my $html = slurp_file($page);
		ok($html !~ /[^\n\t -~]/, 'is ASCII');
		ok($html =~ /caf\? \($oid{$databases[0]}\)/ && $html =~ /caf\? \($oid{$databases[1]}\)/, 'with the names');

		append_to_file("$dir/machines.csv", "large,7.6GB,130,0.20,3000\n") if !-e "$dir/machines.csv";
		($ok, $out) = client($encoding, $database, '-v', "file=$dir/machines.csv", '-f', monitoring('which_instance.sql'));
		ok($ok && $out =~ /^large\|/m, "$name: which_instance.sql") or diag($out);
	}
}
my ($made, $why) = client('UTF8', 'template1', '-f', monitoring('grants.sql'));
like($why, qr/not in database "template1"/, 'grants.sql where the extension is missing');

# ---- a database whose name is text, and turns the line around

sql($node, qq{CREATE DATABASE "turn\xe2\x80\xaeround"});
bytes_of("turn\xe2\x80\xaeround", '-c', 'CREATE EXTENSION working_set');
bytes_of("turn\xe2\x80\xaeround", '-v', "file=$dir/turned.html", '-f', monitoring('report.sql'));
my $html = slurp_file("$dir/turned.html");
ok($html =~ /turn\?round/ && $html !~ /&#8238;/, 'report.sql turns no line around');

# ---- a byte that is text in a database, but not in Unicode: clients get the other rows, too

my $capital = "\xc3\x81";
sql($node, q{CREATE DATABASE windows TEMPLATE template0 ENCODING WIN1252 LOCALE 'C'});
bytes_of('windows', '-c', 'CREATE EXTENSION working_set');
sql($node, qq{CREATE ROLE "$capital"; GRANT pg_read_all_data TO "$capital"});
my $shown = "\xc3? (" . sql($node, qq{SELECT oid FROM pg_roles WHERE rolname = '$capital'}) . ')';
ok(eventually(sub {
	bytes_of($databases[0], '-c', qq{SET ROLE "$capital"}, '-c', qq{SELECT count(y) FROM "big\xe9"});
	return bytes_of('windows', '-c', qq{SELECT count(*) > 0 FROM working_set_queries WHERE rolname = '$shown'}) eq 't';
}), 'a role whose name has one') or diag(bytes_of('windows', '-c', 'SELECT DISTINCT rolname FROM working_set_queries'));
my ($fine, $said) = client('UTF8', 'windows', map { ('-c', $_) } @statements);
ok($fine, 'all views') or diag($said);

# ---- long names of two bytes a character: the card cuts none of them in half

sql($node, q{CREATE DATABASE kanji TEMPLATE template0 ENCODING EUC_JP LOCALE 'C'});
bytes_of('kanji', '-c', 'CREATE EXTENSION working_set');
for my $odd ('', 'x')
{
	my @tables = map { $odd . "\xb4\xc1" x 20 . $_ } 1, 2;
	bytes_of('kanji', '-c', qq{CREATE TABLE "$_" AS SELECT g, repeat('y', 500) AS y FROM generate_series(1, 60000) g}) for @tables;
	ok(eventually(sub {
		bytes_of('kanji', '-c', qq{SELECT count(y) FROM "$_"}) for @tables;
		return bytes_of('kanji', '-c', 'SELECT working_set()') =~ /^Top: "?$odd(\xb4\xc1)+.*\xc1\.\.\.$/m;
	}), 'the card names them, and is cut');
	my ($ok, $out) = client('UTF8', 'kanji', '-c', 'SELECT working_set()');
	ok($ok, 'a client of UTF8 reads it') or diag($out);
	bytes_of('kanji', '-c', qq{DROP TABLE "$_"}) for @tables;
}

finish($node);

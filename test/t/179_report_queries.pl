# monitoring/report.sql: queries have their text where pg_stat_statements can show it, which does not
# break the page, and else their identifiers.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use patience;
use clock;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use report_page;

# Some packages of the server have no contrib.
chomp(my $libraries = `@{[ $ENV{PG_CONFIG} || 'pg_config' ]} --pkglibdir`);
my $has_texts = -e "$libraries/pg_stat_statements.so";
my $preload = $has_texts ? 'pg_stat_statements, working_set' : 'working_set';
my $clock = clock->new;
my $node = new_report_node("shared_preload_libraries = '$preload'\n", sub { $clock->lend(@_) });
$node->safe_psql('postgres', q{
	CREATE DATABASE octets TEMPLATE template0 ENCODING SQL_ASCII;
	CREATE TABLE "<script>&""'];--" AS SELECT g, repeat('x', 1000) AS filler FROM generate_series(1, 20000) g;
});
$node->safe_psql('octets', 'CREATE EXTENSION working_set');

# Run a statement until a condition holds: the sample is read once a second, and does not
# hear of a page again that was used a moment ago.
sub read_until
{
	my ($read, $condition) = @_;
	eventually(sub {
		$node->safe_psql('postgres', $read);
		$clock->pass(1);
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
	$node->safe_psql('postgres', q{CREATE SCHEMA "s<&>"; CREATE EXTENSION pg_stat_statements SCHEMA "s<&>"});
	read_until($statement, "EXISTS (SELECT FROM $ws.working_set_queries JOIN \"s<&>\".pg_stat_statements USING (queryid) WHERE query LIKE '%<script>alert%' AND bytes > 1e7)");
	@named = named_queries('pg_stat_statements that may not be used');
	is(join(' ', grep { !/^query -?\d+$|^all that|^without/ } @named), '', 'where its schema may not be used, too');
	$node->safe_psql('postgres', q{GRANT USAGE ON SCHEMA "s<&>" TO public});
	@named = named_queries('pg_stat_statements in another schema');
	my ($text) = grep { /<script>alert/ } @named;
	# (PostgreSQL puts parameters in the place of constants)
	like($text // join("\n", @named), qr{^SELECT count\(\*\), \$1 /\* </th><script>alert\("1"\)</script> &amp; \]\]> -- \*/ FROM "<s$},
		'with it, they have their text, in one line of 80 characters');
	read_until('SELECT count(*) FROM "<script>&""\'];--" WHERE ' . join(' OR ', map { "g = $_" } 1 .. 100),
		"EXISTS (SELECT FROM $ws.working_set_queries JOIN \"s<&>\".pg_stat_statements USING (queryid) WHERE query LIKE '%g = \$100' AND bytes > 1e7)");
	my @long = grep { /g = \$2\b/ } named_queries('a long text');
	is(length($long[0] // ''), 80, 'cut short');
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

# ---- pg_stat_statements is not loaded

SKIP:
{
	skip 'there is no pg_stat_statements', 1 unless $has_texts;
	$node->append_conf('postgresql.conf', "shared_preload_libraries = 'working_set'");
	$clock->lend(sub { $node->restart });
	read_until($statement, $largest);
	isnt($node->psql('postgres', 'SELECT count(*) FROM "s<&>".pg_stat_statements'), 0, 'pg_stat_statements is not loaded');
	@named = named_queries('pg_stat_statements that is not loaded');
	ok((grep { /^query -?\d+$/ } @named), 'then there are identifiers');
	is(join(' ', grep { !/^query -?\d+$|^all that|^without/ } @named), '', 'and nothing else');
}

$node->stop;
done_testing();

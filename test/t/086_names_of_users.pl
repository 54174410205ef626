# Names of applications, as strange as they may be, and too many of them; a database and a role that
# are dropped.

use lib 'test/t';
use server;
use queries;

my $node = new_queried();

# ---- a database and a role that are dropped

sql($node, 'CREATE DATABASE other');
$node->safe_psql('other', q{SET ROLE owner; CREATE TABLE big AS SELECT g, repeat('y', 500) AS y FROM generate_series(1, 20000) g});
$node->safe_psql('other', q{SET ROLE owner; SELECT count(y) FROM big});
ok($node->poll_query_until('postgres', q{SELECT bool_or(bytes > 500 * current_setting('block_size')::int) FROM working_set_queries WHERE datname = 'other' AND rolname = 'owner'}),
	'the database that the query ran in, and its role');
is(sql($node, q{SELECT count(*) FROM working_set_queries WHERE datname = 'other' AND bytes > 500 * current_setting('block_size')::int AND queryid IS NULL}), '0', 'with its identifier');
# (the server waits five seconds for a session that is about to end)
eventually(sub { ($node->psql('postgres', 'DROP DATABASE IF EXISTS other WITH (FORCE)'))[0] == 0 }) or die 'it is not dropped';
sql($node, 'DROP ROLE owner');
ok(sql($node, q{SELECT count(*) FROM working_set_queries WHERE datname IS NULL AND rolname IS NULL AND queryid IS NOT NULL AND bytes > 500 * current_setting('block_size')::int}) > 0,
	'they have no names when they are gone');
is(sql($node, q{SELECT count(*) FROM working_set_queries WHERE datname = 'other' OR rolname = 'owner'}), '0', 'none at all');

# ---- applications: a flood at last, which thins the sample for longer than this test runs

for my $name ('', "\x{c3}\x{a4}; DROP TABLE pages; --", 'x' x 200, "tab\there", '%s%n')
{
	my $quoted = $name =~ s/'/''/gr;
	sql($node, "SET application_name = '$quoted'; SELECT count(filler) FROM pages");
}
ok($node->poll_query_until('postgres', q{
	SELECT count(*) FILTER (WHERE application_name = '') = 1 AND count(*) FILTER (WHERE application_name ~ 'DROP TABLE pages; --$') = 1 AND
	       count(*) FILTER (WHERE application_name = repeat('x', 63)) = 1 AND count(*) FILTER (WHERE application_name = '%s%n') = 1
	  FROM working_set_queries('5 min', 'application')}), 'names of applications')
  or diag(sql($node, q{SELECT * FROM working_set_queries('5 min', 'application')}));
is(sql($node, q{SELECT count(*) FROM working_set_queries('5 min', 'application') WHERE application_name ~ '[^ -~]'}), '0', 'which are text');

# As many as jobs that are called after their number, in one session; again if the worker was late
ok(eventually(sub {
		sql($node, join('', map { "SET application_name = 'job $_'; SELECT count(filler) FROM pages WHERE id > $_;" } 1 .. 200));
		return sql($node, q{
			SELECT count(*) BETWEEN 14 AND 18 AND bool_or(rolname = 'other' AND application_name = 'other' AND bytes > 1000 * current_setting('block_size')::int)
			  FROM working_set_queries('5 min', 'application')}) eq 't';
	}), 'too many applications are one')
  or diag(sql($node, q{SELECT * FROM working_set_queries('5 min', 'application')}));
uses($node, 'SELECT count(filler) FROM pages WHERE id > 5', 'and their query is still one');
sql($node, 'CREATE ROLE modest; GRANT SELECT ON pages TO modest');
ok(eventually(sub {
		sql($node, q{SET ROLE modest; SET application_name = 'the only one'; SELECT count(filler) FROM pages});
		return sql($node, q{
			SELECT bool_or(bytes > 1000 * current_setting('block_size')::int) FROM working_set_queries('5 min', 'application') WHERE application_name = 'the only one'}) eq 't';
	}), 'another role has its name')
  or diag(sql($node, q{SELECT * FROM working_set_queries('5 min', 'application')}));

finish($node);

# VACUUM is kept apart from what clients use, and its session is a client again afterwards.

use lib 'test/t';
use server;

my $node = new_server('main');
make_table($node, 'pages', 2000);

# a client that vacuums is maintenance, and client again afterwards
is($node->safe_psql('postgres', q{
	SELECT working_set_reset() \g /dev/null
	VACUUM (FREEZE, DISABLE_PAGE_SKIPPING) pages;
	SELECT c.pages < 300, m.pages BETWEEN 2000 - 46 AND 2000 + 46 + 150
	  FROM working_set_curve('{3600}') c, working_set_curve('{3600}', 'maintenance') m}),
	't|t', 'VACUUM is kept apart');
is($node->safe_psql('postgres', q{
	VACUUM (FREEZE, DISABLE_PAGE_SKIPPING) pages;
	SELECT working_set_reset() \g /dev/null
	SELECT count(filler) FROM pages \g /dev/null
	SELECT c.pages BETWEEN 2000 - 46 AND 2000 + 46 + 150, m.pages < 100, a.pages >= c.pages
	  FROM working_set_curve('{3600}') c, working_set_curve('{3600}', 'maintenance') m,
	       working_set_curve('{3600}', 'all') a}),
	't|t|t', 'and its session counts as a client again');

# another database sees the same
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', 'CREATE EXTENSION working_set');
cmp_ok($node->safe_psql('other', 'SELECT approximate_working_set_size()'),
	'>=', 2000 - error_of(2000), 'another database sees the whole server');

finish($node);

# A server with a table of 1,500 pages, whose queries have identifiers; who uses these pages.
#
#   my $node = new_queried();
#   sql($node, 'SELECT count(filler) FROM pages');
#   uses($node, 'SELECT count(filler) FROM pages', 'a query');

package queries;

use server;
use Exporter 'import';
use pages;

our @EXPORT = qw(new_queried uses uses_by_role);

# No query has parallel workers by itself.  There is a role of the name owner.
sub new_queried
{
	my ($settings) = @_;
	my $node = new_server('main', q{
compute_query_id = on
max_parallel_workers_per_gather = 0
} . ($settings // ''));
	make_table($node, 'pages', 1500);
	sql($node, 'CREATE INDEX ON pages (id); CREATE ROLE owner SUPERUSER LOGIN');
	make_id_of($node);
	return $node;
}

# A row by its query, with about so many pages: four standard errors, and some of the catalog.
sub uses
{
	my ($node, $query, $name, $where) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	$where //= 'true';
	my $found = $node->poll_query_until('postgres', qq{
		SELECT count(*) = 1 FROM working_set_queries('1 hour')
		 WHERE queryid = id_of(\$id\$$query\$id\$) AND $where
		   AND abs(bytes / current_setting('block_size')::int - 1500) <= 150 + 4 * standard_error_bytes / current_setting('block_size')::int});
	# what comes next uses the same pages, and uses of the same second are not looked at
	$node->poll_query_until('postgres', q{SELECT pages < 500 FROM working_set_curve('{1}')}) or die 'the second does not end';
	return ok($found, $name) || diag(sql($node, q{SELECT * FROM working_set_queries('1 hour')}));
}

# All the pages are of this role, and of no other.
sub uses_by_role
{
	my ($node, $role, $name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return ok($node->poll_query_until('postgres', qq{
		SELECT bool_or(rolname = $role AND bytes > 1000 * current_setting('block_size')::int) AND NOT bool_or(rolname <> $role AND bytes > 1000 * current_setting('block_size')::int)
		  FROM working_set_queries('5 min', 'role')}), $name)
	  || diag(sql($node, q{SELECT * FROM working_set_queries('5 min', 'role')}));
}

1;

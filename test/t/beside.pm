# What is no query of a client, or no plan, beside queries whose identifiers pg_stat_statements has.
#
#   skip_without('test_decoding');
#   my $node = new_stated();

package beside;

use server;
use Exporter 'import';
use library;

our @EXPORT = qw(skip_without new_stated has_pages of_statement nothing_else reads_none);

# Skip all if there is no such library.
sub skip_without
{
	my @libraries = @_;
	my $directory = pg_config('pkglibdir');
	for my $library (@libraries)
	{
		plan skip_all => "there is no $library" unless -e "$directory/$library.so";
	}
	return;
}

# A server with pg_stat_statements, a table of 1,500 pages, and functions that make and fill others.
sub new_stated
{
	my ($settings) = @_;
	skip_without('pg_stat_statements');
	my $node = new_server('main', q{
shared_preload_libraries = 'pg_stat_statements, working_set'
shared_buffers = 16384
max_parallel_workers_per_gather = 0
wal_keep_size = '1GB'
} . ($settings // ''), allows_streaming => 'logical');
	sql($node, q{
		CREATE EXTENSION pg_stat_statements;
		CREATE FUNCTION make(name text) RETURNS void LANGUAGE plpgsql AS $$
		BEGIN
			EXECUTE format('CREATE TABLE %I (id int, filler text) WITH (autovacuum_enabled = off)', name);
			EXECUTE format('ALTER TABLE %I ALTER filler SET STORAGE PLAIN', name);
		END $$;
		CREATE FUNCTION fill(name text) RETURNS void LANGUAGE plpgsql AS $$
		BEGIN
			EXECUTE format('INSERT INTO %I SELECT g, repeat(''x'', current_setting(''block_size'')::int - 1192) FROM generate_series(1, 1500) g', name);
		END $$;
		SELECT make('pages');
		SELECT fill('pages')});
	return $node;
}

# The pages of these rows are about so many, 1,500 by default: four standard errors, and some of
# the catalog, up to 150 by default.
sub has_pages
{
	my ($node, $where, $name, %how) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($pages, $catalog) = ($how{pages} // 1500, $how{catalog} // 150);
	my $rows = $how{rows} // q{working_set_queries('1 hour', 'query')};
	return ok($node->poll_query_until('postgres', qq{
		SELECT count(*) = 1 AND bool_and(abs(bytes / current_setting('block_size')::int - $pages) <= $catalog + 4 * standard_error_bytes / current_setting('block_size')::int)
		  FROM $rows WHERE $where}), $name) || diag(sql($node, "SELECT * FROM $rows"));
}

# The identifier by pg_stat_statements, which has those of COPY, too.
sub of_statement
{
	my ($like) = @_;
	return sprintf q{queryid = (SELECT queryid FROM pg_stat_statements WHERE query LIKE '%s' AND toplevel)}, $like =~ s/'/''/gr;
}

# The rows of other identifiers have none of the pages of what runs beside: those of the
# catalog that a query of this test uses are fewer.
sub nothing_else
{
	my ($node, $name, $but) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return is(sql($node, "SELECT count(*) FROM working_set_queries WHERE queryid IS NOT NULL AND bytes > 400 * current_setting('block_size')::int AND NOT ($but)"), '0', $name)
	  || diag(sql($node, 'SELECT * FROM working_set_queries'));
}

# Right after a reset a few of the catalog are many in a second, which 1,500 are for long.
sub reads_none
{
	my ($node, $where, $name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return ok($node->poll_query_until('postgres',
		"SELECT reads_per_second * extract(epoch FROM clock_timestamp() - since) < 150 FROM working_set_queries, working_set_info WHERE $where"), $name)
	  || diag(sql($node, 'SELECT * FROM working_set_queries'));
}

1;

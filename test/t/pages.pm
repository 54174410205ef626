# A server that samples, a table of 24 MB, look-ups in it by key, all keys alike; identifiers of queries.

package pages;

use strict;
use warnings;
use patience;
use Exporter 'import';
use server qw(wait_for_worker);

our @EXPORT = qw(make_pages look_up_pages make_id_of wait_for_worker);

sub make_pages
{
	my ($node, $rows) = @_;
	$rows //= 21000;
	$node->safe_psql('postgres', qq{
		CREATE TABLE pages AS SELECT g AS id, repeat('x', 1000) AS filler FROM generate_series(1, $rows) g;
		ALTER TABLE pages ADD PRIMARY KEY (id);
		VACUUM (FREEZE, ANALYZE) pages;
		CHECKPOINT;
	});
	return;
}

# By a clock of the test (clock.pm), which stands still meanwhile, more of them would be a flood,
# of which the worker samples less.
sub look_up_pages
{
	my ($node, $number, $rows) = @_;
	$number //= 2000;
	$rows //= 21000;
	$node->safe_psql('postgres', qq{
		SET enable_seqscan = off;
		SET enable_bitmapscan = off;
		SET enable_hashjoin = off;
		SET enable_mergejoin = off;
		SELECT sum(length(filler))
		  FROM (SELECT 1 + floor($rows * random())::int AS key FROM generate_series(1, $number) OFFSET 0) AS wanted,
		       LATERAL (SELECT filler FROM pages WHERE id = key) AS p});
	return;
}

# A function that returns the identifier of a query, as EXPLAIN shows it.
sub make_id_of
{
	my ($node) = @_;
	$node->safe_psql('postgres', q{
		CREATE FUNCTION id_of(query text) RETURNS bigint LANGUAGE plpgsql AS $$
		DECLARE
			plan json;
		BEGIN
			EXECUTE 'EXPLAIN (VERBOSE, FORMAT JSON) ' || query INTO plan;
			RETURN plan -> 0 ->> 'Query Identifier';
		END $$});
	return;
}

1;

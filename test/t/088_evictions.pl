# Evictions are counted, and are no accesses.

use lib 'test/t';
use server;

my $node = new_server('main');
make_table($node, 'pages', 5000);

# Evictions are no accesses.  Two tables of 5000 pages do not fit in 8192 buffers, so
# reading one in full (by its index, for a scan of such a table would not fill the
# buffers) drives out at least 1808 pages of the other one.
$node->safe_psql('postgres', q{
	CREATE TABLE others (LIKE pages INCLUDING STORAGE);
	INSERT INTO others SELECT * FROM pages;
	CREATE INDEX ON pages (id);
	CREATE INDEX ON others (id);
	VACUUM (FREEZE, ANALYZE) others;
});
my $by_index = 'SET enable_seqscan = off; SET enable_bitmapscan = off;';
$node->safe_psql('postgres',
	"$by_index SELECT sum(length(filler)) FROM pages WHERE id BETWEEN 1 AND 5000");
my ($evicted, $size) = split /\|/, $node->safe_psql('postgres', $by_index . q{
	SELECT working_set_reset() \g /dev/null
	SELECT sum(length(filler)) FROM others WHERE id BETWEEN 1 AND 5000 \g /dev/null
	SELECT evictions, approximate_working_set_size() FROM working_set_info;
});
cmp_ok($evicted, '>=', 1808 - 200, 'reading one table evicts pages of the other');
cmp_ok($size, '>=', 5000 - error_of(5000), 'the pages read are counted');
cmp_ok($size, '<=', 5000 + error_of(5000) + 150, 'those evicted are not');

finish($node);

# COPY, which has no plan, has the pages that it makes and reads.

use lib 'test/t';
use server;
use beside;

my $tmp = PostgreSQL::Test::Utils::tempdir;
my $node = new_stated();

sql($node, "COPY pages TO '$tmp/pages'");
sql($node, 'SELECT working_set_reset()');
sql($node, "SELECT make('copied'); COPY copied FROM '$tmp/pages'");
my $from = of_statement('COPY copied FROM%');
has_pages($node, $from, 'COPY FROM has the pages that it makes');
reads_none($node, $from, 'and has not read those of a new table');
sql($node, "COPY copied FROM '$tmp/pages'");
has_pages($node, $from, 'those by which it extends the table, too', pages => 3000);
reads_none($node, $from, 'and has not read them either');
sql($node, q{COPY pages TO '/dev/null'});
my $to = of_statement(q{COPY pages TO '/dev/null'});
has_pages($node, $to, 'COPY TO has the pages that it reads');
sql($node, q{COPY (SELECT max(filler) FROM copied) TO '/dev/null'});
my $of_query = of_statement('COPY (SELECT%');
has_pages($node, $of_query, 'COPY of a query has those of the query', pages => 3000);
nothing_else($node, 'no other has them', join(' OR ', $from, $to, $of_query));

finish($node);

# More queries than there are places for.

use lib 'test/t';
use server;
use queries;

my $node = new_queried();

# Each of 2,048 differs in its operators, and reads thirty pages.  Beside them, one that is large.
my $expression = sub {
	my ($n) = @_;
	return join(' ', 'id', map { ($n >> $_ & 1 ? '+' : '-') . " $_" } 0 .. 10);
};
my $many = join('', map { 'SELECT sum(length(filler)), sum(' . $expression->($_) . ') FROM pages WHERE id BETWEEN ' . $_ % 1450 . ' AND ' . ($_ % 1450 + 30) . ";\n" } 0 .. 2047);

sql($node, 'SELECT working_set_reset()');
# if the worker is late in a flood, little of it is sampled
my $kept = q{
	SELECT count(*) > 200 AND bool_or(rolname = 'other' AND application_name = 'other' AND datname IS NULL AND queryid IS NULL AND bytes > 100 * current_setting('block_size')::int)
	  FROM working_set_queries};
ok(eventually(sub {
		sql($node, 'SELECT count(filler), 1 FROM pages');
		sql($node, "SET enable_seqscan = off;\n$many") for 1 .. 2;
		return sql($node, $kept) eq 't';
	}), 'of thousands the largest are kept, and the others are one')
  or diag(sql($node, 'SELECT count(*), max(bytes) FILTER (WHERE application_name IS NOT NULL) FROM working_set_queries'));
uses($node, 'SELECT count(filler), 1 FROM pages', 'a large one among them');
is(sql($node, 'SELECT count(*) FROM working_set_queries WHERE application_name IS NOT NULL'), '1', 'there is one row of others');
# once the worker has freed some places, which it does each second
eventually(sub {
	sql($node, 'SELECT count(filler), 2, 3 FROM pages');
	return sql($node, q{SELECT count(*) FROM working_set_queries WHERE queryid = id_of('SELECT count(filler), 2, 3 FROM pages') AND bytes > 1000 * current_setting('block_size')::int}) eq '1';
});
uses($node, 'SELECT count(filler), 2, 3 FROM pages', 'and a new one finds a place');

finish($node);

# The first recommendation comes after a minute, and is what was read.
# The clock is the test's.

use lib 'test/t';
use server;
use clock;

my $clock = clock->new;
my $node = $clock->new_server(q{
working_set.method = plateau_end
shared_buffers = 8192
});
make_table($node, 'pages', 2000);
my $scan = 'SELECT count(filler) FROM pages \g /dev/null';

# Wait until the worker has made a recommendation of what has been looked up until now.
sub recommended
{
	my $moment = $node->safe_psql('postgres', 'SELECT clock_timestamp()');
	$clock->pass(1);
	$node->poll_query_until('postgres', qq{
		SELECT status = 'ok' AND computed_at > '$moment' FROM working_set_recommendation})
	  or die 'no recommendation';
	return;
}

is(recommendation($node, 'status'), 'collecting', 'in the first minute there is none');
$clock->pass(60);
wait_for($node, "status = 'ok' FROM working_set_recommendation", 'no recommendation');
$node->safe_psql('postgres', $scan);
recommended();
# plateau_end recommends what the projection foresees, which is up to half more than the
# plateau's end, and a tenth on top
is(recommendation($node, q{
	working_set_bytes BETWEEN (2000 - 46) * current_setting('block_size')::int AND (2000 + 46 + 600) * current_setting('block_size')::int,
	plateau_end_bytes = working_set_bytes,
	recommended_cache_bytes BETWEEN 1.1 * plateau_end_bytes - current_setting('block_size')::int AND 1.65 * plateau_end_bytes + current_setting('block_size')::int,
	reason <> ''}),
	't|t|t|t', 'the recommendation is what was read');

finish($node);

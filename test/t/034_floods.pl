# More events than the worker reads in time.  In a flood the processes thin the sample, so that
# nothing is lost; a worker that is late with fewer events loses some.  The clock is the test's: it
# decides which of the two it is.

use lib 'test/t';
use server;
use clock;
use sampling qw(changes_of_rate);

my $clock = clock->new;
my $node = $clock->new_server(q{
shared_buffers = 2048
log_min_messages = debug1
});
make_table($node, 'pages', 4000);
$node->safe_psql('postgres', 'CREATE INDEX ON pages (id)');

# Look up random rows, each a page of its own, of which half are not cached.
sub look_up
{
	my ($number) = @_;
	$node->safe_psql('postgres', qq{
		SET enable_seqscan = off; SET enable_bitmapscan = off; SET plan_cache_mode = force_generic_plan;
		SELECT sum(length(filler)) FROM generate_series(1, $number) g,
		       LATERAL (SELECT filler FROM pages WHERE id = 1 + (g::bigint * 7919) % 4000 OFFSET 0) p});
	return;
}

# Seconds pass until all pages are sampled.
sub becomes_dense
{
	my ($most) = @_;
	my $passed = 0;
	for (; $passed < $most && info($node, 'sample_rate') ne '1'; $passed++)
	{
		$clock->let_pass($node, 1);
	}
	return $passed;
}

$clock->pass(120);
ok($node->poll_query_until('postgres', q{SELECT status = 'ok' FROM working_set_recommendation}), 'there is a recommendation');
becomes_dense(60);
is(info($node, 'sample_rate'), '1', 'all pages are sampled');

# --- a flood, while the worker is stopped: no time passes

my $pid = info($node, 'worker_pid');
my $dropped = info($node, 'dropped_samples');
kill 'STOP', $pid;
look_up(40000);
is(info($node, 'dropped_samples'), $dropped, 'a flood: nothing is dropped');
cmp_ok(info($node, 'sample_rate'), '<', 1, 'the processes thin the sample, which the view shows');
# so many events in eight seconds would be no flood for the worker, which has to follow nevertheless
$clock->pass(8);
kill 'CONT', $pid;

# The sample is one of the hashes of pages: five standard errors of the number of pages in it.
ok($node->poll_query_until('postgres', q{
	SELECT abs(sampled_pages - pages * sample_rate) <= 5 * sqrt(pages * sample_rate * (1 - sample_rate)) + 5
	  FROM working_set_info, approximate_working_set_size_seconds(3600) AS pages}),
	'the worker has as many pages as the rate says')
  or diag(info($node, 'sampled_pages, sample_rate'));
is(info($node, 'dropped_samples'), $dropped, 'and nothing is dropped when it reads');
# in steps of ten seconds, since the first still count the flood
cmp_ok(becomes_dense(60), '<', 55, 'soon the sample is dense again');
is(info($node, 'sample_rate'), '1', 'as dense as before')
  or diag(changes_of_rate($node));

# --- as many events, but slowly

$dropped = info($node, 'dropped_samples');
kill 'STOP', $pid;
for (my $tries = 0; $tries < 100 && info($node, 'dropped_samples') == $dropped; $tries++)
{
	look_up(2000);
	$clock->pass(1);
}
cmp_ok(info($node, 'dropped_samples'), '>', $dropped, 'a worker that is late: events are dropped and counted');
is(info($node, 'sample_rate'), '1', 'and the sample stays as dense as it is');
kill 'CONT', $pid;
finish($node);

# A recommendation that is late is called stale, and one that is not is not: while the worker is
# stopped, and when it goes on.

use lib 'test/t';
use server;
use clock;
use lateness;

# The clocks go on by themselves, since this is about the time that passes; but for the minute
# until there is a recommendation.
my $clock = clock->new(running => 1);
my $node = $clock->new_server('shared_buffers = 8192');
make_table($node, 'pages', 3000);
$clock->pass(61);
wait_for($node, q{status = 'ok' FROM working_set_recommendation}, 'no recommendation');
my $worker = info($node, 'worker_pid');
kill 'STOP', $worker;
my @said = ask_until($node, sub { $_[0] && $_[0]{status} eq 'stale' });
# (a worker that did not get its turn before was late already)
ok($said[0]{status} eq 'ok' || $said[0]{most} > $late - 0.5, 'a worker stops: it is not known yet');
is(scalar(grep { $_->{status} !~ /^(ok|stale)$/ } @said), 0, 'then it is stale');
my $last_word = $node->safe_psql('postgres', 'SELECT computed_at FROM working_set_recommendation');
my $answers = 0;
push @said, ask_until($node, sub { ++$answers >= 30 });
truthful('stopped', @said);
is($said[-1]{status}, 'stale', 'and stays so');
is($node->safe_psql('postgres', q{
	SELECT computed_at = '} . $last_word . q{', recommended_cache_bytes IS NOT NULL,
	       reason LIKE 'the background worker has not reported since %'
	  FROM working_set_recommendation}), 't|t|t', 'its last word is shown, and its date');
is(info($node, 'worker_pid'), $worker, 'it is still there');
# counting goes on
$node->safe_psql('postgres', 'SELECT count(filler) FROM pages');
about($node->safe_psql('postgres', 'SELECT approximate_working_set_size_seconds(3600)'), 3000, 4000,
	'lookups are counted meanwhile');
kill 'CONT', $worker;
@said = ask_until($node, sub { $_[0] && $_[0]{status} eq 'ok' });
truthful('continued', @said);
is($node->safe_psql('postgres', "SELECT computed_at > '$last_word' FROM working_set_recommendation"),
	't', 'it goes on with a new word');
# A stop that is short is not noticed.  It is a time, since what is not noticed is no condition to
# wait for; if it takes longer, what is said has to be true all the same.
kill 'STOP', $worker;
select(undef, undef, undef, 1);
kill 'CONT', $worker;
truthful('a short stop', ask_until($node, sub { $_[0] && $_[0]{status} eq 'ok' && $_[0]{most} < 2 }));

finish($node);

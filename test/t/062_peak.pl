# The peak is what was needed, not what a projection foresaw.  The clock is the test's.

use lib 'test/t';
use server;
use clock;

my $clock = clock->new;
my $node = $clock->new_server(q{
working_set.break_even = 30
working_set.save = 2
shared_buffers = 2048
timezone = 'UTC'
});

make_table($node, 'growing', 30000);
$node->safe_psql('postgres', 'SELECT working_set_reset()');
$clock->let_pass($node, 61);
wait_for($node, q{status = 'ok' FROM working_set_recommendation}, 'no recommendation');
$clock->let_pass($node, 60);

# pages come in for the first time and again, until a projection is more than anything needed since
# the reset (before it, a slow machine may have needed all that was loaded)
my ($projected, $beyond) = (0, 0);
for (my $blocks = 300; $projected < 2 && $blocks <= 30000; $blocks += 150)
{
	$node->safe_psql('postgres', "SELECT count(filler) FROM growing WHERE ctid < '($blocks,1)'");
	$clock->let_pass($node, 1);
	my ($now, $most, $needed) = split /\|/, $node->safe_psql('postgres', qq{
		SELECT recommended_cache_bytes, peak_cache_bytes,
		       (SELECT max(recommended_cache_bytes) FROM working_set_history)
		  FROM working_set_recommendation});
	next if $now <= $needed;
	$projected++;
	$beyond++ if $most > $needed;
}
cmp_ok($projected, '>', 0, 'while the set grows, what is recommended exceeds all that was needed');
is($beyond, 0, 'and the peak does not');
$clock->let_pass($node, 60);
wait_for($node, q{peak_cache_bytes = (SELECT max(recommended_cache_bytes) FROM working_set_history)
	FROM working_set_recommendation}, 'the peak is not that of the history');
finish($node);

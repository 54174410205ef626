# The rate of sampling after a reset: a large table has filled the sample; then few pages are used,
# and the time that the sample keeps a page is not over.

use lib 'test/t';
use server;
use clock;

# (the clocks go on by themselves, for in a clock that stands still a scan is a flood)
my $clock = clock->new(running => 1);
my $node = $clock->new_server(q{
working_set.break_even = 30
working_set.sample_pages = 1024
shared_buffers = 2048
});
make_table($node, 'hot', 3000);
make_table($node, 'cold', 12000);
$node->safe_psql('postgres', 'SELECT count(filler) FROM cold');
wait_for($node, 'sample_rate BETWEEN 0.001 AND 0.1 AND sampled_pages > 400 FROM working_set_info', 'the sample is not full');
my $rate = $node->safe_psql('postgres', 'SELECT approximate_working_set_size(true) \g /dev/null' . "\n" .
	'SELECT sample_rate FROM working_set_info');
# (nothing is published in the first minute)
my $risen = $rate;
for (my ($seconds, $passed) = (61, 0); $risen <= $rate && $passed < 900; $passed += $seconds, $seconds = 15)
{
	$node->safe_psql('postgres', q{SELECT count(filler) FROM hot WHERE ctid < '(1000,1)'});
	$clock->let_pass($node, $seconds);
	$risen = info($node, 'sample_rate');
}
cmp_ok($risen, '>', $rate, 'after a reset pages of before do not keep the rate of sampling low');

finish($node);

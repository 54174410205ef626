# A table that is rewritten, or emptied and filled again, needs no more cache than before: neither
# does the busiest time, nor a while later the recommendation.  The clock is the test's.

use lib 'test/t';
use server;
use clock;
use pages;

my $clock = clock->new;
my $node = $clock->new_server(q{
shared_buffers = 4096
max_parallel_workers_per_gather = 0
});
# no table is larger than a quarter of shared buffers, so no scan goes through a ring
make_table($node, $_, 500) for 'one', 'two', 'three';
sql($node, 'SELECT working_set_reset()');
# the first recommendation, so that one can wait for the next
$clock->let_pass($node, 61);

# for so many rounds of four seconds
sub run
{
	my ($rounds) = @_;
	for (1 .. $rounds)
	{
		sql($node, 'SELECT (SELECT count(filler) FROM one), (SELECT count(filler) FROM two), (SELECT count(filler) FROM three)');
		$clock->let_pass($node, 4);
	}
	return;
}

sub pages { return split /\|/, sql($node, 'SELECT recommended_cache_bytes / 8192, peak_cache_bytes / 8192, live_bytes / 8192 FROM working_set_recommendation') }

run(20);
my ($recommended, $peak, $live) = pages();
cmp_ok($live, '>', 1400, 'the three tables are live');

for (1 .. 4)
{
	sql($node, $_) for 'VACUUM FULL one', 'VACUUM FULL two';
	run(5);
	sql($node, q{TRUNCATE three; INSERT INTO three SELECT g, repeat('x', 7000) FROM generate_series(1, 500) g});
	run(5);
}
my ($recommended_then, $peak_then, $live_then) = pages();
# another 6,000 pages have taken their places since; the bound is the requirement
cmp_ok($peak_then, '<=', 1.3 * $peak, "the busiest time needed what it did before ($peak)");
run(20);
my ($recommended_later, $peak_later, $live_later) = pages();
cmp_ok($peak_later, '<=', 1.3 * $peak, 'nor more later');
cmp_ok($live_later, '<=', 1.1 * $live, "what is live is what was ($live)");
cmp_ok($recommended_later, '<=', 1.1 * $recommended, "and so is the recommendation ($recommended)");
cmp_ok($live_later, '>=', 0.9 * $live, 'all of it is');
diag("recommended $recommended, $recommended_then, $recommended_later; peak $peak, $peak_then, $peak_later; live $live, $live_then, $live_later");
finish($node);

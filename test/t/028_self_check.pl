# The self-check of the cache advice: an hour later, was the prediction within its error, and
# also for a size that shared_buffers got in between?

use lib 'test/t';
use server;
use clock;
use pages;

my $clock = clock->new;
my $node = $clock->new_server("shared_buffers = '16MB'");
make_pages($node);

# Enough of them to be sure of a hit ratio.
sub look_up
{
	for (1 .. 5)
	{
		look_up_pages($node);
		$clock->let_pass($node, 1);
	}
	return;
}

# Ten minutes, at whose end there is a load, counted over all of it.  The wall clock runs, too:
# what this test takes is a part of them.
my $last;
sub ten_minutes
{
	my ($load) = @_;
	my $took = int(time - $last);
	$clock->let_pass($node, 570 - ($took < 250 ? $took : 250));
	$last = time;
	$load->();
	$clock->let_pass($node, 30);
	return;
}

# A minute into a period
sub begin_period
{
	$last = time;
	my $into = $node->safe_psql('postgres', 'SELECT extract(epoch FROM clock_timestamp())::bigint % 600');
	$clock->set_wall(600 - $into + 60);
	return;
}

sub checked
{
	return split /\|/, $node->safe_psql('postgres', 'SELECT predictions_checked, predictions_within_error FROM working_set_info');
}

# All of these hit.
sub look_at_one
{
	$node->safe_psql('postgres', q{
		DO $$ BEGIN FOR i IN 1 .. 10000 LOOP PERFORM filler FROM pages WHERE id = 1; END LOOP; END $$});
	return;
}

begin_period();
look_at_one();
$clock->let_pass($node, 61);
ten_minutes(\&look_at_one) for 1 .. 6;
is(join('|', checked()), '0|0', 'nothing is checked in the first hour');
ten_minutes(\&look_at_one) for 1 .. 2;
my ($checked, $right) = checked();
cmp_ok($checked, '>=', 1, 'from then on, predictions are checked');
is($right, $checked, 'and they were right');

ten_minutes(\&look_up) for 1 .. 2;
my ($later_checked, $later_right) = checked();
cmp_ok($later_checked, '>', $checked, 'with another load, predictions are checked');
is($later_right, $right, 'and were wrong');

$node->safe_psql('postgres', 'SELECT working_set_reset()');
is(join('|', checked()), '0|0', 'a reset forgets them');
begin_period();
$clock->let_pass($node, 61);
ten_minutes(\&look_up) for 1 .. 9;

# the size that was predicted for is there now, and predictions from before it are checked
is($node->safe_psql('postgres', q{
	SELECT t.predicted_hit_ratio > p.predicted_hit_ratio + 0.1 FROM working_set_cache_advice AS t, working_set_cache_advice AS p
	 WHERE t.size_factor = 2 AND p.size_factor = 1}), 't', 'with twice the size, far more look-ups are expected to hit');
($checked, $right) = checked();
$node->append_conf('postgresql.conf', "shared_buffers = '32MB'");
$clock->lend(sub { $node->restart });
wait_for_worker($node);
look_up() for 1 .. 3;
$clock->let_pass($node, 30);
ten_minutes(\&look_up) for 1 .. 3;
($later_checked, $later_right) = checked();
cmp_ok($later_checked, '>', $checked, 'after a restart with that size, predictions from before it are checked');
is($later_right - $right, $later_checked - $checked, 'and they were right');

done_testing();

# The forecast from days that were saved, the quietest hour, and the peak.

use lib 'test/t';
use server;
use kept;
use state_file;

my ($node, $path, $good) = new_kept();

my $block = $good->{block};
# eight weeks that grow by ten pages a day
my ($today, $growing, @answers);
while (!@answers || int(time / 86400) != $today)
{
	# once more if midnight of UTC has passed meanwhile
	$node->stop if @answers;
	my $now = time;
	$growing = { %$good };
	$today = int($now / 86400);
	day_row($growing, ($today - $_) * 86400, 4000, 1900 - 10 * $_, 1000, 900) for 1 .. 56;
	for my $quarter (1 .. 288)
	{
		quarter_row($growing, $now - 900 * $quarter, 4000, 1800, 1000, 900);
	}
	write_raw($path, state_of($growing));
	start($node);
	wait_for($node, 'bool_and(bytes > 0) FROM working_set_forecast', 'nothing is foretold');
	@answers = map { sql($node, $_) } (
		"SELECT extract(epoch FROM at)::bigint / 86400 - $today FROM working_set_forecast WHERE forecast = 'shared_buffers outgrown'",
		q{SELECT f.bytes = r.shared_buffers_bytes AND f.low_bytes = f.bytes AND f.high_bytes = f.bytes
			FROM working_set_forecast f, working_set_recommendation r WHERE forecast = 'shared_buffers outgrown'},
		qq{SELECT string_agg(round((extract(epoch FROM at - current_timestamp) / 86400)::numeric) || ' ' || (bytes > 1900 * $block AND bytes < 3000 * $block), '; ' ORDER BY at)
			FROM working_set_forecast WHERE forecast LIKE 'in %'},
		"SELECT count(*) BETWEEN 20 AND 22, bool_and(at = date_trunc('day', at)) FROM working_set_history WHERE minutes = 1440",
		"SELECT peak_cache_bytes >= 1890 * $block FROM working_set_recommendation");
}
is($answers[0], '15', 'growth: the day on which shared_buffers of 2048 pages are outgrown');
is($answers[1], 't', 'which is the size of its row');
is($answers[2] =~ s/\b(6|29|89)\b/$1 + 1/ger, '7 true; 30 true; 90 true', 'sizes in 7, 30 and 90 days');
is($answers[3], 't|t', 'days are in the history where there are no quarters any more');
is($answers[4], 't', 'and the peak');
$node->stop;
write_raw($path, state_of({ %$growing, body => $good->{body} }));
start($node);
wait_for($node, 'computed_at IS NOT NULL FROM working_set_recommendation', 'nothing is recommended');
is(sql($node, 'SELECT count(*), count(bytes) FROM working_set_forecast'), '5|2', 'without days nothing is foretold');
finish($node);

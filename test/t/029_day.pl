# A break-even time of a day: the sample keeps the pages, also over a restart, and
# working_set_relations covers the time.

use lib 'test/t';
use server;
use clock;

my $clock = clock->new;
my $node = $clock->new_server("shared_buffers = '16MB'");
$node->safe_psql('postgres', q{
	CREATE TABLE job AS SELECT g AS id, repeat('x', 1000) AS filler FROM generate_series(1, 700) g;
	CREATE TABLE other AS SELECT g AS id, repeat('x', 1000) AS filler FROM generate_series(1, 700) g;
	VACUUM (FREEZE, ANALYZE) job, other;
});

sub use_table
{
	my ($table) = @_;
	$node->safe_psql('postgres', "SELECT sum(length(filler)) FROM $table");
	return;
}

# Pages of a table, all of whose pages are sampled, in a period.  100 stands for 97 to 103: the
# sample is scaled to what the sketch says of all, whose standard error is half a percent.
sub pages
{
	my ($table, $period) = @_;
	my $pages = $node->safe_psql('postgres', qq{
		SELECT coalesce(sum(bytes), 0)::bigint / current_setting('block_size')::int FROM working_set_relations(interval '$period')
		 WHERE relid = '$table'::regclass});
	return abs($pages - 100) <= 3 ? 100 : $pages;
}

# The worker looks at the table of the sample each half a minute of its clock.
sub later
{
	my ($seconds) = @_;
	$clock->pass($seconds);
	for (1 .. 3)
	{
		$clock->pass(31);
		my $at = $node->safe_psql('postgres', q{SELECT coalesce(computed_at, '-infinity') FROM working_set_recommendation});
		$clock->pass(2);
		$node->poll_query_until('postgres', "SELECT computed_at > '$at' FROM working_set_recommendation")
		  or die 'the worker does not go on';
	}
	return;
}

sub rejects
{
	my ($period, $name) = @_;
	my ($ret, $stdout, $stderr) = $node->psql('postgres', "SELECT * FROM working_set_relations(interval '$period')",
		extra_params => [ '-v', 'VERBOSITY=verbose' ]);
	like($stderr, qr/22023: period must not be longer than an hour or "working_set\.break_even"/, $name);
	return;
}

# ---- at first it is 15 minutes

use_table('job');
later(90);
is(pages('job', '1 hour'), 100, 'used within the hour');
later(3700);
use_table('other');
later(60);
is(pages('job', '1 hour'), 0, 'more than an hour ago');
rejects('61 min', 'no longer period');

# ---- a day

$node->append_conf('postgresql.conf', "working_set.break_even = '24h'");
$node->reload;
later(60);
is(pages('other', '24 hours'), 100, 'raised: what was used in the hour before is known');
is(pages('job', '24 hours'), 0, 'and what was used before that is not');
is($node->safe_psql('postgres', q{
	SELECT confidence, working_set_bytes / current_setting('block_size')::int
	         < approximate_working_set_size_seconds(86400)
	  FROM working_set_recommendation}),
	'low|t', 'the recommendation is about the time since then and the hour before');
use_table('job');
later(6 * 3600);
later(14 * 3600);
is(pages('job', '24 hours'), 100, 'a day: used 20 hours ago');
is(pages('job', '19 hours'), 0, 'and not in the last 19');
rejects('24 hours 1 second', 'no longer period than that');
$clock->lend(sub { $node->restart });
later(60);
is(pages('job', '24 hours'), 100, 'it is known after a restart');
is($node->safe_psql('postgres', q{SELECT live_bytes IS NOT NULL FROM working_set_recommendation}), 't',
	'and there is a live set');
later(4 * 3600);
is(pages('job', '24 hours'), 0, 'used more than a day ago');

# ---- and 15 minutes again

use_table('job');
$node->append_conf('postgresql.conf', "working_set.break_even = '15min'");
$node->reload;
later(3700);
rejects('61 min', 'lowered: no longer period');
is(pages('job', '1 hour'), 0, 'and what was used more than an hour ago is gone');

# ---- a file that has no page in shared buffers, for all the worker knows, and a clock in leaps

use_table('job');
later(60);
my $all = q{SELECT sum(bytes)::bigint / current_setting('block_size')::int FROM working_set_queries('1 hour')};
my $before = $node->safe_psql('postgres', $all);
my $file = $node->data_dir . '/' . $node->safe_psql('postgres', q{CHECKPOINT; SELECT pg_relation_filepath('job')});
truncate($file, 0) or die "$file: $!";
later(60);
cmp_ok($node->safe_psql('postgres', $all), '<=', $before - 80, 'of a file of a hundred pages that was cut off, nothing is left after a minute');

done_testing();

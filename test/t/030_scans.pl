# What a scan of a large table makes live: hardly anything, alone or beside pages that come back
# once.  The clock is the test's, so that a busy machine is not late.

use lib 'test/t';
use server;
use clock;

my $clock = clock->new;
my $node = $clock->new_server(q{
working_set.break_even = 30
shared_buffers = 2048
});
make_table($node, 'hot', 3000);
make_table($node, 'cold', 12000);
make_table($node, 'moving', 18000);
$node->safe_psql('postgres', 'ALTER TABLE moving ADD PRIMARY KEY (id); VACUUM (FREEZE, ANALYZE) moving');

sub scan
{
	my ($table) = @_;
	$node->safe_psql('postgres', "SELECT count(filler) FROM $table");
	return;
}

# In each second 300 pages are used for the first time, and 300 that were eight seconds ago.
my $second = 0;

sub move
{
	$node->safe_psql('postgres', qq{
		SET enable_seqscan = off;
		SET enable_bitmapscan = off;
		SET enable_hashjoin = off;
		SET enable_mergejoin = off;
		SELECT count(filler) FROM (SELECT 300 * b + n AS id FROM generate_series(1, 300) n, unnest(ARRAY[$second, $second - 8]) b
		                            WHERE b >= 0 ORDER BY random()) x JOIN moving USING (id)});
	$second++;
	return;
}

# live pages and pages of the window, as they are now
sub pages
{
	return split /\|/, $node->safe_psql('postgres', q{
		SELECT live_bytes / current_setting('block_size')::int, working_set_bytes / current_setting('block_size')::int
		  FROM working_set_recommendation WHERE status = 'ok'});
}

# the first recommendation, and until the load of the data is not part of anything any more
$clock->let_pass($node, 61);
for (1 .. 31)
{
	scan('hot');
	$clock->let_pass($node, 1);
}
my ($before) = pages();
scan('cold');
for (1 .. 3)
{
	scan('hot');
	$clock->let_pass($node, 1);
}
my ($live, $all) = pages();
cmp_ok($all, '>', 14000, 'a scan of a large table is part of the working set');
# 12,000 pages that were used once: a tenth of them, and five standard errors of all, 0.46 % each
cmp_ok($live, '<', $before + 1200 + 375, "but does not make it live ($live; $before before)");

# Beside pages that do come back once, eight seconds later, a scan's pages look like these.  They
# are counted apart, and so the scan still makes little live: 300 new pages a second are, for
# eight seconds and the hold, which is 3,900, and some hundred of catalogs.
for (1 .. 36)
{
	move();
	$clock->let_pass($node, 1);
}
($before) = pages();
scan('cold');
my $most = 0;
for (1 .. 5)
{
	move();
	$clock->let_pass($node, 1);
	($live, $all) = pages();
	$most = $live if $live > $most;
}
cmp_ok($all, '>', 20000, 'a scan beside pages that come back once is part of the working set, too');
cmp_ok($before, '>', 1500, "of which those that come back are live ($before)");
cmp_ok($before, '<', 6000, 'and no more');
cmp_ok($most, '<', 7500, "nor is the scan ($most; it was 9,500 when its pages were not counted apart)");

done_testing();

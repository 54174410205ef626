# What is counted is true: over switching off and on, while the worker hangs, and for
# processes that go idle.

use lib 'test/t';
use server;
use clock;

my $clock = clock->new;
# the logger has no shared memory, and reads the settings all the same
my $node = $clock->new_server(q{
shared_buffers = '64MB'
logging_collector = on
});
$node->safe_psql('postgres', q{
	CREATE TABLE pages (id int, filler text);
	ALTER TABLE pages ALTER filler SET STORAGE PLAIN;
	INSERT INTO pages SELECT g, repeat('x', current_setting('block_size')::int - 1000) FROM generate_series(1, 1000) g;
	CREATE TABLE few (LIKE pages INCLUDING STORAGE);
	INSERT INTO few SELECT * FROM pages LIMIT 100;
	VACUUM (FREEZE, ANALYZE);
});
my $scan = 'SELECT count(filler) FROM pages \g /dev/null';

sub switch
{
	my ($to) = @_;
	my $tracking = $to eq 'on' ? 't' : 'f';
	$node->append_conf('postgresql.conf', "working_set.enabled = $to");
	$node->reload;
	$node->poll_query_until('postgres', 'SELECT tracking FROM working_set_info', $tracking)
	  or die "could not switch it $to";
	return;
}

# ---- off and on again

# one session that was there before, one that comes meanwhile
my $old = $node->background_psql('postgres');
$old->query_safe($scan);
my $since = info($node, 'since');
switch('off');
my $new = $node->background_psql('postgres');
for my $session ($old, $new)
{
	$session->query_safe($scan) for 1 .. 20;
}
# the worker has heard, too: it saves for the first time
$node->append_conf('postgresql.conf', 'working_set.save = 1');
$node->reload;
$clock->pass(2);
$node->poll_query_until('postgres', 'SELECT last_saved IS NOT NULL FROM working_set_info') or die 'nothing is saved';
switch('on');
$node->poll_query_until('postgres', "SELECT since > '$since' FROM working_set_info") or die 'nothing is new';
# both look up again, in ticks of their own, so that they count what they have
for my $session ($old, $new)
{
	$clock->pass(1);
	$session->query_safe($scan);
	$clock->pass(1);
	$session->query_safe($scan);
}
$_->quit for $old, $new;
my $lookups = info($node, 'lookups');
# four scans of 1,000 pages, and no more than some for catalogs
cmp_ok($lookups, '>=', 4000, 'what is looked up after it was switched on counts');
cmp_ok($lookups, '<', 10000, 'what was looked up while it was off does not');
unlike(slurp_file($node->data_dir . '/' . (split ' ', slurp_file($node->data_dir . '/current_logfiles'))[1]),
	qr/terminated by signal|PANIC/, 'and nothing has crashed');

# ---- a process that goes idle

my $idle = $node->background_psql('postgres');
$idle->query_safe('SELECT 1');
my $before = info($node, 'hits');
$idle->query_safe($scan);
# it is there, and has nothing to do: at most 63 of its hits are not counted
cmp_ok(info($node, 'hits') - $before, '>=', 1000 - 63, 'hits of a process that went idle count');

# nor do reads stay uncounted: a table that is not in shared buffers
$node->safe_psql('postgres', 'CREATE TABLE cold (LIKE pages INCLUDING STORAGE); INSERT INTO cold SELECT * FROM pages; VACUUM (FREEZE) cold');
$idle->quit;
$clock->lend(sub { $node->restart });
$idle = $node->background_psql('postgres');
$idle->query_safe('SELECT 1');
$before = info($node, 'lookups');
$idle->query_safe('SELECT count(filler) FROM cold \g /dev/null');
cmp_ok(info($node, 'lookups') - $before, '>=', 1000 - 63, 'and so do its reads');

# ---- a worker that hangs

wait_for_worker($node);
my $worker = info($node, 'worker_pid');
kill 'STOP', $worker;
for my $round (1 .. 3)
{
	$clock->pass(8);
	# whoever looks up something notices that time has passed, from the next transaction on
	$idle->query_safe('SELECT count(filler) FROM few \g /dev/null') for 1 .. 2;
	# 100 pages or a few more, of a standard error of less than 1
	cmp_ok($node->safe_psql('postgres', q{SELECT pages FROM working_set_curve('{5}')}),
		'>=', 95, "what is used while the worker hangs is of now, round $round");
}

# a query of some length notices by itself: one of its pages in 64 is a watched one
for (1 .. 2)
{
	$clock->pass(8);
	$idle->query_safe(
		q{SELECT sum((SELECT count(filler) FROM pages WHERE id > g)) FROM generate_series(1, 5) g \g /dev/null});
}
cmp_ok($node->safe_psql('postgres', q{SELECT pages FROM working_set_curve('{5}')}),
	'>=', 950, 'also within one query');
kill 'CONT', $worker;
$idle->quit;

finish($node);

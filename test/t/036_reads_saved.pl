# What others read because of a query, a role, an application or a relation: beside what the server
# reads, with it and without it.  The clock is the test's.

use lib 'test/t';
use server;
use clock;
use pages;

my $clock = clock->new;
my $node = $clock->new_server(q{
shared_buffers = 2048
compute_query_id = on
max_parallel_workers_per_gather = 0
});
# No table is larger than a quarter of shared buffers, so no scan goes through a ring.
my @victims = ('one', 'two', 'three');
my @polluters = ('four', 'five', 'six');
for my $table (@victims, @polluters)
{
	make_table($node, $table, 500);
}
$node->safe_psql('postgres', 'CREATE ROLE polluter SUPERUSER LOGIN');
make_id_of($node);

my $victim = 'SELECT (SELECT count(filler) FROM one), (SELECT count(filler) FROM two), (SELECT count(filler) FROM three)';
my $polluter = 'SELECT (SELECT max(filler) FROM four) || (SELECT max(filler) FROM five) || (SELECT max(filler) FROM six) IS NULL';

# For so many rounds of four seconds: the victim's query, and the polluter's unless there is none.
sub run
{
	my ($rounds, $polluted) = @_;
	for (1 .. $rounds)
	{
		sql($node, $victim);
		sql($node, "SET ROLE polluter; SET application_name = 'dump'; $polluter") if $polluted;
		$clock->let_pass($node, 4);
	}
	return;
}

# Pages that the server has read of the tables; sessions count theirs when they end.
sub reads
{
	$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'client backend'})
	  or die 'a session does not end';
	my $names = join(', ', map { "'$_'" } @_);
	return sql($node, "SELECT sum(heap_blks_read) FROM pg_statio_user_tables WHERE relname IN ($names)");
}

sub by_query
{
	my ($query, $columns) = @_;
	return sql($node, "SELECT $columns FROM working_set_queries WHERE queryid = id_of(\$id\$$query\$id\$) AND bytes > 100 * current_setting('block_size')::int");
}

# ---- not known yet

is(sql($node, q{SELECT count(*) FROM working_set_relations WHERE reads_saved_per_second IS NOT NULL}), '0', 'nothing is known at first');
# the first recommendation, so that one can wait for the next
$clock->let_pass($node, 61);
run(2, 1);
is(by_query($polluter, 'reads_saved_per_second IS NULL AND reads_saved_standard_error IS NULL'), 't', 'nor soon after a query begins');

# ---- with the polluter

run(12, 1);
my $before = reads(@victims);
run(12, 1);
my $read = (reads(@victims) - $before) / 48;
cmp_ok($read, '>', 150, 'the victim reads most of its pages again and again');

# A tenth for the simulation, and four of its standard errors.
sub is_about
{
	my ($answer, $truth, $name) = @_;
	my ($saved, $error) = split /\|/, $answer;
	return ok($saved ne '' && abs($saved - $truth) <= 0.1 * abs($truth) + 4 * $error, "$name: about " . int($truth + 0.5))
	  || diag("got $answer, want $truth");
}
my $columns = 'reads_saved_per_second, reads_saved_standard_error';
is_about(by_query($polluter, $columns), $read, 'by the query');
is_about(sql($node, "SELECT $columns FROM working_set_queries('5 min', 'role') WHERE rolname = 'polluter'"), $read, 'by the role');
is_about(sql($node, "SELECT $columns FROM working_set_queries('5 min', 'application') WHERE application_name = 'dump'"), $read, 'by the application');
is(sql($node, q{SELECT count(*) > 0 AND bool_and(reads_saved_per_second IS NULL) FROM working_set_queries('5 min', 'query') WHERE bytes < 20 * current_setting('block_size')::int}), 't',
	'NULL for those that use little')
  or diag(sql($node, 'SELECT * FROM working_set_queries'));
# 3,000 pages and some of the catalog in 2,048 buffers: without one of six tables of 500 there are still too many
is(sql($node, q{SELECT count(*) FROM working_set_relations WHERE relid = ANY ('{one,two,three,four,five,six}'::regclass[]) AND
	     reads_saved_per_second IS NOT NULL AND abs(reads_saved_per_second) <= 600}), '6', 'each of the relations is simulated')
  or diag(sql($node, 'SELECT * FROM working_set_relations'));

# ---- a reset

sql($node, 'SELECT working_set_reset()');
is(sql($node, q{SELECT count(*) FROM working_set_queries WHERE reads_saved_per_second IS NOT NULL}), '0', 'nothing from before a reset');
# as above
$clock->let_pass($node, 61);
run(4, 1);
is_about(by_query($polluter, $columns), $read, 'known again soon after it');

# ---- without the polluter

run(3, 0);
$before = reads(@victims);
run(5, 0);
is(reads(@victims) - $before, 0, 'without it the victim reads nothing, as predicted');
# what is counted is over after five minutes and the present one
$clock->let_pass($node, 300);
run(15, 0);
my ($saved) = split /\|/, sql($node, qq{SELECT coalesce(max(abs(reads_saved_per_second)), 0) FROM working_set_queries('1 hour') WHERE queryid = id_of(\$id\$$polluter\$id\$)});
cmp_ok($saved, '<', 1, 'then it costs nothing any more');

# ---- the worker ends

my $worker = sql($node, 'SELECT worker_pid FROM working_set_info');
kill TERM => $worker;
ok($node->poll_query_until('postgres', "SELECT worker_pid <> $worker FROM working_set_info"), 'another worker');
$clock->let_pass($node, 1);
is(sql($node, q{SELECT count(*) FROM working_set_queries WHERE reads_saved_per_second IS NOT NULL}), '0', 'has to simulate first');
run(14, 1);
is_about(by_query($polluter, $columns), $read, 'and then knows');

# ---- with room to spare

# nobody evicts a page, although a cold cache reads
$node->append_conf('postgresql.conf', 'shared_buffers = 16384');
$node->restart;
$clock->let_pass($node, 61);
run(14, 1);
is(by_query($polluter, 'reads_per_second > 0 AND reads_saved_per_second IS NULL'), 't', 'what reads into free buffers costs nobody anything');
is(sql($node, q{SELECT count(reads_saved_per_second) FROM working_set_queries}), '0', 'nor is that known of any other');
is(sql($node, q{SELECT count(reads_saved_per_second) FROM working_set_relations}), '0', 'nor of relations');
finish($node);

# The sample and what is made of it: agreement with the server's own counts, a
# stopped and a dying worker, floods, resets, many relations, few pages.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use patience;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use crashing;
use pages;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf(
	'postgresql.conf', q{
shared_preload_libraries = 'working_set'
working_set.interval = 1
shared_buffers = 2048
autovacuum = off
fsync = off
log_min_messages = debug1
restart_after_crash = on
max_locks_per_transaction = 256
});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION working_set');
$node->safe_psql('postgres', q{
	CREATE TABLE pages (id int, filler text);
	ALTER TABLE pages ALTER filler SET STORAGE PLAIN;
	INSERT INTO pages SELECT g, repeat('x', current_setting('block_size')::int - 1192) FROM generate_series(1, 4000) g;
	CREATE INDEX ON pages (id);
	VACUUM (FREEZE, ANALYZE) pages;
});

sub info
{
	my ($columns) = @_;
	return $node->safe_psql('postgres', "SELECT $columns FROM working_set_info");
}

sub wait_until
{
	my ($condition, $name) = @_;
	return ok($node->poll_query_until('postgres', "SELECT $condition"), $name);
}

# The worker reads what is sampled in its turn: ask until the answer is as it should be.
sub becomes
{
	my ($database, $query, $expected, $name) = @_;
	return ok($node->poll_query_until($database, $query, $expected), $name);
}

# Look up random rows: each a page of the table.  The number is that of lookups.
sub look_up
{
	my ($number, $rows) = @_;
	$node->safe_psql('postgres', qq{
		SET enable_seqscan = off; SET enable_bitmapscan = off; SET plan_cache_mode = force_generic_plan;
		DO \$\$
		DECLARE
			wanted int;
			found int;
		BEGIN
			FOR i IN 1 .. $number LOOP
				wanted := 1 + floor(random() * $rows);
				SELECT length(filler) INTO found FROM pages WHERE id = wanted;
			END LOOP;
		END \$\$;
	});
	return;
}

# What the log says of the rate of sampling, to be shown with a failure.
sub changes_of_rate
{
	return join '', grep { /working_set samples one page/ } split /^/, slurp_file($node->logfile);
}

# Run SQL in the background; returns what to finish.
sub in_background
{
	my ($sql) = @_;
	return IPC::Run::start(
		[ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', 'SET enable_seqscan = off', '-c', $sql ],
		'>', '/dev/null', '2>', '/dev/null');
}

# --- the prediction for the present size agrees with what was measured

wait_until('sample_rate > 0 FROM working_set_info', 'pages are sampled');
look_up(40000, 4000);
$node->safe_psql('postgres', 'SELECT working_set_reset()');
look_up(40000, 4000);
wait_until(q{predicted_hit_ratio IS NOT NULL FROM working_set_cache_advice WHERE size_factor = 1},
	'there is advice');
# What is predicted rests on the sampled pages of the 4000, of which some share
# is in the cache; bound: four standard errors of such a share.
becomes('postgres', q{
	SELECT abs(a.predicted_hit_ratio - i.hits::float8 / i.lookups) < 4 * sqrt(0.25 / (4000 * i.sample_rate)),
	       a.note IS NULL OR a.note LIKE 'what other sizes would do is not known: %',
	       a.read_factor = 1, a.error BETWEEN 0 AND 1
	  FROM working_set_cache_advice AS a, working_set_info AS i WHERE a.size_factor = 1},
	't|t|t|t', 'at the present size it is what was measured')
  or diag($node->safe_psql('postgres', q{
	SELECT 'predicted ' || a.predicted_hit_ratio || ', measured ' || i.hits::float8 / i.lookups || ', rate ' ||
	       i.sample_rate || ', dropped ' || i.dropped_samples || ', ' || coalesce(a.note, 'no note')
	  FROM working_set_cache_advice AS a, working_set_info AS i WHERE a.size_factor = 1}));
is($node->safe_psql('postgres', q{
	SELECT l.predicted_hit_ratio > h.predicted_hit_ratio, h.read_factor > 1, l.read_factor < 0.5,
	       h.predicted_reads_per_second > l.predicted_reads_per_second
	  FROM working_set_cache_advice AS h, working_set_cache_advice AS l
	 WHERE h.size_factor = 0.5 AND l.size_factor = 2.5}),
	't|t|t|t', 'half of it would read more, and two and a half times, which hold the table, little');

# --- one statement answers for one instant, whatever is used meanwhile

# (for a second; a statement that takes longer proves nothing)
my ($falls, $differences, $asked) = (0, 0, 0);
my $beside = in_background(q{
	SELECT count(*) FROM generate_series(1, 300000) g, LATERAL (SELECT filler FROM pages WHERE id = 1 + (g::bigint * 7919) % 4000 OFFSET 0) p});
for (my $tries = 0; $asked < 15 * 110 && $tries < 300; $tries++)
{
	my ($n, $down, $other, $in_time) = split /\|/, $node->safe_psql('postgres', q{
		WITH one AS MATERIALIZED (
			SELECT x, approximate_working_set_size_seconds(x) AS pages, working_set_size(make_interval(secs => x)) AS bytes
			  FROM (SELECT 0.1 * power(1.1, i) AS y FROM generate_series(1, 110) i) AS i, LATERAL ceil(y) AS c, CAST(c AS int) AS x),
		compared AS (
			SELECT one.pages < lag(one.pages) OVER (ORDER BY x) AS falls,
			       one.pages <> c.pages OR one.bytes <> c.bytes AS differs
			  FROM one, LATERAL working_set_curve(ARRAY[x]) AS c)
		SELECT count(*), count(*) FILTER (WHERE falls), count(*) FILTER (WHERE differs),
		       clock_timestamp() - statement_timestamp() < '0.9 s' FROM compared});
	next if $in_time ne 't';
	$asked += $n;
	$falls += $down;
	$differences += $other;
}
$beside->finish;
is($asked, 15 * 110, 'many windows were asked for beside a busy session');
is($falls, 0, 'no window is smaller than a shorter one');
is($differences, 0, 'and pages, bytes and the curve agree');
is($node->safe_psql('postgres', q{
	SELECT length(working_set_chart()) > 0, approximate_working_set_size(true) > 2 * approximate_working_set_size()}),
	't|t', 'a reset ends the instant');

# each statement has its own, also those of one message, and those of a function
my ($out, $err);
$node->psql('postgres', '', stdout => \$out, extra_params => [ '-c', q{
	SELECT working_set_reset() IS NULL; SELECT approximate_working_set_size() >= 4000;
	SELECT count(filler) = 0 FROM pages; SELECT approximate_working_set_size() >= 3800} ]);
like($out, qr/^f\nf\nf\nt$/, 'a statement after another of the same message sees what that one used');
$node->safe_psql('postgres', q{
	CREATE FUNCTION grown(OUT seen bool, OUT in_time bool) LANGUAGE plpgsql AS $$
	DECLARE
		before bigint;
	BEGIN
		PERFORM working_set_reset();
		before := approximate_working_set_size();
		PERFORM count(filler) FROM pages;
		EXECUTE 'SELECT approximate_working_set_size() > 3000' INTO seen;
		/* an expression shares the instant of the one before, but not for long */
		FOR i IN 1 .. 600 LOOP
			in_time := approximate_working_set_size() > 3000;
			EXIT WHEN in_time;
			PERFORM pg_sleep(0.1);
		END LOOP;
	END $$});
is($node->safe_psql('postgres', 'SELECT * FROM grown()'), 't|t', 'so do the statements of a function, and its expressions in time');

# --- used more than once is five seconds apart; by relation, kind and database

# All pages are sampled right after a start without a memory.
sub start_anew
{
	$node->stop;
	unlink $node->data_dir . '/pg_stat/working_set.saved';
	$node->start;
	wait_for_worker($node);
	return;
}
start_anew();
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', q{
	CREATE EXTENSION working_set;
	CREATE TABLE elsewhere (id int, filler text);
	ALTER TABLE elsewhere ALTER filler SET STORAGE PLAIN;
	INSERT INTO elsewhere SELECT g, repeat('x', current_setting('block_size')::int - 1192) FROM generate_series(1, 300) g;
	VACUUM (FREEZE, ANALYZE) elsewhere;
});
my $file = $node->safe_psql('other', q{SELECT pg_relation_filenode('elsewhere')});
$node->safe_psql('postgres', 'SELECT working_set_reset()');
$node->safe_psql('other', 'SELECT count(filler) FROM elsewhere');
sleep 6;
$node->safe_psql('other', 'SELECT count(filler) FROM elsewhere');
wait_until(qq{reused_bytes > 0 FROM working_set_relations WHERE relfilenode = $file AND fork = 'main'},
	'pages that were used twice are told');
becomes('postgres', qq{
	SELECT datname, relation IS NULL, relkind IS NULL,
	       abs(pages - 300) <= 10 + 4 * standard_error_bytes / current_setting('block_size')::float8,
	       reused_bytes >= bytes * 0.98, resident_bytes >= bytes * 0.98
	  FROM working_set_relations WHERE relfilenode = $file AND fork = 'main'},
	'other|t|t|t|t|t', 'a table of another database, by its name and number');
is($node->safe_psql('other', qq{
	SELECT relation::text, relkind FROM working_set_relations WHERE relfilenode = $file AND fork = 'main'}),
	'elsewhere|r', 'which that database can name');
is($node->safe_psql('postgres', q{
	SELECT d.pages >= 290, d.reused_bytes > 0
	  FROM working_set_databases AS d WHERE datname = 'other'}),
	't|t', 'and the database as a whole');
is($node->safe_psql('postgres', q{
	SELECT count(*) FROM working_set_relations WHERE datname IS NULL AND relation::text LIKE 'pg\_%'}) > 0,
	1, 'shared catalogs have a name, and no database');
$node->safe_psql('postgres', 'DROP DATABASE other WITH (FORCE)');
is($node->safe_psql('postgres', qq{
	SELECT datname IS NULL, relation IS NULL, resident_bytes
	  FROM working_set_relations WHERE relfilenode = $file AND fork = 'main'}),
	't|t|0', 'its database dropped, it has neither');

# --- thousands of relations

$node->safe_psql('postgres', q{
	DO $$ BEGIN FOR i IN 1 .. 3000 LOOP
		EXECUTE format('CREATE TABLE many_%s AS SELECT 1 AS id', i);
		IF i % 100 = 0 THEN COMMIT; END IF;
	END LOOP; END $$;
});
wait_until(q{count(*) > 10 FROM working_set_relations WHERE relation::text LIKE 'many\_%'},
	'many relations');
is($node->safe_psql('postgres', q{
	SELECT abs(sum(share) - 1) < 1e-9, bool_and(pages > 0 AND standard_error_bytes >= 0 AND share <= 1)
	  FROM working_set_relations}),
	't|t', 'whose shares add up');
# one page each, so the count is that of sampled pages; bound: five standard
# errors of their number, sqrt(n (1 - rate) / rate)
# events of some may have been lost in the rush, so they are used again, slowly
my $tries = 0;
ok(eventually(sub {
	$node->safe_psql('postgres', q{
		DO $$ BEGIN FOR i IN 1 .. 3000 LOOP
			EXECUTE format('SELECT FROM many_%s', i);
			IF i % 100 = 0 THEN COMMIT; PERFORM pg_sleep(0.02); END IF;
		END LOOP; END $$}) if $tries++ > 0;
	return $node->safe_psql('postgres', q{
		SELECT abs(sum(share) * min(size) - 3000) <= 5 * sqrt(3000 * (1 - rate) / rate) + 150
		  FROM (SELECT share, least(count(*) OVER () / 3000.0, 1) AS rate
		          FROM working_set_relations('1 hour') WHERE relation::text LIKE 'many\_%') r,
		       approximate_working_set_size_seconds(3600) AS size GROUP BY rate}) eq 't';
}), 'and as many pages as there are')
  or diag($node->safe_psql('postgres', q{
	SELECT sum(pages), count(*), min(sample_rate), min(sampled_pages), min(dropped_samples)
	  FROM working_set_relations, working_set_info WHERE relation::text LIKE 'many\_%'}) . "\n" . changes_of_rate());
$node->safe_psql('postgres', q{
	DO $$ BEGIN FOR i IN 1 .. 3000 LOOP
		EXECUTE format('DROP TABLE many_%s', i);
		IF i % 100 = 0 THEN COMMIT; END IF;
	END LOOP; END $$;
});

# --- pages that have been cut off, and a relation that is held

$node->safe_psql('postgres', q{
	CREATE TABLE cut (id int, filler text);
	ALTER TABLE cut ALTER filler SET STORAGE PLAIN;
	INSERT INTO cut SELECT g, repeat('x', current_setting('block_size')::int - 1192) FROM generate_series(1, 1000) g;
});
my $cut = $node->safe_psql('postgres', q{SELECT pg_relation_filenode('cut')});
wait_until(q{count(*) = 1 FROM working_set_relations WHERE relation = 'cut'::regclass AND fork = 'main'},
	'a table that was filled has a row');
my $holder = in_background('BEGIN; LOCK TABLE cut; SELECT pg_sleep(600)');
my $held = q{FROM pg_locks WHERE relation = 'cut'::regclass AND mode = 'AccessExclusiveLock' AND granted};
wait_until("count(*) = 1 $held", 'somebody holds it');
is($node->safe_psql('postgres', qq{
	SET lock_timeout = '60s';
	SELECT count(*) FROM working_set_relations WHERE relfilenode = $cut AND fork = 'main'}),
	'1', 'it has one then, too, and nobody waits');
$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) $held");
$holder->finish;
wait_until("count(*) = 0 $held", 'nobody holds it any more');
$node->safe_psql('postgres', 'DELETE FROM cut');
$node->safe_psql('postgres', 'VACUUM cut');
is($node->safe_psql('postgres', q{SELECT pg_relation_size('cut')}), '0', 'emptied, its file has no pages');
is($node->safe_psql('postgres', q{SELECT count(*) FROM working_set_relations WHERE relation = 'cut'::regclass AND fork = 'main'}),
	'0', 'and it is not among the relations in use');

# --- a worker that is stopped: the stream fills, and nobody waits

start_anew();
my $pid = info('worker_pid');
my $before = info('dropped_samples, sample_rate');
kill 'STOP', $pid;
look_up(100000, 4000);
kill 'CONT', $pid;
# which of the two depends on how fast the machine is (034_floods.pl)
isnt(info('dropped_samples, sample_rate'), $before, 'while the worker is stopped events are dropped, or the sample is thinned');
wait_until('sample_rate > 0 FROM working_set_info', 'it goes on');
# Until it gets its turn the stream is still full; once that is read, nothing more is lost.
my $lost;
for (my $tries = 0; $tries < 60; $tries++)
{
	my $moment = $node->safe_psql('postgres', 'SELECT clock_timestamp()');
	$lost = info('dropped_samples');
	# of a sample that is thin a thousand look-ups may have no page
	eventually(sub {
		look_up(1000, 4000);
		return $node->safe_psql('postgres', qq{
			SELECT count(*) FROM working_set_relations(clock_timestamp() - '$moment') WHERE relation = 'pages'::regclass});
	}) or die 'what comes next is not seen';
	last if info('dropped_samples') == $lost;
}
is(info('dropped_samples'), $lost, 'what comes next is seen, and nothing more is lost');

# --- resets while the worker drains

my $background = in_background(q{
	SELECT count(*) FROM generate_series(1, 60000) g, LATERAL (SELECT filler FROM pages WHERE id = 1 + (g::bigint * 7919) % 4000 OFFSET 0) p;});
for (1 .. 50)
{
	$node->safe_psql('postgres', 'SELECT working_set_reset()');
}
$background->finish;
is(info('dropped_samples >= 0, lookups >= 0, lookups >= hits'), 't|t|t', 'fifty resets under load');
is($node->safe_psql('postgres', q{
	SELECT count(*) FILTER (WHERE NOT predicted_hit_ratio BETWEEN 0 AND 1) FROM working_set_cache_advice}),
	'0', 'leave nothing absurd');

# --- a worker that ends amid events, and its successor

$background = in_background(q{
	SELECT count(*) FROM generate_series(1, 100000) g, LATERAL (SELECT filler FROM pages WHERE id = 1 + (g::bigint * 7919) % 4000 OFFSET 0) p;});
$pid = info('worker_pid');
# no successor comes while the postmaster is stopped, however long we look
my $postmaster = (split /\n/, slurp_file($node->data_dir . '/postmaster.pid'))[0];
my $session = $node->background_psql('postgres');
$session->query_safe('SELECT 1');
kill 'STOP', $postmaster;
kill 'TERM', $pid;
my $ended = '';
eventually(sub {
	$ended = $session->query_safe('SELECT worker_pid IS NULL, sample_rate FROM working_set_info');
	return $ended =~ /^t/;
});
kill 'CONT', $postmaster;
$session->quit;
like($ended, qr/^t\|0$/, 'the worker ends, and no page is sampled meanwhile');
$node->poll_query_until('postgres', "SELECT worker_pid <> $pid FROM working_set_info")
  or die 'no new worker';
$background->finish;
look_up(20000, 4000);
wait_until('sample_rate > 0 AND sampled_pages > 20 FROM working_set_info',
	'its successor goes on with the table');
# (it may sample few pages at first, and more after a minute of this)
ok(eventually(sub {
		look_up(20000, 4000);
		return $node->safe_psql('postgres', q{
			SELECT predicted_hit_ratio BETWEEN 0.3 AND 0.99 FROM working_set_cache_advice WHERE size_factor = 1}) eq 't';
	}), 'and advises');

# --- killed: the server starts again, and so does the sample

$pid = info('worker_pid');
kill 'KILL', $pid;
until_true($node, "count(*) > 0 FROM working_set_info WHERE sample_rate > 0 AND worker_pid <> $pid", 'server is not back');
look_up(5000, 4000);
wait_until('sampled_pages > 20 FROM working_set_info', 'killed in the act, it begins anew');

# --- room for few, for many, and for none

for my $pages (1024, 32768)
{
	$node->safe_psql('postgres', "ALTER SYSTEM SET working_set.sample_pages = $pages");
	$node->restart;
	look_up(30000, 4000);
	wait_until('sampled_pages > 20 FROM working_set_info', "$pages pages: sampled");
	is(info("sampled_pages <= $pages, shared_memory_bytes < 12 * 1024 * 1024"), 't|t',
		"$pages pages: no more than there is room for");
	wait_until(q{predicted_hit_ratio IS NOT NULL FROM working_set_cache_advice WHERE size_factor = 1},
		"$pages pages: advice")
	  or diag($node->safe_psql('postgres', q{
		SELECT * FROM working_set_cache_advice, working_set_info WHERE size_factor = 1}) . "\n" . changes_of_rate());
	# (of an hour, whose end is far away: pages that leave a window between two looks do no harm)
	is($node->safe_psql('postgres', q{
		SELECT abs(sum(share) - 1) < 1e-9,
		       bool_and(pages >= least(share * size, pg_relation_size(relation, fork) / current_setting('block_size')::float) - 1),
		       sum(pages) <= min(size) + count(*)
		  FROM working_set_relations('1 hour'), approximate_working_set_size_seconds(3600) AS size}),
		't|t|t', "$pages pages: relations");
	is($node->safe_psql('postgres', q{
		SELECT count(*) FROM working_set_relations WHERE bytes > pg_relation_size(relation, fork)}),
		'0', "$pages pages: no relation is larger than its file");
}

my ($ret, $stdout, $stderr) = $node->psql('postgres', 'ALTER SYSTEM SET working_set.sample_pages = 5',
	extra_params => [ '-v', 'VERBOSITY=verbose' ]);
like($stderr, qr/22023.*The number of sampled pages must be 0, or from 1024 to 32768\./s,
	'a few pages are no sample');

$node->safe_psql('postgres', 'ALTER SYSTEM SET working_set.sample_pages = 0');
$node->restart;
look_up(20000, 4000);
is(info('sample_rate, sampled_pages, dropped_samples, shared_memory_bytes < 3000000'), '0|0|0|t',
	'no sample, no memory for it');
is($node->safe_psql('postgres', 'SELECT count(*) FROM working_set_relations'), '0', 'and no relations');
# (its state is from the file at first, and hits are counted a moment later)
wait_until(q{status = 'ok' AND current_hit_ratio IS NOT NULL FROM working_set_recommendation}, 'a recommendation without a sample');
is($node->safe_psql('postgres', q{
	SELECT method, live_bytes IS NULL, current_hit_ratio > 0, expected_hit_ratio IS NULL,
	       working_set() ~ 'there is no cache advice, because working_set.sample_pages is 0',
	       expected_reads_per_second IS NULL,
	       (SELECT count(*) FROM working_set_cache_advice)
	  FROM working_set_recommendation}),
	'plateau_end|t|t|t|t|t|0', 'the recommendation is of plateau_end, there is no advice, and working_set() says why');

# --- next to nothing is used

$node->safe_psql('postgres', 'ALTER SYSTEM RESET working_set.sample_pages');
$node->restart;
# a worker that starts later than the reset begins with an empty sample
wait_until('worker_pid IS NOT NULL FROM working_set_info', 'the worker runs');
my $look = 'SELECT length(filler) FROM pages WHERE id = 1 \g /dev/null' . "\n";
$node->safe_psql('postgres', $look . "SELECT working_set_reset();\n" . $look x 20);
wait_until(q{note = 'too few pages are sampled' OR predicted_hit_ratio IS NOT NULL
	FROM working_set_cache_advice WHERE size_factor = 1}, 'a handful of pages: advice or none');
becomes('postgres', q{
	SELECT pages FROM working_set_relations WHERE relation = 'pages'::regclass AND fork = 'main'},
	'1', 'and the table of which one page was used');

# --- a restart: pages that were read through a ring are in no cache that would use one

# The table of 4000 pages goes through a ring where that is more than a quarter of the cache: up
# to four times the present size, not at eight times.
sub scan
{
	my ($times) = @_;
	$node->safe_psql('postgres', "SET max_parallel_workers_per_gather = 0;\n"
		  . "SELECT count(filler) FROM pages \\g /dev/null\n" x $times);
	return;
}
scan(5);
wait_until('sampled_pages > 100 FROM working_set_info', 'scanned');
$node->restart;
wait_for_worker($node);
scan(20);
wait_until('min(predicted_hit_ratio) IS NOT NULL FROM working_set_cache_advice', 'advice after a restart');
is($node->safe_psql('postgres', q{
	SELECT string_agg(size_factor || CASE WHEN predicted_hit_ratio < 0.5 THEN ' misses' WHEN predicted_hit_ratio > 0.9 THEN ' hits' END,
		', ' ORDER BY size_factor)
	  FROM working_set_cache_advice WHERE size_factor IN (1, 4, 8, 16)}),
	'1 misses, 4 misses, 8 hits, 16 hits', 'with a ring nearly all is read, without one it is there from the start');

$node->stop;
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|signal 11/, 'no crash but the one that was made');

done_testing();

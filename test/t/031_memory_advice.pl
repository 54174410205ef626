# The memory advice on a server: rows that agree with each other, with the cache advice and with
# the function of a pair; reads from disk that the prediction is compared with; and why there is no
# prediction.  The clock is the test's.  It takes minutes of it, and more than ten seconds of others,
# until there is advice, so all that needs some is here.

use lib 'test/t';
use server;
use clock;
use library;
use pages;
use IPC::Run;

plan skip_all => 'no control groups are mounted here' unless memory_known();

my $waiting = PostgreSQL::Test::Utils::tempdir() . '/waiting.so';
build_library($waiting, 'test/t/waiting.c');

my $clock = clock->new;
my $node = $clock->new_server("shared_buffers = '16MB'");
make_pages($node);
my $file = $node->data_dir . '/' . $node->safe_psql('postgres', q{SELECT pg_relation_filepath('pages')});

# Five minutes and some, or others, in steps of the worker's counts.
sub five_minutes
{
	my ($before, $steps, $after) = @_;
	for (1 .. $steps // 34)
	{
		$before->() if $before;
		look_up_pages($node);
		$after->() if $after;
		$clock->let_pass($node, 10);
	}
	return;
}

sub doubt { return $node->safe_psql('postgres', 'SELECT coalesce(note, \'\') FROM working_set_memory_advice WHERE present') }

# ---- at first
is(doubt(), 'there is too little data yet', 'at first there is too little data');

# ---- all that is not in shared buffers is in the page cache
look_up_pages($node);
$clock->let_pass($node, 61);
# the first reads of the pages are misses of a page cache that is not full, and no longer count
five_minutes() for 1 .. 2;
is($node->safe_psql('postgres', q{
	SELECT abs(m.predicted_hit_ratio - c.predicted_hit_ratio) < 1e-9, m.predicted_hit_ratio BETWEEN 0.4 AND 0.9,
	       m.memory_bytes = r.memory_limit_bytes, m.shared_buffers_bytes = r.shared_buffers_bytes,
	       m.page_cache_bytes > 0, m.error BETWEEN 0 AND 1
	  FROM working_set_memory_advice m, working_set_cache_advice c, working_set_recommendation r
	 WHERE m.present AND c.size_factor = 1}), 't|t|t|t|t|t', 'the row of what there is agrees with the other views');
# (another program of the machine may need the memory)
is($node->safe_psql('postgres', q{
	SELECT count(*) FROM (
	  SELECT predicted_disk_reads_per_second > 1.02 * lag(predicted_disk_reads_per_second) OVER (ORDER BY memory_bytes) + 1 AS rises,
	         shared_buffers_bytes > 0.75 * (shared_buffers_bytes + page_cache_bytes) AS too_large,
	         shared_buffers_bytes IS NULL AS nameless
	    FROM working_set_memory_advice WHERE NOT present AND predicted_hit_ratio IS NOT NULL) best
	 WHERE rises OR too_large OR nameless}), 0, 'more memory does not read more from disk, and both caches have a part');
is($node->safe_psql('postgres', q{
	SELECT count(*), count(*) FILTER (WHERE (f.shared_buffers_bytes, f.page_cache_bytes, f.predicted_os_hit_ratio, CASE WHEN NOT v.present THEN f.note END)
	                                         IS DISTINCT FROM (v.shared_buffers_bytes, v.page_cache_bytes, v.predicted_os_hit_ratio, CASE WHEN NOT v.present THEN v.note END))
	  FROM working_set_memory_advice v, working_set_memory_advice(v.memory_bytes, CASE WHEN v.present THEN v.shared_buffers_bytes END) f}),
	'16|0', 'the function of a pair says the same');
is($node->safe_psql('postgres', q{
	SELECT count(*), count(*) FILTER (WHERE trim(substr(line, 29, 7)) = coalesce(round(predicted_disk_reads_per_second)::bigint::text, '')
	                                    AND (substr(line, 36, 2) = '?|') = (note IS NOT NULL)
	                                    AND pg_size_bytes(nullif(trim(substr(line, 20, 8)), '')) IS NOT DISTINCT FROM pg_size_bytes(pg_size_pretty(shared_buffers_bytes)))
	  FROM string_to_table(working_set_memory_chart(), E'\n') line
	  JOIN working_set_memory_advice ON trim(substr(line, 11, 8)) = pg_size_pretty(memory_bytes) AND (line LIKE 'now%') = present
	 WHERE line NOT LIKE 'suggested%'}),
	'12|12', 'the chart shows what the view does') or diag($node->safe_psql('postgres', 'SELECT working_set_memory_chart()'));
my $outside = 'outside the shared_buffers that are predicted: ';
is($node->safe_psql('postgres', q{
	SELECT note ~ ('^} . $outside . q{' || pg_size_pretty(pg_size_bytes(current_setting('shared_buffers')) / 4) || ' to ') AND
	       predicted_hit_ratio IS NULL AND predicted_disk_reads_per_second IS NULL AND error IS NULL
	  FROM working_set_memory_advice(2000000000::bigint * 1000000, 1000000000::bigint * 1000000)}),
	't', 'nothing is predicted outside the simulated sizes, and the note says which they are');
is($node->safe_psql('postgres', q{
	SELECT string_agg(format('%s:%s', coalesce(note, '') LIKE '} . $outside . q{%', predicted_hit_ratio IS NULL), ' ' ORDER BY n)
	  FROM (VALUES (1, 4.0), (2, 4.1)) size (n, part), working_set_recommendation,
	       working_set_memory_advice(memory_limit_bytes, (pg_size_bytes(current_setting('shared_buffers')) / part)::bigint)}),
	'f:f t:t', 'which begin with a quarter of the present one');
is($node->safe_psql('postgres', q{
	SELECT count(*) FROM working_set_memory_advice WHERE present AND predicted_disk_reads_per_second < 20 AND coalesce(note, '') !~ 'were predicted'}),
	1, 'nearly nothing is read from disk, neither predicted nor really') or diag($node->safe_psql('postgres', 'SELECT predicted_disk_reads_per_second, note FROM working_set_memory_advice WHERE present'));

unlike(doubt(), qr/of the pages that the page cache has memory for/, 'as many pages are in the page cache as it has memory for');

# ---- which machine
my $machines = PostgreSQL::Test::Utils::tempdir() . '/machines.csv';
# (with less than this machine has, little would be left beside what else runs on it)
my ($here) = $node->safe_psql('postgres', 'SELECT memory_limit_bytes / 1048576 FROM working_set_recommendation');
append_to_file($machines, sprintf("tiny, 30MB, 1\r\n\nsmall, %dMB, 50, 0.2, 5\nlarge,%dMB,800,,\nmiddle,%dMB,200,0.2,\n", $here, 2 * $here, 1.5 * $here));
sub which
{
	my @options = @_;
	my ($out, $err) = ('', '');
	my $ok = IPC::Run::run([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), @options, '-f', 'monitoring/which_instance.sql' ], '>', \$out, '2>', \$err);
	return $ok ? $out : "failed: $err";
}
my $answer = which('-v', "file=$machines", '-v', 'reads=100');
like($answer, qr/^tiny\|30MB\|\|\|\|\|\|\|\|not known\|outside.*\n?/m, 'a machine that is too small is not known');
SKIP: {
skip 'reads from disk cannot be measured: ' . doubt(), 3 if doubt() ne '';
like($answer, qr/^now, \d{4}-\d\d-\d\d \d\d:\d\d\|\d+MB\|\d+MB\|[01][.]\d+\|0[.]\d+\|\d+\|[\d.]+\|[\d.]*\|\|the present machine\|/, 'the present machine comes first')
  or diag($answer);
like($answer, qr/^small\|\d+MB\|\d+MB\|[01][.]\d+\|0[.]\d+\|\d+\|[\d.]+\|[\d.]*\|5\d[.]\d\d\|cheapest that is enough\|/m, 'the cheapest that is enough is marked')
  or diag($answer);
like($answer, qr/^middle\|.*\|enough\|.*\nlarge\|\d+MB\|.*\|800[.]00\|enough\|/m, 'others are enough, too, in the order of what they cost');
}
like(which('-v', "file=$machines", '-v', 'reads=100', '-v', 'share=0.5'), qr/^small\|.*\|(read time not known|not known|cheapest that is enough)\|/m, 'a share of query time is a bound if it is known');
unlike(which('-v', "file=$machines", '-v', 'reads=-1'), qr/cheapest/, 'nothing is less than nothing');
like(which(), qr/^failed: .*ERROR: .*name the machines/s, 'without a list it asks for one');
like(which('-v', "file=$machines.empty"), qr/^failed: .*ERROR: .*there is no machine in the file/s, 'or for one that has lines');
like(which('-v', "file=$machines", '-c', 'BEGIN'), qr/^End the transaction first/m, 'it does not end a transaction that is not its own');
like(which('-c', 'BEGIN'), qr/^End the transaction first/m, 'nor makes it fail, whatever else is wrong');
append_to_file($machines, "bad,many,1\n");
like(which('-v', "file=$machines"), qr/^failed: .*ERROR: .*many/s, 'and a bad one is an error');
append_to_file("$machines.semicolons", "large;15GB;180\n");
like(which('-v', "file=$machines.semicolons"), qr/^failed: .*ERROR: .*invalid size/s, 'as is a line without a size');
like(which('-v', "file=$machines", '-d', $node->connstr('template1')), qr/^failed: .*ERROR: .*the extension working_set is not installed/s, 'so is a database without the extension');

# ---- a client that waits; of one kind the kernel shows nobody what it reads
$node->safe_psql('postgres', "CREATE FUNCTION wait_for_read(text) RETURNS void LANGUAGE C STRICT AS '$waiting', 'ws_test_wait'");
sub begin_waiting
{
	my ($kind) = @_;
	my $client = $node->background_psql('postgres');
	$client->query_until(qr/begins/, "\\echo begins\nSELECT wait_for_read('$kind');\n");
	$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event_type = 'IO' AND query = 'SELECT wait_for_read(''$kind'');'")
	  or die "$kind does not wait";
	return $client;
}

sub end_waiting
{
	my @clients = @_;
	# (with a timeout in ms it waits until the process is gone)
	$node->safe_psql('postgres', sprintf q{SELECT pg_terminate_backend(pid, %d) FROM pg_stat_activity WHERE query LIKE 'SELECT wait_for_read%%'}, 1000 * patience());
	$_->{run}->finish for @clients;
	return;
}
my $hidden = begin_waiting('hidden');
$clock->let_pass($node, 10) for 1 .. 2;
like(doubt(), qr{^not checked: reads from disk cannot be measured: /proc/[0-9]+: Permission denied$}, 'reads that are not shown are named');
end_waiting($hidden);
$clock->let_pass($node, 10) for 1 .. 2;
unlike(doubt(), qr/cannot be measured/, 'and when that process has ended, they are measured again');

# ---- and now it is not, whatever is predicted
sub evict
{
	my $evicted = shift // $file;
	system_or_bail('sync', $evicted);
	run_command([ 'dd', "of=$evicted", 'oflag=nocache', 'conv=notrunc', 'count=0' ]);
	return;
}

# Blocks a second that were really read, as the note has it, or as predicted if that is nearly the same.
sub measured
{
	my ($predicted, $note) = split /\|/, $node->safe_psql('postgres', q{
		SELECT predicted_disk_bytes_per_second / current_setting('block_size')::int, note FROM working_set_memory_advice WHERE present});
	return $note =~ /were predicted and (\d+) read/ ? $1 : $note =~ /^(not checked|there is too little data)/ ? '' : $predicted;
}

sub really_read
{
	my ($read) = slurp_file('/proc/self/io') =~ /^read_bytes: (\d+)/m;
	return $read;
}

SKIP: {
	evict();
	my $before = really_read();
	slurp_file($file);
	skip 'the files of the server are not on a disk', $node->pg_version < 18 ? 5 : 7 if really_read() == $before;

	# VACUUM reads from disk, and clients do not: how much of all that is theirs is not known
	$node->safe_psql('postgres', 'CREATE TABLE cold AS TABLE pages; CHECKPOINT');
	my $cold = $node->data_dir . '/' . $node->safe_psql('postgres', q{SELECT pg_relation_filepath('cold')});
	five_minutes();
	five_minutes(sub { evict($cold); $node->safe_psql('postgres', 'VACUUM (DISABLE_PAGE_SKIPPING) cold') }, 12);
	like(doubt(), qr/^not checked: VACUUM or the like reads much/, 'reads of VACUUM are not compared');
	$node->safe_psql('postgres', 'DROP TABLE cold');

	# pages that are in the page cache when the worker looks for them, and not when they are used
	five_minutes(\&evict, 34, sub { slurp_file($file) });
	my ($predicted, $read) = doubt() =~ /^for the present sizes (\d+) blocks a second from disk were predicted and (\d+) read/;
	cmp_ok($read // 0, '>', $predicted // 0, 'a prediction that fails is not sure, and what was really read is beside it') or diag(doubt());
	my $by_default = measured();
	$node->safe_psql('postgres', 'SELECT working_set_reset()');
	is(doubt(), 'there is too little data yet', 'a reset forgets it');

	# two clients wait for a read all the time: all of their time
	my @clients = map { begin_waiting($_) } qw(read asynchronous maintenance);

	# the worker looks for pages when time passes
	$clock->let_pass($node, 61);
	for (1 .. 45)
	{
		look_up_pages($node);
		evict();
		$clock->let_pass($node, 10);
	}
	like(doubt(), qr/only [1-3]?\d % of the pages that the page cache has memory for are in it$/, 'pages that are displaced are missed');
	is($node->safe_psql('postgres', q{SELECT predicted_read_time_share > 0.5 FROM working_set_memory_advice WHERE present}),
		't', 'the share of query time is known by who waits')
	  or diag($node->safe_psql('postgres', 'SELECT predicted_read_time_share FROM working_set_memory_advice WHERE present'));
	end_waiting(@clients);

	# the process that reads is another one by then, or a thread of the kernel's
	for my $method ($node->pg_version < 18 ? () : qw(sync io_uring))
	{
		$node->append_conf('postgresql.conf', "io_method = '$method'");
		my $started = $clock->lend(sub { $node->stop; $node->start(fail_ok => 1) });
		SKIP: {
			skip "this server has no $method", 1 unless $started;
			$clock->let_pass($node, 61);
			five_minutes(\&evict, 17);
			# if the memory of the machine changes much meanwhile, the counts start over
			for (1 .. 5) { five_minutes(\&evict, 17) if measured() eq '' }
			cmp_ok(abs(log(measured() / $by_default)), '<', log(2), "with io_method $method, what is read is measured");
		}
	}
	if ($node->pg_version >= 18)
	{
		$node->append_conf('postgresql.conf', "io_method = 'worker'");
		$clock->lend(sub { $node->stop('fast', fail_ok => 1); $node->start });
	}
}

# ---- files that are gone
my $offset = -s $node->logfile;
$node->safe_psql('postgres', 'DROP TABLE pages; CHECKPOINT');
$clock->let_pass($node, 10) for 1 .. 3;
unlike(slurp_file($node->logfile, $offset), qr/WARNING|ERROR|LOG:  working_set|No such file/, 'of a table that was dropped nothing is logged');

# ---- a server that reads little: of a smaller size enough to predict it, of the present one too little
$node->append_conf('postgresql.conf', "shared_buffers = '4MB'");
$clock->lend(sub { $node->restart });
make_pages($node, 112000);
# most of a few pages that the present size nearly holds, and the others of all, which no size does
sub look_up_some
{
	my ($times) = @_;
	return look_up_pages($node, $times, '(CASE WHEN random() < 0.9 THEN 4500 ELSE 112000 END)');
}
for my $seconds (61, 10)
{
	look_up_some(3000);
	$clock->let_pass($node, $seconds);
}
$node->safe_psql('postgres', 'SELECT working_set_reset()');
for my $seconds (61, (10) x 20)
{
	last if doubt() ne 'there is too little data yet';
	look_up_some(400);
	$clock->let_pass($node, $seconds);
}
unlike(doubt(), qr/^outside/, 'the row of what there is does not say that this is outside of what is predicted');

done_testing();

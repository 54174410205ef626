# The file that survives a restart: with numbers that are out of range under a
# checksum that is right, and of another number of registers.  What is known is kept.

use lib 'test/t';
use server;
use kept;
use state_file;
use trials;

my ($node, $path, $good, $content) = new_kept();

write_raw($path, $content);
start($node);
is(rows_put($node), 9, 'what is put into the file is in the history');
cmp_ok(size($node, 'NULL'), '>', $used, 'and the set is there');
$node->stop;

# ---- numbers out of range, and numbers at random, under a right checksum

# Everything that reads what was taken over; all sizes are sizes.
my $read_all = q{
	SELECT count(*), coalesce(bool_and(least(bytes, resident_bytes, reused_bytes) >= 0 AND relation <> ''), true)
	  FROM working_set_relations('1 hour');
	SELECT count(*), coalesce(bool_and(coalesce(least(working_set_bytes, recommended_cache_bytes), 0) >= 0
	                                   AND hits BETWEEN 0 AND lookups), true) FROM working_set_history;
	SELECT status, coalesce(least(working_set_bytes, plateau_end_bytes, live_bytes, recommended_cache_bytes, peak_cache_bytes), 0) >= 0 AND reason IS NOT NULL FROM working_set_recommendation;
	SELECT tracking, sampled_pages >= 0 FROM working_set_info;
	SELECT count(*), bool_and(pages >= 0) FROM working_set_curve;
	SELECT count(*), bool_and(predicted_hit_ratio IS NULL OR predicted_hit_ratio BETWEEN 0 AND 1) FROM working_set_cache_advice;
};

sub try_state
{
	my ($name, $state, $why) = @_;
	write_raw($path, state_of($state));
	unlink "$path.bad";
	mark_log($node);
	start($node);
	wait_for($node, q{computed_at IS NOT NULL OR (pg_stat_file('pg_stat/working_set.saved.bad', true)).size IS NOT NULL
		FROM working_set_recommendation}, 'nothing is recommended');
	my $answer = sql($node, $read_all);
	is(scalar(() = $answer =~ /\|t$/mg), 6, "$name: all functions answer, and sizes are sizes") or diag($answer);
	$node->stop;
	my $log = log_since($node);
	like($log, qr/is not used: $why$/m, "$name: the log says why") if $why;
	unlike($log, qr/terminated by signal|PANIC|TRAP/, "$name: nothing has crashed");
	return $log !~ /is not used/;
}

cmp_ok($good->{pages}, '>', 100, 'there are sampled pages');
for my $case (
	[ 'a fork too many', 12, 4, 'a page in it cannot exist' ],
	[ 'relation 0', 8, 0, 'a page in it cannot exist' ],
	[ 'tablespace 0', 0, 0, 'a page in it cannot exist' ],
	[ 'no block', 16, 0xFFFFFFFF, 'a page in it cannot exist' ])
{
	my ($name, $at, $value, $why) = @$case;
	my $state = { %$good };
	set_u32($state, page_at($good, $_) + $at, $value) for 0 .. $good->{pages} - 1;
	ok(!try_state($name, $state, $why), "$name: it is not used");
}
for my $pages (1e300, -1, 9e15)
{
	my $state = { %$good };
	minute_row($state, $now - 60, ($pages) x 2, 10, 5);
	ok(!try_state("$pages pages", $state, 'a size is out of range'), "$pages pages: it is not used");
}

# At random: half of what is changed is in range, so that some of the files are used.
srand(seeded(42));
my $used_files = 0;
my $files = trials(50);
for my $i (1 .. $files)
{
	my $state = { %$good };
	for (1 .. 1 + rand 4)
	{
		my $kind = int rand 6;
		my $any = page_at($good, int rand $good->{pages});
		set_u32($state, $any + 4 * int(rand 3), int rand 2**32) if $kind == 0;
		set_u32($state, $any + 12, int rand 6) if $kind == 1;
		set_u32($state, $any + 16, int rand 2**32) if $kind == 2;
		minute_row($state, $now - 60 * int(rand 60), (2**rand(50)) x 2, 2**40, 2**39) if $kind == 3;
		quarter_row($state, $now - 900 * int(rand 2000), (2**rand(41)) x 2, 5, int rand 6) if $kind == 4;
		set_u32($state, int(rand(length($state->{body}) / 4)) * 4, int rand 2**32) if $kind == 5;
	}
	$used_files += try_state("random file $i", $state);
}
SKIP:
{
	skip 'another seed may have spoiled these few', 1 if $ENV{WS_SEED} && $files < 50;
	cmp_ok($used_files, '>', 0, "of $files random files $used_files were used");
}

# ---- another number of registers: the history comes along
write_raw($path, $content);
unlink "$path.bad";
mark_log($node);
$node->append_conf('postgresql.conf', 'working_set.registers = 2048');
start($node);
is(rows_put($node), 9, 'with another number of registers the history is kept');
cmp_ok(size($node, 'NULL'), '<', $forgotten, 'but not the set');
$node->stop;
is(scalar(() = log_since($node) =~ /LOG: .*of what was saved in file .* only the history is used: it is of another number of registers$/mg),
	1, 'which one line of the log says');
ok(!-e "$path.bad", 'and nothing is put aside');
start($node);
is(rows_put($node), 9, 'it is still there after the next restart');
$node->stop;
$node->append_conf('postgresql.conf', 'working_set.registers = 1024');

done_testing();

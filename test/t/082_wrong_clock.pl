# The file that survives a restart, and a clock that is wrong: behind, or ahead of the one that it was
# saved by.

use lib 'test/t';
use server;
use clock;
use kept;
use state_file;

my ($node, $path, $good, $content) = new_kept();

my $clock = clock->new(running => 1);
my $forty_days = 40 * 86400;

# the same file as if it were from then: to it the clock is behind
my $later = { %$good };
$later->{at} += $forty_days * 1000;
minute_row($later, $now + $forty_days - 60 * $_, 4000, 4321, 1000, 900) for 1 .. 3;
write_raw($path, state_of($later));
mark_log($node);
$clock->lend(sub { start($node) });
cmp_ok(size($node, 'NULL'), '<', $forgotten, 'a clock that is 40 days behind: the set is not believed');
like(log_since($node), qr/LOG: .*of what was saved in file .* only the history is used: it is from the future$/m, 'which the log says');
ok(!-e "$path.bad", 'nothing is put aside');
is(rows_put($node), 9, 'the history is there as far as it is past');
saved($node);
$clock->set_wall($forty_days);
eventually(sub { rows_put($node) == 3 }) or die 'the history does not come back';
pass('and the rest when the clock is right');
$node->stop;

# saved by a clock that is ahead, and read by one that is right
write_raw($path, $content);
$clock->lend(sub { start($node) });
saved($node);
is(rows_put($node), 0, 'a clock that is 40 days ahead: the history is of long ago');
$node->stop;
$clock->set_wall(-$forty_days);
mark_log($node);
$clock->lend(sub { start($node) });
is(rows_put($node), 9, 'after a restart with the right clock it is there');
like(log_since($node), qr/LOG: .*only the history is used: it is from the future$/m, 'and the log says that the set is not');
ok(!-e "$path.bad", 'nothing is put aside');
saved($node);
$node->stop;
$clock->lend(sub { start($node) });
is(rows_put($node), 9, 'nor is it lost later');
finish($node);

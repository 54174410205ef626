# What is forgotten where there is no worker stays forgotten, and it is said when that is not possible.

use lib 'test/t';
use server;
use kept;
use state_file;

my ($node, $path, $good, $content) = new_kept();

my $dir = $node->data_dir . '/pg_stat';
my $no_worker = 'max_worker_processes = 0';
my $worker = 'max_worker_processes = 8';

write_raw($path, $content);
$node->append_conf('postgresql.conf', $no_worker);
$node->start;
is(sql($node, 'SELECT worker_pid FROM working_set_info'), '', 'there is no worker');
sql($node, 'SELECT approximate_working_set_size(true)');
$node->stop('immediate');
$node->append_conf('postgresql.conf', $worker);
mark_log($node);
start($node);
cmp_ok(size($node, 'NULL'), '<', $forgotten, 'the set stays forgotten');
is(rows_put($node), 9, 'the history, which was not to be forgotten, is there');
unlike(log_since($node), qr/working_set\.saved/, 'and the log does not complain');
$node->stop;

write_raw($path, $content);
$node->append_conf('postgresql.conf', $no_worker);
$node->start;
sql($node, 'SELECT working_set_reset()');
$node->stop('immediate');
$node->append_conf('postgresql.conf', $worker);
start($node);
cmp_ok(size($node, 'NULL'), '<', $forgotten, 'after the other reset the set stays forgotten');
is(rows_put($node), 0, 'and so does the history');
$node->stop;

# it is said when that is not possible
SKIP:
{
	skip 'root may write anywhere', 5 if $> == 0;
	write_raw($path, $content);
	$node->append_conf('postgresql.conf', $no_worker);
	$node->start;
	chmod 0500, $dir or die $!;
	my (undef, undef, $err) = $node->psql('postgres', 'SELECT approximate_working_set_size(true)');
	my $warned = qr/WARNING:  working_set: could not correct file .*\nDETAIL:  What was forgotten comes back/;
	like($err, $warned, 'a reset that does not last says so');
	(undef, undef, $err) = $node->psql('postgres', 'SELECT working_set_reset()');
	like($err, $warned, 'as does the other');
	like(slurp_file($node->logfile), $_, 'and the log says why')
	  for qr/LOG:  working_set: could not create file .*working_set\.saved\.tmp": Permission denied/,
	  qr/LOG:  could not remove file .*working_set\.saved": Permission denied/;
	chmod 0700, $dir or die $!;
	sql($node, 'SELECT working_set_reset()');
	ok(!-e $path, 'and when it is possible again, it is done');
	$node->stop;
}

# a reset needs no space, and leaves nothing that an untracked hour could be counted from
write_raw($path, $content);
$node->append_conf('postgresql.conf', "$no_worker\nworking_set.enabled = off");
$node->start;
mkdir "$path.tmp" or die $!;
is(($node->psql('postgres', 'SELECT working_set_reset()'))[2], '', 'a reset that cannot write a file removes it');
ok(!-e $path, 'so that nothing comes back');
is(sql($node, 'SELECT last_saved FROM working_set_info'), '', 'and nothing is saved');
$node->stop;
clear("$path.tmp");

done_testing();

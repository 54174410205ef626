# Concurrency: a minute and a half of bench/hammer, which is told there.  64 clients read while others
# reset, read all there is to read, change settings, and end, stop and kill the worker.

use lib 'test/t';
use server;
use IPC::Run;

plan skip_all => 'bench/hammer runs in the sandbox only' unless $ENV{WS_SANDBOX};

my ($out, $err) = ('', '');
my $ok = IPC::Run::run([ 'bench/hammer', '--seconds', '90' ], '<', \'', '>', \$out, '2>', \$err,
	IPC::Run::timeout(3 * patience(), exception => 'bench/hammer hangs'));

# The table: what was done how often, what was checked how often, and what was wrong.
my (%times, %violations);
for my $line (split /\n/, $out)
{
	next unless $line =~ /^  (.*?) +(\d+)(?: +(\d+))? *$/;
	$times{$1} = $2;
	$violations{$1} = $3 if defined $3;
}

# 80 seconds of it at full speed are more than enough for some of each
cmp_ok($times{$_} // 0, '>', 0, "done: $_")
  for 'look-up', 'range', 'scan', 'nested loop', 'write', 'insert', 'table made and dropped', 'table vacuumed',
  'database made and dropped', 'working_set_reset()', 'working_set_reset(), meeting readers', 'approximate_working_set_size(true)',
  'setting changed by reload', 'switched off and on', 'worker ended (SIGTERM)',
  'worker stopped (SIGSTOP, SIGCONT)', 'worker killed (SIGKILL)', q{client's process killed (SIGKILL)},
  'lie shown to the checks';
cmp_ok($times{$_} // 0, '>', 0, "seen: $_") for 'ok', 'collecting', 'stale', 'not tracking';
for my $what (qw(curve sizes relations advice recommendation history info))
{
	cmp_ok($times{$what} // 0, '>', 0, "checked: $what");
	is($violations{$what}, 0, "nothing wrong: $what");
}
ok($ok, 'no crash, no hang, no error, and no more memory than at first')
  or diag($out =~ s/\A(.*)(^Violations:.*)\z/$2\n$1/msr, "\n$err");

done_testing();

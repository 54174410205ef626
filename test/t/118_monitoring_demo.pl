# A quarter of a minute of monitoring/demo, which leaves nothing behind.

use strict;
use warnings;
use FindBin;
use IO::Socket::INET;
use IPC::Run;
use lib $FindBin::Bin;
use patience;
use Test::More;
use scrape;

for my $program (qw(prometheus promtool prometheus-sql-exporter))
{
	plan skip_all => "$program is missing" unless find_program($program);
}
plan skip_all => 'monitoring/demo runs in the sandbox only' unless $ENV{WS_SANDBOX};

sub free
{
	my ($port) = @_;
	return !IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port, Timeout => 5);
}

# 1 while the process is there
sub alive
{
	my ($pattern) = @_;
	for my $dir (glob('/proc/[0-9]*'))
	{
		open my $fh, '<', "$dir/cmdline" or next;
		local $/;
		my $line = <$fh> // '';
		return 1 if index($line, $pattern) >= 0;
	}
	return 0;
}

my ($out, $err) = ('', '');
my $ok = IPC::Run::run([ 'monitoring/demo', '--short' ], '<', \'', '>', \$out, '2>', \$err, IPC::Run::timeout(patience()));
ok($ok, 'monitoring/demo --short') or diag("$out\n$err");
like($out, qr/^  $_ /m, "it shows $_") for qw(working_set_tracking working_set_shared_buffers_bytes
  instance:working_set_lookups:rate5m cluster:working_set_instances:count WorkingSetExceedsMemory SharedBuffersOversized);
like($out, qr/metrics of monitoring\/README.md looked for, all there/, 'and says that all is there');
my @ports = $out =~ m{http://127\.0\.0\.1:(\d+)}g;
is(scalar(@ports), 2, 'it has an exporter and Prometheus');
ok(free($_), 'whose port is free again') for @ports;
ok(!alive("$ENV{WS_SANDBOX}/data") && !-e "$ENV{WS_SANDBOX}/data/postmaster.pid", 'its server is stopped');
ok(!alive("$ENV{WS_SANDBOX}/tmp/monitoring"), 'no process of it is left');

done_testing();

# follow/working_set_follow: options that are refused, and that the documents and examples have options
# and defaults that there are, every state, and no right too many.

use strict;
use warnings;
use FindBin;
use CPAN::Meta::YAML;
use IPC::Run;
use lib $FindBin::Bin;
use patience;
use PostgreSQL::Test::Utils;
use Test::More;
use follower;
use scrape;

find_program('python3') or plan skip_all => 'there is no python3 on PATH';

my @group = ('--cgroup', $tmp, '--ceiling', '1GB');
my @remote = ('--pod', 'a/b', '--container', 'c', '--own', '1MB', '--ceiling', '1GB');
for my $case (
	[ 'no target', qr/one of --cgroup and --pod is needed/, '--ceiling', '1GB' ],
	[ 'two targets', qr/one of --cgroup and --pod is needed/, @group, @remote ],
	[ 'no ceiling', qr/required: --ceiling/, '--cgroup', $tmp ],
	[ 'a size without a unit', qr/argument --ceiling: '100' is not a size like 512MB or 2GB/, @group, '--ceiling', '100' ],
	[ 'a floor above the ceiling', qr/the floor is above the ceiling/, @group, '--floor', '2GB' ],
	[ 'a file of a group for a pod', qr/--limit is for --cgroup/, @remote, '--limit', 'max' ],
	[ 'no step', qr/argument --max-shrink: a step of 0% changes nothing/, @group, '--max-shrink', '0%' ],
	[ 'a ceiling of nothing', qr/the ceiling is below 1MB/, '--cgroup', $tmp, '--ceiling', '1000kB' ],
	[ 'a share above all', qr/argument --dead-band: '101%' is not a share from 0% to 100%/, @group, '--dead-band', '101%' ],
	[ 'no time', qr/--interval and --timeout cannot be 0/, @group, '--interval', '0' ],
	[ 'negative time', qr/argument --cooldown: '-1' is not a number of seconds/, @group, '--cooldown=-1' ],
	[ 'endless time', qr/argument --interval: 'inf' is not a number of seconds/, @group, '--interval', 'inf' ],
	[ 'an unknown confidence', qr/argument --confidence: invalid choice/, @group, '--confidence', 'some' ],
	[ 'a pod without a container', qr/--pod needs --container and --own/, '--pod', 'a/b', '--ceiling', '1GB' ],
	[ 'a pod without a namespace', qr/argument --pod: 'b' is not NAMESPACE\/NAME/, @remote, '--pod', 'b' ],
	[ 'a pod with a path', qr/argument --pod: 'a\/\.\.' is not NAMESPACE\/NAME/, @remote, '--pod', 'a/..' ],
	[ 'a pod, outside of one', qr/outside of a pod, --api is needed/, @remote ],
	[ 'a group with a token', qr/are for --pod/, @group, '--token', 'x' ],
	[ 'no URL', qr/'ftp:\/\/x' is not the URL of an API/, @remote, '--api', 'ftp://x' ],
	[ 'a token without TLS', qr/a token is not sent to example\.org without TLS/, @remote, '--api', 'http://example.org' ],
	[ 'no directory for metrics', qr/there is no directory for \S+\/none\/x/, @group, '--metrics', "$tmp/none/x" ],
	[ 'another option', qr/unrecognized arguments: --shrink/, @group, '--shrink' ])
{
	my ($what, $pattern, @options) = @$case;
	delete local $ENV{KUBERNETES_SERVICE_HOST};
	my $err = '';
	IPC::Run::run([ program(), @options ], '<', '/dev/null', '>', '/dev/null', '2>', \$err);
	is($? >> 8, 2, "$what: status 2");
	like($err, qr/^working_set_follow: error: .*$pattern/m, 'and a clear message');
}

# ---------------------------------------------------------------- documents

my $help = `'${\ program()}' --help`;
is($?, 0, '--help');
my %known = map { $_ => 1 } $help =~ /(--[a-z-]+)/g;
my $page = slurp_file("$top/doc/follow.md");
for my $file ('doc/follow.md', 'follow/working_set_follow.1', glob("$top/follow/*.{yaml,service}"))
{
	my $text = slurp_file($file =~ m{^/} ? $file : "$top/$file") =~ s/\\-/-/gr;
	# those of other programs
	my @options = grep { !/^--(?:from-literal|no-install-recommends|now|port|selector)$/ } $text =~ /(?<![\w-])(--[a-z][a-z-]*)/g;
	cmp_ok(scalar @options, '>', 0, "$file has options");
	is(join(' ', grep { !$known{$_} } @options), '', 'and the program has them');
}
my %default;
for ($help =~ s/\s+/ /gr =~ /(--[a-z-]+ [A-Z{][^-]*?\(default: [^)]*\))/g)
{
	my ($option, $value) = /^(--[a-z-]+) .*\(default: ([^ )]+)/;
	$default{$option} = $value;
}
my %documented = $page =~ /^\| `(--[a-z-]+)` \| `?(\w+%?)`?(?: s)? \|/mg;
is($documented{$_}, $default{$_}, "the default of $_")
  for grep { $documented{$_} } sort keys %default;
cmp_ok(scalar(grep { $documented{$_} } keys %default), '>=', 6, 'defaults are documented');
my %states = map { $_ => 1 } slurp_file(program()) =~ /^STATES = \[(.*?)\]/ms ? $1 =~ /"([^"]+)"/g : ();
is(join(', ', sort keys %{ { map { $_ => 1 } ($page =~ /^## When something is in doubt$(.*?)^## /ms)[0] =~ /^\| [^|]+ \| `([a-z ]+)` \| [^|]+\|$/mg } }), join(', ', sort keys %states), 'every state is documented');

# The rights in kubernetes.yaml are those for the requests above.
my ($rules) = grep { $_->{kind} eq 'Role' } @{ CPAN::Meta::YAML->read_string(slurp_file("$top/follow/kubernetes.yaml")) };
is(join(' ', map { "$_->{resources} $_->{resourceNames} $_->{verbs}" } @{ $rules->{rules} }), '[pods] [db-1] [get] [pods/resize] [db-1] [patch]', 'no right but those that it needs');

done_testing();

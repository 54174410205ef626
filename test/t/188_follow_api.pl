# follow/working_set_follow in a pod of Kubernetes: answers of the API that are failures, or no pod, or
# lost, and pods that cannot be followed.  Neither is anything asked for then, nor does the program end.

use strict;
use warnings;
use FindBin;
use JSON::PP;
use lib $FindBin::Bin;
use patience;
use PostgreSQL::Test::Utils;
use Test::More;
use follower;
use pod_api;
use scrape;

find_program('python3') or plan skip_all => 'there is no python3 on PATH';

my $node = pretending_server();

new_pod(limit => '256Mi', request => '256Mi');
new_token('first');
recommend(bytes => 300 * $mb);
my $follower = start(@pod, '--max-shrink', '100%');
serve_until('a pod grows', sub { resources()->{limits}{memory} eq '375Mi' });
recommend(bytes => 100 * $mb);
serve_until('it shrinks', sub { resources()->{limits}{memory} eq '175Mi' });

# refused(WHAT, METHOD, ANSWER, STATE, PATTERN)
sub refused
{
	my ($what, $method, $answer, $state, $pattern) = @_;
	my $was = resources()->{limits}{memory};
	my $failures = metric($follower, 'failures_total');
	$api->{$method} = $answer;
	recommend(bytes => 500 * $mb);
	serve_until("$what: reported", sub { printed($follower) =~ /^$state: $pattern$/m });
	serve_rounds("$what: then", 4);
	is(() = printed($follower) =~ /^$state: $pattern$/mg, 1, 'once');
	cmp_ok(metric($follower, 'failures_total'), '>', $failures + 1, 'it tries again');
	is(resources()->{limits}{memory}, $was, 'nothing has changed');
	delete $api->{$method};
	serve_until("$what: it goes on", sub { resources()->{limits}{memory} eq '575Mi' });
	recommend(bytes => 100 * $mb);
	serve_until("$what: and back", sub { resources()->{limits}{memory} eq '175Mi' });
	return;
}

my $forbidden = 'pods "db-1" is forbidden: User "x" cannot patch resource "pods/resize"';
refused('no right', 'PATCH', [ 403, 'Forbidden', $forbidden ], 'target not written', "the Kubernetes API answers 403 to PATCH \\S+/resize: \Q$forbidden\E");
refused('no such subresource', 'PATCH', [ 404, 'NotFound', 'the server could not find the requested resource' ], 'target not written', '.* answers 404 to PATCH .*');
refused('not valid', 'PATCH', [ 422, 'Invalid', 'Pod "db-1" is invalid' ], 'target not written', '.* answers 422 to PATCH \S+: Pod "db-1" is invalid');
refused('no right to read', 'GET', [ 403, 'Forbidden', 'pods "db-1" is forbidden' ], 'target not read', '.* answers 403 to GET .*');
refused('a failure', 'GET', [ 500, 'InternalError', 'etcd' ], 'target not read', '.* answers 500 to GET .*');

# answers that are no pod: neither is anything asked for, nor does the program end
sub another_pod
{
	my ($change) = @_;
	my $pod = decode_json(encode_json($api->{pod}));
	$change->($pod);
	return encode_json($pod);
}

for my $case (
	[ 'no JSON', '<html>log in</html>', 'the Kubernetes API answers 200 to GET \S+: not an object of JSON' ],
	[ 'nothing', '', '.*: not an object of JSON' ],
	[ 'a list', '[1]', '.*: not an object of JSON' ],
	[ 'a deep one', '[' x 100000, '.*: not an object of JSON' ],
	[ 'bytes', "\xff\xfe\0", '.*: not an object of JSON' ],
	[ 'half of it', substr(encode_json($api->{pod}), 0, 100), 'the Kubernetes API does not answer: IncompleteRead.*' ],
	[ 'another object', '{"kind":"Status"}', 'pod prod/db-1 has another form than expected: KeyError.*' ],
	[ 'no containers', another_pod(sub { $_[0]{spec}{containers} = undef }), '.* another form than expected: TypeError.*' ],
	[ 'no version', another_pod(sub { delete $_[0]{metadata}{resourceVersion} }), '.* another form than expected: KeyError.*' ],
	[ 'no status of containers', another_pod(sub { $_[0]{status}{containerStatuses} = undef }), '.* another form than expected: TypeError.*' ],
	[ 'no count of restarts', another_pod(sub { delete $_[0]{status}{containerStatuses}[0]{restartCount} }), '.* another form than expected: KeyError.*' ],
	[ 'no list of conditions', another_pod(sub { $_[0]{status}{conditions} = undef }), '.* another form than expected: TypeError.*' ],
	(map {
		my $size = $_;
		[ 'a limit of ' . (ref $size ? 'a list' : $size || 'no text'), another_pod(sub { $_[0]{spec}{containers}[1]{resources}{limits}{memory} = $size }), '.* another form than expected: \w+Error.*' ]
	} '', 'much', '1.2.3Gi', '1e999', '-1Gi', [1]))
{
	my ($what, $answer, $pattern) = @$case;
	$api->{missing} = 1000 if $what eq 'half of it';
	$api->{GET} = $answer;
	my $patches = requests_of('PATCH');
	my $seen = length printed($follower);
	recommend(bytes => 500 * $mb);
	serve_until("$what: reported", sub { substr(printed($follower), $seen) =~ /^target not read: $pattern$/m });
	serve_rounds("$what: then", 2);
	is(requests_of('PATCH'), $patches, 'nothing is asked for');
	recommend(bytes => 100 * $mb);
	delete $api->{$_} for qw(GET missing);
	# nor has a round that read the one and then the other
	serve_until("$what: it goes on", sub {
		printed($follower);
		metric($follower, 'state{state="following"}') == 1 && resources()->{limits}{memory} eq '175Mi';
	});
}
serve_until('as before', sub { resources()->{limits}{memory} eq '175Mi' });

# changed between reading and writing: the API refuses, and the next round finds a limit of another's
my $changed;
{
	no warnings 'redefine';
	my $real = \&pod_api::answer;
	local *pod_api::answer = sub {
		my ($method) = @_;
		if ($method eq 'PATCH' && !$changed++)
		{
			resources()->{$_}{memory} = '900Mi' for qw(limits requests);
			$api->{pod}{metadata}{resourceVersion}++;
		}
		return $real->(@_);
	};
	recommend(bytes => 500 * $mb);
	serve_until('somebody else was faster', sub { printed($follower) =~ /^target not written: .* answers 409 to PATCH/m });
}
serve_until('and the limit stays theirs', sub { printed($follower) =~ /^changed by others: pod prod\/db-1: the limit was set to 900 MB/m });
serve_rounds('for some rounds', 4);
is(resources()->{limits}{memory}, '900Mi', 'it does');
# a new pod of that name
$api->{pod}{metadata}{uid} = 'uid-2';
serve_until('of a new pod it is where it begins', sub { resources()->{limits}{memory} eq '575Mi' });

# it is done, but the answer does not come
{
	no warnings 'redefine';
	my ($real, $lost) = \&pod_api::answer;
	local *pod_api::answer = sub {
		my @answer = $real->(@_);
		return $_[0] eq 'PATCH' && !$lost++ ? (200, '') : @answer;
	};
	recommend(bytes => 300 * $mb);
	serve_until('the answer is lost', sub { printed($follower) =~ /^target not written: .* answers 200 to PATCH/m });
}
is(resources()->{limits}{memory}, '375Mi', 'and the limit is another');
recommend(bytes => 500 * $mb);
serve_until('it knows its own limit', sub { resources()->{limits}{memory} eq '575Mi' });
stop($follower);

# ---- pods that cannot be followed

new_pod();
new_token('fourth');
delete resources()->{limits}{memory};
$follower = start(@pod);
serve_until('no limit', sub { printed($follower) =~ /^target not read: the container postgres of pod prod\/db-1 has no memory limit/m });
stop($follower);
new_pod(limit => '1Gi');
new_token('fifth');
$follower = start(@pod, '--container', 'pg');
serve_until('no such container', sub { printed($follower) =~ /^target not read: pod prod\/db-1 has no container pg$/m });
write_file($token, 'another');
serve_until('a wrong token', sub { printed($follower) =~ /^target not read: the Kubernetes API answers 401 to GET/m });
for my $case ([ 'two words', 'is empty, or not one word' ], [ "\xff", 'is not text' ], [ '', 'is empty, or not one word' ])
{
	my ($text, $what) = @$case;
	my $seen = length printed($follower);
	write_file($token, $text);
	serve_until("a token that $what", sub { substr(printed($follower), $seen) =~ /^target not read: the token \S+ \Q$what\E$/m });
}
unlink $token;
serve_until('no token', sub { printed($follower) =~ /^target not read: the token \S+ cannot be read: No such file/m });
write_file($token, 'fifth');
close $listener;
wait_for('no API', sub { printed($follower) =~ /^target not read: the Kubernetes API does not answer: .*refused/m });
is(requests_of('PATCH'), 0, 'nothing was asked for');
stop($follower);

all_whole();
$node->stop;
done_testing();

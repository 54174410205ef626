# follow/working_set_follow in a pod of Kubernetes, by an API that the test plays: what it asks for, and
# what it makes of a resizing that is not done, or not yet.

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

# ---- of the class Guaranteed: both the request and the limit

new_pod(limit => '256Mi', request => '256Mi');
new_token('first');
recommend(bytes => 300 * $mb);
my $follower = start(@pod, '--max-shrink', '100%');
serve_until('a pod grows', sub { resources()->{limits}{memory} eq '375Mi' });
my ($patch) = patches();
is("$patch->{method} $patch->{path}", 'PATCH /api/v1/namespaces/prod/pods/db-1/resize', 'by the subresource for it');
is($patch->{headers}{'content-type'}, 'application/strategic-merge-patch+json', 'as a patch that merges containers');
is_deeply(decode_json($patch->{body}),
	{ metadata => { resourceVersion => '100' },
		spec => { containers => [ { name => 'postgres', resources => { limits => { memory => '375Mi' }, requests => { memory => '375Mi' } } } ] } },
	'of the memory of that container, request and limit, in the version that was read');
is_deeply(resources(), { limits => { cpu => '2', memory => '375Mi' }, requests => { cpu => '2', memory => '375Mi' } }, 'the rest stays');
serve_rounds('and then', 5);
is(requests_of('PATCH'), 1, 'no request without a change');
# the token is renewed
new_token('second');
recommend(bytes => 100 * $mb);
serve_until('it shrinks, with a new token', sub { resources()->{limits}{memory} eq '175Mi' });

# a container that would be restarted
my $policy = $api->{pod}{spec}{containers}[1]{resizePolicy} =
  [ { resourceName => 'cpu', restartPolicy => 'RestartContainer' }, { resourceName => 'memory', restartPolicy => 'RestartContainer' } ];
recommend(bytes => 600 * $mb);
serve_until('it would be restarted', sub { printed($follower) =~ /^target not read: the container postgres of pod prod\/db-1 is restarted when its memory changes/m });
serve_rounds('for some rounds', 4);
is(resources()->{limits}{memory}, '175Mi', 'nothing changes');
$policy->[1]{restartPolicy} = 'NotRequired';
serve_until('if it is not, it is followed', sub { resources()->{limits}{memory} eq '675Mi' });

# ---- resizing that the node cannot do, or not yet

for my $condition (
	[ 'PodResizePending', 'Infeasible', 'Node didn\'t have enough capacity: memory, requested: 900, capacity: 800' ],
	[ 'PodResizePending', 'Deferred', 'Node didn\'t have enough resource: memory' ],
	[ 'PodResizeInProgress', 'Error', 'a failure of the runtime' ])
{
	my ($type, $reason, $message) = @$condition;
	my $conditions = $api->{pod}{status}{conditions};
	push @$conditions, { type => $type, status => 'True', reason => $reason, message => $message };
	my $patches = requests_of('PATCH');
	recommend(bytes => 700 * $mb);
	serve_until("$reason: reported", sub { printed($follower) =~ /^resize pending: the last change is not done, $reason: \Q$message\E$/m });
	serve_rounds("$reason: then", 4);
	is(() = printed($follower) =~ /^resize pending: .*, $reason: /mg, 1, 'once');
	is(requests_of('PATCH'), $patches, 'it does not ask for more');
	recommend(bytes => 100 * $mb);
	serve_until("$reason: less can be asked for", sub { resources()->{limits}{memory} eq '175Mi' });
	pop @$conditions;
	recommend(bytes => 500 * $mb);
	serve_until("$reason: and more when that is over", sub { resources()->{limits}{memory} eq '575Mi' });
}

# A lower limit that Kubernetes does not set while the container uses more, page cache included: it must
# not become many steps, and growth must not wait for it.
my ($running) = @{ $api->{pod}{status}{containerStatuses} };
$running->{resources}{limits}{memory} = '575Mi';
recommend(bytes => 400 * $mb);
serve_until('a lower limit is asked for', sub { resources()->{limits}{memory} eq '475Mi' });
my @conditions = @{ $api->{pod}{status}{conditions} };
recommend(bytes => 100 * $mb);
serve_until('while it is not there, that is said', sub { printed($follower) =~ /^resize pending: the limit is still 575 MB$/m });
push @{ $api->{pod}{status}{conditions} },
  { type => 'PodResizeInProgress', status => 'True', reason => 'Error', message => 'memory limit cannot be decreased below usage' };
serve_until('with the reason', sub { printed($follower) =~ /^resize pending: .* cannot be decreased below usage$/m });
serve_rounds('for some rounds', 4);
is(resources()->{limits}{memory}, '475Mi', 'and no lower one');
recommend(bytes => 450 * $mb);
serve_until('but more can be asked for', sub { resources()->{limits}{memory} eq '525Mi' });
$api->{pod}{status}{conditions} = \@conditions;
$running->{resources}{limits}{memory} = '525Mi';
recommend(bytes => 100 * $mb);
serve_until('when it is there, it goes on', sub { resources()->{limits}{memory} eq '175Mi' });
$running->{resources}{limits}{memory} = '175Mi';

# the container is ended for want of memory, and starts again with the same limit
$running->{restartCount} = 3;
serve_until('after that all memory is given', sub { resources()->{limits}{memory} eq '1024Mi' });
$running->{resources}{limits}{memory} = '1024Mi';
serve_rounds('for some rounds', 4);
is(resources()->{limits}{memory}, '1024Mi', 'and it stays');
is(metric($follower, 'state{state="growing only"}'), 1, 'the state says so');
stop($follower);

# ---- a ceiling that is no whole number of megabytes

new_pod(limit => '256Mi', request => '256Mi');
new_token('whole');
recommend(bytes => 2000 * $mb);
$follower = start(@pod, '--ceiling', '409700kB');
serve_until('whole megabytes', sub { resources()->{limits}{memory} eq '400Mi' });
serve_rounds('for some rounds', 4);
is(requests_of('PATCH'), 1, 'asked for once');
is(metric($follower, 'state{state="following"}'), 1, 'it is its own limit');
stop($follower);

# ---- of the class Burstable: the request is not ours

new_pod(limit => '1G', request => '200Mi');
new_token('third');
recommend(bytes => 200 * $mb);
$follower = start(@pod, '--max-shrink', '100%');
serve_until('with a request below the limit', sub { resources()->{limits}{memory} eq '275Mi' });
is(resources()->{requests}{memory}, '200Mi', 'only the limit changes');
recommend(bytes => 100 * $mb);
serve_until('not to the request, which could change the class', sub { resources()->{limits}{memory} eq '201Mi' });
serve_rounds('for some rounds', 4);
is(requests_of('PATCH'), 2, 'which is asked for once');
recommend(bytes => 200 * $mb);
serve_until('and up again', sub { resources()->{limits}{memory} eq '275Mi' });
is(resources()->{requests}{memory}, '200Mi', 'without the request');
stop($follower);

all_whole();
$node->stop;
done_testing();

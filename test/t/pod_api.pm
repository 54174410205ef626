# An API of Kubernetes that a test plays, with one pod, for follow/working_set_follow.
#
#   new_pod(limit => '256Mi', request => '256Mi');
#   new_token('a word');
#   my $follower = start(@pod);
#   serve_until('it grows', sub { resources()->{limits}{memory} eq '375Mi' });

package pod_api;

use strict;
use warnings;
use Exporter 'import';
use IO::Select;
use IO::Socket::INET;
use JSON::PP;
use Test::More;
use patience;
use follower;

our @EXPORT = qw($api $listener $token @pod new_pod resources serve_until serve_rounds patches requests_of new_token);

# The API: it answers as the real one does, as far as the program asks.  $api->{METHOD} may be
# instead: [code, reason, message], or a text that is sent with 200.
our $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 10, ReuseAddr => 1) or die $!;
my $selector = IO::Select->new($listener);
our $api;

sub new_pod
{
	my (%memory) = @_;
	$api = { requests => [], pod => {
		apiVersion => 'v1', kind => 'Pod',
		metadata => { name => 'db-1', namespace => 'prod', uid => 'uid-1', resourceVersion => '100' },
		spec => { containers => [
			{ name => 'exporter', resources => {} },
			{ name => 'postgres', resources => {
				limits => { cpu => '2', memory => $memory{limit} }, requests => { cpu => '2', $memory{request} ? (memory => $memory{request}) : () } } } ] },
		status => { phase => 'Running', conditions => [ { type => 'Ready', status => 'True' } ],
			qosClass => ($memory{limit} // '') eq ($memory{request} // '') ? 'Guaranteed' : 'Burstable',
			containerStatuses => [ { name => 'postgres', restartCount => 2, state => { running => {} },
				lastState => { terminated => { reason => 'OOMKilled', exitCode => 137 } } } ] } } };
	return;
}

sub resources { return $api->{pod}{spec}{containers}[1]{resources}; }

sub failure
{
	my ($code, $reason, $message) = @_;
	return ($code, { kind => 'Status', apiVersion => 'v1', status => 'Failure', message => $message, reason => $reason, code => $code });
}

sub answer
{
	my ($method, $path, $headers, $body) = @_;
	return failure(401, 'Unauthorized', 'Unauthorized') if ($headers->{authorization} // '') ne "Bearer $api->{token}";
	my $instead = $api->{$method};
	return failure(@$instead) if ref $instead eq 'ARRAY';
	return (200, $instead) if defined $instead;
	return failure(404, 'NotFound', 'pods "?" not found') if $path !~ m{^/api/v1/namespaces/prod/pods/db-1(/resize)?$};
	return (200, $api->{pod}) if $method eq 'GET' && !$1;
	return failure(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource') if $method ne 'PATCH' || !$1;
	return failure(415, 'UnsupportedMediaType', 'the body of the request was in an unknown format')
	  if $headers->{'content-type'} ne 'application/strategic-merge-patch+json';
	my $patch = decode_json($body);
	my $meta = $api->{pod}{metadata};
	return failure(409, 'Conflict', 'the object has been modified; please apply your changes to the latest version and try again')
	  if $patch->{metadata}{resourceVersion} ne $meta->{resourceVersion};
	my ($change) = @{ $patch->{spec}{containers} };
	# containers are merged by their names, resources key by key
	my %class = map { $_ => resources()->{$_}{memory} } qw(limits requests);
	my %next = map { $_ => $change->{resources}{$_}{memory} // $class{$_} } qw(limits requests);
	my $guaranteed = sub { my ($of) = @_; return ($of->{limits} // '') eq ($of->{requests} // '') };
	return failure(422, 'Invalid', 'Pod "db-1" is invalid: spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing')
	  if $guaranteed->(\%class) != $guaranteed->(\%next);
	$next{$_} && (resources()->{$_}{memory} = $next{$_}) for keys %next;
	$meta->{resourceVersion}++;
	return (200, $api->{pod});
}

# Answer what comes until something is so.
sub serve_until
{
	my ($name, $is_so) = @_;
	my $end = time + patience();
	while (time < $end)
	{
		return pass($name) if $is_so->();
		$selector->can_read(0.1) or next;
		my $client = $listener->accept or next;
		my $text = '';
		1 while $text !~ /\r\n\r\n/ && sysread $client, $text, 65536, length $text;
		my ($head, $body) = split /\r\n\r\n/, $text, 2;
		my ($line, @headers) = split /\r\n/, $head // next;
		my %headers = map { my ($key, $value) = split /: */, $_, 2; (lc $key => $value) } @headers;
		1 while length $body < ($headers{'content-length'} // 0) && sysread $client, $body, 65536, length $body;
		my ($method, $path) = split / /, $line;
		push @{ $api->{requests} }, { method => $method, path => $path, headers => \%headers, body => $body };
		my ($code, $content) = answer($method, $path, \%headers, $body);
		my $json = ref $content ? JSON::PP->new->canonical->encode($content) : $content;
		my $length = length($json) + ($api->{missing} // 0);
		print $client "HTTP/1.1 $code X\r\nContent-Type: application/json\r\nContent-Length: $length\r\nConnection: close\r\n\r\n$json";
		close $client;
	}
	die "waited without result: $name";
}

sub patches { return grep { $_->{method} eq 'PATCH' } @{ $api->{requests} }; }
sub requests_of { my ($method) = @_; return scalar grep { $_->{method} eq $method } @{ $api->{requests} }; }
# so many more rounds
sub serve_rounds
{
	my ($name, $count) = @_;
	my $from = requests_of('GET');
	return serve_until($name, sub { requests_of('GET') >= $from + $count });
}

our $token = "$tmp/token";
sub new_token { my ($text) = @_; write_file($token, $text); $api->{token} = $text; return; }
our @pod = ('--pod', 'prod/db-1', '--container', 'postgres', '--own', '75MB', '--api', 'http://127.0.0.1:' . $listener->sockport, '--token', $token);

1;

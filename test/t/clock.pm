# The clocks of a server, in the hands of the test: see clock.c.  Time passes when the test
# says so, so that windows, ages and lateness do not depend on how busy the machine is.
#
#   my $clock = clock->new;
#   my $node = $clock->new_server("shared_buffers = '16MB'");
#   $clock->lend(sub { $node->restart });  a server started so has these clocks
#   $clock->pass(60);                      a minute passes, on both of them
#   $clock->let_pass($node, 60);           the same, until the worker has published
#
#   clock->new(running => 1)               clocks that go on by themselves, too

package clock;

use strict;
use warnings;
use patience;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use pages qw(wait_for_worker);

sub new
{
	my ($class, %how) = @_;
	my $dir = PostgreSQL::Test::Utils::tempdir();
	my $self = bless { library => "$dir/clock.so", file => "$dir/clock", wall => 0, elapsed => $how{running} ? 0 : 1_000_000, %how }, $class;
	system_or_bail($ENV{CC} || 'gcc', '-shared', '-fPIC', '-O2', '-o', $self->{library}, 'test/t/clock.c');
	$self->show;
	return $self;
}

sub show
{
	my ($self) = @_;
	open my $fh, '>', "$self->{file}.new" or die $!;
	printf $fh '%d %s%d', $self->{wall}, ($self->{running} ? '+' : ''), $self->{elapsed};
	close $fh;
	rename "$self->{file}.new", $self->{file} or die $!;
	return;
}

# The wall clock and that of ages are put forward by so many seconds each, or back.
sub jump
{
	my ($self, $wall, $elapsed) = @_;
	$self->{wall} += $wall;
	$self->{elapsed} += 1000 * $elapsed;
	$self->show;
	return;
}

# Seconds pass.  The clock of ages stands still but for this, unless it is a running one; the wall
# clock runs, too.
sub pass
{
	my ($self, $seconds) = @_;
	return $self->jump($seconds, $seconds);
}

# So many seconds pass, and then the node's worker has published.
sub let_pass
{
	my ($self, $node, $seconds) = @_;
	# one session, since each new one looks up pages of the catalog
	my $session = $node->background_psql('postgres');
	my $published = 'SELECT computed_at FROM working_set_recommendation';
	$session->query_safe($published);
	my $moment = $session->query_safe('SELECT clock_timestamp()');
	$self->pass($seconds);
	my $is_new = "SELECT computed_at >= '$moment'::timestamptz + $seconds * interval '1 s' FROM working_set_recommendation";
	eventually(sub { $session->query_safe($is_new) eq 't' }) or die 'nothing was published';
	$session->quit;
	return;
}

# Somebody sets the wall clock, to so many seconds ahead of what it shows now.
sub set_wall
{
	my ($self, $seconds) = @_;
	return $self->jump($seconds, 0);
}

# A server with these settings, and the extension in the database postgres.
sub new_server
{
	my ($self, $settings) = @_;
	my $node = PostgreSQL::Test::Cluster->new('main');
	$node->init;
	$node->append_conf(
		'postgresql.conf', qq{
shared_preload_libraries = 'working_set'
working_set.interval = 1
autovacuum = off
fsync = off
$settings
});
	$self->lend(sub { $node->start });
	$node->safe_psql('postgres', 'CREATE EXTENSION working_set');
	wait_for_worker($node);
	return $node;
}

sub lend
{
	my ($self, $do) = @_;
	local $ENV{LD_PRELOAD} = $self->{library};
	local $ENV{WS_TEST_CLOCK} = $self->{file};
	return $do->();
}

1;

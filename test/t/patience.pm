# Waiting for what surely comes, however slow the machine is: the one limit of all that waits in
# test/t, in seconds.  A test uses this module before those of PostgreSQL, whose limits are the same
# then: poll_query_until(), sessions in the background, pg_ctl.
#
#   eventually(sub { -e $file }) or die 'no file';
#   IPC::Run::timeout(3 * patience())              for what takes longer by itself

package patience;

use strict;
use warnings;
use Exporter 'import';

our @EXPORT = qw(eventually patience);

BEGIN
{
	$ENV{PG_TEST_TIMEOUT_DEFAULT} ||= 600;
	$ENV{PGCTLTIMEOUT} ||= $ENV{PG_TEST_TIMEOUT_DEFAULT};

	# which reads it once
	die "patience comes before PostgreSQL::Test::Utils"
	  if defined $PostgreSQL::Test::Utils::timeout_default
	  && $PostgreSQL::Test::Utils::timeout_default != $ENV{PG_TEST_TIMEOUT_DEFAULT};
}

sub patience
{
	return $ENV{PG_TEST_TIMEOUT_DEFAULT};
}

# Ask ten times a second until it is true, at least twice, and at most for so long; returns the
# last answer.
sub eventually
{
	my ($is_so) = @_;
	my $end = time + patience();
	my $answer = $is_so->();
	until ($answer)
	{
		my $last = time > $end;
		# a time, since there is nothing to wait for but what is asked
		select(undef, undef, undef, 0.1);
		$answer = $is_so->();
		last if $last;
	}
	return $answer;
}

1;

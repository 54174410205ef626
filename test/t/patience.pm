# Waiting for what surely comes, however slow the machine is.
#
#   eventually(sub { -e $file }) or die 'no file';

package patience;

use strict;
use warnings;
use Exporter 'import';

our @EXPORT = qw(eventually);

# as PostgreSQL::Test::Utils has it, which not all tests use
my $usual = $ENV{PG_TEST_TIMEOUT_DEFAULT} || 180;

# Ask ten times a second until it is true, at least twice, and at most for the usual time; returns the
# last answer.
sub eventually
{
	my ($is_so) = @_;
	my $end = time + $usual;
	my $answer = $is_so->();
	until ($answer)
	{
		my $last = time > $end;
		select(undef, undef, undef, 0.1);
		$answer = $is_so->();
		last if $last;
	}
	return $answer;
}

1;

# Waiting for what surely comes, however slow the machine is: no test has another loop for that.
#
#   eventually(sub { -e $file }) or die 'no file';

package patience;

use strict;
use warnings;
use Exporter 'import';
use PostgreSQL::Test::Utils;

our @EXPORT = qw(eventually);

# Ask ten times a second until it is true, at most for the usual time; returns the last answer.
sub eventually
{
	my ($is_so) = @_;
	my $answer;
	for (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		$answer = $is_so->();
		last if $answer;
		select(undef, undef, undef, 0.1);
	}
	return $answer;
}

1;

# How often a test tries what it makes up at random, and from which seed.
#
#   WS_TRIALS=all    all of the trials; without it a tenth of them
#   WS_SEED=N        another seed than the usual one, which is the same each time
#
#   my $trials = trials(10000);
#   srand(seeded(42));

package trials;

use strict;
use warnings;
use Exporter 'import';
use Test::More;

our @EXPORT = qw(trials seeded);

sub trials
{
	my ($all) = @_;
	return ($ENV{WS_TRIALS} // '') eq 'all' ? $all : int($all / 10);
}

# It is printed if it is not the usual one, so that what was found can be repeated.
sub seeded
{
	my ($usual) = @_;
	my $seed = $ENV{WS_SEED} || $usual;
	diag("WS_SEED=$seed") if $seed != $usual;
	return $seed;
}

1;

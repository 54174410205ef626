# What the recommendation's status says, and how old the recommendation is: never ok that is too
# old, nor stale that is not.  How long anything takes does not matter, for each answer comes with
# the time before it was judged, and that after.

package lateness;

use strict;
use warnings;
use patience;
use Exporter 'import';
use Test::More;
use crashing;

our @EXPORT = qw($late said ask_until truthful);

# Documented: late is three intervals, and five seconds more than one at least.
our $late = 6;

# What is said, and how old it is at least and at most.  Nothing, if the server is not there.
sub said
{
	my ($node) = @_;
	my $answer = ask_crashing($node, q{
		SELECT status, extract(epoch FROM statement_timestamp() - computed_at),
		       extract(epoch FROM clock_timestamp() - computed_at)
		  FROM working_set_recommendation});
	return unless defined $answer && $answer =~ /\|/;
	my ($word, $least, $most) = split /\|/, $answer, -1;
	return { status => $word, least => $least, most => $most };
}

# Ask until something is so; returns all that was said.
sub ask_until
{
	my ($node, $is_so) = @_;
	my @said;
	return @said if eventually(sub {
		my $answer = said($node);
		push @said, $answer if $answer;
		return $is_so->($answer);
	});
	die 'waited in vain; last: ' . (@said ? $said[-1]{status} : 'nothing');
}

# half a second for ticks, and clocks that are not the same
sub truthful
{
	my ($name, @said) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my @lies = grep {
		$_->{least} ne ''
		  && ( $_->{status} eq 'ok' && $_->{least} > $late + 0.5
			|| $_->{status} eq 'stale' && $_->{most} < $late - 0.5)
	} @said;
	is(scalar(@lies), 0, "$name: never ok that is too old, nor stale that is not, in " . @said . ' answers')
	  or diag(join ', ', map { "$_->{status} after $_->{least}" } @lies);
	return;
}

1;

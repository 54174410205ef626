# A past for a server: what its clients did in the newest quarter of an hour they did for days.
package past;

use strict;
use warnings;
use Exporter qw(import);
use PostgreSQL::Test::Utils;

our @EXPORT = qw(give_past);

my $program;

# give_past(NODE, DAYS, HOUR, SHARE): of a stopped node; without HOUR, or with -1, in all hours of the day;
# with SHARE a client was active all the time and waited for reads for that share of it, which looks of a
# minute cannot tell well
sub give_past
{
	my ($node, $days, @hour) = @_;
	if (!$program)
	{
		$program = PostgreSQL::Test::Utils::tempdir() . '/past';
		system_or_bail($ENV{CC} || 'gcc', '-std=gnu99', '-O', qw(-iquote src/data -iquote src/model), '-o', $program, 'test/t/past.c',
			(grep { !/statefile/ } glob 'src/data/*.c src/model/*.c'), '-lm');
	}
	system_or_bail($program, $node->data_dir . '/pg_stat/working_set.saved', $days, @hour);
	return;
}

1;

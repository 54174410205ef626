# Questions to a server that may be down, or go down while it is asked.
#
#   my $answer = ask_crashing($node, $sql);             nothing, if it gives none
#   until_true($node, $condition, 'no worker');         dies after the usual time
#
# PostgreSQL::Test::Cluster gives psql its statement through a pipe.  It dies of a broken pipe
# if psql ends before it has read that, as it does where it cannot connect.

package crashing;

use strict;
use warnings;
use patience;
use Exporter 'import';
use IPC::Run;
use PostgreSQL::Test::Utils;

our @EXPORT = qw(ask_crashing until_true);

sub ask_crashing
{
	my ($node, $sql, $database) = @_;
	my ($answer, $errors);
	IPC::Run::run [ 'psql', '-XAt', '-d', $node->connstr($database || 'postgres'), '-c', $sql ],
	  '<', '/dev/null', '>', \$answer, '2>', \$errors
	  or return;
	chomp $answer;
	return $answer;
}

sub until_true
{
	my ($node, $condition, $what, $database) = @_;
	eventually(sub { (ask_crashing($node, "SELECT $condition", $database) // '') eq 't' }) or die "$what: waited for $condition";
	return;
}

1;

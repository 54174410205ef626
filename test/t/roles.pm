# Roles that do what they may, and try what they may not, on a server of their own.
#
#   my $node = new_server_with_roles();
#   my ($answer, $sqlstate) = run_as($node, 'ws_nobody', 'SELECT ...');
#   my $answer = as($node, 'ws_monitor', 'SELECT ...');         dies of an error

package roles;

use server;
use Exporter 'import';

our @EXPORT = qw(new_server_with_roles run_as as);

# The extension is not created yet.
sub new_server_with_roles
{
	my $node = new_node('main', q{
shared_buffers = '16MB'
work_mem = '16MB'
});
	$node->start;
	$node->safe_psql('postgres', q{
		CREATE ROLE ws_nobody LOGIN;
		CREATE ROLE ws_monitor LOGIN;
		GRANT pg_monitor TO ws_monitor;
		CREATE ROLE ws_resetter LOGIN;
		GRANT pg_monitor TO ws_resetter;
		CREATE ROLE ws_mallory LOGIN;
		GRANT CREATE ON DATABASE postgres TO ws_mallory;
	});
	return $node;
}

# Run SQL as a role; returns what it printed, and the sqlstate of the error, if any.
sub run_as
{
	my ($node, $role, $sql, $database) = @_;
	my ($status, $out, $err) = $node->psql($database // 'postgres',
		"\\set VERBOSITY sqlstate\n$sql", extra_params => [ '-U', $role ]);
	my ($state) = $err =~ /ERROR:  (\w{5})$/m;
	return ($out, $status == 0 ? '' : $state // $err);
}

sub as
{
	my ($node, $role, $sql, $database) = @_;
	my ($out, $state) = run_as($node, $role, $sql, $database);
	die "$sql\nas $role: $state" if $state ne '';
	return $out;
}

1;

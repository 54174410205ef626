# Debian's prometheus-sql-exporter where it can know nothing: every query is said to have failed, the
# log says why, and no series is exposed.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use patience;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use scrape;

find_program('prometheus-sql-exporter')
  or plan skip_all => 'there is no prometheus-sql-exporter on PATH';

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'working_set'\nautovacuum = off\nfsync = off\n");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION working_set');
grant($node);

# blind(WHAT, PATTERN, PARAMETER => VALUE...): what the log of such an exporter says
sub blind
{
	my ($what, $pattern, @parameters) = @_;
	my $exporter = new_exporter($node, @parameters);
	my $text = scrape_text($exporter);
	all_failed($exporter, $text, 1, $what);
	is_deeply(ours($text), {}, "$what: no series");
	log_like($exporter, $pattern, $what);
	stop_exporter($exporter);
	return;
}

# a role that nobody gave anything
$node->safe_psql('postgres', q{
	CREATE ROLE stranger LOGIN;
	CREATE DATABASE other;
});
blind('role without the grant', qr/permission denied for (?:view|function|table) working_set_/, user => 'stranger');
blind('extension missing', qr/relation \\"working_set_info\\" does not exist/, database => 'other');

$node->append_conf('postgresql.conf', "shared_preload_libraries = ''");
$node->restart;
blind('not preloaded', qr/must be loaded via shared_preload_libraries/);

$node->stop;
blind('server down', qr/connect: .*"Failed to connect"/);

done_testing();

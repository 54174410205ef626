# What the workers of autoprewarm bring in at a start is needed by nobody yet: it is no use by a
# client.  What somebody warms by pg_prewarm() is one.

use lib 'test/t';
use server;

chomp(my $libraries = qx(pg_config --pkglibdir));
plan skip_all => 'there is no pg_prewarm' if !-e "$libraries/pg_prewarm.so";
my $node = new_node('main', q{
shared_preload_libraries = 'working_set, pg_prewarm'
shared_buffers = '64MB'
});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION working_set; CREATE EXTENSION pg_prewarm');
wait_for_worker($node);
make_table($node, 'pages', 3000);
$node->safe_psql('postgres', 'CHECKPOINT; SELECT working_set_reset()');
$node->safe_psql('postgres', q{SELECT pg_prewarm('pages')});
about(size($node, 3600), 3000, 300, 'pg_prewarm() is a client');
$node->safe_psql('postgres', 'SELECT autoprewarm_dump_now()');
$node->safe_psql('postgres', 'SELECT working_set_reset()');

my $offset = log_size($node);
$node->restart;
wait_for_worker($node);
ok(eventually(sub { log_from($node, $offset) =~ /autoprewarm successfully prewarmed (\d+) of/ && $1 >= 3000 }),
	'at the start, autoprewarm brings all in');
is($node->safe_psql('postgres', q{SELECT pg_relation_size('pages') / current_setting('block_size')::int}), 3000, 'all of the table');
cmp_ok(size($node, 3600), '<', 600, 'no client has used it');
about($node->safe_psql('postgres', q{SELECT pages FROM working_set_curve('{3600}', 'maintenance')}), 3000, 1000, 'maintenance has');
my ($hits, $reads) = split /\|/, $node->safe_psql('postgres', q{
	SELECT count(filler) FROM pages \g /dev/null
	SELECT hits, lookups - hits FROM working_set_info});
cmp_ok($reads, '<', 600, 'a scan finds it there');
about(size($node, 3600), 3000, 600, 'and is a client');
$node->stop;
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|terminated by signal/, 'no crash');

done_testing();

# Files that are not to be trusted are not used, which the log says, and are kept aside.  What a file
# may be wrong in is tried out by test/unit/statefile_t.c; here is that the server takes no notice
# of it.  And those of another geometry.

use lib 'test/t';
use server;
use state_file;

my $node = new_server('main', 'working_set.save = 1');
make_table($node, 'pages', 4000);
$node->safe_psql('postgres', 'CHECKPOINT');

my $path = $node->data_dir . '/pg_stat/working_set.saved';
$node->safe_psql('postgres', 'SELECT count(filler) FROM pages');
# also what the worker has not yet read from the stream
$node->stop;
my $good = slurp_file($path);

my $state = read_state($path);
ok(state_of($state) eq $good, 'the file is as it is described');
is($state->{registers}, 4096, 'of so many registers');

my $flipped = $good;
substr($flipped, length($good) / 2, 1) ^= "\x10";
for my $case (
	[ 'empty', '', 'it is empty' ],
	[ 'of another byte order', scalar reverse(substr($good, 0, 8)) . substr($good, 8),
		'it was not written by working_set on such a machine' ],
	[ 'of another format', state_of($state, format => $state->{format} - 3), 'it has another format' ],
	[ 'truncated', substr($good, 0, length($good) * 0.7), 'it has a wrong length' ],
	[ 'with a bit flipped', $flipped, 'its checksum is wrong' ],
	[ 'of another cluster', state_of($state, system => $state->{system} + 1), 'it belongs to another database cluster' ],
	[ 'of another directory', state_of($state, place => $state->{place} ^ 1),
		'it was saved in another directory, which this one is a copy of' ])
{
	my ($name, $content, $why) = @$case;
	my $offset = log_size($node);
	write_raw($path, $content);
	unlink "$path.bad";
	$node->start;
	wait_for_worker($node);
	cmp_ok(size($node, 3600), '<', 2000, "a file $name: not used");
	$node->stop;
	my $log = substr slurp_file($node->logfile), $offset;
	like($log, qr/LOG: .*working_set\.saved" is not used: $why$/m, "a file $name: and why");
	ok(slurp_file("$path.bad") eq $content, "a file $name: kept aside");
}

# another geometry
write_raw($path, $good);
my $offset = log_size($node);
$node->append_conf('postgresql.conf', 'working_set.registers = 16384');
$node->start;
wait_for_worker($node);
cmp_ok(size($node, 3600), '<', 2000, 'with another number of registers it is not used');
$node->stop;
like(substr(slurp_file($node->logfile), $offset), qr/only the history is used: it is of another number of registers$/m, 'and why');
$node->append_conf('postgresql.conf', 'working_set.registers = 4096');

# a smaller table of samples, and none
write_raw($path, $good);
$node->append_conf('postgresql.conf', 'working_set.sample_pages = 0');
$node->start;
wait_for_worker($node);
cmp_ok(size($node, 3600), '>', 4000 - error_of(4000), 'without a sample the set comes back');
$node->append_conf('postgresql.conf', 'working_set.sample_pages = 1024');
$node->restart;
wait_for_worker($node);
cmp_ok(size($node, 3600), '>', 4000 - error_of(4000), 'also from a file without one');
$node->stop;
write_raw($path, $good);
$node->start;
wait_for_worker($node);
knows($node, 1000, 'a smaller table takes fewer pages');

finish($node);

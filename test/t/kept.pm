# A server that is stopped, and the file that it has saved, with a history that is put into it.
#
#   my ($node, $path, $good, $content) = new_kept();
#   write_raw($path, state_of($good, pages => 0));
#   start($node);

package kept;

use server;
use Exporter 'import';
use state_file;

our @EXPORT = qw(new_kept start rows_put mark_log log_since clear $used $forgotten $now);

# 5 standard errors of 1.84 % of 1,500 pages are 138; an idle server uses some hundred of catalogs
our $used = 1500 - 138;
our $forgotten = 1000;
our $now;

my $offset = 0;

# Five minutes of two hours ago, and four quarters of two days ago; all known for ten minutes.
# Returns the server, the name of the file, what is in it, and its bytes.
sub new_kept
{
	my $node = new_server('main', q{
working_set.save = 1
working_set.registers = 1024
working_set.sample_pages = 1024
shared_buffers = 2048
});
	make_table($node, 'pages', 1500);
	$node->safe_psql('postgres', 'CHECKPOINT; SELECT count(filler) FROM pages');
	$node->stop;
	my $path = $node->data_dir . '/pg_stat/working_set.saved';
	my $good = read_state($path);
	is($good->{registers}, 1024, 'the file is as it is described');
	$now = time;
	minute_row($good, $now - 7200 - 60 * $_, 4000, 4321, 1000, 900) for 1 .. 5;
	quarter_row($good, $now - 2 * 86400 - 900 * $_, 4000, 4321, 1000, 900) for 1 .. 4;
	$good->{floor} = 6000;
	return ($node, $path, $good, state_of($good));
}

sub start
{
	my ($node) = @_;
	$node->start;
	wait_for_worker($node);
	return;
}

# rows of the history that the test has put there
sub rows_put
{
	my ($node) = @_;
	return sql($node, "SELECT count(*) FROM working_set_history WHERE recommended_cache_bytes = 4321 * current_setting('block_size')::bigint");
}

# what is new in the log
sub log_since
{
	my ($node) = @_;
	return log_from($node, $offset);
}

sub mark_log
{
	my ($node) = @_;
	$offset = log_size($node);
	return;
}

sub clear
{
	for my $name (@_)
	{
		-d $name && !-l $name ? rmdir $name : unlink $name;
	}
	return;
}

1;

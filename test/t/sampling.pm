# A server with a table of twice its shared buffers, which is sampled; look-ups in it, and what the
# sample is asked.
#
#   my $node = new_sampled('max_locks_per_transaction = 256');       or with a clock of clock.pm, too
#   look_up($node, 40000);
#   becomes($node, 'postgres', 'SELECT ...', 't', 'what it becomes');

package sampling;

use server;
use Exporter 'import';
use IPC::Run;

our @EXPORT = qw(new_sampled wait_until becomes look_up changes_of_rate in_background);

sub new_sampled
{
	my ($settings, $clock) = @_;
	$settings = "shared_buffers = 2048\nlog_min_messages = debug1\n" . ($settings // '');
	my $node = $clock ? $clock->new_server($settings) : new_server('main', $settings);
	make_table($node, 'pages', 4000);
	$node->safe_psql('postgres', 'CREATE INDEX ON pages (id)');
	return $node;
}

sub wait_until
{
	my ($node, $condition, $name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return ok($node->poll_query_until('postgres', "SELECT $condition"), $name);
}

# The worker reads what is sampled in its turn: ask until the answer is as it should be.
sub becomes
{
	my ($node, $database, $query, $expected, $name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return ok($node->poll_query_until($database, $query, $expected), $name);
}

# Look up random rows: each a page of the table.  The number is that of lookups.
sub look_up
{
	my ($node, $number) = @_;
	$node->safe_psql('postgres', qq{
		SET enable_seqscan = off; SET enable_bitmapscan = off; SET plan_cache_mode = force_generic_plan;
		DO \$\$
		DECLARE
			wanted int;
			found int;
		BEGIN
			FOR i IN 1 .. $number LOOP
				wanted := 1 + floor(random() * 4000);
				SELECT length(filler) INTO found FROM pages WHERE id = wanted;
			END LOOP;
		END \$\$;
	});
	return;
}

# What the log says of the rate of sampling, to be shown with a failure.
sub changes_of_rate
{
	my ($node) = @_;
	return join '', grep { /working_set samples one page/ } split /^/, slurp_file($node->logfile);
}

# Look up so many rows in the background; returns what to finish.  Or run this SQL.
sub in_background
{
	my ($node, $what) = @_;
	my $sql = $what =~ /^\d+$/
	  ? "SELECT count(*) FROM generate_series(1, $what) g, LATERAL (SELECT filler FROM pages WHERE id = 1 + (g::bigint * 7919) % 4000 OFFSET 0) p"
	  : $what;
	return IPC::Run::start(
		[ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', 'SET enable_seqscan = off', '-c', $sql ],
		'>', '/dev/null', '2>', '/dev/null');
}

1;

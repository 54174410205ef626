# Logical replication: what a subscriber uses, for the table that is copied at first, and for rows
# that are applied, counts as a client.

use lib 'test/t';
use server;

my $publisher = new_node('publisher', '', allows_streaming => 'logical');
my $subscriber = new_node('subscriber');
$_->start for $publisher, $subscriber;
my $definition = q{
	CREATE EXTENSION working_set;
	CREATE TABLE pages (id int PRIMARY KEY, filler text);
	ALTER TABLE pages ALTER filler SET STORAGE PLAIN;
};
$_->safe_psql('postgres', $definition) for $publisher, $subscriber;
$publisher->safe_psql('postgres', q{
	INSERT INTO pages SELECT g, repeat('x', current_setting('block_size')::int - 1192) FROM generate_series(1, 3000) g;
	CREATE PUBLICATION pub FOR TABLE pages;
});

# Nobody looks at the subscriber while rows come, but to see whether the first are there.
# What else is used are catalogs, the primary key (3000 keys: 11 pages) and maps: below
# 400 pages in all.
my $workers_own = q{SELECT c.pages, m.pages, (SELECT lookups FROM working_set_info)
	  FROM working_set_curve('{3600}') AS c, working_set_curve('{3600}', 'maintenance') AS m};
my ($size, $maintenance, $lookups);

$subscriber->safe_psql('postgres', 'SELECT working_set_reset()');
my $connstr = $publisher->connstr . ' dbname=postgres';
$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION sub CONNECTION '$connstr' PUBLICATION pub");
wait_for($subscriber, q{count(*) = 1 FROM pg_subscription_rel WHERE srsubstate = 'r'}, 'no sync');
($size, $maintenance, $lookups) = split /\|/, $subscriber->safe_psql('postgres', $workers_own);
about($size, 3000, 400, 'table sync: the pages of the table');
cmp_ok($maintenance, '<', 100, 'table sync: it is a client');
is($subscriber->safe_psql('postgres', 'SELECT count(*) FROM pages'), '3000', 'table sync: all are there');

# The books of a process are up to date at its first lookup in a later tick; a row of
# another transaction makes it look.  When that tick comes is the worker's affair: more rows,
# until as many lookups are there as there have to be.
sub applied
{
	my ($sql, $lookups) = @_;
	my @found;
	$subscriber->safe_psql('postgres', 'SELECT working_set_reset()');
	$publisher->safe_psql('postgres', $sql);
	eventually(sub {
		$publisher->wait_for_catchup('sub');
		$publisher->safe_psql('postgres', 'INSERT INTO pages SELECT max(id) + 1 FROM pages');
		$publisher->wait_for_catchup('sub');
		@found = split /\|/, $subscriber->safe_psql('postgres', $workers_own);
		return $found[2] >= $lookups;
	});
	return @found;
}

($size, $maintenance) =
  applied(q{INSERT INTO pages SELECT g, repeat('x', current_setting('block_size')::int - 1192) FROM generate_series(5001, 9000) g}, 4000);
about($size, 4000, 400, 'rows applied: the pages they came to');
cmp_ok($maintenance, '<', 100, 'rows applied: as a client');
is($subscriber->safe_psql('postgres', 'SELECT count(*) FROM pages WHERE id BETWEEN 5001 AND 9000'), '4000',
	'rows applied: all are there');

# to delete a row it has to be found: by the root and a leaf of the index, and its page
($size, $maintenance, $lookups) = applied(q{DELETE FROM pages WHERE id BETWEEN 5001 AND 7500}, 2 * 2500);
about($size, 2500, 400, 'rows deleted: the pages they were on');
cmp_ok($maintenance, '<', 100, 'rows deleted: as a client');
cmp_ok($lookups, '>=', 2 * 2500, 'rows deleted: and each was looked up');
is($subscriber->safe_psql('postgres', 'SELECT count(*) FROM pages WHERE id BETWEEN 5001 AND 9000'), '1500',
	'rows deleted: and no more');
# both have a worker, and go on after the subscription is gone
is(info($_, 'tracking, worker_pid > 0'), 't|t', $_->name . ': tracks') for $publisher, $subscriber;
$subscriber->safe_psql('postgres', 'DROP SUBSCRIPTION sub');
is(info($subscriber, 'tracking, worker_pid > 0'), 't|t', 'subscriber: also without a subscription');
$_->stop for $subscriber, $publisher;
unlike(slurp_file($_->logfile), qr/PANIC|TRAP|terminated by signal|not tracking/, $_->name . ': nothing went wrong')
  for $publisher, $subscriber;

done_testing();

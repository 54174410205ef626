# Thousands of relations, of one page each.

use lib 'test/t';
use server;
use sampling;

my $node = new_sampled('max_locks_per_transaction = 256');

$node->safe_psql('postgres', q{
	DO $$ BEGIN FOR i IN 1 .. 3000 LOOP
		EXECUTE format('CREATE TABLE many_%s AS SELECT 1 AS id', i);
		IF i % 100 = 0 THEN COMMIT; END IF;
	END LOOP; END $$;
});
wait_until($node, q{count(*) > 10 FROM working_set_relations WHERE relation LIKE 'many\_%'},
	'many relations');
is($node->safe_psql('postgres', q{
	SELECT bool_and(bytes > 0 AND standard_error_bytes >= 0) FROM working_set_relations}), 't', 'each with a size');
# one page each, so the count is that of sampled pages; bound: five standard
# errors of their number, sqrt(n (1 - rate) / rate)
# events of some may have been lost in the rush, so they are used again, slowly: a time
# between hundreds of them is what is slow
my $tries = 0;
ok(eventually(sub {
	$node->safe_psql('postgres', q{
		DO $$ BEGIN FOR i IN 1 .. 3000 LOOP
			EXECUTE format('SELECT FROM many_%s', i);
			IF i % 100 = 0 THEN COMMIT; PERFORM pg_sleep(0.02); END IF;
		END LOOP; END $$}) if $tries++ > 0;
	return $node->safe_psql('postgres', q{
		SELECT abs(n / rate - 3000) <= 5 * sqrt(3000 * (1 - rate) / rate) + 150
		  FROM (SELECT count(*) AS n FROM working_set_relations('1 hour') WHERE relation LIKE 'many\_%') r,
		       (SELECT sample_rate AS rate FROM working_set_info) i}) eq 't';
}), 'and as many pages as there are')
  or diag($node->safe_psql('postgres', q{
	SELECT sum(bytes), count(*), min(sample_rate), min(sampled_pages), min(dropped_samples)
	  FROM working_set_relations, working_set_info WHERE relation LIKE 'many\_%'}) . "\n" . changes_of_rate($node));
$node->safe_psql('postgres', q{
	DO $$ BEGIN FOR i IN 1 .. 3000 LOOP
		EXECUTE format('DROP TABLE many_%s', i);
		IF i % 100 = 0 THEN COMMIT; END IF;
	END LOOP; END $$;
});

finish($node);

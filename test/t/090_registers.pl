# The fewest registers, and the most.

use lib 'test/t';
use server;

my $node = new_server('main');
make_table($node, 'pages', 5000);

for my $registers (1024, 65536)
{
	$node->append_conf('postgresql.conf', "working_set.registers = $registers");
	$node->restart;
	my $got = $node->safe_psql('postgres', q{
		SELECT working_set_reset() \g /dev/null
		SELECT count(filler) FROM pages \g /dev/null
		SELECT approximate_working_set_size();
	});
	# 5 standard errors of 0.589 / sqrt(m)
	my $bound = 5 * 0.589 / sqrt($registers) * 5000;
	cmp_ok($got, '>=', 5000 - $bound, "$registers registers: lower bound");
	cmp_ok($got, '<=', 5000 + $bound + 150, "$registers registers: upper bound");
}

finish($node);

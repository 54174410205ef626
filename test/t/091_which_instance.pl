# What monitoring/which_instance.sql answers, with figures that are made up.  (031 has it with those
# of a server.)

use lib 'test/t';
use server;

plan skip_all => 'no control groups are mounted here' unless memory_known();

my $node = new_server('main');
$node->safe_psql('postgres', q{
	CREATE SCHEMA figures;
	CREATE TABLE figures.kind AS SELECT * FROM working_set_memory_advice LIMIT 0;
	CREATE FUNCTION figures.working_set_memory_advice(memory bigint, shared_buffers bigint) RETURNS SETOF figures.kind LANGUAGE sql AS $$
		SELECT (jsonb_populate_record(NULL::figures.kind, jsonb_build_object('predicted_disk_reads_per_second', 1.6e12 / memory * coalesce(shared_buffers, 100) / 100,
		        'predicted_read_time_share', CASE WHEN memory < 1e11 THEN 2e9 / memory END, 'note', CASE WHEN memory < 1e9 THEN 'too small' END))).* $$;
	CREATE TABLE figures.working_set_memory_advice AS
		SELECT (jsonb_populate_record(NULL::figures.kind, '{"predicted_disk_reads_per_second": 100, "present": true}')).*});
(my $script = slurp_file('monitoring/which_instance.sql')) =~ s/:ws_schema\./figures./g;
my $machines = PostgreSQL::Test::Utils::tempdir() . '/machines';
append_to_file("$machines.sql", $script);
append_to_file("$machines.figures", <<'CSV');
much,4000000000,1
slow,16000000000,200,0.2,50
fair,16000000000,300,0.2,
free,32000000000,340
huge,128000000000,900
tiny,500000000,1
CSV
sub verdicts
{
	my @options = @_;
	my ($out) = run_command([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-v', "file=$machines.figures", @options, '-f', "$machines.sql" ]);
	return join '; ', sort map { my @f = split /[|]/; "$f[0] $f[8] $f[9]" } grep { !/^now, / } split /\n/, $out;
}
is(verdicts(), 'fair 352.56 enough; free 340.00 cheapest that is enough; huge 900.00 enough; much 1.00 reads too much; '
	  . 'slow 252.56 above its limit of reads; tiny 1.00 not known', 'each machine has a verdict, and reads have a price');
like(verdicts('-v', 'share=0.1'),
	qr/^fair 352.56 waits too long; free 340.00 cheapest that is enough; huge 900.00 read time not known; much .* reads too much/, 'a share of query time is a bound, too');
sub columns
{
	my ($line) = $_[0] =~ /^( +machine +\|.*)$/m;
	return join '|', map { s/^ +| +$//gr } split /\|/, $line;
}
my ($shown) = run_command([ 'psql', '-X', '-d', $node->connstr('postgres'), '-v', "file=$machines.figures", '-f', "$machines.sql" ]);
is(columns($shown), columns(slurp_file('doc/which_instance.md')), 'its columns are those of the example in the document');
# (of made-up shared_buffers the reads are so many hundredths of those of the best)
sub present
{
	my ($values) = @_;
	$node->safe_psql('postgres', "UPDATE figures.working_set_memory_advice SET $values");
	return;
}
present('predicted_disk_reads_per_second = 91');
like(verdicts(), qr/^fair 352.56 enough;/, 'a tenth more than now is enough');
present('predicted_disk_reads_per_second = 90');
like(verdicts(), qr/^fair 352.56 reads too much;/, 'more is not');
present('predicted_disk_reads_per_second = 20, shared_buffers_bytes = 20');
like(verdicts(), qr/^fair 310.51 enough; .* slow 210.51 cheapest that is enough;/, 'the present shared_buffers are taken if the best ones read more from disk');
present('shared_buffers_bytes = 200');
like(verdicts(), qr/^fair 352.56 reads too much; .* huge 900.00 cheapest that is enough;/, 'and not if these read less');
present('predicted_disk_reads_per_second = NULL, memory_bytes = NULL, shared_buffers_bytes = NULL');
is(scalar(() = verdicts() =~ /not known/g), 6, 'if nothing is known each machine has one line all the same');
present(q{predicted_disk_reads_per_second = 100, note = 'not sure'});
unlike(verdicts(), qr/enough|much \d+[.]\d+ reads/, 'a present row that is not reliable is no bound');
like(verdicts('-v', 'reads=100'), qr/free 340.00 cheapest that is enough/, 'and none is needed if one is given');
finish($node);

# The real exporters of Debian while databases are made and dropped, and where several databases have the
# extension: they answer, and all other series are there.

use strict;
use warnings;
use FindBin;
use HTTP::Tiny;
use lib $FindBin::Bin;
use patience;
use clock;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use scrape;

my @programs = grep { find_program($_) } qw(prometheus-sql-exporter prometheus-postgres-exporter);
@programs or plan skip_all => 'there is none of the exporters on PATH';
my %there = map { $_ => 1 } @programs;

my $clock = clock->new;
# no time passes, and so what was dropped stays in the sample
my $node = $clock->new_server("shared_buffers = '32MB'");
grant($node);

# the main file and the opt-in ones, appended; and the same without a line
my @files = ('queries.yaml', map { "queries_$_.yaml" } qw(relations queries memory));
my $all = join "\n", map { slurp_file(monitoring("postgres_exporter/$_")) } @files;
my $tmp = PostgreSQL::Test::Utils::tempdir();
sub written
{
	my ($name, $text) = @_;
	open my $fh, '>', "$tmp/$name.yaml" or die $!;
	print $fh $text;
	close $fh;
	return "$tmp/$name.yaml";
}
my $file = written('all', $all);

my ($debian, $other);
if ($there{'prometheus-sql-exporter'})
{
	my @jobs = map { m{([^/]+)$} } sort glob(monitoring('prometheus-sql-exporter/*.jobs.yml'));
	$debian = new_exporter($node, files => [ 'working_set.yml', @jobs ]);
}
$other = new_postgres_exporter($node, $file) if $there{'prometheus-postgres-exporter'};

# Both answer, with all that does not depend on the worker.
sub both_answer
{
	my ($name, $check) = @_;
	my $documented = documented_metrics();
	my @wanted = grep { !/_memory_limit_|_last_saved_|_recommendation_timestamp_/ } map { keys %{ $documented->{$_} } } 'always', 'while it tracks';
	for my $get ([ 'prometheus-sql-exporter', $debian, sub { my $text = scrape_text($debian); all_failed($debian, $text, 0, "$name: prometheus-sql-exporter"); ours($text) } ],
		[ 'prometheus-postgres-exporter', $other, sub { series_of_postgres_exporter(answer($other)) } ])
	{
		my ($program, $exporter, $series) = @$get;
		next if !$exporter;
		$series = eval { $series->() };
		ok($series, "$name: $program answers") or diag $@;
		my %names = map { $_ => 1 } @{ names_of($series || {}) };
		is(join(' ', grep { !$names{$_} } sort @wanted), '', "$name: $program: all others are there");
		ok((grep { /^working_set_relation_size_bytes\{datname="postgres",/ } keys %{ $series || {} }), "$name: $program: and relations");
	}
	return;
}

# once, without another try
sub answer
{
	my ($exporter) = @_;
	my $answer = HTTP::Tiny->new(timeout => patience())->get($exporter->{url});
	die "$answer->{status} $answer->{content}" if !$answer->{success};
	return $answer->{content};
}

# what it answers as soon as it does
sub first_answer
{
	my ($exporter) = @_;
	my $answer;
	eventually(sub { $answer = HTTP::Tiny->new(timeout => patience())->get($exporter->{url}); return $answer->{status} != 599 });
	return $answer;
}

first_answer($other) if $other;
$clock->let_pass($node, 61);
both_answer('before');
for my $name (qw(once twice))
{
	$node->safe_psql('postgres', "CREATE DATABASE $name");
	$node->safe_psql($name, q{CREATE TABLE big AS SELECT g, repeat('x', 500) AS filler FROM generate_series(1, 5000) g; SELECT count(filler) FROM big});
}
both_answer('two more databases');
# (the server waits for a session that is about to end)
eventually(sub { ($node->psql('postgres', "DROP DATABASE IF EXISTS $_ WITH (FORCE)"))[0] == 0 }) or die "$_ is not dropped" for qw(once twice);
cmp_ok($node->safe_psql('postgres', 'SELECT count(*) FROM working_set_relations WHERE datname IS NULL'), '>=', 3, 'rows without a name');
both_answer('two dropped databases');
stop_exporter($_) for grep { $_ } $debian, $other;

# ---------------------------------------------------------------- the extension in two databases

SKIP:
{
	skip 'there is no prometheus-postgres-exporter on PATH', 3 if !$other;
	$node->safe_psql('postgres', 'CREATE DATABASE second');
	$node->safe_psql('second', 'CREATE EXTENSION working_set');
	my $exporter = new_postgres_exporter($node, $file, options => ['--auto-discover-databases']);
	my $answer = first_answer($exporter);
	is($answer->{status}, 200, 'with --auto-discover-databases it answers');
	is($answer->{status} == 200 && series_of_postgres_exporter($answer->{content})->{working_set_tracking}, 1, 'each series is there once');
	stop_exporter($exporter);

	# that this line is needed
	$exporter = new_postgres_exporter($node, written('each', $all =~ s/^  master: true\n//mgr), options => ['--auto-discover-databases']);
	is(first_answer($exporter)->{status}, 500, 'without master: true it answers with an error');
	stop_exporter($exporter);
}

$node->stop;
done_testing();

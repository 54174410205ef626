# One scrape of a real exporter, Debian's prometheus-postgres-exporter, with the main file of
# monitoring/postgres_exporter: what it exposes is what the views say.  126_scrape is the same for
# the other exporter of Debian's.  The clock stands still meanwhile, and with it what is recommended.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use patience;
use clock;
use pages qw(make_pages);
use PostgreSQL::Test::Utils;
use Test::More;
use scrape;

find_program('prometheus-postgres-exporter')
  or plan skip_all => 'there is no prometheus-postgres-exporter on PATH';

my $clock = clock->new;
my $node = $clock->new_server("shared_buffers = '16MB'\nworking_set.save = '10s'");
make_pages($node);
grant($node);
work_until_known($clock, $node);

my @metrics = map { metrics_in($_->{query}) } values %{ queries_of_postgres_exporter('queries') };
my $exporter = new_postgres_exporter($node, 'queries');
my $text;
# No time passes.
my ($series, $complaints) = agreement(
	sub { truth(sub { $node->safe_psql('postgres', $_[0]) }) },
	sub {
		$text = text_of_postgres_exporter($exporter);
		my $series = series_of_postgres_exporter($text);
		# of the exporter itself, for the rules
		is(delete $series->{$_}, $_ eq 'pg_up' ? 1 : 0, "$_ is kept") for 'pg_up', 'pg_exporter_last_scrape_error';
		return $series;
	}, 0);
is($complaints, '', 'all series, and no others, as the views have them');
like($text, qr/^pg_exporter_last_scrape_error 0$/m, 'no error');
like($text, qr/^pg_exporter_user_queries_load_error\{filename="[^"]*",hashsum="[^"]+"\} 0$/m, 'the file is read');
unlike(slurp_file($exporter->{log}), qr/working_set/, 'and the log has nothing about us');
is($series->{'working_set_status{status="ok"}'}, 1, 'the status is exposed');

my %may_lack = map { $_ => 1 } unknown_metrics(sub { $node->safe_psql('postgres', $_[0]) });
my %there = map { $_ => 1 } @{ names_of($series) };
is(join(' ', grep { !$there{$_} && !$may_lack{$_} } sort @metrics), '', 'and every metric of the file');
my $documented = documented_metrics();
is_deeply([ sort @metrics ], [ sort map { keys %{ $documented->{$_} } } 'always', 'while it tracks', 'while the worker is on time' ],
	'which are those of monitoring/README.md');

stop_exporter($exporter);
$node->stop;
done_testing();

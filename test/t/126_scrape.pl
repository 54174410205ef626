# One scrape of a real exporter, Debian's prometheus-sql-exporter, with the files of
# monitoring/prometheus-sql-exporter: what it exposes is what the views say.  113_exporter has
# all the rest.  The clock stands still meanwhile, and with it what is recommended.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use patience;
use clock;
use PostgreSQL::Test::Utils;
use Test::More;
use scrape;

find_program('prometheus-sql-exporter')
  or plan skip_all => 'there is no prometheus-sql-exporter on PATH';

my $clock = clock->new;
my $node = $clock->new_server("shared_buffers = '16MB'");
$node->safe_psql('postgres', q{
	CREATE TABLE pages AS SELECT g, repeat('x', 1000) AS filler FROM generate_series(1, 7000) g;
});
grant($node);
$clock->pass(60);
$node->safe_psql('postgres', 'SELECT count(filler) FROM pages');
$clock->pass(2);
$node->poll_query_until('postgres', "SELECT status = 'ok' FROM working_set_recommendation") or die 'no recommendation';

# Lookups go on, and the worker may just have begun to report; no time passes.
my $exporter = new_exporter($node);
my $text;
my ($series, $complaints) = agreement(sub { truth(sub { $node->safe_psql('postgres', $_[0]) }) }, sub { ours($text = scrape_text($exporter)) }, 0);
is($complaints, '', 'all series, and no others, as the views have them');

my $failed = failed($text);
cmp_ok(scalar(keys %$failed), '>', 0, 'there are queries');
is(join(' ', grep { $failed->{$_} } sort keys %$failed), '', 'and none has failed');
is($series->{'working_set_status{status="ok"}'}, 1, 'the status is exposed');
my $documented = documented_metrics();
my %there = map { $_ => 1 } @{ names_of($series) };
# a control group may be there that cannot be seen from here, and nothing need have been saved yet
my %may_lack = map { $_ => 1 } qw(working_set_memory_limit_bytes working_set_last_saved_timestamp_seconds);
is(join(' ', grep { !$there{$_} && !$may_lack{$_} } sort map { keys %{ $documented->{$_} } } 'always', 'while it tracks'),
	'', 'and every metric of monitoring/README.md that does not depend on the worker');
ok($there{working_set_recommended_cache_size_bytes}, 'and what is recommended');

stop_exporter($exporter);
$node->stop;
done_testing();

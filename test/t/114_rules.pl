# Prometheus' own view of monitoring/prometheus: its checks of rules and of the sample
# configuration, the unit tests of each rule, what the sample makes of the labels of both
# exporters, and that the mixin has the same rules.

use strict;
use warnings;
use File::Temp qw(tempdir);
use FindBin;
use IO::Socket::INET;
use IPC::Run;
use JSON::PP;
use lib $FindBin::Bin;
use patience;
use PostgreSQL::Test::Utils qw(slurp_file);
use Test::More;
use scrape;

my $dir = 'monitoring/prometheus';

plan skip_all => 'promtool is missing (package prometheus)' unless find_program('promtool');

# Run it; both its outputs are shown if it fails.
sub succeeds
{
	my ($what, @command) = @_;
	my ($out, $err) = ('', '');
	my $ok = IPC::Run::run(\@command, '<', \'', '>', \$out, '2>', \$err, IPC::Run::timeout(patience()));
	ok($ok, $what) or diag("$out\n$err");
	return $out;
}

# ---- the files

my @rules = sort glob("$dir/*.rules.yml"), glob("$dir/*.alerts.yml");
my @tests = sort glob("$dir/tests/*.yml");

for my $file (@rules)
{
	my $wanted = () = slurp_file($file) =~ /^ *- (?:record|alert): /mg;
	my $out = succeeds("promtool check rules $file", 'promtool', 'check', 'rules', $file);
	like($out, qr/SUCCESS: $wanted rules found/, "all $wanted of them");
}
succeeds("promtool check config $dir/prometheus.yml", 'promtool', 'check', 'config', "$dir/prometheus.yml");
succeeds("promtool test rules $_", 'promtool', 'test', 'rules', $_) for @tests;

# Every target names a machine, and instance is its name without a port, in `up' too.
my %sample = slurp_file("$dir/prometheus.yml") =~ /^  - job_name: (\w+)\n((?:(?!  - job_name).*\n)*)/mg;
is(join(' ', sort keys %sample), 'working_set working_set_debian working_set_exporter working_set_postgres_exporter', 'sample jobs');
for my $job (sort keys %sample)
{
	like($sample{$job}, qr/^ +- targets: \['\w+\.example\.com:\d+'\]$/m, "$job: the sample names a machine");
	unlike($sample{$job}, qr/^ +- targets: .*localhost/m, "$job: which is not localhost");
	like($sample{$job}, qr/^ +- source_labels: \[instance, __address__\]\n +regex: ;\(\.\+\):\\d\+\n +target_label: instance$/m,
		"$job: and whose name is the instance");
}

# Each rule has a test, and a test in which it gives something.  A test can have several rules in a pattern of names.
my $tested = join '', map { slurp_file($_) } @tests;
my @expected = grep { /^\{?expr: .*exp_samples:.*value: /s } map { s/^  - name: .*//msr } split /^ +- (?=\{?expr: )/m, $tested;
for my $file (@rules)
{
	my $text = slurp_file($file);
	while ($text =~ /^ *- alert: (\w+)\n((?:(?! *- alert:).*\n)*)/mg)
	{
		my ($alert, $body) = ($1, $2);
		like($tested, qr/^ +- alertname: $alert\n +eval_time: \w+\n +exp_alerts:.*\n +- exp_labels: \{severity: /m, "$alert is tested, raised");
		like($tested, qr/\{alertname: $alert, eval_time: \w+\}/, 'and not');
		like($body, qr/^ +severity: (?:critical|warning|info)\n +annotations:\n +summary: '[A-Z][^{}]*\.'\n +description: >-\n(?: {12}.*\n)+/m,
			'it has a severity, a summary and a description');
		my ($description) = $body =~ / +description: >-\n((?: {12}.*\n)+)/;
		like($description, qr/\{\{ \$labels\.instance \}\}/, 'which names the instance');
		my $plain = $description =~ s/\{\{.*?\}\}//gsr;
		like($plain, qr/\A\s*[A-Z].*\.\s*\z/s, 'and is made of sentences');
	}
	while ($text =~ /^ *- record: (\S+)/mg)
	{
		my $record = $1;
		my $found = grep {
			my ($pattern) = /__name__=~"([^".]+)"/;
			/\b\Q$record\E\b/ || defined $pattern && $record =~ /^(?:$pattern)$/
		} @expected;
		ok($found, "$record is tested");
	}
}

# ---- a real Prometheus, with the rules and with those of the mixin, and the job of an exporter

# What is scraped: TEXT, from a process of its own.
my @children;

sub exporter
{
	my ($text) = @_;
	my $socket = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => 0, Listen => 5) or die $!;
	my $pid = fork // die $!;
	if ($pid == 0)
	{
		$SIG{TERM} = sub { require POSIX; POSIX::_exit(0) };
		while (my $client = $socket->accept)
		{
			while (defined(my $line = <$client>)) { last if $line =~ /^\r?\n/ }
			print $client "HTTP/1.0 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\n\r\n$text";
			close $client;
		}
		require POSIX;
		POSIX::_exit(0);
	}
	push @children, $pid;
	return $socket->sockport;
}

END
{
	my $status = $?;
	for (@children) { kill 'TERM', $_; waitpid $_, 0 }
	$? = $status;
}

# Start one and call the function with it.
sub with_prometheus
{
	my ($exporter, $sample_job, $rules, $function) = @_;
	my $p = start_prometheus("exporter_url=http://127.0.0.1:\$1/metrics\nsample_job=\$2\nstart_prometheus 1s \"\${\@:3}\"", $exporter, $sample_job, @$rules);
	ok($p->{url}, "Prometheus starts with the job $sample_job");
	$function->($p);
	stop_prometheus($p);
	return;
}

# The scraped series as labels and values, when there are that many; without those that
# Prometheus itself makes of the scrape, or our rules, whose names have a colon.
sub scraped
{
	my ($p, $count) = @_;
	my @series;
	eventually(sub {
		my $query = '{job=~"working_set.*",__name__!~"scrape_(duration|samples|series).+|ALERTS.*|.*:.*"}';
		@series = sort grep { !/^up\{.*instance="127\.0\.0\.1"/ } map {
			my %label = %{ $_->{metric} };
			my $name = delete $label{__name__};
			"$name\{" . join(', ', map { qq($_="$label{$_}") } sort keys %label) . "} $_->{value}[1]"
		} @{ ask_prometheus($p, 'query', query => $query)->{result} };
		return @series >= $count;
	});
	return \@series;
}

sub groups_by_file
{
	my ($p) = @_;
	my %groups;
	for my $group (@{ ask_prometheus($p, 'rules')->{groups} })
	{
		my ($file) = $group->{file} =~ m{([^/]*)$};
		my @rules = map { my $rule = $_; +{ map { $_ => $rule->{$_} } grep { defined $rule->{$_} } qw(name query duration labels annotations type) } }
		  @{ $group->{rules} };
		$groups{$file}{ $group->{name} } = { interval => $group->{interval}, rules => \@rules };
	}
	return \%groups;
}

SKIP:
{
	skip 'prometheus is missing', 1 unless find_program('prometheus');

	my @files = @rules;
	my $scratch = tempdir(CLEANUP => 1);
	my $mixin = find_program('jsonnet');
	if ($mixin)
	{
		for my $label ('cluster', 'site')
		{
			my $source = "(import 'config.libsonnet') + (import 'rules.libsonnet')"
			  . " + { _config+:: { clusterLabel: '$label' } }";
			my $out = succeeds("the mixin can be read, with the label $label", 'jsonnet', '-J', 'monitoring/mixin', '-e',
				"local m = $source; { groups: m.prometheusRules.groups + m.prometheusAlerts.groups }");
			open my $fh, '>', "$scratch/mixin_$label.yml" or die $!;
			print $fh $out;
			close $fh;
			push @files, "$scratch/mixin_$label.yml";
		}
	}

	my $labels = 'col="value",database="postgres",driver="postgres",sql_job="working_set",user="scrape"';
	my $port = exporter(join "\n",
		(map { qq(sql_working_set_tracking{$labels,host="$_",metric="working_set_tracking"} 1) } 'db1:5432', 'db2', 'localhost', 'localhost:5433', '127.0.0.1:5434', '[::1]:5435'),
		qq(sql_working_set_tracking{$labels,host="",metric="working_set_worker_running"} 1),
		qq(sql_working_set{$labels,host="localhost:5432",metric="working_set_shared_buffers_bytes"} 1),
		qq(sql_working_set_size{$labels,host="db1:5432",metric="working_set_size_bytes",window_seconds="60"} 8192),
		qq(sql_working_set_neon{$labels,host="db1:5432",duration_seconds="60",metric="lfc_approximate_working_set_size_windows"} 1),
		q(sql_exporter_last_scrape_failed{database="postgres",driver="postgres",sql_job="working_set",user="scrape",host="db1:5432",query="working_set_tracking"} 0),
		qq(sql_bloat_bytes{$labels,host="db1:5432"} 1), 'go_goroutines 7', '');
	with_prometheus(
		$port,
		'working_set_debian',
		\@files,
		sub {
			my ($p) = @_;
			my $rest = 'job="working_set_debian"';
			is_deeply(scraped($p, 11), [
				sort((map { qq(working_set_tracking{cluster="main", instance="$_", $rest} 1) }
					'db1:5432', 'db2', '127.0.0.1', '127.0.0.1:5433', '127.0.0.1:5434', '127.0.0.1:5435'),
				(map { qq(working_set_$_\{cluster="main", instance="127.0.0.1", $rest} 1) } qw(worker_running shared_buffers_bytes)),
				qq(working_set_size_bytes{cluster="main", instance="db1:5432", $rest, window_seconds="60"} 8192),
				qq(lfc_approximate_working_set_size_windows{cluster="main", duration_seconds="60", instance="db1:5432", $rest} 1),
				qq(sql_exporter_last_scrape_failed{cluster="main", instance="db1:5432", $rest, query="working_set_tracking"} 0)),
			], 'what Debian\'s exporter says of many servers has the names of README.md, and the servers as instances');

			my $groups = groups_by_file($p);
			my %yaml = map { %{ $groups->{ s{.*/}{}r } } } @rules;
			is(scalar(map { @{ $_->{rules} } } values %yaml),
				scalar(map { my @found = slurp_file($_) =~ /^ *- (?:record|alert): /mg; @found } @rules), 'Prometheus has all rules');
		  SKIP:
			{
				skip 'jsonnet is missing', 3 unless $mixin;
				is_deeply($groups->{'mixin_cluster.yml'}, \%yaml, 'and the same ones from the mixin');
				my $text = JSON::PP->new->canonical->encode($groups->{'mixin_site.yml'});
				unlike($text, qr/\bcluster\b(?!:)/, 'where cluster is called otherwise, it is so in all rules');
				is($text =~ s/\bsite\b(?!:)/cluster/gr, JSON::PP->new->canonical->encode(\%yaml), 'and nothing else is');
			}
		});

	# one exporter of many servers: `up' is that of the servers
	$port = exporter(join "\n", 'up{job="shop",target="pg1"} 0', (map { qq(working_set_tracking{job="shop",target="$_"} 1) } 'pg1', 'pg2'),
		'scrape_errors_total{collector="working_set",job="shop",query="working_set_tracking",target="pg2"} 3',
		'scrape_duration_seconds{job="shop",target="pg1"} 1', '');
	with_prometheus(
		$port,
		'working_set_exporter',
		[ $rules[0] ],
		sub {
			my ($p) = @_;
			is_deeply(scraped($p, 4), [
				'scrape_errors_total{cluster="shop", collector="working_set", instance="pg2", job="working_set", query="working_set_tracking"} 3',
				'up{cluster="shop", instance="pg1", job="working_set"} 0',
				map { qq(working_set_tracking{cluster="shop", instance="$_", job="working_set"} 1) } 'pg1', 'pg2',
			], 'targets of the other exporter are instances, too, and its jobs are clusters');
		});

	# postgres_exporter
	$port = exporter(qq(working_set_tracking_value{metric="working_set_tracking",server="localhost:5432"} 1\npg_up 1\npg_exporter_last_scrape_error 0\npg_locks_count 1\n));
	with_prometheus(
		$port,
		'working_set_postgres_exporter',
		[ $rules[0] ],
		sub {
			is_deeply(scraped($_[0], 3), [ map { my ($name, $value) = @$_; qq($name\{cluster="main", instance="127.0.0.1", job="working_set_postgres_exporter"} $value) }
				[ 'pg_exporter_last_scrape_error', 0 ], [ 'pg_up', 1 ], [ 'working_set_tracking', 1 ] ],
				'what postgres_exporter has of us, with the server as instance, and whether it could ask');
		});
}

done_testing();

# A stand-in for burningalchemist/sql_exporter, which is not packaged.  It is not that program.
# It reads the same files and answers as version 0.24.6 of the program was seen to answer:
#
# - One query gives all metrics that refer to it.  A query that fails gives none of them, and
#   the others are there all the same.
# - Each failure of a query counts in scrape_errors_total, in the answer to the same scrape.
# - A server that cannot be reached counts there too, but only a target with a name does.
# - The answer is an error 500 if there is no series at all.  One of scrape_errors_total is one.
# - A target with a name has `up' and scrape_duration_seconds, and the labels target, job and
#   those of its static_configs on all its series.  The labels of scrape_errors_total are job,
#   target, collector and query.
# - A collector with min_interval repeats what it has, failures too.
#
# It connects with psql, so it takes URLs that the program does not: that one cannot name the
# directory of a socket as a parameter.
#
# As a program, for Prometheus, or as a module, for tests that run the queries themselves:
#
#   perl test/t/sql_exporter_stand_in.pm -config.file FILE -web.listen-address ADDRESS:PORT

package sql_exporter_stand_in;

use strict;
use warnings;
use CPAN::Meta::YAML;
use Exporter 'import';
use File::Basename qw(dirname);
use IO::Socket::INET;
use IPC::Run;
use JSON::PP;
use Time::HiRes qw(time);

our @EXPORT_OK = qw(check_collector check_configuration list queries_of expose);

# ---------------------------------------------------------------- its files

my %keys = (
	config => [qw(global collector_files target jobs collectors)],
	global => [qw(min_interval scrape_timeout scrape_timeout_offset scrape_error_drop_interval max_connection_lifetime
		  max_connections max_idle_connections ping_interval warmup_delay enable_query_metrics)],
	target => [qw(name data_source_name collectors enable_ping)],
	job => [qw(job_name collectors static_configs enable_ping)],
	static_config => [qw(targets labels)],
	collector => [qw(collector_name min_interval metrics queries)],
	metric => [qw(metric_name type help key_labels static_labels values value_label query query_ref
		  no_prepared_statement static_value timestamp_value)],
	query => [qw(query_name query no_prepared_statement)]);

sub known_keys
{
	my ($what, $map) = @_;
	die "$what is no map\n" if ref $map ne 'HASH';
	for my $key (sort keys %$map)
	{
		die "unknown fields in $what: $key\n" if !grep { $_ eq $key } @{ $keys{$what} };
	}
	return;
}

sub list
{
	my ($value) = @_;
	return () if !defined $value;
	die "not a list\n" if ref $value ne 'ARRAY' || grep { ref } @$value;
	return @$value;
}

sub check_label
{
	my ($label) = @_;
	die "bad label $label\n" if $label !~ /^[a-zA-Z_]\w*$/ || $label =~ /^__/;
	die "reserved label $label\n" if $label =~ /^(?:job|target|instance)$/;
	return;
}

sub check_metric
{
	my ($metric, $queries) = @_;
	known_keys('metric', $metric);
	for my $key (qw(metric_name type help))
	{
		die "missing $key\n" if ($metric->{$key} // '') eq '';
	}
	my $name = $metric->{metric_name};
	die "$name: bad name\n" if $name !~ /^[a-zA-Z_:][\w:]*$/;
	die "$name: unsupported type\n" if $metric->{type} !~ /^(?:counter|gauge)$/;
	die "$name: exactly one of query and query_ref\n" if !defined $metric->{query} == !defined $metric->{query_ref};
	die "$name: unresolved query_ref\n" if defined $metric->{query_ref} && !$queries->{ $metric->{query_ref} };
	my %seen;
	for my $label (list($metric->{key_labels}), $metric->{value_label} // ())
	{
		check_label($label);
		die "$name: duplicate label $label\n" if $seen{$label}++;
	}
	my @values = list($metric->{values});
	die "$name: no values\n" if !@values;
	die "$name: value_label needed\n" if @values > 1 && !defined $metric->{value_label};
	return;
}

# {name => SQL}; a query without a name has that of its metric
sub queries_of
{
	my ($collector) = @_;
	return {
		(map { $_->{query_name} => $_->{query} } @{ $collector->{queries} || [] }),
		map { defined $_->{query} ? ($_->{metric_name} => $_->{query}) : () } @{ $collector->{metrics} } };
}

# Columns that are keys of one metric cannot be values of another of the same query.
sub check_uses
{
	my ($name, @metrics) = @_;
	my %is;
	for my $metric (@metrics)
	{
		for my $use ([ 'key', list($metric->{key_labels}) ], [ 'value', list($metric->{values}) ])
		{
			my ($what, @columns) = @$use;
			for my $column (@columns)
			{
				die "$name: $column both as key and value\n" if ($is{$column} //= $what) ne $what;
			}
		}
	}
	return;
}

sub check_collector
{
	my ($collector) = @_;
	known_keys('collector', $collector);
	die "no collector_name\n" if ($collector->{collector_name} // '') eq '';
	die "bad min_interval\n" if ($collector->{min_interval} // '0s') !~ /^\d+(?:ms|s|m|h)$/;
	die "no metrics\n" if !@{ $collector->{metrics} || [] };
	my (%queries, %names, %used);
	for my $query (@{ $collector->{queries} || [] })
	{
		known_keys('query', $query);
		die "query without name or text\n" if grep { ($query->{$_} // '') eq '' } qw(query_name query);
		die "$query->{query_name} twice\n" if $queries{ $query->{query_name} };
		$queries{ $query->{query_name} } = $query->{query};
	}
	for my $metric (@{ $collector->{metrics} })
	{
		check_metric($metric, \%queries);
		die "$metric->{metric_name} twice\n" if $names{ $metric->{metric_name} }++;
		push @{ $used{ $metric->{query_ref} // $metric->{metric_name} } }, $metric;
	}
	check_uses($_, @{ $used{$_} }) for sort keys %used;
	return \%used;
}

sub check_configuration
{
	my ($config) = @_;
	known_keys('config', $config);
	known_keys('global', $config->{global}) if $config->{global};
	die "one of target and jobs\n" if !$config->{target} == !$config->{jobs};
	known_keys('target', $config->{target}) if $config->{target};
	for my $job (@{ $config->{jobs} || [] })
	{
		known_keys('job', $job);
		die "job without name, collectors or static_configs\n"
		  if grep { !$job->{$_} } qw(job_name collectors static_configs);
		for my $static (@{ $job->{static_configs} })
		{
			known_keys('static_config', $static);
			check_label($_) for keys %{ $static->{labels} || {} };
			die "no targets\n" if !keys %{ $static->{targets} || {} };
			my %seen;
			$seen{$_}++ && die "duplicate data source name $_\n" for values %{ $static->{targets} };
		}
	}
	return;
}

sub read_file
{
	my ($file) = @_;
	open my $fh, '<', $file or die "$file: $!\n";
	local $/;
	return <$fh>;
}

sub read_yaml
{
	my ($file) = @_;
	my $documents = CPAN::Meta::YAML->read_string(read_file($file)) or die "$file: " . CPAN::Meta::YAML->errstr . "\n";
	return $documents->[0];
}

sub seconds
{
	my ($duration) = @_;
	my ($number, $unit) = $duration =~ /^(\d+)(ms|s|m|h)$/ or die "bad duration $duration\n";
	return $number * { ms => 0.001, s => 1, m => 60, h => 3600 }->{$unit};
}

# The state of an exporter: its targets, with their collectors, and what it has counted.
sub new
{
	my ($class, $file) = @_;
	my $config = read_yaml($file);
	check_configuration($config);
	my %collectors;
	for my $pattern (list($config->{collector_files}))
	{
		for my $found (glob($pattern =~ m{^/} ? $pattern : dirname($file) . "/$pattern"))
		{
			my $collector = read_yaml($found);
			check_collector($collector);
			$collectors{ $collector->{collector_name} } = $collector;
		}
	}
	my @targets;
	my $add = sub {
		my ($name, $dsn, $labels, @names) = @_;
		push @targets, { name => $name, dsn => $dsn, labels => $labels,
			# a cache for each
			collectors => [ map { { config => $collectors{$_} || die "unknown collector $_\n" } } @names ] };
	};
	if (my $target = $config->{target})
	{
		my $name = $target->{name} // '';
		$add->($name, $target->{data_source_name}, $name eq '' ? {} : { target => $name }, list($target->{collectors}));
	}
	for my $job (@{ $config->{jobs} || [] })
	{
		for my $static (@{ $job->{static_configs} })
		{
			$add->($_, $static->{targets}{$_}, { job => $job->{job_name}, target => $_, %{ $static->{labels} || {} } },
				list($job->{collectors})) for sort keys %{ $static->{targets} };
		}
	}
	my $timeout = seconds($config->{global}{scrape_timeout} // '10s');
	return bless { targets => \@targets, timeout => $timeout, errors => {} }, $class;
}

# ---------------------------------------------------------------- what it makes of rows

sub sample
{
	my ($name, $labels, $value) = @_;
	my @labels;
	for my $label (sort keys %$labels)
	{
		my $text = $labels->{$label} // '';
		$text =~ s/([\\"])/\\$1/g;
		$text =~ s/\n/\\n/g;
		push @labels, qq($label="$text");
	}
	return $name . (@labels ? '{' . join(',', @labels) . '}' : '') . " $value";
}

# The samples of a metric in one row; those that are NULL are left out.
sub samples_of_row
{
	my ($metric, $row, $labels) = @_;
	my @samples;
	for my $column (list($metric->{values}))
	{
		next if !defined $row->{$column};
		my %labels = (%{ $labels || {} }, %{ $metric->{static_labels} || {} },
			map { $_ => $row->{$_} } list($metric->{key_labels}));
		$labels{ $metric->{value_label} } = $column if defined $metric->{value_label};
		push @samples, [ $metric, sample($metric->{metric_name}, \%labels, $row->{$column}) ];
	}
	return @samples;
}

# What one query gives: [METRIC, LINE] for each sample.  Dies if it fails; rows are those that
# $run->(QUERY) returns, columns as text.
sub samples_of_query
{
	my ($sql, $metrics, $labels, $run) = @_;
	my @samples;
	for my $row (@{ $run->($sql) })
	{
		for my $metric (@$metrics)
		{
			for my $column (list($metric->{key_labels}), list($metric->{values}))
			{
				die "missing column $column\n" if !exists $row->{$column};
			}
			for my $column (list($metric->{values}))
			{
				die "$column is no number: $row->{$column}\n"
				  if defined $row->{$column} && $row->{$column} !~ /^[-+]?(?:\d|NaN$|Inf)/i;
			}
			push @samples, samples_of_row($metric, $row, $labels);
		}
	}
	return @samples;
}

sub format_families
{
	my (%families) = @_;
	my $text = '';
	for my $name (sort keys %families)
	{
		my ($metric, @lines) = @{ $families{$name} };
		my %seen;
		$seen{s/ \S+$//r}++ && die "twice: $_\n" for @lines;
		$text .= "# HELP $name $metric->{help}\n# TYPE $name $metric->{type}\n" . join('', map { "$_\n" } sort @lines);
	}
	return $text;
}

sub into_families
{
	my ($families, @samples) = @_;
	for my $sample (@samples)
	{
		my ($metric, $line) = @$sample;
		push @{ $families->{ $metric->{metric_name} } //= [$metric] }, $line;
	}
	return;
}

# The text for collectors, none of whose queries may fail; $run as above.
sub expose
{
	my ($run, @collectors) = @_;
	my %families;
	for my $collector (@collectors)
	{
		my ($used, $queries) = (check_collector($collector), queries_of($collector));
		into_families(\%families, samples_of_query($queries->{$_}, $used->{$_}, {}, $run)) for sort keys %$used;
	}
	return format_families(%families);
}

# ---------------------------------------------------------------- a scrape

my %help = (
	up => '1 if the target is reachable, or 0 if the scrape failed',
	scrape_duration_seconds => 'How long it took to scrape the target in seconds');

sub automatic
{
	my ($name, $labels, $value) = @_;
	my $metric = { metric_name => $name, type => 'gauge', help => $help{$name} };
	return [ $metric, sample($name, $labels, $value) ];
}

# Run queries, {name => SQL}, in one psql; {name => rows as [{column => text}, ...]}, without
# those that failed, or nothing if the server does not answer.  A statement may take as long
# as a scrape, and holds up no other in the program, which has a second connection.
sub ask
{
	my ($dsn, $timeout, $queries) = @_;
	my $json = q{(SELECT pg_catalog.json_object_agg(key, value) FROM pg_catalog.json_each_text(pg_catalog.row_to_json(q)))};
	my $limit = int(1000 * $timeout);
	my $script = "SELECT pg_catalog.set_config('statement_timeout', '$limit', false) FROM pg_catalog.pg_settings "
	  . "WHERE name = 'statement_timeout' AND setting::integer NOT BETWEEN 1 AND $limit \\g /dev/null\n\\echo up\n";
	$script .= "\\echo begin $_\nSELECT $json FROM (\n$queries->{$_}\n) q;\n\\echo end $_ :ERROR\n" for sort keys %$queries;

	my ($out, $err) = ('', '');
	local $ENV{PGCONNECT_TIMEOUT} = $timeout < 2 ? 2 : int $timeout;
	my $run = IPC::Run::start([ 'psql', '-X', '-A', '-t', '-q', '-d', $dsn, '-f', '-' ],
		'<', \$script, '>', \$out, '2>', \$err, IPC::Run::timeout($timeout * (1 + keys %$queries)));
	eval { $run->finish; 1 } or $run->kill_kill(grace => 1);
	warn $err if $err ne '';
	return if $out !~ /^up$/m;
	my %answers;
	$answers{$1} = [ map { JSON::PP->new->utf8->decode($_) } split /\n/, $2 ]
	  while $out =~ /^begin (\w+)\n((?:(?!end ).*\n)*)end \1 false$/mg;
	return \%answers;
}

# What a collector gives of the answers to its queries: samples, and names of those that failed.
sub collect
{
	my ($target, $collector, $answers) = @_;
	my $used = check_collector($collector);
	my (@samples, @failed);
	for my $name (sort keys %$used)
	{
		my $rows = $answers->{$name};
		my @found = eval { samples_of_query($name, $used->{$name}, $target->{labels}, sub { $rows || die "refused\n" }) };
		warn "$target->{name} $collector->{collector_name} $name: $@" if $@;
		push @failed, $name if $@;
		push @samples, @found;
	}
	return { time => time(), samples => \@samples, failed => \@failed };
}

sub is_fresh
{
	my ($collector) = @_;
	my $cache = $collector->{cache};
	return $cache && time() - $cache->{time} <= seconds($collector->{config}{min_interval} // '0s');
}

sub count_error
{
	my ($self, $target, $collector, $query) = @_;
	my %labels = (job => $target->{labels}{job} // '', target => $target->{name}, collector => $collector, query => $query);
	$self->{errors}{ sample('scrape_errors_total', \%labels, '') }++;
	return;
}

sub scrape_target
{
	my ($self, $target) = @_;
	my $begin = time();
	my @samples;
	my @old = grep { !is_fresh($_) } @{ $target->{collectors} };
	my $answers = ask($target->{dsn}, $self->{timeout}, { map { %{ queries_of($_->{config}) } } @old });
	my $up = $answers ? 1 : 0;
	$self->count_error($target, '', '') if !$up && $target->{name} ne '';
	for my $collector ($up ? @{ $target->{collectors} } : ())
	{
		my $config = $collector->{config};
		$collector->{cache} = collect($target, $config, $answers) if !is_fresh($collector);
		push @samples, @{ $collector->{cache}{samples} };
		$self->count_error($target, $config->{collector_name}, $_) for @{ $collector->{cache}{failed} };
	}
	push @samples, automatic('up', $target->{labels}, $up),
	  automatic('scrape_duration_seconds', $target->{labels}, time() - $begin)
	  if $target->{name} ne '';
	return @samples;
}

# (status, text)
sub scrape
{
	my ($self) = @_;
	my %families;
	into_families(\%families, $self->scrape_target($_)) for @{ $self->{targets} };
	$families{scrape_errors_total} = [
		{ type => 'counter', help => 'Total number of scrape errors per job, target, collector and query' },
		map { $_ . $self->{errors}{$_} } keys %{ $self->{errors} } ]
	  if %{ $self->{errors} };
	return (500, "No metrics gathered\n") if !%families;
	return (200, format_families(%families));
}

# ---------------------------------------------------------------- the program

sub serve
{
	my ($self, $address) = @_;
	my $socket = IO::Socket::INET->new(LocalAddr => $address, Listen => 20, ReuseAddr => 1) or die "$address: $!\n";
	local $SIG{PIPE} = 'IGNORE';
	while (1)
	{
		# a child's end interrupts it
		my $client = $socket->accept or next;
		my ($path) = (<$client> // '') =~ m{^GET (/\S*)};
		while (defined(my $line = <$client>)) { last if $line =~ /^\r?\n/ }
		my ($status, $text) = ($path // '') =~ m{^/metrics} ? $self->scrape : (200, "sql_exporter_stand_in\n");
		my $word = $status == 200 ? 'OK' : 'Internal Server Error';
		print $client "HTTP/1.0 $status $word\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n\r\n$text";
		close $client;
	}
	return;
}

sub main
{
	my (%options) = @ARGV;
	$SIG{TERM} = sub { require POSIX; POSIX::_exit(0) };
	sql_exporter_stand_in->new($options{'-config.file'})->serve($options{'-web.listen-address'});
	return;
}

main() unless caller;

1;

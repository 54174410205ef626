# The files for exporters that are not packaged, and the role they connect as:
# burningalchemist/sql_exporter, pgwatch, postgres_exporter. Each format is checked as its
# program does when it reads the file, the queries are run on a server, and what the program
# would expose is made of the answers and set beside what the views say at the same moment.

use strict;
use warnings;
use FindBin;
use JSON::PP;
use lib $FindBin::Bin;
use sql_exporter_stand_in qw(check_collector check_configuration list queries_of expose);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use scrape;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf(
	'postgresql.conf', q{
shared_preload_libraries = 'working_set'
working_set.interval = 3600
shared_buffers = '32MB'
autovacuum = off
fsync = off
track_io_timing = on
});
$node->start;
$node->safe_psql('postgres', q{
	CREATE SCHEMA watch;
	CREATE EXTENSION working_set SCHEMA watch;
	CREATE TABLE secret AS SELECT 1 AS it;
});

# ---------------------------------------------------------------- grants.sql

sub grants
{
	my ($database, @options) = @_;
	my ($out, $err) = ('', '');
	my $ok = IPC::Run::run([ 'psql', '-X', '-q', '-d', $node->connstr($database), @options, '-f', monitoring('grants.sql') ],
		'<', \undef, '>', \$out, '2>', \$err);
	return ($ok ? 'done' : 'failed') . "|$out$err";
}

my $attributes = q{SELECT rolcanlogin, rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls, rolconnlimit,
	rolpassword IS NULL, (SELECT string_agg(g.rolname, ',') FROM pg_auth_members JOIN pg_roles g ON g.oid = roleid WHERE member = r.oid)
	FROM pg_authid r WHERE rolname = };
is(grants('postgres'), 'done|', 'grants.sql');
is($node->safe_psql('postgres', "$attributes 'working_set_scrape'"), 't|f|f|f|f|f|10|t|pg_monitor',
	'the role may log in and is a member of pg_monitor, nothing else');
my $settings = q{SELECT string_agg(unnest, ' ' ORDER BY unnest) FROM pg_db_role_setting, unnest(setconfig)};
my $once = $node->safe_psql('postgres', $settings);
is(grants('postgres'), 'done|', 'grants.sql a second time');
is($node->safe_psql('postgres', "$attributes 'working_set_scrape'"), 't|f|f|f|f|f|10|t|pg_monitor', 'changes nothing');
is($node->safe_psql('postgres', $settings), $once, 'and no setting');
is(grants('postgres', '-v', 'role=Other "one"', '-v', 'connections=3'), 'done|', 'grants.sql with another name');
is($node->safe_psql('postgres', qq{$attributes 'Other "one"'}), 't|f|f|f|f|f|3|t|pg_monitor', 'makes a role of that name');
like(grants('template1'), qr/^failed\|.*working_set is not in database "template1"/, 'not where the extension is missing');
like(grants('postgres', '-v', 'role=' . $node->safe_psql('postgres', 'SELECT current_user')),
	qr/^failed\|.*exists and is a superuser/, 'not a role that can do more');
$node->safe_psql('postgres', 'CREATE DATABASE "Closed one"');
$node->safe_psql('Closed one', q{
	CREATE EXTENSION working_set;
	REVOKE ALL ON DATABASE "Closed one" FROM PUBLIC;
	REVOKE ALL ON SCHEMA public FROM PUBLIC;
});
is(grants('Closed one'), 'done|', 'grants.sql where PUBLIC may nothing');

sub as_scraper
{
	my ($sql, $database) = @_;
	my ($status, $out, $err) = $node->psql($database // 'postgres', "\\set VERBOSITY sqlstate\n$sql",
		extra_params => [ '-U', 'working_set_scrape' ]);
	my ($state) = $err =~ /ERROR:  (\w{5})$/m;
	return $status == 0 ? $out : $state // $err;
}

is(as_scraper('SELECT count(*) FROM working_set_info'), '1', 'the role finds the extension by itself');
is(as_scraper('SELECT count(*) FROM working_set_info', 'Closed one'), '1', 'in the other database too');
is(as_scraper('SELECT working_set_reset()'), '42501', 'the role cannot reset');
is(as_scraper('SELECT approximate_working_set_size(true)'), '42501', 'not by the other function either');
is(as_scraper('SELECT * FROM public.secret'), '42501', 'nor read a table');
is(as_scraper('CREATE TABLE public.t (a int)'), '25006', 'nor make one');
is(as_scraper('SET default_transaction_read_only = off; CREATE TABLE public.t (a int)'), '42501', 'not even if it tries');
is(as_scraper('ALTER SYSTEM SET work_mem = 64'), '42501', 'nor change a setting');
is(as_scraper('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usesysid = 10'), '42501',
	'nor end a session of others');
is(as_scraper('CREATE ROLE r'), '25006', 'nor make a role');
is(as_scraper('SELECT rolpassword FROM pg_authid'), '42501', 'nor read passwords');
is(as_scraper(q{SELECT pg_read_file('PG_VERSION')}), '42501', 'nor read a file');
is(as_scraper(q{SET statement_timeout = '100ms'; SELECT pg_sleep(60)}), '57014', 'a statement can be timed out');
is(as_scraper('SHOW statement_timeout'), '5s', 'and is, after five seconds');
# a busy machine may take longer than that
$node->safe_psql('postgres', q{ALTER ROLE working_set_scrape SET statement_timeout = '10min'});

# ---------------------------------------------------------------- running queries as the role

my $stub = '';    # schemas that are before that of the extension

sub query
{
	my ($sql) = @_;
	my ($status, $out, $err) = $node->psql('postgres', $stub eq '' ? $sql : "SET search_path = $stub, watch, pg_catalog;\n$sql",
		extra_params => [ '-U', 'working_set_scrape' ]);
	die "$err\n$sql" if $status != 0;
	return $out;
}

sub now_true
{
	my $path = join ', ', grep { length } $stub, qw(watch pg_catalog public);
	return truth(sub { $node->safe_psql('postgres', "SET search_path = $path;\n$_[0]") }, @_);
}

# [[column, type], ...] as the server describes them
sub columns
{
	my ($sql) = @_;
	return [ map { [ split /\|/ ] } split /\n/, query("$sql\n\\gdesc") ];
}

# [{column => value}, ...], values as text, which keeps all digits
sub rows
{
	my ($sql) = @_;
	return [ map { JSON::PP->new->decode($_) } split /\n/, query(qq{
		SELECT (SELECT json_object_agg(key, value) FROM json_each_text(row_to_json(q))) FROM (\n$sql\n) q}) ];
}

# ---------------------------------------------------------------- burningalchemist/sql_exporter

# A column is of a type that can be scanned to what it is wanted for, and nothing is left over.
sub check_columns
{
	my ($name, $sql, @metrics) = @_;
	my %is;
	for my $metric (@metrics)
	{
		for my $use ([ 'key', list($metric->{key_labels}) ], [ 'value', list($metric->{values}) ])
		{
			my ($what, @columns) = @$use;
			for my $column (@columns)
			{
				die "$name: $column both as key and value" if ($is{$column} //= $what) ne $what;
			}
		}
	}
	my %have;
	for my $column (@{ columns($sql) })
	{
		my ($column, $type) = @$column;
		die "$name: $column twice" if $have{$column}++;
		die "$name: nobody wants $column" if !$is{$column};
		die "$name: $column is $type" if $type ne ($is{$column} eq 'key' ? 'text' : 'double precision');
	}
	$have{$_} or die "$name: there is no column $_" for keys %is;
	return;
}

# What the exporter itself checks, and that each query is used and has the columns it should.
sub check_all
{
	my ($collector) = @_;
	my ($used, $queries) = (check_collector($collector), queries_of($collector));
	$used->{$_} or die "query $_ is not used" for keys %$queries;
	check_columns($_, $queries->{$_}, @{ $used->{$_} }) for sort keys %$used;
	return;
}

# what the exporter would answer
sub exposed
{
	return expose(\&rows, @_);
}

my %collectors = map { $_ => read_yaml(monitoring("sql_exporter/$_.collector.yml")) }
  qw(working_set working_set_relations working_set_databases working_set_memory working_set_queries working_set_neon working_set_neon_dashboard working_set_reason);
for my $name (sort keys %collectors)
{
	ok(eval { check_all($collectors{$name}); 1 }, "$name.collector.yml is in order") or diag $@;
	is($collectors{$name}{collector_name}, $name, "$name.collector.yml has its name");
}

# the checks themselves: each of these has to be refused
sub spoiled
{
	my ($how, $pattern) = @_;
	my $copy = JSON::PP->new->decode(JSON::PP->new->encode($collectors{working_set}));
	$how->($copy);
	like(eval { check_all($copy); 'accepted' } // $@, $pattern, "refused: $pattern");
	return;
}
spoiled(sub { $_[0]{colour} = 'red' }, qr/unknown fields in collector: colour/);
spoiled(sub { $_[0]{metrics}[0]{label} = 'x' }, qr/unknown fields in metric: label/);
spoiled(sub { $_[0]{queries}[0]{name} = 'x' }, qr/unknown fields in query: name/);
spoiled(sub { delete $_[0]{metrics}[0]{help} }, qr/missing help/);
spoiled(sub { $_[0]{metrics}[0]{type} = 'histogram' }, qr/unsupported type/);
spoiled(sub { $_[0]{metrics}[0]{query} = 'SELECT 1' }, qr/exactly one of query and query_ref/);
spoiled(sub { $_[0]{metrics}[0]{query_ref} = 'nowhere' }, qr/unresolved query_ref/);
spoiled(sub { delete $_[0]{metrics}[2]{value_label} }, qr/value_label needed/);
spoiled(sub { push @{ $_[0]{metrics}[0]{values} }, 'hits' }, qr/value_label needed/);
spoiled(sub { $_[0]{metrics}[0]{key_labels} = ['target'] }, qr/reserved label/);
spoiled(sub { $_[0]{metrics}[0]{key_labels} = ['nobody'] }, qr/no column nobody/);
spoiled(sub { $_[0]{metrics}[0]{key_labels} = ['ok'] }, qr/both as key and value/);
spoiled(sub { $_[0]{queries}[0]{query} =~ s/i\.tracking::int::float8/i.tracking/ }, qr/tracking is boolean/);
spoiled(sub { $_[0]{queries}[1]{query} =~ s/i\.registers::text/i.registers/ }, qr/registers is integer/);
spoiled(sub { $_[0]{queries}[1]{query} =~ s/1::float8 AS info/1::float8 AS info, 2 AS more/ }, qr/nobody wants more/);
spoiled(sub { push @{ $_[0]{queries} }, { query_name => 'idle', query => 'SELECT 1' } }, qr/query idle is not used/);

# the sample configuration
my $config = read_yaml(monitoring('sql_exporter/sql_exporter.yml'));
ok(eval { check_configuration($config); 1 }, 'sql_exporter.yml has no unknown fields') or diag $@;
ok(!defined $config->{jobs} && !defined $config->{target}{name}, 'sql_exporter.yml: one target without a name');
like($config->{target}{data_source_name}, qr{^postgres://working_set_scrape@}, 'sql_exporter.yml: the role of grants.sql');
my @found = map { glob monitoring("sql_exporter/$_") } list($config->{collector_files});
is(scalar @found, keys %collectors, 'sql_exporter.yml finds all collectors');
is_deeply([ grep { !$collectors{$_} } list($config->{target}{collectors}) ], [], 'sql_exporter.yml: there are those it names');
my $commented = slurp_file(monitoring('sql_exporter/sql_exporter.yml'));
is_deeply([ sort(list($config->{target}{collectors}), $commented =~ /^    # - (\w+)$/mg) ], [ sort keys %collectors ],
	'sql_exporter.yml: the others are there to be chosen');

# one exporter for many servers
my $jobs_file = read_yaml(monitoring('sql_exporter/sql_exporter_jobs.yml'));
ok(eval { check_configuration($jobs_file); 1 }, 'sql_exporter_jobs.yml has no unknown fields') or diag $@;
is_deeply($jobs_file->{$_}, $config->{$_}, "sql_exporter_jobs.yml: $_ as in sql_exporter.yml") for qw(global collector_files);
for my $job (@{ $jobs_file->{jobs} })
{
	is_deeply($job->{collectors}, ['working_set'], "sql_exporter_jobs.yml: collectors of $job->{job_name}");
	my %targets = map { %{ $_->{targets} } } @{ $job->{static_configs} };
	is_deeply([ grep { $targets{$_} !~ m{^postgres://working_set_scrape\@\Q$_\E:5432/} } keys %targets ], [],
		"sql_exporter_jobs.yml: targets of $job->{job_name} have the names of servers");
}

# ---------------------------------------------------------------- status and tracking stand alone

# They refer to a query that reads nothing but the two views that they are columns of.
my @state = qw(working_set_status working_set_tracking working_set_worker_running);
my %alone = (working_set_info => 1, working_set_recommendation => 1);
sub reads
{
	my ($sql) = @_;
	return join ' ', grep { !$alone{$_} } $sql =~ /\b(working_set_\w+)\b/g;
}
my ($collector) = grep { $_->{collector_name} eq 'working_set' } values %collectors;
my %used_by;
push @{ $used_by{ $_->{query_ref} } }, $_->{metric_name} for @{ $collector->{metrics} };
is_deeply([ sort @{ $used_by{working_set_state} } ], \@state, 'sql_exporter: state has a query of its own');
is(reads(queries_of($collector)->{working_set_state}), '', 'sql_exporter: which reads nothing else');
my %debian = map { $_->{name} => $_->{query} } @{ read_yaml(monitoring('prometheus-sql-exporter/working_set.yml'))->{jobs}[0]{queries} };
is(reads($debian{$_}), '', "prometheus-sql-exporter: $_ reads nothing else") for @state;
my $blocks = read_yaml(monitoring('postgres_exporter/queries.yaml'));
is_deeply([ sort map { keys %$_ } @{ $blocks->{working_set}{metrics} } ], [qw(tracking worker_running)],
	'postgres_exporter: tracking has a query of its own');
is_deeply([ sort map { keys %$_ } @{ $blocks->{working}{metrics} } ], [qw(set_status set_verdict status verdict)],
	'postgres_exporter: status and verdict have a query of their own');
is(reads($blocks->{$_}{query}), '', "postgres_exporter: $_ reads nothing else") for qw(working_set working);

# ---------------------------------------------------------------- the same metrics everywhere

my $documented = documented_metrics();
my %type = map { %$_ } values %$documented;
# The windows are in two collectors, each with a label of its own.
my (%described, %labels_of);
for my $metric (map { @{ $_->{metrics} } } values %collectors)
{
	my $name = $metric->{metric_name};
	is($metric->{help}, ($described{$name} || $metric)->{help}, "$name: one help");
	$described{$name} = $metric;
	push @{ $labels_of{$name} }, list($metric->{key_labels}), $metric->{value_label} // ();
}
is_deeply({ map { $_ => $described{$_}{type} } keys %described }, \%type, 'metrics and types are those of the README');
is_deeply([ sort keys %{ { map { $_->{metric_name} => 1 } map { @{ $collectors{$_}{metrics} } } grep { $_ ne 'working_set' } keys %collectors } } ],
	[ sort keys %{ $documented->{'opt-in'} } ], 'and the opt-in ones are those of the README');

my @jobs = map { @{ $_->{jobs} } } read_yaml(monitoring('prometheus-sql-exporter/working_set.yml')),
  map { { jobs => read_yaml(monitoring("prometheus-sql-exporter/$_.jobs.yml")) } }
  grep { $_ ne 'working_set' && $_ ne 'working_set_neon_dashboard' } sort keys %collectors;
my %other = map { $_->{name} => $_ } map { @{ $_->{queries} } } @jobs;
is_deeply([ sort keys %other ], [ sort keys %described ], 'prometheus-sql-exporter has the same metrics');
is_deeply([ map { $_->{name} } @jobs ], [ grep { $_ ne 'working_set_neon_dashboard' } sort keys %collectors ],
	'in jobs of the same names, but that both labels of the windows are in one');
is_deeply({ map { $_ => $other{$_}{help} } keys %other }, { map { $_ => $described{$_}{help} } keys %described },
	'with the same help');
is_deeply({ map { $_ => [ sort(list($other{$_}{labels})) ] } keys %other },
	{ map { $_ => [ sort @{ $labels_of{$_} } ] } keys %described },
	'and the same labels');
# as that exporter wants it, whatever the answer is
for my $name (sort keys %other)
{
	my %column = map { $_->[0] => $_->[1] } @{ columns($other{$name}{query}) };
	my ($value) = list($other{$name}{values});
	my %wanted = ((map { $_ => 'text' } list($other{$name}{labels})), $value => 'double precision');
	is_deeply(\%column, \%wanted, "prometheus-sql-exporter: types of $name");
	is($other{$name}{allow_zero_rows}, 'true', "prometheus-sql-exporter: no row is no error in $name");
}

# ---------------------------------------------------------------- pgwatch

my $pgwatch = read_yaml(monitoring('pgwatch/working_set.yaml'));
is_deeply([ sort keys %$pgwatch ], [qw(metrics presets)], 'pgwatch: metrics and presets');
for my $name (sort keys %{ $pgwatch->{metrics} })
{
	my $metric = $pgwatch->{metrics}{$name};
	is_deeply([ grep { !/^(?:description|sqls|gauges|is_instance_level|storage_name)$/ } keys %$metric ], [],
		"pgwatch: $name has no unknown fields");
	is_deeply([ keys %{ $metric->{sqls} } ], [15], "pgwatch: $name is for 15 and later");
	my %column = map { $_->[0] => $_->[1] } @{ columns($metric->{sqls}{15}) };
	is(delete $column{epoch_ns}, 'bigint', "pgwatch: $name has a time");
	is_deeply([ grep { !$column{$_} } grep { $_ ne '*' } list($metric->{gauges}) ], [], "pgwatch: gauges of $name are columns");
	is_deeply([ grep { /^tag_/ && $column{$_} ne 'text' } keys %column ], [], "pgwatch: tags of $name are text");
	my @counters = grep { my $column = $_; !/^tag_/ && !grep { $_ eq $column || $_ eq '*' } list($metric->{gauges}) } keys %column;
	is_deeply([ sort @counters ], $name eq 'working_set' ? [qw(dropped_samples evictions hits lookups)]
		: $name eq 'reco_shared_buffers' ? [qw(extra_info recommendation)] : [], "pgwatch: what of $name is no gauge");
}
for my $preset (values %{ $pgwatch->{presets} })
{
	is_deeply([ grep { !$pgwatch->{metrics}{$_} || $preset->{metrics}{$_} !~ /^\d+$/ } keys %{ $preset->{metrics} } ], [],
		'pgwatch: the preset has metrics that there are, and intervals');
}

# its figures by the names that they have elsewhere
sub pgwatch_series
{
	my %series;
	for my $row (@{ rows($pgwatch->{metrics}{working_set}{sqls}{15}) })
	{
		my %name = (
			(map { $_ => "${_}_seconds" } qw(recommendation_timestamp last_saved_timestamp counters_start_timestamp)),
			(map { $_ => "${_}_total" } qw(lookups hits evictions dropped_samples)),
			sample_rate => 'sample_ratio', recommended_cache_bytes => 'recommended_cache_size_bytes',
			peak_cache_bytes => 'peak_cache_size_bytes');
		for my $column (grep { defined $row->{$_} && !/^tag_|^epoch_ns$/ } keys %$row)
		{
			$series{ 'working_set_' . ($name{$column} // $column) } = $row->{$column};
		}
	}
	for my $name (qw(status verdict))
	{
		$series{ series_name("working_set_$name", { $name => $_->{"tag_$name"} }) } = $_->{present}
		  for @{ rows($pgwatch->{metrics}{"working_set_$name"}{sqls}{15}) };
	}
	for my $name (qw(relation database))
	{
		for my $row (@{ rows($pgwatch->{metrics}{"working_set_${name}s"}{sqls}{15}) })
		{
			my %labels = map { $_ => $row->{"tag_$_"} } grep { exists $row->{"tag_$_"} } qw(datname relation relkind);
			$series{ series_name("working_set_${name}_size_bytes", \%labels) } = $row->{bytes};
			$series{ series_name("working_set_${name}_resident_bytes", \%labels) } = $row->{resident_bytes};
		}
	}
	for my $row (@{ rows($pgwatch->{metrics}{working_set_queries}{sqls}{15}) })
	{
		my %labels = map { $_ => $row->{"tag_$_"} } qw(datname rolname queryid);
		my %name = (bytes => 'size_bytes');
		for my $column (grep { defined $row->{$_} && !/^tag_|^epoch_ns$/ } keys %$row)
		{
			$series{ series_name('working_set_query_' . ($name{$column} // $column), \%labels) } = $row->{$column};
		}
	}
	for my $row (@{ rows($pgwatch->{metrics}{working_set_memory}{sqls}{15}) })
	{
		$series{ series_name("working_set_memory_$_", { memory_bytes => $row->{tag_memory_bytes} }) } = $row->{$_}
		  for qw(predicted_disk_reads_per_second best_shared_buffers_bytes);
	}
	for my $row (@{ rows($pgwatch->{metrics}{working_set_disk}{sqls}{15}) })
	{
		$series{"working_set_$_"} = $row->{$_} for grep { defined $row->{$_} && $_ ne 'epoch_ns' } keys %$row;
	}
	for my $row (@{ rows($pgwatch->{metrics}{working_set_size}{sqls}{15}) })
	{
		my %labels = (window_seconds => $row->{tag_window_seconds});
		$series{ series_name('working_set_size_bytes', \%labels) } = $row->{bytes};
		$series{ series_name('working_set_size_lower_bound_bytes', \%labels) } = $row->{lower_bound_bytes};
		$series{ series_name('working_set_size_upper_bound_bytes', \%labels) } = $row->{upper_bound_bytes};
	}
	for my $row (@{ rows($pgwatch->{metrics}{working_set_advice}{sqls}{15}) })
	{
		$series{ series_name("working_set_$_", { cache_size_bytes => $row->{tag_cache_size_bytes} }) } = $row->{$_}
		  for grep { defined $row->{$_} } qw(predicted_hit_ratio predicted_hit_ratio_error predicted_reads_per_second);
	}
	return \%series;
}

# ---------------------------------------------------------------- postgres_exporter

# the opt-in files are appended to the first
my $queries = { map { %{ read_yaml(monitoring("postgres_exporter/$_.yaml")) } } qw(queries queries_relations queries_databases queries_memory queries_queries) };
for my $block (sort keys %$queries)
{
	is_deeply([ sort keys %{ $queries->{$block} } ], [qw(metrics query)], "postgres_exporter: $block has no unknown fields");
	my %wanted;
	for my $metric (@{ $queries->{$block}{metrics} })
	{
		my ($column) = keys %$metric;
		my $usage = $metric->{$column}{usage};
		is_deeply([ sort keys %{ $metric->{$column} } ], [qw(description usage)], "postgres_exporter: $block.$column");
		$wanted{$column} = $usage eq 'LABEL' ? 'text' : 'double precision';
		is(lc $usage, $type{"${block}_$column"} // 'not in the README', "postgres_exporter: ${block}_$column")
		  if $usage ne 'LABEL';
	}
	is_deeply({ map { $_->[0] => $_->[1] } @{ columns($queries->{$block}{query}) } }, \%wanted,
		"postgres_exporter: columns of $block");
}

sub postgres_exporter_series
{
	my %series;
	for my $block (sort keys %$queries)
	{
		my %usage = map { my ($column) = keys %$_; ($column => $_->{$column}{usage}) } @{ $queries->{$block}{metrics} };
		for my $row (@{ rows($queries->{$block}{query}) })
		{
			my %labels = map { $_ => $row->{$_} } grep { $usage{$_} eq 'LABEL' } keys %usage;
			# NULL would be exposed as NaN
			for my $column (grep { $usage{$_} ne 'LABEL' } keys %usage)
			{
				my $value = $row->{$column} // die "$block.$column is NULL";
				# status and verdict are of one block: the rows of one are 0 in the other
				if ($block eq 'working' && $labels{ $column eq 'set_status' ? 'verdict' : 'status' } ne '')
				{
					die "$block.$column is not 0" if $value != 0;
					next;
				}
				$series{ series_name("${block}_$column", \%labels) } = $value;
			}
		}
	}
	return \%series;
}

# ---------------------------------------------------------------- beside the truth

# A few tries, as some of it moves meanwhile. $wanted chooses what of the truth is to be there.
sub agrees
{
	my ($name, $get, $wanted, @opt_in) = @_;
	my (@complaints, $got);
	for (1 .. 10)
	{
		my $begin = time;
		my $before = now_true(@opt_in);
		$got = $get->();
		my $after = now_true(@opt_in);
		for my $truth ($before, $after)
		{
			delete @$truth{ grep { !$wanted->($_, $truth->{$_}) } keys %$truth };
		}
		@complaints = differences($before, $got, $after, time - $begin);
		last if !@complaints;
	}
	is(join("\n", @complaints), '', "$name: all series, and no others, as the views have them");
	return $got;
}

# the other exporter's queries, one for each metric
sub other_series
{
	my %series;
	for my $query (map { @{ $_->{queries} } } grep { $_->{name} =~ /^working_set(?:_memory|_queries)?$/ } @jobs)
	{
		my ($value) = list($query->{values});
		for my $row (@{ rows($query->{query}) })
		{
			my %labels = map { $_ => $row->{$_} // die "$query->{name}: label $_ is NULL" } list($query->{labels});
			$series{ series_name($query->{name}, \%labels) } = $row->{$value} // die "$query->{name} is NULL";
		}
	}
	return \%series;
}

my %in_queries = map { my $block = $_; map { my ($column) = keys %$_; ("${block}_$column" => 1) } @{ $queries->{$block}{metrics} } }
  keys %$queries;

# it has neither info nor what is made of other figures
sub in_pgwatch
{
	my ($series, $value) = @_;
	return $series !~ /^working_set_(?:info\{|advice_reliable$|size_relative_error_ratio$)/;
}

my $text;
my @opt_in = qw(relations databases memory queries);

sub all_agree
{
	my ($name) = @_;
	my $everything = sub { 1 };
	agrees("$name: sql_exporter", sub { $text = exposed($collectors{working_set}); parse_exposition($text) }, $everything);
	my $got = agrees("$name: sql_exporter with all collectors",
		sub { $text = exposed(@collectors{ sort keys %collectors }); parse_exposition($text) },
		$everything, @opt_in, qw(neon reason));
	agrees("$name: postgres_exporter", \&postgres_exporter_series, sub { $_[0] =~ /^(\w+)/ && $in_queries{$1} }, @opt_in);
	agrees("$name: pgwatch", \&pgwatch_series, \&in_pgwatch, @opt_in);
	SKIP:
	{
		skip 'there is no promtool on PATH', 1 if !find_program('promtool');
		is(join("\n", lint($text)), '', "$name: promtool check metrics");
	}
	return $got;
}

sub names
{
	my ($series) = @_;
	my %names = map { /^(\w+)/ ? ($1 => 1) : () } keys %$series;
	return [ sort keys %names ];
}

sub wait_for
{
	my ($condition, $what) = @_;
	$node->poll_query_until('postgres', "SELECT $condition") or die $what;
	return;
}

my $got = all_agree('right after start');
is($got->{'working_set_status{status="collecting"}'}, 1, 'right after start: collecting');
$node->append_conf('postgresql.conf', 'working_set.interval = 1');
$node->reload;

$node->safe_psql('postgres', q{
	CREATE TABLE pages (id int PRIMARY KEY, filler text);
	ALTER TABLE pages ALTER filler SET STORAGE PLAIN;
	INSERT INTO pages SELECT g, repeat('x', 3500) FROM generate_series(1, 12000) g;
	VACUUM (FREEZE, ANALYZE);
});
my $file = PostgreSQL::Test::Utils::tempdir() . '/workload.sql';
open my $fh, '>', $file or die $!;
print $fh "\\set id random_zipfian(1, 3000, 1.1)\nSELECT length(filler) FROM pages WHERE id = :id;\n";
close $fh;
my $workload = IPC::Run::start([ 'pgbench', '-n', '-c', 1, '-R', 2000, '-T', 10 * $PostgreSQL::Test::Utils::timeout_default,
	'-f', $file, '-h', $node->host, '-p', $node->port, 'postgres' ], '<', \undef, '>', "$file.log", '2>&1');
# A control group may be there that cannot be seen from here; then no size is suggested.
wait_for(q{status = 'ok' AND (expected_hit_ratio IS NOT NULL OR memory_limit_bytes IS NULL) AND verdict IS NOT NULL AND live_bytes IS NOT NULL
	AND (SELECT bool_and(note IS NULL) FROM watch.working_set_cache_advice)
	FROM watch.working_set_recommendation}, 'no recommendation');
$workload->kill_kill;
# from here on what is recommended does not move
$node->append_conf('postgresql.conf', "working_set.interval = 3600\nworking_set.save = 1s");
$node->reload;
wait_for('last_saved IS NOT NULL FROM watch.working_set_info', 'nothing is saved');
$node->append_conf('postgresql.conf', 'working_set.save = 1h');
$node->reload;
# With an interval of one second it would be stale by now.
wait_for("status = 'ok' AND computed_at < clock_timestamp() - interval '8 s' FROM watch.working_set_recommendation",
	'the recommendation is made anew');

pretend_memory_advice($node, 'watch');
pretend_queries($node, 'watch');
$stub = 'figures';
$got = all_agree('after a workload');
my @unknown = $node->safe_psql('postgres', 'SELECT memory_limit_bytes FROM watch.working_set_recommendation') ne '' ? ()
  : qw(working_set_memory_limit_bytes working_set_suggested_shared_buffers_bytes working_set_expected_hit_ratio
	working_set_expected_disk_reads_per_second);
is_deeply([ sort @{ names($got) }, @unknown ], [ sort keys %type ], 'after a workload: every metric is there');
my ($series) = grep { /^working_set_relation_size_bytes\{.*relation="public\.pages"/ } keys %$got;
is($series, 'working_set_relation_size_bytes{datname="postgres",relation="public.pages",relkind="r"}', 'the table by its name');
is(scalar(grep { /^working_set_memory_predicted_disk_reads_per_second\{/ } keys %$got), 15, 'fifteen sizes of memory');

# what the suggestion is worth
SKIP:
{
	skip 'nothing is suggested', 1 if @unknown;
	is($node->safe_psql('postgres', q{
		SELECT reads_per_second >= 0,
		       abs(expected_reads_per_second * (1 - current_hit_ratio) - reads_per_second * (1 - expected_hit_ratio)) < 1e-6,
		       saved_read_ms_per_second / nullif(reads_per_second - expected_reads_per_second, 0) BETWEEN 1e-6 AND 1000,
		       s ~ E'\nHit ratio [0-9.]+ %( -> [0-9.]+ %)?, reads [0-9,]+/s'
		  FROM watch.working_set_recommendation, watch.working_set() AS s;
		SET track_io_timing = off;
		SELECT reads_per_second >= 0 FROM watch.working_set_recommendation}), "t|t|t|t\nt",
		'reads now and then are of the hit ratios, and their time is known if the server measures it');
}

# pgwatch's recommendation of a changed setting
my $reco = rows($pgwatch->{metrics}{reco_shared_buffers}{sqls}{15});
my ($verdict, $suggested) = split /\|/,
  $node->safe_psql('postgres', 'SELECT verdict, suggested_shared_buffers FROM watch.working_set_recommendation');
is_deeply([ map { $_->{recommendation} } @$reco ],
	$verdict =~ /^(?:grow|shrink)$/ && $suggested ? ["ALTER SYSTEM SET shared_buffers = '$suggested'; -- and restart"] : [],
	"pgwatch recommends what the verdict is ($verdict)");

# What does not come about here at will: tables in place of the views, with what is known now,
# and changes to it.
$node->safe_psql('postgres', q{
	CREATE SCHEMA stub;
	SET search_path = stub, watch, pg_catalog;
	CREATE TABLE stub.working_set_info AS SELECT * FROM watch.working_set_info;
	CREATE TABLE stub.working_set_recommendation AS SELECT * FROM watch.working_set_recommendation;
	CREATE TABLE stub.working_set_cache_advice AS SELECT * FROM watch.working_set_cache_advice;
	CREATE TABLE stub.curve AS SELECT * FROM watch.working_set_curve('{60,300,900,3600}');
	CREATE FUNCTION stub.working_set_curve(integer[], text) RETURNS SETOF stub.curve LANGUAGE sql AS 'SELECT * FROM stub.curve';
	GRANT USAGE ON SCHEMA stub TO working_set_scrape;
	GRANT SELECT ON ALL TABLES IN SCHEMA stub TO working_set_scrape;
});
sub stub_agrees
{
	my ($name, $change, %expected) = @_;
	$node->safe_psql('postgres', "SET search_path = stub;\n$change");
	for my $get ([ 'sql_exporter', sub { parse_exposition(exposed(@collectors{qw(working_set working_set_memory working_set_queries)})) } ],
		[ 'prometheus-sql-exporter', \&other_series ])
	{
		my $got = agrees("$name: $get->[0]", $get->[1], sub { 1 }, 'memory', 'queries');
		is($got->{$_} // 'none', $expected{$_}, "$name: $_") for sort keys %expected;
	}
	agrees("$name: postgres_exporter", \&postgres_exporter_series, sub { $_[0] =~ /^(\w+)/ && $in_queries{$1} }, @opt_in);
	agrees("$name: pgwatch", \&pgwatch_series, \&in_pgwatch, @opt_in);
	return;
}
$stub = 'stub, figures';
stub_agrees('as it is', q{UPDATE working_set_info SET reason = E'a "word", a back\\\\slash'}, working_set_advice_reliable => 1);
stub_agrees('a full sketch', 'UPDATE curve SET pages_high = NULL WHERE seconds > 60',
	'working_set_size_upper_bound_bytes{window_seconds="300"}' => 'none');
my ($size) = split /\n/, $node->safe_psql('postgres', 'SELECT min(cache_bytes) FROM stub.working_set_cache_advice');
stub_agrees('a doubt about one size', "UPDATE working_set_cache_advice SET note = 'why not' WHERE cache_bytes = $size",
	qq(working_set_predicted_hit_ratio{cache_size_bytes="$size"}) => 'none', working_set_advice_reliable => 1);
stub_agrees('a doubt about all', q{UPDATE working_set_cache_advice SET note = 'why not'}, working_set_advice_reliable => 0);
my @memory = split /\n/, $node->safe_psql('postgres', 'SELECT memory_bytes FROM figures.memory WHERE NOT present ORDER BY 1');
stub_agrees('a doubt about one size of memory', "UPDATE figures.memory SET note = 'why not' WHERE NOT present AND memory_bytes = $memory[2]",
	qq(working_set_memory_predicted_disk_reads_per_second{memory_bytes="$memory[2]"}) => 'none',
	qq(working_set_memory_predicted_disk_reads_per_second{memory_bytes="$memory[3]"}) => 2000);
stub_agrees('a doubt about all sizes of memory', "UPDATE figures.memory SET note = 'why not'",
	(map { $_ => 'none' } qq(working_set_memory_best_shared_buffers_bytes{memory_bytes="$memory[3]"}), map { "working_set_${_}_per_second" }
		  qw(predicted_disk_reads expected_disk_reads predicted_disk_bytes)),
	working_set_measured_disk_bytes_per_second => 5000000);
stub_agrees('reads are not known yet', 'UPDATE figures.working_set_queries SET reads_per_second = NULL',
	'working_set_query_reads_per_second{queryid="other"}' => 'none', 'working_set_query_size_bytes{queryid="other"}' => 500000);
stub_agrees('little is known', q{
	UPDATE figures.memory SET note = NULL;
	UPDATE working_set_recommendation SET live_bytes = NULL, memory_limit_bytes = NULL, suggested_shared_buffers = NULL,
		verdict = NULL, current_hit_ratio = NULL, expected_hit_ratio = NULL;
	UPDATE working_set_info SET last_saved = NULL}, working_set_memory_limit_bytes => 'none', working_set_expected_disk_reads_per_second => 'none');
stub_agrees('no worker', 'UPDATE working_set_info SET worker_pid = NULL', working_set_worker_running => 0);
stub_agrees('stale', q{UPDATE working_set_recommendation SET status = 'stale'; UPDATE working_set_cache_advice SET note = NULL},
	working_set_recommended_cache_size_bytes => 'none', working_set_advice_reliable => 'none',
	working_set_measured_disk_bytes_per_second => 'none');
stub_agrees('not tracking', q{
	UPDATE working_set_info SET tracking = false, reason = NULL;
	UPDATE working_set_recommendation SET status = 'not tracking'; DELETE FROM curve; DELETE FROM figures.working_set_queries},
	working_set_lookups_total => 'none', working_set_tracking => 0, 'working_set_query_size_bytes{queryid="other"}' => 'none');
$stub = '';

my $then = $node->safe_psql('postgres', 'SELECT computed_at FROM watch.working_set_recommendation');
$node->append_conf('postgresql.conf', 'working_set.interval = 1');
$node->reload;
wait_for("computed_at > '$then' FROM watch.working_set_recommendation", 'the worker does not go on');
my $worker = $node->safe_psql('postgres', "SELECT worker_pid FROM watch.working_set_info");
kill 'STOP', $worker;
wait_for(q{status = 'stale' FROM watch.working_set_recommendation}, 'not stale');
$got = all_agree('worker late');
is_deeply([ grep { my $name = $_; grep { $_ eq $name } keys %{ $documented->{'while the worker is on time'} } } @{ names($got) } ],
	[], 'worker late: nothing is recommended');
kill 'CONT', $worker;

$node->append_conf('postgresql.conf', 'working_set.enabled = off');
$node->reload;
wait_for('NOT tracking FROM watch.working_set_info', 'still tracking');
$got = all_agree('not tracking');
is_deeply([ grep { my $name = $_; $name ne 'working_set_reason_info' && !$documented->{always}{$name} } @{ names($got) } ], [],
	'not tracking: nothing else');

$node->stop;
done_testing();

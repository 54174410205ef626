# No two rows of a query of monitoring/ have the same labels, whatever the views have: an exporter that
# got two would answer with an error, for this query and all others.  The queries are those of all files
# there are, also of later ones.

use strict;
use warnings;
use CPAN::Meta::YAML;
use File::Find;
use FindBin;
use lib $FindBin::Bin;
use patience;
use clock;
use sql_exporter_stand_in qw(list queries_of);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use scrape;
use exporter_files;

# ---------------------------------------------------------------- the queries

my $file;
my @queries;    # [where, SQL, labels, values of which a NULL is no series]

sub found
{
	my ($name, @query) = @_;
	push @queries, [ "$file: $name", @query ];
	return;
}

# What of a document holds queries, in the format of each exporter.
sub search
{
	my ($key, $part) = @_;
	if (ref $part eq 'ARRAY')
	{
		search($key, $_) for @$part;
	}
	elsif (!ref $part)
	{
		return if !defined $part || $part !~ /\bSELECT\b.*\bworking_set/is;
		# a ConfigMap has a file in it
		my $inner = eval { CPAN::Meta::YAML->read_string($part) };
		die "$file: a query of unknown format in $key: $part" if !$inner || !ref $inner->[0];
		search($key, $inner->[0]);
	}
	elsif (defined $part->{collector_name})
	{
		my $queries = queries_of($part);
		found($_->{metric_name}, $queries->{ $_->{query_ref} // $_->{metric_name} }, [ list($_->{key_labels}) ], [ list($_->{values}) ])
		  for @{ $part->{metrics} };
	}
	elsif (defined $part->{sqls})
	{
		found($key, $_) for values %{ $part->{sqls} };
	}
	elsif (defined $part->{sql})
	{
		found($_->{metric_name}, "SELECT * FROM ($part->{sql}) p WHERE $_->{row_condition}{column} = '$_->{row_condition}{value}'", [ list($_->{attribute_columns}) ])
		  for @{ $part->{metrics} };
	}
	elsif (defined $part->{query} && ref $part->{metrics})
	{
		found($key, $part->{query}, [ map { my ($column) = keys %$_; $_->{$column}{usage} eq 'LABEL' ? $column : () } @{ $part->{metrics} } ]);
	}
	elsif (defined $part->{query} && defined $part->{name} && $part->{values})
	{
		found($part->{name}, $part->{query}, [ list($part->{labels}) ]);
	}
	else
	{
		search($_, $part->{$_}) for sort keys %$part;
	}
	return;
}

my @files;
find(sub { push @files, $File::Find::name if -f }, monitoring(''));
for (sort @files)
{
	# what psql runs, and programs and documents, have no labels
	next if /\.(?:sql|md|svg|json|libsonnet|pm|sh|conf)$/ || m{/[^./]+$};
	my $text = slurp_file($_);
	next if $text !~ /\bSELECT\b.*\bFROM\s+working_set/is;
	($file) = m{monitoring/+(.*)};
	my $before = @queries;
	search('', $_) for @{ CPAN::Meta::YAML->read_string($text) };
	ok(@queries > $before, "$file: queries");
}
($file) = 'telegraf/working_set.conf';
found($_->{name}, $_->{sql}, $_->{labels}) for statements_of('telegraf');
for my $wanted (qw(prometheus-sql-exporter sql_exporter postgres_exporter pgwatch opentelemetry telegraf))
{
	ok((grep { $_->[0] =~ /^\Q$wanted\E\// } @queries), "those for $wanted are among them");
}

# Rows with the labels of another one, of all queries, and how many rows with labels there are.
sub same_labels
{
	my ($name) = @_;
	my ($complaints, $n) = ('', 0);
	for my $query (@queries)
	{
		my ($where, $sql, $labels, $values) = @$query;
		my %seen;
		for my $row (@{ rows($sql) })
		{
			next if $values && !grep { defined $row->{$_} } @$values;
			# pgwatch knows a label by its name; an empty label is none
			my @labels = $labels ? @$labels : grep { /^tag_/ } sort keys %$row;
			my $shown = join ', ', map { "$_=" . ($row->{$_} // '') } @labels;
			$complaints .= "$where: $shown\n" if $seen{$shown}++;
			$n++ if @labels;
		}
	}
	is($complaints, '', "$name: no two rows have the same labels");
	return $n;
}

# ---------------------------------------------------------------- a server

my $clock = clock->new;
# no time passes, and so what was dropped stays in the sample
my $node = new_monitored_node("shared_buffers = '32MB'\ncompute_query_id = on\nworking_set.interval = 1\n", sub { $clock->lend(@_) });
$node->safe_psql('postgres', q{CREATE DATABASE octets TEMPLATE template0 ENCODING SQL_ASCII LOCALE 'C'});
my $use = q{CREATE TABLE big AS SELECT g, repeat('x', 500) AS filler FROM generate_series(1, 5000) g; SELECT count(filler) FROM big;};
{
	local $ENV{PGCLIENTENCODING} = 'SQL_ASCII';
	for my $byte ("\xe8", "\xe9")
	{
		$node->safe_psql('octets', qq{CREATE DATABASE "caf$byte" TEMPLATE octets});
		$node->safe_psql('octets', qq{CREATE ROLE "andr$byte" SUPERUSER});
		# (by \connect, since a name on the command line is text)
		$node->safe_psql('octets', qq{\\connect "caf$byte"\nSET ROLE "andr$byte"; $use});
	}
}
# one that is called what the last of these is shown as
my $shown = $node->safe_psql('postgres', q{SELECT 'caf? (' || max(oid) || ')' FROM pg_database});
for my $name ('once', 'twice', $shown)
{
	$node->safe_psql('postgres', qq{CREATE DATABASE "$name"});
	$node->safe_psql($name, $use);
}
$clock->let_pass($node, 61);
# (the server waits for a session that is about to end)
eventually(sub { ($node->psql('postgres', "DROP DATABASE IF EXISTS $_ WITH (FORCE)"))[0] == 0 }) or die "$_ is not dropped" for qw(once twice);
is($node->safe_psql('postgres', qq{
	SELECT count(*) FILTER (WHERE datname IS NULL) >= 3, count(relation) FILTER (WHERE datname = '$shown') > count(DISTINCT relation) FILTER (WHERE datname = '$shown')
	  FROM watch.working_set_relations}), 't|t',
	'databases of the same name, and without one')
  or diag($node->safe_psql('postgres', 'SELECT * FROM watch.working_set_relations'));
is($node->safe_psql('postgres', q{
	SELECT count(*) > count(DISTINCT relation) FROM watch.working_set_relations WHERE datname IS NULL AND relid IS NULL}), 't',
	'relations without a name, whose files have the same number');
cmp_ok(same_labels('a server'), '>', 100, 'of many rows');

# ---------------------------------------------------------------- whatever the views have

# Each row three times, and three times without names.
$node->safe_psql('postgres', q{
	CREATE SCHEMA stub;
	SET search_path = watch, pg_catalog;
	CREATE TABLE stub.working_set_recommendation AS SELECT * FROM working_set_recommendation;
	UPDATE stub.working_set_recommendation SET status = 'ok', verdict = 'keep', reason = 'so', suggested_shared_buffers = '32MB';
	CREATE TABLE stub.working_set_cache_advice AS SELECT * FROM working_set_cache_advice LIMIT 0;
	INSERT INTO stub.working_set_cache_advice (cache_bytes, predicted_hit_ratio, error, predicted_reads_per_second)
	SELECT 8192 * (g % 3), g / 9.0, g / 90.0, g FROM generate_series(1, 9) g;
	CREATE TABLE stub.working_set_memory_advice AS SELECT * FROM working_set_memory_advice LIMIT 0;
	INSERT INTO stub.working_set_memory_advice (memory_bytes, shared_buffers_bytes, predicted_disk_reads_per_second, present)
	SELECT 8192 * (g % 3), g, g, false FROM generate_series(1, 9) g;
	CREATE TABLE stub.working_set_relations AS SELECT d.* FROM working_set_relations d, generate_series(1, 3);
	INSERT INTO stub.working_set_relations (relation, bytes, resident_bytes) SELECT relation, bytes, resident_bytes FROM stub.working_set_relations;
	CREATE TABLE stub.working_set_queries AS SELECT d.* FROM working_set_queries d, generate_series(1, 3);
	INSERT INTO stub.working_set_queries (queryid, application_name, bytes, exclusive_bytes, reads_per_second, reads_saved_per_second)
	SELECT queryid, application_name, bytes, exclusive_bytes, 1, 2 FROM stub.working_set_queries;
	GRANT USAGE ON SCHEMA stub TO working_set_scrape;
	GRANT SELECT ON ALL TABLES IN SCHEMA stub TO working_set_scrape;
});
put_first('stub');
cmp_ok(same_labels('rows three times'), '>', 100, 'of many rows');

$node->stop;
done_testing();

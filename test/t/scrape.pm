# What the tests of monitoring/ share: series as Prometheus sees them, what they should be
# according to the extension's own views, and the files that describe them.

package scrape;

use strict;
use warnings;
use CPAN::Meta::YAML;
use Exporter 'import';
use File::Basename qw(dirname);
use File::Temp qw(tempfile);
use HTTP::Tiny;
use IPC::Run;
use JSON::PP;
use Test::More;
use patience;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils qw(slurp_file);
use pages qw(look_up_pages wait_for_worker);
use past;

our @EXPORT = qw(find_program monitoring read_yaml grant work_until_known series_name names_of parse_exposition relabelled relabelling truth agreement unknown_metrics
  pretend_memory_advice pretend_queries lint documented_metrics new_exporter stop_exporter scrape_text ours failed all_failed log_like
  run_until_end start_stand_in
  start_prometheus stop_prometheus ask_prometheus have_in_prometheus
  queries_of_postgres_exporter metrics_in new_postgres_exporter text_of_postgres_exporter series_of_postgres_exporter);

# where on PATH
sub find_program
{
	my ($name) = @_;
	for my $dir (split /:/, $ENV{PATH})
	{
		return "$dir/$name" if -x "$dir/$name" && !-d "$dir/$name";
	}
	return;
}

# a file of monitoring/
sub monitoring
{
	my ($file) = @_;
	return dirname(__FILE__) . "/../../monitoring/$file";
}

# The YAML that the files keep to: what Perl's own parser reads, in blocks, with text that has a
# colon in it in quotes, so that every other parser sees the same.
sub read_yaml
{
	my ($file) = @_;
	my $text = slurp_file($file);
	die "$file: tabs are not YAML" if $text =~ /^ *\t/m;
	my $documents = CPAN::Meta::YAML->read_string($text)
	  or die "$file: " . CPAN::Meta::YAML->errstr;
	die "$file: not one document" if @$documents != 1;
	return $documents->[0];
}

# The role that an exporter connects as, by grants.sql.
sub grant
{
	my ($n, @options) = @_;
	$n->command_ok([ 'psql', '-X', '-q', '-d', $n->connstr('postgres'), @options, '-f', monitoring('grants.sql') ],
		'grants.sql on ' . $n->name);
	# five seconds are not much on a busy machine
	$n->safe_psql('postgres', q{
		DO $$ DECLARE r name; BEGIN
			FOR r IN SELECT rolname FROM pg_roles WHERE 'statement_timeout=5s' = ANY (rolconfig) LOOP
				EXECUTE format('ALTER ROLE %I SET statement_timeout = ''10min''', r);
			END LOOP;
		END $$});
	return;
}

# Keys of the table of pages.pm are looked up while a clock of the test's goes on (clock.pm), until all is
# known that may be recommended: an answer of each kind, and all of it can be relied on.
sub work_until_known
{
	my ($clock, $n) = @_;
	$clock->let_pass($n, 61);
	eventually(sub {
		look_up_pages($n);
		$clock->let_pass($n, 10);
		return $n->safe_psql('postgres', q{
			SELECT status = 'ok' AND live_bytes IS NOT NULL
			       AND (SELECT bool_and(note IS NULL) FROM working_set_cache_advice) FROM working_set_recommendation}) eq 't';
	}) or die 'not everything is known';
	# a week of this, so that there is a verdict
	$n->stop;
	give_past($n, 7);
	$clock->lend(sub { $n->start });
	wait_for_worker($n);
	$clock->let_pass($n, 900);
	eventually(sub {
		look_up_pages($n);
		$clock->let_pass($n, 10);
		return $n->safe_psql('postgres', q{
			SELECT status = 'ok' AND (verdict IS NOT NULL AND expected_hit_ratio IS NOT NULL OR memory_limit_bytes IS NULL)
			       AND (SELECT bool_and(note IS NULL) FROM working_set_cache_advice) FROM working_set_recommendation}) eq 't';
	}) or die 'there is no verdict';
	return;
}

# A label without a value is no label.
sub series_name
{
	my ($name, $labels) = @_;
	my @labels = map { qq($_="$labels->{$_}") }
	  grep { defined $labels->{$_} && $labels->{$_} ne '' } sort keys %$labels;
	return @labels ? $name . '{' . join(',', @labels) . '}' : $name;
}

# names of metrics in a set of series
sub names_of
{
	my ($series) = @_;
	my %names = map { /^(\w+)/ ? ($1 => 1) : () } keys %$series;
	return [ sort keys %names ];
}

# Text format of Prometheus to {series => value}; $relabel gets name and labels, may change
# the labels, and returns the name, or nothing to leave the series out.
sub parse_exposition
{
	my ($text, $relabel) = @_;
	my %series;
	for my $line (split /\n/, $text)
	{
		next if $line =~ /^(#|$)/;
		$line =~ /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/ or die "not a sample: $line";
		my ($name, $rest, $value) = ($1, $2 // '', $3);
		my %labels;
		while ($rest =~ /\G([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)",?/gc)
		{
			my ($label, $text) = ($1, $2);
			$text =~ s/\\(.)/$1 eq 'n' ? "\n" : $1/ge;
			$labels{$label} = $text;
		}
		die "not labels: $rest" if (pos($rest) // 0) != length $rest;
		$name = $relabel->($name, \%labels) if $relabel;
		next if !defined $name;
		my $series = series_name($name, \%labels);
		die "twice: $series" if exists $series{$series};
		$series{$series} = $value;
	}
	return \%series;
}

# relabelled(STEPS, NAME, LABELS), as Prometheus does it: returns the name, or nothing if the series is left
# out, and changes the labels.
sub relabelled
{
	my ($steps, $name, $labels) = @_;
	$labels->{__name__} = $name;
	for my $step (@$steps)
	{
		my ($action, $regex) = ($step->{action} // 'replace', qr/^(?:$step->{regex})$/);
		if ($action eq 'labeldrop')
		{
			delete @$labels{ grep { /$regex/ } keys %$labels };
			next;
		}
		# CPAN::Meta::YAML does not know lists in brackets
		my $sources = ($step->{source_labels} // $step->{sourceLabels}) =~ s/^\[(.*)\]$/$1/r;
		my @match = join(';', map { $labels->{$_} // '' } split /, */, $sources) =~ $regex;
		return if $action eq 'keep' && !@match;
		next if $action ne 'replace' || !@match;
		$labels->{ $step->{target_label} // $step->{targetLabel} } =
		  ($step->{replacement} // '$1') =~ s/\$(?:(\d)|\{(\d)\})/$match[($1 \/\/ $2) - 1] \/\/ ''/ger;
	}
	return delete $labels->{__name__};
}

# the steps of a job of monitoring/prometheus/prometheus.yml
sub relabelling
{
	my ($job) = @_;
	my ($config) = grep { $_->{job_name} eq $job } @{ read_yaml(monitoring('prometheus/prometheus.yml'))->{scrape_configs} };
	return $config->{metric_relabel_configs};
}

# What monitoring/README.md promises, from the views, in one statement.
my $truth = q{
WITH i AS MATERIALIZED (SELECT * FROM working_set_info),
     r AS MATERIALIZED (SELECT * FROM working_set_recommendation),
     a AS MATERIALIZED (SELECT * FROM working_set_cache_advice),
     c AS MATERIALIZED (SELECT * FROM working_set_curve('{60,300,900,3600}'::integer[], 'client'::text)),
     plain (name, value) AS (
       SELECT v.* FROM i, r, LATERAL (VALUES
         ('working_set_tracking', CASE WHEN i.tracking THEN 1 ELSE 0 END::float8),
         ('working_set_worker_running', CASE WHEN i.worker_pid > 0 THEN 1 ELSE 0 END),
         ('working_set_shared_buffers_bytes', r.shared_buffers_bytes),
         ('working_set_memory_limit_bytes', r.memory_limit_bytes),
         ('working_set_recommendation_timestamp_seconds', date_part('epoch', r.computed_at)),
         ('working_set_last_saved_timestamp_seconds', date_part('epoch', i.last_saved))) v
       UNION ALL
       SELECT v.* FROM i, LATERAL (VALUES
         ('working_set_lookups_total', i.lookups),
         ('working_set_hits_total', i.hits),
         ('working_set_evictions_total', i.evictions),
         ('working_set_dropped_samples_total', i.dropped_samples),
         ('working_set_counters_start_timestamp_seconds', date_part('epoch', i.since)),
         ('working_set_sample_ratio', i.sample_rate),
         ('working_set_sampled_pages', i.sampled_pages)) v
        WHERE i.tracking
       UNION ALL
       SELECT v.* FROM r, LATERAL (VALUES
         ('working_set_recommended_cache_size_bytes', r.recommended_cache_bytes::float8),
         ('working_set_peak_cache_size_bytes', r.peak_cache_bytes),
         ('working_set_suggested_shared_buffers_bytes',
          1048576 * nullif(regexp_replace(r.suggested_shared_buffers, 'MB$', ''), '')::float8),
         ('working_set_live_bytes', r.live_bytes),
         ('working_set_plateau_end_bytes', r.plateau_end_bytes),
         ('working_set_current_hit_ratio', r.current_hit_ratio),
         ('working_set_expected_hit_ratio', r.expected_hit_ratio),
         ('working_set_read_time_ratio', r.read_time_share),
         ('working_set_query_time_saved_ratio', r.query_time_saved),
         ('working_set_confidence', CASE r.confidence WHEN 'low' THEN 0 WHEN 'medium' THEN 1 WHEN 'high' THEN 2 END),
         ('working_set_advice_reliable',
          CASE WHEN (SELECT bool_or(note IS NULL AND predicted_hit_ratio > -1) FROM a) THEN 1 ELSE 0 END)) v
        WHERE r.status = 'ok' OR r.status = 'collecting'),
     labelled (name, labels, value) AS (
       SELECT name, '{}'::json, value FROM plain
       UNION ALL
       SELECT 'working_set_status', json_build_object('status', s), CASE WHEN s = r.status THEN 1 ELSE 0 END
         FROM r, (VALUES ('ok'), ('collecting'), ('stale'), ('not tracking')) v (s)
       UNION ALL
       SELECT 'working_set_info',
              json_build_object('version', i.version, 'registers', current_setting('working_set.registers'), 'method', current_setting('working_set.method'), 'reason', i.reason), 1
         FROM i
       UNION ALL
       SELECT v.name, json_build_object('window_seconds', c.seconds::text), v.value
         FROM c, LATERAL (VALUES
           ('working_set_size_bytes', c.bytes),
           ('working_set_size_lower_bound_bytes', c.low_bytes),
           ('working_set_size_upper_bound_bytes', c.high_bytes)) v (name, value)
       UNION ALL
       SELECT 'working_set_verdict', json_build_object('verdict', s), CASE WHEN s = r.verdict THEN 1 ELSE 0 END
         FROM r, (VALUES ('grow'), ('shrink'), ('keep'), ('exceeds memory')) v (s)
        WHERE r.verdict <> '' AND (r.status = 'ok' OR r.status = 'collecting')
       UNION ALL
       SELECT v.name, json_build_object('cache_size_bytes', a.cache_bytes::text), v.value
         FROM r, a, LATERAL (VALUES
           ('working_set_predicted_hit_ratio', a.predicted_hit_ratio),
           ('working_set_predicted_hit_ratio_error', a.error),
           ('working_set_predicted_reads_per_second', a.predicted_reads_per_second)) v (name, value)
        WHERE a.note IS NULL AND (r.status = 'ok' OR r.status = 'collecting')
       UNION ALL
       SELECT 'working_set_predicted_read_time_ratio', json_build_object('cache_size_bytes', a.cache_bytes::text), a.predicted_read_time_share
         FROM r, a WHERE r.status = 'ok' OR r.status = 'collecting')
};
my %opt_in = (
	relations => q{
       SELECT v.name, json_build_object('datname', x.datname, 'relation', x.relation, 'relkind', x.relkind), v.value
         FROM (SELECT coalesce(datname, '') AS datname,
                      CASE WHEN relid IS NULL THEN relation
                           -- the name without its schema, if that is in the search_path, is not what is wanted
                           WHEN relation LIKE '%.%' THEN relation
                           ELSE (SELECT relnamespace::regnamespace::text FROM pg_class WHERE oid = relid) || '.' || relation
                      END AS relation,
                      relkind::text AS relkind, sum(bytes) AS bytes, sum(resident_bytes) AS resident,
                      sum(CASE WHEN relid IN (SELECT u.indexrelid FROM pg_stat_all_indexes u JOIN pg_index USING (indexrelid)
                                                        WHERE idx_scan = 0 AND indisunique IS FALSE AND indisexclusion IS FALSE AND indisreplident IS FALSE)
                                    AND reads_saved_per_second - 2 * reads_saved_standard_error > 0 THEN reads_saved_per_second ELSE 0 END) AS unused
                 FROM working_set_relations GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3 LIMIT 20) x,
              LATERAL (VALUES ('working_set_relation_size_bytes', x.bytes::float8),
                              ('working_set_relation_resident_bytes', x.resident),
                              ('working_set_relation_unused_index_reads_per_second', x.unused)) v (name, value)},
	memory => qq{
       SELECT v.name, json_build_object('memory_bytes', m.memory_bytes::text), v.value
         FROM r, working_set_memory_advice m, LATERAL (VALUES
           ('working_set_memory_predicted_disk_reads_per_second', m.predicted_disk_reads_per_second),
           ('working_set_memory_best_shared_buffers_bytes', m.shared_buffers_bytes::float8)) v (name, value)
        WHERE m.present IS FALSE AND coalesce(m.note, '') = '' AND (r.status = 'ok' OR r.status = 'collecting')
       UNION ALL
       SELECT v.name, '{}'::json, v.value
         FROM r, working_set_memory_advice m, LATERAL (VALUES
           ('working_set_predicted_disk_reads_per_second', CASE WHEN m.note IS NULL THEN m.predicted_disk_reads_per_second END),
           ('working_set_predicted_disk_bytes_per_second', CASE WHEN m.note IS NULL THEN m.predicted_disk_bytes_per_second END),
           ('working_set_expected_disk_reads_per_second',
            CASE WHEN r.memory_limit_bytes > 0 AND r.suggested_shared_buffers > '' THEN
              (SELECT CASE WHEN s.note IS NULL THEN s.predicted_disk_reads_per_second END
                 FROM working_set_memory_advice(r.memory_limit_bytes,
                        1048576 * nullif(regexp_replace(r.suggested_shared_buffers, 'MB\$', ''), '')::bigint) s) END)) v (name, value)
        WHERE m.present AND (r.status = 'ok' OR r.status = 'collecting')},
	queries => q{
       SELECT v.name, json_build_object('datname', x.datname, 'rolname', x.rolname, 'queryid', x.queryid), v.value
         FROM (SELECT datname, rolname, CASE WHEN (rolname, application_name) = ('other', 'other') THEN 'other' ELSE queryid::text END AS queryid,
                      sum(bytes) AS bytes, sum(exclusive_bytes) AS exclusive, sum(reads_per_second) AS reads,
                      sum(reads_saved_per_second) AS saved
                 FROM working_set_queries GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3 LIMIT 20) x,
              LATERAL (VALUES ('working_set_query_size_bytes', x.bytes::float8),
                              ('working_set_query_exclusive_bytes', x.exclusive),
                              ('working_set_query_reads_per_second', x.reads),
                              ('working_set_query_reads_saved_per_second', x.saved)) v (name, value)},
	# of Neon's names; all but the windows and what is used are of the counters
	neon => q{
       SELECT 'lfc_approximate_working_set_size_windows', json_build_object('duration_seconds', (60 * g)::text),
              approximate_working_set_size_seconds(60 * g)::float8
         FROM generate_series(1, 60) g
       UNION ALL
       SELECT 'lfc_approximate_working_set_size_windows', json_build_object('duration', v.duration),
              approximate_working_set_size_seconds(v.seconds)::float8
         FROM (VALUES ('5m', 300), ('15m', 900), ('1h', 3600)) v (duration, seconds)
       UNION ALL
       SELECT v.name, '{}'::json, v.value
         FROM i, r, LATERAL (VALUES ('lfc_hits', i.hits::float8), ('lfc_misses', i.lookups - i.hits),
                ('lfc_writes', pg_stat_get_buf_alloc()), ('lfc_cache_size_limit', r.shared_buffers_bytes)) v (name, value)
        WHERE i.tracking
       UNION ALL
       SELECT 'lfc_used', '{}'::json, round(sum(resident_bytes) / 1024 / 1024)::float8 FROM working_set_relations HAVING count(*) > 0},
	reason => q{
       SELECT 'working_set_reason_info', json_build_object('reason', reason), 1 FROM working_set_recommendation});

# {series => value} of now, those of opt-in collectors too if they are named.
# $query runs SQL and returns what it printed.
sub truth
{
	my ($query, @opt_in) = @_;
	my $all = join ' UNION ALL ', 'SELECT * FROM labelled', map { $opt_in{$_} } @opt_in;
	my %series;
	for my $line (split /\n/, $query->(
			"$truth SELECT json_build_object('name', name, 'labels', labels, 'value', value::text) FROM ($all) s WHERE value IS NOT NULL"))
	{
		my $row = JSON::PP->new->decode($line);
		$series{ series_name($row->{name}, $row->{labels}) } = $row->{value};
	}
	return \%series;
}

# The memory advice takes minutes of reads from a disk.  These are figures for it, in a schema
# `figures' to be looked into first; what is predicted for a pair of sizes shows which pair it is.
sub pretend_memory_advice
{
	my ($n, $schema) = @_;
	$n->safe_psql('postgres', qq{
		SET search_path = $schema, pg_catalog;
		CREATE SCHEMA figures;
		CREATE TABLE figures.memory AS SELECT * FROM working_set_memory_advice LIMIT 0;
		INSERT INTO figures.memory (memory_bytes, shared_buffers_bytes, predicted_disk_reads_per_second, predicted_disk_bytes_per_second, present, note)
		SELECT memory * g / 8, memory * g / 32, 8000.0 / g, 16384000.0 / g, false, NULL
		  FROM (SELECT coalesce(memory_limit_bytes, 4000000000) AS memory FROM working_set_recommendation) r, generate_series(1, 15) g
		UNION ALL
		SELECT coalesce(memory_limit_bytes, 4000000000), shared_buffers_bytes, 1100, 2252800, true, NULL
		  FROM working_set_recommendation;
		CREATE VIEW figures.working_set_memory_advice AS TABLE figures.memory;
		CREATE FUNCTION figures.working_set_memory_advice(bigint, bigint) RETURNS SETOF figures.memory LANGUAGE sql AS \$\$
			SELECT (jsonb_populate_record(m, jsonb_build_object('predicted_disk_reads_per_second',
			          CASE WHEN \$2 <> m.shared_buffers_bytes THEN \$1::float8 / \$2 ELSE m.predicted_disk_reads_per_second END))).*
			  FROM figures.memory m WHERE \$1 IS NULL OR m.present \$\$;
		GRANT USAGE ON SCHEMA figures TO working_set_scrape;
		GRANT SELECT ON ALL TABLES IN SCHEMA figures TO working_set_scrape});
	return;
}

# Which queries there are changes with each that asks.  These are figures for them, in the same
# schema: more than are shown; some without a name, an identifier or reads; and two that have the
# same labels, since their databases were dropped.
sub pretend_queries
{
	my ($n, $schema) = @_;
	$n->safe_psql('postgres', qq{
		SET search_path = $schema, pg_catalog;
		CREATE TABLE figures.working_set_queries AS SELECT * FROM working_set_queries LIMIT 0;
		INSERT INTO figures.working_set_queries (datname, rolname, queryid, application_name, bytes, exclusive_bytes, reads_per_second, reads_saved_per_second)
		SELECT 'a "database"', 'role ' || g % 3, g * 100000000000000003, NULL, 8192 * (20 + g), 4096 * (20 + g), g / 8.0, CASE WHEN g > -5 THEN g / 4.0 END FROM generate_series(-12, 9) g
		UNION ALL
		SELECT NULL, NULL, 7, NULL, 1000000 * g, 0, 1, 2 FROM generate_series(1, 2) g
		UNION ALL
		VALUES (NULL, 'other', NULL, 'other', 500000, 8192, 3.5, NULL), (NULL, NULL, NULL, NULL, 400000, 8192, 0, 0.5),
		       ('other', 'other', NULL, NULL, 350000, 8192, 0, -0.5), ('postgres', 'none', 8, NULL, 300000, 8192, NULL, 1);
		GRANT SELECT ON figures.working_set_queries TO working_set_scrape});
	return;
}

# How far a value may be from what the views say a moment before and after.  A size of a window
# is estimated by the ages of what was touched, in steps: the same pages some tenths of a second
# later give another estimate, by 0.02 % at most in 300 in half a minute, above or below.  Its
# lower and upper bounds, which must not be taken for it, are 0.9 % away.
sub slack
{
	my ($series, $value) = @_;
	return 0 if $series !~ /^(?:working_set_size_(?:\w+_)?bytes|lfc_approximate_working_set_size_windows)\{/;
	my $page = $series =~ /bytes\{/ ? 8192 : 1;
	return $value > 1000 * $page ? $value / 1000 : $page;
}

# Complaints about what was scraped between two truths, so many seconds apart.  Nothing may be
# there that is in neither, or missing that is in both; a value is one between them, but for the
# slack, or of a window that has gone by between them.
sub differences
{
	my ($before, $got, $after, $seconds) = @_;
	my @complaints;
	for my $series (sort keys %{ { %$before, %$got, %$after } })
	{
		my @truths = sort { $a <=> $b } grep { defined } $before->{$series}, $after->{$series};
		my $value = $got->{$series};
		if (!defined $value)
		{
			push @complaints, "missing: $series" if @truths == 2;
		}
		elsif (!@truths)
		{
			push @complaints, "unexpected: $series $value";
		}
		elsif ($series =~ /\b(?:window|duration)_seconds="(\d+)"/ && $1 <= $seconds)
		{
			next;
		}
		elsif ($value < $truths[0] - slack($series, $truths[0]) || $value > $truths[-1] + slack($series, $truths[-1]))
		{
			push @complaints, "$series is $value, not $truths[0]" . ($truths[-1] > $truths[0] ? " to $truths[-1]" : '');
		}
	}
	return @complaints;
}

# What $get->() gives is what $truth->() says.  Some of it moves meanwhile, and more so at the end of a
# window: a few tries, and all has to fit in one of them.  Returns what was got, complaints as text, and
# the series whose truth has moved; $seconds: how many pass, if that is not what a clock on the wall says.
sub agreement
{
	my ($truth, $get, $seconds) = @_;
	my (@complaints, $before, $got, $after);
	for (1 .. 10)
	{
		my $begin = time;
		$before = $truth->();
		$got = $get->();
		$after = $truth->();
		@complaints = differences($before, $got, $after, $seconds // time - $begin);
		last if !@complaints;
	}
	return ($got, join("\n", @complaints), [ grep { !defined $after->{$_} || $before->{$_} != $after->{$_} } sort keys %$before ]);
}

# A control group may be there that cannot be seen from here: these metrics are missing then.  So are
# shares of query time while no client was seen at work, as when the clock is the test's.
sub unknown_metrics
{
	my ($query) = @_;
	my ($memory, $time) = map { $query->("SELECT $_ IS NULL FROM working_set_recommendation") eq 't' } qw(memory_limit_bytes read_time_share);
	my $share = $query->('SELECT max(predicted_read_time_share) IS NULL FROM working_set_cache_advice') eq 't';
	return ($time ? qw(working_set_read_time_ratio working_set_query_time_saved_ratio) : (), $share ? 'working_set_predicted_read_time_ratio' : (),
		$memory ? qw(working_set_memory_limit_bytes working_set_suggested_shared_buffers_bytes working_set_expected_hit_ratio) : ());
}

# what promtool has to say about metrics
sub lint
{
	my ($text) = @_;
	my ($out, $err) = ('', '');
	my $ok = IPC::Run::run([ find_program('promtool'), 'check', 'metrics' ], '<', \$text, '>', \$out, '2>', \$err);
	my @lines = grep { length } split /\n/, "$out\n$err";
	push @lines, "exit status $?" if !$ok && !@lines;
	return @lines;
}

# {name => type} of the tables of monitoring/README.md, by their heading
sub documented_metrics
{
	my ($part, %metrics) = ('');
	for my $line (split /\n/, slurp_file(monitoring('README.md')))
	{
		$part = lc $1 if $line =~ /^(Always|While it tracks|While the worker is on time|Opt-in)\b/;
		next if $line !~ /^\| ((?:`(?:working_set|lfc)_\w+`(?:, )?)+) \| (gauge|counter)/;
		my ($names, $type) = ($1, $2);
		$metrics{$part}{$_} = $type for $names =~ /`(\w+)`/g;
	}
	return \%metrics;
}

# ---------------------------------------------------------------- Debian's prometheus-sql-exporter

my @exporters;

# new_exporter(NODE, file => NAME of a file of monitoring/prometheus-sql-exporter or several,
# url parts): begins to run every second
sub new_exporter
{
	my ($n, %params) = @_;
	my %e = (log => PostgreSQL::Test::Utils::tempdir() . '/exporter', port => PostgreSQL::Test::Cluster::get_free_port());
	my $config = join '', map { slurp_file(monitoring("prometheus-sql-exporter/$_")) }
	  @{ $params{files} || ['working_set.yml'] };
	$config =~ s/^(\s*interval: ).*$/${1}1s/mg or die 'no interval';
	$e{queries} = () = $config =~ /^\s*query: /mg;
	$e{jobs} = () = $config =~ /^\s*interval: /mg;
	open my $fh, '>', "$e{log}.yml" or die $!;
	print $fh $config;
	close $fh;

	my $user = $params{user} || 'working_set_scrape';
	my $database = $params{database} || 'postgres';
	local $ENV{WORKING_SET_URL} =
	  "postgres://$user@/$database?host=" . $n->host . '&port=' . $n->port . '&sslmode=disable';
	local $ENV{LOGLEVEL} = 'debug';
	$e{run} = IPC::Run::start(
		[ find_program('prometheus-sql-exporter'), '-config.file', "$e{log}.yml", '-web.listen-address', "127.0.0.1:$e{port}" ],
		'<', \undef, '>', $e{log}, '2>&1');
	push @exporters, \%e;
	return \%e;
}

END
{
	my $status = $?;
	$_->{run}->kill_kill(grace => 5) for grep { $_->{run} } @exporters;
	$? = $status;
}

# Run as IPC::Run::start() does, at most until the test ends.
sub run_until_end
{
	my $run = IPC::Run::start(@_);
	push @exporters, { run => $run };
	return $run;
}

# The stand-in for burningalchemist's exporter, with this file: its address, and the run.
sub start_stand_in
{
	my ($file) = @_;
	my $address = '127.0.0.1:' . PostgreSQL::Test::Cluster::get_free_port();
	my $run = run_until_end([ $^X, 'test/t/sql_exporter_stand_in.pm', '-config.file', $file, '-web.listen-address', $address ],
		'<', \undef, '>', "$file.log", '2>&1');
	my $http = HTTP::Tiny->new(timeout => patience());
	eventually(sub { $http->get("http://$address/")->{success} }) or die slurp_file("$file.log");
	return ($address, $run);
}

sub stop_exporter
{
	my ($e) = @_;
	$e->{run}->kill_kill(grace => 5);
	$e->{run} = undef;
	return;
}

# Each job says in the log when it has run.
sub runs
{
	my ($e) = @_;
	my %runs;
	my $log = slurp_file($e->{log});
	$runs{$1}++ while $log =~ /^\{.*"job":"(\w+)".*"Sleeping until next run"/mg;
	return \%runs;
}

# the text of /metrics after all jobs have run anew from begin to end
sub scrape_text
{
	my ($e) = @_;
	my $old = runs($e);
	eventually(sub {
		my $new = runs($e);
		# one may have begun before
		return $e->{jobs} == grep { $new->{$_} >= ($old->{$_} || 0) + 2 } keys %$new;
	}) or die "no run of all jobs:\n" . slurp_file($e->{log});
	my $answer = HTTP::Tiny->new(timeout => patience())->get("http://127.0.0.1:$e->{port}/metrics");
	die "$answer->{status} $answer->{content}" if !$answer->{success};
	return $answer->{content};
}

# As Prometheus has it; what the exporter tells about itself is left out.
sub ours
{
	my ($text) = @_;
	my $steps = relabelling('working_set_debian');
	return parse_exposition($text, sub {
		my ($name, $labels) = @_;
		return if $name =~ /^sql_exporter_/;
		$name = relabelled($steps, $name, $labels);
		delete $labels->{instance};
		return $name;
	});
}

# {query => 0 or 1}
sub failed
{
	my ($text) = @_;
	my %failed;
	for my $line ($text =~ /^(sql_exporter_last_scrape_failed\{.*)$/mg)
	{
		my ($query) = $line =~ /\bquery="(\w+)"/;
		($failed{$query}) = $line =~ / (\S+)$/;
	}
	return \%failed;
}

# $failed: 0 or 1, of every query
sub all_failed
{
	my ($e, $text, $failed, $name) = @_;
	my $found = failed($text);
	is(scalar(grep { $_ == $failed } values %$found), $e->{queries},
		"$name: " . ($failed ? 'every query is said to have failed' : 'no query failed'))
	  || diag(join(' ', grep { $found->{$_} != $failed } sort keys %$found), "\n", grep { /error|warn/i } split /^/, slurp_file($e->{log}));
	is(scalar keys %$found, $e->{queries}, "$name: of all there are");
	return;
}

sub log_like
{
	my ($e, $pattern, $name) = @_;
	like(slurp_file($e->{log}), $pattern, "$name: the exporter's log says why");
	return;
}

# ---------------------------------------------------------------- Debian's prometheus-postgres-exporter

# The queries of these files of monitoring/postgres_exporter, of which all but the first are to be
# appended to that.
sub queries_of_postgres_exporter
{
	return { map { %{ read_yaml(monitoring("postgres_exporter/$_.yaml")) } } @_ };
}

# names of the metrics of a query that has a row for each
sub metrics_in
{
	my ($sql) = @_;
	return $sql =~ /^ *\('(\w+)'(?:::text)?, q\.\1\)/mg;
}

# new_postgres_exporter(NODE, FILE[, user => ROLE][, options => [...]]): begins to run, with the
# queries of a file and none of its own, which depend on the server's version
sub new_postgres_exporter
{
	my ($n, $file, %params) = @_;
	my $address = '127.0.0.1:' . PostgreSQL::Test::Cluster::get_free_port();
	my %e = (log => PostgreSQL::Test::Utils::tempdir() . '/exporter', url => "http://$address/metrics");
	local $ENV{DATA_SOURCE_NAME} = 'host=' . $n->host . ' port=' . $n->port . ' user=' . ($params{user} || 'working_set_scrape') . ' dbname=postgres sslmode=disable';
	$e{run} = IPC::Run::start([ find_program('prometheus-postgres-exporter'), '--extend.query-path=' . ($file =~ m{/} ? $file : monitoring("postgres_exporter/$file.yaml")), @{ $params{options} || [] },
			"--web.listen-address=$address", qw(--disable-default-metrics --disable-settings-metrics --no-collector.database --no-collector.bgwriter) ],
		'<', \undef, '>', $e{log}, '2>&1');
	push @exporters, \%e;
	return \%e;
}

# It runs its queries when it is asked.
sub text_of_postgres_exporter
{
	my ($e) = @_;
	my $answer;
	eventually(sub { $answer = HTTP::Tiny->new(timeout => patience())->get($e->{url}); return $answer->{success} })
	  or die "$answer->{status} $answer->{content}\n" . slurp_file($e->{log});
	return $answer->{content};
}

# as Prometheus has it
sub series_of_postgres_exporter
{
	my ($text) = @_;
	my $steps = relabelling('working_set_postgres_exporter');
	return parse_exposition($text, sub { return relabelled($steps, @_) });
}

# ---------------------------------------------------------------- Prometheus

# Runs lines of bash that start one by monitoring/lib.sh, with arguments from $1 on; it is stopped at the end.
sub start_prometheus
{
	my ($lines, @arguments) = @_;
	my %p = (out => '', err => '', in => '');
	my $dir = PostgreSQL::Test::Utils::tempdir();
	$p{run} = IPC::Run::start([ 'bash', '-c', "set -euo pipefail\n. monitoring/lib.sh\nbegin_monitoring '$dir'\n$lines\nhold_monitoring", 'bash', @arguments ],
		'<', \$p{in}, '>', \$p{out}, '2>', \$p{err}, IPC::Run::timeout(10 * patience()));
	push @exporters, \%p;
	$p{run}->pump while $p{run}->pumpable && $p{out} !~ /^prometheus (\S+)\n/m;
	@p{qw(exporter url)} = $p{out} =~ /^exporter (\S*)\nprometheus (\S+)\n/m or die "monitoring/lib.sh: $p{err}";
	return \%p;
}

sub stop_prometheus
{
	my ($p) = @_;
	# a server that was started meanwhile has inherited what should be closed now
	$p->{run}->signal('TERM');
	$p->{run}->finish;
	$p->{run} = undef;
	return;
}

# what a path of the API answers
sub ask_prometheus
{
	my ($p, $path, %form) = @_;
	my $http = HTTP::Tiny->new(timeout => patience());
	my $answer = $http->get("$p->{url}/api/v1/$path?" . $http->www_form_urlencode(\%form));
	die "$path: $answer->{content}" if !$answer->{success};
	return JSON::PP->new->utf8->decode($answer->{content})->{data};
}

# the samples of an instant query, when there are so many of them
sub have_in_prometheus
{
	my ($p, $count, $query) = @_;
	my @found;
	eventually(sub { @found = @{ ask_prometheus($p, 'query', query => $query)->{result} }; return @found == $count });
	return @found;
}

1;

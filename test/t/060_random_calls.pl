# Ten thousand calls of all functions with random arguments (trials.pm): the errors of a table, or
# none; and the server, its memory and its worker are as before.

use lib 'test/t';
use server;
use members;
use roles;
use trials;

my $node = new_server_with_roles();

sql($node, 'CREATE SCHEMA ws; CREATE EXTENSION working_set SCHEMA ws; GRANT USAGE ON SCHEMA ws TO public');
sql($node, 'GRANT EXECUTE ON FUNCTION ws.working_set_reset() TO ws_resetter');
my @functions = functions($node);
my @views = views($node);

my %errors = (
	approximate_working_set_size_seconds => '22023 55000',
	approximate_working_set_size => '42501 55000',
	working_set_size => '22023 55000',
	working_set_curve => '22004 22023 2202E 54000 55000',
	working_set_chart => '55000',
	working_set => '55000',
	# works without preloading
	working_set_plateau_end => '22004 22023 2202E',
	working_set_recommendation => '55000',
	working_set_cache_advice => '55000',
	working_set_memory_advice => '22023 55000',
	working_set_memory_chart => '55000',
	working_set_relations => '22023 55000',
	working_set_queries => '22023 55000',
	working_set_history => '55000',
	working_set_forecast => '55000',
	working_set_info => '55000',
	working_set_reset => '55000');
is(join(' ', sort map { $_->{name} } @functions), join(' ', sort keys %errors), 'the errors of each function are known');
$_->{codes} = { map { $_ => 1 } split / /, $errors{ $_->{name} } // '' } for @functions;

my $infinite = sql($node, q{SELECT current_setting('server_version_num')::int >= 170000}) eq 't';
my %values = (
	bool => [ 'true', 'false', 'NULL' ],
	int4 => [ qw(NULL 0 1 -1 2 3 5 6 60 300 3600 86400 65536 2147483647 -2147483648), '(random() * 100)::int4',
		'(-2147483648 + random() * 4294967295)::int4' ],
	int8 => [ qw(NULL 0 1 -1 9223372036854775807 -9223372036854775808), '(random() * 1e18)::int8' ],
	float8 => [ qw(NULL 0 -0.0 1 1.5 3 -1 1e308 -1e308 5e-324), q{'NaN'}, q{'Infinity'}, q{'-Infinity'}, 'random() * 10' ],
	text => [ 'NULL', map({ "'$_'" } 'client', 'maintenance', 'all', 'query', 'role', 'application', '', 'Client', 'client ', '%s%n%d', q{''; --}),
		q{repeat('x', 1000000)}, q{repeat('ä€', 3000)}, 'md5(random()::text)' ],
	interval => [ 'NULL', map({ "'$_'" } '0', '5 min', '1 hour', '1 hour 0.1 s', '1 us', '-1 us', '-1 s', '30 s', '1 mon -31 days',
			'1 mon -30 days', '178000000 years', '-178000000 years', '2147483647 mons', '-2147483648 mons',
			'2147483647 mons 2147483647 days 2562047788:00:54.775807', '-2147483648 mons -2147483648 days -2562047788:00:54.775807',
			'-2147483648 days 2562047788:00:54.775807',
			$infinite ? ('infinity', '-infinity') : ()),
		q{random() * interval '2 hours'} ],
	timestamptz => [ 'NULL', 'now()', q{'infinity'}, q{'-infinity'}, q{'4714-11-24 00:00:00+00 BC'}, q{'294276-12-31 23:59:59+00'} ],
	_int4 => [ 'NULL', map({ "'$_'" } '{}', '{NULL}', '{60,NULL}', '{60}', '{0}', '{-1}', '{60,300,-5}', '{{1,2},{3,4}}', '{{{1}}}',
			'{3,2,1,1,2,3}', '[0:2]={1,2,3}', '[-5:-3]={1,2,3}', '{2147483647,-2147483648}', '{2147483647}'),
		'array_fill(1, ARRAY[65536])', 'array_fill(60, ARRAY[65537])', 'array_fill(1, ARRAY[500000])',
		'array_fill(1, ARRAY[3, 3, 3, 3, 3, 3])', '(SELECT ints FROM pg_temp.toasted)',
		'ARRAY(SELECT (random() * 4000)::int4 FROM generate_series(1, 1 + (random() * 300)::int4))' ],
	_float8 => [ 'NULL', map({ "'$_'" } '{}', '{NULL}', '{1,2,3,4,5,6}', '{1,1,1,1,1,1,1}', '{0,0,0,0,0,9}', '{1,NULL,3,4,5,6}', '{{1,2},{3,4}}',
			'{1,2,3,4,5,NaN}', '{Infinity,1,2,3,4,5}', '{1,2,3,4,-Infinity}', '{1}', '[0:6]={1,2,3,4,5,6,7}',
			'{-1e308,1e308,-1e308,1e308,-1e308,1e308}', '{5e-324,5e-324,1e308,1e308,1e308,1e308}', '{9,8,7,6,5,4,3,2,1}'),
		'array_fill(1::float8, ARRAY[300000])', 'array_fill(1::float8, ARRAY[2, 2, 2, 2, 2, 2])', '(SELECT floats FROM pg_temp.toasted)',
		'ARRAY(SELECT random() * 1000 FROM generate_series(1, 1 + (random() * 70)::int4))' ]);

# one row for each way to call: with fewer or more of the arguments that have defaults
my @ways;
for my $f (@functions)
{
	for my $n (@{ $f->{types} } - $f->{defaults} .. @{ $f->{types} })
	{
		my @types = @{ $f->{types} }[ 0 .. $n - 1 ];
		$values{$_} or die "there are no values of type $_ in this test" for @types;
		# who has arguments comes first, and who has more, more often
		push @ways, [ $f->{name}, join(' ', @types), 1 + 4 * $n ];
	}
}
my $list = sub { return join(', ', map { '(' . join(', ', map { my $v = $_; $v =~ s/'/''/g; "E'$v'" } @$_) . ')' } @_) };
my $prepare = q{
	CREATE TEMP TABLE fuzz_values (type text, value text);
	CREATE TEMP TABLE fuzz_ways (name text, types text, chance int);
	CREATE TEMP TABLE fuzz_calls (name text, call text, state text);
	CREATE TEMP TABLE toasted (ints int4[], floats float8[]);
	ALTER TABLE toasted ALTER ints SET STORAGE EXTERNAL;
	INSERT INTO toasted SELECT array_agg(g), array_agg(g) FROM generate_series(1, 5000) g;
	GRANT ALL ON fuzz_values, fuzz_ways, fuzz_calls, toasted TO public;
}
  . 'INSERT INTO fuzz_values VALUES ' . $list->(map { my $type = $_; map { [ $type, $_ ] } @{ $values{$type} } } sort keys %values)
  . '; INSERT INTO fuzz_ways VALUES ' . $list->(@ways) . ';';

# All columns of all rows are turned into text, so that what comes back is sound.
sub calls
{
	my ($number, $which) = @_;
	return qq{
		DO \$\$
		DECLARE
			names text[];
			types text[];
			way int;
			arguments text[];
			call text;
			n bigint;
			state text;
		BEGIN
			SELECT array_agg(w.name), array_agg(w.types) INTO names, types
			  FROM pg_temp.fuzz_ways w, generate_series(1, w.chance) WHERE $which;
			FOR i IN 1 .. $number LOOP
				way := 1 + floor(random() * cardinality(names));
				SELECT array_agg(format('(%s)::pg_catalog.%I', (SELECT v.values[1 + floor(random() * cardinality(v.values))]
				                                              FROM (SELECT array_agg(value) FROM pg_temp.fuzz_values f WHERE f.type = t.type) v(values)), t.type) ORDER BY t.n)
				  INTO arguments FROM unnest(string_to_array(types[way], ' ')) WITH ORDINALITY t(type, n);
				call := format('ws.%I(%s)', names[way], array_to_string(arguments, ', '));
				BEGIN
					EXECUTE 'SELECT count(f::text) FROM ' || call || ' f' INTO n;
					state := '';
				EXCEPTION WHEN OTHERS THEN
					state := SQLSTATE;
				END;
				INSERT INTO pg_temp.fuzz_calls VALUES (names[way], call, state);
			END LOOP;
		END \$\$;
	};
}

my $memory = q{SELECT 'memory', substring(s FROM 'RssAnon:\s*(\d+)'), substring(s FROM 'VmHWM:\s*(\d+)')
	FROM pg_read_file('/proc/self/status') s;};
wait_for($node, 'worker_pid > 0 FROM ws.working_set_info', 'no worker');
my $worker = sql($node, 'SELECT worker_pid FROM ws.working_set_info');
my $log_before = length slurp_file($node->logfile);
my $began = time;
my $trials = trials(10000);
# setseed() takes a number between -1 and 1
my $seed = seeded(271828) % 1_000_000 / 1_000_000;
my $result = sql($node, $prepare
	  . "SELECT setseed($seed) \\g /dev/null\n"
	  . calls(10, 'true') . $memory
	  . 'SET ROLE ws_monitor;' . calls($trials / 10, "name <> 'working_set_reset'") x 9
	  # a reset every now and then
	  . 'SET ROLE ws_resetter;' . calls($trials / 10 - 10, 'true') . 'RESET ROLE;'
	  . $memory
	  . q{SELECT 'calls', name, state, count(*), min(call) FROM fuzz_calls GROUP BY name, state;
	      SELECT 'temporary', count(*) FROM pg_ls_tmpdir();});
note(sprintf('fuzzing took %d s; assertions of the server: %s', time - $began, sql($node, 'SHOW debug_assertions')));

my %states;
my $total = 0;
while ($result =~ /^calls\|(\w+)\|(\w*)\|(\d+)\|(.*)$/mg)
{
	$states{$1}{$2} = [ $3, $4 ];
	$total += $3;
}
is($total, $trials, "$trials calls were made");
for my $f (@functions)
{
	my %seen = %{ $states{ $f->{name} } // {} };
	# of all of the trials, who has arguments gets so many that what has a chance of 1 in 40 cannot be
	# missed
	my @missed = @{ $f->{types} } ? grep { !$seen{$_} } ('', grep { $_ ne '55000' } keys %{ $f->{codes} }) : ();
	my @other = map { "$_: $seen{$_}[1]" } grep { $_ ne '' && !$f->{codes}{$_} } sort keys %seen;
	is(join('; ', @other), '', "$f->{name} has no other errors: "
		  . join(', ', map { ($_ || 'none') . " $seen{$_}[0] times" } sort keys %seen));
	ok(!$seen{55000}, 'but that of a library not loaded');
	SKIP:
	{
		skip 'WS_TRIALS=all has enough calls for that', @{ $f->{types} } ? 2 : 1 if $trials < 10000;
		is(join(' ', @missed), '', 'and has had all of them') if @{ $f->{types} };
		cmp_ok($seen{''}[0] // 0, '>', 0, 'it has answered');
	}
}
my ($anonymous, $peak, $anonymous_after, $peak_after) = $result =~ /^memory\|(\d+)\|(\d+)\n(?:.*\n)*?memory\|(\d+)\|(\d+)$/m;
cmp_ok($anonymous_after - $anonymous, '<', 64 * 1024, 'the process has not grown by 64 MB');
# of which 16 MB are shared buffers; the largest arrays are 4 MB
cmp_ok($peak_after, '<', 256 * 1024, 'and has never had more than 256 MB');
like($result, qr/^temporary\|0$/m, 'no temporary file is left');
is(sql($node, q{SELECT temp_files FROM pg_stat_database WHERE datname = 'postgres'}), '0', 'and none was made');
is(sql($node, 'SELECT worker_pid FROM ws.working_set_info'), $worker, 'the server is up, and the worker still the same');
is(sql($node, 'SELECT tracking, since IS NOT NULL FROM ws.working_set_info'), 't|t', 'and lookups are counted');
unlike(substr(slurp_file($node->logfile), $log_before), qr/TRAP:|PANIC:|terminated by signal|exited with exit code/,
	'nothing has crashed');

finish($node);

-- The curve: arguments, and what one row says

SELECT count(*), min(seconds), max(seconds), count(DISTINCT seconds) FROM working_set_curve;
SELECT count(*), min(seconds), max(seconds) FROM working_set_curve();
SELECT count(*) FROM working_set_curve(NULL, NULL);

-- rows come in the order asked for, as often as asked for
SELECT seconds FROM working_set_curve('{300,0,60,300,3600}');
SELECT seconds, pages, bytes, low_bytes, high_bytes FROM working_set_curve('{0}');

-- it never falls, bytes are pages, bounds are around
SELECT bool_and(pages >= before) AS rises,
       bool_and(bytes = pages * current_setting('block_size')::bigint) AS in_bytes,
       bool_and(low_bytes <= bytes AND bytes <= high_bytes) AS bounded,
       bool_and(pages > 0) AS some
  FROM (SELECT *, lag(pages, 1, 0::bigint) OVER (ORDER BY seconds) AS before FROM working_set_curve) AS c;

-- kinds of lookups
SELECT kind, count(*) FROM unnest('{client,maintenance,all}'::text[]) AS kind,
       working_set_curve('{60,120}', kind) GROUP BY kind ORDER BY kind;
SELECT a.pages >= c.pages AS all_is_more
  FROM working_set_curve('{3600}', 'all') AS a, working_set_curve('{3600}') AS c;
SELECT * FROM working_set_curve('{60}', 'everyone');
SELECT * FROM working_set_curve('{60}', '');

-- bad arrays
SELECT * FROM working_set_curve('{}');
SELECT * FROM working_set_curve('{60,NULL}');
SELECT * FROM working_set_curve('{60,-1}');
SELECT * FROM working_set_curve('{{60,120},{180,240}}');
SELECT * FROM working_set_curve(array_fill(60, '{65537}'));
SELECT count(*) FROM working_set_curve(array_fill(60, '{65536}'));
-- an array need not start at 1
SELECT seconds FROM working_set_curve('[0:1]={60,120}');

\set VERBOSITY sqlstate
SELECT * FROM working_set_curve('{60}', 'everyone');
SELECT * FROM working_set_curve('{}');
SELECT * FROM working_set_curve('{60,NULL}');
SELECT * FROM working_set_curve('{60,-1}');
SELECT * FROM working_set_curve('{{60,120},{180,240}}');
SELECT * FROM working_set_curve(array_fill(60, '{65537}'));
\set VERBOSITY default

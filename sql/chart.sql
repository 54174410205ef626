-- The charts: what they are made of, since sizes vary; that they fit and are plain; and when there are none

-- what is seen: some lookups of a table, and so a second or more of knowledge
CREATE TABLE charted AS
  SELECT g AS id, repeat('x', current_setting('block_size')::int / 8 - 24) AS filler FROM generate_series(1, 7000) g;
VACUUM (FREEZE, ANALYZE) charted;
CREATE FUNCTION chart(OUT n bigint, OUT line text) RETURNS SETOF record LANGUAGE sql AS
  $$ SELECT n, line FROM string_to_table(working_set_chart(), E'\n') WITH ORDINALITY AS t (line, n) $$;
DO $$
DECLARE
	began timestamptz;
BEGIN
	LOOP
		began := clock_timestamp();
		PERFORM working_set_reset();
		PERFORM count(filler) FROM charted;
		-- a time, since the first row is what was used in the last second, by the server's clock
		PERFORM pg_sleep(1.2);
		CREATE TEMP TABLE drawn AS SELECT * FROM chart();
		-- after a minute something is recommended: again, if the machine has taken that long
		EXIT WHEN clock_timestamp() < began + interval '50 s';
		DROP TABLE drawn;
	END LOOP;
END $$;

-- in any encoding, and in psql's 80 columns with what it puts around
SELECT count(*) BETWEEN 8 AND 22 AS lines, max(length(line)) <= 78 AS fits,
       bool_and(octet_length(line) = length(line) AND line ~ '^[ -~]*[!-~]$') AS plain
  FROM drawn;

-- the heads, the rows in their order, the scale, and why there is no verdict yet
SELECT line FROM drawn WHERE n = 1;
SELECT line LIKE 'b shared\_buffers ' || pg_size_pretty(pg_size_bytes(current_setting('shared_buffers'))) || '%   s suggested: not known yet' AS marks
  FROM drawn WHERE n = 2;
SELECT line ~ '^      last     size .*  p plateau has not ended$' AS heads FROM drawn WHERE n = 3;
SELECT bool_and(line ~ '^[p ] [ .\d]+ (s|min) +\d+ [kMGTP]B \|[#=>| bs*]*$') AS rows,
       count(*) FILTER (WHERE line LIKE 'p%') AS plateau_ends, count(*) BETWEEN 2 AND 14 AS so_many,
       bool_or(n = 4 AND line LIKE '       1 s %') AS first
  FROM drawn WHERE line ~ '^.{20}\|';
SELECT count(*) AS scales FROM drawn WHERE line ~ '^ {20}[+bs*][-+bs*]{57}$';
SELECT count(*) AS labels FROM drawn WHERE line ~ '^ {20}0( +\d+ [kMGTP]B)+$';
SELECT regexp_replace(string_agg(line, ' ' ORDER BY n), 'since .*; the', 'since ...; the') AS status
  FROM drawn WHERE n > (SELECT n FROM drawn WHERE line ~ '^ {20}0 ');

-- a row says what the curve says: nobody else uses pages, but this does
SELECT pg_size_bytes(trim(substr(line, 12, 8))) BETWEEN low_bytes * 0.9 AND high_bytes * 1.1 AS agrees
  FROM drawn, working_set_curve('{3600}') WHERE line LIKE 'p%';

-- While nothing is tracked, which takes effect between two commands: each of these asks, and if it is
-- not so yet, pauses for longer and longer, up to a second; all for ten minutes at most.
ALTER SYSTEM SET working_set.enabled = off;
SELECT pg_reload_conf();
\set ECHO none
\o /dev/null
SELECT format('SELECT pg_sleep(%s) FROM working_set_info WHERE tracking', least(g, 20) / 20.0) FROM generate_series(1, 600) g \gexec
\o
\set ECHO all
SELECT working_set_chart();
SELECT working_set_memory_chart();
SELECT working_set();
ALTER SYSTEM RESET working_set.enabled;
SELECT pg_reload_conf();
\set ECHO none
\o /dev/null
SELECT format('SELECT pg_sleep(%s) FROM working_set_info WHERE NOT tracking', least(g, 20) / 20.0) FROM generate_series(1, 600) g \gexec
\o
\set ECHO all
SELECT count(*) >= 7 AS again FROM chart();

DROP FUNCTION chart();
DROP TABLE charted;

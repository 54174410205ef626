-- In a schema of the user's choice, moved, and with another path; last, since it
-- drops the extension

SELECT worker_pid FROM working_set_info \gset
DROP EXTENSION working_set;

CREATE SCHEMA neon;
CREATE EXTENSION working_set SCHEMA neon;
SELECT count(*), bool_and(size > 0) AS sized FROM (
SELECT x::text AS duration_seconds, neon.approximate_working_set_size_seconds(x) AS size FROM (SELECT generate_series * 60 AS x FROM generate_series(1, 60)) AS t (x)
) AS q;
SELECT count(*) FROM neon.working_set_curve;
-- the worker did not mind
SELECT tracking, worker_pid = :worker_pid AS same_worker FROM neon.working_set_info;

-- reset by privilege finds the function of its own extension, not of the path
CREATE SCHEMA elsewhere;
CREATE FUNCTION elsewhere.working_set_reset() RETURNS timestamptz LANGUAGE sql AS 'SELECT now()';
CREATE ROLE regress_ws_path;
GRANT pg_monitor TO regress_ws_path;
GRANT USAGE ON SCHEMA neon, elsewhere TO regress_ws_path;
SET search_path = elsewhere, neon, public;
SET ROLE regress_ws_path;
SELECT neon.approximate_working_set_size(true);
RESET ROLE;
RESET search_path;

ALTER EXTENSION working_set SET SCHEMA public;
SELECT approximate_working_set_size() > 0 AS moved;
SELECT count(*) FROM working_set_recommendation;

DROP SCHEMA elsewhere CASCADE;
DROP SCHEMA neon;
DROP OWNED BY regress_ws_path;
DROP ROLE regress_ws_path;
DROP EXTENSION working_set;

-- Who may read, and who may reset

CREATE ROLE regress_ws_nobody;
CREATE ROLE regress_ws_monitor;
GRANT pg_monitor TO regress_ws_monitor;
CREATE ROLE regress_ws_resetter;
GRANT pg_monitor TO regress_ws_resetter;
GRANT EXECUTE ON FUNCTION working_set_reset() TO regress_ws_resetter;

-- nobody: nothing
SET ROLE regress_ws_nobody;
SELECT approximate_working_set_size_seconds(60);
SELECT approximate_working_set_size();
SELECT working_set_size();
SELECT * FROM working_set_curve();
SELECT * FROM working_set_curve;
SELECT working_set_chart();
SELECT working_set();
SELECT * FROM working_set_plateau_end('{1,2,3,4,5,6}');
SELECT * FROM working_set_recommendation();
SELECT * FROM working_set_recommendation;
SELECT * FROM working_set_info();
SELECT * FROM working_set_info;
SELECT * FROM working_set_cache_advice();
SELECT * FROM working_set_cache_advice;
SELECT * FROM working_set_memory_advice();
SELECT * FROM working_set_memory_advice;
SELECT * FROM working_set_memory_advice(1073741824);
SELECT working_set_memory_chart();
SELECT * FROM working_set_relations();
SELECT * FROM working_set_relations;
SELECT * FROM working_set_queries();
SELECT * FROM working_set_queries;
SELECT * FROM working_set_forecast();
SELECT * FROM working_set_forecast;
SELECT working_set_reset();

-- a monitor: all but reset
SET ROLE regress_ws_monitor;
SELECT approximate_working_set_size_seconds(60) > 0 AS allowed;
SELECT approximate_working_set_size() > 0 AS allowed;
SELECT approximate_working_set_size(false) > 0 AS allowed;
SELECT working_set_size() > 0 AS allowed;
SELECT count(*) FROM working_set_curve;
SELECT working_set_chart() IS NOT NULL AS allowed;
SELECT working_set() IS NOT NULL AS allowed;
SELECT count(*) FROM working_set_recommendation;
SELECT tracking FROM working_set_info;
SELECT count(*) FROM working_set_cache_advice;
SELECT count(*) FROM working_set_memory_advice;
SELECT memory_bytes FROM working_set_memory_advice(1073741824);
SELECT working_set_memory_chart() IS NOT NULL AS allowed;
SELECT count(*) >= 0 AS allowed FROM working_set_relations;
SELECT count(*) >= 0 AS allowed FROM working_set_queries;
SELECT count(*) FROM working_set_forecast;
SELECT value FROM working_set_plateau_end('{1,2,3,4,5,6}');
SELECT working_set_reset();
SELECT approximate_working_set_size(true);
\set VERBOSITY sqlstate
SELECT approximate_working_set_size(true);
\set VERBOSITY default

-- reset where it was granted
SET ROLE regress_ws_resetter;
SELECT working_set_reset() IS NOT NULL AS reset;
SELECT approximate_working_set_size(true) IS NOT NULL AS reset;

RESET ROLE;
REVOKE EXECUTE ON FUNCTION working_set_reset() FROM regress_ws_resetter;
DROP ROLE regress_ws_nobody, regress_ws_monitor, regress_ws_resetter;

-- The plateau_end heuristic on series of any origin

-- the vectors of the reference's own tests
SELECT * FROM working_set_plateau_end(
  '{0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1.0,1.0,1.0,1.0,1.0,1.0,1.1,1.2,1.3,1.4,1.5,1.6,1.7,1.8,1.9,2.0}',
  10, 5, 2.0);
SELECT * FROM working_set_plateau_end(
  '{0.1,0.2,0.3,0.3,0.3,0.3,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1.0,1.1}', 10, 5, 2.0);

-- 20 minutes of one workload, 40 of another before
SELECT * FROM working_set_plateau_end(
  (SELECT array_agg(CASE WHEN t <= 20 THEN 1000 ELSE 1000 + 100 * (t - 20) END ORDER BY t)
     FROM generate_series(1, 60) t));
-- steady growth has no plateau
SELECT * FROM working_set_plateau_end((SELECT array_agg(10.0 * t) FROM generate_series(1, 60) t));
-- nor has nothing
SELECT * FROM working_set_plateau_end(array_fill(0::float8, '{60}'));
-- the first and the last point that can be the end: 5 and 56
SELECT * FROM working_set_plateau_end(
  (SELECT array_agg(CASE WHEN t <= 5 THEN 1 ELSE 2 END ORDER BY t) FROM generate_series(1, 60) t));
SELECT * FROM working_set_plateau_end(
  (SELECT array_agg(CASE WHEN t < 60 THEN 1 ELSE 2 END ORDER BY t) FROM generate_series(1, 60) t));
-- offsets count points from 1
SELECT * FROM working_set_plateau_end('{1,1,2}', 2, 2);
SELECT * FROM working_set_plateau_end('{1,1,2}', 3, 2);
-- any null argument: not known
SELECT * FROM working_set_plateau_end(NULL);
SELECT * FROM working_set_plateau_end('{1,2,3,4,5,6}', NULL);

-- bad series
SELECT * FROM working_set_plateau_end('{}');
SELECT * FROM working_set_plateau_end('{1,2,3,NULL,5,6}');
SELECT * FROM working_set_plateau_end('{1,2,NaN,4,5,6}');
SELECT * FROM working_set_plateau_end('{1,2,3,4,Infinity,6}');
SELECT * FROM working_set_plateau_end('{1,2,3,4,5,-Infinity}');
SELECT * FROM working_set_plateau_end('{{1,2,3,4,5},{1,2,3,4,5}}');
-- bad parameters
SELECT * FROM working_set_plateau_end('{1,2,3,4,5,6}', 4);
SELECT * FROM working_set_plateau_end('{1,2,3,4,5,6}', 7);
SELECT * FROM working_set_plateau_end('{1,2,3,4}');
SELECT * FROM working_set_plateau_end('{1,2,3,4,5,6}', 5, 1);
SELECT * FROM working_set_plateau_end('{1,2,3,4,5,6}', 5, -2147483648);
SELECT * FROM working_set_plateau_end('{1,2,3,4,5,6}', 5, 5, -0.1);
SELECT * FROM working_set_plateau_end('{1,2,3,4,5,6}', 5, 5, 'NaN');
SELECT * FROM working_set_plateau_end('{1,2,3,4,5,6}', 5, 5, 'Infinity');

\set VERBOSITY sqlstate
SELECT * FROM working_set_plateau_end('{}');
SELECT * FROM working_set_plateau_end('{1,2,3,NULL,5,6}');
SELECT * FROM working_set_plateau_end('{1,2,NaN,4,5,6}');
SELECT * FROM working_set_plateau_end('{{1,2,3,4,5},{1,2,3,4,5}}');
SELECT * FROM working_set_plateau_end('{1,2,3,4,5,6}', 7);
SELECT * FROM working_set_plateau_end('{1,2,3,4,5,6}', 5, 1);
SELECT * FROM working_set_plateau_end('{1,2,3,4,5,6}', 5, 5, 'NaN');
\set VERBOSITY default

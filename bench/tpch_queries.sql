-- Queries 1, 3, 4, 6, 10, 12, 14, 17, 18 and 19 of TPC-H in short, one for each transaction of
-- pgbench: what they read is theirs, what they print is not.
\set query random(1, 10)
\set day random(0, 2000)
\set key random(1, 2000 * :scale)
\if :query = 1
SELECT flag, sum(quantity), sum(price * (1 - discount)) FROM lineitem WHERE ship <= date '1998-09-02' - :day::int / 20 GROUP BY 1;
\elif :query = 2
SELECT l.o_key, sum(price * (1 - discount)) FROM customer JOIN orders o USING (c_key) JOIN lineitem l USING (o_key)
 WHERE segment = :day::int % 5 AND o_date BETWEEN date '1992-01-01' + :day::int AND date '1992-01-31' + :day::int AND ship > date '1992-01-31' + :day::int
 GROUP BY 1 ORDER BY 2 DESC LIMIT 10;
\elif :query = 3
SELECT priority, count(*) FROM orders o WHERE o_date BETWEEN date '1992-01-01' + :day::int AND date '1992-03-31' + :day::int
   AND EXISTS (SELECT FROM lineitem l WHERE l.o_key = o.o_key AND commit_on < receipt) GROUP BY 1;
\elif :query = 4
SELECT sum(price * discount) FROM lineitem WHERE ship BETWEEN date '1992-01-01' + :day::int AND date '1992-12-31' + :day::int
   AND discount BETWEEN 0.05 AND 0.07 AND quantity < 24;
\elif :query = 5
SELECT c_key, sum(price * (1 - discount)) FROM orders JOIN lineitem USING (o_key) JOIN customer USING (c_key)
 WHERE o_date BETWEEN date '1992-01-01' + :day::int AND date '1992-02-15' + :day::int AND flag = 'R' GROUP BY 1 ORDER BY 2 DESC LIMIT 20;
\elif :query = 6
SELECT mode, count(*) FROM orders JOIN lineitem USING (o_key)
 WHERE mode IN (1, 2) AND receipt BETWEEN date '1992-01-01' + :day::int AND date '1992-12-31' + :day::int GROUP BY 1;
\elif :query = 7
SELECT sum(price * (1 - discount)) FROM lineitem JOIN part USING (p_key)
 WHERE ship BETWEEN date '1992-01-01' + :day::int AND date '1992-01-31' + :day::int AND brand < 5;
\elif :query = 8
SELECT sum(price) / 7 FROM lineitem l JOIN part p USING (p_key) WHERE p.p_key BETWEEN :key AND :key + 40
   AND quantity < (SELECT 0.2 * avg(quantity) FROM lineitem x WHERE x.p_key = p.p_key);
\elif :query = 9
SELECT c_key, sum(quantity) FROM customer JOIN orders USING (c_key) JOIN lineitem USING (o_key)
 WHERE c_key BETWEEN :key / 2 AND :key / 2 + 1000 GROUP BY 1 HAVING sum(quantity) > 300;
\else
SELECT sum(price * (1 - discount)) FROM lineitem JOIN part USING (p_key) WHERE brand = :day::int % 25 AND size BETWEEN 1 AND 5 AND quantity BETWEEN 1 AND 11;
\endif

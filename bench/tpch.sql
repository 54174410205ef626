-- Tables like those of TPC-H (specification 3.0) at :scale percent of its scale 1, keys and dates
-- spread as there, texts shorter; lineitem is 8.5 MB for each percent.

CREATE TABLE supplier (s_key int PRIMARY KEY, s_nation int, s_text char(100));
CREATE TABLE part (p_key int PRIMARY KEY, brand int, size int, p_text char(100));
CREATE TABLE partsupp (p_key int, s_key int, cost numeric, ps_text char(100), PRIMARY KEY (p_key, s_key));
CREATE TABLE customer (c_key int PRIMARY KEY, c_nation int, segment int, c_text char(120));
CREATE TABLE orders (o_key int PRIMARY KEY, c_key int, total numeric, o_date date, priority int, o_text char(60));
CREATE TABLE lineitem (o_key int, line int, p_key int, s_key int, quantity int, price numeric, discount numeric,
                       flag "char", ship date, commit_on date, receipt date, mode int, l_text char(40));

SELECT setseed(0.75);
INSERT INTO supplier SELECT g, g % 25, 's' FROM generate_series(1, 100 * :scale) g;
INSERT INTO part SELECT g, g * 7 % 25, g * 11 % 50 + 1, 'p' FROM generate_series(1, 2000 * :scale) g;
INSERT INTO partsupp SELECT p, (p + i * 25 * :scale) % (100 * :scale) + 1, 10, 'ps' FROM generate_series(1, 2000 * :scale) p, generate_series(0, 3) i;
INSERT INTO customer SELECT g, g * 7 % 25, g * 3 % 5, 'c' FROM generate_series(1, 1500 * :scale) g;
INSERT INTO orders SELECT g, 1 + floor(random() * 1500 * :scale)::int, 1000, date '1992-01-01' + floor(random() * 2400)::int, g % 5, 'o'
  FROM generate_series(1, 15000 * :scale) g;
INSERT INTO lineitem
SELECT o_key, l, 1 + floor(random() * 2000 * :scale)::int, 1 + floor(random() * 100 * :scale)::int, (random() * 50)::int, 1000, (random() * 10)::int / 100.0,
       CASE WHEN o_date > '1995-06-17' THEN 'N' ELSE 'R' END, o_date + (1 + random() * 120)::int, o_date + (30 + random() * 60)::int,
       o_date + (2 + random() * 150)::int, (random() * 6)::int, 'l'
  FROM orders, generate_series(1, 4) l;
CREATE INDEX ON lineitem (o_key);
CREATE INDEX ON lineitem (p_key);
CREATE INDEX ON orders (c_key);
CREATE INDEX ON orders (o_date);
VACUUM (FREEZE, ANALYZE);

-- Data and transactions like those of TPC-C, by the tables and the mix of its specification
-- (revision 5.11), written anew and without what does not matter to a cache: think times, and
-- the texts that a terminal shows.  :warehouses of about 95 MB each.

CREATE TABLE warehouse (w_id int PRIMARY KEY, w_ytd numeric, w_tax numeric, w_data char(60)) WITH (fillfactor = 50);
CREATE TABLE district (w_id int, d_id int, next_o_id int, d_ytd numeric, d_data char(60), PRIMARY KEY (w_id, d_id)) WITH (fillfactor = 50);
CREATE TABLE item (i_id int PRIMARY KEY, price numeric, i_data char(60));
CREATE TABLE stock (w_id int, i_id int, quantity int, ytd int, order_cnt int, s_data char(280), PRIMARY KEY (w_id, i_id)) WITH (fillfactor = 90);
CREATE TABLE customer (w_id int, d_id int, c_id int, last int, balance numeric, payments int, c_data char(500), PRIMARY KEY (w_id, d_id, c_id)) WITH (fillfactor = 90);
CREATE TABLE history (w_id int, d_id int, c_id int, at timestamptz, amount numeric, h_data char(24));
CREATE TABLE orders (w_id int, d_id int, o_id int, c_id int, entry timestamptz, carrier int, lines int, PRIMARY KEY (w_id, d_id, o_id));
CREATE TABLE new_order (w_id int, d_id int, o_id int, PRIMARY KEY (w_id, d_id, o_id));
CREATE TABLE order_line (w_id int, d_id int, o_id int, ol int, i_id int, delivered timestamptz, amount numeric, ol_data char(24), PRIMARY KEY (w_id, d_id, o_id, ol));

SELECT setseed(0.25);
INSERT INTO warehouse SELECT w, 0, 0.1, 'w' FROM generate_series(1, :warehouses) w;
INSERT INTO district SELECT w, d, 3001, 0, 'd' FROM generate_series(1, :warehouses) w, generate_series(1, 10) d;
INSERT INTO item SELECT i, i % 100 + 1, 'i' FROM generate_series(1, 100000) i;
INSERT INTO stock SELECT w, i, 50, 0, 0, 's' FROM generate_series(1, :warehouses) w, generate_series(1, 100000) i;
INSERT INTO customer SELECT w, d, c, c % 1000, 0, 0, 'c'
  FROM generate_series(1, :warehouses) w, generate_series(1, 10) d, generate_series(1, 3000) c;
INSERT INTO history SELECT w, d, c, now(), 10, 'h'
  FROM generate_series(1, :warehouses) w, generate_series(1, 10) d, generate_series(1, 3000) c;
INSERT INTO orders SELECT w, d, o, (o * 1103) % 3000 + 1, now(), CASE WHEN o <= 2100 THEN 1 END, 10
  FROM generate_series(1, :warehouses) w, generate_series(1, 10) d, generate_series(1, 3000) o;
INSERT INTO new_order SELECT w, d, o
  FROM generate_series(1, :warehouses) w, generate_series(1, 10) d, generate_series(2101, 3000) o;
INSERT INTO order_line SELECT w, d, o, l, 1 + floor(random() * 100000)::int, CASE WHEN o <= 2100 THEN now() END, 10, 'l'
  FROM generate_series(1, :warehouses) w, generate_series(1, 10) d, generate_series(1, 3000) o, generate_series(1, 10) l;
CREATE INDEX ON customer (w_id, d_id, last);
CREATE INDEX ON orders (w_id, d_id, c_id, o_id);

-- the specification's non-uniform numbers from 1 to n
CREATE FUNCTION uneven(a int, n int) RETURNS int LANGUAGE sql AS
  'SELECT ((floor(random() * (a + 1))::int | (1 + floor(random() * n)::int)) + a / 3) % n + 1';

CREATE FUNCTION new_order(w int, d int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  o int;
  i int;
  price numeric;
  n int := 5 + floor(random() * 11);
  c int := uneven(1023, 3000);
BEGIN
  PERFORM w_tax FROM warehouse x WHERE x.w_id = w;
  PERFORM balance FROM customer x WHERE x.w_id = w AND x.d_id = d AND x.c_id = c;
  UPDATE district x SET next_o_id = next_o_id + 1 WHERE x.w_id = w AND x.d_id = d RETURNING next_o_id - 1 INTO o;
  INSERT INTO orders VALUES (w, d, o, c, now(), NULL, n);
  INSERT INTO new_order VALUES (w, d, o);
  FOR l IN 1 .. n LOOP
    i := uneven(8191, 100000);
    SELECT x.price INTO price FROM item x WHERE x.i_id = i;
    UPDATE stock x SET quantity = CASE WHEN quantity > 15 THEN quantity - 5 ELSE quantity + 86 END, ytd = ytd + 5, order_cnt = order_cnt + 1
     WHERE x.w_id = w AND x.i_id = i;
    INSERT INTO order_line VALUES (w, d, o, l, i, NULL, price * 5, 'l');
  END LOOP;
END $$;

-- three customers in five are found by their name
CREATE FUNCTION some_customer(w int, d int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  ids int[];
  name int := uneven(255, 1000) - 1;
BEGIN
  IF random() > 0.6 THEN
    RETURN uneven(1023, 3000);
  END IF;
  SELECT array_agg(c_id ORDER BY c_data, c_id) INTO ids FROM customer WHERE w_id = w AND d_id = d AND last = name;
  RETURN ids[(array_length(ids, 1) + 1) / 2];
END $$;

CREATE FUNCTION payment(w int, d int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  c int := some_customer(w, d);
BEGIN
  UPDATE warehouse SET w_ytd = w_ytd + 10 WHERE w_id = w;
  UPDATE district SET d_ytd = d_ytd + 10 WHERE w_id = w AND d_id = d;
  UPDATE customer SET balance = balance - 10, payments = payments + 1 WHERE w_id = w AND d_id = d AND c_id = c;
  INSERT INTO history VALUES (w, d, c, now(), 10, 'h');
END $$;

CREATE FUNCTION order_status(w int, d int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  c int := some_customer(w, d);
BEGIN
  RETURN (SELECT count(amount) FROM order_line
           WHERE w_id = w AND d_id = d
             AND o_id = (SELECT max(o_id) FROM orders WHERE w_id = w AND d_id = d AND c_id = c));
END $$;

CREATE FUNCTION delivery(w int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  o int;
  c int;
  paid numeric;
BEGIN
  FOR d IN 1 .. 10 LOOP
    DELETE FROM new_order x
     WHERE x.w_id = w AND x.d_id = d
       AND x.o_id = (SELECT y.o_id FROM new_order y WHERE y.w_id = w AND y.d_id = d ORDER BY y.o_id LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING x.o_id INTO o;
    CONTINUE WHEN o IS NULL;
    UPDATE orders x SET carrier = 2 WHERE x.w_id = w AND x.d_id = d AND x.o_id = o RETURNING x.c_id INTO c;
    UPDATE order_line x SET delivered = now() WHERE x.w_id = w AND x.d_id = d AND x.o_id = o;
    SELECT sum(amount) INTO paid FROM order_line x WHERE x.w_id = w AND x.d_id = d AND x.o_id = o;
    UPDATE customer x SET balance = balance + paid WHERE x.w_id = w AND x.d_id = d AND x.c_id = c;
  END LOOP;
END $$;

CREATE FUNCTION stock_level(w int, d int) RETURNS bigint LANGUAGE sql AS $$
  SELECT count(DISTINCT s.i_id)
    FROM district x
    JOIN order_line l ON l.w_id = x.w_id AND l.d_id = x.d_id AND l.o_id BETWEEN x.next_o_id - 20 AND x.next_o_id - 1
    JOIN stock s ON s.w_id = l.w_id AND s.i_id = l.i_id
   WHERE x.w_id = $1 AND x.d_id = $2 AND s.quantity < 15
$$;

-- The rows that most transactions update or delete are vacuumed by the driver, for how many dead
-- ones a transaction finds is otherwise a matter of speed.
SELECT format('ALTER TABLE %s SET (autovacuum_enabled = off)', relname) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' \gexec
VACUUM (FREEZE, ANALYZE);

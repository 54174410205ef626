# bench/foreign.sh - the workloads of bench/advice --foreign: by programs that others wrote, and in
# the form of what servers do.  To be sourced.  Each has a database, which all of one family share,
# what fills the cache, and what is measured: fixed numbers of transactions, the same at each size.
#
# shellcheck shell=bash

declare -A foreign_titles=(
    [ro_pareto]="sysbench read-only, Pareto" [ro_uniform]="sysbench read-only, uniform"
    [rw_pareto]="sysbench read-write, Pareto" [rw_special]="sysbench read-write, special"
    [simple]="pgbench simple-update" [dump]="Zipf and pg_dump" [bulk]="Zipf, CREATE INDEX, COPY"
    [diurnal]="changing mix" [tpcc]="like TPC-C" [tpch]="like TPC-H, parallel"
    [vector]="HNSW search" [ycsb_b]="like YCSB, B" [ycsb_e]="like YCSB, E" [star]="star schema, parallel"
    [series]="time series" [queue]="job queue" [tenants]="2,000 tenants" [text]="text search")
foreign_all="ro_pareto ro_uniform rw_pareto rw_special simple dump bulk diurnal tpcc tpch"
# ours, in the form of what servers do; YCSB is that of Cooper et al. (2010)
foreign_forms="vector ycsb_b ycsb_e star series queue tenants text"

seed=1

# foreign_database WORKLOAD: the name of its database
foreign_database() {
    case $1 in
        r?_*)  echo sysbench ;;
        ycsb_*) echo ycsb ;;
        simple | dump | bulk | diurnal) echo pgbench ;;
        *)     echo "$1" ;;
    esac
}

# foreign_possible WORKLOAD
foreign_possible() {
    [ "$1" != vector ] || [ -n "$(sql "SELECT 1 FROM pg_available_extensions WHERE name = 'vector'")" ] ||
        { echo "skipping ${foreign_titles[$1]}: there is no extension vector here"; return 1; }
}

# foreign_original WORKLOAD: its database as it is at first, if that is not there
foreign_original() {
    local database
    database=$(foreign_database "$1")
    if [ -z "$(sql "SELECT 1 FROM pg_database WHERE datname = 'original_$database'")" ]; then
        foreign_create "$database"
        sql "ALTER DATABASE $database RENAME TO original_$database"
    fi
}

# foreign_begin WORKLOAD: a database as it was at first.  Each size has to find the same data, and
# updates leave other data behind.
foreign_begin() {
    local database
    database=$(foreign_database "$1")
    foreign_original "$1"
    quietly dropdb --if-exists "$database"
    sql "CREATE DATABASE $database TEMPLATE original_$database STRATEGY file_copy"
}

# foreign_create DATABASE: 1 GB of data, or a little more; with --short a fifth
foreign_create() {
    quietly createdb "$1"
    case $1 in
        sysbench) quietly sysbench_run oltp_common prepare ;;
        pgbench)  quietly pgbench -i -q -s "$foreign_scale" -F 90 pgbench ;;
        tpcc)     quietly psql -XAtq -v ON_ERROR_STOP=1 -v warehouses=$((foreign_scale / 6)) -d tpcc -f bench/tpcc.sql ;;
        tpch)     quietly psql -XAtq -v ON_ERROR_STOP=1 -v scale=$((foreign_scale * 4 / 5)) -d tpch -f bench/tpch.sql ;;
        *)        foreign_form "$1" | quietly psql -XAtq -v ON_ERROR_STOP=1 -d "$1" ;;
    esac
    case $1 in tpc?) ;; *) PGDATABASE=$1 sql "VACUUM (FREEZE, ANALYZE)" ;; esac
    sql "CHECKPOINT"
}

# foreign_form DATABASE: its tables.  A random number x of n^random() is as frequent as 1/x.
foreign_form() {
    local n=$((foreign_scale * 1000))
    echo "SELECT setseed(0.5);"
    case $1 in
        vector) cat <<SQL ;;
SET maintenance_work_mem = '1GB';
CREATE EXTENSION vector;
CREATE TABLE items (id int PRIMARY KEY, embedding vector(1000));
INSERT INTO items SELECT g, (SELECT array_agg(random())::real[] FROM generate_series(1, 1000 + g * 0)) FROM generate_series(1, $n * 4 / 5) g;
CREATE INDEX ON items USING hnsw (embedding vector_l2_ops);
CREATE SEQUENCE items_next START $((n * 4 / 5 + 1));
SQL
        ycsb) cat <<SQL ;;
CREATE TABLE records AS SELECT hashint8extended(g, 0) AS key, 'r'::char(1000) AS fields FROM generate_series(1, $n * 14) g;
ALTER TABLE records ADD PRIMARY KEY (key);
CREATE SEQUENCE records_next START $((n * 14 + 1));
SQL
        star) cat <<SQL ;;
CREATE TABLE stores AS SELECT g AS store, g % 20 AS region, 's'::char(100) AS text FROM generate_series(1, 1000) g;
CREATE TABLE products AS SELECT g AS product, g % 100 AS brand, 'p'::char(100) AS text FROM generate_series(1, $n * 2) g;
CREATE TABLE customers AS SELECT g AS customer, g % 10 AS segment, 'c'::char(100) AS text FROM generate_series(1, $n * 10) g;
CREATE TABLE sales AS SELECT (g / ($n / 10)) AS day, 1 + floor(random() * 1000)::int AS store, floor(($n * 2) ^ random())::int AS product,
    1 + floor(random() * $n * 10)::int AS customer, 1 AS quantity, 10.5 AS price, 's'::char(40) AS text FROM generate_series(0, $n * 100 - 1) g;
CREATE INDEX ON sales (day);
CREATE INDEX ON sales (customer);
CREATE INDEX ON customers (customer);
SQL
        series) cat <<SQL ;;
CREATE TABLE readings (tick int, device int, value float8, text char(40)) PARTITION BY RANGE (tick);
CREATE SEQUENCE ticks MINVALUE 0;
CREATE FUNCTION retain() RETURNS void LANGUAGE plpgsql SET client_min_messages = warning AS \$\$
DECLARE
  newest int := (SELECT last_value / ($n / 10) FROM ticks);
BEGIN
  FOR p IN newest .. newest + 2 LOOP
    EXECUTE format('CREATE TABLE IF NOT EXISTS readings_%s PARTITION OF readings FOR VALUES FROM (%s) TO (%s)', p, p * $n / 10, (p + 1) * $n / 10);
  END LOOP;
  EXECUTE format('DROP TABLE IF EXISTS %I', 'readings_' || newest - 12);
END \$\$;
SELECT setval('ticks', p * $n / 10), retain() FROM generate_series(0, 11) p;
INSERT INTO readings SELECT g / 100, g % 1000, random(), 'r' FROM generate_series(0, $n * 120 - 1) g;
CREATE INDEX ON readings (device, tick);
SELECT setval('ticks', $n * 12 / 10);
SQL
        queue) cat <<SQL ;;
CREATE TABLE things AS SELECT g AS id, 0 AS done, 't'::char(500) AS text FROM generate_series(1, $n * 18) g;
ALTER TABLE things SET (fillfactor = 90), ADD PRIMARY KEY (id);
CREATE TABLE jobs (id bigserial PRIMARY KEY, priority int, thing int, text char(150)) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
INSERT INTO jobs (priority, thing, text) SELECT g % 4, floor(($n * 18) ^ random())::bigint * 7919 % ($n * 18) + 1, 'j' FROM generate_series(1, $n * 20) g;
CREATE INDEX ON jobs (priority, id);
CREATE TABLE finished (job bigint, thing int, at timestamptz);
SQL
        tenants) cat <<SQL ;;
SELECT format('CREATE TABLE tenant_%s AS SELECT g AS id, g %% 50 AS kind, 0 AS value, ''t''::char(80) AS text FROM generate_series(1, %s) g', t, $n / 40 * (1 + t % 3)),
       format('ALTER TABLE tenant_%s ADD PRIMARY KEY (id)', t), format('CREATE INDEX ON tenant_%s (kind)', t) FROM generate_series(1, 2000) t \gexec
SQL
        text) cat <<SQL ;;
CREATE TABLE documents (id int, words tsvector, body text);
ALTER TABLE documents ALTER body SET STORAGE EXTERNAL;
CREATE FUNCTION document(id int) RETURNS documents LANGUAGE sql AS
  \$\$ SELECT id, array_to_tsvector(w), repeat(array_to_string(w, ' '), 6)
       FROM (SELECT array_agg(DISTINCT 'w' || floor(20000 ^ random())) w FROM generate_series(1, 100 + id % 100)) x \$\$;
INSERT INTO documents SELECT d.* FROM generate_series(1, $n * 2) g, document(g) d;
ALTER TABLE documents ADD PRIMARY KEY (id);
CREATE INDEX ON documents USING gin (words);
CREATE SEQUENCE documents_next START $((n * 2 + 1));
SQL
    esac
}

# sysbench_run TEST COMMAND [OPTION...]
sysbench_run() {
    sysbench "$1" --db-driver=pgsql --pgsql-host="$PGHOST" --pgsql-port="$PGPORT" --pgsql-user="$PGUSER" \
        --pgsql-password=none --pgsql-db=sysbench --tables=4 --table-size=$((foreign_scale * 16000)) --threads=2 \
        --time=0 --rand-seed="$seed" "${@:3}" "$2"
}

# pgbench_run DATABASE TRANSACTIONS ARGUMENT...: so many by each of two clients
pgbench_run() { pgbench -n -M prepared -c 2 -j 2 -t "$2" --random-seed="$seed" "${@:3}" "$1"; }

foreign_scripts() {
    local accounts=$((foreign_scale * 100000)) part
    cat >"$TMPDIR/zipf_select.sql" <<SQL
\\set aid permute(random_zipfian(1, $accounts, 1.05), $accounts, 7) + 1
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
SQL
    # not of the hottest rows, whose versions would be as many as pg_dump is slow
    cat >"$TMPDIR/update.sql" <<SQL
\\set aid random(1, $accounts)
UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = :aid;
SQL
    cat >"$TMPDIR/day.sql" <<SQL
\\set aid random_zipfian(1, $((accounts * 2 / 5)), 1.01)
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
SQL
    cat >"$TMPDIR/night.sql" <<SQL
\\set aid random($((accounts * 3 / 5)), $accounts)
SELECT sum(abalance) FROM pgbench_accounts WHERE aid BETWEEN :aid AND :aid + 2000;
SQL
    for part in new_order payment order_status stock_level; do
        printf '\\set w random(1, %d)\n\\set d random(1, 10)\nSELECT %s(:w, :d);\n' $((foreign_scale / 6)) "$part"
    done >"$TMPDIR/tpcc"
    split -l 3 --additional-suffix=.sql "$TMPDIR/tpcc" "$TMPDIR/tpcc_"
    printf '\\set w random(1, %d)\nSELECT delivery(:w);\n' $((foreign_scale / 6)) >"$TMPDIR/tpcc_ae.sql"
    foreign_form_scripts
}

# script NAME: what is read, of pgbench
script() { cat >"$TMPDIR/$1.sql"; }

foreign_form_scripts() {
    local n=$((foreign_scale * 1000))
    script vector_search <<SQL
\set id permute(random_zipfian(1, $n * 4 / 5, 1.01), $n * 4 / 5, 7) + 1
SELECT id FROM items ORDER BY embedding <-> (SELECT embedding FROM items WHERE id = :id) LIMIT 10;
SQL
    script vector_insert <<SQL
\set id random(1, $n * 4 / 5)
INSERT INTO items SELECT nextval('items_next'), embedding FROM items WHERE id = :id;
SQL
    script ycsb_fill <<SQL
\set k random(1, $n * 14)
SELECT fields FROM records WHERE key = hashint8extended(:k, 0);
SQL
    printf '\\set k permute(random_zipfian(1, %d, 1.01), %d, 7) + 1\n' $((n * 14)) $((n * 14)) | script ycsb_key
    cat "$TMPDIR/ycsb_key.sql" - <<SQL | script ycsb_read
SELECT fields FROM records WHERE key = hashint8extended(:k, 0);
SQL
    cat "$TMPDIR/ycsb_key.sql" - <<SQL | script ycsb_update
UPDATE records SET fields = 'u' WHERE key = hashint8extended(:k, 0);
SQL
    cat "$TMPDIR/ycsb_key.sql" - <<SQL | script ycsb_scan
\set rows random(1, 100)
SELECT count(fields) FROM (SELECT fields FROM records WHERE key >= hashint8extended(:k, 0) ORDER BY key LIMIT :rows) x;
SQL
    script ycsb_insert <<SQL
INSERT INTO records VALUES (hashint8extended(nextval('records_next'), 0), 'i');
SQL
    script star <<SQL
\set query random(1, 4)
\set first 1000 - random_zipfian(1, 1000, 1.01)
\set days random(1, 50)
\set some random(0, 99)
\set customer random(1, $n * 10 - 50)
\if :query = 1
SELECT region, sum(quantity * price) FROM sales JOIN stores USING (store) WHERE day BETWEEN :first AND :first::int + :days::int GROUP BY 1;
\elif :query = 2
SELECT store, sum(quantity * price) FROM sales JOIN products USING (product) WHERE day BETWEEN :first AND :first::int + :days::int AND brand = :some GROUP BY 1;
\elif :query = 3
SELECT region, segment, sum(quantity) FROM sales JOIN stores USING (store) JOIN customers USING (customer)
 WHERE day BETWEEN :first AND :first + 10 AND segment <> :some % 10 GROUP BY 1, 2;
\else
SELECT customer, brand, sum(price) FROM customers JOIN sales USING (customer) JOIN products USING (product)
 WHERE customer BETWEEN :customer AND :customer + 50 GROUP BY 1, 2;
\endif
SQL
    script series_insert <<SQL
INSERT INTO readings SELECT t, (t * 100 + g) % 1000, g, 'r' FROM nextval('ticks') t, generate_series(0, 99) g;
SQL
    script series_query <<SQL
\set device random(0, 999)
\set back random_exponential(1, $n, 12)
SELECT last_value - :back AS since FROM ticks \gset
SELECT avg(value), max(text) FROM readings WHERE device = :device AND tick > :since;
SQL
    script queue_fill <<SQL
\set thing random(1, $n * 18)
SELECT text FROM things WHERE id = :thing;
SQL
    script queue_put <<SQL
\set thing random_zipfian(1, $n * 18, 1.01) * 7919 % ($n * 18) + 1
\set priority random(0, 3)
INSERT INTO jobs (priority, thing, text) VALUES (:priority, :thing, 'j');
SQL
    script queue_take <<SQL
WITH job AS (DELETE FROM jobs WHERE id = (SELECT id FROM jobs ORDER BY priority, id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id, thing),
     done AS (UPDATE things SET done = done + 1 FROM job WHERE things.id = thing)
INSERT INTO finished SELECT id, thing, now() FROM job;
SQL
    script tenants <<SQL
\set what random(1, 15)
\set t random_zipfian(1, 2000, 1.05)
\set id random(1, $n / 40 * (1 + :t % 3))
\if :what < 11
SELECT text FROM tenant_:t WHERE id = :id;
\elif :what < 14
SELECT count(text) FROM tenant_:t WHERE kind = :id % 50;
\elif :what = 14
UPDATE tenant_:t SET value = value + 1 WHERE id = :id;
\else
SELECT kind, sum(value) FROM tenant_:t GROUP BY 1;
\endif
SQL
    script text_search <<SQL
\set a random_zipfian(1, 5000, 1.01) + 500
\set b random_zipfian(1, 5000, 1.01) + 500
SELECT md5(string_agg(body, '')) FROM (
    SELECT body FROM documents WHERE words @@ ('w' || :a || ' & w' || :b)::tsquery ORDER BY ts_rank(words, ('w' || :a || ' & w' || :b)::tsquery) DESC, id LIMIT 10) x;
SQL
    script text_read <<SQL
\set id permute(random_zipfian(1, $n * 2, 1.01), $n * 2, 7) + 1
SELECT md5(body) FROM documents WHERE id = :id;
SQL
    script text_insert <<SQL
INSERT INTO documents SELECT d.* FROM nextval('documents_next') g, document(g::int) d;
SQL
}

tpcc_mix=(-f "$TMPDIR/tpcc_aa.sql@45" -f "$TMPDIR/tpcc_ab.sql@43" -f "$TMPDIR/tpcc_ac.sql@4" -f "$TMPDIR/tpcc_ad.sql@4"
    -f "$TMPDIR/tpcc_ae.sql@4")
zipf_mix=(-f "$TMPDIR/zipf_select.sql@4" -f "$TMPDIR/update.sql@1")

# next_pass: a pass does not repeat what the last one did
next_pass() { seed=$((seed + 1)); }

# day_and_night TRANSACTIONS
day_and_night() {
    pgbench_run pgbench "$1" -f "$TMPDIR/day.sql" &&
        pgbench_run pgbench $(($1 / 20)) -f "$TMPDIR/night.sql"
}

# tpcc_run TIMES
tpcc_run() {
    local i
    for ((i = 0; i < $1; i++)); do
        PGDATABASE=tpcc sql "VACUUM warehouse, district, new_order" &&
            pgbench_run tpcc $((foreign_work * 10)) "${tpcc_mix[@]}" || return 1
        next_pass
    done
}

# mix DATABASE TRANSACTIONS SCRIPT[@WEIGHT]...
mix() {
    local files=() script
    for script in "${@:3}"; do files+=(-f "$TMPDIR/${script%@*}.sql@${script#*@}"); done
    quietly pgbench_run "$1" "$2" "${files[@]}"
}

# form_run WORKLOAD THOUSANDS: of transactions, at full size
form_run() {
    local n=$((foreign_work * $2))
    case $1 in
        vector)  mix vector $((n / 5)) vector_search@49 vector_insert@1 ;;
        ycsb_b)  mix ycsb $((n * 10)) ycsb_read@19 ycsb_update@1 ;;
        ycsb_e)  mix ycsb $((n * 2)) ycsb_scan@19 ycsb_insert@1 ;;
        star)    mix star $((n / 40)) star@1 ;;
        series)  PGDATABASE=series quietly sql "SELECT retain()" && mix series "$n" series_insert@1 series_query@8 ;;
        queue)   mix queue $((n * 3)) queue_put@1 queue_take@1 ;;
        tenants) quietly pgbench_run tenants $((n * 5)) -M simple -f "$TMPDIR/tenants.sql" ;;
        text)    mix text $((n * 3)) text_search@4 text_read@15 text_insert@1 ;;
    esac
}

# foreign_warm_up WORKLOAD
foreign_warm_up() {
    seed=1
    case $1 in
        ycsb_*)  mix ycsb $((foreign_work * 100)) ycsb_fill@1 ;;&
        queue)   mix queue $((foreign_work * 100)) queue_fill@1 ;;&
        ro_*)    quietly sysbench_run oltp_read_only run --rand-type="${1#*_}" --events=$((foreign_work * 20)) ;;
        rw_*)    quietly sysbench_run oltp_read_write run --rand-type="${1#*_}" --events=$((foreign_work * 10)) ;;
        simple)  quietly pgbench_run pgbench $((foreign_work * 200)) -b select-only
                 quietly pgbench_run pgbench $((foreign_work * 10)) -b simple-update ;;
        dump | bulk) quietly pgbench_run pgbench $((foreign_work * 200)) -f "$TMPDIR/zipf_select.sql" ;;
        diurnal) quietly day_and_night $((foreign_work * 100)) ;;
        tpcc)    quietly tpcc_run 2 ;;
        tpch)    quietly pgbench_run tpch $((foreign_work / 50 + 1)) -D scale=$((foreign_scale * 4 / 5)) -f bench/tpch_queries.sql ;;
        *)       form_run "$1" 10 ;;
    esac
}

# beside COMMAND... -- COMMAND...: the first in the background
beside() {
    local first=()
    while [ "$1" != -- ]; do first+=("$1"); shift; done
    quietly "${first[@]}" &
    "${@:2}"
    wait $!
}

build_index() {
    # which blocks no updates
    PGDATABASE=pgbench sql "CREATE INDEX CONCURRENTLY built ON pgbench_accounts (abalance, aid)" &&
        PGDATABASE=pgbench sql "DROP INDEX built"
}

load_rows() {
    PGDATABASE=pgbench sql "DROP TABLE IF EXISTS loaded" &&
        PGDATABASE=pgbench sql "CREATE TABLE loaded (id int, filler char(200))" &&
        seq $((foreign_scale * 8000)) | PGDATABASE=pgbench psql -XAtq -v ON_ERROR_STOP=1 -c "COPY loaded (id) FROM STDIN"
}

# foreign_work_on WORKLOAD: what is measured
foreign_work_on() {
    local i
    seed=100
    case $1 in
        ro_*)    quietly sysbench_run oltp_read_only run --rand-type="${1#*_}" --events=$((foreign_work * 100)) ;;
        rw_*)    quietly sysbench_run oltp_read_write run --rand-type="${1#*_}" --events=$((foreign_work * 40)) ;;
        simple)  quietly pgbench_run pgbench $((foreign_work * 120)) -b simple-update ;;
        dump)    for i in 1 2 3 4; do
                     beside pg_dump -f /dev/null pgbench -- quietly pgbench_run pgbench $((foreign_work * 100)) "${zipf_mix[@]}"
                     next_pass
                 done ;;
        bulk)    quietly pgbench_run pgbench $((foreign_work * 160)) "${zipf_mix[@]}"
                 next_pass
                 beside build_index -- quietly pgbench_run pgbench $((foreign_work * 160)) "${zipf_mix[@]}"
                 next_pass
                 beside load_rows -- quietly pgbench_run pgbench $((foreign_work * 160)) "${zipf_mix[@]}" ;;
        diurnal) for i in 1 2 3 4; do
                     quietly day_and_night $((foreign_work * 100))
                     next_pass
                 done ;;
        tpcc)    quietly tpcc_run 9 ;;
        tpch)    quietly pgbench_run tpch $((foreign_work / 12 + 1)) -D scale=$((foreign_scale * 4 / 5)) -f bench/tpch_queries.sql ;;
        *)       for i in 1 2 3 4; do
                     form_run "$1" 6
                     next_pass
                 done ;;
    esac
}

# bench/foreign.sh - the workloads of bench/advice --foreign, most of them by programs that others
# wrote.  To be sourced.  Each has a database, which all of one family share, what fills the
# cache, and what is measured: fixed numbers of transactions, the same at each size.
#
# shellcheck shell=bash

declare -A foreign_titles=(
    [ro_pareto]="sysbench read-only, Pareto" [ro_uniform]="sysbench read-only, uniform"
    [rw_pareto]="sysbench read-write, Pareto" [rw_special]="sysbench read-write, special"
    [simple]="pgbench simple-update" [dump]="Zipf and pg_dump" [bulk]="Zipf, CREATE INDEX, COPY"
    [diurnal]="changing mix" [tpcc]="like TPC-C" [tpch]="like TPC-H, parallel")
foreign_all="ro_pareto ro_uniform rw_pareto rw_special simple dump bulk diurnal tpcc tpch"

seed=1

# foreign_database WORKLOAD: the name of its database
foreign_database() {
    case $1 in
        r?_*)  echo sysbench ;;
        tpc?)  echo "$1" ;;
        *)     echo pgbench ;;
    esac
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
    esac
    case $1 in sysbench | pgbench) PGDATABASE=$1 sql "VACUUM (FREEZE, ANALYZE)" ;; esac
    sql "CHECKPOINT"
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

# foreign_warm_up WORKLOAD
foreign_warm_up() {
    seed=1
    case $1 in
        ro_*)    quietly sysbench_run oltp_read_only run --rand-type="${1#*_}" --events=$((foreign_work * 20)) ;;
        rw_*)    quietly sysbench_run oltp_read_write run --rand-type="${1#*_}" --events=$((foreign_work * 10)) ;;
        simple)  quietly pgbench_run pgbench $((foreign_work * 200)) -b select-only
                 quietly pgbench_run pgbench $((foreign_work * 10)) -b simple-update ;;
        dump | bulk) quietly pgbench_run pgbench $((foreign_work * 200)) -f "$TMPDIR/zipf_select.sql" ;;
        diurnal) quietly day_and_night $((foreign_work * 100)) ;;
        tpcc)    quietly tpcc_run 2 ;;
        tpch)    quietly pgbench_run tpch $((foreign_work / 50 + 1)) -D scale=$((foreign_scale * 4 / 5)) -f bench/tpch_queries.sql ;;
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
    esac
}

# bench/lib.sh - what the benches share: arguments, figures of one run or more, a private server,
# comparisons in pairs (pairs_*), and a control group for the server (cgroup_*).  To be sourced.
#
# shellcheck shell=bash

set -euo pipefail

# ---------------------------------------------------------------- arguments, and the end

# options DEFAULT... -- ARGUMENT...: set a variable for each default.  NAME is a switch: --NAME
# sets it to "yes".  NAME=VALUE takes a value: --NAME VALUE.  A - is _ in the variable.
options() {
    local defaults=() name value
    for name in "$@"; do
        [ "$name" != -- ] || break
        defaults+=("$name")
        value=
        if [[ $name == *=* ]]; then value=${name#*=}; fi
        name=${name%%=*}
        printf -v "${name//-/_}" %s "$value"
    done
    shift $((${#defaults[@]} + 1))
    while [ $# -gt 0 ]; do
        name=${1#--} value=yes
        if [[ $1 != --* ]]; then
            usage
        elif [[ " ${defaults[*]} " == *" $name="* ]]; then
            value=${2:-}
            [ -n "$value" ] || usage
            shift
        elif [[ " ${defaults[*]} " != *" $name "* ]]; then
            usage
        fi
        printf -v "${name//-/_}" %s "$value"
        shift
    done
}

# The lines of the script's first comment that are set off.
usage() {
    sed -n '2,/^[^#]/s/^#   //p' "$0" >&2
    exit 2
}

# at_exit COMMAND...: also if a signal ends the script
at_exit() {
    # shellcheck disable=SC2064
    trap "status=\$?; trap '' HUP INT TERM; $*; exit \$status" EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
}

# quietly COMMAND...: show what it prints only if it fails
quietly() {
    local log=$TMPDIR/quietly.$BASHPID
    "$@" >"$log" 2>&1 || { cat "$log" >&2; return 1; }
}

# compile OUTPUT ARGUMENT...: a program of C with the pure rooms of src, from the repository's top
compile() {
    local output=$1
    shift
    make -s test/unit/pure.a >&2
    "${CC:-cc}" -std=gnu99 -O2 -Wall -Wextra -Werror -iquote src/data -iquote src/model -iquote src/machine -Itest/unit \
        "$@" test/unit/pure.a -lm -o "$output"
}

# simulate PROGRAM SCORES ARGUMENT...: run it for each of $numbers, or of --only N,N..., with each of
# $seeds, or of those given; its output to the file SCORES.
simulate() {
    local program=$1 scores=$2 n seed given=()
    shift 2
    while [ $# -gt 0 ]; do
        case $1 in
            --only) numbers=${2//,/ }; shift ;;
            [1-9]*) given+=("$1") ;;
            *) usage ;;
        esac
        shift
    done
    seeds=${given[*]:-$seeds}
    print_machine
    printf 'Seeds:    %s\n\n' "$seeds"
    for n in $numbers; do
        for seed in $seeds; do echo "$n $seed"; done
    done | xargs -P "$(nproc)" -n 2 "$program" >"$scores"
}

# Print what the figures below were measured on.
print_machine() {
    local cpu
    cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
    printf 'Machine:  %s, %s processors, %s GB of memory, Linux %s %s\n' \
        "${cpu:-unknown processor}" "$(nproc)" \
        "$(awk '/^MemTotal/ {print int($2 / 1048576 + 0.5)}' /proc/meminfo)" \
        "$(uname -r)" "$(uname -m)"
    if [ -n "${WS_SANDBOX:-}" ]; then
        printf 'Server:   %s\n' "$(postgres --version)"
    else
        printf 'Compiler: %s\n' "$("${CC:-cc}" --version | head -n 1)"
    fi
}

# ---------------------------------------------------------------- figures, of one run or more

# in_runs DEFAULT COMMAND...: call COMMAND as often as RUNS says (or DEFAULT), each time with
# the number of the run, and then print_figures.
in_runs() {
    local run runs=${RUNS:-$1}
    shift
    for ((run = 1; run <= runs; run++)); do
        [ "$runs" -eq 1 ] || printf '%sRun %d of %d\n' "$([ "$run" -eq 1 ] || echo $'\n')" "$run" "$runs"
        "$@" "$run"
    done
    [ "$runs" -eq 1 ] || printf '\nMedians of %d runs, with their ranges:\n' "$runs"
    print_figures
}

# figure ROW COLUMN VALUE [COLUMN VALUE]...: note figures.  Of a column's name, what follows a #
# is not printed.
figure() {
    local row=$1
    while shift && [ $# -gt 0 ]; do
        printf '%s|%s|%s\n' "$row" "$1" "$2"
        shift
    done >>"$TMPDIR/figures"
}

# Print a table of all that was noted since the last one.  Values that a row and column have
# several times become their median and range; texts that differ are all printed.
print_figures() {
    awk -F'|' '
        function cell(key,    i, j, n, x, same, numbers, decimals, form, middle) {
            n = split(values[key], x, "|") - 1
            same = numbers = 1
            for (i = 1; i <= n; i++) {
                if (x[i] != x[1]) same = 0
                if (x[i] !~ /^[-+]?[0-9]+([.][0-9]+)?$/) numbers = 0
                for (j = i; numbers && j > 1 && x[j] + 0 < x[j - 1] + 0; j--) { middle = x[j]; x[j] = x[j - 1]; x[j - 1] = middle }
                if (match(x[i], /[.].*/) && RLENGTH - 1 > decimals) decimals = RLENGTH - 1
                if (x[i] ~ /^[+]/) form = "+"
            }
            if (n < 1 || same) return x[1]
            if (!numbers) { gsub(/[|]/, "; ", values[key]); return substr(values[key], 1, length(values[key]) - 2) }
            form = "%" form "." decimals + 0 "f"
            middle = n % 2 ? x[(n + 1) / 2] : (x[n / 2] + x[n / 2 + 1]) / 2
            return sprintf(form " (%s to %s)", middle, x[1], x[n])
        }
        function fit(column, text) { if (length(text) > width[column]) width[column] = length(text) }
        !($1 in row) { row[$1]; name[++rows] = $1; fit(0, $1) }
        !($2 in column) { column[$2]; title[++columns] = $2; sub(/#.*/, "", title[columns]); id[columns] = $2; fit(columns, title[columns]) }
        { values[$1, $2] = values[$1, $2] $3 "|" }
        END {
            for (i = 1; i <= rows; i++)
                for (j = 1; j <= columns; j++) { text[i, j] = cell(name[i] SUBSEP id[j]); fit(j, text[i, j]) }
            for (i = 0; i <= rows; i++) {
                line = sprintf("%-" width[0] "s", i ? name[i] : "")
                for (j = 1; j <= columns; j++) line = line sprintf("  %" width[j] "s", i ? text[i, j] : title[j])
                sub(/ +$/, "", line)
                print line
            }
        }' "$TMPDIR/figures"
    rm "$TMPDIR/figures"
}

# ---------------------------------------------------------------- a private server

# Most benches run in test/sandbox; call this first in them.
need_sandbox() {
    [ -n "${WS_SANDBOX:-}" ] || { echo "run it as: test/sandbox ${0#./}" >&2; exit 2; }
}

if [ -n "${WS_SANDBOX:-}" ]; then
    data=$WS_SANDBOX/data
    export PGHOST=$WS_SANDBOX PGPORT=5432 PGUSER=postgres PGDATABASE=postgres PGOPTIONS=
fi

# new_cluster [SETTING...]: make a cluster that preloads the extension.
new_cluster() {
    rm -rf "$data"
    quietly initdb -A trust -N -U "$PGUSER" -E UTF8 --locale=C --no-instructions -D "$data"
    printf '%s\n' "shared_preload_libraries = 'working_set'" "listen_addresses = ''" \
        "unix_socket_directories = '$PGHOST'" "fsync = off" "max_wal_size = '4GB'" "$@" >>"$data/postgresql.conf"
}

# configure SETTING...: what holds from the next start or reload on, beside that.  One write,
# since processes that are just starting read it.
configure() { printf '%s\n' "$@" >"$data/postgresql.auto.conf"; }

# Start it without the saved state: what is used is counted from here on.
start_server() {
    rm -f "$data/pg_stat/working_set.saved"
    pg_ctl -s -w -D "$data" -l "$WS_SANDBOX/server.log" start >"$TMPDIR/start.log" 2>&1 ||
        { cat "$TMPDIR/start.log" "$WS_SANDBOX/server.log" >&2; return 1; }
}

stop_server() { pg_ctl -s -w -D "$data" -m fast stop; }

# restart_with SETTING...
restart_with() {
    stop_server
    configure "$@"
    start_server
}

# Run SQL, values only.
sql() { psql -XAtq -v ON_ERROR_STOP=1 -c "$1"; }

# wide_table NAME ROWS [BYTES]: one row to a page
wide_table() {
    sql "CREATE TABLE $1 (id int, filler text)"
    sql "ALTER TABLE $1 ALTER filler SET STORAGE PLAIN"
    sql "INSERT INTO $1 SELECT g, repeat('x', ${3:-7000}) FROM generate_series(1, $2) g"
    sql "VACUUM (FREEZE, ANALYZE) $1"
}

# cpu_ns PID: its processor time; private_kb PID: its private memory
cpu_ns() { cut -d ' ' -f 1 "/proc/$1/schedstat"; }
private_kb() { awk '/^RssAnon/ { print $2 }' "/proc/$1/status"; }
worker_pid() { sql "SELECT coalesce(worker_pid, 0) FROM working_set_info"; }
# and of a process that keeps nothing of its own, to compare with
checkpointer_pid() { sql "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'"; }

# worker_reads SECONDS: wait for so long, and until the worker has had ten turns, so that it has
# read what was waiting for it
worker_reads() {
    local status first
    status=/proc/$(worker_pid)/status
    first=$(awk '/^voluntary_ctxt_switches/ { print $2 }' "$status")
    sleep "$1"
    while [ "$(awk '/^voluntary_ctxt_switches/ { print $2 }' "$status")" -lt $((first + 10)) ]; do sleep 0.1; done
}

# Bytes that the server's processes have really read so far: the postmaster has those of its
# children that have ended.
really_read() {
    local postmaster child files=()
    # shellcheck disable=SC2154
    read -r postmaster <"$data/postmaster.pid"
    files=("/proc/$postmaster/io")
    # shellcheck disable=SC2013
    for child in $(cat "/proc/$postmaster/task/$postmaster/children"); do files+=("/proc/$child/io"); done
    # some may be gone by now
    { cat "${files[@]}" 2>/dev/null || true; } | awk '$1 == "read_bytes:" { n += $2 } END { printf "%.0f\n", n }'
}

# One page in how many is sampled now?
sampled() { sql "SELECT coalesce((1 / nullif(sample_rate, 0))::text, 'none') FROM working_set_info"; }

# build_module: ws_bench, which takes the worker's place, and a clock that stands still
build_module() {
    cc -O2 -fPIC -shared -Wall -iquote src/data -iquote src/model -iquote src/machine -iquote src/server -I"$("$PG_CONFIG" --includedir-server)" -D_GNU_SOURCE \
        -DPGDLLEXPORT='__attribute__((visibility("default")))' \
        bench/module.c src/data/sketch.c src/data/sampler.c src/data/stream.c src/data/attribution.c src/data/origins.c -lm -o "$("$PG_CONFIG" --pkglibdir)/ws_bench.so"
    cc -O2 -fPIC -shared -Wall -DSTILL_CLOCK bench/module.c -o "$TMPDIR/still_clock.so"
}

# ---------------------------------------------------------------- pairs

# How much faster is a server one way than another, if the differences of interest are below
# one percent and the machine's speed drifts by several percent from one second to the next?
# Only what is measured within seconds is compared:
#
#   - Time is cut into blocks, and each block has slices of all the alternatives.  One block
#     gives one ratio.  The result is the median of the ratios, with an interval that has it
#     with 95 % probability whatever the distribution (order statistics; it takes six blocks).
#   - Alternatives take turns in all orders: each is as often first as last, and as often
#     next to each other one (Williams squares).
#   - One alternative is there twice, as its own control.  The ratio of the two has to be
#     1, and its distance from 1 shows what this design resolves on this machine.
#
# The load is a pgbench with one client for each processor.  It is tied to the processor, and
# so is its server process: whether the two share a processor makes a factor of two.
#
# pgbench logs each transaction with the microsecond in which it ended, to memory.  So slices
# are cut out of one run, and latencies are exact.  A client's rate in a slice is the number of
# transactions that ended in it after the first, over the time from the first end to the last.
# The kernel's count of a server process's time gives processor time for each transaction.

pairs_pgbench=()                # their process IDs,
pairs_backends=()               # and those of the server processes they talk to
pairs_processors=()             # for one client each
pairs_loads=0

# pairs_begin [COMMAND...]: get ready; the command is for the end of the script
pairs_begin() {
    local part first last
    pairs_dir=$TMPDIR pairs_tied=yes
    if [ -w /dev/shm ] && [ "$(df -Pk /dev/shm | awk 'NR == 2 { print $4 }')" -gt 1000000 ]; then
        pairs_dir=$(mktemp -d /dev/shm/pairs.XXXXXX)
    fi
    at_exit "pairs_load_stop; ${*:+$*;} [ \"\$pairs_dir\" = \"\$TMPDIR\" ] || rm -rf -- \"\$pairs_dir\""
    exec {pairs_never}<> <(:)       # nothing ever comes from there
    for part in $(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status | tr , ' '); do
        first=${part%-*} last=${part#*-}
        while [ "$first" -le "$last" ]; do pairs_processors+=("$first"); first=$((first + 1)); done
    done
    taskset -c "${pairs_processors[0]}" true 2>/dev/null || pairs_tied=
}

# How the load is made, in a line for the reader.
pairs_print_load() {
    printf 'Load:     %d clients of pgbench -M prepared, %s\n' "${#pairs_processors[@]}" \
        "$([ -n "$pairs_tied" ] && echo 'each with its server process on a processor of its own' ||
            echo 'on whatever processors (there is no taskset)')"
}

# Sleep without starting a program.
pairs_sleep() { read -r -t "$1" -u "$pairs_never" || true; }

# pairs_order ALTERNATIVES BLOCK: the order of 0 ... ALTERNATIVES - 1 in this block (from 0)
pairs_order() {
    local k=$1 block=$2 j order=()
    for ((j = 0; j < k; j++)); do
        order[j]=$((((j % 2 ? (j + 1) / 2 : k - j / 2) + block) % k))
    done
    # an odd number of them is in balance with the rows read backwards
    if ((k % 2 && block / k % 2)); then
        for ((j = k - 1; j >= 0; j--)); do printf '%s ' "${order[j]}"; done
    else
        printf '%s ' "${order[@]}"
    fi
}

# pairs_load_begin PGBENCH_OPTION...: start it; it goes on until it is ended
pairs_load_begin() {
    local tie=() i pids before="" tries
    pairs_pgbench=()
    pairs_loads=$((pairs_loads + 1))
    : >"$pairs_dir/marks"
    rm -f "$pairs_dir"/load.*
    for i in "${!pairs_processors[@]}"; do
        [ -z "$pairs_tied" ] || tie=(taskset -c "${pairs_processors[i]}")
        PGAPPNAME=pairs_$i "${tie[@]}" pgbench -n -M prepared -c 1 -j 1 -T 86400 \
            --random-seed=$((pairs_loads * 1000 + i)) \
            --log --log-prefix="$pairs_dir/load.$i" "$@" >"$pairs_dir/pgbench.$i" 2>&1 &
        pairs_pgbench+=($!)
    done
    # pgbench has a short session before; so they have to be there twice
    for ((tries = 0; tries < 100; tries++)); do
        pids=$(sql "SELECT pid FROM pg_stat_activity WHERE application_name ~ '^pairs_[0-9]+\$'
                     ORDER BY substring(application_name FROM 7)::int")
        read -r -d '' -a pairs_backends <<<"$pids" || true
        if [ "${#pairs_backends[@]}" -eq "${#pairs_processors[@]}" ] && [ "$pids" = "$before" ]; then break; fi
        before=$pids
        pairs_sleep 0.05
    done
    if [ "${#pairs_backends[@]}" -ne "${#pairs_processors[@]}" ]; then
        cat "$pairs_dir"/pgbench.* >&2
        echo "pgbench does not run" >&2
        return 1
    fi
    for i in "${!pairs_backends[@]}"; do
        [ -z "$pairs_tied" ] || taskset -cp "${pairs_processors[i]}" "${pairs_backends[i]}" >/dev/null
    done
}

# Print the time and the processor time of each server process, in ns.
pairs_mark() {
    local pid ns line=$EPOCHREALTIME
    for pid in "${pairs_backends[@]}"; do
        read -r ns _ <"/proc/$pid/schedstat" || ns=0
        line+=" $ns"
    done
    printf '%s' "$line"
}

# pairs_slice LABEL SETTLE SECONDS: after some time to settle, take a slice
pairs_slice() {
    local begin
    pairs_sleep "$2"
    pairs_mark >"$pairs_dir/begin"
    read -r begin <"$pairs_dir/begin" || true
    pairs_sleep "$3"
    echo "$1 $begin $(pairs_mark)" >>"$pairs_dir/marks"
}

# pairs_load_end [RESULTS BLOCK [SLICES]]: end it, and add to the results what the slices were:
# block, label, transactions per second, average latency and its 99th percentile in us,
# processor time of the server in us per transaction.  A block has so many slices, or all.
pairs_load_end() {
    local pid
    # By ending the server processes: then pgbench still completes its logs.
    for pid in "${pairs_backends[@]}"; do
        kill "$pid" 2>/dev/null || { cat "$pairs_dir"/pgbench.* >&2; echo "pgbench has ended by itself" >&2; return 1; }
    done
    for pid in "${pairs_pgbench[@]}"; do wait "$pid" || true; done
    pairs_pgbench=()
    [ $# -eq 0 ] || pairs_read_logs "$2" "${3:-1000}" >>"$1" || return 1
    rm -f "$pairs_dir"/load.*
}

# Give up on it, as far as it has got.
pairs_load_stop() {
    local pid
    for pid in ${pairs_pgbench[@]+"${pairs_pgbench[@]}"}; do kill "$pid" 2>/dev/null || true; done
    for pid in ${pairs_pgbench[@]+"${pairs_pgbench[@]}"}; do wait "$pid" 2>/dev/null || true; done
    pairs_pgbench=()
}

# A line of the log: client, number, latency, script, seconds, microseconds
pairs_read_logs() {
    local i logs=()
    for i in "${!pairs_processors[@]}"; do logs+=("$pairs_dir/load.$i".*); done
    awk -v block="$1" -v each="$2" -v clients="${#pairs_processors[@]}" '
        # latencies are grouped by us, and long ones by 0.2 %
        function bin_of(us) { return us < 4096 ? us : 4096 + int(log(us / 4096) * 500) }
        function begin_of(bin) { return bin < 4096 ? bin - 0.5 : 4096 * exp((bin - 4096) / 500) }
        function percentile(s, share,    bin, sum, next_sum) {
            for (bin = 0; bin <= last_bin; bin++)
                if ((s, bin) in count) {
                    next_sum = sum + count[s, bin]
                    if (next_sum >= share * number[s])
                        return begin_of(bin) + (share * number[s] - sum) / count[s, bin] * (begin_of(bin + 1) - begin_of(bin))
                    sum = next_sum
                }
        }
        FNR == 1 { file++ }
        file == 1 {
            if (FNR == 1) base = int($2)
            slices++
            label[slices] = $1
            from[slices] = $2 - base
            to[slices] = $(clients + 3) - base
            for (i = 1; i <= clients; i++) used[slices, i] = $(clients + 3 + i) - $(2 + i)
            next
        }
        {
            if (FNR == 1) s = 1
            t = $5 - base + $6 / 1000000
            while (s <= slices && t > to[s]) s++
            if (s > slices || t < from[s]) next
            # one that began before the slice ends in it, as one ends after it that began in it
            if (ended[s, file]++ == 0) first[s, file] = t
            last[s, file] = t
            number[s]++
            latency[s] += $3
            bin = bin_of($3)
            count[s, bin]++
            if (bin > last_bin) last_bin = bin
        }
        END {
            for (s = 1; s <= slices; s++) {
                rate = busy = 0
                for (i = 1; i <= clients; i++) {
                    if (ended[s, i + 1] < 2) {
                        print "fewer than two transactions in a slice; make it longer" >"/dev/stderr"
                        exit 1
                    }
                    rate += (ended[s, i + 1] - 1) / (last[s, i + 1] - first[s, i + 1])
                    busy += used[s, i] / 1000 / (to[s] - from[s])
                }
                printf "%s %s %.6g %.6g %.6g %.6g\n", block + int((s - 1) / each), label[s], rate,
                    latency[s] / number[s], percentile(s, 0.99), busy / rate
            }
        }' "$pairs_dir/marks" "${logs[@]}"
}

# pairs_switching slow|rapid RESULTS BLOCKS SECONDS SETTLE SWITCH PREPARE PGBENCH_OPTION...: on
# against off in a server that keeps running.  SWITCH is called with on or off before each slice,
# PREPARE before each load.  Slow: each block has a load of its own and goes there and back again,
# ABC CBA, so that a steady drift is the same for all; off comes twice, labels on, off and again.
# Rapid, for transactions that are much shorter than a slice of some hundredths of a second: a load
# has 60 blocks of three slices (their log is in memory), and on comes twice, so that it is on
# for most of the time; labels off, on and again.
pairs_switching() {
    local way=$1 results=$2 blocks=$3 seconds=$4 settle=$5 switch=$6 prepare=$7 block run=0 i order orders=()
    local labels=(on off again) twice=off loaded=1
    if [ "$way" = rapid ]; then labels=(off on again) twice=on loaded=60; fi
    shift 7
    for ((i = 0; i < 6; i++)); do orders+=("$(pairs_order 3 "$i")"); done
    for ((block = 0; block < blocks; block += run)); do
        "$prepare"
        pairs_load_begin "$@"
        pairs_sleep 0.5
        for ((run = 0; run < loaded && block + run < blocks; run++)); do
            read -r -a order <<<"${orders[(block + run) % 6]}"
            [ "$way" = rapid ] || order+=("${order[2]}" "${order[1]}" "${order[0]}")
            for i in "${order[@]}"; do
                "$switch" "${labels[i]/again/$twice}"
                pairs_slice "${labels[i]}" "$settle" "$seconds"
            done
        done
        pairs_load_end "$results" "$block" "${#order[@]}" || return 1
    done
}

# The columns of results: their numbers and names
pairs_columns=("3 throughput" "4 mean latency" "5 99th percentile" "6 processor time")

# pairs_ratio RESULTS LABEL[,LABEL...] LABEL[,LABEL...] COLUMN: the ratio of the first to the
# others.  Prints what pairs_median prints.  Several slices make one by their geometric mean.
pairs_ratio() {
    awk -v num=",$2," -v den=",$3," -v column="$4" '
        { blocks[$1] = 1 }
        $column <= 0 { next }
        index(num, "," $2 ",") { sum[$1] += log($column); slices[$1]++ }
        index(den, "," $2 ",") { below[$1] += log($column); others[$1]++ }
        END {
            for (b in blocks)
                if (slices[b] && others[b]) printf "%.9f\n", exp(sum[b] / slices[b] - below[b] / others[b])
        }' "$1" | pairs_median
}

# Of numbers: how many, median, its 95 % interval, quartiles; none: 0 and dashes.  The interval reaches from
# the k-th smallest to the k-th largest, with the largest k such that fewer than k of n
# are on one side of the median with a probability of at most 2.5 %.
pairs_median() {
    sort -g | awk '
        function at(place,    low) {
            low = int(place)
            if (low < 1) return x[1]
            if (low >= n) return x[n]
            return x[low] + (place - low) * (x[low + 1] - x[low])
        }
        { x[++n] = $1 }
        END {
            if (n == 0) { print "0 - - - - -"; exit }
            # logarithms, since 2^-n may be too small for a number
            p = -n * log(2)
            for (k = 0; k < n && sum + exp(p) <= 0.025; k++) { sum += exp(p); p += log((n - k) / (k + 1)) }
            low = high = "-"
            if (k > 0) { low = x[k]; high = x[n + 1 - k] }
            print n, at((n + 1) / 2), low, high, at((n + 3) / 4), at((3 * n + 1) / 4)
        }'
}

# pairs_figures NAME RESULTS LABEL LABELS [GOAL [TIME_GOAL]]: note ratios of the one to the others;
# the least for throughput, and the most for processor time
pairs_figures() {
    local name=$1 column n median low high
    local -A goals=([3]=${5:-} [6]=${6:-}) verdicts
    for column in "${pairs_columns[@]}"; do
        read -r n median low high _ <<<"$(pairs_ratio "$2" "$3" "$4" "${column%% *}" | awk '
            function short(x) { return x == "-" ? x : sprintf("%.4f", x) }
            { print $1, short($2), short($3), short($4) }')"
        figure "$name" "${column#* }" "$median" "95 % interval#${column%% *}" "$(
            [ "$low" = - ] || echo "$low to $high")"
        if [ -n "${goals[${column%% *}]:-}" ]; then
            verdicts[${column%% *}]=$(awk -v goal="${goals[${column%% *}]}" -v most="${column%% *}" -v low="$low" -v high="$high" 'BEGIN {
                if (low == "-") print "-"
                else if (most == 6) print (high <= goal ? "met" : low > goal ? "MISSED" : "not known")
                else print (low >= goal ? "met" : high < goal ? "MISSED" : "not known") }')
        fi
    done
    figure "$name" blocks "$n"
    for column in 3 6; do
        [ -z "${goals[$column]}" ] || figure "$name" "goal ${goals[$column]}" "${verdicts[$column]}"
    done
}

# pairs_absolute NAME RESULTS LABEL: note the medians over blocks themselves
pairs_absolute() {
    local column
    for column in "${pairs_columns[@]}"; do
        figure "$1" "${column#* }" "$(awk -v label="$3" -v column="${column%% *}" '$2 == label { print $column }' "$2" |
            pairs_median | awk '{ printf "%.5g", $2 }')" "95 % interval#${column%% *}" ""
    done
}

# ---------------------------------------------------------------- a control group

# A limit for the memory of a bench's server.  To make such a group takes root, and the sandbox
# runs its command as another user.  So root starts the script; in_cgroup makes the group,
# starts the script again in the sandbox, and removes the group when that ends.  There,
# in_cgroup returns at once, and `inside COMMAND' runs a command, or a function, in the group:
# the server, but no client.
#
# The right to join goes with the group's cgroup.procs, opened here as descriptor 9: the kernel
# checks the user that opened it.  Every user may change the limit.
#
# Version 1 and version 2 of control groups will do.  Where there are none, or they cannot
# be changed, as in most containers, in_cgroup prints a line and exits with success.

# in_cgroup MB SCRIPT [ARGUMENT...]: of the arguments, --installed and --monitoring are test/sandbox's
in_cgroup() {
    local mb=$1 top option=() name status=0
    shift
    for name in --installed --monitoring; do
        if [[ " $* " == *" $name "* ]]; then option+=("$name"); fi
    done
    if [ -n "${WS_CGROUP:-}" ]; then
        # kernels before 5.16 may check the user that writes, not the one that opened
        inside true 2>/dev/null || cgroup_skip "the sandbox's user may not join the control group"
        return 0
    fi
    [ -z "${WS_SANDBOX:-}" ] || cgroup_skip "the sandbox's user cannot make a control group; run it by itself, as root"
    cgroup_find || cgroup_skip "no control groups for memory here"
    cgroup=$(mktemp -d "$cgroup_parent/working_set.XXXXXX" 2>/dev/null) ||
        cgroup_skip "cannot make a control group below $cgroup_parent (that takes root)"
    at_exit cgroup_remove
    # mktemp's directory is its user's only
    chmod 755 "$cgroup"
    if ! cgroup_limit "$mb" || ! (echo "$BASHPID" >"$cgroup/cgroup.procs") 2>/dev/null; then
        cgroup_skip "cannot limit a control group's memory, or join it, below $cgroup_parent"
    fi
    chmod a+w "$(cgroup_file max limit_in_bytes)"
    top=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
    WS_CGROUP=$cgroup "$top/test/sandbox" ${option[@]+"${option[@]}"} \
        "$(realpath --relative-to="$top" "$1")" "${@:2}" 9>"$cgroup/cgroup.procs" || status=$?
    exit "$status"
}

# inside COMMAND [ARGUMENT...]: run it in the group; also the server that it starts.
inside() (
    echo "$BASHPID" >&9 || { echo "cannot join the control group" >&2; exit 1; }
    exec 9>&-
    "$@"
)

# Bytes that the group may use; and which version of control groups it is
cgroup_max() { cat "$(cgroup_file max limit_in_bytes)"; }
cgroup_version() { if [ -e "$WS_CGROUP/memory.max" ]; then echo 2; else echo 1; fi; }

# cgroup_change BYTES: another limit.  A lower one makes the kernel take memory back, of
# the page cache first.  Version 1 refuses if that does not succeed soon: then in steps,
# as low as it gets.  (Version 2 does not refuse, and ends processes.)
cgroup_change() {
    local from step
    if cgroup_write "$1"; then return 0; fi
    from=$(cgroup_max)
    for step in 1 2 3 4 5 6 7 8; do
        cgroup_write $((from + ($1 - from) * step / 8)) || return 0
    done
}

# Bytes of the group: anonymous memory|shared memory|page cache of files|all other, which
# is the kernel's.
cgroup_usage() {
    local all
    # first, or else the rest may be more than all
    all=$(cat "$(cgroup_file current usage_in_bytes)")
    # shared memory is in both versions' count of the page cache
    awk -v all="$all" '
        $1 == "anon" || $1 == "rss" { anon = $2 }
        $1 == "shmem"               { shared = $2 }
        $1 == "file" || $1 == "cache" { cache = $2 }
        END {
            other = all - anon - cache
            printf "%d|%d|%d|%d\n", anon, shared, cache - shared, (other > 0 ? other : 0)
        }' "$WS_CGROUP/memory.stat"
}

# How often the group reached its limit, and the kernel had to take memory back
cgroup_reached() {
    if [ "$(cgroup_version)" = 2 ]; then
        awk '$1 == "max" { print $2 }' "$WS_CGROUP/memory.events"
    else
        cat "$WS_CGROUP/memory.failcnt"
    fi
}

cgroup_skip() {
    echo "$0: skipped: $1"
    exit 0
}

cgroup_write() { { echo "$1" >"$(cgroup_file max limit_in_bytes)"; } 2>/dev/null; }

# A file of the group by its name in version 2, or else in version 1.
cgroup_file() {
    local name=${WS_CGROUP:-$cgroup}/memory
    if [ -e "$name.$1" ]; then echo "$name.$1"; else echo "$name.$2"; fi
}

# cgroup_mount TYPE [CONTROLLER]: where that is mounted, and of what it shows the part
# that we are in: "MOUNT_POINT PATH".
cgroup_mount() {
    awk -v type="$1" -v controller="${2:-}" '
        FNR == NR {
            split($0, part, ":")
            own_path = $0
            sub(/^[^:]*:[^:]*:/, "", own_path)
            if (index("," part[2] ",", "," controller ",")) own = own_path
            next
        }
        {
            for (i = 7; $i != "-"; i++) ;
            if ($(i + 1) != type || !index("," $(i + 3) ",", controller == "" ? "," : "," controller ",")) next
            # a container may see its own part of the tree as the root, or not
            if ($4 != "/" && index(own "/", $4 "/") == 1) own = substr(own, length($4) + 1)
            if (own == "/" || own ~ /^\/\.\./) own = ""
            print $5, own
            exit
        }' /proc/self/cgroup /proc/self/mountinfo
}

# Set cgroup_parent: below which a group with a limit can be made.
cgroup_find() {
    local mount path
    read -r mount path <<<"$(cgroup_mount cgroup memory)"
    if [ -n "$mount" ]; then
        cgroup_parent=$mount$path
        [ -d "$cgroup_parent" ] || cgroup_parent=$mount
        return 0
    fi
    # Version 2: the nearest that hands memory out to those below it, which has no
    # process itself.
    read -r mount path <<<"$(cgroup_mount cgroup2)"
    [ -n "$mount" ] || return 1
    while :; do
        cgroup_parent=$mount$path
        if grep -qsw memory "$cgroup_parent/cgroup.subtree_control"; then return 0; fi
        [ -n "$path" ] || return 1
        path=${path%/*}
    done
}

# Limit it to so many MB, and no swap.
cgroup_limit() {
    local file
    { echo "$1M" >"$(cgroup_file max limit_in_bytes)"; } 2>/dev/null || return 1
    for file in "$cgroup/memory.swappiness" "$cgroup/memory.swap.max"; do
        if [ -e "$file" ]; then { echo 0 >"$file"; } 2>/dev/null || true; fi
    done
}

# The sandbox has ended its servers, but they may take a moment to be gone.
cgroup_remove() {
    local tries
    for ((tries = 0; tries < 50; tries++)); do
        if rmdir "$cgroup" 2>/dev/null; then return 0; fi
        sleep 0.1
    done
    echo "cannot remove the control group $cgroup" >&2
}

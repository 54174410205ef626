# bench/pairs.sh - how much faster or slower is a server one way than another, on a
# machine whose speed is never the same for long?  To be sourced, after bench/lib.sh.
#
# shellcheck shell=bash
#
# Throughput drifts by several percent from one second to the next, and what is looked for
# is less than one.  So nothing is compared but what was measured within seconds:
#
#   - Time is cut into blocks, and each block has slices of all the alternatives.  One
#     block gives one ratio.  The result is the median of the ratios, with an interval that
#     has it with 95 % probability whatever the distribution (order statistics, by the
#     binomial distribution; it takes six blocks), and their quartiles.
#   - Alternatives take turns in all orders: each is as often first as last, and as often
#     next to each other one (Williams squares).  Where the server keeps running, a block
#     goes there and back again, ABC CBA, so that a steady drift is the same for all.
#   - One alternative is there twice, as its own control.  The ratio of the two has to be
#     1, and how far off it is shows what this design can tell on this machine.
#
# Load.  A pgbench with one client for each processor, tied to it, with the server
# process that it talks to tied to the same one.  Left to itself, the kernel moves them
# about, and it makes a difference of a factor of two whether client and server share a
# processor.  So all processors are busy, and what makes the server's work longer
# lowers the throughput.  pgbench is a part of that, as it is in any figure by pgbench.
#
# Counting.  pgbench logs each transaction with the microsecond in which it ended, to
# memory, which takes less than a percent of it and is the same for all.  So slices can be cut out
# of one run where they are wanted, and latencies are exact.  A client's rate in a slice is
# the number of transactions that ended in it after the first, over the time from the
# first end to the last: no part of a transaction is lost or counted twice.  What came
# before the switch is left out.
#
# Processor time.  The kernel knows to the nanosecond how long a server process ran.
# Divided by its transactions, it is what the server alone takes for one.  Other
# processes that use the processor meanwhile do not count in it.

pairs_dir=$TMPDIR
if [ -w /dev/shm ] && [ "$(df -Pk /dev/shm | awk 'NR == 2 { print $4 }')" -gt 1000000 ]; then
    pairs_dir=$(mktemp -d /dev/shm/pairs.XXXXXX)
fi
pairs_processors=()             # for one client each
pairs_tied=yes
pairs_pgbench=()                # their process IDs,
pairs_backends=()               # and those of the server processes they talk to
pairs_loads=0
exec {pairs_never}<> <(:)       # nothing ever comes from there

pairs_clean() {
    [ "$pairs_dir" = "$TMPDIR" ] || rm -rf -- "$pairs_dir"
}

# Find the processors that may be used.
pairs_find_processors() {
    local part first last
    for part in $(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status | tr , ' '); do
        first=${part%-*} last=${part#*-}
        while [ "$first" -le "$last" ]; do pairs_processors+=("$first"); first=$((first + 1)); done
    done
    taskset -c "${pairs_processors[0]}" true 2>/dev/null || pairs_tied=
}
pairs_find_processors

# How the load is made, in a line for the reader.
pairs_print_load() {
    printf 'Load:     %d clients of pgbench -M prepared' "${#pairs_processors[@]}"
    if [ -n "$pairs_tied" ]; then
        printf ', each with its server process on a processor of its own\n'
    else
        printf ', on whatever processors (there is no taskset)\n'
    fi
}

# Sleep without starting a program.
pairs_sleep() {
    read -r -t "$1" -u "$pairs_never" || true
}

# pairs_order ALTERNATIVES BLOCK: the order of 0 ... ALTERNATIVES - 1 in this block (from 0)
pairs_order() {
    local k=$1 block=$2 j order=()
    for ((j = 0; j < k; j++)); do
        order[j]=$((((j % 2 ? (j + 1) / 2 : k - j / 2) + block) % k))
    done
    # an odd number of them is in balance with the rows read backwards
    if ((k % 2 && block / k % 2)); then
        for ((j = k - 1; j >= 0; j--)); do echo "${order[j]}"; done
    else
        printf '%s\n' "${order[@]}"
    fi
}

# all orders of three, in the order of pairs_order
pairs_orders=()
for ((pairs_loads = 0; pairs_loads < 6; pairs_loads++)); do
    pairs_orders+=("$(pairs_order 3 "$pairs_loads" | paste -s -d ' ')")
done
pairs_loads=0

# ---------------------------------------------------------------- load

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

# pairs_load_end [RESULTS BLOCK]: end it, and add to the results what the slices
# were: block, label, transactions per second, average latency and the 99th percentile of
# it in us, processor time of the server in us per transaction
pairs_load_end() {
    local pid
    # By ending the server processes: then pgbench still completes its logs.
    for pid in "${pairs_backends[@]}"; do
        kill "$pid" 2>/dev/null || { cat "$pairs_dir"/pgbench.* >&2; echo "pgbench has ended by itself" >&2; return 1; }
    done
    for pid in "${pairs_pgbench[@]}"; do wait "$pid" || true; done
    pairs_pgbench=()
    [ $# -eq 0 ] || pairs_read_logs "$2" >>"$1" || return 1
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
    awk -v block="$1" -v clients="${#pairs_processors[@]}" '
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
                printf "%s %s %.6g %.6g %.6g %.6g\n", block, label[s], rate,
                    latency[s] / number[s], percentile(s, 0.99), busy / rate
            }
        }' "$pairs_dir/marks" "${logs[@]}"
}

# ---------------------------------------------------------------- two designs

# pairs_within RESULTS BLOCKS SECONDS SETTLE SWITCH PREPARE PGBENCH_OPTION...: on against off in a server
# that keeps running.  SWITCH is called with on or off before each slice, also if it was so
# before.  PREPARE is called before each block.  Labels: on, off, and again for the
# second off.
pairs_within() {
    local results=$1 blocks=$2 seconds=$3 settle=$4 switch=$5 prepare=$6 block i order labels=(on off again)
    shift 6
    for ((block = 0; block < blocks; block++)); do
        read -r -d '' -a order <<<"$(pairs_order 3 "$block")" || true
        "$prepare"
        pairs_load_begin "$@"
        pairs_sleep 0.5
        for i in "${order[@]}" "${order[2]}" "${order[1]}" "${order[0]}"; do
            if [ "${labels[i]}" = on ]; then "$switch" on; else "$switch" off; fi
            pairs_slice "${labels[i]}" "$settle" "$seconds"
        done
        pairs_load_end "$results" "$block"
    done
}

# pairs_between RESULTS BLOCKS SECONDS WARM START STOP PGBENCH_OPTION...: two ways to start a
# server.  START is called with on or off before each slice and STOP after it; what is
# measured comes after WARM seconds of load.  Labels as above.
pairs_between() {
    local results=$1 blocks=$2 seconds=$3 warm=$4 start=$5 stop=$6 block i order labels=(on off again)
    shift 6
    for ((block = 0; block < blocks; block++)); do
        read -r -d '' -a order <<<"$(pairs_order 3 "$block")" || true
        for i in "${order[@]}"; do
            if [ "${labels[i]}" = on ]; then "$start" on; else "$start" off; fi
            pairs_load_begin "$@"
            pairs_slice "${labels[i]}" "$warm" "$seconds"
            pairs_load_end "$results" "$block"
            "$stop"
        done
    done
}

# pairs_rapid RESULTS BLOCKS SECONDS SETTLE SWITCH PGBENCH_OPTION...: on against off in a server that
# keeps running, each block no longer than three slices, of some hundredths of a second.  For
# transactions that are much shorter still.  Here it is on that comes twice, so that
# it is on for most of the time: labels off, on, and again for the second on.
pairs_rapid() {
    local results=$1 blocks=$2 seconds=$3 settle=$4 switch=$5 block=0 run i order labels=(off on again)
    shift 5
    while ((block < blocks)); do
        pairs_load_begin "$@"
        pairs_sleep 0.5
        # the log of a run is in memory
        for ((run = 0; run < 60 && block + run < blocks; run++)); do
            # shellcheck disable=SC2206
            order=(${pairs_orders[(block + run) % 6]})
            for i in "${order[@]}"; do
                if [ "${labels[i]}" = off ]; then "$switch" off; else "$switch" on; fi
                pairs_slice "${labels[i]}" "$settle" "$seconds"
            done
        done
        : >"$pairs_dir/rapid"
        pairs_load_end "$pairs_dir/rapid" "$block" || return 1
        awk '{ $1 += int((NR - 1) / 3); print }' "$pairs_dir/rapid" >>"$results"
        block=$((block + run))
    done
}

# ---------------------------------------------------------------- statistics

# The columns of results that ratios are taken of.
pairs_rate=3 pairs_latency=4 pairs_p99=5 pairs_time=6
export pairs_rate pairs_latency pairs_p99 pairs_time

# pairs_ratio RESULTS LABEL[,LABEL...] LABEL[,LABEL...] COLUMN: the ratio of the first to the others; prints number of
# blocks, median, 95 % interval, quartiles.  Several slices with one name, and the
# others, make one by their geometric mean.
pairs_ratio() {
    pairs_blocks "$@" | sort -g | pairs_median
}

# The ratio of each block.
pairs_blocks() {
    awk -v num=",$2," -v den=",$3," -v column="$4" '
        { if (!($1 in seen)) { seen[$1] = 1; block[++n] = $1 } }
        $column <= 0 { next }
        index(num, "," $2 ",") { sum[$1] += log($column); slices[$1]++ }
        index(den, "," $2 ",") { below[$1] += log($column); others[$1]++ }
        END {
            for (i = 1; i <= n; i++) {
                b = block[i]
                if (slices[b] && others[b]) printf "%.9f\n", exp(sum[b] / slices[b] - below[b] / others[b])
            }
        }' "$1"
}

# Of sorted numbers: how many, median, its 95 % interval, quartiles.  The interval reaches
# from the k-th smallest to the k-th largest, with the largest k such that fewer than k of n
# are on one side of the median with a probability of at most 2.5 %.
pairs_median() {
    awk '
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

pairs_head() {
    printf '%-34s %6s %10s  %-17s  %-17s %8s %8s  %s\n' "" "" "through-" "95 % interval" "quartiles" "latency," "99th" \
        "server's processor time"
    printf '%-34s %6s %10s  %-17s  %-17s %8s %8s  %s\n' "ratio of the one to the other" "blocks" "put" "of the median" "" "average" "perc." \
        "per transaction"
}

# pairs_row NAME RESULTS LABEL LABELS [GOAL]: a line of the table
pairs_row() {
    {
        pairs_ratio "$2" "$3" "$4" "$pairs_rate"
        pairs_ratio "$2" "$3" "$4" "$pairs_latency"
        pairs_ratio "$2" "$3" "$4" "$pairs_p99"
        pairs_ratio "$2" "$3" "$4" "$pairs_time"
    } | awk -v name="$1" -v goal="${5:-}" '
        function range(a, b) { return a == "-" ? "-" : sprintf("%.4f - %.4f", a, b) }
        function ratio(x, form) { return x == "-" ? "-" : sprintf(form, x) }
        { n[NR] = $1; median[NR] = $2; low[NR] = $3; high[NR] = $4; q1[NR] = $5; q3[NR] = $6 }
        END {
            verdict = ""
            if (goal != "" && low[1] != "-")
                verdict = low[1] >= goal ? "met" : high[1] < goal ? "MISSED" : "cannot be told"
            printf "%-34s %6d %10s  %-17s  %-17s %8s %8s  %s (%s)%s\n", name, n[1], ratio(median[1], "%.4f"), range(low[1], high[1]),
                range(q1[1], q3[1]), ratio(median[2], "%.3f"), ratio(median[3], "%.3f"), ratio(median[4], "%.4f"), range(low[4], high[4]),
                (verdict == "" ? "" : "; goal " goal ": " verdict)
        }'
}

# pairs_typical RESULTS LABEL: what was typical in absolute terms: median rate, latency, 99th percentile
# and processor time
pairs_typical() {
    local column
    for column in "$pairs_rate" "$pairs_latency" "$pairs_p99" "$pairs_time"; do
        awk -v label="$2" -v column="$column" '$2 == label { print $column }' "$1" | sort -g | pairs_median
    done | awk '{ x[NR] = $2 } END { printf "%.6g transactions/s, latency %.6g us, 99th percentile %.6g us, server %.6g us", x[1], x[2], x[3], x[4] }'
}

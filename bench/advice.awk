# advice.awk - of bench/advice: predictions beside what was measured, and the figures of each
# workload.  Three files: "measured", "again" and "predicted"; variables: truth (the column of
# "measured" that is the hit ratio), figures (the file of them), and the goals.

function abs(x) { return x < 0 ? -x : x }

function add(what, d, error, pages) {
    if (pages >= 4000) widths[what, ++nwidths[what]] = error
    n[what]++
    sum[what] += abs(d)
    within[what] += abs(d) <= error
    if (abs(d) > worst[what]) worst[what] = abs(d)
}

function median(what,    i, j, x, v) {
    if (nwidths[what] == 0) return "-"
    for (i = 1; i <= nwidths[what]; i++) {
        v = widths[what, i]
        for (j = i - 1; j > 0 && x[j] > v; j--) x[j + 1] = x[j]
        x[j + 1] = v
    }
    return sprintf("%.4f", x[int((nwidths[what] + 1) / 2)])
}

function note(row, what) {
    printf "%s|predictions|%d\n%s|mean error|%.4f\n%s|worst|%.4f\n%s|within its error|%d\n%s|median of errors shown|%s\n",
        row, n[what], row, sum[what] / n[what], row, worst[what], row, within[what], row, median(what) >>figures
    if (what in drift) printf "%s|drift|%+.4f\n", row, drift[what] >>figures
    printf "%s|with a note|%d\n", row, doubts[what] >>figures
}

FILENAME ~ /measured$/ { measured[$1, $2] = $truth; sampled[$1, $2] = $9; next }
FILENAME ~ /again$/ { drift[$1] = $truth - measured[$1, $2]; next }

($1, int($3)) in measured && $3 == int($3) {
    m = measured[$1, $3 + 0]
    if (!($1 in seen)) { seen[$1]; order[++workloads] = $1 }
    if ($4 == "") {
        printf "%-28s %5d %5d  %9s %9.4f   %s\n", $1, $2, $3, "unknown", m, $6
        unknown++
        next
    }
    d = $4 - m
    printf "%-28s %5d %5d  %9.4f %9.4f  %+10.4f  %8.4f%s%s\n", $1, $2, $3, $4, m, d, $5,
        ($6 != "" ? "" : abs(d) > worst_goal ? "  MISSED" : abs(d) > $5 ? "  outside" : ""), ($6 == "" ? "" : "  " $6)
    if ($6 != "") {
        doubts[""]++
        doubts[$1]++
        next
    }
    add("", d, $5, sampled[$1, $2 + 0])
    add($1, d, $5, sampled[$1, $2 + 0])
}

END {
    if (n[""] == 0) { print "nothing was predicted"; exit 1 }
    failed = unknown || doubts[""] > n[""] / 9 || sum[""] / n[""] > mean_goal || worst[""] > worst_goal ||
        within[""] < within_goal * n[""] || (width_goal < 1 && (!nwidths[""] || median("") > width_goal))
    for (i = 1; i <= workloads; i++)
        if (n[order[i]]) {
            note(order[i], order[i])
            failed = failed || within[order[i]] < workload_goal * n[order[i]]
        }
    note("all", "")
    printf "goal|mean error|%s\ngoal|worst|%s\n", mean_goal, worst_goal >>figures
    if (within_goal) printf "goal|within its error|%.0f %%\ngoal|median of errors shown|%s\n", 100 * within_goal, width_goal >>figures
    if (unknown) printf "not known: %d\n", unknown
    exit failed
}

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

# of rows with enough reads: the bounds of all, the factor of those without a note
function add_reads(what, ratio, bounded, noted) {
    all_rows[what]++
    bound[what] += bounded
    if (noted) return
    rows[what]++
    close_by[what] += ratio >= 0.8 && ratio <= 1.25
    if (!(what in least) || ratio < least[what]) least[what] = ratio
    if (!(what in most) || ratio > most[what]) most[what] = ratio
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
    if (!rows[what]) return
    printf "%s|with enough reads|%d\n%s|within their bounds|%d\n%s|without a note|%d\n%s|within 1.25|%d\n%s|least factor|%.3f\n%s|most|%.3f\n",
        row, all_rows[what], row, bound[what], row, rows[what], row, close_by[what], row, least[what], row, most[what] >>figures
    if (what in again) printf "%s|measured again|%.3f\n", row, again[what] >>figures
}

FILENAME ~ /measured$/ { measured[$1, $2] = $truth; sampled[$1, $2] = $9; seconds[$1, $2] = $6; lookups[$1, $2] = $11; reads[$1, $2] = $12; next }
FILENAME ~ /again$/ { drift[$1] = $truth - measured[$1, $2]; if (reads[$1, $2]) again[$1] = $12 / reads[$1, $2]; next }

($1, int($3)) in measured && $3 == int($3) {
    m = measured[$1, $3 + 0]
    if (!($1 in seen)) { seen[$1]; order[++workloads] = $1 }
    if ($4 == "") {
        printf "%-28s %5d %5d  %9s %9.4f   %s\n", $1, $2, $3, "unknown", m, $6
        unknown++
        next
    }
    d = $4 - m
    all = lookups[$1, $2 + 0]
    second = seconds[$1, $2 + 0]
    would = (1 - $4) * all
    did = reads[$1, $3 + 0]
    enough = would >= 20 * second || did >= 20 * second || would >= all / 100 || did >= all / 100
    ratio = did > 0 ? would / did : would > 0 ? 999 : 1
    bounded = did >= $7 * all && did <= $8 * all
    printf "%-28s %5d %5d  %9.4f %9.4f  %+10.4f  %8.4f  %9.1f %9.1f %7s%s%s\n", $1, $2, $3, $4, m, d, $5,
        would / second, did / second, enough ? sprintf("%.3f", ratio) : "-",
        ($6 != "" ? "" : abs(d) > worst_goal ? "  MISSED" : abs(d) > $5 ? "  outside" : ""), ($6 == "" ? "" : "  " $6)
    if (enough) {
        add_reads("", ratio, bounded, $6 != "")
        add_reads($1, ratio, bounded, $6 != "")
    }
    if ($6 != "") {
        doubts[""]++
        doubts[$1]++
        next
    }
    add("", d, $5, sampled[$1, $2 + 0])
    add($1, d, $5, sampled[$1, $2 + 0])
}

END {
    printf "" >>figures
    if (n[""] == 0) { print "nothing was predicted"; exit 1 }
    failed = unknown || (!factor_goal && !short && doubts[""] > n[""] / 9) || sum[""] / n[""] > mean_goal || worst[""] > worst_goal ||
        within[""] < within_goal * n[""] || (width_goal < 1 && (!nwidths[""] || median("") + 0 > width_goal)) ||
        (factor_goal && rows[""] < all_rows[""] / 2) || close_by[""] < factor_goal * rows[""] || bound[""] < bounds_goal * all_rows[""]
    for (i = 1; i <= workloads; i++)
        if (n[order[i]]) {
            note(order[i], order[i])
            failed = failed || within[order[i]] < workload_goal * n[order[i]]
        }
    note("all", "")
    printf "goal|mean error|%s\ngoal|worst|%s\n", mean_goal, worst_goal >>figures
    if (within_goal) printf "goal|within its error|%.0f %%\ngoal|median of errors shown|%s\n", 100 * within_goal, width_goal >>figures
    if (factor_goal) printf "goal|within 1.25|%.0f %%\ngoal|within their bounds|%.0f %%\n", 100 * factor_goal, 100 * bounds_goal >>figures
    if (unknown) printf "not known: %d\n", unknown
    exit failed
}

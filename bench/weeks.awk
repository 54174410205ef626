# weeks.awk - the table of bench/weeks, from one line a scenario and seed.
#
# Columns: number, name, seed, weeks, shared_buffers at the start, of the oracle, at the end;
# misses of the setting that stays, harm against it, harm against the oracle, saved (nan if the
# oracle would save little); restarts: all, most in a week, in the first month.

{
    k = $1; name[k] = $2; weeks[k] = $4; start[k] = $5; n[k]++
    if (k > last) last = k
    for (i = 6; i <= 10; i++) sum[i, k] += $i
    if (!(k in harm) || $9 > harm[k]) harm[k] = $9
    if ($11 != "nan" && $11 != "-nan" && (!(k in saved) || $11 < saved[k])) saved[k] = $11
    if ($12 > restarts[k]) restarts[k] = $12
    if ($13 > week[k]) week[k] = $13
    if ($14 > month[k]) month[k] = $14
}

function percent(x) { return sprintf("%.2f %%", 100 * x) }

END {
    print "Sizes are in MB.  misses: of the setting that stays, in % of all requests; harm: misses by"
    print "following the verdicts, less those; to the oracle: less those of the oracle; saved: memory, as"
    print "a share of what the oracle saves; restarts: in all, most in a week, in the first 28 days."
    print "Over several seeds: means, but the worst of harm, saved and restarts."
    print ""
    printf "%-22s %5s | %5s %6s %5s | %8s %8s %9s | %6s | %4s %4s %5s\n", "scenario", "weeks", "start",
        "oracle", "end", "misses", "harm", "to oracle", "saved", "all", "week", "month"
    for (k = 0; k <= last; k++) {
        if (!(k in n)) continue
        printf "%-22s %5d | %5d %6d %5d | %8s %8s %9s | %6s | %4d %4d %5d\n", name[k], weeks[k], start[k],
            sum[6, k] / n[k], sum[7, k] / n[k], percent(sum[8, k] / n[k]), percent(harm[k]),
            percent(sum[10, k] / n[k]), k in saved ? sprintf("%.0f %%", 100 * saved[k]) : "-",
            restarts[k], week[k], month[k]
        checked++
        if (harm[k] > 0.01) complain(k, "more than 1 % of all requests miss because of advice")
        if (k in saved && saved[k] < 0.9) complain(k, "less than 90 % of the memory is saved")
        if (week[k] > 1) complain(k, "more than one restart in a week")
        if (month[k] > 2) complain(k, "more than two restarts in the first month")
    }
    printf "\n%d passed, %d failed\n", checked - failures, failures
    exit failures > 0
}

function complain(k, what) {
    printf "  missed: %s: %s\n", name[k], what
    if (!(k in complained)) failures++
    complained[k] = 1
}

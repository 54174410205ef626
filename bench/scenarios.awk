# scenarios.awk - the table of bench/scenarios, from one line a scenario and seed.
#
# hard: numbers of scenarios in which live_set may be off by more than 0.06.
# Columns: number, name, seed, given, mean truth; then for each of the four series its
# name, ale, over, under, flips, least.

function mean(x, k, i) { return sum[x, k, i] / n[k] }
function short(x) { return x < 0.9995 ? sprintf("%.3f", x) : sprintf("%.2f", x) }

BEGIN { split(hard, list, " "); for (i in list) is_hard[list[i]] }

$1 > 32 {
    k = $1; name[k] = $2; truth[k] += $5; traced[k]++
    for (i = 1; i <= 4; i++) sum[2, k, i] += $(6 + i)
    if (traced[k] == 1 || $12 < low[k]) low[k] = $12
    if ($13 > high[k]) high[k] = $13
    ntraces++
    all_traces += $7
    next
}

{
    k = $1; name[k] = $2; given[k] = $4; truth[k] += $5; n[k]++
    if (k > last) last = k
    for (s = 0; s < 4; s++) {
        c = 6 + 6 * s
        for (i = 1; i <= 4; i++) sum[s, k, i] += $(c + i)
        square[s, k] += $(c + 1) * $(c + 1)
        if ($(c + 5) != "-" && (!((s, k) in least) || $(c + 5) < least[s, k]))
            least[s, k] = $(c + 5)
    }
}

END { if (ntraces) print_traces(); else print_scenarios() }

function print_traces() {
    print "ale: mean |ln(live_set / truth)|; over, under: shares of truth; flips: reversals of more than"
    print "10 %; from, to: the least and the most of live_set / truth before the shift"
    print ""
    printf "%-18s %8s  %5s %5s %5s %5s  %5s %5s\n", "trace", "truth", "ale", "over", "under", "flips", "from", "to"
    for (k = 33; k <= 50; k++)
        if (k in traced)
            printf "%2d %-15s %8.0f  %.3f %.3f %.3f %5.1f  %.3f %.3f\n", k, name[k], truth[k] / traced[k],
                sum[2, k, 1] / traced[k], sum[2, k, 2] / traced[k], sum[2, k, 3] / traced[k],
                sum[2, k, 4] / traced[k], low[k], high[k]
    printf "\nmean ale of live_set: %.4f\n", all_traces / ntraces
    if (all_traces / ntraces > 0.05) {
        print "  missed: it is above 0.05"
        missed = 1
    }
    printf "%d passed, %d failed\n", !missed, missed
    exit missed
}

function print_scenarios(k, s, c, i, m, v) {
    print "ale: mean |ln(recommended / truth)|; given: of the reference, as published; +-: standard"
    print "error over the seeds; over, under: shares of truth; flips: reversals of more than 10 %;"
    print "least: recommended / truth at its least from a minute after a step up"
    print ""
    printf "%-21s %9s | %5s | %-18s | %-10s | %-40s | %s\n", "", "", "", "reference",
        "plateau_end", "live_set", "projected"
    printf "%-21s %9s | %5s | %5s %6s %5s | %5s %5s | %5s %6s %5s %5s %5s %5s | %5s %5s\n",
        "scenario", "truth", "given", "ale", "+-", "flips", "ale", "flips", "ale", "+-", "over",
        "under", "flips", "least", "ale", "flips"
    for (k = 0; k <= last; k++) {
        if (!(k in n)) continue
        for (s = 0; s < 3; s++) {
            m = mean(s, k, 1)
            v = n[k] > 1 ? (square[s, k] - n[k] * m * m) / (n[k] - 1) / n[k] : 0
            error[s] = v > 0 ? sqrt(v) : 0
        }
        printf "%2d %-18s %9.0f | %5s | %5s %6.4f %5.1f | %5s %5.1f | %.3f %6.4f %.3f %.3f %5.1f %5s | %5s %5.1f\n",
            k, name[k], truth[k] / n[k], given[k] == "nan" ? "-" : short(given[k]),
            short(mean(0, k, 1)), error[0], mean(0, k, 4), short(mean(1, k, 1)), mean(1, k, 4),
            mean(2, k, 1), error[2], mean(2, k, 2), mean(2, k, 3), mean(2, k, 4),
            (2, k) in least ? sprintf("%.3f", least[2, k]) : "-",
            short(mean(3, k, 1)), mean(3, k, 4)
        # the mean is that of the fifteen, if they are here
        if (given[k] == "nan" && fifteen) {
            check_other(k)
            continue
        }
        for (s = 0; s < 4; s++) total[s] += mean(s, k, 1)
        count++

        # the others
        if (given[k] == "nan") {
            check_other(k)
            continue
        }
        if (mean(2, k, 1) >= mean(0, k, 1)) complain(k, "live_set is no better than the reference")
        if (mean(2, k, 3) > 0.03) complain(k, "live_set is short of more than 3 %")
        if (mean(2, k, 4) > mean(0, k, 4) + 2) complain(k, "live_set turns back too often")
        if (mean(3, k, 4) > mean(0, k, 4) + 2) complain(k, "the projection turns back too often")
        if ((2, k) in least && least[2, k] < 0.9) complain(k, "live_set dips after the step")
        checked++
        fifteen++
    }
    printf "\nmean ale: reference %.3f, plateau_end %.3f, live_set %.4f, projected %.4f\n",
        total[0] / count, total[1] / count, total[2] / count, total[3] / count
    if (fifteen == count && fifteen == 15 && total[2] / count > 0.025) {
        print "  missed: the mean of live_set is above 0.025"
        missed++
        failures++
    }
    if (fifteen == count && fifteen == 15) checked++
    printf "%d passed, %d failed\n", checked - failures, failures
    exit missed > 0
}

# the refilled table is 2 % of the pages of the break-even time, so it is known roughly
function check_other(k, limit) {
    limit = k == 31 ? 0.1 : 0.06
    if (mean(2, k, 1) > limit && !(k in is_hard)) complain(k, "live_set is off by more than " limit)
    checked++
}

function complain(k, what) {
    printf "  missed: %s: %s\n", name[k], what
    missed++
    if (!(k in complained)) failures++
    complained[k] = 1
}

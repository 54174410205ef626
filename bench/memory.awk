# memory.awk - of bench/memory: what was measured at each pair, the errors of what was predicted,
# and the cheapest pairs, from a file of --out.
#
# Writes figures (print_figures of lib.sh) to the files "pairs", "errors" and "cheapest" of the
# directory `dir', and prints which goals are missed; then the exit status is 1.

BEGIN {
    mb = 1048576
    # goals
    mean_goal = 0.02; worst_goal = 0.06     # of the page cache's hit ratio
    reads_goal = 0.1                        # of waits, and of bytes, a second, on average
    within_goal = 0.95                      # of the predictions are within their error
    dearer_goal = 0.05                      # than the cheapest pair
    if (short) {
        mean_goal = 0.06; worst_goal = 0.12
        reads_goal = 0.3
        within_goal = 0.5
    }
    # what is compared
    few_reads = 400                         # in what is measured: chance makes 0.05 of the hit ratio
    few_waits = 20                          # a second
    apart = 1.2                             # neighbours that a bound is tried between
    tables["pairs"]; tables["errors"]; tables["cheapest"]
    for (table in tables) printf "" >(dir "/" table)
}

function abs(x) { return x < 0 ? -x : x }
function form(value, how) { return value == "" ? "" : sprintf(how, value) }

# figure(table, row, column, value)
function figure(table, row, column, value) { print row "|" column "|" value >(dir "/" table) }

$1 == "measured" {
    key = $2 SUBSEP $3 SUBSEP $4
    if (key in reads) next
    if (!($2 in pairs)) order[++workloads] = $2
    pair[$2, ++pairs[$2]] = key
    name[key] = $2 ", " $3 " MB, " $4 " %"
    lookups[key] = ($6 + $7) / $11
    hit[key] = $6 + $7 ? $6 / ($6 + $7) : ""
    asked[key] = $7
    reads[key] = $7 / $11
    bytes[key] = $9 / $11
    waits[key] = $10 == "" ? "" : $10 / $11
    cache_hit[key] = $10 == "" || !$7 ? "" : 1 - $10 / $7
    byte_hit[key] = $7 ? 1 - $9 / 8192 / $7 : ""
    ms[key] = $10 > 0 ? $8 / $10 : ""
    cached[key] = $12 / mb
    memory[key] = $3 + $22 / mb
    steady[key] = $21 " (" $20 ")"
    reached[key] = $23                      # the limit, how often
}

$1 == "predicted" {
    key = $2 SUBSEP $3 SUBSEP $4
    if (!(($2, $10) in known_place)) { known_place[$2, $10]; place[$2, ++places[$2]] = $10 }
    said_hit[key, $10] = $5
    said_cache_hit[key, $10] = $6
    said_waits[key, $10] = $7
    said_bytes[key, $10] = $8
    said_error[key, $10] = $9
    note[key, $10] = $11
}

# ---------------------------------------------------------------- the pairs

function show_pair(key, w,    i, at, row) {
    row = name[key]
    figure("pairs", row, "page cache MB", form(cached[key], "%.0f"))
    figure("pairs", row, "lookups/s", form(lookups[key], "%.0f"))
    figure("pairs", row, "hit ratio", form(hit[key], "%.3f"))
    figure("pairs", row, "waits", form(cache_hit[key], "%.3f"))
    figure("pairs", row, "error", "")
    figure("pairs", row, "waits/s", form(waits[key], "%.0f"))
    figure("pairs", row, "bytes", form(byte_hit[key], "%.3f"))
    figure("pairs", row, "MB/s", sprintf("%.1f", bytes[key] / mb))
    figure("pairs", row, "ms", form(ms[key], "%.3f"))
    figure("pairs", row, "limit reached", reached[key])
    figure("pairs", row, "steady", steady[key])
    for (i = 1; i <= places[w]; i++) {
        at = place[w, i]
        if (!((key, at) in said_hit)) continue
        row = name[key] ", predicted at " at
        figure("pairs", row, "hit ratio", form(said_hit[key, at], "%.3f"))
        figure("pairs", row, "waits", form(said_cache_hit[key, at], "%.3f"))
        figure("pairs", row, "error", form(said_error[key, at], "%.3f"))
        figure("pairs", row, "waits/s", form(said_waits[key, at], "%.0f"))
        figure("pairs", row, "MB/s", said_bytes[key, at] == "" ? "" : sprintf("%.1f", said_bytes[key, at] / mb))
        figure("pairs", row, "note", length(note[key, at]) > 60 ? substr(note[key, at], 1, 57) "..." : note[key, at])
    }
}

# ---------------------------------------------------------------- errors

# Predictions are for the rate of lookups at which they were made.  What they say for the one at
# which the pair was measured, on a machine that may have been too busy to keep the given rate.
function take_rate(key, at,    rate) {
    if (!((key, at) in said_hit) || !(said_waits[key, at] > 0)) return
    rate = (1 - said_hit[key, at]) * (1 - said_cache_hit[key, at]) * lookups[key]
    said_bytes[key, at] *= rate / said_waits[key, at]
    said_waits[key, at] = rate
}

# An error of this kind, of the workload and of all
function add(w, kind, d,    i, who) {
    for (i = 1; i <= 2; i++) {
        who = i == 1 ? w : "all"
        n[who, kind]++
        sum[who, kind] += abs(d)
        if (abs(d) > worst[who, kind]) worst[who, kind] = abs(d)
    }
}

function compare(key, w, at,    off, noted) {
    if (!((key, at) in said_hit)) return
    noted = note[key, at] != "" ? "noted " : ""
    if (noted) { doubts[w]++; doubts["all"]++ }
    if (said_hit[key, at] == "") {
        if (!noted) unknown++
        return
    }
    if (hit[key] != "") add(w, noted "hit", said_hit[key, at] - hit[key])
    if (cache_hit[key] != "" && asked[key] >= few_reads) {
        off = said_cache_hit[key, at] - cache_hit[key]
        add(w, noted "cache", off)
        if (!noted && abs(off) <= said_error[key, at]) { within[w]++; within["all"]++ }
    }
    if (waits[key] != "" && waits[key] >= few_waits && reached[key] != "0") {
        add(w, noted "waits", said_waits[key, at] / waits[key] - 1)
        if (bytes[key] > 0) add(w, noted "bytes", said_bytes[key, at] / bytes[key] - 1)
    }
}

function mean(who, kind) { return sum[who, kind] / n[who, kind] }

function show_errors(who) {
    figure("errors", who, "hit ratio", both(who, "hit", "%.4f", 1))
    figure("errors", who, "waits", both(who, "cache", "%.4f", 1))
    figure("errors", who, "within", within[who] + 0 " of " n[who, "cache"] + 0)
    figure("errors", who, "waits/s", both(who, "waits", "%.1f %%", 100))
    figure("errors", who, "MB/s", both(who, "bytes", "%.1f %%", 100))
    figure("errors", who, "with a note", doubts[who] + 0)
    figure("errors", who, "their waits", both(who, "noted cache", "%.4f", 1))
}

function both(who, kind, how, factor) {
    return n[who, kind] ? sprintf(how ", " how, factor * mean(who, kind), factor * worst[who, kind]) : "-"
}

# ---------------------------------------------------------------- the cheapest pair

# The pair with least memory whose waits, or predicted ones, keep the bound; "" if none does
function choose(w, at, bound,    i, key, best, said) {
    for (i = 1; i <= pairs[w]; i++) {
        key = pair[w, i]
        if (!usable(key, at == "" ? asked_at : at)) continue
        said = at == "" ? waits[key] : said_waits[key, at]
        if (said <= bound && (best == "" || memory[key] < memory[best])) best = key
    }
    return best
}

function usable(key, at) {
    return waits[key] != "" && (key, at) in said_waits && said_waits[key, at] != "" && note[key, at] == ""
}

# All bounds, of predictions made at one pair
function find_cheapest(w, at,    i, j, x, v, k) {
    for (i = 1; i <= pairs[w]; i++) {
        if (!usable(pair[w, i], at)) continue
        v = waits[pair[w, i]]
        for (j = k++; j > 0 && x[j] > v; j--) x[j + 1] = x[j]
        x[j + 1] = v
    }
    for (i = 1; i < k; i++)
        if (x[i + 1] >= few_waits && x[i + 1] >= apart * x[i])
            judge(w, at, sqrt((x[i] > few_waits / 4 ? x[i] : few_waits / 4) * x[i + 1]))
}

function judge(w, at, bound,    truth, said, dearer) {
    asked_at = at
    truth = choose(w, "", bound)
    said = choose(w, at, bound)
    bounds[w]++
    if (said == "") none[w]++
    else if (waits[said] > bound + said_error[said, at] * reads[said]) broken[w]++
    else {
        dearer = memory[said] / memory[truth] - 1
        if (!(w in most_dear) || dearer > most_dear[w]) most_dear[w] = dearer
        if (said == truth) cheapest[w]++
        else if (dearer <= dearer_goal) near[w]++
        else dear[w]++
    }
}

# ---------------------------------------------------------------- the best division

# Cost of a lookup, as the advice has it (src/model/division.h): a read from the page cache is a fiftieth
# of a wait.  at: of what was predicted there, "": of what was measured
function cost(key, at) {
    if (at == "") return (waits[key] + reads[key] / 50) / lookups[key]
    return said_waits[key, at] / lookups[key] + (1 - said_hit[key, at]) / 50
}

# The pair that costs least of those that fit into so much memory
function best_pair(w, at, by, room,    i, key, best) {
    for (i = 1; i <= pairs[w]; i++) {
        key = pair[w, i]
        if (usable(key, at) && memory[key] <= room && (best == "" || cost(key, by) < cost(best, by))) best = key
    }
    return best
}

# With the memory of each pair, and predictions made at one pair
function find_divisions(w, at,    i, truth, said, loss) {
    for (i = 1; i <= pairs[w]; i++) {
        if (!usable(pair[w, i], at)) continue
        truth = best_pair(w, at, "", memory[pair[w, i]])
        said = best_pair(w, at, at, memory[pair[w, i]])
        loss = cost(said, "") / cost(truth, "") - 1
        memories[w]++
        divided[w] += loss <= dearer_goal
        if (!(w in most_lost) || loss > most_lost[w]) most_lost[w] = loss
    }
}

function show_cheapest(w) {
    figure("cheapest", w, "bounds", bounds[w] + 0)
    figure("cheapest", w, "the cheapest", cheapest[w] + 0)
    figure("cheapest", w, "within 5 %", near[w] + 0)
    figure("cheapest", w, "dearer", dear[w] + 0)
    figure("cheapest", w, "bound broken", broken[w] + 0)
    figure("cheapest", w, "none found", none[w] + 0)
    figure("cheapest", w, "worst", w in most_dear ? sprintf("%+.1f %%", 100 * most_dear[w]) : "-")
    figure("cheapest", w, "memories", memories[w] + 0)
    figure("cheapest", w, "best division", divided[w] + 0)
    figure("cheapest", w, "worst of them", w in most_lost ? sprintf("%+.1f %%", 100 * most_lost[w]) : "-")
}

# ---------------------------------------------------------------- the end

function missed(what) {
    print "MISSED: " what
    misses++
}

END {
    for (i = 1; i <= workloads; i++) {
        w = order[i]
        for (j = 1; j <= pairs[w]; j++) {
            for (k = 1; k <= places[w]; k++) take_rate(pair[w, j], place[w, k])
            show_pair(pair[w, j], w)
            for (k = 1; k <= places[w]; k++) compare(pair[w, j], w, place[w, k])
        }
        for (k = 1; k <= places[w]; k++) {
            find_cheapest(w, place[w, k])
            find_divisions(w, place[w, k])
        }
        show_errors(w)
        show_cheapest(w)
        if (dear[w] + broken[w] + none[w] > 0)
            missed(sprintf("%s: not the cheapest pair, or one that breaks the bound, for %d of %d bounds",
                w, dear[w] + broken[w] + none[w], bounds[w]))
        if (divided[w] < memories[w])
            missed(sprintf("%s: not the best division for %d of %d memories", w, memories[w] - divided[w], memories[w]))
    }
    show_errors("all")
    if (!n["all", "cache"])
        missed("nothing to compare: no prediction without a note, or waits could not be counted")
    else {
        if (mean("all", "cache") > mean_goal) missed(sprintf("waits: mean error %.4f, goal %s", mean("all", "cache"), mean_goal))
        if (worst["all", "cache"] > worst_goal) missed(sprintf("waits: largest error %.4f, goal %s", worst["all", "cache"], worst_goal))
        if (within["all"] < within_goal * n["all", "cache"])
            missed(sprintf("waits: %d of %d within the error, goal %.0f %%", within["all"], n["all", "cache"], 100 * within_goal))
    }
    if (n["all", "waits"] && mean("all", "waits") > reads_goal)
        missed(sprintf("waits/s: mean error %.1f %%, goal %.0f %%", 100 * mean("all", "waits"), 100 * reads_goal))
    if (n["all", "bytes"] && mean("all", "bytes") > reads_goal)
        missed(sprintf("MB/s: mean error %.1f %%, goal %.0f %%", 100 * mean("all", "bytes"), 100 * reads_goal))
    if (unknown) missed(sprintf("%d predictions are not known, without a note", unknown))
    if (!misses) print "All goals are met."
    exit misses > 0
}

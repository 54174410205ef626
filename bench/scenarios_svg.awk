# scenarios_svg.awk - four scenarios over time, from what scenarios prints as a trace.

BEGIN {
    width = 960; height = 620; pad = 62; gap_x = 70; gap_y = 84; top = 76
    w = (width - 2 * pad - gap_x) / 2; h = (height - top - 60 - gap_y) / 2
    split("an hourly scan|a small set and noise|a step up|bursts of five minutes", title, "|")
    split("each scan is five minutes of a table that is not used again|500 pages, beside 20 a second that never come back|from 40,000 pages to 400,000|the larger set comes back within the break-even time", sub_title, "|")
    colour["truth"] = "#222222"; colour["reference"] = "#d9822b"; colour["live_set"] = "#1f6fb4"
    order[1] = "reference"; order[2] = "truth"; order[3] = "live_set"
}

FNR == 1 { panel++; for (i = 1; i <= NF; i++) name[i] = $i; next }

{
    for (i = 2; i <= NF; i++) {
        value[panel, name[i], $1] = $i
        if (name[i] in colour) {
            if ($i > most[panel]) most[panel] = $i
            if (!(panel in least) || $i < least[panel]) least[panel] = $i
        }
    }
    if ($1 > last) last = $1
}

function y_of(p, v) {
    if (v < low[p]) v = low[p]
    return y0 + h - h * (log(v) - log(low[p])) / (log(high[p]) - log(low[p]))
}

function number(v) {
    return v >= 1e6 ? v / 1e6 " M" : v >= 1e3 ? v / 1e3 " k" : v
}

END {
    printf "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' font-family='sans-serif' font-size='12'>\n", width, height
    printf "<rect width='%d' height='%d' fill='white'/>\n", width, height
    printf "<text x='%d' y='26' font-size='16' font-weight='bold'>Pages worth keeping, and what is recommended</text>\n", pad
    x = pad
    for (k = 2; k <= 4; k++) {
        s = k == 2 ? "truth" : k == 3 ? "live_set" : "reference"
        printf "<line x1='%d' x2='%d' y1='46' y2='46' stroke='%s' stroke-width='%s'/>", x, x + 26, colour[s], s == "truth" ? 4 : 2
        label = s == "truth" ? "truth" : s == "live_set" ? "live_set" : "plateau_end on HyperLogLog, 1024 registers"
        printf "<text x='%d' y='50'>%s</text>\n", x + 32, label
        x += 60 + 7 * length(label)
    }
    for (p = 1; p <= 4; p++) {
        x0 = pad + (p % 2 ? 0 : w + gap_x); y0 = top + 34 + (p > 2 ? h + gap_y : 0)
        low[p] = 10 ^ int(log(least[p] > 100 ? least[p] : 100) / log(10))
        high[p] = 10 ^ (int(log(most[p]) / log(10) - 1e-9) + 1)
        printf "<text x='%d' y='%d' font-weight='bold'>%s</text>", x0, y0 - 22, title[p]
        printf "<text x='%d' y='%d' fill='#555'>%s</text>\n", x0, y0 - 7, sub_title[p]
        for (v = low[p]; v <= high[p] * 1.01; v *= 10) {
            printf "<line x1='%d' x2='%d' y1='%.1f' y2='%.1f' stroke='#ddd'/>", x0, x0 + w, y_of(p, v), y_of(p, v)
            printf "<text x='%d' y='%.1f' text-anchor='end' fill='#555'>%s</text>\n", x0 - 6, y_of(p, v) + 4, number(v)
        }
        for (hour = 0; hour <= 6; hour++)
            printf "<text x='%.1f' y='%d' text-anchor='middle' fill='#555'>%d%s</text>", x0 + w * hour / 6, y0 + h + 16, hour, hour == 6 ? " h" : ""
        for (k = 1; k <= 3; k++) {
            s = order[k]
            printf "\n<polyline fill='none' stroke='%s' stroke-width='%s' stroke-linejoin='round'%s points='", colour[s], s == "truth" ? 4 : 1.8, s == "truth" ? " stroke-opacity='0.35'" : ""
            for (m = 0; m <= last; m++)
                printf "%.1f,%.1f ", x0 + w * m / (last + 1), y_of(p, value[p, s, m])
            printf "'/>\n"
        }
    }
    print "</svg>"
}

# memory_svg.awk - waits for the disk against memory: measured points on predicted lines, a panel
# for each workload, from a file of --out.

function svg_begin(width, height, title) {
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">\n", width, height, width, height
    print "<style>text { font-family: Helvetica, Arial, sans-serif; fill: #222 }"
    print ".title { font-size: 19px; font-weight: bold } .panel { font-size: 16px; font-weight: bold }"
    print ".axis { font-size: 14px } .tick { font-size: 13px; fill: #444 } .key { font-size: 14px }</style>"
    printf "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", width, height
    text(left, 30, "start", "title", title)
}
function text(x, y, anchor, class, s) {
    printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" class=\"%s\">%s</text>\n", x, y, anchor, class, s
}
function line(x1, y1, x2, y2, style) {
    printf "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1, x2, y2, style
}
function box(x, y, width, height, colour) {
    printf "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", x, y, width, height, colour
}
function axes() {
    printf "<path d=\"M%d,%d V%d H%d\" fill=\"none\" stroke=\"#888\"/>\n", left, top, top + height, left + width
}

function x_of(v) { return left + (v - low_x) / (high_x - low_x) * width }
function y_of(v) { return top + (1 - v / high_y[w]) * height }

# A step of 1, 2 or 5 times a power of ten, so that there are at most so many
function step_of(range, most,    s) {
    for (s = 10 ^ int(log(range / most) / log(10) - 1); ; s *= 10) {
        if (range / s <= most) return s
        if (range / (2 * s) <= most) return 2 * s
        if (range / (5 * s) <= most) return 5 * s
    }
}

function widen(v, memory) {
    if (v > high_y[$2]) high_y[$2] = v
    if (memory == "") return
    if (low_x == "" || memory < low_x) low_x = memory
    if (memory > high_x) high_x = memory
}

$1 == "server" { server = $2 }

$1 == "measured" {
    if (!($2 in pairs)) order[++workloads] = $2
    if (!($3 in colour_of)) { colour_of[$3] = ++sizes; size[sizes] = $3 }
    memory[$2, $3, $4] = $3 + $22 / 1048576
    if (!(($2, $3, $4) in waits)) share[$2, $3, ++shares[$2, $3]] = $4
    waits[$2, $3, $4] = $10 == "" ? "" : $10 / $11
    pairs[$2]++
    widen(waits[$2, $3, $4] + 0, memory[$2, $3, $4])
}

$1 == "predicted" {
    if (!(($2, $10) in known)) { known[$2, $10]; place[$2, ++places[$2]] = $10 }
    if (!($10 in named)) { named[$10]; names = names (names == "" ? "" : "; ") label_of($10) }
    if ($11 != "" || $7 == "") next
    said[$2, $3, $4, $10] = $7
    widen($7, "")
}

function label_of(at,    part) {
    split(at, part, ":")
    return part[1] " MB and " part[2] " %"
}

# The predictions at one pair, for one size of shared buffers: broken where there is a note
function draw_line(buffers, at,    i, key, path, begun) {
    for (i = 1; i <= shares[w, buffers]; i++) {
        key = w SUBSEP buffers SUBSEP share[w, buffers, i]
        if ((key, at) in said) {
            # (of a single one, a dot)
            path = path (begun ? " L" : " M") sprintf("%.1f,%.1f", x_of(memory[key]), y_of(said[key, at])) (begun ? "" : " h0.1")
            begun = 1
        } else begun = 0
    }
    if (path != "")
        printf "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\" stroke-linejoin=\"round\" stroke-linecap=\"round\" stroke-opacity=\"0.75\"/>\n",
            substr(path, 2), colour[colour_of[buffers]]
}

function point(x, y, c) {
    printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\" fill=\"#fff\" stroke=\"%s\" stroke-width=\"2\"/>\n", x, y, c
}

function panel(    i, j, v, step, key) {
    text(left, top - 12, "start", "panel", w)
    step = step_of(high_y[w], 5)
    for (v = 0; v <= high_y[w]; v += step) {
        line(left, y_of(v), left + width, y_of(v), "stroke=\"#e4e4e4\"")
        text(left - 8, y_of(v) + 4.5, "end", "tick", v)
    }
    for (v = 100 * int(low_x / 100 + 0.999); v <= high_x; v += 100) {
        line(x_of(v), top + height, x_of(v), top + height + 5, "stroke=\"#888\"")
        text(x_of(v), top + height + 19, "middle", "tick", v)
    }
    axes()
    for (i = 1; i <= sizes; i++)
        for (j = 1; j <= places[w]; j++) draw_line(size[i], place[w, j])
    for (i = 1; i <= sizes; i++)
        for (j = 1; j <= shares[w, size[i]]; j++) {
            key = w SUBSEP size[i] SUBSEP share[w, size[i], j]
            if (waits[key] != "") point(x_of(memory[key]), y_of(waits[key]), colour[i])
        }
}

END {
    split("#0072B2 #D55E00 #009E73 #CC79A7", colour, " ")
    width = 380; height = 170
    low_x -= 20; high_x += 20
    left = 70
    rows = int((workloads + 1) / 2)
    svg_begin(960, 132 + rows * 252, "Reads that wait for the disk, against memory (PostgreSQL " server ")")
    text(left, 54, "start", "key", "Across: shared_buffers and page cache, MB.  Up: reads a second that wait.")
    text(left, 76, "start", "key", "Points are measured.  Lines were predicted at " names ".")
    text(left, 98, "start", "key", "shared_buffers:")
    for (i = 1; i <= sizes; i++) {
        x = left + 40 + i * 90
        line(x, 93, x + 24, 93, "stroke=\"" colour[i] "\" stroke-width=\"2\"")
        point(x + 12, 93, colour[i])
        text(x + 30, 98, "start", "key", size[i] " MB")
    }
    for (k = 1; k <= workloads; k++) {
        w = order[k]
        high_y[w] = high_y[w] > 0 ? 1.05 * high_y[w] : 1
        left = k % 2 ? 70 : 550
        top = 152 + int((k - 1) / 2) * 252
        panel()
    }
    print "</svg>"
}

# monitoring/lib.sh - Debian's prometheus-sql-exporter and Prometheus on free ports of the
# loopback interface, with the configuration that is shipped here.  To be sourced, by bash.
#
#   set -euo pipefail
#   . monitoring/lib.sh
#   need_programs PACKAGE...                            says which are missing; 1 if any is
#   begin_monitoring DIR                                files go to DIR, which exists; at exit all is stopped
#   start_exporter HOST PORT DATABASE USER INTERVAL [FILE...]
#                             HOST may be the directory of a socket; the queries are run every INTERVAL;
#                             FILEs: of monitoring/prometheus-sql-exporter, default working_set.yml alone
#   start_prometheus INTERVAL [RULES...]                RULES: default all of monitoring/prometheus/*.rules.yml
#                                                       and *.alerts.yml
#   promql EXPRESSION                                   a line for each series: labels, tab, value
#   promql_range EXPRESSION START END STEP              the same with a column of times
#   wait_for SECONDS WHAT COMMAND...                    until the command succeeds and prints something
#   stop_monitoring                                     what the trap does, too
#   hold_monitoring                                     print the ports, wait until stdin is closed
#
# Afterwards $exporter_url and $prometheus_url say where they are.  Do not call the functions
# that start something in a subshell: what they start ends with the shell that started it.
# A caller with an EXIT trap of his own, set after begin_monitoring, calls stop_monitoring in it.

monitoring_top=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
monitoring_dir=
monitoring_pids=()
exporter_url=
prometheus_url=
sample_job=working_set_debian    # the job of the sample configuration that is used
sample_targets=                  # static_configs of it, in YAML, in place of the one exporter

need_programs() {
    local program missing=()
    for program in "$@"; do
        command -v "$program" >/dev/null || missing+=("$program")
    done
    [ ${#missing[@]} -eq 0 ] && return
    echo "missing (by Debian's package names): ${missing[*]}" >&2
    return 1
}

begin_monitoring() {
    monitoring_dir=$(cd "$1" && pwd -P)
    trap stop_monitoring EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
}

stop_monitoring() {
    local pid tries
    for pid in ${monitoring_pids[@]+"${monitoring_pids[@]}"}; do
        kill -TERM "$pid" 2>/dev/null || continue
        # a stopped or stuck one must not outlive us
        for tries in {1..100}; do
            kill -0 "$pid" 2>/dev/null || break
            sleep 0.1
        done
        [ "$tries" -lt 100 ] || kill -KILL "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    monitoring_pids=()
}

hold_monitoring() {
    printf 'exporter %s\nprometheus %s\n' "$exporter_url" "$prometheus_url"
    while read -r _; do :; done
}

free_port() {
    perl -MIO::Socket::INET -e '
        my $socket = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => 0, Listen => 1) or die "no free port: $!\n";
        print $socket->sockport, "\n"'
}

# http_get URL: the body; fails if it is not there
http_get() {
    perl -MHTTP::Tiny -e '
        my $answer = HTTP::Tiny->new(timeout => 10)->get($ARGV[0]);
        die "$ARGV[0]: $answer->{status} $answer->{content}\n" unless $answer->{success};
        print $answer->{content}' "$1"
}

wait_for() {
    local deadline=$((SECONDS + $1)) what=$2 found
    shift 2
    while true; do
        if found=$("$@" 2>/dev/null) && [ -n "$found" ]; then return; fi
        [ "$SECONDS" -lt "$deadline" ] || break
        sleep 0.2
    done
    echo "waited in vain for $what" >&2
    return 1
}

# run_on_port NAME READY COMMAND...: start it with PORT replaced by a free port, and wait
# until READY, a path, is there.  Sets monitoring_port.  Who else takes the port between our
# looking and its start makes it exit, so there is a second try.
run_on_port() {
    local name=$1 ready=$2 log=$monitoring_dir/$1.log i pid guard=()
    shift 2
    # it shall end even if this shell is killed
    if setpriv --pdeathsig TERM true 2>/dev/null; then guard=(setpriv --pdeathsig TERM); fi
    for _ in 1 2 3; do
        monitoring_port=$(free_port)
        ${guard[@]+"${guard[@]}"} "${@//PORT/$monitoring_port}" >"$log" 2>&1 </dev/null &
        pid=$!
        monitoring_pids+=("$pid")
        # two minutes, for a machine that does other things, too
        for ((i = 0; i < 1200; i++)); do
            kill -0 "$pid" 2>/dev/null || break
            if http_get "http://127.0.0.1:$monitoring_port$ready" >/dev/null 2>&1; then
                return
            fi
            sleep 0.1
        done
    done
    echo "$name does not start:" >&2
    tail -n 20 "$log" >&2
    return 1
}

start_exporter() {
    local host=$1 port=$2 database=$3 user=$4 interval=$5 dsn
    shift 5
    [ $# -gt 0 ] || set -- "$monitoring_top/prometheus-sql-exporter/working_set.yml"
    case $host in
        /*) dsn="postgres://$user@/$database?host=$host&port=$port&sslmode=disable" ;;
        *)  dsn="postgres://$user@$host:$port/$database?sslmode=disable" ;;
    esac
    # as the files say: opt-in jobs are appended, and the URL is in the environment
    cat -- "$@" | sed "s/^\( *interval:\).*/\1 $interval/" >"$monitoring_dir/exporter.yml"
    WORKING_SET_URL=$dsn run_on_port prometheus-sql-exporter /metrics prometheus-sql-exporter \
        -config.file "$monitoring_dir/exporter.yml" -web.listen-address 127.0.0.1:PORT
    exporter_url=http://127.0.0.1:$monitoring_port/metrics
}

# prometheus_configuration INTERVAL EXPORTER: the sample, with the one job whose exporter is here
prometheus_configuration() {
    INTERVAL=$1 EXPORTER=$2 TARGETS=$sample_targets RULES=$monitoring_dir/rules SAMPLE=$sample_job perl -0777 -pe '
        # the jobs are the items at this depth, up to the next one or a line that begins at the margin
        s{^  - job_name:.*\n(?:(?:    .*|[ \t]*|  #.*)\n)*}{my $job = $&; $job =~ /^  - job_name: $ENV{SAMPLE}\n/ ? $job : ""}gme;
        s/^(\s*(?:scrape|evaluation)_interval:\s*).*/$1$ENV{INTERVAL}/gm;
        s/^(\s*scrape_timeout:\s*).*/$1$ENV{INTERVAL}/gm;
        s/^(\s*- )targets:.*/$1targets: ["$ENV{EXPORTER}"]/gm;
        s/^    static_configs:\n\K(?:      .*\n)*/$ENV{TARGETS}/m if length $ENV{TARGETS};
        s/^rule_files:\n(?:\s+.*\n)*/rule_files: ["$ENV{RULES}\/*.yml"]\n/m' \
        "$monitoring_top/prometheus/prometheus.yml"
}

start_prometheus() {
    local interval=$1 exporter=${exporter_url#http://} rules
    shift
    rules=("$@")
    [ $# -gt 0 ] || rules=("$monitoring_top"/prometheus/*.rules.yml "$monitoring_top"/prometheus/*.alerts.yml)
    mkdir -p "$monitoring_dir/rules"
    cp -- "${rules[@]}" "$monitoring_dir/rules/"
    prometheus_configuration "$interval" "${exporter%/metrics}" >"$monitoring_dir/prometheus.yml"
    run_on_port prometheus /-/ready prometheus --config.file="$monitoring_dir/prometheus.yml" \
        --storage.tsdb.path="$monitoring_dir/tsdb" --web.listen-address=127.0.0.1:PORT --log.level=warn
    prometheus_url=http://127.0.0.1:$monitoring_port
}

# prometheus_api PATH [NAME VALUE]...: what it answers, as lines: labels, tab, [time, tab,] value
prometheus_api() {
    perl -MHTTP::Tiny -MJSON::PP -e '
        my ($url, @form) = @ARGV;
        my $answer = HTTP::Tiny->new(timeout => 60)->post_form($url, \@form);
        my $told = eval { decode_json($answer->{content}) };
        die "$url: ", $told ? $told->{error} : "$answer->{status} $answer->{content}", "\n"
          unless $told && $told->{status} eq "success";
        die "$url: $_\n" for @{ $told->{warnings} || [] };
        binmode STDOUT, ":utf8";
        my @lines;
        for my $series (@{ $told->{data}{result} }) {
            my %label = %{ $series->{metric} };
            my $name = delete $label{__name__} // "";
            my $labels = join ", ", map { my $value = $label{$_}; $value =~ s/(["\\])/\\$1/g; "$_=\"$value\"" } sort keys %label;
            $name .= "{$labels}" if length $labels;
            push @lines, $series->{values}
              ? [ $name, map { "$_->[0]\t$_->[1]" } @{ $series->{values} } ] : [ $name, $series->{value}[1] ];
        }
        for my $line (sort { $a->[0] cmp $b->[0] } @lines) {
            my ($name, @rest) = @$line;
            print "$name\t$_\n" for @rest;
        }' "$prometheus_url/api/v1/$1" "${@:2}"
}

promql() { prometheus_api query query "$1"; }
promql_range() { prometheus_api query_range query "$1" start "$2" end "$3" step "$4"; }

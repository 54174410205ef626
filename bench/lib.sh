# bench/lib.sh - what the scripts here share: a private server, and a line that says
# on what machine a figure was measured.  To be sourced, inside the sandbox.

set -euo pipefail

if [ -z "${WS_SANDBOX:-}" ]; then
    echo "run it as: test/sandbox ${0#./}" >&2
    exit 2
fi

data=$WS_SANDBOX/data
export PGHOST=$WS_SANDBOX PGPORT=5432 PGUSER=postgres PGDATABASE=postgres PGOPTIONS=

# Print what the figures below were measured on.
print_machine() {
    local cpu
    cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
    printf 'Machine:  %s, %s processors, %s GB of memory, Linux %s %s\n' \
        "${cpu:-unknown processor}" "$(nproc)" \
        "$(awk '/^MemTotal/ {print int($2 / 1048576 + 0.5)}' /proc/meminfo)" \
        "$(uname -r)" "$(uname -m)"
    printf 'Server:   %s\n' "$(postgres --version)"
}

# new_cluster [SETTING...]: make a cluster that preloads the extension.
new_cluster() {
    local setting
    rm -rf "$data"
    initdb -A trust -N -U "$PGUSER" -E UTF8 --locale=C --no-instructions -D "$data" >"$TMPDIR/initdb.log" 2>&1 ||
        { cat "$TMPDIR/initdb.log" >&2; return 1; }
    {
        echo "shared_preload_libraries = 'working_set'"
        echo "listen_addresses = ''"
        echo "unix_socket_directories = '$PGHOST'"
        echo "fsync = off"
        echo "max_wal_size = '4GB'"
        for setting in "$@"; do echo "$setting"; done
    } >>"$data/postgresql.conf"
}

# Start it, with nothing known of the time before: what is used is counted from here on.
start_server() {
    rm -f "$data/pg_stat/working_set.saved"
    pg_ctl -s -w -D "$data" -l "$WS_SANDBOX/server.log" start >"$TMPDIR/start.log" 2>&1 ||
        { cat "$TMPDIR/start.log" "$WS_SANDBOX/server.log" >&2; return 1; }
}

stop_server() {
    pg_ctl -s -w -D "$data" -m fast stop
}

# Run SQL, values only.
sql() {
    psql -XAtq -v ON_ERROR_STOP=1 -c "$1"
}

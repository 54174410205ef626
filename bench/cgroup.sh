# bench/cgroup.sh - a control group with a memory limit for a bench's server.
# To be sourced, before bench/lib.sh.
#
# shellcheck shell=bash
#
# Making such a group takes root, and the sandbox runs its command as another user.  So
# the script is started by root and as it is, `bench/NAME', and in_cgroup makes the
# group, starts the script again in the sandbox, and removes the group when that ends.
# There, in_cgroup returns at once, and `inside COMMAND' runs a command, or a function,
# in the group.  Only what is run so is limited: the server, but no client.
#
# The right to join goes with the group's cgroup.procs, opened here as descriptor 9, and
# the right to change the limit with its file, descriptor 7: what counts is who opened
# them.  So nothing is given to the other user but that.
#
# Version 1 and version 2 of control groups will do.  Where there are none, or they cannot
# be changed, as in most containers, in_cgroup prints a line and exits with success.

# in_cgroup MB [--installed] SCRIPT [ARGUMENT...]: the option is test/sandbox's.
in_cgroup() {
    local mb=$1 option=() status=0
    shift
    if [ "$1" = --installed ]; then option=("$1"); shift; fi
    if [ -n "${WS_CGROUP:-}" ]; then
        # kernels before 5.16 may look at who writes, not at who opened
        inside true 2>/dev/null || cgroup_skip "$1" "the sandbox's user may not join the control group"
        return 0
    fi
    [ -z "${WS_SANDBOX:-}" ] || cgroup_skip "$1" "the sandbox's user cannot make a control group; run it by itself, as root"
    cgroup_find || cgroup_skip "$1" "no control groups for memory here"
    cgroup=$(mktemp -d "$cgroup_parent/working_set.XXXXXX" 2>/dev/null) ||
        cgroup_skip "$1" "cannot make a control group below $cgroup_parent (that takes root)"
    trap cgroup_remove EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
    # mktemp's directory is its user's only
    chmod 755 "$cgroup"
    if ! cgroup_limit "$mb" || ! (echo "$BASHPID" >"$cgroup/cgroup.procs") 2>/dev/null; then
        cgroup_skip "$1" "cannot limit a control group's memory, or join it, below $cgroup_parent"
    fi
    WS_CGROUP=$cgroup "$(dirname "$1")/../test/sandbox" ${option[@]+"${option[@]}"} \
        "bench/$(basename "$1")" "${@:2}" 7>"$(cgroup_file max limit_in_bytes)" 9>"$cgroup/cgroup.procs" || status=$?
    exit "$status"
}

# inside COMMAND [ARGUMENT...]: run it in the group; also the server that it starts.
inside() (
    echo "$BASHPID" >&9 || { echo "cannot join the control group" >&2; exit 1; }
    exec 7>&- 8>&- 9>&-
    "$@"
)

# Bytes that the group may use.
cgroup_max() { cat "$(cgroup_file max limit_in_bytes)"; }

# cgroup_change BYTES: another limit.  A lower one makes the kernel take memory back, of
# the page cache first.  Version 1 refuses if that does not succeed soon: then in steps,
# as low as it gets.  (Version 2 does not refuse, and ends processes.)
cgroup_change() {
    local from step
    if cgroup_write "$1"; then return 0; fi
    from=$(cgroup_max)
    for step in 1 2 3 4 5 6 7 8; do
        cgroup_write $((from + ($1 - from) * step / 8)) || return 0
    done
}

# Bytes of the group: anonymous memory|shared memory|page cache of files|all other, which
# is the kernel's.
cgroup_usage() {
    local all
    # first, or else the rest may be more than all
    all=$(cat "$(cgroup_file current usage_in_bytes)")
    # shared memory is in both versions' count of the page cache
    awk -v all="$all" '
        $1 == "anon" || $1 == "rss" { anon = $2 }
        $1 == "shmem"               { shared = $2 }
        $1 == "file" || $1 == "cache" { cache = $2 }
        END {
            other = all - anon - cache
            printf "%d|%d|%d|%d\n", anon, shared, cache - shared, (other > 0 ? other : 0)
        }' "$WS_CGROUP/memory.stat"
}

# ---------------------------------------------------------------- for the above

cgroup_skip() {
    echo "bench/$(basename "$1"): skipped: $2"
    exit 0
}

cgroup_write() { { echo "$1" >&7; } 2>/dev/null; }

# A file of the group by its name in version 2, or else in version 1.
cgroup_file() {
    if [ -e "${WS_CGROUP:-$cgroup}/memory.$1" ]; then
        echo "${WS_CGROUP:-$cgroup}/memory.$1"
    else
        echo "${WS_CGROUP:-$cgroup}/memory.$2"
    fi
}

# cgroup_mount TYPE [CONTROLLER]: where that is mounted, and of what it shows the part
# that we are in: "MOUNT_POINT PATH".
cgroup_mount() {
    awk -v type="$1" -v controller="${2:-}" '
        FNR == NR {
            split($0, part, ":")
            own_path = $0
            sub(/^[^:]*:[^:]*:/, "", own_path)
            if (index("," part[2] ",", "," controller ",")) own = own_path
            next
        }
        {
            for (i = 7; $i != "-"; i++) ;
            if ($(i + 1) != type || !index("," $(i + 3) ",", controller == "" ? "," : "," controller ",")) next
            # a container may see its own part of the tree as the root, or not
            if ($4 != "/" && index(own "/", $4 "/") == 1) own = substr(own, length($4) + 1)
            if (own == "/" || own ~ /^\/\.\./) own = ""
            print $5, own
            exit
        }' /proc/self/cgroup /proc/self/mountinfo
}

# Set cgroup_parent: below which a group with a limit can be made.
cgroup_find() {
    local mount path
    read -r mount path <<<"$(cgroup_mount cgroup memory)"
    if [ -n "$mount" ]; then
        cgroup_parent=$mount$path
        [ -d "$cgroup_parent" ] || cgroup_parent=$mount
        return 0
    fi
    # Version 2: the nearest that hands memory out to those below it, which has no
    # process itself.
    read -r mount path <<<"$(cgroup_mount cgroup2)"
    [ -n "$mount" ] || return 1
    while :; do
        cgroup_parent=$mount$path
        if grep -qsw memory "$cgroup_parent/cgroup.subtree_control"; then return 0; fi
        [ -n "$path" ] || return 1
        path=${path%/*}
    done
}

# Limit it to so many MB, and no swap.
cgroup_limit() {
    { echo "$1M" >"$(cgroup_file max limit_in_bytes)"; } 2>/dev/null || return 1
    if [ -e "$cgroup/memory.swappiness" ]; then
        { echo 0 >"$cgroup/memory.swappiness"; } 2>/dev/null || true
    fi
    if [ -e "$cgroup/memory.swap.max" ]; then
        { echo 0 >"$cgroup/memory.swap.max"; } 2>/dev/null || true
    fi
}

# The sandbox has ended its servers, but they may take a moment to be gone.
cgroup_remove() {
    local status=$? tries
    trap '' HUP INT TERM
    for ((tries = 0; tries < 50; tries++)); do
        if rmdir "$cgroup" 2>/dev/null; then exit "$status"; fi
        sleep 0.1
    done
    echo "bench/cgroup.sh: cannot remove $cgroup" >&2
    exit "$status"
}

# shellcheck shell=bash
#
# test/lib.sh - what the scripts of this directory share: packages of this machine, counts of tests,
# directories that are ours alone, and roots made from Debian's packages.  The scripts that make roots have set $scratch, a directory.
#
# shellcheck disable=SC2154

umask 022       # what we make and run later, nobody else may change meanwhile

# ---------------------------------------------------------------- packages of this machine

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        echo "installing packages needs root, or sudo" >&2
        return 1
    fi
}

# apt_alone COMMAND...: as root, one of ours at a time, since apt does not wait for the lock on its lists.
apt_alone() {
    as_root flock /var/lib/apt/lists env LC_ALL=C DEBIAN_FRONTEND=noninteractive "$@"
}

# Once a process.  Others than us may have the lock, too.
apt_update() {
    local out tries
    [ -z "${apt_is_updated:-}" ] || return 0
    for tries in {1..60}; do
        if out=$(apt_alone apt-get -q update 2>&1); then
            apt_is_updated=yes
            return 0
        fi
        [[ $out == *"Could not get lock"* ]] || break
        sleep 5     # between two tries
    done
    printf '%s\n' "$out" "(gave up after $tries tries)" >&2
    return 1
}

# apt_install PACKAGE...: a new server package would make a database cluster and start it.  That is
# forbidden for as long as this lasts, and no setting is left behind.
apt_install() {
    apt_update || return
    # shellcheck disable=SC2016
    apt_alone sh -c '
        setting=/etc/postgresql-common/createcluster.d/zz-working_set-sandbox.conf
        trap "rm -f $setting" EXIT
        trap "exit 1" HUP INT TERM
        mkdir -p "${setting%/*}" && echo "create_main_cluster = false" >"$setting" &&
            apt-get -q -y -o DPkg::Lock::Timeout=600 --no-install-recommends install "$@"' - "$@"
}

# apt_install_missing PROGRAM:PACKAGE...: those whose program is not there.  What cannot be had is
# missed later, with a message.
apt_install_missing() {
    local wanted missing=() out
    for wanted; do
        command -v "${wanted%:*}" >/dev/null || [ -e "${wanted%:*}" ] || missing+=("${wanted#*:}")
    done
    if [ ${#missing[@]} -eq 0 ] || ! command -v apt-get >/dev/null; then return 0; fi
    echo "installing ${missing[*]}" >&2
    if ! out=$(apt_install "${missing[@]}" 2>&1 </dev/null); then
        printf '%s\n' "$out" 'going on without these packages' >&2
    fi
}

# ---------------------------------------------------------------- counts

# counts_of FILE STATUS: `PASSED FAILED SKIPPED' of the last line of counts in FILE, where a command
# that ended with STATUS wrote it.  Without such a line, or with a status that the counts do not
# explain, something failed.
counts_of() {
    local counts
    read -r -a counts < <(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed\(, \([0-9]*\) skipped\)*$/\1 \2 \4/p' "$1" |
        tail -n 1) || true
    if [ ${#counts[@]} -lt 2 ]; then counts=(0 1); fi
    if [ "$2" -ne 0 ] && [ "${counts[1]}" -eq 0 ]; then counts[1]=1; fi
    echo "${counts[0]} ${counts[1]} ${counts[2]:-0}"
}

# ---------------------------------------------------------------- users, and what is theirs

# Who runs what is tested.  PostgreSQL refuses to run as root.
tester() {
    if [ "$(id -u)" -ne 0 ]; then
        id -un
    elif id postgres >/dev/null 2>&1; then
        echo postgres
    else
        echo nobody
    fi
}

# own_directory VARIABLE DIRECTORY: print its path without links, after making it if need be; or say
# why it cannot be trusted, and that VARIABLE names another.  What is kept there is run later, so nobody
# but root and we may have put it there.  The directory and all above it have to be root's or ours,
# and writable for no others, except sticky ones above it, like /tmp: there others cannot replace
# what is ours.  From the top, so that what has been looked at cannot change any more.
own_directory() {
    local dir rest at='' part owner mode user kind made name why='' advice
    dir=$(realpath -m -s -- "$2")
    rest=$dir/
    while [ -n "$rest" ] && [ -z "$why" ]; do
        at+=${rest%%/*}/
        rest=${rest#*/}
        part=${at%/}
        part=${part:-/}
        name=$part
        [ -n "$rest" ] || name=it
        made=$(mkdir -m 755 -- "$part" 2>&1) || true
        IFS='|' read -r owner mode user kind < <(LC_ALL=C stat -c '%u|%a|%U|%F' -- "$part" 2>/dev/null) || true
        if [ -z "$owner" ]; then
            why="$name cannot be made: ${made##*: }"
        elif [ "$kind" != directory ] && ! { [ "$kind" = 'symbolic link' ] && [ -n "$rest" ] && [ -d "$part" ]; }; then
            why="$name is a $kind"
        elif [ "$owner" -ne 0 ] && [ "$owner" -ne "$(id -u)" ]; then
            why="$name belongs to $user"
        elif [ "$kind" != directory ]; then
            # once more, with what the link leads to
            dir=$(realpath -m -s -- "$(realpath -- "$part")/$rest")
            rest=$dir/
            at=''
        elif ((0$mode & 022)) && ! ((0$mode & 01000 && ${#rest})); then
            why="others may write to $name"
        fi
    done
    if [ -n "$why" ]; then
        advice="set $1 to a directory that only you and root can change"
        if [ "$name" = it ] && [ -n "$owner" ]; then advice="remove it, or $advice"; fi
        echo "$dir is not used: $why; $advice" >&2
        return 1
    fi
    printf '%s\n' "$dir"
}

# ---------------------------------------------------------------- roots

chroots=        # the directory that they are in
why=            # the reason for not having a root

# Before the first have_root
use_chroots() {
    chroots=$(own_directory WS_CHROOTS "${WS_CHROOTS:-/var/tmp/working_set-chroots}")
}

# have_root NAME COMMAND...: make $chroots/NAME if need be, by the command, which is given
# Debian's mirror as its last argument, and calls make_root.  If that cannot be, say why in $why.
have_root() {
    why=
    if [ "$(id -u)" -ne 0 ]; then
        why='a chroot needs root'
    elif ! unshare --mount --pid --fork true 2>/dev/null; then
        why='this machine allows no chroot with mounts of its own'
    elif [ -d "$chroots/$1" ]; then
        return 0
    else
        # somebody else may just be making it; and apt's lists are for one at a time
        exec 9<"$chroots"
        flock 9
        [ -d "$chroots/$1" ] || try_to_make_root "$@"
        exec 9>&-
    fi
    [ -z "$why" ]
}

# try_to_make_root NAME COMMAND...
try_to_make_root() {
    local mirror
    if ! mirror=$(debian_mirror || { apt_update >&2; debian_mirror; }); then
        why='there is no Debian mirror among the apt sources'
    elif ! command -v mmdebstrap >/dev/null &&
        ! apt_install mmdebstrap debian-archive-keyring >"$scratch/apt" 2>&1 </dev/null; then
        why="mmdebstrap cannot be installed: $(last_error "$scratch/apt")"
    else
        echo "making $chroots/$1"
        "${@:2}" "$mirror" >"$scratch/apt" 2>&1 </dev/null ||
            why="its packages cannot be had: $(last_error "$scratch/apt")"
    fi
}

# last_error FILE: apt's own words, without hosts.
last_error() {
    sed 's,[a-z]*://[^ ]*/,,g' "$1" | grep -m 1 -E '^E: ' || tail -n 1 "$1"
}

# debian_mirror [LABEL]: where apt gets the main component of the distribution from.
debian_mirror() {
    local mirror
    # shellcheck disable=SC2016
    mirror=$(apt-get indextargets --format '$(REPO_URI)' \
        'Created-By: Packages' 'Origin: Debian' "Label: ${1:-Debian}" 'Component: main' |
        grep -E '^(https?|file):') && echo "${mirror%%$'\n'*}"
}

# make_root NAME MIRROR SUITES ETC OPTION...: a root with packages of these suites, the base
# first, that finds the files of ETC in its /etc, where no cluster is to be made.
make_root() {
    local new=$chroots/.$1.new name=$1 mirror=$2 etc=$4 suites suite
    read -r -a suites <<<"$3"
    shift 4
    mkdir -p "$etc/postgresql-common/createcluster.d"
    echo 'create_main_cluster = false' >"$etc/postgresql-common/createcluster.d/none.conf"
    for suite in "${suites[@]}"; do
        echo "deb $mirror $suite main"
    done >"$scratch/chroot.list"

    # This machine's proxy, if it has one, and its mind about old indexes.
    apt-config dump --no-empty |
        grep -E '^Acquire::(https?::|Check-)' >"$scratch/apt.conf" || true

    # Left out: LLVM's static libraries, half of the size.
    rm -rf --one-file-system "$new"
    mmdebstrap --mode=root --variant=minbase --format=directory \
        --architectures="$(dpkg --print-architecture)" \
        --aptopt="$scratch/apt.conf" \
        --dpkgopt=force-unsafe-io \
        --dpkgopt='path-exclude=/usr/lib/llvm-*/lib/*.a' \
        --setup-hook="copy-in $etc /" \
        "$@" "${suites[0]}" "$new" "$scratch/chroot.list" &&
        "$new/bin/true" && mv "$new" "$chroots/$name" && return
    rm -rf --one-file-system "$new"
    return 1
}

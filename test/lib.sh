# shellcheck shell=bash
#
# test/lib.sh - roots made from Debian's packages, for test/versions and test/packages, which
# source this.  They have set $scratch, a directory.
#
# shellcheck disable=SC2154

chroots=${WS_CHROOTS:-/var/tmp/working_set-chroots}
why=            # the reason for not having a root

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
        mkdir -p "$chroots"
        exec 9>"$chroots/.lock"
        flock 9
        [ -d "$chroots/$1" ] || try_to_make_root "$@"
        exec 9>&-
    fi
    [ -z "$why" ]
}

# try_to_make_root NAME COMMAND...
try_to_make_root() {
    local mirror
    if ! mirror=$(debian_mirror || { apt-get -q update >/dev/null 2>&1; debian_mirror; }); then
        why='there is no Debian mirror among the apt sources'
    elif ! install_mmdebstrap >"$scratch/apt" 2>&1; then
        why="mmdebstrap cannot be installed: $(last_error "$scratch/apt")"
    else
        echo "making $chroots/$1"
        "${@:2}" "$mirror" >"$scratch/apt" 2>&1 </dev/null ||
            why="its packages cannot be had: $(last_error "$scratch/apt")"
    fi
}

last_error() {
    grep -m 1 -E '^E: ' "$1" || tail -n 1 "$1"
}

# Where apt gets the distribution's own main component from.
debian_mirror() {
    local mirror
    # shellcheck disable=SC2016
    mirror=$(apt-get indextargets --format '$(REPO_URI)' \
        'Created-By: Packages' 'Origin: Debian' 'Label: Debian' 'Component: main' |
        grep -E '^(https?|file):') && echo "${mirror%%$'\n'*}"
}

install_mmdebstrap() {
    command -v mmdebstrap && return
    apt-get update &&
        DEBIAN_FRONTEND=noninteractive apt-get -y -o DPkg::Lock::Timeout=600 \
            --no-install-recommends install mmdebstrap debian-archive-keyring
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

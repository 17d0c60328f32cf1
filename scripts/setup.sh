#!/usr/bin/env bash
# Installs what building and testing need, fetches the crates, makes the image of the virtual lab. The only script that uses
# the network.
# Safe to run again: what is there already is left alone.
set -euo pipefail
cd "$(dirname "$0")/.."

# A C compiler for SQLite, which is built from source.
build_packages=(gcc libc6-dev make)
# Tools that the tests hold our own code against, and file systems for them to make. `xtask` holds this list against the programs
# that tests start.
test_packages=(util-linux mount udev systemd procps iproute2 e2fsprogs xfsprogs btrfs-progs dosfstools ntfs-3g perl lvm2 dmsetup fdisk gdisk
    nilfs-tools f2fs-tools udftools hfsutils reiserfsprogs reiser4progs bcache-tools exfatprogs jfsutils squashfs-tools
    erofs-utils genromfs mtd-utils makefs gfs2-utils ocfs2-tools apfsprogs genisoimage parted qemu-utils thin-provisioning-tools
    cryptsetup-bin chromium fio sysbench postgresql nginx-light wrk openssh-client dropbear-bin curl snmp snmpd
    prometheus snmptrapd)

if ! command -v cargo >/dev/null || ! rustc --version | awk '{split($2, v, "."); exit !(v[1] > 1 || v[2] >= 95)}'; then
    echo "setup: Rust 1.95 or newer is needed. Install it with (\`apt-get install curl\` if there is no curl):" >&2
    echo "    curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --default-toolchain stable && . ~/.cargo/env" >&2
    echo "setup: then give the same command again." >&2
    exit 4
fi

# What `make test` begins with; small toolchains lack them.
for part in fmt clippy; do
    if [ "${1:-all}" = all ] && ! cargo "$part" --version >/dev/null 2>&1; then
        component=${part/fmt/rustfmt}
        echo "setup: installing the component $component of Rust"
        rustup component add "$component"
    fi
done

# What the virtual lab starts, and what gives its drives their latency; its guests are made of packages that are never installed.
lab_packages=(qemu-system-x86 nbdkit libvirt-daemon libvirt-daemon-system libvirt-clients)

# What `make dist` builds and packs with, and what its test makes bare roots of Debian and executes other machines' programs with.
dist_packages=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross rpm umoci jq mmdebstrap debian-archive-keyring qemu-user-static)

# A Ceph of this machine, for `make cluster` alone: half a minute to install, and no other test needs it.
cluster_packages=(ceph-mon ceph-mgr ceph-osd ceph-mds ceph-fuse ceph-common)

wanted="${1:-all}"
packages=("${build_packages[@]}")
case "$wanted" in
build) ;;
web) packages=(chromium) ;;
lab) packages+=("${lab_packages[@]}") ;;
dist) packages+=("${dist_packages[@]}") ;;
cluster) packages+=("${cluster_packages[@]}" procps) ;;
*) packages+=("${test_packages[@]}" "${lab_packages[@]}") ;;
esac
# Node, to rebuild and try the console, is for its changes and for the tests. Building Stend needs none.
with_web=false
if [[ "$wanted" =~ ^(all|web)$ ]]; then with_web=true; fi
if $with_web && ! command -v npm >/dev/null; then packages+=(nodejs npm); fi
# With the features of the whole workspace, as in `scripts/test.sh`: what is built here is not built again there.
compile() {
    cargo fetch --locked --quiet
    ! $with_lab || cargo build --workspace --bin stend --locked --offline --quiet
}
with_lab=false
if [[ "$wanted" =~ ^(all|lab)$ ]] && [ "$(uname -m)" = x86_64 ]; then with_lab=true; fi
# Where the compiler of C is there, crates are compiled while packages are installed, which mostly waits; in a group of its own, so that it
# ends with this script.
compiling=
if command -v cc >/dev/null; then
    set -m
    compile &
    compiling=$!
    set +m
    trap '[ -z "$compiling" ] || kill -- "-$compiling" 2>/dev/null || true' EXIT
fi
sudo=""
[ "$(id -u)" = 0 ] || sudo=sudo
# It fails where it does not know one of them, and tells the others nevertheless.
installed=$(dpkg-query -W -f '${Package} ${Status}\n' "${packages[@]}" 2>/dev/null || true)
missing=()
for package in "${packages[@]}"; do
    grep -q -x "$package install ok installed" <<<"$installed" || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
    echo "setup: installing ${missing[*]}"
    $sudo apt-get update -qq
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi
if [ "$wanted" = dist ] && [ ! -d "$(rustc --print sysroot)/lib/rustlib/aarch64-unknown-linux-gnu" ]; then
    echo "setup: installing Rust's library for aarch64"
    rustup target add aarch64-unknown-linux-gnu
fi
if $with_web && [ ! web/node_modules/.package-lock.json -nt web/package-lock.json ]; then
    echo "setup: installing the packages of web/"
    scripts/node.sh npm ci --prefix web --prefer-offline --no-audit --no-fund --silent
fi
# What failed may have lacked a package.
if [ -z "$compiling" ] || ! wait "$compiling"; then compile; fi
compiling=
if $with_lab; then
    "${CARGO_TARGET_DIR:-target}/debug/stend" lab build --lang en &
    # The image waits for the network most of the time: the tests are compiled meanwhile.
    [ "$wanted" = lab ] || cargo test --workspace --locked --offline --quiet --test e2e --no-run
    wait $!
fi
echo "setup: ready"

#!/usr/bin/env bash
# Installs what `make dist` made into bare roots of Debian 12 and 13 and runs it there; architectures of other machines under qemu-user.
# Needs root, and the network the first time: roots are kept in target/dist-roots. MIRROR names another archive than that of apt.
# Everything is mounted in a namespace of its own, and goes with it.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "${STEND_DIST_TEST:-}" != inside ]; then
    exec env STEND_DIST_TEST=inside unshare --mount --propagation private -- bash "scripts/$(basename "$0")" "$@"
fi

dist=target/dist
roots=target/dist-roots
here=$(uname -m)
mkdir -p "$roots"
export LC_ALL=C.UTF-8
version=$(cargo pkgid --offline --locked -p stend | sed 's/.*[#@]//')
work=$(mktemp -d /var/tmp/stend-dist-XXXXXX)
emulation=/proc/sys/fs/binfmt_misc/stend-dist
clean() {
    { findmnt -rno TARGET | grep "^$work/" | sort -r || true; } | xargs -r umount
    [ ! -e "$emulation" ] || echo -1 >"$emulation"
    rm -rf --one-file-system "$work"
}
trap clean EXIT
trap 'exit 130' INT TERM

mirror="${MIRROR:-$(apt-get indextargets --format '$(ORIGIN) $(REPO_URI)' 'Created-By: Packages' | awk '$1 == "Debian" {print $2; exit}')}"
if [ -z "$mirror" ]; then
    echo "dist-test: apt of this machine names no archive of Debian; name one: MIRROR=http://… make dist-test" >&2
    exit 4
fi

# Programs for another machine are executed by an emulator, in every root: the kernel keeps it open (F).
emulate() {
    [ "$1" != "$here" ] && [ ! -e "$emulation" ] || return 0
    mountpoint -q /proc/sys/fs/binfmt_misc || mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
    [ ! -e "/proc/sys/fs/binfmt_misc/qemu-$1" ] || return 0
    sed "s/^:qemu-$1:/:stend-dist:/" "/usr/lib/binfmt.d/qemu-$1.conf" >/proc/sys/fs/binfmt_misc/register
}

# A bare root: directory, release, architecture.
unpack() {
    local name="$2-$3" kept="$roots/$2-$3.tar"
    if [ ! -e "$kept" ]; then
        echo "dist-test: fetching $name" >&2
        mmdebstrap --quiet --mode=root --variant=minbase --architectures="$(debian "$3")" --skip=check/qemu \
            --keyring=/usr/share/keyrings/debian-archive-keyring.gpg "$2" "$kept.new.tar" "$mirror" && mv "$kept.new.tar" "$kept"
    fi
    mkdir "$1"
    tar -C "$1" --numeric-owner -xf "$kept"
    kernel_files "$1"
}

kernel_files() {
    mkdir -p "$1/proc" "$1/sys"
    mount -t proc proc "$1/proc"
    mount -t sysfs -o ro sysfs "$1/sys"
}

debian() {
    case "$1" in
    x86_64) echo amd64 ;;
    aarch64) echo arm64 ;;
    esac
}

in_root() { env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C chroot "$@"; }

# What must work wherever it is installed: root, architecture, program.
works() {
    local root="$1" stend="$3" doctor=0
    rm -f "$root"/var/tmp/small.*
    [ "$(in_root "$root" "$stend" --version)" = "stend $version" ] || return 1
    in_root "$root" "$stend" doctor >"$work/doctor" 2>&1 || doctor=$?
    # The checkup finds that an emulator would be measured, which knows neither io_uring nor AIO: the run takes plain calls.
    if [ "$2" = "$here" ]; then
        [ "$doctor" = 0 ] || { cat "$work/doctor" && return 1; }
    else
        grep -q "this binary is for $2" "$work/doctor" || { cat "$work/doctor" && return 1; }
    fi
    in_root "$root" "$stend" run --rw randread --bs 4k --qd 1 --time 1s --size 16M --on /var/tmp \
        --repeats 2 -o /var/tmp/small.stend --json >"$work/run" 2>"$work/told" || { cat "$work/told" && return 1; }
    jq -e '.state.state == "complete" and (.cases[0].trials == 2)' "$work/run" >/dev/null || { cat "$work/run" && return 1; }
    in_root "$root" "$stend" show /var/tmp/small.stend >/dev/null || return 1
    in_root "$root" "$stend" stands soft-raid/md-raid5 | cmp - stands/soft-raid/md-raid5.yaml || return 1
    in_root "$root" "$stend" audit nvme-soft-raid >/dev/null
}

from_tarball() {
    tar -C "$1/opt" -xf "$dist/stend-$version-$2-linux.tar.gz" || return 1
    works "$1" "$2" "/opt/stend-$version-$2-linux/stend"
}

from_deb() {
    cp "$dist/stend_${version}_$(debian "$2").deb" "$1/stend.deb" || return 1
    in_root "$1" dpkg -i /stend.deb >/dev/null || return 1
    works "$1" "$2" stend || return 1
    [ -e "$1/usr/share/bash-completion/completions/stend" ] && [ -e "$1/usr/share/man/ru/man1/stend-run.1.gz" ] || return 1
    in_root "$1" dpkg -r stend >/dev/null && [ ! -e "$1/usr/bin/stend" ]
}

from_rpm() {
    # By the rpm of this machine: bare roots of Debian have none.
    local rpm=(rpm --root "$1" --force-debian --nodeps)
    "${rpm[@]}" --ignorearch -i "$dist/stend-$version-1.$2.rpm" || return 1
    works "$1" "$2" stend || return 1
    "${rpm[@]}" -V stend || return 1
    "${rpm[@]}" -e stend && [ ! -e "$1/usr/bin/stend" ]
}

# An image is a root of its own.
from_image() {
    local name root="$1/rootfs"
    name=$(debian "$2")
    mkdir "$1.oci" || return 1
    tar -C "$1.oci" -xf "$dist/stend-$version-$name.oci.tar" || return 1
    umoci unpack --image "$1.oci:$version" "$1" || return 1
    [ "$(umoci stat --image "$1.oci:$version" --json | jq -r '.history | length')" = 2 ] || return 1
    jq -e '.process.args == ["/usr/bin/stend"] and .process.cwd == "/data"' "$1/config.json" >/dev/null || return 1
    mkdir "$root/dev" || return 1
    mknod -m 666 "$root/dev/null" c 1 3 && mknod -m 444 "$root/dev/urandom" c 1 9 || return 1
    kernel_files "$root"
    works "$root" "$2" /usr/bin/stend
}

passed=0 failed=0
# A package: how it is installed, where, and what to call that.
check() {
    local ended=0
    "$1" "$2" "$3" || ended=$?
    if [ "$ended" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    printf '%-4s %s\n' "$([ "$ended" = 0 ] && echo ok || echo FAIL)" "$4"
}

(cd "$dist" && sha256sum --quiet -c SHA256SUMS)
jq -e '.bomFormat == "CycloneDX" and (.components | length > 50)' "$dist/stend-$version.cdx.json" >/dev/null
for architecture in x86_64 aarch64; do
    [ -e "$dist/stend-$version-$architecture-linux.tar.gz" ] || continue
    emulate "$architecture"
    for release in bookworm trixie; do
        root="$work/$release-$architecture"
        unpack "$root" "$release" "$architecture"
        for kind in tarball deb rpm; do check "from_$kind" "$root" "$architecture" "$release $architecture $kind"; done
    done
    check from_image "$work/image-$architecture" "$architecture" "alone $architecture image"
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]

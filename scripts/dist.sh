#!/usr/bin/env bash
# Packs this commit into target/dist: for each architecture tar.gz, .deb, .rpm and an OCI image, then an SBOM and SHA256SUMS.
# `dist.sh [ARCHITECTURE…]`, by default x86_64 and aarch64. The same binaries give the same packages.
set -euo pipefail
cd "$(dirname "$0")/.."

architectures=("$@")
[ $# -gt 0 ] || architectures=(x86_64 aarch64)
here=$(uname -m)
target="${CARGO_TARGET_DIR:-target}"
dist="$PWD/target/dist"
summary="Storage test laboratory in one binary"
description="Stend loads a directory, a file or a block device, watches what moves meanwhile,
judges the numbers and writes a report that a sceptic can check."

version=$(cargo pkgid --offline --locked -p stend | sed 's/.*[#@]//')
# Everything in a package has the time of the commit.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
time=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
umask 022
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

binary() { echo "$target/$1-unknown-linux-gnu/release/stend"; }

# Names of an architecture in Debian and in images.
debian() {
    case "$1" in
    x86_64) echo amd64 ;;
    aarch64) echo arm64 ;;
    esac
}

# An archive without anything of this machine: sorted, owned by root, all of one time. Further arguments go to tar.
archive() {
    tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=gnu "$@"
}

# Completions and manual pages, which the binary of this machine prints for all.
texts() {
    local stend
    stend=$(binary "$here")
    mkdir -p "$work/texts/completions"
    "$stend" completions bash >"$work/texts/completions/stend.bash"
    "$stend" completions zsh >"$work/texts/completions/_stend"
    "$stend" completions fish >"$work/texts/completions/stend.fish"
    "$stend" man "$work/texts/man/man1" --lang en >/dev/null
    "$stend" man "$work/texts/man/ru/man1" --lang ru >/dev/null
    find "$work/texts/man" -name '*.1' -exec gzip -9n {} +
    cp LICENSE README.md docs/install.md "$work/texts/"
}

# What a package installs: architecture, directory, where zsh looks for completions.
tree() {
    local texts="$work/texts" root="$2"
    install -D -m 755 "$(binary "$1")" "$root/usr/bin/stend"
    install -D -m 644 "$texts/completions/stend.bash" "$root/usr/share/bash-completion/completions/stend"
    install -D -m 644 "$texts/completions/_stend" "$root/usr/share/zsh/$3/_stend"
    install -D -m 644 "$texts/completions/stend.fish" "$root/usr/share/fish/vendor_completions.d/stend.fish"
    mkdir -p "$root/usr/share/man"
    cp -R "$texts/man/." "$root/usr/share/man/"
    install -D -m 644 -t "$root/usr/share/doc/stend" "$texts/README.md" "$texts/install.md"
    install -m 644 "$texts/LICENSE" "$root/usr/share/doc/stend/copyright"
}

tarball() {
    local name="stend-$version-$1-linux"
    mkdir -p "$work/tarball/$name"
    cp -R "$work/texts/." "$work/tarball/$name/"
    install -m 755 "$(binary "$1")" "$work/tarball/$name/stend"
    archive -C "$work/tarball" -cf - "$name" | gzip -9n >"$dist/$name.tar.gz"
}

deb() {
    local root="$work/deb-$1" name
    name=$(debian "$1")
    tree "$1" "$root" vendor-completions
    mkdir "$root/DEBIAN"
    cat >"$root/DEBIAN/control" <<CONTROL
Package: stend
Version: $version
Architecture: $name
Maintainer: $(git log -1 --format='%an <%ae>')
Installed-Size: $(find "$root/usr" -type f -printf '%s\n' | awk '{bytes += $1} END {print int(bytes / 1024) + 1}')
Section: admin
Priority: optional
Suggests: fio, nbdkit, openssh-client, qemu-system-x86, smartmontools
Description: $summary
$(sed 's/^/ /' <<<"$description")
CONTROL
    (cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
    dpkg-deb --root-owner-group -Zxz --build "$root" "$dist/stend_${version}_$name.deb" >/dev/null
}

rpm_package() {
    local root="$work/rpm-$1"
    tree "$1" "$root" site-functions
    cat >"$work/stend.spec" <<SPEC
Name: stend
Version: $version
Release: 1
Summary: $summary
License: Apache-2.0
AutoReqProv: no
%description
$description
%install
cp -a $root/. %{buildroot}/
%files
%defattr(-, root, root, -)
$(cd "$root" && find usr -type f -printf '/%p\n' | sort)
SPEC
    # Nothing is stripped, compressed or looked into: the files are as they shall be.
    rpmbuild -bb --quiet --target "$1-linux" --define "_topdir $work/rpmbuild" --define "_rpmdir $dist" \
        --define '_rpmfilename %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm' --define '_binary_payload w9.xzdio' \
        --define '__os_install_post %{nil}' --define 'debug_package %{nil}' --define '_build_id_links none' \
        --define 'use_source_date_epoch_as_buildtime 1' --define 'clamp_mtime_to_source_date_epoch 1' \
        --define '_buildhost localhost' "$work/stend.spec" >/dev/null
}

# An image of the binary alone, whose directory /data is to be the host's: run files go there.
image() {
    local root="$work/image-$1" layout="$work/oci-$1" name history="--history.created=$time"
    name=$(debian "$1")
    install -D -m 755 "$(binary "$1")" "$root/usr/bin/stend"
    mkdir -p "$root/data" "$root/tmp" "$root/var/tmp"
    chmod 1777 "$root/tmp" "$root/var/tmp"
    archive -C "$root" -cf "$work/layer.tar" .
    umoci init --layout "$layout"
    umoci new --image "$layout:$version"
    umoci raw add-layer --image "$layout:$version" "$history" "$work/layer.tar"
    umoci config --image "$layout:$version" "$history" --created "$time" --os linux --architecture "$name" \
        --config.entrypoint /usr/bin/stend --config.workingdir /data --config.env XDG_DATA_HOME=/data
    umoci gc --layout "$layout"
    archive -C "$layout" -cf "$dist/stend-$version-$name.oci.tar" oci-layout index.json blobs
}

# The crates inside the binaries, with the sums of the lock file, as CycloneDX. Our own crates have no sums there.
sbom() {
    local targets=() architecture
    for architecture in "${architectures[@]}"; do targets+=(--target "$architecture-unknown-linux-gnu"); done
    awk -F'"' '/^name = /{n = $2} /^version = /{v = $2} /^checksum = /{print n "@" v "\t" $2}' Cargo.lock |
        sort >"$work/sums"
    cargo tree --locked --offline -p stend --edges normal "${targets[@]}" --prefix none --no-dedupe --format '{p}|{l}' |
        sed -E 's/^([^ ]+) v([^ |]+)[^|]*\|(.*)$/\1@\2\t\3/' | sort -u >"$work/crates"
    join -t $'\t' "$work/crates" "$work/sums" |
        jq -R -n --arg version "$version" --arg time "$time" -f scripts/sbom.jq >"$dist/stend-$version.cdx.json"
}

rm -rf "$dist"
mkdir -p "$dist"
for architecture in $(printf '%s\n' "$here" "${architectures[@]}" | sort -u); do scripts/build.sh "$architecture"; done
texts
for architecture in "${architectures[@]}"; do
    for make in tarball deb rpm_package image; do "$make" "$architecture"; done
done
sbom
(cd "$dist" && sha256sum -- * >"$work/SHA256SUMS" && mv "$work/SHA256SUMS" .)
echo "dist: version $version in target/dist"
ls -1 "$dist"

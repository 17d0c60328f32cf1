#!/usr/bin/env bash
# Builds the static release binary: `build.sh [ARCHITECTURE]`, by default this machine's.
set -euo pipefail
cd "$(dirname "$0")/.."

here=$(uname -m)
architecture="${1:-$here}"
target="$architecture-unknown-linux-gnu"
# Static, so that the binary runs on any host it is copied to.
flags="-C target-feature=+crt-static"
case "$architecture" in
# What every server since 2009 has.
x86_64) flags+=" -C target-cpu=x86-64-v2" ;;
aarch64) ;;
*)
    echo "build: no release is made for $architecture" >&2
    exit 2
    ;;
esac
if [ "$architecture" != "$here" ]; then
    # The crates that compile C find the compiler by the target.
    linker="CARGO_TARGET_$(tr 'a-z-' 'A-Z_' <<<"$target")_LINKER"
    export "$linker=$architecture-linux-gnu-gcc"
fi
# No paths of this machine in the binary: two clones give the same bytes.
flags+=" --remap-path-prefix=$PWD=stend --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"
RUSTFLAGS="$flags" cargo build --release --locked --offline --target "$target" -p stend

#!/usr/bin/env bash
# The main job on this machine's disk: measures a file that it makes under /var/tmp and shows the verdict.
# STEND_DEMO_DIR names another directory.
set -euo pipefail
cd "$(dirname "$0")/.."
directory="${STEND_DEMO_DIR:-/var/tmp}"

kind="$(stat --file-system --format=%T "$directory")"
case "$kind" in
    tmpfs | ramfs | devtmpfs)
        echo "demo: $directory is in memory ($kind), not on storage." >&2
        echo "demo: name a directory on a disk: STEND_DEMO_DIR=/path make demo" >&2
        exit 4
        ;;
esac

out="target/demo/$(date -u +%Y%m%dT%H%M%SZ)"
mkdir -p "$out"
"$1" run quick --on "$directory" -o "$out/run.stend"

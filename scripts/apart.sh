#!/usr/bin/env bash
# Runs a test binary for cargo (its `runner`), or leaves it to the part that is its own: `apart.sh but CRATE` and `apart.sh only CRATE`.
set -euo pipefail
case "$3" in
*/"$2"-*) is_its=only ;;
*) is_its=but ;;
esac
[ "$1" = "$is_its" ] || exit 0
exec "${@:3}"

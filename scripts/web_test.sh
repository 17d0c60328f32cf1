#!/usr/bin/env bash
# Tries the console in Chromium against the debug build, and holds its built files against its sources. `whole`: every page in every look.
# Without Node or the packages of web/ it is skipped by name; under CI that is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v node >/dev/null || [ ! -d web/node_modules/vite ] || ! command -v chromium >/dev/null; then
    echo "skipped, needs Node, Chromium and the packages of web/ (make web-setup): the console in a browser"
    [ "${CI:-}" != true ]
    exit
fi
export STEND_WEB="${1:-smoke}" CHROMIUM
CHROMIUM=$(command -v chromium)
scripts/node.sh npm --prefix web run --silent check
scripts/node.sh node --test --test-concurrency=1 --test-timeout=300000 web/test/*.test.mjs

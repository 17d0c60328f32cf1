#!/usr/bin/env bash
# Runs a command with a Node that can build the console: that of the system, or where it is too old one of npm's package `node`, which
# is kept in target/node. Only that uses the network.
set -euo pipefail
cd "$(dirname "$0")/.."

new_enough() { node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' 2>/dev/null; }

if ! new_enough; then
    bin="$PWD/target/node/node_modules/node/bin"
    if [ ! -x "$bin/node" ]; then
        echo "node: this machine's Node is too old; taking one from npm" >&2
        mkdir -p target/node
        npm install --prefix target/node --no-save --no-audit --no-fund --silent node@22 >&2
    fi
    PATH="$bin:$PATH"
    new_enough
fi
exec "$@"

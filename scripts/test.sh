#!/usr/bin/env bash
# All that continuous integration checks, after set-up. The longest test is one emulated machine that waits for its drives two thirds of
# its nine minutes: clippy and the unit tests run beside it, with less right to the CPUs.
set -euo pipefail

longest=raid_on_drives_with_limits_costs_what_its_layout_says_and_leaves_nothing
options=(--workspace --locked --offline)

cargo fmt --all --check
cargo test "${options[@]}" --no-run

told=$(mktemp)
setsid cargo test "${options[@]}" --test lab_stands >"$told" 2>&1 &
machine=$!
trap 'kill -TERM -- "-$machine" 2>/dev/null || true; rm -f "$told"' EXIT
trap 'exit 130' INT TERM

failed=0
nice cargo clippy "${options[@]}" --all-targets --quiet -- -D warnings || failed=1
nice cargo test "${options[@]}" --no-fail-fast --lib --bins || failed=1
echo "The machine with every kind of stand:"
wait "$machine" || failed=1
cat "$told"
cargo test "${options[@]}" --no-fail-fast --test '*' -- --skip "$longest" || failed=1
cargo test "${options[@]}" --no-fail-fast --doc || failed=1
exit "$failed"

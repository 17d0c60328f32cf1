#!/usr/bin/env bash
# All that continuous integration checks, after set-up. The longest test is one emulated machine that waits for its drives two thirds of
# its nine minutes: clippy, the unit tests and whatever judges no load run beside it, with less right to the CPUs.
set -euo pipefail

longest=lab_stands
# No number of theirs depends on what else the machine does.
beside=(safety formats signatures recorded corpus hostile_run_files hostile_suites audit bad_input dry_run export gates history import
    job_corpus orders outputs terminals transcripts verbs)
options=(--workspace --locked --offline)

# Names of the test programs.
programs() {
    local path
    for path in crates/*/tests/*.rs crates/*/tests/*/main.rs untrusted/tests/*.rs; do
        basename "${path%/main.rs}" .rs
    done | sort -u
}
mapfile -t alone < <(programs | grep -vxF -f <(printf '%s\n' "$longest" "${beside[@]}"))

# Seconds since the start, after each part.
took() {
    echo "[$1: ${SECONDS} s]"
}

cargo fmt --all --check
cargo test "${options[@]}" --no-run
took "built"

told=$(mktemp)
setsid cargo test "${options[@]}" --test "$longest" >"$told" 2>&1 &
machine=$!
trap 'kill -TERM -- "-$machine" 2>/dev/null || true; rm -f "$told"' EXIT
trap 'exit 130' INT TERM

failed=0
nice cargo clippy "${options[@]}" --all-targets --quiet -- -D warnings || failed=1
took "clippy"
nice cargo test "${options[@]}" --no-fail-fast --lib --bins || failed=1
took "units"
nice cargo test "${options[@]}" --no-fail-fast "${beside[@]/#/--test=}" || failed=1
took "beside the machine"
echo "The machine with every kind of stand:"
wait "$machine" || failed=1
cat "$told"
took "the machine"
cargo test "${options[@]}" --no-fail-fast "${alone[@]/#/--test=}" || failed=1
cargo test "${options[@]}" --no-fail-fast --doc || failed=1
took "all"
exit "$failed"

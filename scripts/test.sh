#!/usr/bin/env bash
# All that continuous integration checks, after set-up. Emulated machines wait for their drives most of the time: clippy, the unit tests
# and whatever judges no load run beside them, with less right to the CPUs.
set -euo pipefail

options=(--workspace --locked --offline)
# Incremental state is of use to the next build only, and half of what a build writes.
[ "${CI:-}" = true ] && export CARGO_INCREMENTAL=0

# Modules of the tests of the binary (crates/stend/tests) by when they run.
machines=(lab_stands)
beside=(audit bad_input dry_run export formats gates history hostile_run_files hostile_suites import orders outputs terminals
    transcripts verbs)
later=(lab lab_saved lab_up)
# Counts what fio and our engine do in the same time.
quiet=(jobs)

# Seconds since the start, after each part.
took() {
    echo "[$1: ${SECONDS} s]"
}

# The tests of these modules, by their full names: a part of a name would take others, too.
of() {
    local module
    for module in "$@"; do grep "^$module::" <<<"$all"; done
}

e2e() {
    cargo test --locked --offline --quiet -p stend --test e2e -- --exact "$@"
}

cargo fmt --all --check
cargo test "${options[@]}" --no-run
took "built"
all=$(cargo test --locked --offline --quiet -p stend --test e2e -- --list --format terse | sed -n 's/: test$//p')
mapfile -t alone < <(grep -vE "^($(IFS='|'; echo "${machines[*]}|${beside[*]}|${later[*]}|${quiet[*]}"))::" <<<"$all")

told=$(mktemp)
running=()
# Starts a part whose output waits until it has ended.
start() {
    setsid bash -c "$(declare -f e2e); e2e $(printf '%q ' "$@")" >"$told" 2>&1 &
    running=($!)
}
finish() {
    wait "${running[0]}" || failed=1
    running=()
    cat "$told"
    took "$1"
}
trap '[ ${#running[@]} = 0 ] || kill -TERM -- "-${running[0]}" 2>/dev/null || true; rm -f "$told"' EXIT
trap 'exit 130' INT TERM

failed=0
mapfile -t parts < <(of "${machines[@]}")
# One after the other: what layouts cost is judged, and two emulators leave each other too little of two CPUs.
start --test-threads 1 "${parts[@]}"
nice cargo clippy "${options[@]}" --all-targets --quiet -- -D warnings || failed=1
took "clippy"
nice cargo test "${options[@]}" --no-fail-fast --lib --bins || failed=1
nice cargo test "${options[@]}" --no-fail-fast --test corpora --test recorded --test safety --test signatures --test replay || failed=1
took "units"
mapfile -t parts < <(of "${beside[@]}")
nice bash -c "$(declare -f e2e); e2e $(printf '%q ' "${parts[@]}")" || failed=1
took "beside the machines"
echo "The machines with every kind of stand:"
finish "the machines"

mapfile -t parts < <(of "${later[@]}")
start "${parts[@]}"
cargo test "${options[@]}" --no-fail-fast --test allocations || failed=1
e2e --test-threads 4 "${alone[@]}" || failed=1
took "the binary on this machine"
echo "Machines of the lab:"
finish "machines of the lab"
mapfile -t parts < <(of "${quiet[@]}")
e2e "${parts[@]}" || failed=1
took "all"
exit "$failed"

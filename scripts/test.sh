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

failed=()
# Tells the seconds since the start after a part, and remembers the part if it failed.
judge() {
    [ "$2" = 0 ] || failed+=("$1")
    echo "[$1: ${SECONDS} s]"
}
# Runs a part: its name, then the command.
part() {
    local ended=0
    "${@:2}" || ended=$?
    judge "$1" "$ended"
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
judge "built" 0
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
    local ended=0
    wait "${running[0]}" || ended=$?
    running=()
    cat "$told"
    judge "$1" "$ended"
}
trap '[ ${#running[@]} = 0 ] || kill -TERM -- "-${running[0]}" 2>/dev/null || true; rm -f "$told"' EXIT
trap 'exit 130' INT TERM

mapfile -t parts < <(of "${machines[@]}")
# One after the other: what layouts cost is judged, and two emulators leave each other too little of two CPUs.
start --test-threads 1 "${parts[@]}"
part "clippy" nice cargo clippy "${options[@]}" --all-targets --quiet -- -D warnings
part "units" nice cargo test "${options[@]}" --no-fail-fast --lib --bins
part "tests of the crates" nice cargo test "${options[@]}" --no-fail-fast --exclude stend --exclude stend-load --test '*'
mapfile -t parts < <(of "${beside[@]}")
part "beside the machines" nice bash -c "$(declare -f e2e); e2e $(printf '%q ' "${parts[@]}")"
echo "The machines with every kind of stand:"
finish "the machines"

mapfile -t parts < <(of "${later[@]}")
start "${parts[@]}"
part "allocations" cargo test "${options[@]}" --no-fail-fast --test allocations
part "the binary on this machine" e2e --test-threads 4 "${alone[@]}"
echo "Machines of the lab:"
finish "machines of the lab"
mapfile -t parts < <(of "${quiet[@]}")
part "beside fio" e2e "${parts[@]}"
if [ ${#failed[@]} != 0 ]; then
    printf 'FAILED: %s\n' "${failed[@]}"
    exit 1
fi
echo "All parts passed in ${SECONDS} s."

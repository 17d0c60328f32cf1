#!/usr/bin/env bash
# All that continuous integration checks, after set-up. Emulated machines and the tests of drives that are in use wait most of the time:
# compiling and whatever judges no load run beside them, with less right to the CPUs.
set -euo pipefail

# Tests beside one another make mount namespaces. As on most systems, what is unmounted here must be unmounted there, too: a copy would keep
# a device in use. The mounts of this machine itself stay as they are.
if [ "$(id -u)" = 0 ] && ! findmnt --noheadings --output PROPAGATION / | grep -q shared; then
    exec unshare --mount --propagation shared "$0" "$@"
fi

# The compiler that `make test` sets is clippy's: what is compiled is linted, without reading it all a second time.
if [ "${RUSTC_WORKSPACE_WRAPPER:-}" != clippy-driver ]; then
    echo "scripts/test.sh is started by \`make test\`" >&2
    exit 1
fi

options=(--workspace --locked --offline)
# Every part is of the whole workspace, because a library has other features for some of its packages, and what needs it would be compiled
# once more. Tests are told apart by their names.
e2e=(cargo test "${options[@]}" --quiet --test e2e)
# All but `e2e` and `allocations`, which are parts of their own. Cargo has no word for "all but".
of_crates=(--test '[!ae]*' --test 'ag*')
left_out=$(ls crates/*/tests/[ae]*.rs ./*/tests/[ae]*.rs 2>/dev/null | grep -v -e '^crates/stend/' -e '/allocations\.rs$' -e '/ag[a-z_]*\.rs$' || true)
if [ -n "$left_out" ]; then
    echo "scripts/test.sh does not run these: $left_out" >&2
    exit 1
fi

# Modules of the tests of the binary (crates/stend/tests) by when they run.
machines=(lab_stands vm)
beside=(audit bad_input dry_run embedded export formats gates history hostile_run_files hostile_suites import orders outputs terminals
    transcripts verbs)
later=(lab lab_up)
# Counts what fio and our engine do in the same time.
quiet=(jobs)
# Sets the clock of this machine and takes a CPU away from it: no other test bears that, and neither do two of these.
changing=(changing_world)

# The tests of these modules, by their full names: a part of a name would take others, too.
of() {
    local module
    for module in "$@"; do grep "^$module::" <<<"$all"; done
}

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

told=$(mktemp -d)
declare -A running
# Starts a part whose output waits until it has ended.
start() {
    setsid "${@:2}" >"$told/$1" 2>&1 &
    running[$1]=$!
}
finish() {
    local ended=0
    wait "${running[$1]}" || ended=$?
    unset "running[$1]"
    cat "$told/$1"
    judge "$1" "$ended"
}
trap 'share 0 || true; for group in "${running[@]}"; do kill -TERM -- "-$group" 2>/dev/null || true; done; rm -rf "$told"' EXIT
trap 'exit 130' INT TERM

# Less right to the CPUs. Where the kernel groups processes by session (autogroup), `nice` counts only within one, and every part that is
# started has its own: the group of a session gives way, too.
share() { echo "$1" >/proc/self/autogroup; } 2>/dev/null
yielding=(bash -c '{ echo 10 >/proc/self/autogroup; } 2>/dev/null; exec nice "$@"' yielding)

cargo fmt --all --check
"${e2e[@]}" --no-run
judge "the binary and its tests are built" 0
all=$("${e2e[@]}" -- --list --format terse | sed -n 's/: test$//p')
mapfile -t alone < <(grep -vE "^($(IFS='|'; echo "${machines[*]}|${beside[*]}|${later[*]}|${quiet[*]}|${changing[*]}"))::" <<<"$all")

mapfile -t tests < <(of "${machines[@]}")
# One after the other: two emulators leave each other too little of two CPUs.
start "machines that compiling runs beside" "${e2e[@]}" -- --exact --test-threads 1 "${tests[@]}"
part "all tests are built, with clippy" "${yielding[@]}" cargo test "${options[@]}" --no-run
# Only programs that tests of their package start are built with the tests. Without a test `once_cell` would have other features, and most
# would be compiled once more.
part "programs, with clippy" "${yielding[@]}" cargo build "${options[@]}" --bins --test e2e
start "tests of the crates" "${yielding[@]}" cargo test "${options[@]}" --no-fail-fast "${of_crates[@]}"
# Waits for pages most of the time.
start "console" "${yielding[@]}" scripts/web_test.sh
units=(cargo test "${options[@]}" --no-fail-fast --lib --bins)
# Cargo would choose other features for a part of the workspace, and compile once more.
runner="CARGO_TARGET_$(rustc -vV | sed -n 's/^host: //p' | tr a-z- A-Z_)_RUNNER=$PWD/scripts/apart.sh"
# Some wait for clocks and disks most of the time. The engine's have a part of their own.
part "units" "${yielding[@]}" env "$runner but stend_load" "${units[@]}" -- --test-threads 4
mapfile -t tests < <(of "${beside[@]}")
part "beside the machines" "${yielding[@]}" "${e2e[@]}" -- --exact "${tests[@]}"
finish "tests of the crates"
finish "console"
finish "machines that compiling runs beside"

share 0 || true
# Alone: they make I/O at a rate and count what each thread does.
part "units of the engine" env "$runner only stend_load" "${units[@]}" -- --test-threads 6
part "allocations" cargo test "${options[@]}" --no-fail-fast --test allocations
mapfile -t tests < <(of "${later[@]}")
start "machines of the lab" "${e2e[@]}" -- --exact "${tests[@]}"
# Six at a time: with four the CPUs were idle for half of the time.
part "the binary on this machine" "${e2e[@]}" -- --exact --test-threads 6 "${alone[@]}"
finish "machines of the lab"
mapfile -t tests < <(of "${quiet[@]}")
part "beside fio" "${e2e[@]}" -- --exact "${tests[@]}"
mapfile -t tests < <(of "${changing[@]}")
part "the machine itself changes" "${e2e[@]}" -- --exact --test-threads 1 "${tests[@]}"
if [ ${#failed[@]} != 0 ]; then
    printf 'FAILED: %s\n' "${failed[@]}"
    exit 1
fi
echo "All parts passed in ${SECONDS} s."

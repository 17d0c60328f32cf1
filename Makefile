# `make demo` measures this machine's disk; `make test` does everything that CI does.

HOST := $(shell rustc -vV 2>/dev/null | sed -n 's/^host: //p')
STEND := target/$(HOST)/release/stend

# Incremental state is of use to the next build only, and half of what a build writes. Cargo keeps builds with and without it apart.
ifeq ($(CI),true)
export CARGO_INCREMENTAL := 0
endif

# Longest first.
LAB_TESTS := lab_stands lab_replay lab_events lab_caches lab_power lab_zfs lab_three lab_clients lab_drbd lab_two lab_ssh lab_up vm lab tutorials

.PHONY: help setup build dist dist-test test demo gen lab-setup lab-test lab cluster agree analysis serve-bench coverage fleet signal speed truth fuzz nightly simulate web web-setup web-test clean

help: ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup: ## install what building and testing need, and is missing (uses the network); part of `test`, too
	@scripts/setup.sh

build: ## build the static release binary
	@scripts/build.sh

dist: ## packages for x86-64 and aarch64 in target/dist: tar.gz, .deb, .rpm, OCI images, SBOM, checksums (uses the network the first time)
	@scripts/setup.sh dist
	@scripts/dist.sh

dist-test: ## install these packages in bare roots of Debian 12 and 13 and run them; needs root (uses the network the first time; MIRROR=archive)
	@scripts/setup.sh dist
	@scripts/dist_test.sh

# Clippy compiles as it lints. `cargo clippy` would read all crates once more: a quarter of the time of everything.
test: export RUSTC_WORKSPACE_WRAPPER := clippy-driver
test: export CLIPPY_ARGS := -D__CLIPPY_HACKERY__warnings
test: setup ## set up what is missing, then everything that CI does
	@scripts/test.sh

demo: ## measure this machine's disk (a file under /var/tmp) and print verdict and report
	@scripts/setup.sh build
	@$(MAKE) --no-print-directory build
	@scripts/demo.sh "$(STEND)"

gen: ## write generated files anew: JSON Schemas, table of suite keys
	@cargo run --locked --offline --quiet -p xtask -- gen

web: ## build the console of `stend serve` anew, into crates/serve; needs Node (see web-setup)
	@scripts/node.sh npm --prefix web run --silent build

web-setup: ## install Node and the packages of the console, for whoever changes it (uses the network)
	@scripts/setup.sh web

web-test: ## every page of the console in both languages and themes, on a desk and on a phone, against target/debug (SHOTS=folder keeps pictures)
	cargo build --locked --offline --quiet -p stend
	@STEND_SHOTS="$(SHOTS)" scripts/web_test.sh whole

lab-setup: ## install QEMU and make the image of the virtual lab (uses the network the first time)
	@scripts/setup.sh lab

lab-test: ## the tests that run in virtual machines; part of `test`, too
	cargo test -p stend --test e2e --locked --offline -- lab::

lab: ## what of the virtual lab is not part of `test`: layouts on drives with limits, ZFS, caches and snapshots of LVM, paths of NVMe, RDMA, two machines, two that load what a third hands out, disks of virtual machines, cuts of power, the replay of a log of writes, drives that fail below ZFS and btrfs, and every layout of soft RAID in one table; an hour, the first time more, and it uses the network (ONLY=table: that table alone)
	cargo build --locked --offline --quiet -p stend
ifeq ($(ONLY),)
	target/debug/stend lab build lab/soft-raid.yaml
	cargo test -p stend --test e2e --locked --offline --no-run
	@# Two at a time: each is one emulated machine most of the time, and judges ratios, no speeds.
	@printf '%s\n' $(LAB_TESTS) | xargs -P 2 -I TEST cargo test -p stend --test e2e --locked --offline --quiet -- TEST:: --ignored --test-threads 1
endif
	@STEND=target/debug/stend cargo run --locked --offline --quiet -p stend-bench -- lab

cluster: ## a Ceph of this machine on loop devices: copies against erasure coding, kills, lost drives and OSDs under load; fifteen minutes, needs root and 6 GiB under /var/tmp, and installs Ceph's packages (uses the network the first time)
	@scripts/setup.sh cluster
	cargo test -p stend --test e2e --locked --offline -- cluster:: --include-ignored --test-threads 1 --nocapture

agree: ## Stend against fio on this machine: three hours, needs root and fio (FIO=/path, ON=/directory, BLOCKS, WINDOW_MS, ONLY=part of a name with OUT=/page: those rows alone)
	@$(MAKE) --no-print-directory build
	@STEND="$(STEND)" cargo run --locked --offline --quiet --release -p stend-bench -- agree

analysis: ## what looking at a run of ten hours, at 1000 runs and at a recording of a month costs, and importing logs: five minutes, a gigabyte (ON=/directory, FIOLOGPARSER=/path, FIOLOGPARSER_HIST=/path, PYTHON=/path, ONLY=part of a name)
	@$(MAKE) --no-print-directory build
	@STEND="$(STEND)" cargo run --locked --offline --quiet --release -p stend-bench -- analysis

serve-bench: ## what a server costs that knows 10,000 runs, and how long 50 clients wait: three minutes, half a gigabyte (ON=/directory)
	@$(MAKE) --no-print-directory build
	@STEND="$(STEND)" cargo run --locked --offline --quiet --release -p stend-bench -- serve

coverage: ## do intervals hold the truth: ten minutes of simulations, needs no storage (SIMULATIONS=1000 prints a rough page)
	@SIMULATIONS="$(SIMULATIONS)" cargo run --locked --offline --quiet --release -p stend-bench -- coverage

fleet: ## what many hosts in one run cost: what one core merges, a run file of 100 hosts over an hour, how far apart hosts begin, what a watched host does to the load; ten minutes, half a gigabyte, needs root for real workers (ON=/directory, BLOCKS, WINDOW_MS, ONLY=part of a name)
	@$(MAKE) --no-print-directory build
	@STEND="$(STEND)" cargo run --locked --offline --quiet --release -p stend-bench -- fleet

speed: ## what an I/O costs, against fio: a quarter of an hour, needs root and fio (FIO=/path, T_IO_URING=/path, ON=/directory, BLOCKS, WINDOW_MS, ONLY=part of a name)
	@$(MAKE) --no-print-directory build
	@STEND="$(STEND)" cargo run --locked --offline --quiet --release -p stend-bench -- speed

truth: ## does a load come as asked, does a stall show: five minutes, needs root, fio and tracefs (FIO=/path, ELBENCHO=/path, ONLY=stall|rates|little|stamps|many)
	@$(MAKE) --no-print-directory build
	@STEND="$(STEND)" cargo run --locked --offline --quiet --release -p stend-bench -- truth

signal: ## what does Stend warn of on healthy, idle storage: three quarters of an hour, needs root, and once an image of the lab with ZFS (ON=/directory, ONLY=part of a name)
	@$(MAKE) --no-print-directory build
	@"$(STEND)" lab build lab/soft-raid.yaml
	@STEND="$(STEND)" cargo run --locked --offline --quiet --release -p stend-bench -- signal

fuzz: ## search for bytes that a parser cannot take: an hour of CPU time for each of some twenty, less what docs/bench/fuzz.md says that it has had; needs nightly Rust and cargo-fuzz (TIME=seconds for each, ONLY=part of a name, SLICE=seconds in a row)
	@cargo run --locked --offline --quiet -p stend-untrusted

nightly: ## what `test` repeats a few times, as often as it may matter: 100 kills of a run, a kill before and after every command that puts a stand up, 1000 damaged records; ten minutes, needs root
	STEND_NIGHTLY=1 cargo test --workspace --test e2e --locked --offline -- killed_at_
	STEND_NIGHTLY=1 cargo test --workspace --lib --locked --offline --quiet -- no_record_however_damaged

simulate: ## 100 000 whole runs against simulated workers, each from its seed, with kills, losses and full disks: forty minutes of CPU time, needs root for the disks (SEEDS=how many, STEND_SEED=one of them)
	SEEDS="$(or $(SEEDS),100000)" cargo test -p stend-run --lib --locked --offline --quiet -- simulation --nocapture

clean: ## remove everything that was built
	cargo clean

//! Sessions of runs below the command line, with workers of this machine.

use super::Scratch;
use std::process::Command;
use std::time::Duration;
use stend_run::{LoadHost, Setup};
use stend_spec::permission::Permission;
use stend_wire::Host;

/// How long a worker may take to do what is quick.
pub const LIMIT: Duration = Duration::from_secs(60);

/// A worker whose leases are of its own: tests share one disk.
pub fn worker(scratch: &Scratch) -> Host {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stend"));
    command.arg("worker").env("STEND_LEASES", scratch.path());
    Host::reach(command, LIMIT).expect("a worker")
}

/// A session that runs a suite on the directory `data` into the file `r.stend`.
pub fn session(scratch: &Scratch, suite: &str, hosts: Vec<LoadHost>) -> Setup {
    Setup {
        suite: stend_spec::parse::suite(suite, "suite.yaml").expect("a suite"),
        suite_text: suite.to_string(),
        seed: 1,
        time_budget: None,
        traces: Vec::new(),
        targets: vec![scratch.directory("data")],
        permission: Permission {
            confirm: Vec::new(),
            overwrite_signatures: Vec::new(),
            commands: false,
            beside: false,
        },
        id: "R-20260102T030405Z-abcd".to_string(),
        label: None,
        gate: None,
        run_file: scratch.join("r.stend"),
        known_in: None,
        command_line: Vec::new(),
        hosts,
        on_loss: Default::default(),
        started_unix: 0,
        boot_id: String::new(),
        resume: None,
        stand: None,
        observed: Vec::new(),
        sources: None,
        power: None,
        hypervisor: None,
        returned: None,
        one_block: false,
    }
}

//! Threads on the CPUs and memory on the node that a stream names, as the kernel says it. On one node: what is
//! chosen on machines with several is tested where it is decided, in `stend_spec::topology`.

use super::support::{filled, run, stream, trial};
use stend_base::{Bytes, Kind};
use stend_record::observed::TrialStatus;
use stend_spec::topology::Affinity;
use stend_spec::workload::{Backend, Stream, Trial};
use stend_sys::{affinity, numa};

const LEN: Bytes = Bytes::mib(4);
const LANES: [Backend; 3] = [Backend::IoUring, Backend::Libaio, Backend::Psync];

fn placed(cpus: &[u32], memory: Option<u32>) -> Stream {
    Stream { place: Affinity { cpus: cpus.to_vec(), memory }, queue_depth: 2, ..stream(100) }
}

/// Not on a kernel without NUMA or below a seccomp filter as Docker's; a note then, which CI does not accept.
fn memory_can_be_bound() -> bool {
    let bound = std::thread::spawn(|| numa::bind_memory(0)).join().unwrap();
    if let Err(reason) = &bound {
        assert!(std::env::var_os("CI").is_none(), "policies of memory are needed here: {reason}");
        eprintln!("skipped: policies of memory: {reason}");
    }
    bound.is_ok()
}

#[test]
fn threads_run_where_they_are_put_and_buffers_lie_on_their_node() {
    if !memory_can_be_bound() {
        return;
    }
    let allowed = affinity::allowed().unwrap();
    let last = *allowed.last().unwrap();
    for backend in LANES {
        let streams = vec![placed(&[last], Some(0)), placed(&[last], None)];
        let (outcome, _) = run(&Trial { backend, ..trial(LEN, streams) }, &filled(LEN)).unwrap();
        assert_eq!(outcome.status, TrialStatus::Complete);
        let threads = if backend == Backend::Psync { 4 } else { 2 };
        assert_eq!((outcome.engine.threads(), outcome.engine.cpus), (threads, vec![last]));
        assert_eq!(outcome.engine.jobs[0].memory_node, Some(0));
    }
}

#[test]
fn a_cpu_or_a_node_that_cannot_be_had_is_an_error_before_any_io() {
    for (cpus, memory, part) in [(&[1023][..], None, "CPU 1023"), (&[], Some(1023), "NUMA node 1023")] {
        for backend in LANES {
            let error = run(&Trial { backend, ..trial(LEN, vec![placed(cpus, memory)]) }, &filled(LEN)).unwrap_err();
            assert!(error.kind == Kind::Preflight && error.message.en.contains(part), "{error}");
        }
    }
}

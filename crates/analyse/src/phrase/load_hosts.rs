//! Where a workload runs.

use stend_base::{Say, say_in};

/// A workload with where it runs: what is asked for is asked of every load host.
pub fn on_each(workload: &Say, hosts: usize) -> Say {
    Say::both(|l| {
        let workload = workload.get(l);
        match hosts {
            // The others were lost.
            1 => say_in!(l, "{workload}, on one load host", "{workload}, на одной нагружающей машине"),
            _ => say_in!(
                l,
                "{workload}, on each of {hosts} load hosts",
                "{workload}, на каждой из {hosts} нагружающих машин"
            ),
        }
    })
}

//! Where a workload runs.

use super::{both, pick};
use stend_base::Say;

/// A workload with where it runs: what is asked for is asked of every load host.
pub fn on_each(workload: &Say, hosts: usize) -> Say {
    both(|l| {
        let text = match hosts {
            // The others were lost.
            1 => pick(l, "{w}, on one load host", "{w}, на одной нагружающей машине"),
            _ => pick(l, "{w}, on each of {n} load hosts", "{w}, на каждой из {n} нагружающих машин"),
        };
        text.replace("{w}", workload.get(l)).replace("{n}", &hosts.to_string())
    })
}

//! Which drives lie below targets, found by processes of their own: a look at a network file system or a drive that hangs does not end, and
//! must not hang the server, or keep it from ending.

use crate::printed::printed_within;
use std::path::Path;
use std::time::{Duration, Instant};
use stend_record::TargetFacts;
use stend_session::ordered::drives_below;

/// How long all targets of an order may take. By eye: a look takes some hundredths of a second, and a disk that stands still needs five
/// seconds to begin.
const LOOK_TIME: Duration = Duration::from_secs(10);

/// What these targets load; `None`: the drives of one are not visible, or it did not answer in time.
pub fn below(program: &Path, targets: &[String]) -> Option<Vec<String>> {
    let until = Instant::now() + LOOK_TIME;
    let mut loads = Vec::new();
    for target in targets {
        let words = ["inspect", "--quick", "--json", "--", target];
        // One that cannot be looked at may be anything; the task itself finds out why.
        let printed = printed_within(program, &words, "", until.saturating_duration_since(Instant::now())).ok()?;
        let drives = drives_below(&serde_json::from_slice::<TargetFacts>(&printed).ok()?);
        if drives.is_empty() {
            return None;
        }
        loads.extend(drives);
    }
    Some(loads)
}

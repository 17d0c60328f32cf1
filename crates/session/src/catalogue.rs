//! What a list says of each run file, without reading what was measured. Changes nothing, and keeps nothing.

use std::path::Path;
use stend_analyse::listed::{Content, Listed, ListedRun};
use stend_base::Bytes;
use stend_record::RunState;
use stend_record::store::{self, Glance, KnownRun};
use stend_record::targets::names;

/// What a list says of a run; of a file that cannot be read, why.
pub fn look(known: &KnownRun) -> Listed {
    let path = known.path.as_path();
    let (name, shown) = (known.name.clone(), path.display().to_string());
    if !known.is_there() {
        return Listed { name, path: shown, size: Bytes(0), content: Content::Gone };
    }
    let mut log = path.as_os_str().to_os_string();
    log.push("-wal");
    let size = [path, Path::new(&log)].map(|file| std::fs::metadata(file).map_or(0, |found| found.len()));
    let content = match store::glance(path) {
        Ok(seen) => Content::Run(Box::new(listed(seen, path))),
        Err(error) => Content::Unreadable(error),
    };
    Listed { name, path: shown, size: Bytes(size.iter().sum()), content }
}

fn listed(seen: Glance, path: &Path) -> ListedRun {
    // A part that cannot be read or planned leaves the number out; `show` says what is wrong.
    let result = || stend_analyse::leading(&store::read_outcomes(path).ok()?).ok().flatten();
    ListedRun {
        run: seen.header.id,
        started_unix: seen.header.started_unix,
        label: seen.header.label,
        suite: seen.header.inputs.suite.name,
        recording: seen.header.recording.is_some(),
        targets: names(&seen.targets),
        going_on: seen.state == RunState::Open && stend_run::is_going_on(path),
        state: seen.state,
        cases: seen.cases,
        trials: seen.trials,
        result: if seen.trials > 0 { result() } else { None },
    }
}

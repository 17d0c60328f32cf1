//! Reads the traces that a suite names. Must not decide what is replayed of them.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stend_base::{Error, Kind, Result, say};
use stend_spec::Suite;
use stend_spec::trace::{self, IOS_MAX, Source, Trace, TraceFacts};

/// Those of a suite whose relative paths begin at `directory`.
pub fn of_suite(suite: &Suite, directory: &Path) -> Result<Vec<Arc<Trace>>> {
    let path = |source: &Source| std::path::absolute(directory.join(&source.file));
    let read = |source: &Source| {
        let file = &source.file;
        let path = path(source).map_err(|e| unreadable(file, &e.to_string()))?;
        read(&path, source)
    };
    let traces = suite.traces().into_iter().map(read).collect::<Result<Vec<_>>>()?;
    let ios: u64 = traces.iter().map(|trace| trace.facts.count()).sum();
    if ios > IOS_MAX {
        return Err(Error::new(
            Kind::Spec,
            say!(
                "the traces of the suite hold {ios} I/Os together; the limit is {IOS_MAX}",
                "в трассах набора вместе {ios} операций; предел — {IOS_MAX}"
            ),
        ));
    }
    Ok(traces)
}

/// Those of an earlier session of a run, from where they were. A trace that is not the same any more is refused.
pub fn again(earlier: &[TraceFacts]) -> Result<Vec<Arc<Trace>>> {
    let same = |facts: &TraceFacts| {
        let trace = read(&PathBuf::from(&facts.path), &facts.source)?;
        match trace.facts == *facts {
            true => Ok(trace),
            false => {
                let path = &facts.path;
                Err(Error::new(
                    Kind::Preflight,
                    say!(
                        "`{path}` is not the trace that the run began with",
                        "`{path}` — не та трасса, с которой прогон начался"
                    ),
                )
                .hint(say!(
                    "put the old file back (its SHA-256 is in the run file), or begin a new run",
                    "верните прежний файл (его SHA-256 есть в файле прогона) или начните новый прогон"
                )))
            }
        }
    };
    earlier.iter().map(same).collect()
}

fn read(path: &Path, source: &Source) -> Result<Arc<Trace>> {
    let shown = path.to_string_lossy();
    let failed = |e: std::io::Error| unreadable(&shown, &e.to_string());
    // A pipe would be waited for, and a device has no end.
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        return Err(unreadable(&shown, "not a regular file"));
    }
    let file = File::open(path).map_err(failed)?;
    trace::read(BufReader::new(file), &shown, source).map(Arc::new)
}

fn unreadable(file: &str, why: &str) -> Box<Error> {
    Error::new(Kind::Spec, say!("cannot read the trace `{file}`: {why}", "не удаётся прочитать трассу `{file}`: {why}"))
        .hint(say!(
            "a relative path begins at the directory of the suite",
            "относительный путь начинается в каталоге набора"
        ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "fio version 3 iolog\n1 /a read 0 512\n";

    fn suite(file: &str) -> Suite {
        let text = format!("suite: x\ncases:\n  - name: a\n    streams: [{{trace: {{file: {file}}}}}]\n");
        stend_spec::parse::suite(&text, "x").unwrap()
    }

    #[test]
    fn a_trace_is_found_beside_its_suite_or_by_its_whole_path() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.iolog");
        std::fs::write(&path, LOG).unwrap();
        for file in ["a.iolog", &path.to_string_lossy()] {
            let traces = of_suite(&suite(file), directory.path()).unwrap();
            assert_eq!((traces.len(), traces[0].ios.len()), (1, 1));
            assert_eq!(traces[0].facts.path, path.to_string_lossy());
        }
        for missing in ["b.iolog", "."] {
            let error = of_suite(&suite(missing), directory.path()).unwrap_err();
            assert_eq!(error.kind, Kind::Spec, "{error}");
        }
    }

    #[test]
    fn a_run_goes_on_only_with_the_trace_that_it_began_with() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.iolog");
        std::fs::write(&path, LOG).unwrap();
        let traces = of_suite(&suite("a.iolog"), directory.path()).unwrap();
        let facts = [traces[0].facts.clone()];
        assert_eq!(again(&facts).unwrap(), traces);
        std::fs::write(&path, LOG.replace("512", "1024")).unwrap();
        assert_eq!(again(&facts).unwrap_err().kind, Kind::Preflight);
        // The same I/Os in another file are another trace.
        std::fs::write(&path, format!("{LOG}\n")).unwrap();
        assert_eq!(again(&facts).unwrap_err().kind, Kind::Preflight);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(again(&facts).unwrap_err().kind, Kind::Spec);
    }
}

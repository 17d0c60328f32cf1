//! Reads the traces that a suite names. Must not decide what is replayed of them.

use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;
use stend_base::{Error, Result, Say, say};
use stend_spec::Suite;
use stend_spec::order::TraceFile;
use stend_spec::trace::{self, Source, Trace, TraceFacts};

/// Those of a suite whose relative paths begin at `directory`.
pub(crate) fn of_suite(suite: &Suite, directory: &Path) -> Result<Vec<Arc<Trace>>> {
    let path = |source: &Source| std::path::absolute(directory.join(&source.file));
    let mut traces = Vec::new();
    for source in suite.traces() {
        let file = &source.file;
        let path = path(source).map_err(|e| unreadable(file, Say::same(e.to_string())))?;
        let trace = read(&path, source, &traces)?;
        traces.push(trace);
    }
    Ok(traces)
}

/// Those of a suite, which must be the ones that an order names; it names none where whatever is there is meant.
pub(crate) fn ordered(suite: &Suite, directory: &Path, named: &[TraceFile]) -> Result<Vec<Arc<Trace>>> {
    let found = of_suite(suite, directory)?;
    if named.is_empty() {
        return Ok(found);
    }
    let pairs = || found.iter().zip(named);
    match pairs().find(|(trace, named)| trace.facts.sha256 != named.sha256) {
        Some((_, other)) => Err(not_ordered(&other.file)),
        None if found.len() != named.len() => Err(not_ordered(&suite.name)),
        None => Ok(found),
    }
}

/// What is there is not what the order means.
fn not_ordered(path: &str) -> Box<Error> {
    Error::preflight(say!(
        "the traces of `{path}` differ from those of the order",
        "трассы `{path}` отличаются от указанных в заказе"
    ))
    .hint(say!(
        "put the old files back (their SHA-256 are in the order), or make the order anew",
        "верните прежние файлы (их SHA-256 есть в заказе) или составьте заказ заново"
    ))
}

/// Those of an earlier session of a run, from where they were. A trace that is not the same any more is refused.
pub(crate) fn again(earlier: &[TraceFacts]) -> Result<Vec<Arc<Trace>>> {
    let mut traces = Vec::new();
    for facts in earlier {
        // Whatever is wrong with what is there now: the trace was readable when the run began.
        let trace = read(Path::new(&facts.path), &facts.source, &traces);
        let trace = trace.map_err(|e| another(&facts.path, Some(e.message)))?;
        if trace.facts != *facts {
            return Err(another(&facts.path, None));
        }
        traces.push(trace);
    }
    Ok(traces)
}

/// A trace of an earlier session is gone, or there is something else in its place.
fn another(path: &str, why: Option<Say>) -> Box<Error> {
    let Say { en, ru } = why.map_or(Say::same(""), |Say { en, ru }| say!(": {en}", ": {ru}"));
    Error::preflight(say!(
        "`{path}` is not the trace that the run began with{en}",
        "`{path}` — не та трасса, с которой прогон начался{ru}"
    ))
    .hint(say!(
        "put the old file back (its SHA-256 is in the run file), or begin a new run",
        "верните прежний файл (его SHA-256 есть в файле прогона) или начните новый прогон"
    ))
}

/// Reads a trace; `before` are those of the suite that were read.
fn read(path: &Path, source: &Source, before: &[Arc<Trace>]) -> Result<Arc<Trace>> {
    let shown = path.to_string_lossy();
    let file = stend_sys::regular::open(path).map_err(|why| unreadable(&shown, why))?;
    let others = before.iter().map(|trace| trace.facts.count()).sum();
    trace::read_beside(BufReader::new(file), &shown, source, others).map(Arc::new)
}

fn unreadable(file: &str, why: Say) -> Box<Error> {
    let Say { en, ru } = why;
    Error::spec(say!("cannot read the trace `{file}`: {en}", "не удаётся прочитать трассу `{file}`: {ru}")).hint(say!(
        "a relative path begins at the directory of the suite",
        "относительный путь начинается в каталоге набора"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Kind;

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
        for (missing, en, ru) in
            [("b.iolog", "no such file", "такого файла или каталога нет"), (".", "it is a directory", "это каталог")]
        {
            let error = of_suite(&suite(missing), directory.path()).unwrap_err();
            assert_eq!(error.kind, Kind::Spec, "{error}");
            assert!(error.message.en.contains(en) && error.message.ru.contains(ru), "{error}");
        }
    }

    #[test]
    fn a_second_trace_has_the_room_that_the_first_left() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.iolog");
        std::fs::write(&path, LOG).unwrap();
        let source = suite("a.iolog").traces()[0].clone();
        let mut first = read(&path, &source, &[]).unwrap();
        Arc::get_mut(&mut first).unwrap().facts.ios[0] = trace::IOS_MAX;
        let error = read(&path, &source, &[first]).unwrap_err();
        assert!(error.message.en.contains("in all traces of the suite"), "{error}");
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
        // The message says what is wrong with the file that is there now, but sends nobody to the suite for it.
        let refused = || again(&facts).unwrap_err();
        std::fs::write(&path, "a letter\n").unwrap();
        assert!(refused().message.en.contains("is not the trace that the run began with: "), "{}", refused());
        std::fs::remove_file(&path).unwrap();
        assert!(refused().message.en.contains("began with: cannot read the trace"), "{}", refused());
        assert!(refused().kind == Kind::Preflight && refused().hint.unwrap().en.contains("put the old file back"));
    }
}

//! `stend import FILE…`: results of fio as a run file like any other.

use crate::out::Out;
use clap::ArgMatches;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use stend_base::{Error, Kind, Result, say};
use stend_import::fio::{self, File, RESULTS_MAX};
use stend_record::store::{self, Options};
use stend_record::{RunHeader, RunState};

/// Bytes of results that are held at a time: 1 GiB.
const ALL_MAX: usize = 1 << 30;

/// Reads the results, writes the run file, and shows what is in it.
pub fn import(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let names = super::many(arguments, "FILE");
    let texts = read(&names)?;
    let files: Vec<File<'_>> = names.iter().zip(&texts).map(|(name, bytes)| File { name, bytes }).collect();
    let run = fio::read(&files)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let began = run.started_unix_ns.unwrap_or(now.as_nanos() as i64);
    let id = store::new_run_id((began / 1_000_000_000).max(0) as u64, stend_base::random::mix(now.as_nanos() as u64));
    let path = match arguments.get_one::<String>("output") {
        Some(path) => PathBuf::from(path),
        None => {
            let directory = store::directory()?;
            store::make_directory(&directory)?;
            directory.join(format!("{id}.{}", store::EXTENSION))
        }
    };
    let header = RunHeader {
        id,
        started_unix: began / 1_000_000_000,
        stend_version: env!("CARGO_PKG_VERSION").to_string(),
        command_line: std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect(),
        inputs: run.inputs,
        suite_text: run.job_file,
        realtime_offset_ns: began,
        imported: Some(run.imported),
    };
    let writer = store::create(&path, header, Options::default())?;
    for entry in run.entries {
        writer.append(entry);
    }
    writer.close(RunState::Complete)?;
    shown(&path, out)
}

/// Prints the findings as `stend show` does, and where the file is.
fn shown(path: &Path, out: &Out) -> Result<()> {
    let run = store::read(path)?;
    let findings = stend_analyse::analyse(&run)?;
    if out.json {
        return out.result(&stend_report::json(&findings));
    }
    super::show::print(&run, &findings, out)?;
    let run_file = path.display();
    let places = say!(
        "run file  {run_file}\nnext      stend report {run_file} -o report.html",
        "файл прогона  {run_file}\nдальше        stend report {run_file} -o report.html"
    );
    out.note(places.get(out.lang));
    Ok(())
}

/// The files, each at most so much longer than it may be that it is refused.
fn read(names: &[String]) -> Result<Vec<Vec<u8>>> {
    let mut all = 0;
    let one = |name: &String| {
        let mut bytes = Vec::new();
        let read = std::fs::File::open(name).and_then(|file| file.take(RESULTS_MAX as u64 + 1).read_to_end(&mut bytes));
        read.map_err(|e| {
            Error::new(Kind::Usage, say!("cannot read `{name}`: {e}", "не удаётся прочитать `{name}`: {e}"))
        })?;
        all += bytes.len();
        if all > ALL_MAX {
            let message = say!("the files are longer than 1 GiB together", "файлы вместе длиннее 1 ГиБ");
            return Err(
                Error::new(Kind::Usage, message).hint(say!("import them in parts", "импортируйте их по частям"))
            );
        }
        Ok(bytes)
    };
    names.iter().map(one).collect()
}

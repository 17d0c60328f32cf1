//! `stend import FILE…`: results of another tool, or logs of fio, as a run file like any other.

pub(super) mod folders;

use crate::out::Out;
use clap::ArgMatches;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use stend_base::{Error, Result, Say, say};
use stend_interop::fio::log;
use stend_interop::{File, ImportedRun, RESULTS_MAX};
use stend_plan::Plan;
use stend_record::store;
use stend_record::{Entry, RunHeader, RunState};

/// Bytes of results that are held at a time: 1 GiB.
const ALL_MAX: usize = 1 << 30;
/// Bytes by which a log is recognised: a line, which of histograms is some thousand long.
const HEAD: u64 = 1 << 12;

/// Reads the results, writes the run file, and shows what is in it.
pub fn import(arguments: &ArgMatches, out: &Out) -> Result<()> {
    if arguments.get_flag("suite") {
        return super::import_suite::import(arguments, out);
    }
    let (names, aside) = folders::expanded(super::many(arguments, "FILE"))?;
    let output = arguments.get_one::<String>("output").map(PathBuf::from);
    let mut logs = 0;
    for name in &names {
        logs += usize::from(log::is_log(name, &head(name)?));
    }
    let path = match logs {
        0 => results(&names, aside, output)?,
        logs if logs == names.len() => logged(&names, output)?,
        _ => {
            let message = say!("import logs and results separately", "импортируйте журналы и результаты отдельно");
            return Err(Error::usage(message).hint(say!(
                "one `stend import` for each; `stend compare` takes both runs",
                "по одному `stend import` на каждое; `stend compare` берёт оба прогона"
            )));
        }
    };
    // What was imported is there whether or not a list knows it.
    let known = store::glance(&path)?.header.id;
    if let Some(Err(error)) = store::directory().ok().map(|directory| store::make_known(&path, &known, &directory)) {
        out.error(&error);
    }
    shown(&path, out)
}

/// A run of results.
fn results(names: &[String], aside: Vec<Say>, output: Option<PathBuf>) -> Result<PathBuf> {
    let texts = read(names)?;
    let files: Vec<File<'_>> = names.iter().zip(&texts).map(|(name, bytes)| File { name, bytes }).collect();
    let mut run = stend_interop::results(&files)?;
    run.imported.dropped.extend(aside);
    let entries = std::mem::take(&mut run.entries);
    let begun = Begun::now(run.started_unix_ns);
    let path = begun.path(output)?;
    let header = begun.header(run);
    let writer = store::create_whole(&path, &header)?;
    writer.append(Entry::Plan(Box::new(Plan::new(&header.inputs)?)));
    entries.into_iter().for_each(|entry| writer.append(entry));
    writer.close(RunState::Complete)
}

/// A run of logs, whose slices are written while they are read.
fn logged(names: &[String], output: Option<PathBuf>) -> Result<PathBuf> {
    let open = |name: &str| -> Result<Box<dyn Read>> {
        Ok(Box::new(stend_sys::regular::open(name).map_err(|why| super::unreadable(name, &why))?))
    };
    let begun = Begun::now(None);
    let path = begun.path(output)?;
    let writer = store::create_whole(&path, &begun.header(ImportedRun::nothing_yet("fio")))?;
    let mut run = log::read(names, &open, &mut |entry| writer.append(entry))?;
    let entries = std::mem::take(&mut run.entries);
    let header = begun.header(run);
    let plan = Plan::new(&header.inputs)?;
    writer.append(Entry::Header(Box::new(header)));
    writer.append(Entry::Plan(Box::new(plan)));
    entries.into_iter().for_each(|entry| writer.append(entry));
    writer.close(RunState::Complete)
}

/// What every imported run is given: its time, and by that its name.
struct Begun {
    id: String,
    /// ns since 1970.
    at: i64,
}

impl Begun {
    /// At the time that the results tell, else now.
    fn now(told: Option<i64>) -> Begun {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let at = told.unwrap_or(now.as_nanos() as i64);
        let entropy = stend_base::random::mix(now.as_nanos() as u64);
        Begun { id: store::new_run_id((at / 1_000_000_000).max(0) as u64, entropy), at }
    }

    /// Where the run file goes.
    fn path(&self, output: Option<PathBuf>) -> Result<PathBuf> {
        if let Some(path) = output {
            return Ok(path);
        }
        let directory = store::directory()?;
        store::make_directory(&directory)?;
        Ok(directory.join(format!("{}.{}", self.id, store::EXTENSION)))
    }

    fn header(&self, run: ImportedRun) -> RunHeader {
        RunHeader {
            id: self.id.clone(),
            started_unix: self.at / 1_000_000_000,
            stend_version: env!("CARGO_PKG_VERSION").to_string(),
            command_line: std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect(),
            named: Vec::new(),
            inputs: run.inputs,
            suite_text: run.asked_text,
            realtime_offset_ns: self.at,
            imported: Some(run.imported),
            stand: None,
            label: None,
            gate: None,
            recording: None,
            boot_id: String::new(),
        }
    }
}

/// Prints the findings as `stend show` does, and where the file is.
fn shown(path: &Path, out: &Out) -> Result<()> {
    let run = store::read(path)?;
    if out.json {
        return out.result(&stend_report::json(&stend_analyse::analyse(&run)?));
    }
    let run_file = path.display();
    let places = say!(
        "run file  {run_file}\nnext      stend report {run_file} -o report.html",
        "файл прогона  {run_file}\nдальше        stend report {run_file} -o report.html"
    );
    out.note(places.get(out.lang));
    // At length: what the other tool did not tell is in no other place.
    super::show::print(&run, &stend_analyse::judge(&run)?, None, None, out)
}

/// The beginning of a file, which shows whether it is a log or results.
fn head(name: &str) -> Result<Vec<u8>> {
    stend_sys::regular::bytes(name, HEAD).map_err(|why| super::unreadable(name, &why))
}

/// The files, each at most so much longer than it may be that it is refused.
fn read(names: &[String]) -> Result<Vec<Vec<u8>>> {
    let mut all = 0;
    let one = |name: &String| {
        let bytes = stend_sys::regular::bytes(name, RESULTS_MAX as u64).map_err(|why| super::unreadable(name, &why))?;
        all += bytes.len();
        if all > ALL_MAX {
            let message = say!("together the files are larger than 1 GiB", "вместе файлы больше 1 ГиБ");
            return Err(Error::usage(message).hint(say!("import them in parts", "импортируйте их по частям")));
        }
        Ok(bytes)
    };
    names.iter().map(one).collect()
}

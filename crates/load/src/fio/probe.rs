//! Which fio is installed, and what it can do. Must not run a job.

use crate::child::{self, Order};
use std::time::Duration;
use stend_base::{Error, Result, say};
use stend_spec::external::FioNeed;

/// The program; which one that is follows from PATH.
pub(super) const PROGRAM: &str = "fio";
/// A question is answered within this time.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);
/// Options without which fio cannot tell what a trial must know. `slat_percentiles` is not asked for: it came (in 3.18)
/// with leave to ask for both kinds of latency at once.
const NEEDED: [&str; 7] = [
    "lat_percentiles",
    "slat_percentiles",
    "write_hist_log",
    "log_hist_msec",
    "log_hist_coarseness",
    "exitall_on_error",
    "fallocate",
];

/// A fio that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fio {
    /// What it calls itself, e.g. `fio-3.33`.
    pub version: String,
    /// Its ways of submitting I/O.
    pub(super) engines: Vec<String>,
    /// Its logs can have the times of CLOCK_MONOTONIC.
    pub(super) monotonic: bool,
    /// It can open a target with `O_DSYNC`.
    pub(super) dsync: bool,
}

impl Fio {
    /// An error of kind `Preflight` if it cannot do what is needed.
    pub fn check(&self, need: FioNeed) -> Result<()> {
        if self.dsync || !need.o_dsync {
            return Ok(());
        }
        let version = &self.version;
        let message = say!(
            "{version} of this host does not know `sync=dsync`, which `sync: o_dsync` needs",
            "{version} на этой машине не знает `sync=dsync`, а он нужен для `sync: o_dsync`"
        );
        Err(Error::preflight(message).hint(say!("fio 3.24 or newer is needed", "нужен fio 3.24 или новее")))
    }
}

/// Asks the fio of this host. An error of kind `Preflight` if there is none, or one that cannot tell enough.
pub fn probe_fio() -> Result<Fio> {
    let [version, options, engines, syncs] =
        [&["--version"][..], &["--cmdhelp=all"], &["--enghelp"], &["--cmdhelp=sync"]].map(ask);
    read(&version?, &options?, &engines?, &syncs?)
}

fn ask(arguments: &[&str]) -> Result<String> {
    let words = arguments.iter().map(|word| word.to_string()).collect();
    let order = Order { program: PROGRAM, arguments: words, ..Order::default() };
    let ended = child::run(order, ANSWER_LIMIT, &|| false).map_err(|e| missing(&e))?;
    match ended.status {
        Some(status) if status.success() => Ok(String::from_utf8_lossy(&ended.output).into_owned()),
        _ => {
            let (asked, words) = (arguments.join(" "), ended.words);
            Err(Error::preflight(say!(
                "`{PROGRAM} {asked}` does not answer: {words}",
                "`{PROGRAM} {asked}` не отвечает: {words}"
            )))
        }
    }
}

/// fio cannot be started.
pub(super) fn missing(e: &std::io::Error) -> Box<Error> {
    let message = say!(
        "cannot start `{PROGRAM}`, which the suite or `--engine` asks for: {e}",
        "не удаётся запустить `{PROGRAM}`, которого требует набор или `--engine`: {e}"
    );
    Error::preflight(message).hint(say!(
        "install it (`apt-get install fio`, `dnf install fio`), or measure with Stend's own engine (`--engine native`)",
        "установите его (`apt-get install fio`, `dnf install fio`) или измеряйте генератором самого Stend (`--engine native`)"
    ))
}

/// From what it says of itself, its options, its engines and the values of `sync`.
fn read(version: &str, options: &str, engines: &str, syncs: &str) -> Result<Fio> {
    let version = version.trim();
    let first = |line: &str| line.split([':', ' ']).next().unwrap_or_default().to_string();
    let known: Vec<String> = options.lines().map(|line| first(line.trim())).collect();
    let lacks = NEEDED.into_iter().find(|option| !known.iter().any(|o| o == option));
    if let (Some(option), _) | (None, Some(option)) = (lacks, (!version.starts_with("fio-")).then_some("--version")) {
        return Err(Error::preflight(say!(
            "`{PROGRAM}` on this host is `{version}` and does not know `{option}`",
            "`{PROGRAM}` на этой машине — `{version}`, он не знает `{option}`"
        ))
        .hint(say!("fio 3.18 or newer is needed", "нужен fio 3.18 или новее")));
    }
    let has = |option: &str| known.iter().any(|o| o == option);
    Ok(Fio {
        version: version.to_string(),
        engines: engines.lines().filter(|line| line.starts_with(['\t', ' '])).map(|line| first(line.trim())).collect(),
        monotonic: has("log_alternate_epoch") && has("log_alternate_epoch_clock_id"),
        dsync: syncs.split_whitespace().any(|word| word == "dsync"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Kind;

    const ENGINES: &str = "Available IO engines:\n\tpsync\n\tio_uring\n\tlibaio\n";

    fn options(more: &str) -> String {
        let lines = NEEDED.map(|option| format!("{option:24}: what it does\n"));
        lines.concat() + "  verify_async          : a suboption\n" + more
    }

    /// What 3.33 says of `sync`, in part.
    const SYNCS: &str = "valid values: none\n: 0\n: sync\n: 1\n: dsync\n";

    #[test]
    fn what_it_can_do_is_read_from_its_own_words() {
        let fio = read("fio-3.33\n", &options(""), ENGINES, SYNCS).unwrap();
        assert_eq!(
            fio,
            Fio {
                version: "fio-3.33".into(),
                engines: ["psync", "io_uring", "libaio"].map(String::from).to_vec(),
                monotonic: false,
                dsync: true,
            }
        );
        let epoch = "log_alternate_epoch     : x\nlog_alternate_epoch_clock_id: y\n";
        assert!(read("fio-3.33", &options(epoch), ENGINES, SYNCS).unwrap().monotonic);
    }

    #[test]
    fn one_that_is_too_old_or_something_else_is_refused_with_what_it_lacks() {
        for lacks in ["lat_percentiles", "slat_percentiles", "write_hist_log"] {
            let lines: Vec<String> =
                options("").lines().filter(|line| !line.starts_with(lacks)).map(String::from).collect();
            let old = read("fio-3.17", &lines.join("\n"), ENGINES, SYNCS).unwrap_err();
            assert_eq!(old.kind, Kind::Preflight);
            assert!(old.message.en.contains("`fio-3.17`") && old.message.ru.contains(&format!("`{lacks}`")), "{old}");
            assert!(old.hint.as_ref().is_some_and(|hint| hint.en.contains("3.18")), "{old}");
        }
        let other = read("flexible 1", &options(""), ENGINES, SYNCS).unwrap_err();
        assert!(other.message.en.contains("`flexible 1`") && other.hint.is_some(), "{other}");
    }

    #[test]
    fn only_where_it_is_asked_for_must_it_know_o_dsync() {
        let [without, with] = [false, true].map(|o_dsync| FioNeed { o_dsync });
        // Until 3.23 it is a yes or no.
        let old = read("fio-3.19", &options(""), ENGINES, "type: boolean (opt=bool)\n").unwrap();
        assert!(old.check(without).is_ok());
        let error = old.check(with).unwrap_err();
        assert!(error.kind == Kind::Preflight && error.message.en.contains("fio-3.19"), "{error}");
        let new = read("fio-3.33", &options(""), ENGINES, SYNCS).unwrap();
        assert!(new.check(with).is_ok());
    }
}

//! How a file system is filled, and how full it is.

use crate::command::{self, words};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use stend_base::{Bytes, Error, Kind, Lang, Millionths, Result, Say, format, say};
use stend_record::EventKind;
use stend_spec::arm::line;
use stend_spec::fault::percent;
use stend_sys::block;

/// Written at once.
const MIB: u64 = 1 << 20;

/// One file system that is filled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Filling {
    /// The file that fills it.
    pub file: PathBuf,
    pub to: Millionths,
    /// Bytes are written; otherwise their space is reserved.
    pub is_written: bool,
}

/// How full a file system is, as `df` counts it: of what users may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Room {
    used: u64,
    all: u64,
}

impl Room {
    pub(super) fn of(path: &Path) -> std::io::Result<Room> {
        let (all, free) = block::space(path)?;
        Ok(Room { used: all.saturating_sub(free), all })
    }

    /// Whole MiB that are to be added until this part is taken; `None` if it is.
    pub(super) fn until(self, to: Millionths) -> Option<u64> {
        let goal = u128::from(self.all) * u128::from(to.0) / u128::from(Millionths::ALL.0);
        let missing = u64::try_from(goal).ok()?.checked_sub(self.used)? / MIB * MIB;
        (missing > 0).then_some(missing)
    }

    fn share(self) -> f64 {
        self.used as f64 / self.all.max(1) as f64
    }
}

impl Filling {
    fn words(&self, bytes: u64) -> Vec<String> {
        let file = self.file.display().to_string();
        match self.is_written {
            false => words("fallocate --length", &[&bytes.to_string(), &file]),
            true => {
                let more = [format!("of={file}"), format!("count={}", bytes / MIB)];
                // Past the page cache: what lies there has taken no space yet.
                let mut dd = words("dd if=/dev/urandom bs=1M iflag=fullblock oflag=direct conv=fsync status=none", &[]);
                dd.extend(more);
                dd
            }
        }
    }

    /// As a person would type it.
    pub(crate) fn shell(&self) -> String {
        line(&self.words(MIB))
    }

    /// Fills it; what came of it, for people.
    ///
    /// Errors: `Preflight` where it is full already, or `ended` says that nobody measures any more before it is as full as it should be.
    pub(crate) fn perform(&self, ended: &dyn Fn() -> bool, log: &mut dyn FnMut(EventKind)) -> Result<Say> {
        let directory = self.file.parent().unwrap_or(&self.file);
        let look = || Room::of(directory).map_err(|error| Error::preflight(unseen(directory, &error)));
        let bytes = look()?.until(self.to).ok_or_else(|| Error::preflight(full(directory, self.to)))?;
        let begin = Instant::now();
        let result = command::execute_plainly(&self.words(bytes), ended, log);
        let (after, took) = (look()?, begin.elapsed());
        match result {
            Ok(_) => Ok(self.told(bytes, took)),
            Err(error) if error.kind == Kind::Interrupted => {
                let (Say { en: to, ru: to_ru }, full) = (percent(self.to), after.share());
                let (full, full_ru) = (format::percent(full, Lang::En), format::percent(full, Lang::Ru));
                let at = directory.display();
                Err(Error::preflight(say!(
                    "the window ended before the file system of `{at}` was filled to {to} %: it was {full} full",
                    "окно кончилось раньше, чем файловая система `{at}` заполнилась до {to_ru} %: было занято {full_ru}"
                ))
                .hint(say!(
                    "give the trial more time, or fill less",
                    "увеличьте время испытания или заполняйте меньше"
                )))
            }
            Err(error) => Err(error),
        }
    }

    /// What was done, how much, and how fast: what is written takes its part of what the storage can do.
    fn told(&self, bytes: u64, took: Duration) -> Say {
        let size = |lang| format::bytes(Bytes(bytes), lang);
        let (en, ru) = (size(Lang::En), size(Lang::Ru));
        let Say { en: to, ru: to_ru } = percent(self.to);
        if !self.is_written {
            return say!(
                "the file system is filled to {to} %: {en} were reserved",
                "файловая система заполнена до {to_ru} %: зарезервировано {ru}"
            );
        }
        let seconds = took.as_secs_f64();
        let rate = |lang| format::throughput(bytes as f64 / seconds.max(1e-3), lang);
        let (rate, rate_ru) = (rate(Lang::En), rate(Lang::Ru));
        let (seconds, seconds_ru) = (format::fixed(seconds, 1, Lang::En), format::fixed(seconds, 1, Lang::Ru));
        say!(
            "the file system is filled to {to} %: {en} were written in {seconds} s, {rate} beside the load",
            "файловая система заполнена до {to_ru} %: {ru} записано за {seconds_ru} с, {rate_ru} рядом с нагрузкой"
        )
    }
}

pub(super) fn unseen(at: &Path, error: &std::io::Error) -> Say {
    let at = at.display();
    say!("cannot see how full `{at}` is: {error}", "не видно, насколько заполнено `{at}`: {error}")
}

pub(super) fn full(at: &Path, to: Millionths) -> Say {
    let (at, Say { en: to, ru: to_ru }) = (at.display(), percent(to));
    say!(
        "the file system of `{at}` is {to} % full already, or fuller",
        "файловая система `{at}` уже заполнена на {to_ru} % или больше"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_much_is_added_as_is_missing_and_nothing_to_what_is_fuller() {
        let room = Room { used: 300 * MIB, all: 1000 * MIB };
        assert_eq!(room.until(Millionths::percent(90)), Some(600 * MIB));
        assert_eq!(room.until(Millionths(300_500)), None, "less than a MiB");
        assert_eq!(room.until(Millionths::percent(20)), None);
        assert_eq!([room.share(), Room { used: 0, all: 0 }.share()], [0.3, 0.0]);
    }

    #[test]
    fn what_is_full_already_is_not_filled_and_the_words_tell_what_was_done() {
        let dir = tempfile::tempdir().unwrap();
        let filling = |to, is_written| Filling { file: dir.path().join("fill"), to, is_written };
        let error = filling(Millionths(1), true).perform(&|| false, &mut |_| {}).unwrap_err();
        assert!(error.message.en.contains("is 0.0001 % full already, or fuller"), "{error:?}");
        assert!(!dir.path().join("fill").exists());
        let told = filling(Millionths::percent(90), true).told(600 * MIB, Duration::from_secs(3));
        assert_eq!(
            told.en.replace('\u{a0}', " "),
            "the file system is filled to 90 %: 600 MiB were written in 3.0 s, 210 MB/s beside the load"
        );
        let told = filling(Millionths::percent(90), false).told(600 * MIB, Duration::from_secs(3));
        assert_eq!(told.en.replace('\u{a0}', " "), "the file system is filled to 90 %: 600 MiB were reserved");
        let words = filling(Millionths::percent(90), false).shell();
        assert!(words.starts_with("fallocate --length 1048576 "), "{words}");
    }
}

//! A stand with a log of every write: its layers above the log stopped, the device below them handed out to be made what it was, and
//! the layers started again as after a loss of power, without anything being made anew. Must not decide which states are looked at.

use super::down::undo;
use super::journal;
use super::kernel_state::KernelState;
use super::product::Product;
use super::up::until;
use super::{LocalStand, drives, stand_of};
use crate::change::{Change, Condition, Journal, Watch, perform};
use crate::claims;
use crate::owner::Owner;
use crate::roots::Roots;
use std::path::Path;
use stend_base::{Error, Kind, Result, Say, say};
use stend_spec::stand::{Layer, Stand};
use stend_sys::IoFile;

/// A stand that keeps a log, as it was when it was put up.
#[derive(Debug, Clone)]
pub struct Rewind {
    stand: Stand,
    nonce: u64,
    drives: Vec<Vec<String>>,
    /// Name of the mapping, and paths of what it lies on.
    mapping: String,
    data: String,
    log: String,
    /// Most states that are examined.
    pub points: u32,
}

impl Rewind {
    /// That of the stand of this name; `None`: it keeps no log.
    pub fn of(name: &str) -> Result<Option<Rewind>> {
        let roots = super::here();
        let Some(journal) = journal::look(&roots, name)? else { return Ok(None) };
        let (stand, head) = (stand_of(&journal)?, journal.stand().cloned().ok_or_else(super::no_head)?);
        let Some((layer, points)) = stand.log_writes() else { return Ok(None) };
        let drives = drives::paths(&roots, &head.drives)?;
        let local = LocalStand { stand: &stand, nonce: head.nonce, drives: drives.clone() };
        let kernel = KernelState::new(&roots, &journal);
        let below: Vec<String> =
            layer.on.iter().flat_map(|of| local.below(&kernel, of)).map(|below| below.path).collect();
        let [data, log] = &below[..] else { return Ok(None) };
        let (mapping, data, log) = (local.names().of(&layer.name), data.clone(), log.clone());
        drop(kernel);
        Ok(Some(Rewind { nonce: head.nonce, drives, mapping, data, log, points, stand }))
    }

    /// Name of the device with the log, for people.
    pub fn log(&self) -> &str {
        &self.log
    }

    /// Puts a mark of this name into the log: whatever was durable before it stands before it there.
    pub fn mark(&self, name: &str) -> Result<()> {
        self.dmsetup(&["message", &self.mapping, "0", "mark", name], &mut |_| {}).map(drop)
    }

    /// Whether every write so far is in the log.
    ///
    /// Errors: `Preflight` once it was full, or could not be written.
    pub fn must_be_whole(&self, watch: &mut Watch) -> Result<()> {
        let told = self.dmsetup(&["status", &self.mapping], watch.log)?;
        whole(&self.log, &told)
    }

    /// Stops the layers above the log and ends it: from then on the mapping hands everything to the device alone.
    pub fn end_log(&self, watch: &mut Watch) -> Result<()> {
        self.stop(watch)?;
        let roots = super::here();
        let journal = self.journal(&roots)?;
        let size = KernelState::new(&roots, &journal).size(&self.data).ok_or_else(|| self.gone())?;
        let table = format!("0 {} linear {} 0", size / 512, self.data);
        self.dmsetup(&["suspend", &self.mapping], watch.log)?;
        let loaded = self.dmsetup(&["load", "--table", &table, &self.mapping], watch.log);
        // A mapping that stays suspended would hold up everything that lists drives.
        let resumed = self.dmsetup(&["resume", &self.mapping], watch.log);
        loaded.and(resumed).map(drop)
    }

    /// The log, for reading past the page cache, and its size.
    pub fn open_log(&self) -> Result<(IoFile, u64)> {
        let roots = super::here();
        let size = KernelState::new(&roots, &self.journal(&roots)?).size(&self.log).ok_or_else(|| self.gone())?;
        let file = IoFile::open_read(Path::new(&self.log), true);
        Ok((file.map_err(|error| claims::cannot_read(&self.log, true, &error))?, size))
    }

    /// The device under the layers, claimed and open for writing while they are stopped, and its size.
    pub fn open_device(&self, owner: &Owner) -> Result<(IoFile, u64)> {
        let roots = super::here();
        let journal = self.journal(&roots)?;
        let kernel = KernelState::new(&roots, &journal);
        let path = kernel.find(&Product::Mapping(self.mapping.clone())).ok_or_else(|| self.gone())?;
        let node = kernel.at(&path).ok_or_else(|| self.gone())?;
        let claim = claims::claim(&roots, kernel.devices(), node, owner)?;
        let file = claim.open_write(true).map_err(|error| claims::explain(&path, error))?;
        Ok((file, node.size))
    }

    /// Stops the layers above the log, the topmost first.
    pub fn stop(&self, watch: &mut Watch) -> Result<()> {
        let roots = super::here();
        let mut journal = self.journal(&roots)?;
        for layer in self.above().into_iter().rev() {
            for step in self.steps(&roots, &journal, layer).into_iter().rev() {
                for (condition, action) in step.undo.iter().filter(|(condition, _)| starts(condition)) {
                    undo(&roots, condition, action, &mut journal, watch)?;
                }
            }
            let halt = self.local().halt(&KernelState::new(&roots, &journal), layer);
            if let Some((condition, action)) = halt {
                undo(&roots, &condition, &action, &mut journal, watch)?;
            }
        }
        Ok(())
    }

    /// Starts them again on what is on the device now. `Err` within: why that cannot be done; the judge of the state decides what it
    /// means.
    pub fn start(&self, watch: &mut Watch) -> Result<std::result::Result<(), Say>> {
        let roots = super::here();
        let mut journal = self.journal(&roots)?;
        for layer in self.above() {
            for index in 0..self.steps(&roots, &journal, layer).len() {
                // Anew each time: paths are those of what is there.
                let Some(step) = self.steps(&roots, &journal, layer).into_iter().nth(index) else { break };
                if KernelState::new(&roots, &journal).shows(&step.done) {
                    continue;
                }
                if let Err(why) = start(&roots, &step, &mut journal, watch) {
                    return match why.kind {
                        Kind::Interrupted => Err(why),
                        _ => Ok(Err(why.message)),
                    };
                }
            }
        }
        Ok(Ok(()))
    }

    fn above(&self) -> Vec<&Layer> {
        self.stand.log_writes().map(|(layer, _)| self.stand.above(&layer.name)).unwrap_or_default()
    }

    fn steps(&self, roots: &Roots, journal: &Journal, layer: &Layer) -> Vec<Change> {
        self.local().make(&KernelState::new(roots, journal), layer).steps
    }

    fn local(&self) -> LocalStand<'_> {
        LocalStand { stand: &self.stand, nonce: self.nonce, drives: self.drives.clone() }
    }

    fn journal(&self, roots: &Roots) -> Result<Journal> {
        journal::open(roots, &self.stand.name)?.ok_or_else(|| self.gone())
    }

    fn gone(&self) -> Box<Error> {
        let name = &self.stand.name;
        Error::preflight(say!(
            "the stand `{name}` is no longer up, or only partly",
            "стенд `{name}` уже не поднят или поднят не целиком"
        ))
    }

    fn dmsetup(&self, words: &[&str], log: &mut dyn FnMut(stend_record::EventKind)) -> Result<String> {
        let words: Vec<String> = ["dmsetup"].iter().chain(words).map(|word| word.to_string()).collect();
        crate::command::execute_plainly(&words, &|| false, log)
    }
}

/// Something that is there while a layer runs, and not what it consists of.
fn starts(condition: &Condition) -> bool {
    matches!(condition, Condition::Mounted(_) | Condition::Mapping { .. })
}

/// Does a step that starts a layer. What would have to be made anew was lost.
fn start(roots: &Roots, step: &Change, journal: &mut Journal, watch: &mut Watch) -> Result<()> {
    let again = step.done.is_of_a_restart();
    if !again && !starts(&step.done) && !matches!(step.done, Condition::Path(_)) {
        let Say { en, ru } = &step.what;
        return Err(Error::preflight(say!(
            "the device lacks the data to {en}",
            "на устройстве нет данных, чтобы {ru}"
        )));
    }
    // udev may have put a part of it together already, as its members appeared.
    for (condition, action) in step.undo.iter().filter(|_| again) {
        if KernelState::new(roots, journal).shows(condition) {
            perform(roots, action, journal, watch)?;
        }
    }
    step.apply.iter().try_for_each(|action| perform(roots, action, journal, watch))?;
    until(&step.what, &mut || KernelState::new(roots, journal).shows(&step.done))
}

//= linux, drivers/md/dm-log-writes.c, log_writes_status: "%llu %llu", then " logging_disabled"
fn whole(log: &str, told: &str) -> Result<()> {
    let words: Vec<&str> = told.split_whitespace().collect();
    match words[..] {
        [.., "log-writes", _, _] => Ok(()),
        [.., "log-writes", _, _, "logging_disabled"] => Err(Error::preflight(say!(
            "the log of writes on `{log}` was full, so that later writes are not in it",
            "журнал записей на `{log}` переполнился, и последующих записей в нём нет"
        ))
        .hint(say!(
            "take a larger device for the log, a shorter trial or a lower `rate`",
            "возьмите под журнал устройство больше, сократите испытание или уменьшите `rate`"
        ))),
        _ => Err(Error::preflight(say!(
            "there is no log of writes on `{log}`: `{told}`",
            "журнала записей на `{log}` нет: `{told}`"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{StandHead, run};

    #[test]
    fn a_log_that_was_full_or_is_none_is_told() {
        assert!(whole("/dev/b", "0 131072 log-writes 300 4711\n").is_ok());
        let told = |text: &str| whole("/dev/b", text).unwrap_err();
        let full = told("0 131072 log-writes 300 4711 logging_disabled");
        assert!(full.message.en.contains("`/dev/b` was full") && full.hint.is_some(), "{full}");
        assert!(told("0 131072 linear").message.en.contains("there is no log of writes"));
    }

    #[test]
    fn a_step_that_would_make_what_was_lost_is_not_done() {
        let tree = tempfile::tempdir().unwrap();
        let (roots, made) = (Roots::under(tree.path()), tree.path().join("made"));
        let step = |done: Condition| Change {
            apply: vec![run("touch", &[made.to_string_lossy().as_ref()])],
            ..Change::new(say!("make ext4 on /dev/x", "создать ext4 на /dev/x"), done)
        };
        let mut journal = Journal::imagined(StandHead::new("", "", 0, Vec::new(), ""));
        let mut watch = Watch { stopped: &|| false, log: &mut |_| {} };
        let mark = Condition::Mark { device: "/dev/x".into(), uuid: "u".into() };
        let error = start(&roots, &step(mark), &mut journal, &mut watch).unwrap_err();
        assert_eq!(error.message.en, "the device lacks the data to make ext4 on /dev/x");
        assert!(!made.exists());
        start(&roots, &step(Condition::Path(made.to_string_lossy().into_owned())), &mut journal, &mut watch).unwrap();
        assert!(made.exists());
    }
}

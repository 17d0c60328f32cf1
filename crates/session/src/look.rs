//! A look at several hosts at the same time. Changes nothing there but the copy of this program.

use crate::frontend::Frontend;
use std::collections::BTreeSet;
use std::sync::mpsc::channel;
use stend_base::{Error, Result, Say, say};
use stend_spec::order::NamedText;
use stend_wire::{Look, Remote, Seen};

/// Most hosts of one look.
const HOSTS_MAX: usize = 256;

/// What one host said, or what kept it from that.
pub struct Looked {
    /// The host, as `ssh` knows it.
    pub host: String,
    /// What it said.
    pub seen: Result<Seen>,
}

/// Hosts that are named as `ssh` knows them, and behind them those of these groups of a file, whatever they do in a run.
///
/// Errors: `Usage` where a name is none, or comes twice, and those of the file.
pub fn hosts(named: &[String], file: Option<&NamedText>, groups: &[String]) -> Result<Vec<Remote>> {
    let mut all: Vec<Remote> = named.iter().map(|host| Remote::new(host)).collect::<Result<_>>()?;
    if let Some(NamedText { file, text }) = file {
        let hosts = stend_spec::parse::hosts(text, file)?;
        let of_file = hosts.of_groups(groups)?.into_iter().map(Remote::of).collect::<Result<Vec<_>>>()?;
        all.extend(of_file);
    }
    let mut known = BTreeSet::new();
    if let Some(twice) = all.iter().map(Remote::name).find(|host| !known.insert(*host)) {
        return Err(Error::usage(say!("`{twice}` is named twice", "`{twice}` указана дважды")));
    }
    if all.len() > HOSTS_MAX {
        let count = all.len();
        let told = say!(
            "{count} hosts are too many; the limit is {HOSTS_MAX}",
            "{count} машин слишком много; не больше {HOSTS_MAX}"
        );
        return Err(Error::usage(told)
            .hint(say!("`--group` takes a part of a file of hosts", "`--group` выберет часть файла машин")));
    }
    Ok(all)
}

/// Looks at every host, in this order; one that cannot be reached does not keep the others waiting.
pub fn look(remotes: &[Remote], what: &Look, frontend: &Frontend) -> Vec<Looked> {
    let (sender, told) = channel();
    std::thread::scope(|scope| {
        let looks: Vec<_> = remotes
            .iter()
            .map(|remote| {
                let sender = sender.clone();
                scope.spawn(move || {
                    let host = remote.reach(&mut |text: Say| drop(sender.send(text)))?;
                    stend_run::look(host, what)
                })
            })
            .collect();
        drop(sender);
        // Until the last of them has nothing more to tell.
        told.iter().for_each(|text| frontend.note(text));
        let names = remotes.iter().map(|remote| remote.name().to_string());
        names
            .zip(looks)
            .map(|(host, look)| Looked { host, seen: look.join().unwrap_or_else(|_| Err(died())) })
            .collect()
    })
}

/// Removes the copies of this program from every host; of each what kept it from that.
pub fn clean(remotes: &[Remote]) -> Vec<(String, Result<()>)> {
    std::thread::scope(|scope| {
        let cleaned: Vec<_> = remotes.iter().map(|remote| scope.spawn(|| remote.clean())).collect();
        let names = remotes.iter().map(|remote| remote.name().to_string());
        names.zip(cleaned).map(|(host, done)| (host, done.join().unwrap_or_else(|_| Err(died())))).collect()
    })
}

/// A thread that panicked has printed that on the standard error.
fn died() -> Box<Error> {
    Error::bug(say!("the inspection of this host was interrupted", "осмотр этой машины прервался"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_named_once_and_is_no_option() {
        let words = |all: &[&str]| all.iter().map(|host| host.to_string()).collect::<Vec<_>>();
        let of = |named: &[&str]| hosts(&words(named), None, &[]);
        assert_eq!(of(&["a", "root@b"]).unwrap().len(), 2);
        assert!(of(&["a", "a"]).unwrap_err().message.en.contains("`a` is named twice"));
        assert!(of(&["a", "-x"]).unwrap_err().message.en.contains("does not name a host"));
        let many: Vec<String> = (0..257).map(|n| format!("h{n}")).collect();
        assert!(hosts(&many, None, &[]).unwrap_err().message.en.contains("the limit is 256"));
        let text = "hosts:\n  a: {ssh: x, groups: [g]}\n  nas: {ssh: nas, role: observe}\n".to_string();
        let file = NamedText { file: "h.yaml".into(), text };
        let found = hosts(&words(&["b"]), Some(&file), &[]).unwrap();
        assert_eq!(found.iter().map(Remote::name).collect::<Vec<_>>(), ["b", "a", "nas"], "whatever they do");
        assert_eq!(hosts(&[], Some(&file), &words(&["g"])).unwrap().len(), 1);
        assert!(hosts(&words(&["a"]), Some(&file), &[]).unwrap_err().message.en.contains("`a` is named twice"));
    }
}

//! A look at several hosts at the same time. Changes nothing there but the copy of this program.

use crate::frontend::Frontend;
use std::collections::BTreeSet;
use std::sync::mpsc::channel;
use stend_base::{Error, Kind, Result, Say, say};
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

/// Looks at every host, in the order in which they are named; one that cannot be reached does not keep the others waiting.
///
/// Errors: `Usage` where a name is none, or comes twice.
pub fn look(hosts: &[String], what: &Look, frontend: &Frontend) -> Result<Vec<Looked>> {
    let remotes = named(hosts)?;
    let (sender, told) = channel();
    Ok(std::thread::scope(|scope| {
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
    }))
}

/// Removes the copies of this program from every host.
///
/// Errors as [`look`]; of each host what kept it from that.
pub fn clean(hosts: &[String]) -> Result<Vec<(String, Result<()>)>> {
    let remotes = named(hosts)?;
    Ok(std::thread::scope(|scope| {
        let cleaned: Vec<_> = remotes.iter().map(|remote| scope.spawn(|| remote.clean())).collect();
        let names = remotes.iter().map(|remote| remote.name().to_string());
        names.zip(cleaned).map(|(host, done)| (host, done.join().unwrap_or_else(|_| Err(died())))).collect()
    }))
}

fn named(hosts: &[String]) -> Result<Vec<Remote>> {
    let mut known = BTreeSet::new();
    if let Some(twice) = hosts.iter().find(|host| !known.insert(host.as_str())) {
        return Err(Error::new(Kind::Usage, say!("`{twice}` is named twice", "`{twice}` указана дважды")));
    }
    if hosts.len() > HOSTS_MAX {
        let count = hosts.len();
        let told = say!(
            "{count} hosts are too many; the limit is {HOSTS_MAX}",
            "{count} машин слишком много; не больше {HOSTS_MAX}"
        );
        return Err(Error::new(Kind::Usage, told));
    }
    hosts.iter().map(|host| Remote::new(host)).collect()
}

/// A thread that panicked has printed that on the standard error.
fn died() -> Box<Error> {
    Error::new(Kind::Bug, say!("the inspection of this host was interrupted", "осмотр этой машины прервался"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_named_once_and_is_no_option() {
        let of = |hosts: &[&str]| named(&hosts.iter().map(|host| host.to_string()).collect::<Vec<_>>());
        assert_eq!(of(&["a", "root@b"]).unwrap().len(), 2);
        assert!(of(&["a", "a"]).unwrap_err().message.en.contains("`a` is named twice"));
        assert!(of(&["a", "-x"]).unwrap_err().message.en.contains("does not name a host"));
        let many: Vec<String> = (0..257).map(|n| format!("h{n}")).collect();
        assert!(named(&many).unwrap_err().message.en.contains("the limit is 256"));
    }
}

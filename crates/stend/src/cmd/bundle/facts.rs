//! The host of a bundle: its drives and what is built on them, and what `stend doctor` says.

use super::Making;
use crate::out::Out;
use stend_base::{Result, Say, say};
use stend_record::redact::Redaction;
use stend_record::{Checkup, Inventory};
use stend_report::BundlePart;
use stend_session::{Frontend, Progress};
use stend_wire::{Look, Remote, Seen};

/// Columns of texts: those of a usual terminal, and of a mail.
pub(super) const WIDTH: usize = 100;

/// What the host says of itself.
pub(super) struct Facts {
    /// What it is called: by the user, and by itself.
    pub names: Vec<String>,
    inventory: Option<Inventory>,
    checkup: Option<Checkup>,
}

/// Looks at this machine, or at one that `ssh` knows.
///
/// Errors: `Usage` where the name is none.
pub(super) fn look(host: Option<&str>, ask_drives: bool, making: &mut Making) -> Result<Facts> {
    let Some(name) = host else {
        let inventory = stend_worker::inventory(ask_drives);
        let names = vec![inventory.host.hostname.clone()];
        return Ok(Facts { names, inventory: Some(inventory), checkup: Some(stend_session::checkup(None)) });
    };
    let hosts = stend_session::hosts(&[name.to_string()], None, &[])?;
    let mut facts = Facts { names: vec![name.to_string()], inventory: None, checkup: None };
    // `root@db1` is called `db1` in its runs, too.
    facts.names.extend(name.rsplit_once('@').map(|(_, host)| host.to_string()));
    match ask(&hosts, &Look::Inventory { ask_drives }, making.out) {
        Ok(Seen::Inventory(inventory)) => {
            facts.names.push(inventory.host.hostname.clone());
            facts.inventory = Some(inventory);
        }
        Ok(_) => making.leave_out(BundlePart::Inventory, other_answer()),
        Err(why) => {
            making.leave_out(BundlePart::Inventory, why);
            return Ok(facts);
        }
    }
    match ask(&hosts, &Look::Checkup(None), making.out) {
        Ok(Seen::Checkup(checkup)) => facts.checkup = Some(checkup),
        Ok(_) => making.leave_out(BundlePart::Checkup, other_answer()),
        Err(why) => making.leave_out(BundlePart::Checkup, why),
    }
    Ok(facts)
}

fn ask(hosts: &[Remote], what: &Look, out: &Out) -> std::result::Result<Seen, Say> {
    let hears = |progress: Progress<'_>| {
        if let Progress::Note(text) = progress {
            out.note(text.get(out.lang));
        }
    };
    let frontend = Frontend { hears: &hears, may_report: &|_| Ok(()), ready: None, command_line: Vec::new() };
    let seen = stend_session::look(hosts, what, &frontend).pop().map(|looked| looked.seen);
    seen.unwrap_or_else(|| Ok(Seen::Checkup(Checkup::default()))).map_err(|error| {
        let Say { en, ru } = error.message;
        say!("facts of the host: {en}", "сведения о машине: {ru}")
    })
}

fn other_answer() -> Say {
    say!("facts of the host: it gave another answer", "сведения о машине: она ответила не то")
}

impl Facts {
    /// Has a redaction learn the secrets.
    pub fn teach(&self, redaction: &mut Redaction) -> Result<()> {
        self.names.iter().for_each(|name| redaction.learn_name(name));
        self.inventory.iter().try_for_each(|inventory| redaction.learn_inventory(inventory))?;
        self.checkup.iter().try_for_each(|checkup| redaction.scan(checkup))
    }

    /// Adds what is known.
    pub fn add(&self, making: &mut Making) -> Result<()> {
        if let Some(inventory) = &self.inventory {
            let inventory = making.masked(inventory.clone())?;
            let about = say!(
                "the host, its drives and what is built on them",
                "машина, её накопители и то, что на них построено"
            );
            making.in_both("", "host.txt", &about, &|lang| stend_report::inventory_text(&inventory, lang))?;
            making.file("data/host.json".into(), about, &stend_report::inventory_json(&inventory))?;
        }
        if let Some(checkup) = &self.checkup {
            let checkup = making.masked(checkup.clone())?;
            let about = say!(
                "what `stend doctor` finds: limits, settings, missing programs",
                "что находит `stend doctor`: ограничения, настройки, недостающие программы"
            );
            making.in_both("", "doctor.txt", &about, &|lang| stend_report::doctor_text(&checkup, lang, WIDTH))?;
            making.file("data/doctor.json".into(), about, &stend_report::doctor_json(&checkup))?;
        }
        Ok(())
    }
}

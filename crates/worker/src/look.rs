//! What this host says of itself where no run follows. Changes nothing.

use crate::inventory::inventory;
use crate::outbox::Outbox;
use stend_base::Result;
use stend_record::EventKind;
use stend_wire::{Look, Seen};

/// Looks. A target is sampled as before a run, which `outbox` hears of if it takes a while.
pub fn look(what: &Look, outbox: &Outbox) -> Result<Seen> {
    Ok(match what {
        Look::Checkup(on) => {
            let mut checkup = stend_stand::doctor(on.as_deref());
            checkup.items.push(stend_probe::reading_cost(std::path::Path::new("/")));
            Seen::Checkup(checkup)
        }
        Look::Inventory { ask_drives } => Seen::Inventory(inventory(*ask_drives)),
        Look::Target(path) => {
            let mut facts = stend_stand::inspect(path)?;
            let tell = &mut |text| outbox.event(EventKind::Note { text });
            stend_stand::sample_contents(std::slice::from_mut(&mut facts), tell);
            Seen::Target(facts)
        }
    })
}

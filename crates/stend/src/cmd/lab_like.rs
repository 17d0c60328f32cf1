//! `stend lab like`: the machine file of a machine like a host.

use super::required;
use crate::out::Out;
use clap::ArgMatches;
use serde_json::json;
use std::io::Read;
use stend_base::{Error, Result, Say, say};
use stend_record::Inventory;

/// Most bytes of an inventory: hundreds of drives take less than one MiB.
const INVENTORY_MAX: u64 = 64 << 20;

/// Prints it.
pub fn like(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let wanted = required(arguments, "largest");
    let largest = stend_base::units::parse_bytes(wanted).map_err(|Say { en, ru }| {
        Error::usage(Say { en: format!("--largest: {en}"), ru: format!("--largest: {ru}") })
    })?;
    let inventory = match arguments.get_one::<String>("FILE") {
        Some(name) => read(name)?,
        None => stend_worker::inventory(false),
    };
    let made = stend_lab::like(&inventory, largest)?;
    if made.left_out > 0 {
        let count = made.left_out;
        out.note(
            say!(
                "a machine of the lab has 24 drives at most; drives left out: {count}",
                "у машины лаборатории не более 24 накопителей; не вошло: {count}"
            )
            .get(out.lang),
        );
    }
    match out.json {
        true => out.result(&json!({"machine": made.text, "left_out": made.left_out}).to_string()),
        false => out.result(made.text.trim_end()),
    }
}

/// The inventory that another host printed.
fn read(name: &str) -> Result<Inventory> {
    let text = match name {
        "-" => {
            let mut text = String::new();
            let read = std::io::stdin().lock().take(INVENTORY_MAX + 1).read_to_string(&mut text);
            read.map(|_| text).map_err(|e| Say::same(e.to_string()))
        }
        name => stend_sys::regular::text(name, INVENTORY_MAX),
    };
    let text = text.map_err(|why| super::unreadable(name, &why))?;
    if text.len() as u64 > INVENTORY_MAX {
        let most = INVENTORY_MAX >> 20;
        return Err(Error::usage(say!("`{name}` is larger than {most} MiB", "`{name}` больше {most} МиБ")));
    }
    serde_json::from_str(&text).map_err(|e| {
        let hint = say!(
            "give the output of `stend inspect --json`, by the same version of Stend",
            "нужен вывод `stend inspect --json` той же версии Stend"
        );
        Error::usage(say!("`{name}` is not an inventory: {e}", "`{name}` не опись: {e}")).hint(hint)
    })
}

//! `stend lab fault`: drives of a machine that stays up fail, slow down, complain, or go away, and recover.

use super::required;
use crate::out::Out;
use clap::ArgMatches;
use serde_json::json;
use stend_base::units::parse_bytes;
use stend_base::{Error, Result, Say, say};
use stend_lab::{Failing, Faults, Standing};

/// Bit of `critical_warning` in the SMART log of NVMe: media errors have made the drive unreliable (NVM Express Base
/// Specification, log page 02h).
const UNRELIABLE: u8 = 1 << 2;

/// Begins the fault of a drive, or ends it.
pub fn fault(standing: &Standing, arguments: &ArgMatches, out: &Out) -> Result<()> {
    let [serial, fault] = ["DRIVE", "FAULT"].map(|name| required(arguments, name));
    let ends = arguments.get_flag("end");
    let at = arguments.get_one::<String>("at").map(|text| {
        parse_bytes(text)
            .map_err(|Say { en, ru }| Error::usage(Say { en: format!("--at: {en}"), ru: format!("--at: {ru}") }))
    });
    let at = at.transpose()?;
    if at.is_some() && (ends || !fault.starts_with("fail")) {
        return Err(Error::usage(say!(
            "`--at` belongs to the beginning of `fail`, `fail-reads` or `fail-writes`",
            "`--at` относится к началу `fail`, `fail-reads` и `fail-writes`"
        )));
    }
    let mut faults = standing.faults()?;
    match (fault, ends) {
        ("unplug", false) => faults.unplug(serial),
        ("unplug", true) => faults.plug(serial),
        ("freeze", false) => faults.freeze(serial),
        ("freeze", true) => faults.as_described(serial),
        ("warn", ends) => faults.warn(serial, if ends { 0 } else { UNRELIABLE }),
        (_, true) => faults.heal(serial),
        (failing, false) => fail(&mut faults, serial, failing, at),
    }?;
    let name = &standing.name;
    if out.json {
        return out.result(&json!({"machine": name, "drive": serial, "fault": fault, "active": !ends}).to_string());
    }
    let told = match ends {
        true => say!(
            "the fault `{fault}` of the drive `{serial}` has ended",
            "сбой `{fault}` накопителя `{serial}` закончен"
        ),
        false => say!(
            "the fault `{fault}` of the drive `{serial}` has begun; it ends by `stend lab fault {name} {serial} {fault} --end`",
            "сбой `{fault}` накопителя `{serial}` начался; закончить: `stend lab fault {name} {serial} {fault} --end`"
        ),
    };
    out.result(told.get(out.lang))
}

fn fail(faults: &mut Faults, serial: &str, failing: &str, at: Option<stend_base::Bytes>) -> Result<()> {
    let failing = match failing {
        "fail-reads" => Failing::Reads,
        "fail-writes" => Failing::Writes,
        _ => Failing::All,
    };
    faults.fail(serial, failing, at)
}

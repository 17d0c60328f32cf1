//! `stend stands [STAND]`, `stend lab machines [MACHINE]` and `stend monitoring [FILE]`: files inside the binary, listed or printed.

use crate::out::Out;
use clap::ArgMatches;
use serde_json::json;
use stend_base::{Error, Lang, Result, Say, format, say};
use stend_session::embedded::{Embedded, File, MACHINES, MONITORING, STANDS};
use stend_spec::machine::Machine;

/// Prints the list of stands, or the file of the stand that is named.
pub fn stands(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let named = arguments.get_one::<String>("STAND").map(|name| {
        let list = say!("`stend stands` lists them", "какие есть, покажет `stend stands`");
        known(&STANDS, name, say!("no stand `{name}` is built in", "встроенного стенда `{name}` нет"), list)
    });
    print(&STANDS, "stands", named.transpose()?, &of_stand, out)
}

/// The same of machines.
pub fn machines(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let named = arguments.get_one::<String>("MACHINE").map(|name| {
        let list = say!("`stend lab machines` lists them", "какие есть, покажет `stend lab machines`");
        known(&MACHINES, name, say!("no machine `{name}` is built in", "встроенной машины `{name}` нет"), list)
    });
    let of_machine = |file: &File| Ok(outline(&stend_spec::parse::machine(file.text, file.path)?));
    print(&MACHINES, "machines", named.transpose()?, &of_machine, out)
}

/// The same of what other monitors load.
pub fn monitoring(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let named = arguments.get_one::<String>("FILE").map(|name| {
        let list = say!("`stend monitoring` lists them", "какие есть, покажет `stend monitoring`");
        known(&MONITORING, name, say!("no file `{name}` is built in", "встроенного файла `{name}` нет"), list)
    });
    print(&MONITORING, "monitoring", named.transpose()?, &|file| Ok(for_whom(file)), out)
}

/// Which program loads a file, and what it has then.
fn for_whom(file: &File) -> Say {
    let known = [
        ("prometheus/", say!("Prometheus: alert rules", "Prometheus: правила оповещений")),
        ("snmp/", say!("SNMP: the MIB of the traps", "SNMP: MIB для трапов")),
        ("/host.", say!("Grafana: a host that is recorded", "Grafana: хост, который записывается")),
        ("/drive.", say!("Grafana: one of its drives", "Grafana: один из его накопителей")),
        ("/run.", say!("Grafana: a run that goes on", "Grafana: идущий прогон")),
    ];
    known.into_iter().find(|(part, _)| file.name.contains(part)).map_or_else(|| Say::same(""), |(_, about)| about)
}

fn known(all: &Embedded, name: &str, unknown: Say, list: Say) -> Result<&'static File> {
    all.named(name).ok_or_else(|| {
        let near = stend_spec::parse::nearest(name, all.all().iter().map(|file| file.name));
        let hint = near.map(|near| say!("did you mean `{near}`?", "возможно, `{near}`?"));
        Error::usage(unknown).hint(hint.unwrap_or(list))
    })
}

fn print(
    all: &Embedded,
    what: &str,
    named: Option<&File>,
    about: &dyn Fn(&File) -> Result<Say>,
    out: &Out,
) -> Result<()> {
    if let (Some(file), false) = (named, out.json) {
        return out.result(file.text);
    }
    let shown: Vec<&File> = all.all().iter().filter(|file| named.is_none_or(|one| one == *file)).collect();
    let abouts = shown.iter().map(|file| about(file)).collect::<Result<Vec<_>>>()?;
    if out.json {
        let file = |(file, about): (&&File, &Say)| json!({"name": file.name, "about": about, "text": file.text});
        let files: Vec<_> = shown.iter().zip(&abouts).map(file).collect();
        let document = json!({"schema": format!("stend-{what}"), "schema_version": 1, what: files});
        return out.result(&document.to_string());
    }
    let widest = shown.iter().map(|file| file.name.len()).max().unwrap_or_default();
    let line = |(file, about): (&&File, &Say)| format!("{:widest$}  {}\n", file.name, about.get(out.lang));
    out.result(&shown.iter().zip(&abouts).map(line).collect::<String>())
}

/// `drives: 6 · md · fs`: from the drives up.
fn of_stand(file: &File) -> Result<Say> {
    let stand = stend_spec::parse::stand(file.text, file.path)?;
    let drives = stand.drives.len();
    let mut parts = Vec::new();
    let hosts = stand.hosts.len();
    parts.extend((hosts > 0).then(|| say!("hosts: {hosts}", "машин: {hosts}")));
    parts.extend(stand.machine.map(|_| say!("a machine of the lab", "машина лаборатории")));
    parts.extend((drives > 0).then(|| say!("drives: {drives}", "накопителей: {drives}")));
    parts.extend(stand.layers.iter().map(|layer| Say::same(layer.kind.key())));
    Ok(Say::both(|lang| parts.iter().map(|part| part.get(lang)).collect::<Vec<_>>().join(" · ")))
}

/// What a machine has, in a line.
pub(super) fn outline(machine: &Machine) -> Say {
    let (cpus, drives) = (machine.cpus, machine.drives.len());
    let [en, ru] = [Lang::En, Lang::Ru].map(|lang| format::bytes(machine.memory, lang));
    say!("CPUs: {cpus}, memory: {en}, drives: {drives}", "процессоров: {cpus}, память: {ru}, накопителей: {drives}")
}

//! Machines of the lab that stay up: read from their files, and started.

use crate::Progress;
use crate::embedded::MACHINES;
use std::time::Duration;
use stend_base::format::fixed;
use stend_base::{Error, Lang, Result, Say, say};
use stend_lab::{Contents, Image, Order, Standing};
use stend_spec::machine::Machine;

/// Starts the machine of a file; it stays up.
///
/// Errors: those of the file, of an image that is missing, and of the start; `Interrupted` where `stopped` is true.
pub fn start(file: &str, stopped: &dyn Fn() -> bool, tell: &dyn Fn(Progress<'_>)) -> Result<Standing> {
    let (machine, text) = read_machine(file)?;
    let (cache, place) = (stend_lab::cache_directory()?, stend_lab::runtime_directory()?);
    let image = Image::find(&cache, &Contents::of(&machine))?;
    stend_lab::startable(&machine.name, &place)?;
    tell(Progress::Note(announcement(&machine)));
    let order = Order { machine: &machine, text: &text, image: &image, cache: &cache };
    stend_lab::up(&order, &place, stopped)
}

/// A machine file, else the embedded one of that name; and its text.
///
/// Errors: `Spec` if it cannot be read or is no machine file.
pub fn read_machine(name: &str) -> Result<(Machine, String)> {
    let limit = stend_spec::parse::SIZE_MAX as u64;
    let text = match MACHINES.find(name) {
        Some(file) => file.text.to_string(),
        None => stend_sys::regular::text(name, limit).map_err(|why| unreadable(name, &why))?,
    };
    Ok((stend_spec::parse::machine(&text, name)?, text))
}

/// That a machine is there again after its power was cut.
pub fn answers(name: &str, took: Duration) -> Say {
    let [en, ru] = [Lang::En, Lang::Ru].map(|lang| fixed(took.as_secs_f64(), 1, lang));
    say!(
        "the power of `{name}` was cut; its guest answers again after {en} s",
        "питание `{name}` отключалось; гостевая система снова отвечает через {ru} с"
    )
}

pub(crate) fn announcement(machine: &Machine) -> Say {
    let name = &machine.name;
    say!("starting the machine `{name}` of the lab", "запускается машина лаборатории `{name}`")
}

pub(crate) fn unreadable(name: &str, Say { en, ru }: &Say) -> Box<Error> {
    Error::spec(say!("cannot read the machine file `{name}`: {en}", "не удаётся прочитать файл машины `{name}`: {ru}"))
        .hint(say!(
            "name a machine file that you may read, or one that `stend lab machines` lists",
            "укажите доступный для чтения файл машины или одну из тех, что перечисляет `stend lab machines`"
        ))
}

//! A member of an array of md that a spare takes the place of, while it still works. Reads the machine, and changes what its undo is told
//! to; must not decide when.

use super::deeds::{self, Change, Deed, run};
use super::place::{Place, too_few};
use super::pools::Lack;
use super::{perform, pools};
use crate::devices::Node;
use crate::roots::text;
use crate::stands::{degraded, syncing};
use stend_base::{Result, Say, say};
use stend_record::EventKind;
use stend_spec::arm::line;
use stend_spec::fault::Which;

type Found<T> = std::result::Result<T, Say>;

/// A member and the spare that gets what it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Copy {
    array: String,
    member: String,
    spare: String,
    /// Kernel name of the member.
    name: String,
    /// The file that tells of the member.
    state: String,
}

pub(super) fn replace(place: &Place, which: Which, block: u32) -> Found<Change> {
    if place.arrays().next().is_none() {
        return pools::replace(place, which, block);
    }
    let array = place.array()?;
    let name = &array.name;
    if !place.is_made(array) {
        return Err(say!("{name} was not made by the stand of this run", "{name} создан не стендом этого прогона"));
    }
    must_have_copies(array)?;
    let (members, spares) = (place.members(array), place.spares(array));
    let Some(spare) = spares.first() else {
        return Err(say!(
            "{name} has no spare: give the layer `md: {{spares: 1}}` and one drive more",
            "в {name} нет запасного накопителя: добавьте слою `md: {{spares: 1}}` и ещё один накопитель"
        ));
    };
    let index = which.index(block, members.len());
    let member = *members.get(index).ok_or_else(|| match index < members.len() + spares.len() {
        true => {
            let (number, count) = (index + 1, members.len());
            say!(
                "drive {number} is a spare already: the members are 1 to {count}",
                "накопитель {number} и так запасной: в работе номера с 1 по {count}"
            )
        }
        false => too_few(members.len()),
    })?;
    let (array_path, path, spare) = (place.path(array), place.path(member), place.path(spare));
    let state = array.sysfs.join("md").join(format!("dev-{}", member.name.replace('/', "!"))).join("state");
    Ok(Change {
        of: Some(member.name.clone()),
        apply: vec![run("mdadm --quiet", &[&array_path, "--replace", &path, "--with", &spare])],
        undo: vec![Deed::GiveBack(Copy {
            array: array_path,
            member: path,
            spare,
            name: member.name.clone(),
            state: state.display().to_string(),
        })],
    })
}

/// Nothing is copied in an array without redundancy, nor beside something else that is being made up for.
fn must_have_copies(array: &Node) -> Found<()> {
    let (name, level) = (&array.name, text(array.sysfs.join("md/level")).unwrap_or_default());
    if !deeds::is_redundant(&level) {
        return Err(say!(
            "{name} is {level}, which has no spares",
            "{name} — {level}, запасных накопителей у него не бывает"
        ));
    }
    match (degraded(array), syncing(array)) {
        (0, None) => Ok(()),
        (0, Some(_)) => Err(say!("{name} is synchronising", "{name} синхронизируется")),
        (missing, _) => {
            Err(say!("{name} lacks {missing} members already", "в {name} уже не хватает накопителей: {missing}"))
        }
    }
}

impl Copy {
    /// That of an undo.
    pub(super) fn of(deed: &Deed) -> Option<&Copy> {
        match deed {
            Deed::GiveBack(copy) => Some(copy),
            _ => None,
        }
    }

    /// Md gives a member up when the spare has all that it has.
    //= linux, drivers/md/raid5.c, raid5_spare_active(): "Replaced device not technically faulty, but we need to be sure it gets removed and never re-added."
    fn is_complete(&self) -> bool {
        text(&self.state).is_none_or(|state| state.split(',').any(|word| word == "faulty"))
    }

    /// What is not copied yet, where the array does not tell that it is at it.
    pub(super) fn lack(&self) -> Option<Lack> {
        let text = format!("the copy of {} is not complete", self.name);
        (!self.is_complete()).then_some(Lack { text, is_mended: false })
    }

    /// As a person would type it when the copy is complete.
    pub(super) fn shell(&self) -> String {
        self.swap(&self.member).map(|words| line(&words)).join("; ")
    }

    /// One of both leaves its place, and comes back as a spare.
    fn swap(&self, leaves: &str) -> [Vec<String>; 3] {
        [deeds::remove(&self.array, leaves), deeds::erase(leaves), deeds::add(&self.array, leaves)]
    }

    /// The member becomes the spare. A copy that is not complete is called off: then the spare stays what it was.
    pub(super) fn give_back(&self, log: &mut dyn FnMut(EventKind)) -> Result<()> {
        self.deeds().iter().try_for_each(|deed| perform(deed, log))
    }

    fn deeds(&self) -> Vec<Deed> {
        if self.is_complete() {
            return self.swap(&self.member).map(Deed::LetGo).to_vec();
        }
        let [remove, erase, add] = self.swap(&self.spare).map(Deed::LetGo);
        // Before there is a spare again, which would be copied to at once.
        //= linux, drivers/md/md.c, state_store(): "-want_replacement" is for before the replacement has begun, or once it is gone
        let unwanted = Deed::Write { path: self.state.clone(), value: "-want_replacement".into() };
        vec![Deed::Run(deeds::give_up(&self.array, &self.spare)), remove, unwanted, erase, add]
    }
}

#[cfg(test)]
mod tests;

//! A member of an array of md that a spare takes the place of, while it still works. Reads the machine; must not change it.

use super::copy::Copy;
use super::lower_devices::{LowerDevices, too_few};
use super::md::{give_up, is_redundant};
use super::pools;
use crate::arrays::{degraded, syncing};
use crate::change::{Action, Change, run};
use crate::node::Node;
use crate::roots::text;
use stend_base::{Say, say};
use stend_spec::fault::Which;

type Found<T> = std::result::Result<T, Say>;

pub(super) fn replace(lower: &LowerDevices, which: Which, block: u32) -> Found<Change> {
    if lower.arrays().next().is_none() {
        return pools::replace(lower, which, block);
    }
    let array = lower.array()?;
    let name = &array.name;
    if !lower.is_made(array) {
        return Err(say!("{name} was not made by the stand of this run", "{name} создан не стендом этого прогона"));
    }
    must_have_copies(array)?;
    let (members, spares) = (lower.members(array), lower.spares(array));
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
    let (array_path, path, spare) = (lower.path(array), lower.path(member), lower.path(spare));
    let state = array.sysfs.join("md").join(format!("dev-{}", member.name.replace('/', "!"))).join("state");
    let apply = vec![run("mdadm --quiet", &[&array_path, "--replace", &path, "--with", &spare])];
    let (name, state) = (member.name.clone(), state.display().to_string());
    let copy = Copy { array: array_path, member: path, spare, name, state };
    Ok(Change::unseen(Say::same(&member.name), apply, [Action::GiveBack(copy)]))
}

/// Nothing is copied in an array without redundancy, nor beside something else that is being made up for.
fn must_have_copies(array: &Node) -> Found<()> {
    let (name, level) = (&array.name, text(array.sysfs.join("md/level")).unwrap_or_default());
    if !is_redundant(&level) {
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

/// What has the member become the spare. A copy that is not complete is called off: then the spare stays what it was.
pub(crate) fn ended(copy: &Copy) -> Vec<Action> {
    if copy.is_complete() {
        return copy.swap(&copy.member).map(Action::LetGo).to_vec();
    }
    let [remove, erase, add] = copy.swap(&copy.spare).map(Action::LetGo);
    // Before there is a spare again, which would be copied to at once.
    //= linux, drivers/md/md.c, state_store(): "-want_replacement" is for before the replacement has begun, or once it is gone
    let unwanted = Action::Tell { path: copy.state.clone(), value: "-want_replacement".into() };
    vec![Action::Run(give_up(&copy.array, &copy.spare)), remove, unwanted, erase, add]
}

#[cfg(test)]
mod tests;

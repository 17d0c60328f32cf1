//! Where a workload of vdbench works: the `range` of it or of its storage, the same part of each target. Must not know other keys.

use super::super::notes::Notes;
use super::File;
use super::lines::{Definition, Pair};
use stend_base::{Millionths, Result, say};
use stend_spec::region::{Extent, Part};

/// All of each target.
pub(super) const ALL: Part = Part { start: Extent::Share(Millionths(0)), size: None };

/// The part of each target that a workload uses; `None`: all, and nothing asks for it.
pub(super) fn of(file: &File, wd: &Definition, notes: &mut Notes) -> Result<Option<Part>> {
    let range = match wd.get("range") {
        Some(own) => Some(own),
        None => of_storage(file, notes)?,
    };
    let Some(pair) = range.filter(|pair| !pair.is_neutral()) else { return Ok(None) };
    let [from, to] = pair.values.as_slice() else {
        return Err(pair.wrong(&pair.values.join(","), "two percentages", "два процента"));
    };
    let (from, to) = (pair.percent(from)?, pair.percent(to)?);
    if from >= to {
        return Err(pair.wrong(&pair.values.join(","), "the smaller one first", "сначала меньшее"));
    }
    let share = |percent| Extent::Share(Millionths::percent(percent));
    Ok(Some(Part { start: share(from), size: Some(share(to - from)) }))
}

/// The range of all storage definitions. A suite has one part for all its targets.
fn of_storage<'f>(file: &'f File, notes: &mut Notes) -> Result<Option<&'f Pair>> {
    let values = |pair: Option<&'f Pair>| pair.filter(|pair| !pair.is_neutral()).map(|pair| &pair.values);
    let mut ranges = file.sds.iter().map(|sd| sd.get("range"));
    let first = ranges.next().flatten();
    let other = ranges.find(|other| values(*other) != values(first));
    if let Some(pair) = other.and_then(|other| other.or(first)) {
        notes.changed(
            &pair.place,
            say!("`range` differs between storage definitions", "`range` у хранилищ разный"),
            say!(
                "give all the same, or import a file for each `sd=`",
                "задайте всем одинаковый или импортируйте по файлу на каждый `sd=`"
            ),
        )?;
    }
    Ok(first)
}

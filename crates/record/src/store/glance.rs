//! The few facts of a run file that a list of runs shows, without reading what was measured.

use super::identity::{check_file, own};
use super::reader::{check_tables, damaged, header_of, open, unreadable};
use super::schema::{self, key};
use crate::facts::TargetFacts;
use crate::hosts::HostId;
use crate::run::{RunHeader, RunState};
use rusqlite::Connection;
use serde::Deserialize;
use std::path::Path;
use stend_base::Result;

/// What [`glance`] finds.
#[derive(Debug, Clone, PartialEq)]
pub struct Glance {
    /// The header.
    pub header: RunHeader,
    /// How far the run got.
    pub state: RunState,
    /// What the host that was measured or recorded is called: by the user, and by itself.
    pub host_names: Vec<String>,
    /// Facts of every target; none if the run ended before it was looked at.
    pub targets: Vec<TargetFacts>,
    /// Cases with at least one trial that began.
    pub cases: u32,
    /// Trials that began.
    pub trials: u32,
}

/// Looks at a run file without reading all of it. Entries that still wait in a spool are not counted.
///
/// Errors as those of [`read`](super::read); damage of anything but the header is not noticed.
pub fn glance(path: &Path) -> Result<Glance> {
    let (db, header) = header(path)?;
    let unreadable = unreadable(path);
    let sql = "SELECT COUNT(DISTINCT case_index), COUNT(*) FROM trial WHERE round = 0";
    let (cases, trials) = db.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).map_err(unreadable)?;
    let host = schema::get_host(&db, HostId::LOAD).ok().flatten().unwrap_or_default();
    let host_names = [Some(host.name), host.facts.map(|facts| facts.hostname)];
    Ok(Glance {
        header,
        state: schema::get_meta(&db, key::END).ok().flatten().unwrap_or(RunState::Open),
        host_names: host_names.into_iter().flatten().filter(|name| !name.is_empty()).collect(),
        targets: host.targets,
        cases,
        trials,
    })
}

/// The id of the run in a file.
///
/// Errors as those of [`glance`].
pub(super) fn id_of(path: &Path) -> Result<String> {
    header(path).map(|(_, header)| header.id)
}

/// What the user calls the run in a file, whatever version of the format it has: reading it says then that it is another one.
///
/// Errors: kind `RunFile` for what is no run file, or has no label where every version has it.
pub(super) fn label_of(path: &Path) -> Result<Option<String>> {
    #[derive(Deserialize)]
    struct Labelled {
        #[serde(default)]
        label: Option<String>,
    }
    own(path)?;
    let db = open(path).map_err(unreadable(path))?;
    let made = db.query_row("SELECT sql FROM sqlite_schema WHERE name = 'meta'", [], |row| row.get::<_, String>(0));
    if made.map_err(unreadable(path))? != schema::TABLES[0] {
        return Err(damaged(path, "its table `meta` is not that of a run file"));
    }
    let found: Option<Labelled> = schema::get_meta(&db, key::HEADER).map_err(unreadable(path))?;
    Ok(found.and_then(|header| header.label))
}

fn header(path: &Path) -> Result<(Connection, RunHeader)> {
    check_file(path)?;
    let db = open(path).map_err(unreadable(path))?;
    check_tables(&db).map_err(|why| damaged(path, &why))?;
    let header = header_of(&db, path)?;
    Ok((db, header))
}

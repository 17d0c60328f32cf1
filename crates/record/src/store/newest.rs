//! A recording as it is now, for pages that show what its host does. Must not read the samples before, which may be months.

use super::reader::{begin_snapshot, open_run, unreadable};
use super::reading::{Reading, binary};
use crate::parts::Parts;
use crate::run::RunRecord;
use crate::sample::Sample;
use rusqlite::Connection;
use std::path::Path;
use stend_base::Result;

/// How many samples back parts are looked for: they are read every half a minute, which is 300 samples of the quickest pace.
const SAMPLES_BACK: u32 = 600;

/// The newest of a recording.
pub struct Newest {
    /// Everything but samples: header, host, state, events.
    pub record: RunRecord,
    /// The last sample that can be read; `None`: there is none yet.
    pub sample: Option<Sample>,
    /// State of parts as it was last read, which is less often.
    pub parts: Option<Box<Parts>>,
}

/// Reads it, all as of one moment.
///
/// Errors as those of [`read`](super::read).
pub fn newest(path: &Path) -> Result<Newest> {
    let (db, header, _, budget) = open_run(path)?;
    let mut reading = Reading::new(header, budget);
    begin_snapshot(&db).map_err(unreadable(path))?;
    reading.all_but_samples(&db);
    let (sample, parts) = last(&db).map_err(unreadable(path))?;
    db.execute_batch("COMMIT").map_err(unreadable(path))?;
    Ok(Newest { record: reading.finish(), sample, parts })
}

fn last(db: &Connection) -> rusqlite::Result<(Option<Sample>, Option<Box<Parts>>)> {
    let sql = "SELECT body, octet_length(body) FROM sample WHERE host = 0 ORDER BY id DESC LIMIT ?1";
    let mut statement = db.prepare(sql)?;
    let mut rows = statement.query([SAMPLES_BACK])?;
    let mut newest = None;
    while let Some(row) = rows.next()? {
        // A damaged one costs itself alone.
        let Ok(sample) = binary::<Sample>(row, 0) else { continue };
        let parts = sample.parts.clone();
        newest.get_or_insert(sample);
        if parts.is_some() {
            return Ok((newest, parts));
        }
    }
    Ok((newest, None))
}

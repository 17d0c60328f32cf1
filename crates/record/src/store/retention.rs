//! Makes the samples of a recording fewer as they grow old, so that its file stays bounded. Must not look into a sample beyond its time.

use crate::recording::Retention;
use rusqlite::{Connection, Transaction, params};
use stend_base::Nanos;

/// Rows of one edge that one pass looks at: a pass every ten seconds keeps up with 10 samples a second, and is done in milliseconds.
const ROWS_PER_PASS: u32 = 2_000;

/// Rows that make room at a time, and how often in one pass: 64 000 rows are more than any pass adds.
const REMOVED_AT_ONCE: u32 = 1_000;
const REMOVALS_MAX: u32 = 64;

/// Events that a recording keeps, the newest: they are of drives that come and go, and of a full disk.
const EVENTS_MAX: i64 = 10_000;

/// Bytes at the begin of a stored sample that hold its time: a varint of 64 bits.
const TIME_BYTES: u32 = 10;

/// What of a recording was made fewer already.
#[derive(Debug)]
pub struct Thinning {
    retention: Retention,
    /// For the far edge of each tier.
    edges: Vec<Edge>,
    /// Time of the newest sample: ages are counted back from it.
    newest: Nanos,
}

/// How far the samples have been carried over the far edge of a tier.
#[derive(Debug, Clone, Copy, Default)]
struct Edge {
    /// Number of the last row.
    row: i64,
    /// Which step of the next tier has its sample.
    step: Option<u64>,
}

impl Thinning {
    pub fn new(retention: Retention) -> Thinning {
        let edges = vec![Edge::default(); retention.tiers.len()];
        Thinning { retention, edges, newest: Nanos(0) }
    }

    /// Notes that a sample came.
    pub fn note(&mut self, at: Nanos) {
        self.newest = self.newest.max(at);
    }

    /// Removes what is too old for its step, and the oldest if all of it takes too much. A pass is a transaction: killed in the
    /// middle nothing of it was done.
    pub fn pass(&mut self, db: &mut Connection) -> rusqlite::Result<()> {
        let mut edges = self.edges.clone();
        let transaction = db.transaction()?;
        for (at, edge) in edges.iter_mut().enumerate() {
            self.carry_over(&transaction, at, edge)?;
        }
        self.make_room(&transaction)?;
        let newest = "DELETE FROM event WHERE id <= (SELECT COALESCE(MAX(id), 0) FROM event) - ?1";
        transaction.execute(newest, [EVENTS_MAX])?;
        transaction.commit()?;
        self.edges = edges;
        Ok(())
    }

    /// One sample stays for each step of the next tier, as soon as they are older than tier `at` keeps them.
    fn carry_over(&self, db: &Transaction<'_>, at: usize, edge: &mut Edge) -> rusqlite::Result<()> {
        let Some(limit) = self.newest.0.checked_sub(self.retention.tiers[at].age.0) else { return Ok(()) };
        let next = self.retention.tiers.get(at + 1).map(|tier| tier.step.0.max(1));
        let sql = "SELECT id, substr(body, 1, ?2) FROM sample WHERE id > ?1 ORDER BY id LIMIT ?3";
        let mut statement = db.prepare(sql)?;
        let mut rows = statement.query(params![edge.row, TIME_BYTES, ROWS_PER_PASS])?;
        let mut removed = Vec::new();
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            let time = time_of(row.get_ref(1)?.as_blob().unwrap_or_default());
            // One that cannot be read tells no age, and is of no use.
            if time.is_some_and(|time| time.0 >= limit) {
                break;
            }
            let step = time.zip(next).map(|(time, next)| time.0 / next);
            match step {
                Some(step) if edge.step != Some(step) => edge.step = Some(step),
                _ => removed.push(id),
            }
            edge.row = id;
        }
        let mut remove = db.prepare("DELETE FROM sample WHERE id = ?1")?;
        removed.iter().try_for_each(|id| remove.execute([id]).map(drop))
    }

    fn make_room(&self, db: &Transaction<'_>) -> rusqlite::Result<()> {
        let oldest = "DELETE FROM sample WHERE id IN (SELECT id FROM sample ORDER BY id LIMIT ?1)";
        for _ in 0..REMOVALS_MAX {
            if used(db)? <= self.retention.size_max.0 || db.execute(oldest, [REMOVED_AT_ONCE])? == 0 {
                break;
            }
        }
        Ok(())
    }
}

/// Time of a stored sample: its first field.
pub(super) fn time_of(head: &[u8]) -> Option<Nanos> {
    postcard::take_from_bytes::<Nanos>(head).ok().map(|(at, _)| at)
}

/// Bytes of the pages that hold something. Freed ones are used again, so that the file does not grow beyond its largest state.
fn used(db: &Connection) -> rusqlite::Result<u64> {
    let number = |pragma: &str| db.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get::<_, i64>(0));
    let pages = number("page_count")?.saturating_sub(number("freelist_count")?);
    Ok(pages.saturating_mul(number("page_size")?).max(0) as u64)
}

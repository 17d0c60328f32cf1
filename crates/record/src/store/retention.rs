//! Makes the samples of a recording fewer as they grow old, so that its file stays bounded. Must not
//! judge what it keeps.

use crate::recording::Retention;
use crate::sample::Sample;
use rusqlite::{Connection, Transaction, params};
use stend_base::Nanos;

/// Rows of one edge that one pass looks at: a pass every ten seconds keeps up with 10 samples a second, and is done in milliseconds.
const ROWS_PER_PASS: u32 = 2_000;

/// Rows that make room at a time, and how often in one pass: 64 000 rows are more than any pass adds.
const REMOVED_AT_ONCE: u32 = 1_000;
const REMOVALS_MAX: u32 = 64;

/// Events that a recording keeps, the newest: they are of drives that come and go, and of a full disk.
const EVENTS_MAX: i64 = 10_000;
/// How many of these may be about errors in the kernel's log: a drive that dies is one every ten seconds, and must not take the place of all
/// others.
const KERNEL_ERRORS_MAX: i64 = 5_000;
/// Problems of the journal that are kept, the newest, apart from other events: years of a host that is looked after.
const PROBLEMS_MAX: i64 = 5_000;
/// Changes of the wall clock that are kept, the newest, apart from other events: a laptop that sleeps five times a day makes as many in a year.
const CLOCKS_MAX: i64 = 2_000;
/// Errors of a device that are older than this are kept once in [`KERNEL_ERRORS_STEP`]. A problem of the journal is the same one if errors
/// come within an hour, so that what goes changes neither its begin nor its end.
const KERNEL_ERRORS_AGE: Nanos = Nanos::secs(3600);
/// See [`KERNEL_ERRORS_AGE`].
const KERNEL_ERRORS_STEP: Nanos = Nanos::secs(1200);

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
    /// The sample of the last step of the next tier.
    kept: Option<Kept>,
}

/// A sample that stands for a step.
#[derive(Debug, Clone, Copy)]
struct Kept {
    /// Number of the step.
    step: u64,
    /// Number of its row.
    row: i64,
    /// Whether it has readings of temperatures, arrays, pools and paths, as one of many samples has.
    has_parts: bool,
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
        self.fewer_events(&transaction)?;
        transaction.commit()?;
        self.edges = edges;
        Ok(())
    }

    /// One sample stays for each step of the next tier, as soon as they are older than tier `at` keeps them: the first one with parts, or the first
    /// one. Counters are cumulative, so that any sample stands for its step; parts are states, and would be lost with the others.
    fn carry_over(&self, db: &Transaction<'_>, at: usize, edge: &mut Edge) -> rusqlite::Result<()> {
        let Some(limit) = self.newest.0.checked_sub(self.retention.tiers[at].age.0) else { return Ok(()) };
        let next = self.retention.tiers.get(at + 1).map(|tier| tier.step.0.max(1));
        let mut statement = db.prepare("SELECT id, body FROM sample WHERE id > ?1 ORDER BY id LIMIT ?2")?;
        let mut rows = statement.query(params![edge.row, ROWS_PER_PASS])?;
        let mut removed = Vec::new();
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            let body = row.get_ref(1)?.as_blob().unwrap_or_default();
            let time = time_of(body);
            // One that cannot be read tells no age, and is of no use.
            if time.is_some_and(|time| time.0 >= limit) {
                break;
            }
            edge.row = id;
            let Some(step) = time.zip(next).map(|(time, next)| time.0 / next) else {
                removed.push(id);
                continue;
            };
            match edge.kept.filter(|kept| kept.step == step) {
                Some(kept) if kept.has_parts || !has_parts(body) => removed.push(id),
                Some(kept) => {
                    removed.push(kept.row);
                    edge.kept = Some(Kept { row: id, has_parts: true, ..kept });
                }
                None => edge.kept = Some(Kept { step, row: id, has_parts: has_parts(body) }),
            }
        }
        let mut remove = db.prepare("DELETE FROM sample WHERE id = ?1")?;
        removed.iter().try_for_each(|id| remove.execute([id]).map(drop))
    }

    /// Errors in the kernel's log grow fewer with age, of a problem the last state stays, and each kind is bounded apart, then all others are.
    fn fewer_events(&self, db: &Transaction<'_>) -> rusqlite::Result<()> {
        let (at, is_of_errors) = ("json_extract(body, '$.at')", "json_type(body, '$.kind.kernel_errors') IS NOT NULL");
        let device = "json_extract(body, '$.kind.kernel_errors.device')";
        let numbered = format!("row_number() OVER (PARTITION BY {device}, {at} / ?1 ORDER BY id) AS nth");
        let errors = format!("SELECT id, {at} AS at, {numbered} FROM event WHERE {is_of_errors}");
        let of_step = format!("DELETE FROM event WHERE id IN (SELECT id FROM ({errors}) WHERE nth > 1 AND at < ?2)");
        let old = i64::try_from(self.newest.saturating_sub(KERNEL_ERRORS_AGE).0).unwrap_or(i64::MAX);
        db.execute(&of_step, [KERNEL_ERRORS_STEP.0 as i64, old])?;
        let is = |kind: &str| format!("json_type(body, '$.kind.{kind}') IS NOT NULL");
        let (is_problem, is_clock) = (is("problem"), is("wall_clock"));
        let same =
            ["rule", "object", "opened"].map(|key| format!("json_extract(body, '$.kind.problem.{key}')")).join(", ");
        let numbered = format!("row_number() OVER (PARTITION BY {same} ORDER BY id DESC) AS nth");
        let states = format!("SELECT id, {numbered} FROM event WHERE {is_problem}");
        db.execute(&format!("DELETE FROM event WHERE id IN (SELECT id FROM ({states}) WHERE nth > 1)"), [])?;
        let is_other = format!("NOT ({is_problem}) AND NOT ({is_clock})");
        let bounds = [
            (is_of_errors, KERNEL_ERRORS_MAX),
            (&is_problem, PROBLEMS_MAX),
            (&is_clock, CLOCKS_MAX),
            (&is_other, EVENTS_MAX),
        ];
        bounds.into_iter().try_for_each(|(which, most)| {
            let newest = format!("SELECT id FROM event WHERE {which} ORDER BY id DESC LIMIT -1 OFFSET ?1");
            db.execute(&format!("DELETE FROM event WHERE id IN ({newest})"), [most]).map(drop)
        })
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

fn has_parts(body: &[u8]) -> bool {
    postcard::from_bytes::<Sample>(body).is_ok_and(|sample| sample.parts.is_some())
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

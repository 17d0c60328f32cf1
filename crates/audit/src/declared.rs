//! H04 and H73: a table against the suite that it is said to come from. What the table leaves blank the suite tells, what both
//! tell must agree, and what the suite plans must be in the table.

use super::{Doubt, Found, Severity, doubt};
use stend_analyse::findings::CheckId;
use stend_base::{Bytes, Error, Result, Say, format, say};
use stend_plan::{Plan, PlanInputs, PlanTarget, Room};
use stend_record::published::Claim;
use stend_spec::suite::Suite;

/// Room that any suite finds enough: what is asked is what it would do, not whether it fits.
const ROOM: Room = Room { total: Bytes(1 << 50), free: Bytes(1 << 50) };
/// Missing cells that are listed one by one.
const MISSING_MAX: usize = 100;

/// A cell of a suite: what the numbers of one test are said to be of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    /// Name of the case, and with its axes: a table may call it either.
    names: [String; 2],
    block_size: Bytes,
    queue_depth: u32,
    jobs: u32,
}

/// The cells of a suite that a table of numbers can be of: those of one stream. Errors: those of [`Plan::new`], and a suite without
/// any.
pub fn declared(suite: Suite) -> Result<Vec<Declared>> {
    let mut suite = Suite { arms: Vec::new(), ..suite };
    suite.cases.retain(|case| case.streams.len() == 1 && case.streams[0].trace.is_none());
    let target = PlanTarget::directory(ROOM);
    let nothing = || {
        Error::spec(say!(
            "the suite has no case with a single stream, which a table could describe",
            "в наборе нет случая с одним потоком, к которому могла бы относиться таблица"
        ))
    };
    if suite.cases.is_empty() {
        return Err(nothing());
    }
    let plan = Plan::new(&PlanInputs { suite, seed: 1, target, time_budget: None, traces: Vec::new() })?;
    let of = |case: &stend_plan::Case| {
        let stream = case.trial.streams.first().filter(|stream| stream.rate.is_none())?;
        Some(Declared {
            names: [case.name.clone(), case.label()],
            block_size: stream.block_size,
            queue_depth: stream.queue_depth,
            jobs: stream.jobs,
        })
    };
    let cells: Vec<Declared> = plan.cases.iter().filter_map(of).collect();
    if cells.is_empty() { Err(nothing()) } else { Ok(cells) }
}

/// Names differ in case and in what joins their words.
fn plain(name: &str) -> String {
    name.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect()
}

/// The cell of a test. A name that several cells share is that of the one whose load the table tells.
fn cell<'a>(cells: &'a [Declared], claim: &Claim) -> Option<&'a Declared> {
    let test = plain(&claim.test);
    let named = |cell: &&Declared| !test.is_empty() && cell.names.iter().any(|name| plain(name) == test);
    let told = |cell: &&Declared| {
        claim.block_size.is_none_or(|size| size == cell.block_size)
            && claim.queue_depth.is_none_or(|depth| depth == cell.queue_depth)
            && claim.jobs.is_none_or(|jobs| jobs == cell.jobs)
    };
    let mut all = cells.iter().filter(named);
    let first = all.next()?;
    match all.next() {
        None => Some(first),
        Some(_) => cells.iter().filter(named).find(told),
    }
}

/// The rows with what the suite tells of their load where they are blank.
pub(super) fn completed(rows: &[Claim], cells: &[Declared]) -> Vec<Claim> {
    let one = |claim: &Claim| match cell(cells, claim) {
        Some(cell) => Claim {
            block_size: claim.block_size.or(Some(cell.block_size)),
            queue_depth: claim.queue_depth.or(Some(cell.queue_depth)),
            jobs: claim.jobs.or(Some(cell.jobs)),
            ..claim.clone()
        },
        None => claim.clone(),
    };
    rows.iter().map(one).collect()
}

/// H04: block size, depth and jobs of a test are those of its case.
pub(super) fn agrees(rows: &[Claim], cells: &[Declared]) -> Found {
    let (mut places, mut doubts) = (0, Vec::new());
    for claim in rows.iter().filter(|claim| claim.value.is_some()) {
        let Some(cell) = cell(cells, claim) else { continue };
        places += 1;
        let found: Vec<Say> = [
            claim.block_size.filter(|is| *is != cell.block_size).map(|is| {
                Say::both(|l| {
                    let (is, asked) = (format::bytes(is, l), format::bytes(cell.block_size, l));
                    say!("block size {is}, in the suite {asked}", "блок {is}, в наборе {asked}").get(l).to_string()
                })
            }),
            claim.queue_depth.filter(|is| *is != cell.queue_depth).map(|is| {
                let asked = cell.queue_depth;
                say!("queue depth {is}, in the suite {asked}", "глубина очереди {is}, в наборе {asked}")
            }),
            claim.jobs.filter(|is| *is != cell.jobs).map(|is| {
                let asked = cell.jobs;
                say!("jobs {is}, in the suite {asked}", "заданий {is}, в наборе {asked}")
            }),
        ]
        .into_iter()
        .flatten()
        .collect();
        if !found.is_empty() {
            let list = Say::both(|l| found.iter().map(|say| say.get(l)).collect::<Vec<_>>().join("; "));
            let (en, ru) = (&list.en, &list.ru);
            let why = say!(
                "{en}: the number belongs to another load than the declared one.",
                "{ru}: число относится не к заявленной нагрузке."
            );
            doubts.push(doubt(CheckId::H04, Severity::Wrong, claim, &[], why));
        }
    }
    Found { id: CheckId::H04, places, doubts }
}

/// H73: of each system that has a number of the suite, every cell has one.
pub(super) fn whole(rows: &[Claim], cells: &[Declared]) -> Found {
    let known: Vec<(&Claim, &Declared)> = rows
        .iter()
        .filter(|claim| claim.value.is_some())
        .filter_map(|claim| Some((claim, cell(cells, claim)?)))
        .collect();
    let system = |claim: &Claim| (claim.source.clone(), claim.experiment.clone(), claim.layout.clone());
    let mut systems: Vec<&Claim> = Vec::new();
    for (claim, _) in &known {
        if !systems.iter().any(|first| system(first) == system(claim)) {
            systems.push(claim);
        }
    }
    let mut doubts: Vec<Doubt> = Vec::new();
    for first in &systems {
        for cell in cells {
            let has = known.iter().any(|(claim, of)| system(claim) == system(first) && *of == cell);
            if has || doubts.len() >= MISSING_MAX {
                continue;
            }
            let (label, layout) = (&cell.names[1], &first.layout);
            let why = say!(
                "The suite plans `{label}`, but the table has no number for it with `{layout}`. Bad results may have been left out.",
                "В наборе тестов есть `{label}`, а в таблице для `{layout}` такого числа нет. Возможно, пропущены плохие результаты."
            );
            doubts.push(Doubt {
                what: format!("{layout}, {label}"),
                printed: "—".into(),
                ..doubt(CheckId::H73, Severity::Warn, first, &[], why)
            });
        }
    }
    Found { id: CheckId::H73, places: systems.len() * cells.len(), doubts }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::claim;
    use super::*;

    fn cells() -> Vec<Declared> {
        let text = "suite: s\ncases:\n- {name: rand-read, streams: [{op: read, pattern: random, block_size: 4KiB, queue_depth: [1, 32], jobs: 4}]}\n\
                    - {name: seq, streams: [{op: read, pattern: sequential, block_size: 1MiB, queue_depth: 8}]}\n\
                    - {name: both, streams: [{op: read, pattern: random, block_size: 4KiB}, {op: write, pattern: random, block_size: 4KiB}]}\n";
        declared(stend_spec::parse::suite(text, "s.yaml").unwrap()).unwrap()
    }

    fn number(row: u32, test: &str, depth: Option<u32>) -> Claim {
        Claim { queue_depth: depth, block_size: None, ..claim(row, test, "iops", "IOPS", "1000") }
    }

    #[test]
    fn what_the_table_leaves_blank_the_suite_tells() {
        let rows = [
            number(2, "Seq", None),
            number(3, "rand_read", Some(32)),
            number(4, "rand-read", None),
            number(5, "other", None),
        ];
        let completed = completed(&rows, &cells());
        let load = |i: usize| (completed[i].block_size, completed[i].queue_depth, completed[i].jobs);
        assert_eq!(load(0), (Some(Bytes::mib(1)), Some(8), Some(1)));
        assert_eq!(load(1), (Some(Bytes::kib(4)), Some(32), Some(4)));
        // Nothing shows which of two depths is meant; the first that contradicts nothing is taken.
        assert_eq!(load(2).1, Some(1));
        assert_eq!(load(3), (None, None, None));
    }

    #[test]
    fn what_both_tell_must_agree() {
        let found =
            agrees(&[number(2, "seq", Some(8)), number(3, "seq", Some(256)), number(4, "other", Some(1))], &cells());
        assert_eq!((found.places, found.doubts.len(), found.doubts[0].row), (2, 1, 3));
        assert!(found.doubts[0].why.en.starts_with("queue depth 256, in the suite 8"), "{}", found.doubts[0].why.en);
    }

    #[test]
    fn what_the_suite_plans_must_be_in_the_table() {
        let found = whole(&[number(2, "seq", None), number(3, "rand-read, queue_depth 32", None)], &cells());
        assert_eq!((found.places, found.doubts.len()), (3, 1));
        assert_eq!(found.doubts[0].what, "md, rand-read, queue_depth 1");
        assert!(whole(&[number(2, "other", None)], &cells()).doubts.is_empty());
    }

    #[test]
    fn a_suite_without_a_case_of_one_stream_is_refused() {
        let text =
            "suite: s\ncases: [{name: a, streams: [{op: read, pattern: random, block_size: 4KiB, rate: 100/s}]}]\n";
        assert!(declared(stend_spec::parse::suite(text, "s.yaml").unwrap()).is_err());
    }
}

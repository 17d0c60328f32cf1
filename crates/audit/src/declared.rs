//! H04 and H73: a table against the suite that it is said to come from. What the table leaves blank the suite tells, what both
//! tell must agree, and what the suite plans must be in the table.

use super::{Doubt, Found, Severity, doubt};
use std::collections::{BTreeSet, HashMap, HashSet};
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

/// The cells of a suite by their plain names.
struct Cells<'a> {
    all: &'a [Declared],
    by_name: HashMap<String, Vec<usize>>,
}

impl<'a> Cells<'a> {
    fn new(all: &'a [Declared]) -> Cells<'a> {
        let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
        for (place, cell) in all.iter().enumerate() {
            let names: BTreeSet<String> = cell.names.iter().map(|name| plain(name)).collect();
            names.into_iter().for_each(|name| by_name.entry(name).or_default().push(place));
        }
        Cells { all, by_name }
    }

    /// The place of the cell of a test. A name that several cells share is that of the one whose load the table tells.
    fn place(&self, claim: &Claim) -> Option<usize> {
        let told = |place: &&usize| {
            let cell = &self.all[**place];
            claim.block_size.is_none_or(|size| size == cell.block_size)
                && claim.queue_depth.is_none_or(|depth| depth == cell.queue_depth)
                && claim.jobs.is_none_or(|jobs| jobs == cell.jobs)
        };
        let test = Some(plain(&claim.test)).filter(|test| !test.is_empty())?;
        match self.by_name.get(&test)?.as_slice() {
            [one] => Some(*one),
            several => several.iter().find(told).copied(),
        }
    }

    fn of(&self, claim: &Claim) -> Option<&'a Declared> {
        self.place(claim).map(|place| &self.all[place])
    }
}

/// The rows with what the suite tells of their load where they are blank.
pub(super) fn completed(rows: &[Claim], cells: &[Declared]) -> Vec<Claim> {
    let cells = Cells::new(cells);
    let one = |claim: &Claim| match cells.of(claim) {
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
    let cells = Cells::new(cells);
    let (mut places, mut doubts) = (0, Vec::new());
    for claim in rows.iter().filter(|claim| claim.value.is_some()) {
        let Some(cell) = cells.of(claim) else { continue };
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
    Found::new(CheckId::H04, places, doubts)
}

/// H73: of each system that has a number of the suite, every cell has one. What is missing is listed up to a limit, and counted beyond.
pub(super) fn whole(rows: &[Claim], cells: &[Declared]) -> Found {
    let named = Cells::new(cells);
    let (mut systems, mut places_of, mut known) = (Vec::new(), HashMap::new(), HashSet::new());
    for claim in rows.iter().filter(|claim| claim.value.is_some()) {
        let Some(cell) = named.place(claim) else { continue };
        let system = *places_of.entry((&claim.source, &claim.experiment, &claim.layout)).or_insert_with(|| {
            systems.push(claim);
            systems.len() - 1
        });
        known.insert((system, cell));
    }
    let places = systems.len() * cells.len();
    let missing = places - known.len();
    let at = (0..systems.len()).flat_map(|system| (0..cells.len()).map(move |cell| (system, cell)));
    let mut at = at.filter(|at| !known.contains(at));
    let listed = at.by_ref().take(MISSING_MAX).map(|(system, cell)| {
        let first: &Claim = systems[system];
        let (label, layout) = (&cells[cell].names[1], &first.layout);
        let why = say!(
            "The suite plans `{label}`, but the table has no number for it with `{layout}`. Bad results may have been left out.",
            "В наборе тестов есть `{label}`, а в таблице для `{layout}` такого числа нет. Возможно, пропущены плохие результаты."
        );
        lacking(first, format!("{layout}, {label}"), why)
    });
    let mut doubts: Vec<Doubt> = listed.collect();
    let unlisted = missing - doubts.len();
    if let Some((system, _)) = at.next() {
        let first: &Claim = systems[system];
        let why = say!(
            "The table lacks {unlisted} more of the numbers that the suite plans, for this system or for later ones.",
            "Для этой системы и следующих не хватает других чисел из набора тестов: ещё {unlisted}."
        );
        doubts.push(lacking(first, first.layout.clone(), why));
    }
    Found { unlisted, ..Found::new(CheckId::H73, places, doubts) }
}

fn lacking(first: &Claim, what: String, why: Say) -> Doubt {
    Doubt { what, printed: "—".into(), ..doubt(CheckId::H73, Severity::Warn, first, &[], why) }
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

    #[test]
    fn what_is_missing_beyond_the_list_is_counted() {
        let system = |n: u32| Claim { layout: format!("s{n}"), ..number(n + 2, "seq", None) };
        let rows: Vec<Claim> = (0..60).map(system).collect();
        let audit = super::super::audit(
            &stend_record::published::Published { rows, ..Default::default() },
            Vec::new(),
            &cells(),
        );
        // Two cells of each of 60 systems.
        let checked = audit.checks.iter().find(|checked| checked.id == CheckId::H73).unwrap();
        assert_eq!((checked.places, checked.doubts), (180, 120));
        let listed: Vec<&Doubt> = audit.doubts.iter().filter(|doubt| doubt.check == CheckId::H73).collect();
        assert_eq!(listed.len(), MISSING_MAX + 1);
        let rest = listed.iter().find(|doubt| doubt.why.en.contains("20 more")).expect("a row for the rest");
        assert!(rest.why.ru.contains("ещё 20") && rest.row == 52, "{rest:?}");
    }
}

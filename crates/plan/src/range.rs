//! The range that a plan works in, and the test files that hold it where they are made. Pure.

use crate::{PlanInputs, Room};
use stend_base::{Bytes, Error, Lang, Nanos, Result, Say, format, say};
use stend_spec::files::Files;
use stend_spec::pattern::Pattern;
use stend_spec::suite::{Fill, Suite};
use stend_spec::workload::Region;

/// A fill larger than this is only made when asked for by size.
const FILL_AUTO_MAX: Bytes = Bytes::gib(8);
/// Below this a working set says more about caches in the path than about storage.
const FILL_MIN: Bytes = Bytes::mib(64);
/// A fill writes blocks of this size where the borders of targets allow it.
const FILL_WRITE: Bytes = Bytes::mib(1);
/// Time for which `FILL_AUTO_MAX` is meant; a shorter budget fills proportionally less.
const FILL_BUDGET: Nanos = Nanos::secs(180);

/// What trials may touch.
pub(crate) struct Range {
    /// All of it.
    pub region: Region,
    /// What each target gives to it.
    pub share: Bytes,
    /// Sizes of the test files to make on each target; none if what exists is used.
    pub files: Vec<Bytes>,
    /// What forms it, one behind the other: no I/O may cross from one piece into the next.
    pub pieces: Vec<Bytes>,
}

impl Range {
    /// Whether the files have room, beside what streams append. Asked last: what is wrong with a suite is wrong on a larger disk, too.
    pub fn must_have_room(&self, inputs: &PlanInputs) -> Result<()> {
        let Some(room) = inputs.target.room.filter(|_| !has_apps(&inputs.suite)) else { return Ok(()) };
        let together: Bytes = self.files.iter().copied().sum();
        let copies = copies(&inputs.suite);
        if together.0.saturating_mul(copies) <= ceiling(room) {
            return Ok(());
        }
        Err(no_room(Bytes(together.0.saturating_mul(copies)), self.files.len() as u64 * copies, room))
    }
}

/// The range that trials may touch: what exists, or new files of the fill's size or their own. Each of several targets gives
/// what it would give alone, of unequal ones each what the least of them does: so that all carry the same load.
pub(crate) fn range(inputs: &PlanInputs) -> Result<Range> {
    let count = inputs.target.count.max(1);
    let (share, files) = share(inputs)?;
    let unit = if count > 1 { unit(&inputs.suite, share, files.is_empty()) } else { Bytes::kib(4) };
    // Files of their own sizes keep them: whether blocks divide those is asked of every case.
    let (share, files) = match files.as_slice() {
        [] => (share.align_down(unit), files),
        [_] => (share.align_down(unit), vec![share.align_down(unit)]),
        _ => (share, files),
    };
    let len = share.0.checked_mul(u64::from(count)).map(Bytes).ok_or_else(|| too_large(count, share))?;
    let each = if files.is_empty() { vec![share] } else { files.clone() };
    let pieces = (0..count).flat_map(|_| each.iter().copied()).collect();
    Ok(Range { region: Region { start: Bytes(0), len }, share, files, pieces })
}

/// What the shares of several targets are multiples of: every block size of the suite, so that no block crosses from one
/// target into the next. A size that would take more than an eighth of the share is left out; its cases do not run. What `exists` is filled
/// in whole writes as well, whatever odd size a drive has.
fn unit(suite: &Suite, share: Bytes, exists: bool) -> Bytes {
    let sizes = suite.cases.iter().flat_map(|case| &case.streams).flat_map(|stream| &stream.block_size);
    let sizes = sizes.chain(exists.then_some(&FILL_WRITE));
    let most = share.0 / 8;
    let widen = |unit: u64, size: &Bytes| {
        let common = (unit / divisor(unit, size.0.max(1))).saturating_mul(size.0.max(1));
        if common <= most { common } else { unit }
    };
    Bytes(sizes.fold(Bytes::kib(4).0, widen))
}

/// Greatest common divisor, by Euclid.
fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

fn too_large(count: u32, share: Bytes) -> Box<Error> {
    let told = |lang: Lang| format::bytes(share, lang);
    let (en, ru) = (told(Lang::En), told(Lang::Ru));
    Error::preflight(say!("{count} targets of {en} are more than 16 EiB", "{count} объектов по {ru} — больше 16 ЭиБ"))
}

/// What each target gives, before it is made to fit the blocks, and the sizes of its test files.
fn share(inputs: &PlanInputs) -> Result<(Bytes, Vec<Bytes>)> {
    let target = &inputs.target;
    let whole = |len: Bytes| len.align_down(Bytes::kib(4));
    let scale = inputs.time_budget.map_or(1.0, |b| (b.0 as f64 / FILL_BUDGET.0 as f64).min(1.0));
    let auto = |available: u64| Bytes((FILL_AUTO_MAX.0.min(available) as f64 * scale) as u64).align_down(Bytes::mib(1));
    let Some(room) = target.room else {
        if inputs.suite.files.is_some() {
            let message = say!(
                "the suite asks for several files, which need a directory",
                "набору нужно несколько файлов, а для них нужен каталог"
            );
            let hint = say!("name a directory with `--on`", "укажите каталог в `--on`");
            return Err(Error::usage(message).hint(hint));
        }
        let len = match (inputs.suite.fill, &target.writes) {
            // Also where nothing may be written: the size is that of the measured range.
            (Some(Fill::Size(size)), _) => size.min(target.size),
            (Some(Fill::Auto), Ok(())) => auto(target.size.0).max(FILL_MIN).min(target.size),
            _ => target.size,
        };
        return Ok((whole(len), Vec::new()));
    };
    if has_apps(&inputs.suite) {
        // Only so that the directory is made and marked as any other: instances have their data beside it.
        return Ok((Bytes::mib(1), vec![Bytes::mib(1)]));
    }
    let len = match (inputs.suite.files.as_ref().and_then(Files::total), inputs.suite.fill) {
        (Some(total), _) => total,
        (None, Some(Fill::Size(size))) => size,
        _ => auto(lasting((room.free.0 / 10).min(ceiling(room) / copies(&inputs.suite)))).max(FILL_MIN),
    };
    let files = inputs.suite.files.as_ref().map_or_else(|| vec![whole(len)], |files| files.each(len));
    Ok((whole(files.iter().copied().sum()), files))
}

/// The power of two below: what is free changes with every file, and two runs in one directory should measure one range.
fn lasting(bytes: u64) -> u64 {
    bytes.checked_ilog2().map_or(0, |power| 1 << power)
}

fn has_apps(suite: &Suite) -> bool {
    suite.cases.iter().any(|case| case.app.is_some())
}

/// Files of each that is made: what streams append to comes beside the test files, and is never longer than they are.
fn copies(suite: &Suite) -> u64 {
    let appends = suite.cases.iter().flat_map(|case| &case.streams).any(|stream| stream.pattern == Pattern::Append);
    1 + u64::from(appends)
}

/// What may be written until the file system is full to 80 %, beyond which file systems get slower by themselves.
fn ceiling(room: Room) -> u64 {
    (room.total.0 / 5 * 4).saturating_sub(room.total.0.saturating_sub(room.free.0))
}

fn no_room(len: Bytes, files: u64, room: Room) -> Box<Error> {
    let told = |lang: Lang| (format::bytes(len, lang), format::bytes(room.free, lang));
    let ((need, free), (need_ru, free_ru)) = (told(Lang::En), told(Lang::Ru));
    let (what, what_ru) =
        if files == 1 { ("a test file", "файла") } else { ("test files", "файлов общим") };
    let message = Say {
        en: format!("no room for {what} of {need}: {free} are free and the file system may be filled to 80 % at most"),
        ru: format!(
            "нет места для {what_ru} размером {need_ru}: свободно {free_ru}, а файловую систему можно заполнить не более чем на 80 %"
        ),
    };
    let hint = say!("name a directory with more free space", "укажите каталог, где больше свободного места");
    Error::preflight(message).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::{Plan, PlanTarget};
    use stend_base::Kind;

    /// A suite with these lines in its head, on a directory with 10 GiB free of 20.
    fn plan(head: &str, block: &str) -> Result<Plan> {
        let stream = format!("{{op: read, pattern: random, block_size: {block}, jobs: {{per_file: 1}}}}");
        let text = format!("suite: x\n{head}\ncases:\n  - {{name: a, streams: [{stream}]}}\n");
        let room = Some(Room { total: Bytes::gib(20), free: Bytes::gib(10) });
        let target = PlanTarget { room, ..fixture::device(Bytes(0)) };
        Plan::new(&PlanInputs { target, ..fixture::inputs(stend_spec::parse::suite(&text, "s.yaml")?) })
    }

    #[test]
    fn several_files_form_the_range_and_are_filled_when_asked() {
        let sized = plan("files: {count: 64, size: 16MiB}\nfill: {size: auto}", "4KiB").unwrap();
        assert_eq!((sized.files.len(), sized.fill), (64, Some(Bytes::gib(1))));
        assert_eq!((sized.cases[0].trial.region.len, sized.cases[0].trial.streams[0].jobs), (Bytes::gib(1), 64));
        let parts = plan("files: {count: 3}\nfill: {size: 100MiB}", "4KiB").unwrap();
        assert_eq!((parts.files.clone(), parts.fill), (vec![Bytes::mib(33); 3], Some(Bytes::mib(99))));
        let unfilled = plan("files: {count: 2, size: 1GiB}", "4KiB").unwrap();
        assert_eq!((unfilled.files.len(), unfilled.fill), (2, None));
        assert_eq!(plan("fill: {size: 100MiB}", "4KiB").unwrap().files, [Bytes::mib(100)], "one file");
    }

    #[test]
    fn files_that_do_not_fit_or_cannot_be_made_are_errors() {
        let large = plan("files: {count: 8, size: 1GiB}", "4KiB").unwrap_err();
        assert!(large.kind == Kind::Preflight && large.message.en.contains("test files of 8 GiB"), "{large}");
        assert!(large.message.ru.contains("файлов общим размером 8 ГиБ"), "{large}");
        // As small as they get they are larger than what they share.
        let small = plan("files: {count: 1000}\nfill: {size: 1MiB}", "4KiB").unwrap();
        assert_eq!(small.cases[0].trial.region.len, Bytes::kib(4000));
        let odd = plan("files: {count: 8, size: 12KiB}", "8KiB").unwrap_err();
        assert!(odd.message.en.contains("blocks of 8 KiB do not divide the files of 12 KiB"), "{odd}");
        let text = "suite: x\nfiles: {count: 2}\ncases:\n  - {name: a, streams: [{op: read, pattern: random, block_size: 4KiB}]}\n";
        let device = Plan::new(&fixture::inputs(stend_spec::parse::suite(text, "s.yaml").unwrap())).unwrap_err();
        assert!(device.kind == Kind::Usage && device.message.en.contains("need a directory"), "{device}");
    }

    #[test]
    fn of_several_targets_each_gives_the_same_and_no_block_crosses() {
        let on = |count, size, head: &str, blocks: &str| {
            let stream = format!("{{op: read, pattern: random, block_size: {blocks}}}");
            let text = format!("suite: x\n{head}cases: [{{name: a, streams: [{stream}]}}]\n");
            let target = PlanTarget { count, ..fixture::device(size) };
            Plan::new(&PlanInputs { target, ..fixture::inputs(stend_spec::parse::suite(&text, "s.yaml")?) })
        };
        let share = |head: &str, blocks: &str| on(3, Bytes::mib(100) + Bytes(12_288), head, blocks).unwrap().share;
        assert_eq!(share("", "4KiB"), Bytes::mib(100), "in whole writes of a fill");
        // Both sizes and 1 MiB divide 3 MiB, of which 33 fit.
        assert_eq!(share("", "[4KiB, 48KiB]"), Bytes::mib(99));
        // Both sizes divide 112 KiB, and together with 1 MiB only what is more than an eighth of the share.
        let small = on(2, Bytes::mib(40) + Bytes(4096), "", "[4KiB, 112KiB]").unwrap().share;
        assert_eq!(small, Bytes::kib(112 * 365), "blocks of a case count more");
        let filled = on(3, Bytes::mib(100), "fill: {size: 10MiB}\n", "64KiB").unwrap();
        assert_eq!((filled.share, filled.fill, filled.targets), (Bytes::mib(10), Some(Bytes::mib(30)), 3));
        assert_eq!(filled.cases[0].trial.region.len, Bytes::mib(30));
        let read = PlanTarget { writes: Err(Say::same("in use")), ..fixture::device(Bytes::mib(512)) };
        let text = "suite: x\nfill: {size: 100MiB}\ncases: [{name: a, streams: [{op: read, pattern: random, block_size: 4KiB}]}]\n";
        let read = PlanInputs { target: read, ..fixture::inputs(stend_spec::parse::suite(text, "s.yaml").unwrap()) };
        let read = Plan::new(&read).unwrap();
        assert_eq!((read.share, read.fill), (Bytes::mib(100), None), "the size is honoured where nothing is filled");
        let large = on(2, Bytes::mib(100), "", "16MiB").unwrap_err();
        assert!(
            large.message.en.contains("blocks of 16 MiB do not divide the 100 MiB that each target gives"),
            "{large}"
        );
        let huge = on(64, Bytes(u64::MAX / 2), "", "4KiB").unwrap_err();
        assert!(huge.message.en.contains("more than 16 EiB"), "{huge}");
    }
}

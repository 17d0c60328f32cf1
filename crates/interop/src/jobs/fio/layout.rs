//! Where jobs of fio go to, as parts of one range: files and devices are its equal slots, side by side. Must not know what the
//! jobs do there, except whether it is in order.

use super::super::draft::directory_of;
use super::super::notes::{Notes, shown};
use super::area::{Area, device};
use super::job::Job;
use crate::fio_values::Amount;
use stend_base::{Bytes, Error, Millionths, Result, say};
use stend_spec::keys::FILL_SIZE;
use stend_spec::pattern::Pattern;
use stend_spec::region::{Extent, Part};
use stend_spec::suite::Fill;

/// The range that all jobs share.
#[derive(Debug)]
pub(super) struct Range {
    pub targets: Vec<String>,
    pub fill: Option<Fill>,
    pub files: Option<(u32, Bytes)>,
    /// Length of a slot, of files.
    slot: Option<Bytes>,
    slots: u64,
    /// Files by their names, in the order of their slots.
    names: Vec<String>,
    /// No I/O is made.
    nowhere: bool,
}
const WHOLE: u64 = Millionths::ALL.0 as u64;
/// The range of all jobs together.
pub(super) fn range(jobs: &[(Job, Area)], notes: &mut Notes) -> Result<Range> {
    let null = |job: &Job| matches!(job.get("ioengine").and_then(|o| o.value.as_deref()), Some("null" | "cpp_null"));
    if jobs.iter().all(|(job, _)| null(job)) {
        notes.decided(
            &jobs[0].0.place,
            say!(
                "`ioengine=null` makes no I/O: nothing is filled, and offsets do not matter",
                "`ioengine=null` не выполняет ввод-вывод: ничего не заполняется, и места не важны"
            ),
        );
        return Ok(Range {
            targets: Vec::new(),
            fill: None,
            files: None,
            slot: None,
            slots: 1,
            names: Vec::new(),
            nowhere: true,
        });
    }
    let named = |area: &Area| !area.paths.is_empty();
    if !jobs.iter().any(|(_, area)| named(area)) {
        return own_files(jobs, notes);
    }
    if let Some((job, _)) = jobs.iter().find(|(_, area)| !named(area)) {
        let name = shown(&job.name);
        let message = say!(
            "the job `{name}` has no `filename`, and others have one; fio would make a file `{name}.0.0` in the current directory",
            "у задания `{name}` нет `filename`, а у других есть; fio создал бы файл `{name}.0.0` в текущем каталоге"
        );
        return Err(job.place.error(message).hint(say!(
            "name the file or device that is meant; if it is to be another one, import that job on its own",
            "укажите нужный файл или устройство; если объект другой, импортируйте это задание отдельно"
        )));
    }
    let mut targets: Vec<String> = Vec::new();
    for path in jobs.iter().flat_map(|(_, area)| &area.paths) {
        if !targets.contains(path) {
            targets.push(path.clone());
        }
    }
    let slots = targets.len() as u64;
    let devices = targets.iter().filter(|path| device(path)).count();
    if devices == targets.len() {
        let names = targets.clone();
        return Ok(Range { targets, fill: None, files: None, slot: None, slots, names, nowhere: false });
    }
    if devices > 0 {
        let (job, _) = &jobs[0];
        return Err(job
            .place
            .error(say!("some jobs name devices and others files", "одни задания называют устройства, другие файлы"))
            .hint(say!("import them apart", "импортируйте их отдельно")));
    }
    files(jobs, slots, targets, notes)
}

fn own_files(jobs: &[(Job, Area)], notes: &mut Notes) -> Result<Range> {
    let of_case = |case| -> u64 {
        let areas = jobs.iter().filter(|(job, _)| job.case == case).map(|(_, area)| area);
        areas.map(Area::own_files).sum()
    };
    let slots = jobs.iter().map(|(job, _)| of_case(job.case)).max().unwrap_or(1);
    files(jobs, slots, Vec::new(), notes)
}

fn files(jobs: &[(Job, Area)], slots: u64, targets: Vec<String>, notes: &mut Notes) -> Result<Range> {
    let mut slot = Bytes(0);
    for (job, area) in jobs {
        let Some(size) = area.file() else {
            let option = job.get("size");
            let place = option.map_or(&job.place, |option| &option.place);
            let message = match option {
                Some(_) => say!(
                    "`size` is a share of a file that is not known here",
                    "`size` — доля файла, который здесь неизвестен"
                ),
                None => say!("no `size`: the length of the file is unknown", "нет `size`: длина файла неизвестна"),
            };
            return Err(place.error(message).hint(say!("write `size=1g`", "напишите `size=1g`")));
        };
        slot = slot.max(size);
    }
    if slots > 10_000 || slot.0 > u64::MAX / 10_000 {
        let (job, _) = &jobs[0];
        return Err(job
            .place
            .error(say!("{slots} files: too many or too large", "{slots} файлов — слишком много или слишком велики"))
            .hint(say!("import the jobs in parts", "импортируйте задания по частям")));
    }
    if slots == 1 {
        // A shorter file is a part of the shortest that is filled.
        slot = slot.max(FILL_SIZE.least);
    }
    let (job, _) = &jobs[0];
    notes.decided(
        &job.place,
        say!(
            "test files are made in the directory that `--on` names and written once before measuring; fio writes a file beforehand only if it is read",
            "тестовые файлы создаются в каталоге из `--on` и один раз записываются до измерений; fio заранее пишет файл, только если его читает"
        ),
    );
    let (fill, files) = match slots {
        1 => (Some(Fill::Size(slot)), None),
        _ => (Some(Fill::Auto), Some((slots as u32, slot))),
    };
    let names = targets;
    let targets = directories(jobs, &names, notes)?;
    Ok(Range { targets, fill, files, slot: Some(slot), slots, names, nowhere: false })
}

/// Directories of the files: what `--on` names, since files of a suite have no names.
fn directories(jobs: &[(Job, Area)], names: &[String], notes: &mut Notes) -> Result<Vec<String>> {
    let mut found: Vec<String> = Vec::new();
    let unnamed = jobs.iter().filter(|_| names.is_empty()).filter_map(|(_, area)| area.directory.clone());
    for directory in names.iter().map(|name| directory_of(name)).chain(unnamed) {
        if !found.contains(&directory) {
            found.push(directory);
        }
    }
    if found.len() > 1 {
        notes.changed(
            &jobs[0].0.place,
            say!(
                "files of several directories, which may be on several file systems, would lie in one here",
                "файлы из разных каталогов, возможно, разных файловых систем, лежали бы здесь в одном"
            ),
            say!("import the jobs of each directory on their own", "импортируйте задания каждого каталога отдельно"),
        )?;
        found.truncate(1);
    }
    Ok(found)
}

impl Range {
    /// Whether it is devices, which nobody fills.
    pub fn is_of_devices(&self) -> bool {
        self.slot.is_none() && !self.nowhere
    }

    /// The part of the range for each stream that a job becomes, and how many jobs each of those has. `own` counts files of the
    /// case's jobs before it. `None`: all of the range.
    pub fn parts(
        &self,
        job: &Job,
        area: &Area,
        own: u64,
        pattern: &Pattern,
        room: usize,
        notes: &mut Notes,
    ) -> Result<Vec<(Option<Part>, u32)>> {
        if self.nowhere {
            return Ok(vec![(None, area.clones)]);
        }
        self.percent_of_files(job, area, notes)?;
        if area.paths.is_empty() {
            return Ok(vec![(self.of_own_files(job, area, own, pattern, notes)?, area.clones)]);
        }
        let part = |clone: u64| self.of_paths(job, area, clone, pattern);
        let clones = u64::from(area.clones);
        if area.step != Amount::NONE {
            return (0..clones).map(|clone| Ok((part(clone)?, 1))).collect();
        }
        if clones == 1 {
            return Ok(vec![(part(0)?, 1)]);
        }
        let place = job.get("numjobs").map_or(&job.place, |option| &option.place);
        if *pattern == Pattern::Sequential && area.clones as usize <= room {
            notes.decided(
                place,
                say!(
                    "all {clones} jobs read the same blocks in order. In fio they start together, so a cache may answer all but one. Here each starts at an offset of its own. To give each job its own range, use `offset_increment`",
                    "все {clones} заданий идут по одним и тем же блокам. В fio они начинают с одного места, и кэш может ответить всем, кроме одного. Здесь каждое начинает со своего места. Разные области задаёт `offset_increment`"
                ),
            );
            let all = part(0)?.unwrap_or(Part { start: Extent::Share(Millionths(0)), size: None });
            return Ok(vec![(Some(all), 1); area.clones as usize]);
        }
        notes.decided(
            place,
            say!(
                "each of {clones} jobs has a part of its own; in fio all go over all of it, so that a cache may answer what another job has read",
                "у каждого из {clones} заданий своя часть; у fio все идут по всей области, и кэш может ответить тем, что прочло другое"
            ),
        );
        Ok(vec![(part(0)?, area.clones)])
    }

    /// What fio takes the percent of is a file as it finds it, which earlier jobs of the same run may just have made longer: three clones
    /// at 25 % of a file of 64 MiB made it 85.5 MiB long (fio 3.33).
    fn percent_of_files(&self, job: &Job, area: &Area, notes: &mut Notes) -> Result<()> {
        let inexact = |amount: Amount| matches!(amount, Amount::Percent(_)) && amount != Amount::NONE;
        let named = [("offset", area.offset), ("offset_increment", area.step)]
            .map(|(name, amount)| job.get(name).filter(|_| self.slot.is_some() && inexact(amount)));
        let Some(option) = named.into_iter().flatten().next() else { return Ok(()) };
        notes.changed(
            &option.place,
            say!(
                "percent of a file: fio takes the file as it finds it; here it is the file that is made, and I/O ends where that ends",
                "проценты от файла: fio берёт файл таким, каким его находит; здесь это созданный файл, и за его конец ввод-вывод не выходит"
            ),
            say!("give the offset in bytes", "задайте смещение в байтах"),
        )
    }

    /// Files that the job alone has, from the one numbered `own` on. All files of a suite are as long as the longest, so of a shorter one a part
    /// is used.
    fn of_own_files(
        &self,
        job: &Job,
        area: &Area,
        own: u64,
        pattern: &Pattern,
        notes: &mut Notes,
    ) -> Result<Option<Part>> {
        let whole = self.slots_from(job, own, area.own_files())?;
        let Some(slot) = self.slot else { return Ok(whole) };
        if area.own_files() == 1 {
            return Ok(in_file(slot, own, area, 0, pattern, whole));
        }
        let shorter = area.file().is_some_and(|file| file < slot) || area.offset != Amount::NONE;
        if let Some(option) = ["size", "offset"].iter().find_map(|name| job.get(name)).filter(|_| shorter) {
            notes.changed(
                &option.place,
                say!(
                    "a part of each of several files; here all of them would be used",
                    "часть каждого из нескольких файлов; здесь они использовались бы целиком"
                ),
                say!("give all jobs files of one size", "задайте всем заданиям файлы одного размера"),
            )?;
        }
        Ok(whole)
    }

    /// So many whole slots from the one numbered `first`.
    fn slots_from(&self, job: &Job, first: u64, count: u64) -> Result<Option<Part>> {
        if first == 0 && count == self.slots {
            return Ok(None);
        }
        Ok(Some(match self.slot {
            Some(slot) => Part {
                start: Extent::Size(Bytes(first.saturating_mul(slot.0))),
                size: Some(Extent::Size(Bytes(count.saturating_mul(slot.0)))),
            },
            None => Part {
                start: Extent::Share(self.share(job, first)?),
                size: Some(Extent::Share(self.share(job, count)?)),
            },
        }))
    }

    /// What so many devices of equal length are of all.
    fn share(&self, job: &Job, slots: u64) -> Result<Millionths> {
        if !(WHOLE * slots).is_multiple_of(self.slots) {
            let count = self.slots;
            return Err(self.apart(
                job,
                say!(
                    "a job on some of {count} devices: its share has more than four decimals",
                    "задание на части из {count} устройств: в его доле больше четырёх знаков"
                ),
            ));
        }
        Ok(Millionths((WHOLE * slots / self.slots) as u32))
    }

    fn apart(&self, job: &Job, text: stend_base::Say) -> Box<Error> {
        job.place.error(text).hint(say!(
            "import the jobs of each device on their own",
            "импортируйте задания каждого устройства отдельно"
        ))
    }

    fn of_paths(&self, job: &Job, area: &Area, clone: u64, pattern: &Pattern) -> Result<Option<Part>> {
        let slot = |path: &String| self.names.iter().position(|known| known == path).unwrap_or(0) as u64;
        let slots: Vec<u64> = area.paths.iter().map(slot).collect();
        let (first, count) = (slots[0], slots.len() as u64);
        let (whole, offset) = (self.slots_from(job, first, count)?, area.offset);
        if count > 1 {
            let in_row = slots.windows(2).all(|pair| pair[1] == pair[0] + 1);
            let part = area.offset != Amount::NONE
                || area.step != Amount::NONE
                || (self.slot.is_none() && area.size.is_some());
            if !in_row || part || *pattern == Pattern::Sequential {
                return Err(self.apart(job, say!(
                    "fio takes its files in turn; a stream treats them as one range, which is the same only in random order and over whole files",
                    "fio берёт файлы по очереди; для потока они одна область — это одно и то же лишь при случайном порядке и для целых файлов"
                )));
            }
            return Ok(whole);
        }
        match self.slot {
            Some(slot) => Ok(in_file(slot, first, area, clone, pattern, whole)),
            None => self.in_device(job, area, clone, first, offset, whole),
        }
    }

    fn in_device(
        &self,
        job: &Job,
        area: &Area,
        clone: u64,
        first: u64,
        offset: Amount,
        whole: Option<Part>,
    ) -> Result<Option<Part>> {
        let (unit, base) = (u64::from(self.share(job, 1)?.0), self.share(job, first)?);
        let percent = |n: u32| Millionths((unit * u64::from(n) / 100) as u32);
        let size = area.size;
        if offset == Amount::NONE && area.step == Amount::NONE && matches!(size, None | Some(Amount::Percent(100))) {
            return Ok(whole);
        }
        let steps = u32::try_from(clone).unwrap_or(u32::MAX);
        let (start, before) = match (offset, area.step) {
            (Amount::Bytes(bytes), Amount::Bytes(step)) if first == 0 && (bytes.0 > 0 || step.0 > 0) => {
                (Extent::Size(Bytes(bytes.0.saturating_add(step.0.saturating_mul(clone)))), 0)
            }
            (Amount::NONE, Amount::NONE) => (Extent::Share(base), 0),
            (offset @ (Amount::Percent(_) | Amount::NONE), step @ (Amount::Percent(_) | Amount::NONE)) => {
                let of = |amount| if let Amount::Percent(n) = amount { n } else { 0 };
                let before = of(offset).saturating_add(of(step).saturating_mul(steps));
                if before >= 100 {
                    let text = say!("the offset is beyond the end", "смещение за концом");
                    return Err(job.place.error(text).hint(say!("take a smaller one", "возьмите меньшее")));
                }
                (Extent::Share(Millionths(base.0 + percent(before).0)), before)
            }
            _ => {
                let text = say!(
                    "an offset in bytes on another device than the first, or beside one in percent",
                    "смещение в байтах не на первом устройстве или рядом с процентами"
                );
                return Err(self.apart(job, text));
            }
        };
        let size = match size {
            Some(Amount::Bytes(bytes)) => Some(Extent::Size(bytes)),
            Some(Amount::Percent(n)) => Some(Extent::Share(percent(n.min(100 - before)))),
            None if matches!(start, Extent::Share(_)) => Some(Extent::Share(percent(100 - before))),
            None if self.slots == 1 => None,
            None => {
                return Err(self.apart(
                    job,
                    say!(
                        "the rest of a device after a number of bytes",
                        "остаток устройства после заданного числа байт"
                    ),
                ));
            }
        };
        Ok(Some(Part { start, size }))
    }
}

/// A part of a file, all of whose bytes are known.
fn in_file(slot: Bytes, first: u64, area: &Area, clone: u64, pattern: &Pattern, whole: Option<Part>) -> Option<Part> {
    let of = |amount: Amount| match amount {
        Amount::Bytes(bytes) => bytes,
        Amount::Percent(n) => Bytes(slot.0 / 100 * u64::from(n)).align_down(Bytes::kib(4)),
    };
    let offset = Bytes(of(area.offset).0.saturating_add(of(area.step).0.saturating_mul(clone)));
    let file = area.filesize.unwrap_or(slot);
    let rest = Bytes(file.0.saturating_sub(offset.0));
    // At random fio goes over all of the file, however little of it `size` asks for (3.33).
    let all = area.filesize.is_some() && *pattern != Pattern::Sequential;
    let size = area.size.filter(|_| !all).map_or(rest, of).min(rest);
    let size = size.min(Bytes(slot.0.saturating_sub(offset.0)));
    if offset.0 == 0 && size == slot {
        return whole;
    }
    let start = Bytes(first.saturating_mul(slot.0).saturating_add(offset.0));
    Some(Part { start: Extent::Size(start), size: Some(Extent::Size(size)) })
}

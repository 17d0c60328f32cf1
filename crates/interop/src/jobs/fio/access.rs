//! What I/Os of a job of fio do, in which order and how large: `rw`, mixes, block sizes, distributions. Must not know where
//! they go to.

use super::super::notes::Notes;
use super::job::Job;
use super::lines::Opt;
use crate::fio_values::zones;
use stend_base::{Bytes, Millionths, Result, Say, say};
use stend_spec::keys::{BLOCK_SIZE, BLOCK_UNIT};
use stend_spec::pattern::Pattern;
use stend_spec::workload::{BlockShare, Mix};

/// What follows from `rw` and the mix.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kinds {
    pub mix: Mix,
    pub random: bool,
}

impl Kinds {
    /// Which of read, write and discard there are.
    pub fn active(self) -> [bool; 3] {
        [self.mix.read > 0, self.mix.write > 0, self.mix.discard > 0]
    }
}

pub(super) fn kinds(job: &Job, notes: &mut Notes) -> Result<Kinds> {
    let Some(rw) = job.get("rw") else {
        notes.decided(&job.place, say!("without `rw` fio reads sequentially", "без `rw` fio читает последовательно"));
        return Ok(Kinds { mix: Mix::of_reads(100), random: false });
    };
    let (word, modifier) = match rw.text()?.split_once(':') {
        Some((word, modifier)) => (word.trim(), Some(modifier)),
        None => (rw.text()?, None),
    };
    let (random, kind) = match word.strip_prefix("rand") {
        Some(kind) => (true, kind),
        None => (false, word),
    };
    let mix = match kind {
        "read" => Mix::of_reads(100),
        "write" => Mix::of_reads(0),
        "trim" => Mix { discard: 100, ..Mix { write: 0, ..Mix::of_reads(0) } },
        "rw" => Mix::of_reads(reads(job)?),
        "readwrite" if !random => Mix::of_reads(reads(job)?),
        "trimwrite" => {
            let text = say!(
                "`{word}` discards each block right before it is written, which a mix does not",
                "`{word}` освобождает каждый блок прямо перед записью, смесь так не делает"
            );
            notes.changed(
                &rw.place,
                text,
                say!("write `op: {{write: 50, discard: 50}}`", "напишите `op: {{write: 50, discard: 50}}`"),
            )?;
            Mix { write: 50, discard: 50, ..Mix::of_reads(0) }
        }
        _ => return Err(rw.wrong(word, "a kind of I/O such as `randread`", "вид операций, например `randread`")),
    };
    if let Some(modifier) = modifier.filter(|modifier| !matches!(modifier.trim(), "0" | "1") || !random) {
        modified(rw, modifier, random, notes)?;
    }
    if !random && mix.shares().count() > 1 && mix.discard == 0 {
        notes.changed(
            &rw.place,
            say!(
                "fio keeps a position for reads and one for writes; here a mix goes through one sequence",
                "fio ведёт отдельные позиции чтений и записей; здесь смесь идёт по одной последовательности"
            ),
            say!(
                "take two jobs, one that reads and one that writes",
                "возьмите два задания: одно читает, другое пишет"
            ),
        )?;
    }
    Ok(Kinds { mix, random })
}

/// What stands behind the colon of `rw`.
fn modified(rw: &Opt, modifier: &str, random: bool, notes: &mut Notes) -> Result<()> {
    let modifier = super::super::notes::shown(modifier);
    let text = match random {
        true => say!(
            "with `:{modifier}` fio goes on in order for so many I/Os and then jumps",
            "с `:{modifier}` fio идёт подряд столько операций, затем прыгает"
        ),
        false => say!(
            "with `:{modifier}` fio leaves holes or goes backwards",
            "с `:{modifier}` fio оставляет пропуски или идёт назад"
        ),
    };
    let hint = match random {
        true => say!(
            "write `pattern: {{sequential: 87.5%}}` for runs of eight",
            "для серий по восемь напишите `pattern: {{sequential: 87.5%}}`"
        ),
        false => say!(
            "write `pattern: {{strided: …}}` or `pattern: reverse`",
            "напишите `pattern: {{strided: …}}` или `pattern: reverse`"
        ),
    };
    notes.changed(&rw.place, text, hint)
}

/// Percent of reads in a mix; of `rwmixread` and `rwmixwrite` the last one counts.
fn reads(job: &Job) -> Result<u8> {
    let Some(option) = job.last(["rwmixread", "rwmixwrite"]) else { return Ok(50) };
    let percent = option.small()?;
    if percent > 100 {
        return Err(option.wrong(&percent.to_string(), "0 to 100 percent", "от 0 до 100 процентов"));
    }
    Ok(if option.name == "rwmixread" { percent as u8 } else { 100 - percent as u8 })
}

/// Sizes of the I/Os: one, or a mixture.
pub(super) fn sizes(job: &Job, kinds: Kinds, notes: &mut Notes) -> Result<(Bytes, Vec<BlockShare>)> {
    let base = job.kb_base()?;
    if let Some(option) = job.get("bs_unaligned")
        && option.flag()?
    {
        notes.changed(
            &option.place,
            say!("here I/Os are aligned to their size", "здесь операции выровнены по своему размеру"),
            say!("leave it out", "уберите её"),
        )?;
    }
    let found = if let Some(split) = job.get("bssplit") {
        mixture(split, split_by_kind(split, kinds, notes)?, base)?
    } else if let Some(range) = job.get("bsrange") {
        ranged(range, base, kinds, notes)?
    } else {
        let size = match job.get("bs") {
            Some(option) => one(option, kinds, base, notes)?,
            None => Bytes::kib(4),
        };
        vec![BlockShare { size, percent: 100 }]
    };
    let smallest = found.first().map_or(Bytes(0), |share| share.size);
    if let Some(option) = job.get("ba")
        && !matches!(option.bytes(option.text()?, base)?, aligned if aligned == smallest || aligned.0 == 0)
    {
        notes.changed(
            &option.place,
            say!("here I/Os are aligned to their smallest size", "здесь операции выровнены по наименьшему размеру"),
            say!("leave it out", "уберите её"),
        )?;
    }
    match found.as_slice() {
        [one] => Ok((one.size, Vec::new())),
        _ => Ok((found.last().map_or(smallest, |share| share.size), found)),
    }
}

/// The value of the only kind there is, or the one that all have.
fn same<'a>(option: &Opt, values: [Option<&'a str>; 3], kinds: Kinds, notes: &mut Notes) -> Result<Option<&'a str>> {
    let mut active = kinds.active().into_iter().zip(values).filter(|(is, _)| *is).map(|(_, value)| value);
    let first = active.next().flatten();
    if active.any(|other| other != first) {
        let name = &option.name;
        notes.changed(
            &option.place,
            say!(
                "`{name}` differs between kinds of I/O, and a stream has one for all",
                "`{name}` у видов операций разный, а у потока он общий"
            ),
            say!("take a job for each kind", "возьмите по заданию на каждый вид"),
        )?;
    }
    Ok(first)
}

fn one(option: &Opt, kinds: Kinds, base: u64, notes: &mut Notes) -> Result<Bytes> {
    let values = option.triple(option.text()?)?;
    match same(option, values, kinds, notes)? {
        Some(text) => block(option, text, base),
        None => Ok(Bytes::kib(4)),
    }
}

fn block(option: &Opt, text: &str, base: u64) -> Result<Bytes> {
    let size = option.bytes(text, base)?;
    if !BLOCK_SIZE.hold(&size) || !size.0.is_multiple_of(BLOCK_UNIT) {
        return Err(option.wrong(text, "a multiple of 512 B up to 64 MiB", "размер, кратный 512 Б, не больше 64 МиБ"));
    }
    Ok(size)
}

/// The part of `bssplit` for the kinds that there are.
fn split_by_kind<'a>(option: &'a Opt, kinds: Kinds, notes: &mut Notes) -> Result<&'a str> {
    let values = option.triple(option.text()?)?;
    Ok(same(option, values, kinds, notes)?.unwrap_or_default())
}

/// `4k/60:64k/40`; sizes without a share get equal parts of what is left.
fn mixture(option: &Opt, text: &str, base: u64) -> Result<Vec<BlockShare>> {
    let mut found: Vec<(Bytes, Option<u32>)> = Vec::new();
    for part in text.split(':') {
        let (size, share) = part.split_once('/').unwrap_or((part, ""));
        let share = match share.trim() {
            "" => None,
            digits => Some(
                digits
                    .parse::<u32>()
                    .ok()
                    .filter(|n| *n <= 100)
                    .ok_or_else(|| option.wrong(digits, "whole percent", "целые проценты"))?,
            ),
        };
        found.push((block(option, size.trim(), base)?, share));
    }
    let notes: u32 = found.iter().filter_map(|(_, share)| *share).sum();
    let open = found.iter().filter(|(_, share)| share.is_none()).count() as u32;
    if notes > 100 || (open == 0 && notes != 100) {
        return Err(option.wrong(text, "shares of 100 percent together", "доли, дающие вместе 100 процентов"));
    }
    let mut mix: Vec<BlockShare> = Vec::new();
    let mut given = 0;
    for (size, share) in found {
        let percent = share.unwrap_or_else(|| {
            given += 1;
            (100 - notes) * given / open - (100 - notes) * (given - 1) / open
        });
        match mix.iter_mut().find(|known| known.size == size) {
            Some(known) => known.percent += percent as u8,
            None if percent > 0 => mix.push(BlockShare { size, percent: percent as u8 }),
            None => {}
        }
    }
    mix.sort_by_key(|share| share.size);
    multiples(option, &mix)?;
    Ok(mix)
}

fn multiples(option: &Opt, mix: &[BlockShare]) -> Result<()> {
    let smallest = mix.first().map_or(1, |share| share.size.0);
    match mix.iter().all(|share| share.size.0.is_multiple_of(smallest)) {
        true => Ok(()),
        false => Err(option
            .wrong(option.text()?, "multiples of the smallest size", "размеры, кратные наименьшему")
            .hint(say!("take a job for each size", "возьмите по заданию на каждый размер"))),
    }
}

/// `4k-64k`: every multiple of the first up to the second, equally often.
fn ranged(option: &Opt, base: u64, kinds: Kinds, notes: &mut Notes) -> Result<Vec<BlockShare>> {
    let values = option.triple(option.text()?)?;
    let text = same(option, values, kinds, notes)?.unwrap_or_default();
    let Some((least, most)) = text.split_once('-').or_else(|| text.split_once(':')) else {
        return Err(option.wrong(text, "a range such as `4k-64k`", "диапазон, например `4k-64k`"));
    };
    let (least, most) = (block(option, least.trim(), base)?, block(option, most.trim(), base)?);
    let count = most.0 / least.0;
    if most < least || count > 100 {
        return Err(option.wrong(text, "at most 100 sizes", "не больше 100 размеров"));
    }
    let percent = |index: u64| (100 * index / count - 100 * (index - 1) / count) as u8;
    if 100 % count != 0 {
        notes.decided(
            &option.place,
            say!(
                "{count} sizes are equally often to within one percent",
                "{count} размеров встречаются поровну с точностью до процента"
            ),
        );
    }
    Ok((1..=count).map(|index| BlockShare { size: Bytes(least.0 * index), percent: percent(index) }).collect())
}

/// The order of offsets, with a note where it changes sizes in fio.
pub(super) fn pattern(job: &Job, kinds: Kinds, mixed_sizes: bool, notes: &mut Notes) -> Result<Pattern> {
    let pattern = order(job, kinds, notes)?;
    if mixed_sizes && has_map(job, &pattern)? {
        notes.decided(
            &job.place,
            say!(
                "fio cuts I/Os short where its random map was already, so that other sizes come out; here shares are exact",
                "fio укорачивает операции там, где карта блоков уже отмечена, и размеры выходят другими; здесь доли точны"
            ),
        );
    }
    Ok(pattern)
}

/// Whether fio keeps a map of the blocks that were visited.
//= fio, filesetup.c: init_random_map(); io_u.c: mark_random_map()
fn has_map(job: &Job, pattern: &Pattern) -> Result<bool> {
    let distribution = job.get("random_distribution").map_or(Ok("random"), Opt::text)?;
    let is_even = matches!(distribution.split(':').next(), Some("random" | "zoned" | "zoned_abs"));
    let jumps = matches!(pattern, Pattern::Random | Pattern::Mixed { .. } | Pattern::Zones(_));
    Ok(jumps && is_even && !job.flag("norandommap")? && !walks_all_blocks(job)?)
}

fn order(job: &Job, kinds: Kinds, notes: &mut Notes) -> Result<Pattern> {
    if !kinds.random {
        return Ok(Pattern::Sequential);
    }
    if let Some(option) = job.get("percentage_random") {
        let text = same(option, option.triple(option.text()?)?, kinds, notes)?.unwrap_or("100");
        let percent = text.parse::<u32>().ok().filter(|n| *n <= 100);
        let random = percent.ok_or_else(|| option.wrong(text, "0 to 100 percent", "от 0 до 100 процентов"))?;
        match random {
            100 => {}
            0 => return Ok(Pattern::Sequential),
            _ => {
                let distribution = job.get("random_distribution").filter(|other| other.text().ok() != Some("random"));
                if let Some(other) = distribution {
                    notes.changed(
                        &other.place,
                        say!(
                            "the random part of a mixture is spread evenly here, whatever its distribution",
                            "случайная часть смеси здесь распределена равномерно, каким бы ни было её распределение"
                        ),
                        say!("leave it out, or leave `percentage_random` out", "уберите её или `percentage_random`"),
                    )?;
                }
                return Ok(Pattern::Mixed { sequential: Millionths::percent(100 - random) });
            }
        }
    }
    let distribution = job.get("random_distribution");
    if let Some(option) = distribution
        && let Some(pattern) = distributed(option, kinds, notes)?
    {
        return Ok(pattern);
    }
    let every_block_once = walks_all_blocks(job)?;
    if job.flag("norandommap")? && !every_block_once {
        return Ok(Pattern::Uniform);
    }
    Ok(Pattern::Random)
}

/// Whether offsets come from a shift register, which visits each block once also without the map of what was visited.
//= fio, filesetup.c: init_random_map(); io_u.c: __get_next_rand_offset()
fn walks_all_blocks(job: &Job) -> Result<bool> {
    let Some(option) = job.get("random_generator") else { return Ok(false) };
    match option.text()? {
        "lfsr" => Ok(true),
        "tausworthe" | "tausworthe64" => Ok(false),
        other => Err(option.wrong(
            other,
            "`tausworthe`, `tausworthe64` or `lfsr`",
            "`tausworthe`, `tausworthe64` или `lfsr`",
        )),
    }
}

fn distributed(option: &Opt, kinds: Kinds, notes: &mut Notes) -> Result<Option<Pattern>> {
    let text = option.text()?;
    let value = if text.starts_with("zoned") {
        same(option, option.triple(text)?, kinds, notes)?.unwrap_or(text)
    } else {
        text
    };
    let (name, rest) = value.split_once(':').unwrap_or((value, ""));
    let first = rest.split([':', ',']).next().unwrap_or_default();
    let number = |default: f64| if first.is_empty() { Some(default) } else { first.parse::<f64>().ok() };
    let within = |value: Option<f64>, most: f64| value.filter(|v| *v > 0.0 && *v <= most);
    let bad = || option.wrong(value, "a distribution such as `zipf:1.2`", "распределение, например `zipf:1.2`");
    if rest.contains(':') && name != "zoned" {
        notes.changed(
            &option.place,
            say!(
                "hot blocks lie scattered here, and have no centre",
                "горячие блоки здесь разбросаны, центра у них нет"
            ),
            say!("leave the centre out", "уберите центр"),
        )?;
    }
    let scattered = |notes: &mut Notes| notes.decided(&option.place, hot_elsewhere());
    Ok(Some(match name {
        "random" => return Ok(None),
        "zipf" => {
            scattered(notes);
            let theta = within(number(1.1), 10.0).ok_or_else(bad)?;
            Pattern::Zipf { theta_thousandths: ((theta * 1000.0).round() as u32).max(1) }
        }
        "pareto" => {
            scattered(notes);
            let hot = within(number(0.2), 0.5).ok_or_else(bad)?;
            Pattern::Pareto { hot: Millionths(((hot * 1e6).round() as u32).max(1)) }
        }
        "normal" => {
            scattered(notes);
            let deviation = within(number(0.0), 100.0).ok_or_else(bad)?;
            Pattern::Normal { deviation: Millionths(((deviation * 1e4).round() as u32).max(1)) }
        }
        "zoned" => Pattern::Zones(
            zones(rest)
                .ok_or_else(|| option.wrong(rest, "zones such as `60/10:40/90`", "зоны, например `60/10:40/90`"))?,
        ),
        "zoned_abs" => {
            let text = say!("zones in bytes are shares here", "зоны в байтах здесь задаются долями");
            notes.changed(
                &option.place,
                text,
                say!("write `zoned:` with percent", "напишите `zoned:` с процентами"),
            )?;
            return Ok(None);
        }
        _ => return Err(bad()),
    }))
}

fn hot_elsewhere() -> Say {
    say!(
        "as many blocks are as hot, but they are others: fio's distribution and Stend's scatter them differently",
        "столько же блоков столь же горячи, но это другие блоки: fio и Stend разбрасывают их по-разному"
    )
}

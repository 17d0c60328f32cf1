//! Switches of diskspd that mean something together: order of offsets, part of a target, bursts. Must not know what a suite is.

use super::super::told::Told;
use super::options::{Given, Options, Order, Word};
use crate::jobs::JobPlace;
use stend_base::{Bytes, Nanos, Result, say};

/// Percent of I/Os and of a target.
pub(super) type Shares = Vec<(u32, u32)>;

/// What was seen of them, in whatever order.
#[derive(Default)]
pub(super) struct Seen {
    /// Percent of random I/Os.
    pub random: Option<Given<u32>>,
    /// What offsets are multiples of, or the step of a sequence.
    pub align: Option<Given<Bytes>>,
    /// Where the random I/Os go.
    pub zones: Option<Given<Shares>>,
    /// A sequence, and whether threads share it.
    pub sequence: Option<Given<bool>>,
    /// Begin of the part, and its end.
    pub base: Option<Given<Bytes>>,
    pub end: Option<Given<Bytes>>,
    /// I/Os in a burst and the time between bursts.
    pub burst: Option<Given<u32>>,
    pub pause: Option<Nanos>,
}

impl Seen {
    /// A switch, in a command with blocks of this size.
    pub fn one(&mut self, word: &Word, block: Bytes, told: &mut Told) -> Result<()> {
        let value = word.value;
        match word.letter {
            'i' => self.burst = Some(given(word.at_least_one()?, word)),
            'j' => self.pause = Some(Nanos::millis(u64::from(word.at_least_one()?))),
            'r' => self.random(word, block, told)?,
            's' => {
                let step = value.strip_prefix('i').unwrap_or(value);
                self.sequence = Some(given(value.starts_with('i'), word));
                if !step.is_empty() {
                    self.align = Some(given(word.size(step, block)?, word));
                }
            }
            'B' => {
                let (start, len) = value.split_once(':').map_or((value, None), |(start, len)| (start, Some(len)));
                let start = if start == "0" { Bytes(0) } else { word.size(start, block)? };
                self.base = Some(given(start, word));
                if let Some(len) = len {
                    let end = start.0.checked_add(word.size(len, block)?.0);
                    self.ends(word, Bytes(end.ok_or_else(|| word.wrong("a size that fits", "размер поменьше"))?))?;
                }
            }
            _ => self.ends(word, word.size(value, block)?)?,
        }
        Ok(())
    }

    /// diskspd takes one end of the part, by `-f` or by `-B`.
    fn ends(&mut self, word: &Word, end: Bytes) -> Result<()> {
        if self.end.is_some() {
            return Err(word
                .place
                .error(say!("the end of the part is given twice", "конец части задан дважды"))
                .hint(say!("write it with `-f` or with `-B`", "задайте его через `-f` или через `-B`")));
        }
        self.end = Some(given(end, word));
        Ok(())
    }

    /// `-r`, `-r64K`, `-rs30`, `-rdpct90/10`: they add up.
    fn random(&mut self, word: &Word, block: Bytes, told: &mut Told) -> Result<()> {
        let value = word.value;
        if let Some(pairs) = value.strip_prefix("dpct") {
            self.zones = Some(given(zones(word, pairs)?, word));
        } else if value.starts_with('d') {
            told.changed(
                &word.place,
                say!(
                    "parts of a target in bytes; here they are shares of it",
                    "части объекта в байтах; здесь это доли от него"
                ),
                say!("write `-rdpct90/10`", "напишите `-rdpct90/10`"),
            )?;
            self.random.get_or_insert_with(|| given(100, word));
        } else if let Some(percent) = value.strip_prefix('s') {
            self.random = Some(given(word.percent(percent)?, word));
        } else {
            self.random.get_or_insert_with(|| given(100, word));
            if !value.is_empty() {
                self.align = Some(given(word.size(value, block)?, word));
            }
        }
        Ok(())
    }

    /// Puts it together.
    pub fn into(self, options: &mut Options, told: &mut Told) -> Result<()> {
        if let Some((place, order)) = self.order(options.block.value, told)? {
            options.order = Given { value: order, place };
        }
        if let (Some(every), Some(time)) = (&self.burst, self.pause) {
            options.burst = Some(Given { value: (every.value, time), place: every.place.clone() });
        }
        let start = self.base.as_ref().map_or(Bytes(0), |base| base.value);
        let Some(place) = self.end.as_ref().map(|end| &end.place).or(self.base.as_ref().map(|base| &base.place)) else {
            return Ok(());
        };
        let len = match self.end.as_ref().map(|end| end.value.0.checked_sub(start.0).filter(|len| *len > 0)) {
            None => None,
            Some(Some(len)) => Some(Bytes(len)),
            Some(None) => {
                return Err(place
                    .error(say!("the part ends before it begins", "часть кончается раньше, чем начинается"))
                    .hint(say!("`-f` counts from the begin of the target", "`-f` считается от начала объекта")));
            }
        };
        options.part = Some(Given { value: (start, len), place: place.clone() });
        Ok(())
    }

    fn order(&self, block: Bytes, told: &mut Told) -> Result<Option<(JobPlace, Order)>> {
        let align = self.align.as_ref().map(|align| align.value);
        let random = self.random.as_ref().map(|random| (random.value, &random.place));
        if let (Some((_, place)), Some(_)) = (random, &self.sequence) {
            return Err(place.error(say!("`-r` and `-s` together", "`-r` и `-s` вместе")).hint(say!(
                "diskspd takes one of them; `-rs30` mixes",
                "diskspd берёт одно из двух; смешивает `-rs30`"
            )));
        }
        if let Some(zones) = &self.zones {
            if let Some((1..=99, place)) = random {
                told.changed(
                    place,
                    say!(
                        "a part of the I/Os would be in order; here all are spread by `-rdpct`",
                        "часть операций шла бы по порядку; здесь все распределены по `-rdpct`"
                    ),
                    say!("leave `-rs` out", "уберите `-rs`"),
                )?;
            }
            return Ok(Some((zones.place.clone(), Order::Zones(zones.value.clone(), align))));
        }
        Ok(match (random, &self.sequence) {
            (Some((0, place)), _) => Some((place.clone(), Order::Sequential(block))),
            (Some((100, place)), _) => Some((place.clone(), Order::Random(align))),
            (Some((percent, place)), _) => Some((place.clone(), Order::Share(percent, align))),
            (None, Some(Given { value: true, place })) => {
                Some((place.clone(), Order::Interlocked(align.unwrap_or(block))))
            }
            (None, Some(Given { value: false, place })) => {
                Some((place.clone(), Order::Sequential(align.unwrap_or(block))))
            }
            (None, None) => None,
        })
    }
}

fn given<T>(value: T, word: &Word) -> Given<T> {
    Given { value, place: word.place.clone() }
}

/// `90/10:5/20`: percent of I/Os and of the target; what is left is spread over the rest.
fn zones(word: &Word, pairs: &str) -> Result<Shares> {
    let bad = || word.wrong("shares such as `90/10`", "доли, например `90/10`");
    let mut found: Shares = Vec::new();
    for pair in pairs.split(':') {
        let (accesses, space) = pair.split_once('/').ok_or_else(bad)?;
        found.push((word.percent(accesses)?, word.percent(space)?));
    }
    whole(found).ok_or_else(bad)
}

/// With what these shares leave; `None` if they are no shares of I/Os and of a target.
pub(super) fn whole(mut zones: Shares) -> Option<Shares> {
    let (accesses, space) =
        zones.iter().fold((0u32, 0u32), |sum, zone| (sum.0.saturating_add(zone.0), sum.1.saturating_add(zone.1)));
    if accesses > 100 || space > 100 || (space == 100 && accesses < 100) || zones.len() > 60 {
        return None;
    }
    if space < 100 {
        zones.push((100 - accesses, 100 - space));
    }
    (zones.len() >= 2 && zones.iter().all(|zone| zone.1 > 0 || zone.0 == 0)).then_some(zones)
}

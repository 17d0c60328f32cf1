//! Switches of diskspd that mean something together: order of offsets, part of a target, bursts. Must not know what a suite is.

use super::super::notes::Notes;
use super::word::{Given, Word};
use stend_base::{Bytes, Nanos, Result, say};

/// Percent of I/Os and of a target.
pub(super) type Shares = Vec<(u32, u32)>;

/// Where a part of a target begins, and how long it is if that is said.
pub(super) type Part = (Bytes, Option<Bytes>);

/// Order of offsets.
#[derive(Debug, Clone)]
pub(super) enum Order {
    /// With this step from start to start.
    Sequential(Bytes),
    /// One sequence of all threads, with this step.
    Interlocked(Bytes),
    /// At multiples of this, or of the block.
    Random(Option<Bytes>),
    /// Percent of random I/Os, at multiples of this or of the block.
    Share(u32, Option<Bytes>),
    /// Percent of accesses and of space, 100 each, at multiples of this or of the block.
    Zones(Vec<(u32, u32)>, Option<Bytes>),
}

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
    pub fn one(&mut self, word: &Word, block: Bytes, notes: &mut Notes) -> Result<()> {
        let value = word.value;
        match word.letter {
            'i' => self.burst = Some(word.given(word.at_least_one()?)),
            'j' => self.pause = Some(Nanos::millis(u64::from(word.at_least_one()?))),
            'r' => self.random(word, block, notes)?,
            's' => {
                let step = value.strip_prefix('i').unwrap_or(value);
                self.sequence = Some(word.given(value.starts_with('i')));
                if !step.is_empty() {
                    self.align = Some(word.given(word.size(step, block)?));
                }
            }
            'B' => {
                let (start, len) = value.split_once(':').map_or((value, None), |(start, len)| (start, Some(len)));
                let start = if start == "0" { Bytes(0) } else { word.size(start, block)? };
                self.base = Some(word.given(start));
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
        self.end = Some(word.given(end));
        Ok(())
    }

    /// `-r`, `-r64K`, `-rs30`, `-rdpct90/10`: they add up.
    fn random(&mut self, word: &Word, block: Bytes, notes: &mut Notes) -> Result<()> {
        let value = word.value;
        if let Some(pairs) = value.strip_prefix("dpct") {
            self.zones = Some(word.given(zones(word, pairs)?));
        } else if value.starts_with('d') {
            notes.changed(
                &word.place,
                say!(
                    "parts of a target in bytes; here they are shares of it",
                    "части объекта в байтах; здесь это доли от него"
                ),
                say!("write `-rdpct90/10`", "напишите `-rdpct90/10`"),
            )?;
            self.random.get_or_insert_with(|| word.given(100));
        } else if let Some(percent) = value.strip_prefix('s') {
            self.random = Some(word.given(word.percent(percent)?));
        } else {
            self.random.get_or_insert_with(|| word.given(100));
            if !value.is_empty() {
                self.align = Some(word.given(word.size(value, block)?));
            }
        }
        Ok(())
    }

    /// I/Os in a burst and the time between bursts.
    pub fn burst(&self) -> Option<Given<(u32, Nanos)>> {
        let (every, time) = (self.burst.as_ref()?, self.pause?);
        Some(Given { value: (every.value, time), place: every.place.clone() })
    }

    /// Where the part begins and how long it is.
    pub fn part(&self) -> Result<Option<Given<Part>>> {
        let start = self.base.as_ref().map_or(Bytes(0), |base| base.value);
        let Some(place) = self.end.as_ref().map(|end| &end.place).or(self.base.as_ref().map(|base| &base.place)) else {
            return Ok(None);
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
        Ok(Some(Given { value: (start, len), place: place.clone() }))
    }

    /// The order of offsets, if a switch says it.
    pub fn order(&self, block: Bytes, notes: &mut Notes) -> Result<Option<Given<Order>>> {
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
                notes.changed(
                    place,
                    say!(
                        "a part of the I/Os would be in order; here all are spread by `-rdpct`",
                        "часть операций шла бы по порядку; здесь все распределены по `-rdpct`"
                    ),
                    say!("leave `-rs` out", "уберите `-rs`"),
                )?;
            }
            return Ok(Some(Given { value: Order::Zones(zones.value.clone(), align), place: zones.place.clone() }));
        }
        let (value, place) = match (random, &self.sequence) {
            (Some((0, place)), _) => (Order::Sequential(block), place),
            (Some((100, place)), _) => (Order::Random(align), place),
            (Some((percent, place)), _) => (Order::Share(percent, align), place),
            (None, Some(Given { value: true, place })) => (Order::Interlocked(align.unwrap_or(block)), place),
            (None, Some(Given { value: false, place })) => (Order::Sequential(align.unwrap_or(block)), place),
            (None, None) => return Ok(None),
        };
        Ok(Some(Given { value, place: place.clone() }))
    }
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

//! Switches of diskspd: each with its value behind the letter, without a blank. Must not know what a suite is.

use super::super::JobPlace;
use super::super::notes::{Notes, shown};
use super::order::{Order, Part, Seen};
use super::word::{Given, Word};
use stend_base::{Bytes, Nanos, Result, say};
use stend_spec::workload::Pages;

/// The most that a thread does on a target.
#[derive(Debug, Clone, Copy)]
pub(super) enum Limit {
    BytesPerMs(u64),
    Iops(u64),
}

/// A command.
#[derive(Debug)]
pub(super) struct Options {
    /// Place of its first word.
    pub place: JobPlace,
    pub targets: Vec<(String, JobPlace)>,
    pub block: Given<Bytes>,
    pub order: Given<Order>,
    pub depth: u32,
    /// The depth is of a thread, whatever number of targets it has.
    pub per_thread: bool,
    pub threads: u32,
    pub total: Option<u32>,
    pub writes: u8,
    pub duration: Nanos,
    pub warmup: Nanos,
    pub direct: bool,
    pub pages: Pages,
    pub through: bool,
    pub random_data: bool,
    pub create: Option<Given<Bytes>>,
    pub limit: Option<Given<Limit>>,
    /// I/Os in a burst and the time between bursts.
    pub burst: Option<Given<(u32, Nanos)>>,
    /// Where the part begins and how long it is.
    pub part: Option<Given<Part>>,
}

impl Options {
    /// As diskspd has them without any switch.
    pub fn new(place: JobPlace) -> Options {
        let block = Bytes::kib(64);
        Options {
            targets: Vec::new(),
            block: Given { value: block, place: place.clone() },
            order: Given { value: Order::Sequential(block), place: place.clone() },
            depth: 2,
            per_thread: false,
            threads: 1,
            total: None,
            writes: 0,
            duration: Nanos::secs(10),
            warmup: Nanos::secs(5),
            direct: false,
            pages: Pages::Ordinary,
            through: false,
            random_data: false,
            create: None,
            limit: None,
            burst: None,
            part: None,
            place,
        }
    }
}

impl Options {
    /// Takes what was seen of those that mean something together.
    pub fn take(&mut self, seen: &Seen, notes: &mut Notes) -> Result<()> {
        if let Some(order) = seen.order(self.block.value, notes)? {
            self.order = order;
        }
        self.burst = seen.burst();
        self.part = seen.part()?;
        Ok(())
    }

    /// Whether several files are to be made beside each other; else each has a directory, or a drive, of its own.
    pub fn in_one_directory(&self) -> bool {
        let directory =
            |path: &str| path.rsplit_once(['/', '\\']).map_or(String::new(), |(directory, _)| directory.to_lowercase());
        let mut directories = self.targets.iter().map(|(path, _)| directory(path));
        let first = directories.next();
        self.create.is_some() && self.targets.len() > 1 && directories.all(|other| Some(other) == first)
    }
}

/// Switches that change no I/O of ours: what is printed, affinity, seeds, cool-down, hints.
const HARMLESS: [&str; 13] = ["L", "D", "R", "v", "z", "n", "a", "P", "e", "x", "C", "fs", "fr"];
/// Switches that mean something that a suite does not express.
const REFUSED: [&str; 6] = ["X", "I", "y", "p", "T", "O"];

/// The options of the words, of which the first is the program.
pub(super) fn read(first: usize, words: &[String], notes: &mut Notes) -> Result<Options> {
    let place = |index: usize| JobPlace::new("command", (first + index) as u32 + 1);
    let mut options = Options::new(place(0));
    // What a size in blocks, and a step, count in, wherever it stands.
    if let Some((index, word)) = words.iter().enumerate().skip(1).rev().find(|(_, word)| is_block(word)) {
        let word = Word { letter: 'b', value: &word[2..], place: place(index) };
        let value = word.size(word.value, Bytes(1))?;
        if value.0 > Bytes::mib(64).0 || !value.0.is_multiple_of(512) {
            return Err(word.wrong("a multiple of 512 B up to 64 MiB", "размер, кратный 512 Б, не больше 64 МиБ"));
        }
        options.block = Given { value, place: word.place };
        options.order.value = Order::Sequential(value);
    }
    let mut seen = Seen::default();
    for (index, text) in words.iter().enumerate().skip(1) {
        if text.contains(['>', '<', '|']) {
            let found = shown(text);
            return Err(place(index)
                .error(say!(
                    "`{found}` is for the shell, not for diskspd",
                    "`{found}` — для оболочки, а не для diskspd"
                ))
                .hint(say!("leave the redirection out", "уберите перенаправление вывода")));
        }
        let mut letters = text.chars();
        let (Some('-' | '/'), Some(letter)) = (letters.next(), letters.next()) else {
            options.targets.push((text.clone(), place(index)));
            continue;
        };
        if text.starts_with('/') && text.len() > 2 && text[1..].contains('/') {
            options.targets.push((text.clone(), place(index)));
            continue;
        }
        let word = Word { letter, value: letters.as_str(), place: place(index) };
        match letter {
            'i' | 'j' | 'r' | 's' | 'B' => seen.one(&word, options.block.value, notes)?,
            'f' if word.value.starts_with(|c: char| c.is_ascii_digit()) => {
                seen.one(&word, options.block.value, notes)?
            }
            _ => one(&mut options, &word, notes)?,
        }
    }
    options.take(&seen, notes)?;
    if options.targets.is_empty() {
        return Err(options
            .place
            .error(say!("the command names no target", "команда не называет объекта"))
            .hint(say!("targets stand behind the switches", "объекты стоят после ключей")));
    }
    Ok(options)
}

/// Whether a word is the size of blocks, and not a path that begins like it.
fn is_block(word: &str) -> bool {
    word.strip_prefix(['-', '/']).and_then(|rest| rest.strip_prefix('b')).is_some_and(|size| {
        size.starts_with(|c: char| c.is_ascii_digit()) || (word.starts_with('-') && !size.is_empty())
    })
}

fn one(options: &mut Options, word: &Word, notes: &mut Notes) -> Result<()> {
    let (block, value) = (options.block.value, word.value);
    match word.letter {
        'b' => {}
        'o' => options.depth = word.at_least_one()?,
        'O' => (options.depth, options.per_thread) = (word.at_least_one()?, true),
        't' => options.threads = word.at_least_one()?,
        'F' => options.total = Some(word.at_least_one()?),
        'w' => options.writes = word.percent(value)? as u8,
        'd' => options.duration = word.seconds()?,
        'W' => options.warmup = word.seconds()?,
        'c' => options.create = Some(Given { value: word.size(value, block)?, place: word.place.clone() }),
        'h' => (options.direct, options.through) = (true, true),
        'l' => options.pages = Pages::Huge,
        'S' => cache(options, word, notes)?,
        'Z' => data(options, word, notes)?,
        'f' => notes.harmless(&word.place, "-f"),
        'g' => {
            let number = |text: &str| {
                text.parse::<u64>()
                    .ok()
                    .filter(|n| *n > 0)
                    .ok_or_else(|| word.wrong("a number above 0", "число больше 0"))
            };
            let value = match value.strip_suffix('i') {
                Some(iops) => Limit::Iops(number(iops)?),
                None => Limit::BytesPerMs(number(value)?),
            };
            options.limit = Some(Given { value, place: word.place.clone() });
        }
        letter => other(letter, word, notes)?,
    }
    Ok(())
}

fn other(letter: char, word: &Word, notes: &mut Notes) -> Result<()> {
    let name = letter.to_string();
    if HARMLESS.contains(&name.as_str()) {
        notes.harmless(&word.place, &format!("-{letter}"));
        return Ok(());
    }
    let hint = say!("leave it out, or write the suite by hand", "уберите его или напишите набор сами");
    if REFUSED.contains(&name.as_str()) {
        return notes.changed(
            &word.place,
            say!("`-{letter}` has no equivalent", "у `-{letter}` нет соответствия"),
            hint,
        );
    }
    notes.changed(&word.place, say!("unknown switch `-{letter}`", "неизвестный ключ `-{letter}`"), hint)
}

/// `-S` and its letters.
fn cache(options: &mut Options, word: &Word, notes: &mut Notes) -> Result<()> {
    for letter in word.value.chars() {
        match letter {
            'u' => options.direct = true,
            'w' => options.through = true,
            'h' => (options.direct, options.through) = (true, true),
            'b' => options.direct = false,
            'r' => notes.harmless(&word.place, "-Sr"),
            'm' => notes.changed(
                &word.place,
                say!("files are not mapped into memory here", "файлы здесь не отображаются в память"),
                say!("leave `m` out", "уберите `m`"),
            )?,
            _ => return Err(word.wrong("letters of b, h, m, r, u and w", "буквы из b, h, m, r, u и w")),
        }
    }
    // Alone it is `-Su`.
    options.direct |= word.value.is_empty();
    Ok(())
}

/// `-Z`, `-Zr`, `-Z1M`, `-Z1M,file`.
fn data(options: &mut Options, word: &Word, notes: &mut Notes) -> Result<()> {
    let name = word.value;
    if name == "r" {
        options.random_data = true;
        return Ok(());
    }
    if name.is_empty() || name.contains(',') {
        return notes.changed(
            &word.place,
            say!(
                "zeroes, or bytes of a file, would be written; here data are incompressible",
                "писались бы нули или байты файла; здесь данные несжимаемы"
            ),
            say!("write `-Zr`", "напишите `-Zr`"),
        );
    }
    word.size(name, options.block.value)?;
    options.random_data = true;
    Ok(())
}

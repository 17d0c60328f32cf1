//! What diskspd was asked for in a time span, as its results repeat it. Pure.

use crate::xml::Element;
use std::collections::{BTreeMap, HashMap};
use stend_base::{Bytes, Millionths, Say, say};
use stend_spec::pattern::{Pattern, Zone};
use stend_spec::workload::{Mix, Pages, Stream, Sync};

/// Settings of a time span that say what the load is; seeds, and what is printed, are none of the load.
const OF_SPAN: [&str; 7] =
    ["CompletionRoutines", "DisableAffinity", "Duration", "Warmup", "Cooldown", "ThreadCount", "RequestCount"];
/// What diskspd takes where nothing is said: 64 KiB, two in flight.
const BLOCK: u64 = 64 << 10;
const DEPTH: u64 = 2;
/// Settings of the targets of a time span with their full names, bytes: a thousand targets have a fifth of it.
const SETTINGS_MAX: usize = 8 << 20;

/// A time span of a profile.
pub struct Profile<'e> {
    span: Option<&'e Element<'e>>,
    targets: Vec<&'e Element<'e>>,
}

impl<'e> Profile<'e> {
    /// `None`: the results do not repeat it.
    pub fn of(span: Option<&'e Element<'e>>) -> Profile<'e> {
        let targets = span.and_then(|span| span.child("Targets"));
        Profile { span, targets: targets.map(|targets| targets.all("Target").collect()).unwrap_or_default() }
    }

    fn number(&self, name: &str) -> u64 {
        self.span.map_or(0, |span| number(span, name).unwrap_or(0))
    }

    /// Seconds before what is measured.
    pub fn warmup(&self) -> u64 {
        self.number("Warmup")
    }

    /// The value that all targets have, if it is one.
    fn common<T: PartialEq>(&self, of: impl Fn(&Element<'e>) -> T) -> Option<T> {
        let mut values = self.targets.iter().map(|target| of(target));
        let first = values.next()?;
        values.all(|value| value == first).then_some(first)
    }

    /// Whether all targets have I/Os of one size.
    pub fn one_size(&self) -> bool {
        self.common(block).is_some()
    }

    /// Whether all go around the cache of the system.
    pub fn direct(&self) -> bool {
        !self.targets.is_empty() && self.targets.iter().all(|t| yes(t, "DisableOSCache") || yes(t, "DisableAllCache"))
    }

    /// What buffers lie in: huge pages if all targets ask for them.
    pub fn pages(&self) -> Pages {
        let huge = !self.targets.is_empty() && self.targets.iter().all(|target| yes(target, "UseLargePages"));
        if huge { Pages::Huge } else { Pages::Ordinary }
    }

    /// Whether a limit or rests hold the load back.
    pub fn paced(&self) -> bool {
        let held =
            |target: &&Element<'e>| ["Throughput", "ThinkTime"].iter().any(|n| number(target, n).unwrap_or(0) > 0);
        self.targets.iter().any(held)
    }

    /// What its I/Os are, with the shares of kinds that were done. A depth of 0: not the same everywhere.
    pub fn stream(&self, mix: Mix) -> Stream {
        let count = self.targets.len() as u64;
        let depth = self.common(|target| number(target, "RequestCount").unwrap_or(DEPTH));
        let per_target = |target: &&Element<'e>| number(target, "ThreadsPerFile").unwrap_or(1);
        let (jobs, depth) = match (self.number("ThreadCount"), self.number("RequestCount")) {
            (0, _) => (self.targets.iter().map(per_target).fold(0, u64::saturating_add), depth),
            // Threads of all targets, each with so many I/Os in flight on each of them, or in all.
            (threads, 0) => (threads, depth.map(|depth| depth.saturating_mul(count))),
            (threads, depth) => (threads, Some(depth)),
        };
        let size = self.targets.iter().map(|target| block(target)).max().unwrap_or(0);
        let pattern = self.common(pattern).unwrap_or(Pattern::Sequential);
        let through = self.common(|target| yes(target, "WriteThrough") || yes(target, "DisableAllCache"));
        Stream {
            queue_depth: u32::try_from(depth.unwrap_or(0)).unwrap_or(0),
            jobs: u32::try_from(jobs).unwrap_or(u32::MAX).max(1),
            sync: if through == Some(true) && mix.write > 0 { Sync::ODsync } else { Sync::None },
            ..Stream::new(mix, pattern, Bytes(size))
        }
    }

    /// A name by order and kind, because diskspd gives none: those of several targets, if they differ.
    pub fn name(&self) -> String {
        let mut names: Vec<String> = Vec::new();
        for target in &self.targets {
            let order = match pattern(target) {
                Pattern::Sequential => "sequential",
                Pattern::SharedSequential => "interlocked sequential",
                Pattern::Strided { .. } => "strided",
                Pattern::Mixed { .. } => "random and sequential",
                _ => "random",
            };
            let name = match number(target, "WriteRatio").unwrap_or(0) {
                0 => format!("{order} read"),
                100.. => format!("{order} write"),
                writes => format!("{order} {writes}% write"),
            };
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if names.is_empty() { "diskspd".to_string() } else { names.join(" + ") }
    }

    /// Everything that was asked for, by the names of the profile. What all targets share is stated once. An error says that it is too much.
    pub fn options(&self) -> Result<BTreeMap<String, String>, Say> {
        let mut all = BTreeMap::new();
        for name in OF_SPAN {
            let value = self.span.and_then(|span| span.child(name)).map(Element::text);
            all.extend(value.map(|value| (format!("TimeSpan.{name}"), value.to_string())));
        }
        let mut room = SETTINGS_MAX;
        let each: Option<Vec<BTreeMap<String, String>>> =
            self.targets.iter().map(|target| leaves(target, &mut room)).collect();
        let Some(each) = each else {
            let most = SETTINGS_MAX >> 20;
            return Err(say!(
                "a time span with more than {most} MiB of settings",
                "интервал, у которого настроек больше {most} МиБ"
            ));
        };
        let mut counts: HashMap<(&str, &str), usize> = HashMap::new();
        for (name, value) in each.iter().flatten() {
            *counts.entry((name, value)).or_default() += 1;
        }
        for (number, own) in each.iter().enumerate() {
            for (name, value) in own {
                match counts.get(&(name.as_str(), value.as_str())) == Some(&each.len()) {
                    true => all.insert(name.clone(), value.clone()),
                    false => all.insert(format!("Target{}.{name}", number + 1), value.clone()),
                };
            }
        }
        Ok(all)
    }
}

/// Every value below a target; values of elements of one name are joined, and what an attribute says stands in front. `None`: names and values
/// take more than there is room for.
fn leaves(target: &Element<'_>, room: &mut usize) -> Option<BTreeMap<String, String>> {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let mut open = vec![(String::new(), target.children.iter())];
    while let Some((outer, children)) = open.last_mut() {
        let Some(element) = children.next() else {
            open.pop();
            continue;
        };
        let name = if outer.is_empty() { element.name.to_string() } else { format!("{outer}.{}", element.name) };
        let of = element.attribute("IO").or(element.attribute("unit"));
        *room = room.checked_sub(name.len() + element.text().len() + of.map_or(0, str::len))?;
        if !element.children.is_empty() {
            open.push((name, element.children.iter()));
            continue;
        }
        let value = found.entry(name).and_modify(|before| before.push_str(", ")).or_default();
        if let Some(of) = of {
            value.push_str(of);
            value.push(' ');
        }
        value.push_str(element.text());
    }
    Some(found)
}

fn number(element: &Element<'_>, name: &str) -> Option<u64> {
    element.child(name)?.text().parse().ok()
}

fn yes(element: &Element<'_>, name: &str) -> bool {
    element.child(name).is_some_and(|child| ["true", "1"].contains(&child.text()))
}

fn block(target: &Element<'_>) -> u64 {
    number(target, "BlockSize").unwrap_or(BLOCK)
}

fn pattern(target: &Element<'_>) -> Pattern {
    let random = number(target, "RandomRatio").or(target.child("Random").map(|_| 100));
    match random {
        Some(100..) => {
            target.child("Distribution").and_then(|d| zones(d.child("Percent")?)).unwrap_or(Pattern::Uniform)
        }
        Some(percent) => Pattern::Mixed { sequential: Millionths::percent(100 - percent as u32) },
        None if yes(target, "InterlockedSequential") => Pattern::SharedSequential,
        None => match number(target, "StrideSize").filter(|stride| *stride > 0 && *stride != block(target)) {
            Some(stride) => Pattern::Strided { stride: Bytes(stride) },
            None => Pattern::Sequential,
        },
    }
}

/// Shares of I/Os and of space. What they leave is spread over the rest.
fn zones(percent: &Element<'_>) -> Option<Pattern> {
    let mut zones: Vec<(u32, u32)> = Vec::new();
    for range in percent.all("Range").take(100) {
        let share = |text: &str| text.parse().ok().filter(|percent| *percent <= 100u32);
        zones.push((share(range.attribute("IO")?)?, share(range.text())?));
    }
    let (accesses, space) = zones.iter().fold((0, 0), |sum, zone| (sum.0 + zone.0, sum.1 + zone.1));
    if accesses > 100 || space > 100 {
        return None;
    }
    if space < 100 {
        zones.push((100 - accesses, 100 - space));
    }
    let zone = |(accesses, space): &(u32, u32)| Zone {
        space: Millionths::percent(*space),
        accesses: Millionths::percent(*accesses),
    };
    Some(Pattern::Zones(zones.iter().map(zone).collect()))
}

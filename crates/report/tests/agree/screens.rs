//! Rules for texts that people read: numbers with their units, and what stands between them.

use crate::Found;
use crate::agreement::{Number, numbers};
use std::collections::BTreeMap;

/// Half of the last digit that a percentage is rounded to is allowed, and a little for what computers make of decimals.
const SLACK: f64 = 1.0 + 1e-9;

/// Holds every rule against one screen.
pub fn screen(text: &str, found: &mut Found) {
    let all = numbers(text);
    for three in all.windows(3) {
        let [a, b, c] = three else { continue };
        let gaps = [bare(&text[a.end..b.start]), bare(&text[b.end..c.start])];
        let shown = || text[a.start..c.end].split_whitespace().collect::<Vec<_>>().join(" ");
        quotient([a, b, c], [&gaps[0], &gaps[1]], text, found, shown);
        of_a_whole([a, b, c], [&gaps[0], &gaps[1]], found, shown);
        interval([a, b, c], [&gaps[0], &gaps[1]], text, found, shown);
    }
    shares(&all, text, found);
    sizes(&all, text, found);
}

/// Smallest and largest value that is printed so.
fn range(number: &Number) -> (f64, f64) {
    (number.value - number.half_digit, number.value + number.half_digit)
}

/// What stands between two numbers, without spaces, marks and borders of tables.
fn bare(gap: &str) -> String {
    let marks = ['|', '✖', '▲', '▼', '*', '·'];
    gap.chars().filter(|c| !c.is_whitespace() && !marks.contains(c)).collect()
}

/// Two values and a percentage behind them that is their quotient, or the change from the first to the second.
fn quotient([a, b, p]: [&Number; 3], gaps: [&str; 2], text: &str, found: &mut Found, shown: impl Fn() -> String) {
    // A page has both languages, one behind the other.
    let russian = |number: &Number| text[number.start..number.end].contains(['с', 'н', 'М']);
    let alike = a.kind == b.kind
        && russian(a) == russian(b)
        && matches!(a.kind, "iops" | "throughput" | "time")
        && p.kind == "share";
    let sides = matches!(gaps, ["" | ",B" | ",C" | "→", "" | "("]);
    // A lower bound of a value is one of the quotient.
    let bounded = text[a.start..p.end].contains(['>', '<', '±']);
    if !alike || !sides || bounded || p.signed.is_some() != (gaps[0] == "→") {
        return;
    }
    let base = if p.signed.is_some() { 1.0 } else { 0.0 };
    let ((a_low, a_high), (b_low, b_high), (low, high)) = (range(a), range(b), range(p));
    let (least, most) = (b_low / a_high - base, b_high / a_low.max(f64::MIN_POSITIVE) - base);
    found.judge("quotient", low <= most * SLACK && high * SLACK >= least, shown);
}

/// A percentage and two values in brackets: `94.0 % of the ceiling (240 000 IOPS of 257 000 IOPS)`.
fn of_a_whole([p, a, b]: [&Number; 3], gaps: [&str; 2], found: &mut Found, shown: impl Fn() -> String) {
    if p.kind == "share"
        && gaps[0].ends_with('(')
        && a.kind == b.kind
        && !a.kind.is_empty()
        && matches!(gaps[1], "of" | "от")
    {
        let (low, high) = range(p);
        let (least, most) = (range(a).0 / range(b).1, range(a).1 / range(b).0);
        found.judge("share of a whole", low <= most * SLACK && high * SLACK >= least, shown);
    }
}

/// A value and the two ends behind it.
fn interval([v, l, h]: [&Number; 3], gaps: [&str; 2], text: &str, found: &mut Found, shown: impl Fn() -> String) {
    let ends = matches!(gaps[1], "–" | "…") && (h.kind == v.kind || h.kind.is_empty() && v.kind == "share");
    if !matches!(gaps[0], "" | "(") || !ends || v.kind.is_empty() || !(l.kind.is_empty() || l.kind == v.kind) {
        return;
    }
    // The lower end may have its unit at the upper one only, and both may have theirs in the heading.
    let with_unit = |number: &Number| {
        let of = if h.kind.is_empty() { v } else { h };
        let unit = text[of.start..of.end].trim_start_matches(|c: char| c.is_ascii_digit() || "., \u{a0}".contains(c));
        let whole = format!("{}\u{a0}{unit}", &text[number.start..number.end]);
        if number.kind.is_empty() { numbers(&whole).pop() } else { Some(number.clone()) }
    };
    let (Some(l), Some(h)) = (with_unit(l), with_unit(h)) else { return };
    let (low, high) = (range(&l).0, range(&h).1);
    found.judge("interval", low <= range(v).1 * SLACK && high * SLACK >= range(v).0, shown);
}

/// Cells such as `228 000 IOPS, 94.4 %` of one table: the whole of each is the same.
fn shares(all: &[Number], text: &str, found: &mut Found) {
    let cells = all.windows(2).filter(|pair| {
        let [value, share] = pair else { return false };
        value.kind == "iops" && share.kind == "share" && bare(&text[value.end..share.start]) == ","
    });
    // A table begins with its whole.
    let mut whole: Option<&Number> = None;
    for pair in cells {
        let [value, share] = pair else { continue };
        if share.value == 1.0 {
            whole = Some(value);
        }
        if let Some(whole) = whole {
            let (least, most) = (range(value).0 / range(whole).1, range(value).1 / range(whole).0);
            let (low, high) = range(share);
            let shown = || format!("{} of {}", &text[value.start..share.end], &text[whole.start..whole.end]);
            found.judge("share of a whole", low <= most * SLACK && high * SLACK >= least, shown);
        }
    }
}

/// Half of an interval has one size wherever its value stands.
fn sizes(all: &[Number], text: &str, found: &mut Found) {
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    for (at, share) in all.iter().enumerate().filter(|(_, share)| share.kind == "share") {
        let is_half = text[..share.start].trim_end().ends_with('±');
        // The value that it is of: the last rate before it in the same sentence or row.
        let value = all[..at].iter().rev().take(2).find(|value| matches!(value.kind, "iops" | "throughput"));
        let Some(value) = value.filter(|_| is_half) else { continue };
        let gap = &text[value.end..share.start];
        if gap.contains(". ") || gap.contains(['\n', ';']) && bare(gap) != "±" || bare(gap).chars().count() > 30 {
            continue;
        }
        let plain = |number: &Number| text[number.start..number.end].replace(',', ".").replace('\u{a0}', " ");
        let (shown, half) = (plain(value), plain(share));
        let first = known.entry(shown.clone()).or_insert(half.clone()).clone();
        found.judge("one size", first == half, || format!("{shown}: ± {first} and ± {half}"));
    }
}

/// What a page shows: its text, tags being spaces; styles, drawings and what only programs read left out.
pub fn text_of(page: &str) -> String {
    let mut text = String::new();
    let mut rest = page;
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        text.push(' ');
        let hidden = ["style", "svg", "script"].iter().find(|name| tag.starts_with(**name));
        rest = match hidden.and_then(|name| tag.split_once(&format!("</{name}>"))) {
            Some((_, after)) => after,
            None => tag.split_once('>').map_or("", |(_, after)| after),
        };
    }
    text.push_str(rest);
    [("&nbsp;", "\u{a0}"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")]
        .iter()
        .fold(text, |text, (entity, sign)| text.replace(entity, sign))
}

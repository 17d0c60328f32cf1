//! The whole run as one drawing: a strip of phases, blocks, a row for each case, what happened, and one axis of time.
//!
//! Names stand beside the rows where there is room and above them on a phone; the style sheet shows one of both.

use super::axis::{self, across, text};
use super::scale::DrawnAxis;
use super::{LETTER, WIDTH_PAGE, percent};
use crate::markup::{Markup, coordinate};
use stend_analyse::chart::{Axis, Band, Scale, Unit};
use stend_analyse::{Row, Timeline};
use stend_base::{Lang, Say, say};

/// Height of the strip of phases, pixels.
const STRIP: f64 = 20.0;
/// Height of the line of block numbers.
const BLOCK_LINE: f64 = 18.0;
/// Distance of two rows: a bar, and above it the name that a phone shows.
const ROW: f64 = 27.0;
/// Top of the bar in its row, and its height.
const BAR: (f64, f64) = (13.0, 12.0);
/// Height of the line of names of events.
const EVENT_LINE: f64 = 18.0;
/// Room below for ticks and the name of the axis.
const FOOT: f64 = 40.0;
/// Shortest drawn stretch, in parts of a thousand of the width: a pixel of a page, a third of one of a phone.
const STRETCH_LEAST: f64 = 1.2;
/// Width of the drawing on a phone, pixels.
const WIDTH_PHONE: f64 = 320.0;
/// Letters of a name beside its row.
const NAME_LETTERS: usize = 30;
/// Letters of its end that stay where its middle is left out: parameters stand last.
const NAME_END: usize = 14;
/// A gap that takes more than this part of the run is cut out of the axis; by eye.
const CUT_FROM: f64 = 0.1;
/// Ticks at most: their labels have up to eight letters.
const TICKS_MAX: f64 = 9.0;
/// Steps between ticks in seconds, as people count time; beyond, whole days.
const STEPS: [f64; 20] = [
    0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0, 7200.0, 10800.0,
    21600.0, 43200.0,
];
const DAY: f64 = 86400.0;

/// Writes the `<svg>` element; `caption` is the id of what names it.
pub fn draw(m: &mut Markup, timeline: &Timeline, caption: &str, lang: Lang) {
    let x = ruler(timeline);
    let top = STRIP + if timeline.blocks.is_empty() { 4.0 } else { BLOCK_LINE };
    let rows = top + timeline.rows.len() as f64 * ROW + 4.0;
    let bottom = rows + if timeline.events.is_empty() { 0.0 } else { EVENT_LINE };
    let cut = if x.cuts().next().is_some() { 14.0 } else { 0.0 };
    let height = coordinate(bottom + FOOT + cut);
    let attributes =
        [("class", "plot"), ("width", "100%"), ("height", &height), ("role", "img"), ("aria-labelledby", caption)];
    m.with("svg", &attributes, |m| {
        m.with("desc", &[], |m| m.text(timeline.summary.get(lang)));
        phases(m, &timeline.phases, &x);
        blocks(m, &timeline.blocks, &x, (top, rows));
        for (row, y) in timeline.rows.iter().zip((0..).map(|i| top + f64::from(i) * ROW)) {
            draw_row(m, row, &x, y);
        }
        gaps(m, &timeline.gaps, &x, (top, rows));
        axis::events(m, &timeline.events, &x, (STRIP, bottom), LETTER / WIDTH_PAGE);
        foot(m, timeline.to, &x, bottom);
    });
}

/// Time, without what a run stood still.
fn ruler(timeline: &Timeline) -> DrawnAxis {
    let axis = Axis::new(Say::same(""), Scale::Linear, Unit::Seconds, 0.0, timeline.to);
    let long = timeline.gaps.iter().filter(|gap| gap.to - gap.from > CUT_FROM * timeline.to);
    let (mut stretches, mut from) = (Vec::new(), 0.0);
    for gap in long {
        stretches.push((from, gap.from));
        from = gap.to;
    }
    stretches.push((from, timeline.to));
    stretches.retain(|(from, to)| to > from);
    DrawnAxis::cut(&axis, &stretches)
}

/// Start and width of a stretch as parts of the drawing; `None` if nothing of it is there.
fn place(x: &DrawnAxis, (from, to): (f64, f64)) -> Option<(f64, f64)> {
    let (from, to) = (x.place(from)?.clamp(0.0, 1.0), x.place(to)?.clamp(0.0, 1.0));
    (to > from).then_some((from, to - from))
}

/// Alternately tinted, with names where there is room.
fn phases(m: &mut Markup, phases: &[Band], x: &DrawnAxis) {
    for (band, class) in phases.iter().zip(["phase", "phase other"].into_iter().cycle()) {
        let Some((from, width)) = place(x, (band.from, band.to)) else { continue };
        rect(m, class, (from, width), (0.0, STRIP - 4.0));
        fitting(m, &band.label, (from, width), 12.0);
    }
}

/// A name in the middle of its stretch, where it fits: on a page, or also on a phone.
fn fitting(m: &mut Markup, name: &Say, (from, width): (f64, f64), y: f64) {
    let (at, y) = (percent(from + width / 2.0), coordinate(y));
    for lang in [Lang::En, Lang::Ru] {
        let letters = (name.get(lang).chars().count() + 1) as f64 * LETTER;
        let class = match () {
            () if letters <= width * WIDTH_PHONE => "tick",
            () if letters <= width * WIDTH_PAGE => "tick wide",
            () => continue,
        };
        let attributes = [("class", class), ("x", &at), ("y", &y), ("text-anchor", "middle"), ("lang", lang.tag())];
        m.with("text", &attributes, |m| m.text(name.get(lang)));
    }
}

/// Every second one shaded, behind all rows.
fn blocks(m: &mut Markup, blocks: &[Band], x: &DrawnAxis, (top, bottom): (f64, f64)) {
    for (i, block) in blocks.iter().enumerate() {
        let Some((from, width)) = place(x, (block.from, block.to)) else { continue };
        if i % 2 == 0 {
            rect(m, "band", (from, width), (top, bottom - top));
        }
        let Say { en, ru } = &block.label;
        // The first one says what the numbers are.
        let name = if i == 0 { say!("block {en}", "блок {ru}") } else { block.label.clone() };
        fitting(m, &name, (from, width), top - 4.0);
    }
}

fn draw_row(m: &mut Markup, row: &Row, x: &DrawnAxis, y: f64) {
    let (number, label) = (&row.number, &row.label);
    let name = Say::both(|lang| format!("{} {}", number.get(lang), label.get(lang)));
    let (above, beside) = (coordinate(y + 10.0), coordinate(y + BAR.0 + BAR.1 / 2.0));
    text(m, &[("class", "row-name narrow"), ("x", "0"), ("y", &above)], &name);
    let attributes =
        [("class", "row-name wide"), ("x", "-12"), ("y", &beside), ("dy", ".35em"), ("text-anchor", "end")];
    text(m, &attributes, &Say::both(|lang| shortened(name.get(lang))));
    let (top, height) = (coordinate(y + BAR.0), coordinate(BAR.1));
    let view = format!("0 0 1000 {height}");
    let attributes = [
        ("x", "0"),
        ("y", top.as_str()),
        ("width", "100%"),
        ("height", &height),
        ("viewBox", &view),
        ("preserveAspectRatio", "none"),
    ];
    m.with("svg", &attributes, |m| {
        let kinds = [("unmeasured", &row.unmeasured), ("measured", &row.measured), ("broken", &row.broken)];
        for (class, stretches) in kinds.into_iter().filter(|(_, stretches)| !stretches.is_empty()) {
            m.with("path", &[("class", class), ("d", &path(stretches, x))], |_| {});
        }
    });
}

/// Rectangles of the whole height, one for each stretch.
fn path(stretches: &[(f64, f64)], x: &DrawnAxis) -> String {
    let mut out = String::new();
    for (from, width) in stretches.iter().filter_map(|stretch| place(x, *stretch)) {
        let (at, wide) = (rounded(across(from)), rounded(across(width).max(STRETCH_LEAST)));
        out.push_str(&format!("M{at} 0h{wide}v{}h-{wide}z", BAR.1));
    }
    out
}

fn rounded(value: f64) -> String {
    coordinate((value * 10.0).round() / 10.0)
}

fn gaps(m: &mut Markup, gaps: &[Band], x: &DrawnAxis, (top, bottom): (f64, f64)) {
    for gap in gaps {
        let Some((from, width)) = place(x, (gap.from, gap.to)) else { continue };
        rect(m, "gap", (from, width), (top, bottom - top));
        fitting(m, &gap.label, (from, width), (top + bottom) / 2.0);
    }
}

fn rect(m: &mut Markup, class: &'static str, (from, width): (f64, f64), (y, height): (f64, f64)) {
    let (at, width, y, height) = (percent(from), percent(width), coordinate(y), coordinate(height));
    m.with("rect", &[("class", class), ("x", &at), ("y", &y), ("width", &width), ("height", &height)], |_| {});
}

/// The axis with its ticks in the unit that people count in.
fn foot(m: &mut Markup, to: f64, x: &DrawnAxis, bottom: f64) {
    axis::line(m, "base", ("0", "100%"), (bottom, bottom));
    let (label_y, name_y) = (coordinate(bottom + 17.0), coordinate(bottom + 34.0));
    let is_cut = x.cuts().next().is_some();
    let ticks = if is_cut { x.ticks() } else { ticks(to) };
    for (i, tick) in ticks.into_iter().enumerate() {
        let Some(place) = x.place(tick).filter(|place| *place <= 0.97) else { continue };
        let (at, anchor) = (percent(place), if place < 0.01 { "start" } else { "middle" });
        axis::line(m, "grid-tick", (&at, &at), (bottom, bottom + 4.0));
        let class = if i % 2 == 0 { "tick" } else { "tick odd" };
        let attributes = [("class", class), ("x", at.as_str()), ("y", &label_y), ("text-anchor", anchor)];
        text(m, &attributes, &Say::both(|lang| moment(tick, lang)));
    }
    let name = say!("time since the start of the run", "время от начала прогона");
    text(m, &[("class", "axis-name"), ("x", "100%"), ("y", &name_y), ("text-anchor", "end")], &name);
    axis::cuts(m, x, bottom, &say!("// the run stood still in between", "// между ними прогон стоял"));
}

fn ticks(to: f64) -> Vec<f64> {
    let days = (to / TICKS_MAX / DAY).ceil() * DAY;
    let step = STEPS.into_iter().find(|step| to / step <= TICKS_MAX).unwrap_or(days);
    (0..=TICKS_MAX as u32).map(|i| f64::from(i) * step).take_while(|tick| *tick <= to).collect()
}

/// A moment of a run: `0`, `30 s`, `5 min`, `1:30 h`.
fn moment(seconds: f64, lang: Lang) -> String {
    let (s, min, h) = match lang {
        Lang::En => ("s", "min", "h"),
        Lang::Ru => ("с", "мин", "ч"),
    };
    let whole = seconds.round();
    let in_two = |large: f64, small: f64| match (whole / small) as u64 % (large / small) as u64 {
        0 => format!("{}", (whole / large) as u64),
        rest => format!("{}:{rest:02}", (whole / large) as u64),
    };
    match whole {
        0.0 if seconds == 0.0 => "0".to_string(),
        w if w < 60.0 => {
            format!("{}\u{a0}{s}", stend_base::format::fixed(seconds, usize::from(seconds != whole), lang))
        }
        w if w < 3600.0 => format!("{}\u{a0}{min}", in_two(60.0, 1.0)),
        _ => format!("{}\u{a0}{h}", in_two(3600.0, 60.0)),
    }
}

/// A name that fits beside its row.
fn shortened(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= NAME_LETTERS {
        return name.to_string();
    }
    let end = letters.len() - NAME_END;
    letters[..NAME_LETTERS - NAME_END - 1].iter().chain(&['…']).chain(&letters[end..]).collect()
}

/// A sample of a kind of stretch for the legend.
pub fn swatch(m: &mut Markup, class: &'static str) {
    m.with("svg", &[("class", "swatch"), ("width", "20"), ("height", "12"), ("aria-hidden", "true")], |m| {
        m.with("path", &[("class", class), ("d", "M0 0h20v12h-20z")], |_| {});
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::assert_well_formed;

    fn timeline() -> Timeline {
        let band = |from, to, label: &str| Band { from, to, label: Say::same(label) };
        Timeline {
            summary: Say::same("fill 1 min"),
            to: 600.0,
            phases: vec![band(0.0, 5.0, "preflight"), band(5.0, 60.0, "fill"), band(60.0, 600.0, "measure")],
            blocks: vec![band(60.0, 300.0, "1"), band(300.0, 600.0, "2")],
            rows: vec![Row {
                number: Say::same("1"),
                label: Say::same("a <name> that is far too long to stand beside its row"),
                unmeasured: vec![(60.0, 62.0)],
                measured: vec![(62.0, 200.0), (300.0, 500.0)],
                broken: Vec::new(),
            }],
            gaps: Vec::new(),
            events: Vec::new(),
        }
    }

    fn drawn(timeline: &Timeline) -> String {
        let mut m = Markup::new();
        draw(&mut m, timeline, "caption", Lang::En);
        m.finish()
    }

    #[test]
    fn a_name_is_written_where_it_fits_and_on_a_phone_only_where_it_fits_there() {
        let svg = drawn(&timeline());
        assert_well_formed(&svg);
        let text = |name: &str| svg.split("<text ").find(|t| t.contains(&format!(">{name}<"))).map(str::to_string);
        assert!(text("preflight").is_none(), "5 s of 10 min have no room for a name");
        assert!(text("fill").unwrap().contains("\"tick wide\"") && text("measure").unwrap().contains("\"tick\""));
        assert!(text("block 1").is_some() && text("2").is_some());
        assert_eq!(svg.matches("class=\"measured\"").count(), 1, "one path for all trials of a case");
    }

    #[test]
    fn a_long_gap_is_cut_out_of_the_axis_and_said() {
        let mut gone = timeline();
        gone.to = 90_000.0;
        gone.gaps = vec![Band { from: 600.0, to: 89_000.0, label: Say::same("not running") }];
        let svg = drawn(&gone);
        assert_eq!(svg.matches("class=\"cut\"").count(), 1);
        assert!(svg.contains("the run stood still in between"));
        assert!(svg.contains(">24:43\u{a0}h<"), "where the run went on: {svg}");
    }

    #[test]
    fn ticks_are_those_that_people_count_in() {
        let told = |to: f64| ticks(to).into_iter().map(|t| moment(t, Lang::En)).collect::<Vec<_>>().join(" ");
        assert_eq!(told(52.0), "0 10\u{a0}s 20\u{a0}s 30\u{a0}s 40\u{a0}s 50\u{a0}s");
        assert_eq!(
            told(150.0),
            "0 20\u{a0}s 40\u{a0}s 1\u{a0}min 1:20\u{a0}min 1:40\u{a0}min 2\u{a0}min 2:20\u{a0}min"
        );
        assert_eq!(told(10.0 * 3600.0), "0 2\u{a0}h 4\u{a0}h 6\u{a0}h 8\u{a0}h 10\u{a0}h");
        assert_eq!(ticks(40.0 * DAY).len(), 9);
    }
}

//! A comparison as Markdown, to be put into a comment or the summary of a CI job.

use super::verdict::{checks, labels, summary};
use super::{Line, gate, letter, lines, means, notes, scale};
use crate::markdown::{list, marked, plain, rows};
use crate::text::picture::picture;
use stend_analyse::Comparison;
use stend_analyse::compare::Condition;
use stend_base::{Lang, Say, say};

/// Lines of the table at most: hosts of code cut a comment at 64 KiB, and nobody reads more.
const LINES_MAX: usize = 300;

/// A comparison as Markdown: gate, verdicts, what changed, every ratio as a picture, the table, notes.
pub fn comparison_markdown(comparison: &Comparison, lang: Lang) -> String {
    let mut out = String::new();
    let mut paragraph = |text: &str| {
        if !text.is_empty() {
            out.push_str(&format!("{text}\n\n"));
        }
    };
    if let Some(gate) = &comparison.gate {
        paragraph(&format!("**{} {}**", gate::glyph(gate.outcome), plain(gate::summary(gate).get(lang))));
        let failures = gate::failures(comparison, gate);
        paragraph(&list(failures.iter().map(|(glyph, say)| format!("{glyph} {}", plain(say.get(lang))))));
    }
    let matrix = super::matrix::of(comparison);
    let few = comparison.runs.len() <= super::matrix::FEW;
    for line in summary(comparison).iter().filter(|_| few) {
        paragraph(&format!("**{}**", plain(line.get(lang))));
    }
    let runs = comparison.runs.iter().enumerate();
    paragraph(&list(runs.map(|(i, run)| format!("{} — {}", letter(i), plain(super::describe(run).get(lang))))));
    if !comparison.changed.is_empty() {
        paragraph(say!("Changed conditions:", "Изменившиеся условия:").get(lang));
        let line =
            |c: &Condition| format!("{}: {}", plain(c.name.get(lang)), plain(super::arrows(&c.values).get(lang)));
        paragraph(&list(comparison.changed.iter().map(line)));
    }
    if !comparison.follow.is_empty() {
        paragraph(&format!("{}.", plain(super::follow(comparison).get(lang))));
    }
    if let Some(matrix) = &matrix {
        paragraph(&format!("**{}**", plain(matrix.title().get(lang))));
        paragraph(&matrix.markdown(plain, lang));
    }
    if few {
        paragraph(&picture(comparison, lang));
        paragraph(&table(comparison, lang));
    }
    let told = checks(comparison).into_iter().map(|(glyph, say)| format!("{glyph} {}", plain(say.get(lang))));
    paragraph(&list(told.chain(labels(comparison).iter().map(|say| format!("! {}", plain(say.get(lang)))))));
    for note in notes(comparison) {
        paragraph(&plain(note.get(lang)));
    }
    marked(out.trim_end())
}

fn table(comparison: &Comparison, lang: Lang) -> String {
    let heads = [
        say!("case", "случай"),
        say!("run", "прогон"),
        Say::same("A"),
        say!("value", "значение"),
        say!("of A", "от A"),
        say!("95 % interval", "95 %-й интервал"),
        say!("verdict", "вердикт"),
    ];
    let scale = scale(comparison);
    let mut all: Vec<Line> = comparison.cases.iter().flat_map(|case| lines(case, scale)).collect();
    let left = all.len().saturating_sub(LINES_MAX);
    all.truncate(LINES_MAX);
    all.extend(means(comparison));
    let cells = |line: &Line| -> Vec<String> {
        let cells = [&line.baseline, &line.other, &line.ratio, &line.interval, &line.verdict];
        let [a, b, ratio, interval, verdict] = cells.map(|say| plain(say.get(lang)));
        vec![plain(line.label.get(lang)), line.run.clone(), a, b, ratio, interval, verdict]
    };
    let heads = heads.map(|head| head.get(lang).to_string());
    let mut out = vec![rows(&heads, &["---", "---", "--:", "--:", "--:", "--:", "---"], all.iter().map(cells))];
    if left > 0 {
        out.push(String::new());
        out.push(say!("… and {left} lines more.", "… и ещё строк: {left}.").get(lang).to_string());
    }
    out.join("\n")
}

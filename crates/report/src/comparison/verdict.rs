//! Verdicts of a comparison in words, with the glyph that every colour comes with.

use super::letter;
use crate::figures::NONE;
use crate::words;
use stend_analyse::Comparison;
use stend_analyse::compare::{Doubt, Floor, Judged, Noise, P, Ratio, RatioBasis, Robust, Rule, Test, Verdict};
use stend_analyse::findings::{CheckId, CheckResult, CheckStatus, GradeLevel};
use stend_base::text::plural_ru;
use stend_base::{Lang, Nanos, Say, format, say};

/// A smaller p is printed as less than this.
const P_LEAST: f64 = 0.0001;

/// The colour of a verdict; only of what was measured in alternating blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tint {
    /// Better.
    Better,
    /// Worse.
    Worse,
}

/// How sure a ratio is.
#[derive(Debug, Clone, PartialEq)]
pub struct Significance {
    /// Two-sided p of the ratio alone.
    pub p: Say,
    /// The same after Holm's correction.
    pub adjusted: Say,
    /// Hodges–Lehmann's estimate.
    pub robust: Say,
    /// Its 95 % interval.
    pub robust_interval: Say,
}

/// Colour of a verdict, if it may have one.
pub fn tint(judged: &Judged) -> Option<Tint> {
    match judged.verdict {
        Verdict::Better if judged.coloured => Some(Tint::Better),
        Verdict::Worse if judged.coloured => Some(Tint::Worse),
        _ => None,
    }
}

/// A verdict as a cell of a table: glyph and word, or why there is none.
pub fn cell(ratio: &Ratio) -> Say {
    match ratio.judged.verdict {
        Verdict::Better => say!("▲ better", "▲ лучше"),
        Verdict::Worse => say!("▼ worse", "▼ хуже"),
        Verdict::Differs => say!("≠ differs slightly", "≠ слегка отличается"),
        Verdict::Equivalent => say!("≈ equivalent", "≈ равноценно"),
        Verdict::Inconclusive => doubt(ratio.judged.doubt.as_ref(), ratio.basis),
    }
}

fn doubt(doubt: Option<&Doubt>, basis: RatioBasis) -> Say {
    match doubt {
        Some(Doubt::TooFew { have, need }) => match basis {
            RatioBasis::Blocks { .. } => say!("? {have} of {need} blocks", "? блоков {have} из {need}"),
            _ => say!("? {have} of {need} trials", "? испытаний {have} из {need}"),
        },
        Some(Doubt::InsideFloor) => say!("? within A/A noise", "? в шуме A/A"),
        Some(Doubt::Chance) => say!("? may be chance", "? возможно, случай"),
        Some(Doubt::Failed(checks)) => Say::same(format!("✖ {}", CheckId::codes(checks).join(", "))),
        Some(Doubt::OtherWorkload) => say!("? other workload", "? другая нагрузка"),
        Some(Doubt::NoInterval) => Say::same(NONE),
        Some(Doubt::Wide) | None => say!("? undecided", "? неясно"),
    }
}

/// p, its correction and the robust estimate; `None` without an interval.
pub fn sure(ratio: &Ratio) -> Option<Significance> {
    let P { p, .. } = ratio.p?;
    let part = |value: Option<Say>| value.unwrap_or_else(super::missing);
    Some(Significance {
        p: probability(p),
        adjusted: part(ratio.judged.p_adjusted.map(probability)),
        robust: part(ratio.robust.map(|r| Say::both(|lang| format!("{} %", super::percent(r.value, lang))))),
        robust_interval: part(ratio.robust.and_then(|r: Robust| r.interval).map(super::interval)),
    })
}

fn probability(p: f64) -> Say {
    match p < P_LEAST {
        true => Say::both(|lang| format!("< {}", format::fixed(P_LEAST, 4, lang))),
        false => Say::both(|lang| format::fixed(p, 4, lang)),
    }
}

/// Most blocks that are offered as a command: a night of a short suite (by eye).
const BLOCKS_OFFERED: u32 = 200;

/// The comparison in one sentence for each run, and what an undecided one needs.
pub fn summary(comparison: &Comparison) -> Vec<Say> {
    if super::is_same_run(comparison) {
        return vec![say!(
            "A run is compared with itself, which shows nothing.",
            "Прогон сравнивается сам с собой, и это ничего не показывает."
        )];
    }
    let mut sentences: Vec<Say> = (1..comparison.runs.len()).map(|run| summary_of(comparison, run)).collect();
    let open = |ratio: &Ratio| matches!(ratio.judged.doubt, Some(Doubt::TooFew { .. } | Doubt::Wide));
    sentences.extend(ratios(comparison).any(open).then(|| repeat(&comparison.rule)));
    sentences
}

fn summary_of(comparison: &Comparison, run: usize) -> Say {
    let all: Vec<Verdict> =
        comparison.cells().filter(|cell| cell.run == run).map(|cell| cell.ratio.judged.verdict).collect();
    let (total, letter) = (all.len(), letter(run));
    let count = |verdict| all.iter().filter(|found| **found == verdict).count();
    let words = [
        (Verdict::Worse, "worse", "хуже"),
        (Verdict::Better, "better", "лучше"),
        (Verdict::Differs, "slightly different", "слегка отличаются"),
        (Verdict::Equivalent, "equivalent", "равноценны"),
        (Verdict::Inconclusive, "undecided", "неясны"),
    ];
    let counted: Vec<_> =
        words.into_iter().map(|(verdict, en, ru)| (count(verdict), en, ru)).filter(|(n, ..)| *n > 0).collect();
    let (en, ru) = match counted.as_slice() {
        [] => return say!("{letter} against A: nothing to compare.", "{letter} против A: сравнивать нечего."),
        [(n, en, ru)] if *n == total => {
            return say!("{letter} against A: all {total} {en}.", "{letter} против A: все {total} {ru}.");
        }
        several => {
            let of = |i: usize, n: &usize| if i == 0 { format!("{n} of {total}") } else { n.to_string() };
            let en = several.iter().enumerate().map(|(i, (n, en, _))| format!("{} {en}", of(i, n)));
            let en = en.collect::<Vec<_>>().join(", ");
            let ru = several.iter().map(|(n, _, ru)| format!("{ru} {n}")).collect::<Vec<_>>().join(", ");
            (en, ru)
        }
    };
    say!("{letter} against A: {en}.", "{letter} против A: из {total} чисел {ru}.")
}

/// How to decide what has too few blocks, or blocks that differ too much.
fn repeat(rule: &Rule) -> Say {
    let Some(blocks) = rule.suggested.filter(|blocks| *blocks <= BLOCKS_OFFERED) else {
        return say!(
            "The blocks differ too much; repeats will not help. Stop other load or use longer trials.",
            "Блоки слишком различаются, повторы не помогут. Остановите другую нагрузку или удлините испытания."
        );
    };
    let cost = cost(rule, blocks);
    let (en, ru) = (cost.en, cost.ru);
    let word = plural_ru(blocks.into(), "повтор", "повтора", "повторов");
    let verb = plural_ru(blocks.into(), "решит", "решат", "решат");
    say!(
        "{blocks} repeats would decide more{en}: `--repeats {blocks}`.",
        "{blocks} {word} {verb} больше{ru}: `--repeats {blocks}`."
    )
}

fn ratios(comparison: &Comparison) -> impl Iterator<Item = &Ratio> {
    comparison.cells().map(|cell| cell.ratio)
}

/// Checks of the whole comparison that did not pass, with their glyphs.
pub fn checks(comparison: &Comparison) -> Vec<(&'static str, Say)> {
    let told = [CheckStatus::Warn, CheckStatus::Fail, CheckStatus::NotMeasurable];
    let of = |check: &CheckResult| {
        let CheckResult { id, name, measured, limit, meaning, .. } = check;
        let line = |lang: Lang, word: &str| {
            let [name, measured, limit, meaning] = [name, measured, limit, meaning].map(|say| say.get(lang));
            format!("{id} {name}: {measured}, {word} {limit}. {meaning}")
        };
        (words::check_glyph(check.status), Say { en: line(Lang::En, "limit"), ru: line(Lang::Ru, "предел") })
    };
    comparison.checks.iter().filter(|check| told.contains(&check.status)).map(of).collect()
}

/// What weakens the whole comparison.
pub fn labels(comparison: &Comparison) -> Vec<Say> {
    let mut labels = Vec::new();
    if !comparison.interleaved && !comparison.cases.is_empty() {
        labels.push(say!(
            "Not interleaved, single build: the sides were measured one after the other. Anything that changed in between may cause a difference, so verdicts have no colour. In arms of one run, or on stands with `--rebuild`, blocks alternate and drift cancels.",
            "Без чередования, одна сборка: стороны измерялись друг за другом. Причиной различия может быть всё, что изменилось между ними, поэтому вердикты без цвета. В вариантах одного прогона и на стендах с `--rebuild` блоки чередуются, и дрейф сокращается."
        ));
    }
    if comparison.runs.iter().any(|run| run.grade == GradeLevel::Screening) && !comparison.cases.is_empty() {
        labels.push(say!(
            "Screening: the verdicts apply to trials of this length and storage in this state, not to the steady state.",
            "Предварительная оценка: вердикты относятся к испытаниям этой длины и хранилищу в этом состоянии, а не к установившемуся режиму."
        ));
    }
    labels
}

/// What the verdicts mean: only those that occur, each once.
pub fn notes(comparison: &Comparison) -> Vec<Say> {
    let mut notes: Vec<Say> = comparison.floor.iter().map(noise).collect();
    let mut judged: Vec<&Judged> = ratios(comparison).map(|ratio| &ratio.judged).collect();
    // Failed checks and other workloads have their own lists; a missing interval shows in its basis.
    judged.retain(|judged| !matches!(judged.doubt, Some(Doubt::Failed(_) | Doubt::OtherWorkload | Doubt::NoInterval)));
    judged.sort_by_key(|judged| (judged.verdict.min(Verdict::Differs), judged.verdict, place(judged.doubt.as_ref())));
    let mut known: Vec<Say> = Vec::new();
    for note in judged.iter().map(|judged| explain(judged, &comparison.rule)) {
        if !known.contains(&note) {
            known.push(note);
        }
    }
    notes.extend(known);
    if ratios(comparison).any(|ratio| matches!(ratio.p, Some(P { test: Test::SignFlipDrawn, .. }))) {
        notes.push(say!(
            "With more than 20 blocks not all ways to flip signs are tried for p: 99,999 are drawn (fewer above 200 blocks), always the same.",
            "Если блоков больше 20, для p перебираются не все перестановки знаков, а 99 999 случайных (при более чем 200 блоках меньше), всегда одни и те же."
        ));
    }
    notes
}

/// Order of the doubts in the notes.
fn place(doubt: Option<&Doubt>) -> u8 {
    match doubt {
        None => 0,
        Some(Doubt::Wide) => 1,
        Some(Doubt::TooFew { .. }) => 2,
        Some(Doubt::InsideFloor) => 3,
        Some(Doubt::Chance) => 4,
        Some(_) => 5,
    }
}

/// ` (about 5 min)`; empty where no block has ended.
fn cost(rule: &Rule, blocks: u32) -> Say {
    let Some(block) = rule.block else { return Say::same("") };
    let time = |lang| format::duration(Nanos(block.0.saturating_mul(u64::from(blocks))), lang);
    let (en, ru) = (time(Lang::En), time(Lang::Ru));
    say!(" (about {en})", " (около {ru})")
}

/// How many blocks it takes, and how long they last.
fn too_few(rule: &Rule) -> Say {
    let Rule { together, needed, suggested, .. } = *rule;
    let Some(blocks) = suggested else {
        return say!(
            "? too few blocks or trials: fewer than {needed} cannot show a difference in this table ({together} cells are judged together), and with this spread more than 1000 would be needed. Reduce disturbances, use longer trials, or compare fewer cases.",
            "? слишком мало блоков или испытаний: меньше {needed} не покажут различия в этой таблице (вместе оценивается ячеек: {together}), а при таком разбросе понадобилось бы больше 1000. Уберите помехи, удлините испытания или сравните меньше случаев."
        );
    };
    let Say { en: cost, ru: cost_ru } = cost(rule, blocks);
    say!(
        "? too few blocks or trials: fewer than {needed} cannot show a difference in this table ({together} cells are judged together). With this spread run with `--repeats {blocks}`{cost}, or compare fewer cases.",
        "? слишком мало блоков или испытаний: меньше {needed} не покажут различия в этой таблице (вместе оценивается ячеек: {together}). При таком разбросе запустите с `--repeats {blocks}`{cost_ru} или сравните меньше случаев."
    )
}

/// A verdict in a sentence or two: what it rests on, what it means for the comparison, and what to do.
pub fn explain(judged: &Judged, rule: &Rule) -> Say {
    let Rule { margin, cells, .. } = *rule;
    let (margin_en, margin_ru) = (share(margin, Lang::En), share(margin, Lang::Ru));
    let beyond = beyond(rule);
    let (en, ru) = (&beyond.en, &beyond.ru);
    match (judged.verdict, judged.doubt.as_ref()) {
        (Verdict::Better | Verdict::Worse, _) => say!(
            "▲ better, ▼ worse: the whole interval is more than {en} away, and chance makes such a difference in at most 1 of 20 tables of {cells} cells (Holm). For a rate more is better, for a latency less. Look for the cause among the changed conditions.",
            "▲ лучше, ▼ хуже: весь интервал дальше чем на {ru}, и случайно такое бывает не чаще чем в 1 таблице из 20 (ячеек: {cells}; Холм). Для скорости лучше больше, для задержки — меньше. Ищите причину среди изменившихся условий."
        ),
        (Verdict::Differs, _) => say!(
            "≠ differs slightly: not by chance, but the interval reaches below {en}, so it may be too small to matter. More or longer blocks decide.",
            "≠ слегка отличается: не случайно, но интервал заходит ниже {ru}, и оно может быть слишком мало. Решат дополнительные или более длинные блоки."
        ),
        (Verdict::Equivalent, _) => say!(
            "≈ equivalent: the whole interval is within {margin_en}. Choose by other criteria.",
            "≈ равноценно: весь интервал в пределах {margin_ru}. Выбирайте по другим признакам."
        ),
        (_, Some(Doubt::TooFew { .. })) => too_few(rule),
        (_, Some(Doubt::InsideFloor)) => say!(
            "? within A/A noise: the difference is not larger than the noise of this stand, so there is no conclusion. Reduce disturbances, or measure longer.",
            "? в шуме A/A: различие не больше шума этого стенда, и вывода нет. Уберите помехи или измеряйте дольше."
        ),
        (_, Some(Doubt::Chance)) => say!(
            "? may be chance: among {cells} cells one such difference is likely by chance (Holm), so there is no conclusion. Use more blocks, or compare fewer cases at a time.",
            "? возможно, случайность: среди {cells} ячеек одно такое различие вероятно и случайно (Холм), и вывода нет. Нужно больше блоков или меньше случаев за раз."
        ),
        (_, Some(Doubt::Failed(checks))) => {
            let checks = CheckId::codes(checks).join(", ");
            say!(
                "✖ a check failed ({checks}): one of the numbers does not describe what its name says, so there is no verdict. The check explains what to do.",
                "✖ проверка не пройдена ({checks}): одно из чисел не соответствует своему названию, и вердикта нет. Что делать, сказано у проверки."
            )
        }
        (_, Some(Doubt::OtherWorkload)) => say!(
            "? other workload: in the other run this name means another load, so there is no verdict. Give the cases different names, or measure the same load.",
            "? другая нагрузка: в другом прогоне под этим именем другая нагрузка, и вердикта нет. Назовите случаи по-разному или измерьте одну и ту же."
        ),
        (_, Some(Doubt::NoInterval)) => say!(
            "— no interval: one side has too few data, so there is no verdict. More or longer trials give one.",
            "— нет интервала: у одной из сторон мало данных, и вердикта нет. Его дадут дополнительные или более длинные испытания."
        ),
        (_, Some(Doubt::Wide) | None) => say!(
            "? undecided: the interval includes 100 % and reaches beyond {margin_en}. More or longer blocks narrow it.",
            "? неясно: интервал включает 100 % и выходит за {margin_ru}. Его сузят дополнительные или более длинные блоки."
        ),
    }
}

fn share(share: f64, lang: Lang) -> String {
    format!("{} %", trimmed(share * 100.0, lang))
}

/// What a difference must be beyond.
fn beyond(rule: &Rule) -> Say {
    let Rule { rate, latency, .. } = *rule;
    match rate == latency {
        true => Say::both(|lang| share(rate, lang)),
        false => Say {
            en: format!("{} (rates) or {} (p99)", share(rate, Lang::En), share(latency, Lang::En)),
            ru: format!("{} (скорости) или {} (p99)", share(rate, Lang::Ru), share(latency, Lang::Ru)),
        },
    }
}

/// How far the stand differs from itself, with where that is known from.
fn noise(floor: &Floor) -> Say {
    let share = |noise: Option<Noise>, lang| {
        noise.map_or(NONE.to_string(), |n| format!("± {}", format::percent(n.share, lang)))
    };
    let both = |lang| [share(floor.rate, lang), share(floor.latency, lang)];
    let ([rate_en, latency_en], [rate_ru, latency_ru]) = (both(Lang::En), both(Lang::Ru));
    let from = floor.from.join(", ");
    say!(
        "A/A noise of this stand: {rate_en} for rates, {latency_en} for p99 ({from}).",
        "Шум A/A этого стенда: {rate_ru} для скоростей, {latency_ru} для p99 ({from})."
    )
}

/// `2`, `2.5`: no zeros at the end.
fn trimmed(value: f64, lang: Lang) -> String {
    let text = format::fixed(value, 2, lang);
    text.trim_end_matches('0').trim_end_matches(['.', ',']).to_string()
}

//! Sources beside the load in words, the same on a terminal and on a page; and as a table for programs. Nothing is computed here.

use crate::export::quoted;
use crate::figures::NONE;
use std::io::{Result as IoResult, Write};
use stend_analyse::findings::{SourceFinding, SourceValueFinding, Spread};
use stend_analyse::sources::{printed, stretches};
use stend_base::{Lang, Nanos, Say, format, say, say_in};
use stend_record::{RunRecord, SourceAnswer, SourceWay};

/// How a source was asked, what that cost, and what did not come.
pub(crate) fn asked(source: &SourceFinding) -> Say {
    Say::both(|lang| {
        let (asked, every, place) = (source.asked, format::exact(source.every, lang), &source.place);
        let way = way(source.way);
        let way = way.get(lang);
        let mut said = vec![say_in!(
            lang,
            "Asked {asked} times, every {every}, {way} (`{place}`).",
            "Опросов: {asked}, каждые {every}, {way} (`{place}`)."
        )];
        if let Some((median, most)) = source.took {
            let [median, most] = [median, most].map(|time| format::latency(time, lang));
            said.push(say_in!(
                lang,
                "An answer took {median} at the median, {most} at most.",
                "Ответ занимал в медиане {median}, самое большее {most}."
            ));
        }
        if source.late > 0 {
            let late = source.late;
            said.push(say_in!(lang, "Too late: {late}.", "Опоздало ответов: {late}."));
        }
        if source.failed > 0 {
            let (failed, why) = (source.failed, source.why.as_ref().map_or("", |why| why.get(lang)));
            said.push(say_in!(lang, "Failed: {failed}, the first: {why}.", "Не удалось: {failed}, первый раз: {why}."));
        }
        for SourceValueFinding { name, missing, .. } in source.values.iter().filter(|value| value.missing > 0) {
            said.push(say_in!(
                lang,
                "Answers without a number for `{name}`: {missing}.",
                "Ответов без числа для `{name}`: {missing}."
            ));
        }
        said.join(" ")
    })
}

fn way(way: SourceWay) -> Say {
    match way {
        SourceWay::Command => say!("by a program here", "программой на этой машине"),
        SourceWay::Ssh => Say { en: "over ssh".into(), ru: "по ssh".into() },
        SourceWay::Http => Say { en: "over HTTP".into(), ru: "по HTTP".into() },
        SourceWay::Snmp => Say { en: "over SNMP".into(), ru: "по SNMP".into() },
    }
}

/// A value with its unit: the heading of its column.
pub(crate) fn heading(value: &SourceValueFinding) -> Say {
    let SourceValueFinding { meaning, unit, .. } = value;
    Say::same(format!("{meaning}, {unit}"))
}

/// `41.2 (38.0 … 47.0)`: the mean, the least and the most.
pub(crate) fn spread(spread: Option<&Spread>) -> Say {
    spread.map_or(Say::same(NONE), |Spread { mean, least, most, .. }| {
        Say::both(|lang| {
            let [mean, least, most] = [mean, least, most].map(|value| number(*value, lang));
            format!("{mean} ({least} … {most})")
        })
    })
}

fn number(value: f64, lang: Lang) -> String {
    let shown = format::number(value.abs(), lang);
    if value < 0.0 { format!("−{shown}") } else { shown }
}

/// What the values of a case are of.
pub(crate) fn of_case(value: &SourceValueFinding, case: u32) -> Option<&Spread> {
    value.cases.iter().find(|(known, _)| *known == case).map(|(_, spread)| spread)
}

/// Columns of the table of answers: a row for each value of each answer.
pub(crate) const COLUMNS: [&str; 10] =
    ["run", "source", "value", "unit", "asked_ns", "took_ns", "state", "printed", "at_ns", "number"];

/// Writes every answer of every source as CSV (RFC 4180, UTF-8, lines end with a line feed); what is not known is empty. Times count from the
/// start of the run. `printed` is as the source said it; `number` is in the unit, of a counter its rate since the answer before, at `at_ns`.
pub fn sources_csv(run: &RunRecord, start: Nanos, to: &mut dyn Write) -> IoResult<()> {
    writeln!(to, "{}", COLUMNS.join(","))?;
    let since = |at: Nanos| at.0 as i128 - start.0 as i128;
    for source in &run.sources {
        for (index, value) in source.info.values.iter().enumerate() {
            let points = stretches(source, index).concat();
            for (which, reading) in source.readings.iter().enumerate() {
                let read = printed(reading, index);
                let state = match (&reading.answer, read) {
                    (SourceAnswer::Late, _) => "late",
                    (SourceAnswer::Failed { .. }, _) => "failed",
                    (SourceAnswer::Values(_), None) => "no_number",
                    (SourceAnswer::Values(_), Some(_)) => "ok",
                };
                let [at, number] = match points.binary_search_by_key(&which, |point| point.reading) {
                    Ok(found) => [since(points[found].at).to_string(), points[found].value.to_string()],
                    Err(_) => [String::new(), String::new()],
                };
                let fields = [
                    quoted(&run.header.id),
                    quoted(&source.info.name),
                    quoted(&value.name),
                    quoted(&value.unit),
                    since(reading.asked).to_string(),
                    reading.took_ns.to_string(),
                    state.to_string(),
                    read.unwrap_or_default().to_string(),
                    at,
                    number,
                ];
                writeln!(to, "{}", fields.join(","))?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn every_answer_is_a_row_and_what_did_not_come_has_its_state() {
        let run = fixture::watched_array();
        let mut out = Vec::new();
        sources_csv(&run, Nanos::secs(10), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let rows: Vec<&str> =
            text.lines().map(|line| line.split_once("array1,").map_or(line, |(_, rest)| rest)).collect();
        assert_eq!(
            rows,
            [
                "run,source,value,unit,asked_ns,took_ns,state,printed,at_ns,number",
                "cpu,%,0,2000000,ok,4120,1000000,41.2",
                "cpu,%,5000000000,2000000,late,,,",
                "cpu,%,10000000000,2000000,ok,4700,10001000000,47",
                "reads,IOPS,0,2000000,ok,100,,",
                "reads,IOPS,5000000000,2000000,late,,,",
                "reads,IOPS,10000000000,2000000,no_number,,,",
            ]
        );
    }
}

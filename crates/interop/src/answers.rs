//! Numbers in what devices and programs answer: by a regular expression, in JSON, in the text format of Prometheus, and in the lines of
//! `snmpget`. A number is kept as it was printed. Must not ask anything, or guess what is not there.

use Absent::{NotANumber, NotThere, SeveralThere};
use regex_lite::Regex;
use stend_base::{Say, say};
use stend_spec::sources::{Series, Several, Source, SourceValue, ValuePlace};

/// Most letters of a number.
const NUMBER_MAX: usize = 40;

/// Why an answer has no number for a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Absent {
    /// It is not an answer of that kind; what its reader says.
    Unreadable(String),
    /// Nothing is in that place.
    NotThere,
    /// Something is there that is no number; its beginning.
    NotANumber(String),
    /// So many are there, and one was asked for.
    SeveralThere(usize),
}

impl Absent {
    /// In words.
    pub fn say(&self) -> Say {
        match self {
            Absent::Unreadable(why) => say!("the answer cannot be read: {why}", "ответ не читается: {why}"),
            NotThere => say!("nothing is in that place of the answer", "в этом месте ответа ничего нет"),
            NotANumber(text) => say!("`{text}` is not a number", "`{text}` — не число"),
            SeveralThere(count) => say!(
                "{count} series match; add labels or `several`",
                "подходящих рядов: {count}; уточните метки или добавьте `several`"
            ),
        }
    }
}

/// The numbers of an answer, in the order of the values of its source.
pub fn numbers(source: &Source, answer: &str) -> Vec<Result<String, Absent>> {
    let mut json = None;
    source.values.iter().map(|value| one(value, answer, &mut json)).collect()
}

/// A document, read once.
type Document = Option<Result<serde_json::Value, String>>;

fn one(value: &SourceValue, answer: &str, json: &mut Document) -> Result<String, Absent> {
    match &value.place {
        ValuePlace::Pattern { pattern, several } => matched(pattern, *several, answer),
        ValuePlace::Json(pointer) => {
            let read = || serde_json::from_str(answer).map_err(|error| error.to_string());
            match json.get_or_insert_with(read) {
                Ok(document) => pointed(document, pointer),
                Err(why) => Err(Absent::Unreadable(why.clone())),
            }
        }
        ValuePlace::Prometheus { series, several } => of_series(series, *several, answer),
        ValuePlace::Oid(oid) => of_object(oid, answer),
    }
}

fn matched(pattern: &str, several: Option<Several>, answer: &str) -> Result<String, Absent> {
    // The file was read: it is one.
    let regex = Regex::new(pattern).map_err(|error| Absent::Unreadable(error.to_string()))?;
    let mut found = regex.captures_iter(answer).filter_map(|captures| Some(captures.get(1)?.as_str()));
    match several {
        None => found.next().ok_or(NotThere).and_then(number),
        Some(several) => joined(several, found),
    }
}

fn pointed(document: &serde_json::Value, pointer: &str) -> Result<String, Absent> {
    match document.pointer(pointer) {
        None | Some(serde_json::Value::Null) => Err(NotThere),
        Some(serde_json::Value::String(text)) => number(text),
        Some(other) => number(&other.to_string()),
    }
}

fn of_series(asked: &Series, several: Option<Several>, answer: &str) -> Result<String, Absent> {
    // Behind the value a line may have a time.
    let of_line = |line| {
        let (series, rest) = Series::read(line)?;
        asked.holds(&series).then(|| rest.split_whitespace().next().unwrap_or_default())
    };
    let mut found = answer.lines().filter_map(of_line);
    let Some(several) = several else {
        let first = found.next().ok_or(NotThere)?;
        return match found.count() {
            0 => number(first),
            more => Err(SeveralThere(more + 1)),
        };
    };
    joined(several, found)
}

/// In a line `.1.3.6.1.2.1.1.3.0 8640000`, as `snmpget -Onqt` prints it.
fn of_object(oid: &str, answer: &str) -> Result<String, Absent> {
    let of_line = |line: &'_ str| -> Option<String> {
        let rest = line.strip_prefix('.')?.strip_prefix(oid)?.strip_prefix(' ')?;
        Some(rest.trim().trim_matches('"').to_string())
    };
    answer.lines().find_map(of_line).ok_or(NotThere).and_then(|text| number(&text))
}

/// One number of several, with all its digits.
fn joined<'t>(several: Several, found: impl Iterator<Item = &'t str>) -> Result<String, Absent> {
    let all: Vec<String> = found.map(number).collect::<Result<_, _>>()?;
    if all.is_empty() {
        return Err(NotThere);
    }
    // Counters add up without loss.
    let whole: Option<Vec<i128>> = all.iter().map(|text| text.parse().ok()).collect();
    if let (Several::Sum, Some(whole)) = (several, whole)
        && let Some(sum) = whole.iter().try_fold(0i128, |sum, number| sum.checked_add(*number))
    {
        return number(&sum.to_string());
    }
    let values = all.iter().filter_map(|text| text.parse::<f64>().ok());
    let value = match several {
        Several::Sum => values.sum(),
        Several::Mean => values.sum::<f64>() / all.len() as f64,
        Several::Largest => values.fold(f64::NEG_INFINITY, f64::max),
    };
    number(&value.to_string())
}

/// A decimal number as it was printed; nothing that is not finite.
fn number(text: &str) -> Result<String, Absent> {
    let text = text.trim();
    let plain = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    let fits = text.len() <= NUMBER_MAX && text.bytes().all(plain);
    match fits && text.parse::<f64>().is_ok_and(f64::is_finite) {
        true => Ok(text.to_string()),
        false => Err(NotANumber(text.chars().take(NUMBER_MAX).collect())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found of these values in an answer; `way` and `values` as a file has them.
    fn found(way: &str, values: &[&str], answer: &str) -> Vec<Result<String, Absent>> {
        let value = |(at, inside): (usize, &&str)| format!("v{at}: {{{inside}, unit: x, meaning: y}}");
        let values = values.iter().enumerate().map(value).collect::<Vec<_>>().join(", ");
        let file = format!("sources: {{a: {{{way}, values: {{{values}}}}}}}");
        numbers(&stend_spec::parse::sources(&file, "s.yaml").unwrap().sources[0], answer)
    }

    fn of_command(values: &[&str], answer: &str) -> Vec<Result<String, Absent>> {
        found("command: [x]", values, answer)
    }

    fn fine(number: &str) -> Result<String, Absent> {
        Ok(number.to_string())
    }

    #[test]
    fn a_pattern_gives_the_first_match_unless_all_are_asked_for() {
        let answer = "node1 cpu_pc 12 34\nnode2 cpu_pc 30.5 1\nstate: on line\n";
        let cpu = r"pattern: 'cpu_pc +([0-9.]+)'";
        let all = of_command(
            &[
                cpu,
                &format!("{cpu}, several: sum"),
                &format!("{cpu}, several: largest"),
                "pattern: 'state: (\\w+)'",
                "pattern: 'x(.)'",
            ],
            answer,
        );
        assert_eq!(all, [fine("12"), fine("42.5"), fine("30.5"), Err(NotANumber("on".into())), Err(NotThere)]);
    }

    #[test]
    fn json_is_read_by_pointers_and_what_is_no_json_says_so_for_each_value() {
        let answer =
            r#"{"records": [{"cpu": 12.50, "name": "a/b", "big": 18446744073709551615, "text": " 7 ", "off": null}]}"#;
        let places = ["cpu", "big", "text", "name", "off", "none"].map(|name| format!("json: /records/0/{name}"));
        let all = of_command(&places.each_ref().map(String::as_str), answer);
        assert_eq!(all[..3], [fine("12.5"), fine("18446744073709551615"), fine("7")]);
        assert_eq!(all[3..], [Err(NotANumber("a/b".into())), Err(NotThere), Err(NotThere)]);
        let page = of_command(&["json: /a", "pattern: '(1)'"], "<html>1");
        assert!(matches!(&page[..], [Err(Absent::Unreadable(_)), Ok(_)]), "{page:?}");
    }

    #[test]
    fn one_series_of_prometheus_must_match_unless_several_are_joined() {
        let answer = "# HELP busy share\n# TYPE busy gauge\nbusy{d=\"a\",n=\"1\"} 0.5 1700000000\nbusy{d=\"b\",n=\"1\"} 0.25\nbusy_all 3\nload NaN\n";
        let all = of_command(
            &[
                r#"prometheus: 'busy{d="a"}'"#,
                "prometheus: busy",
                "prometheus: busy, several: mean",
                "prometheus: busy_all",
                r#"prometheus: 'busy{d="c"}'"#,
                "prometheus: load",
            ],
            answer,
        );
        assert_eq!(all[..4], [fine("0.5"), Err(SeveralThere(2)), fine("0.375"), fine("3")]);
        assert_eq!(all[4..], [Err(NotThere), Err(NotANumber("NaN".into()))]);
    }

    #[test]
    fn objects_of_snmp_are_found_by_their_numbers_in_what_snmpget_printed() {
        let answer = ".1.3.6.1.2.1.1.3.0 8640000\n.1.3.6.1.2.1.31.1.1.1.6.1 18446744073709551615\n\
            .1.3.6.1.2.1.31.1.1.1.6.10 7\n.1.3.6.1.4.1.9.1 No Such Object available on this agent at this OID\n\
            .1.3.6.1.4.1.8.1 \"42.5\"\n";
        let oids =
            ["1.3.6.1.2.1.1.3.0", "1.3.6.1.2.1.31.1.1.1.6.1", "1.3.6.1.4.1.8.1", "1.3.6.1.4.1.9.1", "1.3.6.1.4.1.9"];
        let oids = oids.map(|oid| format!("oid: {oid}"));
        let all = found("snmp: {host: x}", &oids.each_ref().map(String::as_str), answer);
        assert_eq!(all[..3], [fine("8640000"), fine("18446744073709551615"), fine("42.5")]);
        assert!(matches!(&all[3..], [Err(NotANumber(_)), Err(NotThere)]), "{all:?}");
    }

    #[test]
    fn sums_of_whole_numbers_lose_no_digit() {
        let answer = "c 9007199254740993\nc 2\n";
        assert_eq!(of_command(&["pattern: 'c ([0-9]+)', several: sum"], answer), [fine("9007199254740995")]);
    }

    #[test]
    fn what_is_no_decimal_number_is_refused() {
        for text in ["", "0x10", "1,5", "inf", "nan", "1e999", "12 %", &"1".repeat(41)] {
            assert!(number(text).is_err(), "{text}");
        }
        assert_eq!(number(" -1.5e3 "), fine("-1.5e3"));
    }

    proptest::proptest! {
        #[test]
        fn any_answer_is_read_to_its_end(answer in ".{0,300}") {
            let all = of_command(&["pattern: '([0-9]+)', several: sum", "json: /a", "prometheus: 'a{b=\"c\"}'"], &answer);
            proptest::prop_assert_eq!(all.len(), 3);
        }
    }
}

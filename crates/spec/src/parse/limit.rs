//! A limit in one line: `[CASE] METRIC [OPERATION] < VALUE`. The same text stands in a gate file and behind `--expect`.

use super::text;
use crate::gate::{Bound, GateLimit, Side, Undecided};
use crate::keys::Choice;
use crate::keys::gate::{LIMIT_MAX, LIMITED, LIMITED_AS, Limited, OPERATIONS};
use crate::yaml::Node;
use stend_base::units::{parse_nanos, parse_rate, parse_throughput};
use stend_base::{Error, MilliIops, Nanos, Result, Say, say};

/// The four signs, those of two characters first.
const SIGNS: [(&str, Side); 4] = [("<=", Side::AtMost), (">=", Side::AtLeast), ("<", Side::Below), (">", Side::Above)];

/// What is wrong with a limit, and from which character on (from 1).
struct Slip {
    at: usize,
    message: Say,
    hint: Say,
}

/// A limit of a gate file.
pub(super) fn of(node: &Node, inconclusive: Undecided) -> Result<GateLimit> {
    let text = text(node)?;
    let line = u32::try_from(node.at.line).unwrap_or(u32::MAX);
    let limit = read(&text).map_err(|Slip { message: Say { en, ru }, hint, .. }| {
        let shown: String = text.chars().take(LIMIT_MAX).collect();
        node.error(say!("limit `{shown}`: {en}", "предел `{shown}`: {ru}")).hint(hint)
    })?;
    Ok(GateLimit { line: Some(line), inconclusive, ..limit })
}

/// A limit of the command line. Errors: `Usage`, with the character from which on it is wrong.
pub fn expect(text: &str) -> Result<GateLimit> {
    read(text).map_err(|Slip { at, message: Say { en, ru }, hint }| {
        let shown: String = text.chars().take(LIMIT_MAX).collect();
        Error::usage(say!("--expect '{shown}', character {at}: {en}", "--expect '{shown}', символ {at}: {ru}"))
            .hint(hint)
    })
}

fn read(text: &str) -> std::result::Result<GateLimit, Slip> {
    let slip = |at: usize, message, hint| Slip { at: text[..at].chars().count() + 1, message, hint };
    if text.chars().count() > LIMIT_MAX || text.chars().any(char::is_control) {
        let message = say!(
            "a limit has at most {LIMIT_MAX} characters and no control characters",
            "в пределе не больше {LIMIT_MAX} символов и нет управляющих"
        );
        return Err(slip(0, message, example()));
    }
    let Some(at) = text.rfind(['<', '>', '=']) else {
        let end = text.trim_end().len();
        return Err(slip(
            end,
            say!("there is no `<`, `<=`, `>` or `>=`", "нет знака `<`, `<=`, `>` или `>=`"),
            example(),
        ));
    };
    let from = text[..at].trim_end_matches(['<', '>', '=']).len();
    let Some((_, side)) = SIGNS.into_iter().find(|(sign, _)| *sign == &text[from..=at]) else {
        let sign = &text[from..=at];
        let message =
            say!("`{sign}` is none of `<`, `<=`, `>`, `>=`", "`{sign}` — не один из знаков `<`, `<=`, `>`, `>=`");
        return Err(slip(from, message, example()));
    };
    let words = words(&text[..from]);
    let (op, words) = match words.split_last() {
        Some((&(_, last), rest)) if of_word(OPERATIONS, last).is_some() => (of_word(OPERATIONS, last).flatten(), rest),
        _ => (None, &words[..]),
    };
    let Some((&(place, metric), before)) = words.split_last() else {
        let message = say!("there is no metric before the sign", "перед знаком нет показателя");
        return Err(slip(from, message, metrics()));
    };
    let Some(limited) = of_word(LIMITED, metric) else {
        return Err(slip(place, say!("unknown metric `{metric}`", "неизвестный показатель `{metric}`"), meant(metric)));
    };
    let cases = match before {
        [] => "*",
        [.., (at, last)] => text[..at + last.len()].trim(),
    };
    let value = text[at + 1..].trim();
    let place = at + 1 + text[at + 1..].len() - text[at + 1..].trim_start().len();
    let bound = bound(limited, value).map_err(|(message, hint)| slip(place, message, hint))?;
    let (text, cases) = (text.trim().to_string(), cases.to_string());
    Ok(GateLimit { line: None, text, cases, op, side, bound, inconclusive: Undecided::Undecided })
}

/// Words with the byte where each begins, without commas at their ends.
fn words(text: &str) -> Vec<(usize, &str)> {
    let begin = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
    text.split_whitespace()
        .map(|word| (begin(word), word.trim_end_matches(',')))
        .filter(|(_, word)| !word.is_empty())
        .collect()
}

fn of_word<T: Copy>(choices: &[Choice<T>], word: &str) -> Option<T> {
    choices.iter().find(|(known, ..)| *known == word).map(|(.., value)| *value)
}

fn bound(limited: Limited, value: &str) -> std::result::Result<Bound, (Say, Say)> {
    match limited {
        Limited::Iops => {
            let number = value.strip_suffix("IOPS").or_else(|| value.strip_suffix("/s")).unwrap_or(value).trim();
            let (number, thousands) = match number.char_indices().last() {
                Some((at, 'k' | 'K')) => (&number[..at], "k"),
                Some((at, 'M')) => (&number[..at], "M"),
                _ => (number, ""),
            };
            let factor = match thousands {
                "k" => 1_000,
                "M" => 1_000_000,
                _ => 1,
            };
            let parsed = parse_rate(&format!("{}/s", number.trim())).ok();
            let scaled = parsed.and_then(|rate| rate.0.checked_mul(factor)).filter(|rate| *rate > 0);
            let wrong = say!("`{value}` is no number of I/Os per second", "`{value}` — не число операций в секунду");
            let hint = say!("write `20000` or `20k`", "напишите `20000` или `20k`");
            scaled.map(|rate| Bound::Iops(MilliIops(rate))).ok_or((wrong, hint))
        }
        Limited::Throughput => parse_throughput(value).ok().filter(|rate| rate.0 > 0).map(Bound::Throughput).ok_or((
            say!("`{value}` is no throughput", "`{value}` — не пропускная способность"),
            say!("write `500MB/s`, `1.5GiB/s` or `25Gbit/s`", "напишите `500MB/s`, `1.5GiB/s` или `25Gbit/s`"),
        )),
        Limited::Quantile(q) => match parse_nanos(value) {
            Ok(limit) if limit > Nanos(0) => Ok(Bound::Latency(q, limit)),
            _ if value.parse::<f64>().is_ok_and(|number| number > 0.0) => Err((
                say!("`{value}` has no unit", "у `{value}` нет единицы"),
                say!(
                    "write `{value}us`, `{value}ms` or `{value}s`",
                    "напишите `{value}us`, `{value}ms` или `{value}s`"
                ),
            )),
            _ => Err((
                say!("`{value}` is no latency", "`{value}` — не задержка"),
                say!("write `500us`, `5ms` or `1.5s`", "напишите `500us`, `5ms` или `1.5s`"),
            )),
        },
    }
}

fn meant(word: &str) -> Say {
    let known = || LIMITED.iter().map(|(known, ..)| *known);
    let alias = LIMITED_AS.iter().find(|(other, _)| *other == word).map(|(_, known)| *known);
    match alias.or_else(|| super::nearest(word, known())) {
        Some(near) => say!("did you mean `{near}`?", "возможно, `{near}`?"),
        None => metrics(),
    }
}

fn metrics() -> Say {
    let known = LIMITED.iter().map(|(known, ..)| format!("`{known}`")).collect::<Vec<_>>().join(", ");
    say!("metrics: {known}", "показатели: {known}")
}

fn example() -> Say {
    say!(
        "write [CASE] METRIC [OPERATION] < VALUE, for example `rand-read p99 < 5ms` or `iops >= 20000`",
        "пишите [СЛУЧАЙ] ПОКАЗАТЕЛЬ [ОПЕРАЦИЯ] < ЗНАЧЕНИЕ, например `rand-read p99 < 5ms` или `iops >= 20000`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Op;
    use stend_base::{Bytes, Millionths};

    #[test]
    fn a_line_says_case_metric_operation_side_and_value() {
        let p99 = |ms| Bound::Latency(Millionths::percent(99), Nanos::millis(ms));
        for (text, cases, op, side, bound) in [
            ("p99 < 5 ms", "*", None, Side::Below, p99(5)),
            ("rand-read p99<5ms", "rand-read", None, Side::Below, p99(5)),
            (
                "rand-read, queue_depth 32, p99, read <= 5ms",
                "rand-read, queue_depth 32",
                Some(Op::Read),
                Side::AtMost,
                p99(5),
            ),
            ("iops >= 20000", "*", None, Side::AtLeast, Bound::Iops(MilliIops(20_000_000))),
            ("iops read > 1.5k", "*", Some(Op::Read), Side::Above, Bound::Iops(MilliIops(1_500_000))),
            ("seq-* throughput >= 1 GB/s", "seq-*", None, Side::AtLeast, Bound::Throughput(Bytes(1_000_000_000))),
            (
                "read p99.9 write < 1s",
                "read",
                Some(Op::Write),
                Side::Below,
                Bound::Latency(Millionths(999_000), Nanos::secs(1)),
            ),
            ("a<b iops any > 2M", "a<b", None, Side::Above, Bound::Iops(MilliIops(2_000_000_000))),
            ("чтение p99 < 5ms", "чтение", None, Side::Below, p99(5)),
        ] {
            let found = expect(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!((found.op, found.side, found.bound), (op, side, bound), "{text}");
            assert_eq!(found.cases, cases, "{text}");
        }
    }

    #[test]
    fn a_limit_has_one_length_in_the_parser_and_in_the_description_of_its_key() {
        use crate::keys::Shape;
        let key = crate::keys::gate::GATE.keys.iter().find(|key| key.name == "limits").unwrap();
        let Shape::Several(Shape::Spelled(words, pattern), _) = key.shape else { panic!("{:?}", key.shape) };
        assert!(words.contains(&LIMIT_MAX.to_string()) && pattern.contains(&format!("1,{LIMIT_MAX}}}")), "{pattern}");
        let of = |length: usize| expect(&format!("{} p99 < 5ms", "a".repeat(length - 10)));
        assert!(of(LIMIT_MAX).is_ok() && of(LIMIT_MAX + 1).is_err());
    }

    #[test]
    fn what_is_no_limit_says_from_which_character_on_and_what_was_meant() {
        for (text, told, hint) in [
            ("rand-read p9 < 5ms", "character 11: unknown metric `p9`", "did you mean `p99`?"),
            ("rand-read bw > 1GB/s", "character 11: unknown metric `bw`", "`throughput`"),
            ("чтение p9 < 5ms", "character 8: unknown metric `p9`", "`p99`"),
            ("rand-read < 5ms", "character 1: unknown metric `rand-read`", "metrics: `iops`"),
            ("read < 5ms", "character 6: there is no metric", "metrics:"),
            ("< 5ms", "character 1: there is no metric", "metrics:"),
            ("rand-read p99 5ms", "character 18: there is no `<`", "`rand-read p99 < 5ms`"),
            ("", "character 1: there is no `<`", "METRIC"),
            ("p99 = 5ms", "character 5: `=` is none of", "METRIC"),
            ("p99 => 5ms", "character 5: `=>` is none of", "METRIC"),
            ("p99 < 5", "character 7: `5` has no unit", "`5ms`"),
            ("p99 <", "character 6: `` is no latency", "`5ms`"),
            ("p99 < 0ms", "character 7: `0ms` is no latency", "`5ms`"),
            ("p99 < -5ms", "character 7: `-5ms` is no latency", "`5ms`"),
            ("iops > many", "character 8: `many` is no number", "`20k`"),
            ("iops > 99999999999999999M", "character 8:", "`20k`"),
            ("throughput > 5", "character 14: `5` is no throughput", "`500MB/s`"),
            ("p99 < 5ms\n", "character 1: a limit has at most 300", "METRIC"),
        ] {
            let error = expect(text).unwrap_err();
            assert!(error.message.en.contains(told), "{text}: {error}");
            assert!(error.hint.as_ref().is_some_and(|say| say.en.contains(hint)), "{text}: {error}");
        }
        assert!(expect(&"x".repeat(10_000)).unwrap_err().message.en.len() < 500);
    }
}

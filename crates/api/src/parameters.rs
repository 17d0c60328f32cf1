//! Parameters of routes: what each may hold, and reading them from a path and a query. Unknown ones are refused, never ignored.

use crate::cron::Cron;
use crate::live::Cursor;
use std::collections::BTreeMap;
use stend_base::format::parse_utc;
use stend_base::{Error, Nanos, Result, Say, say};

/// Longest path and query that is read.
pub(crate) const TARGET_MAX: usize = 4096;

/// The largest time in seconds: 31 years, more than any run takes.
pub const SECONDS_MAX: u64 = 1_000_000_000;

/// Where a parameter stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Location {
    /// In the path, between braces of the route; required.
    Path,
    /// In the query, once.
    Query,
    /// In the query, exactly once.
    Required,
    /// In the query, at least once.
    Repeated,
    /// In the query, any number of times.
    Several,
    /// In a header of the request.
    Header,
}

/// What a parameter may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Any text.
    Text,
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A number from 1 to this.
    Count(usize),
    /// A number from the first to the second.
    Between(usize, usize),
    /// A time in seconds, with a fraction or without.
    Seconds,
    /// The `id` of an event.
    Cursor,
    /// The id of a task.
    TaskId,
    /// Times that repeat.
    Cron,
    /// A time in UTC.
    Time,
}

/// A parameter of a route.
#[derive(Debug)]
pub struct Parameter {
    /// Name.
    pub name: &'static str,
    /// Where it stands.
    pub place: Location,
    /// What it may hold.
    pub takes: Takes,
    /// What it is for, with its default.
    pub about: fn() -> Say,
}

/// Values of a request, all of which the table of its route allows.
#[derive(Debug, Default)]
pub(crate) struct Values(BTreeMap<&'static str, Vec<String>>);

impl Values {
    pub fn text(&self, name: &str) -> Option<String> {
        self.0.get(name)?.first().cloned()
    }

    /// The value of a part of the path, which is always there.
    pub fn name(&self, part: &str) -> String {
        self.text(part).unwrap_or_default()
    }

    pub fn all(&self, name: &str) -> Vec<String> {
        self.0.get(name).cloned().unwrap_or_default()
    }

    pub fn is_set(&self, name: &str) -> bool {
        self.text(name).as_deref() == Some("true")
    }

    pub fn count(&self, name: &str) -> Option<usize> {
        self.text(name)?.parse().ok()
    }

    pub fn seconds(&self, name: &str) -> Option<Nanos> {
        seconds(&self.text(name)?)
    }
}

/// A time in seconds from 0 to [`SECONDS_MAX`].
fn seconds(text: &str) -> Option<Nanos> {
    let seconds: f64 = text.parse().ok()?;
    (0.0..=SECONDS_MAX as f64).contains(&seconds).then(|| Nanos((seconds * 1e9).round() as u64))
}

/// The values that stand in a path and a query.
///
/// Errors: `Usage` for what the parameters do not allow.
pub(crate) fn read(parameters: &'static [Parameter], in_path: &[(&str, String)], query: &str) -> Result<Values> {
    let mut values = Values::default();
    for (name, value) in in_path {
        if let Some(known) = parameters.iter().find(|known| known.place == Location::Path && known.name == *name) {
            if !fits(known.takes, value) {
                return Err(wrong(known, value));
            }
            values.0.insert(known.name, vec![value.clone()]);
        }
    }
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (name, value) = (decoded(name, true)?, decoded(value, true)?);
        let in_query = |known: &&Parameter| {
            matches!(known.place, Location::Query | Location::Required | Location::Repeated | Location::Several)
        };
        let known = parameters.iter().filter(in_query).find(|known| known.name == name);
        let known = known.ok_or_else(|| unknown(&name, parameters))?;
        if !fits(known.takes, &value) {
            return Err(wrong(known, &value));
        }
        let given = values.0.entry(known.name).or_default();
        if matches!(known.place, Location::Query | Location::Required) && !given.is_empty() {
            return Err(Error::usage(say!("`{name}` stands twice in the query", "`{name}` указан в запросе дважды")));
        }
        given.push(value);
    }
    let is_needed = |known: &&Parameter| matches!(known.place, Location::Required | Location::Repeated);
    match parameters.iter().filter(is_needed).find(|known| !values.0.contains_key(known.name)) {
        None => Ok(values),
        Some(missing) => {
            let name = missing.name;
            Err(Error::usage(say!("`{name}` is missing in the query", "в запросе нет `{name}`")))
        }
    }
}

/// A part of a path or a query without its escapes; in a query a `+` is a space.
///
/// Errors: `Usage` for escapes that are none, or are no UTF-8.
pub fn decoded(text: &str, in_query: bool) -> Result<String> {
    let wrong = || Error::usage(say!("the address has an escape that is none", "в адресе неверное экранирование"));
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let mut digit = || rest.next().and_then(|digit| char::from(digit).to_digit(16)).ok_or_else(wrong);
                (digit()? * 16 + digit()?) as u8
            }
            b'+' if in_query => b' ',
            other => other,
        });
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

fn fits(takes: Takes, value: &str) -> bool {
    match takes {
        Takes::Text => true,
        Takes::Flag => matches!(value, "true" | "false"),
        Takes::Choice(words) => words.contains(&value),
        Takes::Count(most) => value.parse().is_ok_and(|count: usize| (1..=most).contains(&count)),
        Takes::Between(least, most) => value.parse().is_ok_and(|count: usize| (least..=most).contains(&count)),
        Takes::Seconds => seconds(value).is_some(),
        Takes::Cursor => Cursor::of(value).is_some(),
        Takes::TaskId => crate::tasks::is_task_id(value),
        Takes::Cron => Cron::parse(value).is_ok(),
        Takes::Time => parse_utc(value).is_some(),
    }
}

fn wrong(known: &Parameter, value: &str) -> Box<Error> {
    let name = known.name;
    let hint = match known.takes {
        Takes::Text | Takes::Flag => say!("`true` or `false`", "`true` или `false`"),
        Takes::Choice(words) => {
            let words = words.join("`, `");
            say!("one of `{words}`", "одно из: `{words}`")
        }
        Takes::Count(most) => say!("a number from 1 to {most}", "число от 1 до {most}"),
        Takes::Between(least, most) => say!("a number from {least} to {most}", "число от {least} до {most}"),
        Takes::Seconds => {
            let most = SECONDS_MAX;
            say!(
                "a time in seconds such as `12.5`, at most {most}",
                "время в секундах, например `12.5`, не больше {most}"
            )
        }
        Takes::Cursor => say!("the `id` of an event", "номер (`id`) события"),
        Takes::TaskId => say!(
            "1 to 64 letters, digits, `.`, `_` and `-`, no dot at the begin",
            "от 1 до 64 латинских букв, цифр, `.`, `_` и `-`, не с точки"
        ),
        Takes::Cron => say!(
            "`MINUTE HOUR DAY MONTH WEEKDAY` in UTC, such as `0 2 * * *`",
            "`МИНУТА ЧАС ДЕНЬ МЕСЯЦ ДЕНЬ-НЕДЕЛИ` по UTC, например `0 2 * * *`"
        ),
        Takes::Time => {
            say!("a time in UTC such as `2026-12-24T03:00`", "время по UTC, например `2026-12-24T03:00`")
        }
    };
    let message = match known.place {
        Location::Path => say!("`{value}` is no `{name}`", "`{value}` не подходит как `{name}`"),
        _ => say!("`{name}={value}` in the query is no value of it", "`{name}={value}`: такого значения не бывает"),
    };
    Error::usage(message).hint(hint)
}

fn unknown(name: &str, parameters: &[Parameter]) -> Box<Error> {
    let known: Vec<&str> =
        parameters.iter().filter(|p| !matches!(p.place, Location::Path | Location::Header)).map(|p| p.name).collect();
    let error = Error::usage(say!("`{name}` is no parameter of this address", "у этого адреса нет параметра `{name}`"));
    let known = known.join("`, `");
    match known.is_empty() {
        true => error.hint(say!("it has none", "параметров у него нет")),
        false => error.hint(say!("it has `{known}`", "есть: `{known}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TABLE: &[Parameter] = &[
        Parameter { name: "n", place: Location::Query, takes: Takes::Count(5), about: || say!("x", "x") },
        Parameter { name: "run", place: Location::Repeated, takes: Takes::Text, about: || say!("x", "x") },
        Parameter { name: "points", place: Location::Query, takes: Takes::Between(10, 20), about: || say!("x", "x") },
        Parameter { name: "from", place: Location::Query, takes: Takes::Seconds, about: || say!("x", "x") },
        Parameter { name: "how", place: Location::Query, takes: Takes::Choice(&["a", "b"]), about: || say!("x", "x") },
    ];

    fn error(query: &str) -> String {
        read(TABLE, &[], query).unwrap_err().message.en
    }

    #[test]
    fn escapes_are_read_and_what_is_none_is_refused() {
        assert_eq!(decoded("a%20b+c%2F%D0%96", true).unwrap(), "a b c/Ж");
        assert_eq!(decoded("a+b", false).unwrap(), "a+b");
        for wrong in ["%", "%2", "%zz", "%ff", "%+1"] {
            assert!(decoded(wrong, true).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_are_finite_seconds_and_numbers_have_two_limits() {
        let values = read(TABLE, &[], "run=x&from=12.5&points=10").unwrap();
        assert_eq!((values.seconds("from"), values.count("points")), (Some(Nanos::millis(12_500)), Some(10)));
        for wrong in ["from=-1", "from=NaN", "from=inf", "from=1e10", "from=", "from=x", "points=9", "points=21"] {
            assert!(error(&format!("run=x&{wrong}")).contains(wrong), "{wrong}");
        }
    }

    #[test]
    fn a_parameter_that_is_unknown_wrong_twice_or_missing_is_refused_by_its_name() {
        let values = read(TABLE, &[], "n=5&run=x&run=y&how=b").unwrap();
        assert_eq!(
            (values.count("n"), values.all("run"), values.text("how")),
            (Some(5), vec!["x".into(), "y".into()], Some("b".into()))
        );
        for (query, named) in [
            ("run=x&m=1", "`m`"),
            ("run=x&n=6", "`n=6`"),
            ("run=x&n=0", "`n=0`"),
            ("run=x&how=c", "`how=c`"),
            ("run=x&n=1&n=2", "`n`"),
            ("", "`run`"),
        ] {
            assert!(error(query).contains(named), "{query}: {}", error(query));
        }
    }

    proptest! {
        #[test]
        fn no_query_makes_it_panic(query in ".{0,80}") {
            drop(read(TABLE, &[], &query));
        }
    }
}

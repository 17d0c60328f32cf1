//! A condition on runs as people type it: `model contains PM9A3 and block = 4k`. Pure: the facts of a run are given.

use crate::run_facts::{FACTS, Fact, Kind as Of, Value};
use stend_base::units::parse_bytes;
use stend_base::{Error, Result, Say, say};

/// Longest condition, in bytes, and most of its terms: more is no question of a person, and costs with every run.
const TEXT_MAX: usize = 500;
const TERMS_MAX: usize = 16;

/// Terms that all hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition(Vec<Term>);

#[derive(Debug, Clone, PartialEq)]
struct Term {
    fact: &'static str,
    sign: Sign,
    /// What it is compared with: a text in small letters, or a number of the fact's unit.
    with: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Equal,
    Unequal,
    Contains,
    Less,
    AtMost,
    More,
    AtLeast,
}

/// The longest first, so that `<=` is not `<`.
const SIGNS: [(&str, Sign); 7] = [
    ("!=", Sign::Unequal),
    ("<=", Sign::AtMost),
    (">=", Sign::AtLeast),
    ("=", Sign::Equal),
    ("~", Sign::Contains),
    ("<", Sign::Less),
    (">", Sign::More),
];

impl Condition {
    /// Reads `FACT SIGN VALUE`, several joined by `and`. Signs are `=`, `!=`, `contains` or `~`, and for numbers `<`, `<=`, `>`, `>=`. A value with spaces
    /// or signs stands in quotes.
    ///
    /// Errors: `Usage` with the part that is wrong.
    pub fn parse(text: &str) -> Result<Condition> {
        if text.len() > TEXT_MAX {
            return Err(wrong(say!(
                "the condition is longer than {TEXT_MAX} bytes",
                "условие длиннее {TEXT_MAX} байт"
            )));
        }
        let words = words(text)?;
        let mut terms = Vec::new();
        for part in words.split(|word| !word.is_quoted && word.text.eq_ignore_ascii_case("and")) {
            terms.push(term(part, text)?);
        }
        match terms.len() {
            ..=TERMS_MAX => Ok(Condition(terms)),
            _ => {
                Err(wrong(say!("the condition has more than {TERMS_MAX} parts", "в условии больше {TERMS_MAX} частей")))
            }
        }
    }

    /// Whether all terms hold for a run. A fact that a run does not have is equal to nothing, so that only `!=` holds for it.
    pub fn holds(&self, facts: &[Fact]) -> bool {
        self.0.iter().all(|term| {
            let mut values = facts.iter().filter(|(name, _)| *name == term.fact).map(|(_, value)| value);
            match term.sign {
                Sign::Unequal => values.all(|value| !fits(Sign::Equal, value, &term.with)),
                sign => values.any(|value| fits(sign, value, &term.with)),
            }
        })
    }
}

fn fits(sign: Sign, value: &Value, with: &Value) -> bool {
    match (value, with) {
        (Value::Text(value), Value::Text(with)) => match sign {
            Sign::Contains => value.to_lowercase().contains(with),
            _ => value.to_lowercase() == *with,
        },
        (Value::Number(value), Value::Number(with)) => match sign {
            Sign::Less => value < with,
            Sign::AtMost => value <= with,
            Sign::More => value > with,
            Sign::AtLeast => value >= with,
            _ => value == with,
        },
        _ => false,
    }
}

struct Word {
    text: String,
    is_quoted: bool,
}

/// Words, signs and quoted texts.
fn words(text: &str) -> Result<Vec<Word>> {
    let (mut words, mut rest) = (Vec::new(), text.trim_start());
    while let Some(first) = rest.chars().next() {
        if matches!(first, '"' | '\'') {
            let inside = &rest[1..];
            let end = inside.find(first).ok_or_else(|| wrong(say!("a quote is not closed", "кавычка не закрыта")))?;
            words.push(Word { text: inside[..end].to_string(), is_quoted: true });
            rest = &inside[end + 1..];
        } else if rest.starts_with("==") {
            // As programs write it; what is said of it names the sign that is meant.
            words.push(Word { text: "==".to_string(), is_quoted: false });
            rest = &rest[2..];
        } else if let Some((sign, _)) = SIGNS.iter().find(|(sign, _)| rest.starts_with(sign)) {
            words.push(Word { text: sign.to_string(), is_quoted: false });
            rest = &rest[sign.len()..];
        } else {
            let ends = |letter: char| letter.is_whitespace() || matches!(letter, '=' | '!' | '<' | '>' | '~');
            // One that begins with a lone `!` is taken with it, and is then no fact.
            let begin = first.len_utf8();
            let end = rest[begin..].find(ends).map_or(rest.len(), |end| begin + end);
            words.push(Word { text: rest[..end].to_string(), is_quoted: false });
            rest = &rest[end..];
        }
        rest = rest.trim_start();
    }
    Ok(words)
}

fn term(words: &[Word], whole: &str) -> Result<Term> {
    let [fact, sign, value @ ..] = words else {
        return Err(wrong(say!("`{whole}` is no condition", "`{whole}` — не условие")));
    };
    let name = &fact.text;
    let (fact, of) = FACTS
        .iter()
        .find(|(known, ..)| known.eq_ignore_ascii_case(name))
        .map(|(known, of, _)| (*known, *of))
        .ok_or_else(|| {
            let facts = || FACTS.iter().map(|(known, ..)| *known);
            let known = facts().collect::<Vec<_>>().join(", ");
            wrong(say!("unknown field `{name}`", "неизвестное поле `{name}`")).hint(
                match stend_spec::parse::nearest(name, facts()) {
                    Some(near) => say!("did you mean `{near}`?", "возможно, `{near}`?"),
                    None => say!("fields: {known}", "поля: {known}"),
                },
            )
        })?;
    let word = &sign.text;
    let known = SIGNS.iter().find(|(known, _)| known == word).map(|(_, sign)| *sign);
    let known = known.or_else(|| word.eq_ignore_ascii_case("contains").then_some(Sign::Contains));
    let sign = known.filter(|_| !sign.is_quoted).ok_or_else(|| {
        wrong(say!("`{word}` is no operator", "оператора `{word}` нет")).hint(match word.as_str() {
            "==" if !sign.is_quoted => say!("write `=`", "пишите `=`"),
            _ => say!("operators: =, !=, contains, <, <=, >, >=", "операторы: =, !=, contains, <, <=, >, >="),
        })
    })?;
    let [value] = value else {
        return Err(wrong(say!(
            "`{name}` needs one value; a value with spaces or signs (= ! < > ~) stands in quotes",
            "для `{name}` нужно одно значение; значение с пробелами или знаками (= ! < > ~) пишут в кавычках"
        )));
    };
    let is_ordered = !matches!(sign, Sign::Equal | Sign::Unequal);
    let text = &value.text;
    let with = match of {
        Of::Text if is_ordered && sign != Sign::Contains => {
            return Err(wrong(say!(
                "`{name}` is a text, and `{word}` is for numbers",
                "`{name}` — текст, а `{word}` — для чисел"
            )));
        }
        Of::Text => Value::Text(text.to_lowercase()),
        _ if sign == Sign::Contains => {
            return Err(wrong(say!(
                "`{name}` is a number and contains nothing",
                "`{name}` — число, `contains` не для него"
            )));
        }
        Of::Bytes => {
            let size = parse_bytes(text).ok();
            let none = || wrong(say!("`{text}` is no size with a unit", "`{text}` — не размер с единицей"));
            Value::Number(size.ok_or_else(none)?.0 as f64)
        }
        Of::Number => {
            Value::Number(number(text).ok_or_else(|| wrong(say!("`{text}` is no number", "`{text}` — не число")))?)
        }
    };
    Ok(Term { fact, sign, with })
}

/// A number, with `k` or `M` for thousands and millions of them.
fn number(text: &str) -> Option<f64> {
    let (digits, factor) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1e3),
        None => text.strip_suffix('M').map_or((text, 1.0), |digits| (digits, 1e6)),
    };
    let number: f64 = digits.parse().ok()?;
    number.is_finite().then_some(number * factor)
}

fn wrong(message: Say) -> Box<Error> {
    Error::usage(message).hint(say!(
        "for example `model contains PM9A3 and block = 4k`",
        "например `model contains PM9A3 and block = 4k`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Kind;

    fn facts() -> Vec<Fact> {
        let text = |name, value: &str| (name, Value::Text(value.into()));
        vec![
            text("model", "SAMSUNG MZQL21T9HCJR PM9A3"),
            text("target", "/mnt/my disk"),
            ("block", Value::Number(4096.0)),
            ("block", Value::Number(65536.0)),
            ("iops", Value::Number(412_000.0)),
        ]
    }

    #[test]
    fn a_condition_holds_for_any_of_several_values_and_unequal_for_none() {
        for (condition, holds) in [
            ("model contains PM9A3 and block = 4k", true),
            ("MODEL ~ pm9a3 AND block=64KiB", true),
            ("block = 8k", false),
            ("block != 4k", false),
            ("block != 8k", true),
            ("block>64k", false),
            ("block >= 64k", true),
            ("iops > 400k and iops<=0.412M", true),
            ("target = '/mnt/my disk'", true),
            ("target = \"/mnt\"", false),
            ("firmware != GDC5", true),
            ("firmware = GDC5", false),
            ("model contains 'and'", false),
            ("target != 'a=b'", true),
        ] {
            assert_eq!(Condition::parse(condition).unwrap().holds(&facts()), holds, "{condition}");
        }
    }

    #[test]
    fn what_is_no_condition_is_refused_by_its_part() {
        let many = vec!["block = 4k"; 17].join(" and ");
        for (condition, part) in [
            ("", "``"),
            ("block", "block"),
            ("speed = 4", "unknown field `speed`"),
            ("block == 4k", "`==` is no operator"),
            ("block is 4k", "`is`"),
            ("block = 4k or iops > 1", "one value"),
            ("modell = 4", "unknown field `modell`"),
            ("block = 4", "`4` is no size"),
            ("block contains 4", "number"),
            ("model < 4", "text"),
            ("target = /mnt/my disk", "one value"),
            ("label = a=b", "spaces or signs (= ! < > ~)"),
            ("target = 'x", "quote"),
            ("iops > NaN", "`NaN`"),
            ("iops > inf", "`inf`"),
            ("block = 4k and", "and"),
            ("!block = 4k", "`!block`"),
            (&many, "16"),
            (&"x".repeat(501), "500"),
        ] {
            let error = Condition::parse(condition).unwrap_err();
            if let Some(hint) = [("modell", "did you mean `model`?"), ("==", "write `=`")]
                .iter()
                .find(|(word, _)| condition.contains(word))
            {
                assert_eq!(error.hint.as_ref().map(|said| said.en.as_str()), Some(hint.1));
            }
            assert!(error.kind == Kind::Usage && error.message.en.contains(part), "{condition}: {error}");
        }
    }
}

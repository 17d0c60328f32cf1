//! A file of sources: values that are read beside the load where no worker of ours can run, such as the CPU of a closed array. Pure; must
//! not reach anything.

use stend_base::Nanos;

/// The sources of a file, in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcesFile {
    /// Each of them; one at least, names differ.
    pub sources: Vec<Source>,
}

/// Something that answers with values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// As the user calls it.
    pub name: String,
    /// How it is asked.
    pub way: Way,
    /// Time from one question to the next.
    pub every: Nanos,
    /// How long an answer may take, `every` at most.
    pub limit: Nanos,
    /// What is taken from each answer; one at least, names differ.
    pub values: Vec<SourceValue>,
}

/// How a source is asked. Passwords are nowhere in it: the programs that ask read them from files of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// By a program of the coordinator's machine.
    Command {
        /// The program: a name of `PATH`, or an absolute path.
        program: String,
        /// Its arguments.
        arguments: Vec<String>,
    },
    /// By a command over `ssh`, which needs no shell of ours there.
    Ssh {
        /// What `ssh` knows it as.
        host: String,
        /// The command, as it is typed there.
        command: String,
    },
    /// By HTTP or HTTPS, with the program `curl`.
    Http {
        /// The address, without user and password.
        url: String,
        /// A file of options of `curl`, for what is secret.
        config: Option<String>,
    },
    /// By SNMP, with the program `snmpget`.
    Snmp {
        /// The agent, as net-snmp takes it.
        host: String,
        /// A directory with `snmp.conf`, for version, user and what is secret.
        config: Option<String>,
    },
}

/// A value of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceValue {
    /// As the user calls it.
    pub name: String,
    /// Where in the answer it is.
    pub place: ValuePlace,
    /// Unit, of a counter that of its rate.
    pub unit: String,
    /// What it means.
    pub meaning: String,
    /// It counts up for ever: its rate per second is what is shown.
    pub counter: bool,
    /// The number is multiplied by this, 1 or more.
    pub multiply: u32,
    /// And divided by this, 1 or more.
    pub divide: u32,
}

/// Where in an answer a value is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValuePlace {
    /// The first group of a regular expression; it has one.
    Pattern {
        /// The expression.
        pattern: String,
        /// What becomes of several matches; `None`: the first counts.
        several: Option<Several>,
    },
    /// A JSON pointer (RFC 6901).
    Json(String),
    /// Series of the text format of Prometheus.
    Prometheus {
        /// Which.
        series: Series,
        /// What becomes of several; `None`: there must be one.
        several: Option<Several>,
    },
    /// An object of SNMP, in numbers without a leading dot.
    Oid(String),
}

/// One value of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Several {
    /// Their sum.
    Sum,
    /// Their mean.
    Mean,
    /// The largest.
    Largest,
}

/// A series of Prometheus, or some labels that series have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Series {
    /// Name of the metric.
    pub name: String,
    /// Labels with their values.
    pub labels: Vec<(String, String)>,
}

impl Series {
    /// Reads `name{label="value"}` at the beginning of a text, and returns what stands behind it. `None` where none is there.
    pub fn read(text: &str) -> Option<(Series, &str)> {
        let (name, mut rest) = word(text, ":")?;
        let mut labels = Vec::new();
        if let Some(inside) = rest.strip_prefix('{') {
            rest = inside.trim_start();
            while !rest.starts_with('}') {
                let (label, after) = word(rest, "")?;
                let (value, after) = quoted(after.trim_start().strip_prefix('=')?.trim_start())?;
                labels.push((label.to_string(), value));
                let after = after.trim_start();
                rest = match after.strip_prefix(',') {
                    Some(next) => next.trim_start(),
                    None if after.starts_with('}') => after,
                    None => return None,
                };
            }
            rest = &rest[1..];
        }
        Some((Series { name: name.to_string(), labels }, rest))
    }

    /// Whether another one has this name and these labels, and perhaps more.
    pub fn holds(&self, other: &Series) -> bool {
        self.name == other.name && self.labels.iter().all(|label| other.labels.contains(label))
    }
}

/// Letters, digits, `_` and what else is allowed, not beginning with a digit; and the rest.
fn word<'t>(text: &'t str, more: &str) -> Option<(&'t str, &'t str)> {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || more.contains(letter);
    let end = text.find(|letter| !fits(letter)).unwrap_or(text.len());
    let begins = text.starts_with(|letter: char| fits(letter) && !letter.is_ascii_digit());
    begins.then(|| text.split_at(end))
}

/// A text in quotes, and what stands behind it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let inside = text.strip_prefix('"')?;
    let (mut value, mut escaped) = (String::new(), false);
    for (at, letter) in inside.char_indices() {
        match (escaped, letter) {
            (false, '"') => return Some((value, &inside[at + 1..])),
            (false, '\\') => escaped = true,
            (true, 'n') => (value, escaped) = (value + "\n", false),
            (_, letter) => {
                value.push(letter);
                escaped = false;
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Name, labels, and what follows them.
    type Parts = (String, Vec<(String, String)>, String);

    fn read(text: &str) -> Option<Parts> {
        Series::read(text).map(|(series, rest)| (series.name, series.labels, rest.to_string()))
    }

    #[test]
    fn a_series_is_a_name_with_labels_whose_values_may_have_quotes() {
        let label = |name: &str, value: &str| (name.to_string(), value.to_string());
        assert_eq!(read("up 1"), Some(("up".into(), vec![], " 1".into())));
        assert_eq!(
            read(r#"a:b_total{ device = "sd\"a" , x="\\n\n",} 7 9"#),
            Some(("a:b_total".into(), vec![label("device", "sd\"a"), label("x", "\\n\n")], " 7 9".into()))
        );
        for wrong in ["", "{a=\"b\"}", "1a", "a{b}", "a{b=c}", "a{b=\"c\"", "a{b=\"c", "a{b=\"c\" d=\"e\"}", "a{,}"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_selector_holds_series_with_more_labels_and_none_with_other_values() {
        let series = |text| Series::read(text).unwrap().0;
        let asked = series(r#"cpu{node="a"}"#);
        assert!(asked.holds(&series(r#"cpu{core="1",node="a"}"#)));
        assert!(!asked.holds(&series(r#"cpu{node="b"}"#)) && !asked.holds(&series(r#"cpus{node="a"}"#)));
    }
}

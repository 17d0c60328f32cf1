//! A page in the text format of Prometheus. Must not know what is measured.
//= Prometheus, "Exposition formats": text format 0.0.4

use std::fmt::Write;

/// The type of the page, as Prometheus expects it.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A family of samples: name, type, what it is.
pub(super) type Family = (&'static str, &'static str, &'static str);

/// ns as seconds.
pub(super) fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// The page in the making.
#[derive(Default)]
pub(super) struct Page {
    /// Families in the order in which they were named first, each with its samples as text: one that several hosts have is named once.
    families: Vec<(Family, String)>,
    /// Which of them was named last.
    current: usize,
    /// What every sample has from now on.
    common: Vec<(&'static str, String)>,
}

impl Page {
    /// From now on every sample has these labels, and no others of this kind.
    pub fn label_all(&mut self, common: Vec<(&'static str, String)>) {
        self.common = common;
    }

    /// Names a family; its samples follow.
    pub fn family(&mut self, family: Family) {
        let known = self.families.iter().position(|((name, ..), _)| *name == family.0);
        self.current = known.unwrap_or_else(|| {
            self.families.push((family, String::new()));
            self.families.len() - 1
        });
    }

    /// One sample without labels, if it is known.
    pub fn alone(&mut self, family: Family, value: Option<f64>) {
        if let Some(value) = value {
            self.family(family);
            self.sample(family.0, &[], value);
        }
    }

    /// A family with a sample for each of these; nothing if there are none.
    pub fn each<T>(
        &mut self,
        family: Family,
        all: impl IntoIterator<Item = T>,
        of: impl Fn(T) -> Option<(Vec<(&'static str, String)>, f64)>,
    ) {
        let mut is_named = false;
        for (labels, value) in all.into_iter().filter_map(of) {
            if !std::mem::replace(&mut is_named, true) {
                self.family(family);
            }
            let labels: Vec<(&str, &str)> = labels.iter().map(|(label, text)| (*label, text.as_str())).collect();
            self.sample(family.0, &labels, value);
        }
    }

    /// One sample of the family that was named last.
    pub fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        let Some((_, samples)) = self.families.get_mut(self.current) else { return };
        samples.push_str(name);
        let common = self.common.iter().map(|(label, text)| (*label, text.as_str()));
        for (at, (label, text)) in common.chain(labels.iter().copied()).enumerate() {
            // Writing to a string cannot fail.
            let _ = write!(samples, "{}{label}=\"{}\"", if at == 0 { '{' } else { ',' }, escaped(text));
        }
        let end = if self.common.is_empty() && labels.is_empty() { "" } else { "}" };
        let _ = writeln!(samples, "{end} {value}");
    }

    /// All of it.
    pub fn text(self) -> String {
        let of = |((name, kind, what), samples): &(Family, String)| {
            format!("# HELP {name} {what}\n# TYPE {name} {kind}\n{samples}")
        };
        self.families.iter().map(of).collect()
    }
}

/// A value of a label: a name from outside can neither end it nor the line.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

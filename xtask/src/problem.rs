//! One thing that is wrong, and where.

use std::fmt;

/// Something that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// File, relative to the root of the tree.
    pub path: String,
    /// Line, from 1; 0 if it is the whole file.
    pub line: usize,
    /// What is wrong.
    pub text: String,
}

impl Problem {
    /// A problem of one line.
    pub fn new(path: &str, line: usize, text: impl Into<String>) -> Problem {
        Problem { path: path.to_string(), line, text: text.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.text),
            line => write!(f, "{}:{line}: {}", self.path, self.text),
        }
    }
}

//! What a rule has found. Only data; the caller prints it.

use std::fmt;

/// A place where a rule is broken.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// File, relative to the repository.
    pub path: String,
    /// Line, from 1.
    pub line: usize,
    /// Name of the rule, as the table of exceptions uses it.
    pub rule: &'static str,
    /// What is wrong and what to do.
    pub message: String,
}

impl Finding {
    /// A finding.
    pub fn new(path: impl Into<String>, line: usize, rule: &'static str, message: impl Into<String>) -> Finding {
        Finding { path: path.into(), line, rule, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Finding { path, line, rule, message } = self;
        write!(f, "{path}:{line}: {message} [{rule}]")
    }
}

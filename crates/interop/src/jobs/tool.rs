//! Which tool jobs are for, by what they look like. Must not parse them.

/// A tool whose jobs are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    Fio,
    Diskspd,
    Vdbench,
    Iometer,
}

impl Tool {
    /// By the name of a program, as a command line begins with it.
    pub fn of_program(name: &str) -> Option<Tool> {
        let name = name.to_ascii_lowercase();
        match name.strip_suffix(".exe").unwrap_or(&name) {
            "fio" => Some(Tool::Fio),
            name if name.starts_with("diskspd") => Some(Tool::Diskspd),
            _ => None,
        }
    }

    /// By the text of a file; `None`: it looks like none of them.
    pub fn of_text(text: &str) -> Option<Tool> {
        let tag = text.trim_start().strip_prefix('<');
        if tag.is_some_and(|tag| tag.starts_with(|c: char| c.is_alphabetic() || c == '?' || c == '!'))
            && text.contains("<Profile>")
            && text.contains("<TimeSpan>")
        {
            return Some(Tool::Diskspd);
        }
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        if lines.clone().next().is_some_and(|line| line.starts_with("Version ")) && text.contains("'") {
            return Some(Tool::Iometer);
        }
        let defines = |line: &str| {
            let key = line.split(['=', ',']).next().unwrap_or_default();
            line.contains('=') && matches!(key.to_ascii_lowercase().as_str(), "sd" | "wd" | "rd" | "fsd" | "fwd" | "hd")
        };
        if lines.clone().any(defines) {
            return Some(Tool::Vdbench);
        }
        let section =
            |line: &str| line.len() > 2 && line.starts_with('[') && line.ends_with(']') && !line.contains([',', ':']);
        lines.any(section).then_some(Tool::Fio)
    }
}

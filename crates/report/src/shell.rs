//! Command lines as they can be pasted into a shell. Nothing here runs one.

/// The words of a command, quoted where a POSIX shell would read them otherwise.
pub fn join<W: AsRef<str>>(words: &[W]) -> String {
    words.iter().map(|word| quote(word.as_ref())).collect::<Vec<_>>().join(" ")
}

fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_survives_a_shell() {
        let words = ["stend", "run", "quick", "--on", "/tmp/it's here", "", "$HOME"];
        assert_eq!(join(&words), "stend run quick --on '/tmp/it'\\''s here' '' '$HOME'");
    }
}

//! Secrets, read when they are needed and kept nowhere.

use stend_base::{Say, say};
use stend_spec::notify::Secret;

/// Longest secret: a key or a token.
const SIZE_MAX: u64 = 4096;

/// The secret, or why it cannot be had.
pub fn read(secret: &Secret) -> Result<String, Say> {
    let (found, place) = match secret {
        Secret::File(path) => {
            let text = stend_sys::regular::text(path, SIZE_MAX).map_err(|why| {
                let (en, ru) = (why.en, why.ru);
                say!("cannot read the secret in `{path}`: {en}", "не удаётся прочитать секрет из `{path}`: {ru}")
            })?;
            (text.lines().next().unwrap_or_default().trim_end().to_string(), path)
        }
        Secret::Env(name) => {
            let value = std::env::var(name).map_err(|_| {
                say!("the variable `{name}` with a secret is not set", "переменная `{name}` с секретом не задана")
            })?;
            (value, name)
        }
    };
    match found.is_empty() || found.chars().any(char::is_control) {
        false => Ok(found),
        true => Err(say!(
            "the secret `{place}` is empty, or no line of text",
            "секрет `{place}` пуст или это не строка текста"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_the_first_line_of_its_file_and_what_is_none_is_told_without_it() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            Secret::File(path.to_string_lossy().into_owned())
        };
        assert_eq!(read(&file("a", "hunter 2\nmore\n")).unwrap(), "hunter 2");
        assert!(read(&file("b", "\n")).unwrap_err().en.ends_with("is empty, or no line of text"));
        assert!(read(&Secret::File("/absent".into())).unwrap_err().en.contains("no such file"));
        assert!(read(&Secret::Env("STEND_NO_SUCH_SECRET".into())).unwrap_err().en.contains("is not set"));
    }
}

//! The file of marks as text: a line that says what it is, then one for each mark. Pure.

use stend_analyse::journal::marks::{Mark, Marks};
use stend_base::{Error, FilePosition, Result, Say, say};

/// The first line.
const HEAD: &str = r#"{"schema":"stend-journal-marks","schema_version":1}"#;

/// The marks in the text of a file of this name.
///
/// Errors: kind `Spec` with file and line for what is no mark.
pub fn marks_of(text: &str, file: &str) -> Result<Marks> {
    let wrong = |line: usize, why: &Say| {
        let place = FilePosition { file: file.to_string(), line: line as u64, column: None };
        Error::at(place, why).hint(say!(
            "remove the line or the file; marks are made by `stend journal --acknowledge` and `--mute`",
            "удалите строку или файл; пометки делают `stend journal --acknowledge` и `--mute`"
        ))
    };
    let mut lines = text.lines().enumerate();
    if lines.next().is_none_or(|(_, line)| line != HEAD) {
        let why = say!("this is no file of marks that this version knows", "это не файл пометок известной версии");
        return Err(wrong(1, &why));
    }
    let mut marks = Vec::new();
    for (at, line) in lines {
        let mark: Mark = serde_json::from_str(line).map_err(|error| wrong(at + 1, &Say::same(error.to_string())))?;
        mark.check().map_err(|why| wrong(at + 1, &why))?;
        marks.push(mark);
    }
    Ok(Marks::new(marks))
}

/// The text of a file.
pub(super) fn text(marks: &Marks) -> String {
    // Names, numbers and words: there is no case in which they cannot be written.
    let line = |mark| serde_json::to_string(mark).unwrap_or_default() + "\n";
    format!("{HEAD}\n{}", marks.all().iter().map(line).collect::<String>())
}

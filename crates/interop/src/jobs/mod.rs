//! Job definitions of other tools as suites: text in, the text of a suite out, with everything that was decided on the way.
//! Pure: the caller reads the files; must never run or open what a job names.

mod assess;
mod diskspd;
mod draft;
pub mod export;
mod fio;
mod iometer;
mod notes;
mod tool;
mod vdbench;
mod words;
mod write;

pub use assess::{Outcome, assess};
pub use notes::{JobPlace, Note, Weight};

use notes::Notes;
use stend_base::{Error, Lang, Result, say};
use stend_spec::suite::Suite;
use tool::Tool;

/// Largest file of jobs, in bytes; one of a person has a few thousand.
pub const SIZE_MAX: usize = 1 << 20;
/// Longest line, in bytes.
const LINE_MAX: usize = 16_384;

/// What an import may ask for of the machine that it happens on.
pub struct ImportContext<'a> {
    /// The bytes of a file that another includes, by the path that leads there from the current directory.
    pub read: &'a dyn Fn(&str) -> Result<Vec<u8>>,
    /// A variable of the environment, if it is set.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Whether what means something else here, or nothing, is listed and not refused.
    pub lenient: bool,
}

/// A suite that was made of jobs.
#[derive(Debug)]
pub struct Imported {
    /// What our parser reads in the text.
    pub suite: Suite,
    /// Paths that the jobs name, in the order in which `--on` has to name them; never part of the suite.
    pub targets: Vec<String>,
    /// What was decided, left out, or means something else, in the order of the file.
    pub notes: Vec<Note>,
    /// Names of the files or the command.
    from: String,
}

impl Imported {
    /// The suite as a file, with all notes as comments in `lang`.
    pub fn text(&self, lang: Lang) -> String {
        write::text(self, lang)
    }
}

/// The text of a file, or where and why it is none.
fn decoded<'a>(bytes: &'a [u8], file: &str) -> Result<&'a str> {
    let line_of = |at: usize| bytes[..at].iter().filter(|byte| **byte == b'\n').count() as u32 + 1;
    let refuse = |line, message, hint| Err(JobPlace::new(file, line).error(message).hint(hint));
    let saved = || say!("save it as plain text in UTF-8", "сохраните его как простой текст в UTF-8");
    if bytes.len() > SIZE_MAX {
        let message = say!("the file is larger than 1 MiB", "файл больше 1 МиБ");
        return refuse(1, message, say!("name a file of jobs", "укажите файл заданий"));
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text),
        Err(e) => {
            let message = say!("the line is not UTF-8", "строка не в UTF-8");
            return refuse(line_of(e.valid_up_to()), message, saved());
        }
    };
    if let Some(at) = text.find(|c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
        let line = text[..at].matches('\n').count() as u32 + 1;
        return refuse(line, say!("the line has control characters", "в строке управляющие символы"), saved());
    }
    if let Some((index, _)) = text.lines().enumerate().find(|(_, line)| line.len() > LINE_MAX) {
        let message = say!("the line is longer than {LINE_MAX} bytes", "строка длиннее {LINE_MAX} байт");
        return refuse(index as u32 + 1, message, say!("name a file of jobs", "укажите файл заданий"));
    }
    Ok(text)
}

/// The suite of files of jobs, whatever tool they are for. Names with their bytes; all files are of one tool. Errors have kind `Spec`
/// and begin with the place.
pub fn files(sources: &[(String, Vec<u8>)], context: &ImportContext) -> Result<Imported> {
    let tool = |(name, bytes): &(String, Vec<u8>)| decoded(bytes, name).map(Tool::of_text);
    let tools: Vec<Option<Tool>> = sources.iter().map(tool).collect::<Result<_>>()?;
    if let Some(other) = tools.iter().position(|tool| *tool != tools[0]) {
        let place = JobPlace::new(&sources[other].0, 1);
        return Err(place
            .error(say!(
                "it is for a different tool than the files before it",
                "он для другой программы, чем файлы до него"
            ))
            .hint(say!("import the files of each tool on their own", "импортируйте файлы каждой программы отдельно")));
    }
    match tools.first().copied().flatten() {
        Some(Tool::Vdbench) => vdbench::files(sources, context),
        Some(Tool::Iometer) => iometer::files(sources, context),
        Some(Tool::Diskspd) => diskspd::files(sources, context),
        Some(Tool::Fio) | None => fio::files(sources, context),
    }
}

/// The suite of a command line of fio or diskspd, as its words or as one quoted text. The place of a word is its number, from 1
/// for the program itself.
pub fn command(words: &[String], context: &ImportContext) -> Result<Imported> {
    let words = words::split(words)?;
    let mut notes = Notes::new(context.lenient);
    let commands = words::commands(&words, &mut notes);
    let mut tools = commands.iter().map(|(first, words)| {
        let (skipped, name) = words::program(words);
        Tool::of_program(name).ok_or_else(|| {
            let name = notes::shown(name);
            words::place(first + skipped)
                .error(say!(
                    "`{name}` is not supported: Stend does not read its commands",
                    "`{name}` не поддерживается: её команды Stend не читает"
                ))
                .hint(say!("a command begins with `fio` or `diskspd`", "команда начинается с `fio` или `diskspd`"))
        })
    });
    let first = tools.next().transpose()?;
    for tool in tools {
        if Some(tool?) != first {
            let message = say!("commands of two tools", "команды двух программ");
            return Err(words::place(0).error(message).hint(say!("import them apart", "импортируйте их отдельно")));
        }
    }
    match first {
        Some(Tool::Diskspd) => diskspd::commands(&commands, notes),
        _ => fio::commands(&commands, context, notes),
    }
}

/// Whether words from a command line are a command of another tool and not names of files.
pub fn is_command(words: &[String]) -> bool {
    let inside: Vec<String> = words.iter().flat_map(|word| word.split_whitespace()).map(String::from).collect();
    inside.len() > 1 && Tool::of_program(words::program(&inside).1).is_some()
}

/// Whether a text that is no suite looks like jobs of another tool.
pub fn is_jobs(text: &str) -> bool {
    Tool::of_text(text).is_some()
}

/// Whether a whole text is jobs, and not a page, a program or the settings of something else with a few lines like them.
pub fn is_job_file(text: &str) -> bool {
    match Tool::of_text(text) {
        Some(Tool::Fio) => fio::is_job_file(text),
        Some(Tool::Vdbench) => vdbench::is_job_file(text),
        tool => tool.is_some(),
    }
}

/// What is ours to answer for: a suite that we wrote and do not read.
fn not_ours(why: &Error) -> Box<Error> {
    let (en, ru) = (&why.message.en, &why.message.ru);
    Error::spec(say!("these jobs do not make a suite together: {en}", "вместе эти задания набором не становятся: {ru}"))
        .hint(say!(
            "import the jobs one by one, or write the suite by hand (docs/formats/suite.md)",
            "импортируйте задания по одному или напишите набор сами (docs/formats/suite.md)"
        ))
}

#[cfg(test)]
mod tests;

//! The grammar of fio's job files: lines to sections with options, each with its place. Must not know what an option means.
//! Facts: fio's HOWTO, "Job file format", and `__parse_jobs_ini` of its `init.c`.

use super::super::notes::{Notes, shown};
use super::super::{ImportContext, JobPlace, decoded};
use stend_base::{Result, Say, say};

/// Sections of all files together; a job each, and a suite has at most 64 streams per case.
const SECTIONS_MAX: usize = 1000;
/// Options of one section.
const OPTIONS_MAX: usize = 1000;
/// Files inside of files.
const DEPTH_MAX: usize = 8;
/// Files that are included in all: eight that include each other a hundred times would be read for ever.
const INCLUDES_MAX: usize = 100;

/// An option as it stands there; `value` is `None` for a bare name.
#[derive(Debug, Clone)]
pub(super) struct Opt {
    pub name: String,
    pub value: Option<String>,
    pub place: JobPlace,
    /// A variable of its value that is not set.
    pub unset: Option<String>,
}

/// What follows one `[name]`.
#[derive(Debug, Clone)]
pub(super) struct Section {
    pub name: String,
    pub place: JobPlace,
    pub options: Vec<Opt>,
}

impl Section {
    /// fio compares the first six characters alone, so that `[global-4k]` is one, too.
    pub fn is_global(&self) -> bool {
        self.name.starts_with("global")
    }
}

/// The sections of one file and of those that it includes.
pub(super) fn sections(file: &str, bytes: &[u8], context: &ImportContext, notes: &mut Notes) -> Result<Vec<Section>> {
    let mut reader = Reader { context, notes, found: Vec::new(), open: Vec::new(), included: 0 };
    reader.read(file, bytes)?;
    Ok(reader.found)
}

struct Reader<'a, 'w> {
    context: &'a ImportContext<'w>,
    notes: &'a mut Notes,
    found: Vec<Section>,
    /// Files that are being read, the outermost first.
    open: Vec<String>,
    included: usize,
}

impl Reader<'_, '_> {
    fn read(&mut self, file: &str, bytes: &[u8]) -> Result<()> {
        let text = decoded(bytes, file)?;
        self.open.push(file.to_string());
        for (index, line) in text.lines().enumerate() {
            let place = JobPlace::new(file, index as u32 + 1);
            let line = line.trim();
            if line.is_empty() || line.starts_with([';', '#']) {
                continue;
            }
            match line.strip_prefix('[') {
                Some(rest) => self.section(rest, place)?,
                None => self.line(line, place)?,
            }
        }
        self.open.pop();
        Ok(())
    }

    fn section(&mut self, rest: &str, place: JobPlace) -> Result<()> {
        let refuse = |text: Say, hint: Say| Err(place.error(text).hint(hint));
        let Some((name, behind)) = rest.split_once(']') else {
            return refuse(
                say!("the name of the section has no end", "у имени раздела нет конца"),
                say!("write `[name]`", "напишите `[имя]`"),
            );
        };
        if self.open.len() > 1 {
            return refuse(
                say!("an included file has no sections", "во включаемом файле не бывает разделов"),
                say!("name both files on the command line instead", "укажите вместо этого оба файла в команде"),
            );
        }
        let behind = behind.trim();
        if !behind.is_empty() && !behind.starts_with([';', '#']) {
            let behind = shown(behind);
            return refuse(
                say!("`{behind}` follows the name of the section", "после имени раздела стоит `{behind}`"),
                say!("options have lines of their own", "каждая опция стоит на своей строке"),
            );
        }
        if name.trim().is_empty() || name.len() > 255 {
            return refuse(
                say!("a section name has 1 to 255 bytes", "длина имени раздела — от 1 до 255 байт"),
                say!("name the job", "назовите задание"),
            );
        }
        if self.found.len() == SECTIONS_MAX {
            let message = say!("there are more than {SECTIONS_MAX} sections", "разделов больше {SECTIONS_MAX}");
            return refuse(message, say!("import the file in parts", "импортируйте файл по частям"));
        }
        self.found.push(Section { name: name.trim().to_string(), place, options: Vec::new() });
        Ok(())
    }

    fn line(&mut self, line: &str, place: JobPlace) -> Result<()> {
        let included = line.strip_prefix("include").filter(|rest| rest.starts_with(char::is_whitespace));
        if let Some(path) = included {
            return self.include(path.trim(), place);
        }
        let option = option(line, &place, self.context, self.notes)?;
        let Some(section) = self.found.last_mut() else {
            let name = shown(&option.name);
            let message = say!(
                "`{name}` comes before the first section; fio rejects that",
                "`{name}` стоит до первого раздела; fio такое отвергает"
            );
            return Err(place.error(message).hint(say!(
                "write `[global]` above it; if this is no job file, name one",
                "напишите над ней `[global]`; если это не файл заданий, укажите другой"
            )));
        };
        if section.options.len() == OPTIONS_MAX {
            let message =
                say!("the section has more than {OPTIONS_MAX} options", "в разделе больше {OPTIONS_MAX} опций");
            return Err(place
                .error(message)
                .hint(say!("fio keeps the last of each name", "fio берёт последнюю с каждым именем")));
        }
        section.options.push(option);
        Ok(())
    }

    /// Relative to the file that includes.
    fn include(&mut self, path: &str, place: JobPlace) -> Result<()> {
        let full = match self.open.last().and_then(|file| file.rsplit_once('/')) {
            Some((directory, _)) if !path.starts_with('/') => format!("{directory}/{path}"),
            _ => path.to_string(),
        };
        let name = shown(path);
        self.included += 1;
        if self.included > INCLUDES_MAX {
            let message = say!("more than {INCLUDES_MAX} files are included", "включено больше {INCLUDES_MAX} файлов");
            return Err(place.error(message).hint(say!("write their lines here", "впишите их строки сюда")));
        }
        if self.open.contains(&full) || self.open.len() > DEPTH_MAX {
            let message = say!(
                "`{name}` includes itself, or files are nested deeper than {DEPTH_MAX}",
                "`{name}` включает сам себя, или вложенность файлов больше {DEPTH_MAX}"
            );
            return Err(place.error(message).hint(say!("write its lines here", "впишите его строки сюда")));
        }
        let bytes = (self.context.read)(&full).map_err(|e| {
            let (en, ru) = (&e.message.en, &e.message.ru);
            place.error(say!("`include` fails: {en}", "`include` не удался: {ru}")).hint(say!(
                "paths count from the directory of the file that includes",
                "пути отсчитываются от каталога включающего файла"
            ))
        })?;
        self.read(&full, &bytes)
    }
}

/// One `name=value`, or a bare name; variables of the environment are put in, and what is behind `;` or `#` is a comment, as fio has it.
//= fio, parse.c: strip_blank_end()
pub(super) fn option(line: &str, place: &JobPlace, context: &ImportContext, notes: &mut Notes) -> Result<Opt> {
    let (line, unset) = substituted(line, place, context, notes);
    let line = line.split([';', '#']).next().unwrap_or_default().trim();
    let line = keywords(line.to_string(), place)?;
    let (name, value) = match line.split_once('=') {
        Some((name, value)) => (name.trim(), Some(value.trim().to_string())),
        None => (line.trim(), None),
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if name.is_empty() || !name.chars().all(plain) {
        let found = shown(&line);
        return Err(place
            .error(say!("`{found}` is not an option", "`{found}` — не опция"))
            .hint(say!("an option is `name=value`", "опция — это `имя=значение`")));
    }
    Ok(Opt { name: name.to_string(), value, place: place.clone(), unset })
}

/// The line with the values of its variables, and the name of one that is not set: that stays as it is.
fn substituted(line: &str, place: &JobPlace, context: &ImportContext, notes: &mut Notes) -> (String, Option<String>) {
    let (mut out, mut rest, mut unset) = (String::new(), line, None);
    while let Some((before, behind)) = rest.split_once("${") {
        let Some((name, after)) = behind.split_once('}') else { break };
        out.push_str(before);
        match (context.variable)(name) {
            Some(value) => {
                notes.decided(place, replaced(name, &value));
                out.push_str(&value);
            }
            None => {
                out.push_str(&format!("${{{name}}}"));
                unset = unset.or_else(|| Some(name.to_string()));
            }
        }
        rest = after;
    }
    out.push_str(rest);
    (out, unset)
}

/// `$pagesize` and its like, with which fio calculates without parentheses.
fn keywords(line: String, place: &JobPlace) -> Result<String> {
    if let Some(word) = ["$ncpus", "$mb_memory"].iter().find(|word| line.contains(**word)) {
        let message = say!("`{word}` differs from machine to machine", "`{word}` на каждой машине своё");
        return Err(place.error(message).hint(say!("write the number", "впишите нужное число")));
    }
    if !line.contains("$pagesize") {
        return Ok(line);
    }
    // True of every machine that we run on.
    let line = line.replace("$pagesize", "4096");
    Ok(line.split_once('=').map_or_else(|| line.clone(), |(name, value)| format!("{name}=({value})")))
}

fn replaced(name: &str, value: &str) -> Say {
    // Not the value: a suite is published, and a foreign file may name any variable.
    let (name, length) = (shown(name), value.len());
    say!(
        "the value of `${{{name}}}` was inserted ({length} bytes)",
        "подставлено значение `${{{name}}}` (байт: {length})"
    )
}

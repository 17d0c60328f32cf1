//! `stend man DIR`: manual pages, made from the same command tree as the help.

use crate::out::Out;
use crate::save::Output;
use clap::{ArgMatches, Command};
use clap_mangen::Man;
use std::io::{Result as IoResult, Write};
use std::path::Path;
use stend_base::{Lang, Result, say};

/// Headings that the generator writes in English, as the pages have them in either language.
const HEADINGS: [(&str, &str, &str); 5] = [
    ("NAME", "NAME", "ИМЯ"),
    ("SYNOPSIS", "SYNOPSIS", "ОБЗОР"),
    ("DESCRIPTION", "DESCRIPTION", "ОПИСАНИЕ"),
    ("EXTRA", "EXIT STATUS", "КОД ВЫХОДА"),
    ("VERSION", "VERSION", "ВЕРСИЯ"),
];

/// Writes `stend.1` and a page for each verb into a directory, in the language of the session.
pub fn man(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let directory = Path::new(super::required(arguments, "DIR"));
    crate::save::directory(directory)?;
    let mut command = crate::cli::command(out.lang);
    command.build();
    let commands = std::iter::once(&command).chain(command.get_subcommands().filter(|c| !c.is_hide_set()));
    let force = arguments.get_flag("force");
    let (mut pages, mut outputs, mut written) = (Vec::new(), Vec::new(), Vec::new());
    for command in commands {
        let page = Man::new(command.clone()).source(concat!("stend ", env!("CARGO_PKG_VERSION")));
        let path = directory.join(page.get_filename());
        outputs.push(Output::new(path, say!("the manual page", "страницу руководства"), force));
        pages.push((page, command));
    }
    crate::save::check(&outputs)?;
    for ((page, command), output) in pages.iter().zip(&outputs) {
        output.save(|to| write(page, command, out.lang, to))?;
        written.push(output.path().display().to_string());
    }
    match out.json {
        true => out.result(&serde_json::json!({"pages": written}).to_string()),
        false => out.result(&written.join("\n")),
    }
}

/// The generator's page with headings in the right language, and the examples of the help at its end.
fn write(page: &Man, command: &Command, lang: Lang, to: &mut dyn Write) -> IoResult<()> {
    let mut text = Vec::new();
    page.render(&mut text)?;
    to.write_all(stend_report::MAN_COMMENT.as_bytes())?;
    for line in String::from_utf8_lossy(&text).lines() {
        let heading = HEADINGS.iter().find(|(theirs, _, _)| line.strip_prefix(".SH ") == Some(*theirs));
        match (heading, lang) {
            (Some((_, en, _)), Lang::En) => writeln!(to, ".SH \"{en}\"")?,
            (Some((_, _, ru)), Lang::Ru) => writeln!(to, ".SH \"{ru}\"")?,
            (None, _) => writeln!(to, "{line}")?,
        }
    }
    let examples = command.get_before_help().map(ToString::to_string).unwrap_or_default();
    let mut examples = examples.lines();
    if let Some(heading) = examples.next() {
        writeln!(to, ".SH \"{}\"\n.nf", heading.trim_end_matches(':').to_uppercase())?;
        for line in examples {
            // A backslash begins an escape, and a dash a hyphen that cannot be copied.
            writeln!(to, "{}", line.trim().replace('\\', "\\e").replace('-', "\\-"))?;
        }
        writeln!(to, ".fi")?;
    }
    Ok(())
}

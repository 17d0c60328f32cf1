//! What is said of a command line that asks for help or cannot be understood. Must not know what the verbs do.

use super::command;
use super::placeholder::placeholder;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Command};
use std::process::ExitCode;
use stend_base::{Error, Kind, Lang, Say, say};

/// Prints the help that `stend help COMMAND` asks for, or refuses a command that there is not.
pub fn print_help(arguments: &ArgMatches, lang: Lang) -> ExitCode {
    help_of(arguments.get_one::<String>("COMMAND").map_or("", String::as_str), lang)
}

/// Prints the help of a verb, `lab up`; without one, the general help.
fn help_of(named: &str, lang: Lang) -> ExitCode {
    let words = ["stend"].into_iter().chain(named.split_whitespace()).chain(["--help"]);
    match command(lang).try_get_matches_from(words) {
        Err(answer) => said(&answer, lang),
        Ok(_) => {
            let error = Error::bug(say!("there is no command `{named}`", "команды `{named}` нет"));
            crate::out::print_error(&error, lang, false);
            ExitCode::from(error.kind.exit_code())
        }
    }
}

/// Prints help or version as asked, or says in the user's language what is wrong with the command line.
pub fn refuse(error: &clap::Error, lang: Lang) -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match verb_behind_help(&words).filter(|_| error.kind() == ErrorKind::DisplayHelp) {
        Some(verb) => help_of(&verb, lang),
        None => said(error, lang),
    }
}

/// The verb that `--help` stands before, as in `stend --help run`; clap has answered with the general help by then.
fn verb_behind_help(words: &[String]) -> Option<String> {
    let at = words.iter().position(|word| word == "--help" || word == "-h")?;
    let command = command(Lang::En);
    let (before, behind) = words.split_at(at);
    match verb_in(&command, before) {
        Some(_) => None,
        None => verb_in(&command, behind).map(|(name, _)| name),
    }
}

fn said(error: &clap::Error, lang: Lang) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        // Written by clap to the standard output; a closed pipe there is the reader's choice.
        drop(error.print());
        return ExitCode::SUCCESS;
    }
    crate::out::print_error(&usage_error(error), lang, false);
    ExitCode::from(Kind::Usage.exit_code())
}

fn usage_error(error: &clap::Error) -> Box<Error> {
    let all = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    };
    let text = |kind| all(kind).join(", ");
    let argument = all(ContextKind::InvalidArg).iter().map(|name| plain(name)).collect::<Vec<_>>().join("`, `");
    let value = text(ContextKind::InvalidValue);
    let message = match error.kind() {
        ErrorKind::UnknownArgument => say!("unknown argument `{argument}`", "неизвестный аргумент `{argument}`"),
        ErrorKind::InvalidSubcommand => {
            let name = text(ContextKind::InvalidSubcommand);
            say!("unknown command `{name}`", "неизвестная команда `{name}`")
        }
        ErrorKind::MissingRequiredArgument => missing(&argument),
        ErrorKind::MissingSubcommand => say!("no command given", "команда не указана"),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            let valid = text(ContextKind::ValidValue);
            match valid.is_empty() || value.is_empty() {
                true => say!("`{argument}` needs a value", "для `{argument}` нужно значение"),
                false => say!(
                    "`{value}` is not a value of `{argument}`: {valid}",
                    "`{value}` — недопустимое значение `{argument}`: {valid}"
                ),
            }
        }
        ErrorKind::TooManyValues => {
            say!(
                "`{argument}` takes no value, `{value}` given",
                "`{argument}` не принимает значения, указано `{value}`"
            )
        }
        // What stands behind the options of a verb and is none of them: one of its commands.
        ErrorKind::ArgumentConflict if argument.is_empty() => {
            let other = plain(&text(ContextKind::PriorArg));
            say!("`{other}` cannot be used with a command", "`{other}` нельзя указать вместе с командой")
        }
        ErrorKind::ArgumentConflict => conflict(&argument, &plain(&text(ContextKind::PriorArg))),
        _ => Say::same(
            StyledStr::to_string(&error.render()).lines().next().unwrap_or_default().trim_start_matches("error: "),
        ),
    };
    let told = |kind| all(kind).into_iter().next();
    let near = match error.kind() {
        ErrorKind::InvalidValue => {
            let valid = all(ContextKind::ValidValue);
            stend_spec::parse::nearest(&value, valid.iter().map(String::as_str)).map(str::to_string)
        }
        // What clap suggests begins too far away: `serve` for `mesure`.
        ErrorKind::InvalidSubcommand => command_near(&text(ContextKind::InvalidSubcommand)),
        _ => one_dash().or_else(|| told(ContextKind::SuggestedArg)),
    };
    let without_value = error.kind() == ErrorKind::InvalidValue && value.is_empty();
    let is_unknown = error.kind() == ErrorKind::UnknownArgument && one_dash().is_none();
    if let Some(hint) = of_other_tools(&argument).filter(|_| is_unknown) {
        return Error::usage(message).hint(hint);
    }
    Error::usage(message).hint(match near {
        _ if without_value => {
            let whole = text(ContextKind::InvalidArg).replace(['<', '>'], "");
            say!("write `{whole}`", "пишите `{whole}`")
        }
        Some(near) => say!("did you mean `{near}`?", "возможно, `{near}`?"),
        None => how_to_go_on(error.kind(), &all(ContextKind::InvalidArg)),
    })
}

/// What is said of two arguments that exclude each other.
fn conflict(argument: &str, other: &str) -> Say {
    if other.is_empty() || other == argument {
        return say!("`{argument}` was given twice", "`{argument}` указан дважды");
    }
    let pairs = [(argument, other), (other, argument)];
    if pairs.iter().any(|(suite, option)| is("SUITE", suite) && *option == "--rw") {
        return say!("name a suite (`quick`) or `--rw`, not both", "либо набор (`quick`), либо `--rw`");
    }
    say!("`{argument}` cannot be used with `{other}`", "`{argument}` нельзя указать вместе с `{other}`")
}

/// An argument as people write it: `--rw` of `--rw <KIND>`, `RUN` of `<RUN>...`.
fn plain(argument: &str) -> String {
    let bare = |part: &str| match part.split_whitespace().next() {
        Some(option) if option.starts_with('-') => option.to_string(),
        _ => part.trim_end_matches('.').trim_matches(['<', '>', '[', ']']).to_string(),
    };
    let either = argument.trim_start_matches('<');
    either.split('|').map(bare).collect::<Vec<_>>().join("` / `")
}

/// What helps with a command line that is wrong: an example of the verb if something is missing, else its help.
fn how_to_go_on(kind: ErrorKind, missing: &[String]) -> Say {
    let command = command(Lang::En);
    let Some((name, verb)) = verb_given(&command) else {
        return say!(
            "`stend --help` lists the commands, `stend COMMAND --help` their options",
            "команды перечислит `stend --help`, параметры команды — `stend КОМАНДА --help`"
        );
    };
    if verb.has_subcommands() && matches!(kind, ErrorKind::MissingSubcommand | ErrorKind::InvalidSubcommand) {
        let commands = verb.get_subcommands().filter(|command| !command.is_hide_set());
        let commands = commands.map(|command| format!("`stend {name} {}`", command.get_name()));
        let commands = commands.collect::<Vec<_>>().join(", ");
        return say!("commands: {commands}", "команды: {commands}");
    }
    let examples = verb.get_before_help().map(ToString::to_string).unwrap_or_default();
    let mut examples = examples.lines().skip(1).map(str::trim);
    let first = examples.clone().next();
    // An option that another one needs is in an example of both.
    let options = || missing.iter().flat_map(|name| name.split(['<', '|', ' '])).filter(|part| part.starts_with("--"));
    let example = examples.find(|line| options().any(|option| line.contains(option))).or(first);
    match example.filter(|_| kind == ErrorKind::MissingRequiredArgument) {
        Some(example) => say!(
            "for example `{example}`; `stend {name} --help` shows all",
            "например `{example}`; всё покажет `stend {name} --help`"
        ),
        None => {
            say!("`stend {name} --help` lists its options", "что принимает команда, покажет `stend {name} --help`")
        }
    }
}

/// The verb of these words, with what it is called: `lab up`. `None` without one.
fn verb_in<'a>(command: &'a Command, words: &[String]) -> Option<(String, &'a Command)> {
    let mut found: Option<(String, &Command)> = None;
    for word in words {
        let within = found.as_ref().map_or(command, |(_, verb)| verb);
        if let Some(verb) = within.find_subcommand(word).filter(|verb| !verb.is_hide_set()) {
            let name = found.map_or(word.clone(), |(name, _)| format!("{name} {word}"));
            found = Some((name, verb));
        }
    }
    found
}

/// That of the command line.
fn verb_given(command: &Command) -> Option<(String, &Command)> {
    verb_in(command, &std::env::args().skip(1).collect::<Vec<_>>())
}

/// The command that a mistyped one probably is: one of the verb that is given, else a verb.
fn command_near(word: &str) -> Option<String> {
    let command = command(Lang::En);
    let given = verb_given(&command);
    let within = given.as_ref().map(|(_, verb)| *verb).filter(|verb| verb.has_subcommands()).unwrap_or(&command);
    let known = within.get_subcommands().filter(|one| !one.is_hide_set()).map(Command::get_name);
    stend_spec::parse::nearest(word, known).map(str::to_string)
}

/// Whether an argument is the one with this name, in either language.
fn is(name: &'static str, argument: &str) -> bool {
    [Lang::En, Lang::Ru].iter().any(|lang| placeholder(name, *lang) == argument)
}

/// What is said of an argument that must be there.
fn missing(argument: &str) -> Say {
    match is("RUN", argument) {
        true => say!("name a run, e.g. `last`", "укажите прогон, например `last`"),
        false => say!("`{argument}` is missing", "не указано: `{argument}`"),
    }
}

/// What does here what an unknown argument does in other tools: options of fio, a path behind the suite, a port.
fn of_other_tools(argument: &str) -> Option<Say> {
    let command = command(Lang::En);
    let (name, _) = verb_given(&command)?;
    let is_word = !argument.starts_with('-');
    match (name.as_str(), argument.split('=').next().unwrap_or_default()) {
        ("run", "--target" | "--filename" | "--directory" | "--device") => {
            Some(say!("name the target with `--on`", "объект задаёт `--on`"))
        }
        ("run", "--direct") => Some(say!("I/O is direct by default", "прямой ввод-вывод и так включён")),
        ("serve", "--port") => Some(say!(
            "address and port are in one option: `--listen 127.0.0.1:PORT`",
            "адрес и порт пишут вместе: `--listen 127.0.0.1:ПОРТ`"
        )),
        ("run", _) if is_word && !std::env::args().any(|word| word == "--on" || word.starts_with("--on=")) => {
            Some(say!("did you mean `--on {argument}`?", "возможно, `--on {argument}`?"))
        }
        _ => None,
    }
}

/// An option with one dash that has two: `-on` is read as `-o n`, and what is said of the rest misleads.
fn one_dash() -> Option<String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let command = command(Lang::En);
    let verb = words.first().and_then(|verb| command.find_subcommand(verb))?;
    let mut options = verb.get_arguments().filter_map(|argument| argument.get_long());
    options.find(|long| words.iter().any(|word| word.strip_prefix('-') == Some(long))).map(|long| format!("--{long}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verb_behind_help_is_the_one_that_is_asked_about() {
        let verb = |line: &str| {
            let words: Vec<String> = line.split(' ').map(String::from).collect();
            verb_behind_help(&words)
        };
        assert_eq!(verb("--help run").as_deref(), Some("run"));
        assert_eq!(verb("--lang ru -h lab up").as_deref(), Some("lab up"));
        for line in ["--help", "run --help", "run --help list", "help run"] {
            assert_eq!(verb(line), None, "{line}");
        }
    }
}

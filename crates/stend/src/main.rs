//! The binary: reads the command line, builds the real world and hands it down. The only code that
//! prints to the terminal.
#![forbid(unsafe_code)]

mod cli;
mod cmd;
mod out;
mod progress;
mod remote;
mod remote_trust;
mod save;
mod terminal;

use clap::ArgMatches;
use out::Out;
use remote::Remote;
use std::process::ExitCode;
use stend_base::{Error, Result, say};

fn main() -> ExitCode {
    let arguments: Vec<std::ffi::OsString> = std::env::args_os().collect();
    let lang = cli::language(&arguments);
    let matches = match cli::command(lang).try_get_matches_from(&arguments) {
        Ok(matches) => matches,
        Err(error) => return cli::refuse(&error, lang),
    };
    if let Some(("help", arguments)) = matches.subcommand() {
        return cli::print_help(arguments, lang);
    }
    let mut out = Out::new(&matches, lang);
    let done = Remote::of(&matches, lang).and_then(|remote| {
        out.remote = remote;
        dispatch(&matches, &out)
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            out.error(&error);
            ExitCode::from(error.kind.exit_code())
        }
    }
}

fn dispatch(matches: &ArgMatches, out: &Out) -> Result<()> {
    if let Some(done) = out.remote.as_ref().and_then(|remote| cmd::remote::asked(remote, matches, out)) {
        return done;
    }
    match matches.subcommand() {
        Some(("run", arguments)) => cmd::run::run(arguments, out),
        Some(("watch", arguments)) => cmd::watch::watch(arguments, out),
        Some(("record", arguments)) => cmd::record::record(arguments, out),
        Some(("top", arguments)) => cmd::top::top(arguments, out),
        Some(("journal", arguments)) => cmd::journal::journal(arguments, out),
        Some(("notify", arguments)) => cmd::notify_vendor::notify(arguments, out),
        Some(("bundle", arguments)) => cmd::bundle::bundle(arguments, out),
        Some(("stop", arguments)) => cmd::stop::stop(arguments, out),
        Some(("list", arguments)) => cmd::list::list(arguments, out),
        Some(("rm", arguments)) => cmd::rm::rm(arguments, out),
        Some(("suites", arguments)) => cmd::suites::suites(arguments, out),
        Some(("show", arguments)) => cmd::show::show(arguments, out),
        Some(("audit", arguments)) => cmd::audit::audit(arguments, out),
        Some(("compare", arguments)) => cmd::compare::compare(arguments, out),
        Some(("report", arguments)) => cmd::report::report(arguments, out),
        Some(("export", arguments)) => cmd::export::export(arguments, out),
        Some(("import", arguments)) => cmd::import::import(arguments, out),
        Some(("inspect", arguments)) => cmd::inspect::inspect(arguments, out),
        Some(("stand", arguments)) => cmd::stand::stand(arguments, out),
        Some(("stands", arguments)) => cmd::stands::stands(arguments, out),
        Some(("monitoring", arguments)) => cmd::stands::monitoring(arguments, out),
        Some(("lab", arguments)) => cmd::lab::lab(arguments, out),
        Some(("vm", arguments)) => cmd::vm::vm(arguments, out),
        Some(("doctor", arguments)) => cmd::doctor::doctor(arguments, out),
        Some(("hosts", arguments)) => cmd::hosts::hosts(arguments, out),
        Some(("serve", arguments)) => match arguments.subcommand() {
            Some(("install", arguments)) => cmd::serve_install::install(arguments, out),
            Some(("backup", arguments)) => cmd::serve_backup::save(arguments, out),
            Some(("restore", arguments)) => cmd::serve_backup::restore(arguments, out),
            _ => cmd::serve::serve(arguments, out),
        },
        Some(("completions", arguments)) => cmd::completions::completions(arguments, out),
        Some(("man", arguments)) => cmd::man::man(arguments, out),
        Some(("worker", arguments)) => cmd::worker::worker(arguments),
        Some(("guest", _)) => stend_lab::serve_guest(),
        _ => Err(Error::usage(say!("no command given", "команда не указана"))
            .hint(say!("`stend --help` lists them", "`stend --help` покажет список"))),
    }
}

//! `stend completions SHELL`: completion scripts, made from the same command tree as the help.

use crate::out::Out;
use clap::ArgMatches;
use clap_complete::Shell;
use stend_base::Result;

/// Prints the script for a shell, with its texts in the language of the session.
pub fn completions(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let shell = match super::required(arguments, "SHELL") {
        "zsh" => Shell::Zsh,
        "fish" => Shell::Fish,
        "pwsh" => Shell::PowerShell,
        _ => Shell::Bash,
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut crate::cli::command(out.lang), "stend", &mut script);
    out.stream(|to| to.write_all(&script))
}

//! Runs the programs that an image is made with. Must not know what they do.

use std::process::{Command, Stdio};
use stend_base::{Error, Result, Say, say};

/// What a program printed; an error with the last line of what it complained about if it failed.
pub fn run(command: &mut Command) -> Result<String> {
    let program = name(command);
    let output = command.stdin(Stdio::null()).env("LC_ALL", "C").output();
    let output =
        output.map_err(|e| cannot(&say!("cannot start `{program}`: {e}", "не удаётся запустить `{program}`: {e}")))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let told = String::from_utf8_lossy(&output.stderr);
    let told = told.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("?").trim_start_matches("E: ");
    Err(cannot(&say!("`{program}` failed: {told}", "ошибка `{program}`: {told}")))
}

/// The standard output of one program becomes the standard input of another; both must end well.
pub fn pipe(from: &mut Command, to: &mut Command) -> Result<()> {
    let program = name(from);
    let failed =
        |e: std::io::Error| cannot(&say!("`{program}` could not be run: {e}", "не удалось выполнить `{program}`: {e}"));
    let mut first = from.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().map_err(failed)?;
    let output = match first.stdout.take() {
        Some(stream) => to.stdin(stream).env("LC_ALL", "C").output(),
        None => Err(std::io::ErrorKind::BrokenPipe.into()),
    };
    let ended = first.wait().map_err(failed)?;
    let output = output.map_err(failed)?;
    if !output.status.success() {
        let told = String::from_utf8_lossy(&output.stderr);
        let told = told.lines().next().unwrap_or("?");
        return Err(failed(std::io::Error::other(format!("{}: {told}", name(to)))));
    }
    if ended.success() { Ok(()) } else { Err(failed(std::io::Error::other(ended.to_string()))) }
}

fn name(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}

/// An image cannot be made because of this.
pub fn cannot(why: &Say) -> Box<Error> {
    let (en, ru) = (&why.en, &why.ru);
    Error::preflight(say!("cannot build the guest image: {en}", "не удаётся собрать образ гостевых систем: {ru}"))
    .hint(say!(
        "`apt-get`, `dpkg-deb` and `tar` build it from packages of Debian 13; every Debian has these programs. Packages \
         come from the archive that this machine's apt uses, or from deb.debian.org",
        "его собирают из пакетов Debian 13 программы `apt-get`, `dpkg-deb` и `tar`, они есть в любом Debian. \
         Пакеты берутся из архива, который использует apt этой машины, или с deb.debian.org"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_fails_says_why_and_one_that_is_missing_is_named() {
        assert_eq!(run(Command::new("echo").arg("x")).unwrap(), "x\n");
        let error = run(Command::new("sh").args(["-c", "echo first >&2; echo E: last >&2; exit 1"])).unwrap_err();
        assert!(error.message.en.ends_with("`sh` failed: last") && error.message.ru.contains("ошибка `sh`"), "{error}");
        assert!(run(&mut Command::new("/nowhere/apt-get")).unwrap_err().message.en.contains("/nowhere/apt-get"));
    }

    #[test]
    fn both_ends_of_a_pipe_must_end_well() {
        let sh = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            command
        };
        pipe(&mut sh("echo x"), &mut sh("read line; test $line = x")).unwrap();
        assert!(pipe(&mut sh("exit 3"), &mut sh("cat")).unwrap_err().message.en.contains("exit status: 3"));
        assert!(pipe(&mut sh("echo"), &mut sh("echo why >&2; exit 1")).unwrap_err().message.en.contains("sh: why"));
    }
}

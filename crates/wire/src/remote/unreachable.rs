//! What keeps a host from being used, and what to do about it. Must not decide whether it is tried again.

use super::{Remote, Shell};
use std::process::ExitStatus;
use stend_base::{Code, Error, say};

/// Exit code of `ssh` for its own failures; any other is that of the command there.
const SSH_FAILED: i32 = 255;
/// What `ssh` prints, in one language everywhere, if a host shows another key than the one that it is known by.
const KEY_CHANGED: &str = "REMOTE HOST IDENTIFICATION HAS CHANGED";

impl Remote {
    /// Why nothing is done there, by how a command ended, what it printed and what it complained of.
    pub(super) fn unreachable(&self, status: ExitStatus, said: &str, complaint: &str) -> Box<Error> {
        // Some shells of accounts that may not log in print why.
        let name = &self.name;
        let printed = || said.lines().map(str::trim).find(|line| !line.is_empty() && *line != "stend");
        let why = Some(complaint.trim()).filter(|why| !why.is_empty()).or_else(printed).unwrap_or_default();
        let privilege: String = self.privilege.iter().map(|word| format!("{word} ")).collect();
        let error =
            Error::new(Code::HostUnreachable, say!("cannot reach `{name}`: {why}", "`{name}` недоступна: {why}"));
        let by_ssh = status.code() == Some(SSH_FAILED);
        // What is killed has no code. Every script begins by printing, and what does not start it prints nothing.
        let may_not = status.code().is_some() && !by_ssh && said.trim().is_empty() && !self.privilege.is_empty();
        match &self.shell {
            Shell::Ssh(destination) if by_ssh && why.contains(KEY_CHANGED) => other_key(name, destination, why),
            Shell::Ssh(destination) if may_not => no_privilege(name, destination, (privilege.trim_end(), why)),
            Shell::Ssh(destination) => error.hint(say!(
                "`ssh {destination} {privilege}true` must work without a question: set up a key, and accept the host key once",
                "`ssh {destination} {privilege}true` должна работать без вопросов: настройте ключ и один раз примите ключ машины (known_hosts)"
            )),
            Shell::Exec { program, arguments } => {
                let words = arguments.join(" ");
                error.hint(say!(
                    "`{program} {words} {privilege}sh -c true` must work without a question and without a terminal",
                    "`{program} {words} {privilege}sh -c true` должна работать без вопросов и без терминала"
                ))
            }
        }
    }
}

/// The host shows a key that is not the known one. What `ssh` prints has the fingerprint and the file of the known key.
fn other_key(name: &str, destination: &str, why: &str) -> Box<Error> {
    // Without the frame around its warning.
    let why: Vec<&str> = why.lines().map(str::trim).filter(|line| !line.starts_with('@')).collect();
    let why = why.join("\n");
    Error::new(
        Code::HostUnreachable,
        say!(
            "`{name}` shows another host key than the one that `ssh` knows it by: {why}",
            "у `{name}` не тот ключ машины, по которому её знает `ssh`: {why}"
        ),
    )
    .hint(say!(
        "another machine may answer in its place: compare the fingerprint with that of the key of the same kind among `/etc/ssh/ssh_host_*_key.pub` (`ssh-keygen -lf FILE`) on the machine that `ssh` names, at its console. Only if they are equal, remove the old key with `ssh-keygen -R HOST`, with the name that `ssh` prints, and accept the new one: `ssh {destination} true`",
        "возможно, вместо неё отвечает другая машина: сравните отпечаток с отпечатком ключа того же типа из `/etc/ssh/ssh_host_*_key.pub` (`ssh-keygen -lf ФАЙЛ`) на машине, которую называет `ssh`, с её консоли. Только если они совпадают, удалите старый ключ командой `ssh-keygen -R МАШИНА` с тем именем, которое печатает `ssh`, и примите новый: `ssh {destination} true`"
    ))
}

/// The words before the shell do not start it.
fn no_privilege(name: &str, destination: &str, (privilege, why): (&str, &str)) -> Box<Error> {
    Error::new(
        Code::HostUnreachable,
        say!("`{name}` does not execute `{privilege}`: {why}", "`{name}` не выполняет `{privilege}`: {why}"),
    )
    .hint(say!(
        "`ssh {destination} {privilege} sh -c true` must work without a question; for `sudo` that takes a line in a file of /etc/sudoers.d there, with the user who logs in: `USER ALL=(root) NOPASSWD: ALL`",
        "`ssh {destination} {privilege} sh -c true` должна работать без вопросов; для `sudo` нужна строка в файле каталога /etc/sudoers.d на той машине, с именем входящего пользователя: `USER ALL=(root) NOPASSWD: ALL`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    #[test]
    fn another_key_and_refused_rights_are_no_host_that_is_away() {
        let status = |code: i32| ExitStatus::from_raw(code << 8);
        let with = |privilege: &[&str]| {
            let privilege = privilege.iter().map(|word| word.to_string()).collect();
            Remote { privilege, ..Remote::new("root@db1").unwrap() }
        };
        let of = |remote: &Remote, code: i32, said: &str, complaint: &str| {
            let error = remote.unreachable(status(code), said, complaint);
            assert_eq!(error.code, Code::HostUnreachable);
            let hint = error.hint.expect("a hint");
            [(error.message.en, hint.en), (error.message.ru, hint.ru)]
        };
        let warning =
            "@@@@@@@@@\r\n@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\r\n@@@@@@@@@\r\nSHA256:abc.\r\n";
        let [(en, hint), (ru, hint_ru)] = of(&with(&["sudo", "-n"]), 255, "", warning);
        assert_eq!(en, "`root@db1` shows another host key than the one that `ssh` knows it by: SHA256:abc.");
        assert!(ru.contains("`root@db1`") && ru.ends_with("SHA256:abc."), "{ru}");
        for hint in [hint, hint_ru] {
            assert!(hint.contains("`/etc/ssh/ssh_host_*_key.pub`"), "{hint}");
            assert!(hint.contains("`ssh-keygen -R ") && hint.ends_with("`ssh root@db1 true`"), "{hint}");
        }
        let asks = "sudo: a password is required\n";
        let [(en, hint), (ru, hint_ru)] = of(&with(&["sudo", "-n"]), 1, "", asks);
        assert_eq!(en, "`root@db1` does not execute `sudo -n`: sudo: a password is required");
        assert!(ru.contains("`root@db1` не выполняет `sudo -n`"), "{ru}");
        for hint in [hint, hint_ru] {
            assert!(hint.contains("`ssh root@db1 sudo -n sh -c true`") && hint.contains("NOPASSWD"), "{hint}");
        }
        let [(en, hint), (ru, _)] = of(&with(&["sudo", "-n"]), 1, "This account is currently not available.\n", "");
        assert_eq!(en, "cannot reach `root@db1`: This account is currently not available.");
        assert!(ru.ends_with("This account is currently not available.") && !hint.contains("NOPASSWD"), "{ru} {hint}");
        let killed = with(&["sudo", "-n"]).unreachable(ExitStatus::from_raw(9), "", "");
        assert!(killed.message.en.starts_with("cannot reach `root@db1`"), "{killed}");
        // What `ssh` itself says, what fails with no such words, and what fails once the shell runs.
        for (privilege, code, said) in [(&["sudo", "-n"][..], 255, ""), (&[], 1, ""), (&["sudo", "-n"], 1, "stend\n")] {
            let [(en, hint), _] = of(&with(privilege), code, said, asks);
            assert!(en.starts_with("cannot reach `root@db1`") && hint.contains("accept the host key once"), "{en}");
        }
    }
}

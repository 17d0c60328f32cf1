//! Why the kernel refuses a way of doing I/O, and the one command that cures it: one answer for the engine's
//! fall-back and for `doctor`. Must not change anything.

use std::fmt;
use std::io;
use stend_base::{Say, say};

/// What stands in the way of an interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle {
    /// What it is, as a clause.
    pub cause: Say,
    /// What takes it away; `None` where nothing does on this kernel.
    pub cure: Option<ShellCommand>,
}

/// One command of a shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellCommand {
    /// To be given as root.
    AsRoot(&'static str),
    /// To be given by anybody.
    AsUser(&'static str),
}

impl ShellCommand {
    /// The command as this user gives it: with `sudo` where root is needed and `root` is false.
    pub fn command(self, root: bool) -> String {
        match self {
            ShellCommand::AsRoot(command) if !root => format!("sudo {command}"),
            ShellCommand::AsRoot(command) | ShellCommand::AsUser(command) => command.to_string(),
        }
    }
}

/// Locked memory for this shell and what it starts; `$$` is the shell, also behind `sudo`.
pub const MORE_LOCKED_MEMORY: ShellCommand = ShellCommand::AsRoot("prlimit --pid $$ --memlock=unlimited:unlimited");
/// Open files for this shell and what it starts: twice what the largest suite needs.
pub const MORE_OPEN_FILES: ShellCommand = ShellCommand::AsRoot("prlimit --pid $$ --nofile=8192:8192");

/// A container without a filter.
const UNCONFINED: ShellCommand = ShellCommand::AsUser("docker run --security-opt seccomp=unconfined …");

impl Obstacle {
    /// Without anything that would help on this kernel.
    pub(crate) fn incurable(cause: Say) -> Obstacle {
        Obstacle { cause, cure: None }
    }

    /// Why an io_uring was refused with `error`, on a kernel whose `kernel.io_uring_disabled` reads `setting`
    /// (empty on kernels that have no such setting).
    pub(crate) fn to_ring(error: &io::Error, setting: &str) -> Obstacle {
        let curable = |cause, cure| Obstacle { cause, cure: Some(cure) };
        match (error.raw_os_error(), setting.trim()) {
            (Some(libc::ENOSYS), _) => {
                Obstacle::incurable(say!("this kernel has no io_uring", "в этом ядре нет io_uring"))
            }
            (Some(libc::EPERM | libc::EACCES), setting @ ("1" | "2")) => {
                let cause = match setting {
                    "1" => say!(
                        "io_uring is limited to privileged users (kernel.io_uring_disabled = 1)",
                        "io_uring разрешён только привилегированным пользователям (kernel.io_uring_disabled = 1)"
                    ),
                    _ => say!(
                        "io_uring is switched off (kernel.io_uring_disabled = 2)",
                        "io_uring выключен (kernel.io_uring_disabled = 2)"
                    ),
                };
                curable(cause, ShellCommand::AsRoot("sysctl -w kernel.io_uring_disabled=0"))
            }
            (Some(libc::EPERM | libc::EACCES), _) => curable(
                say!(
                    "io_uring is forbidden here, probably by the seccomp filter of a container",
                    "io_uring здесь запрещён, вероятно, фильтром seccomp контейнера"
                ),
                UNCONFINED,
            ),
            (Some(libc::ENOMEM), _) => curable(
                say!(
                    "no memory for an io_uring (RLIMIT_MEMLOCK or a full machine)",
                    "для io_uring не хватило памяти (RLIMIT_MEMLOCK или занятая память)"
                ),
                MORE_LOCKED_MEMORY,
            ),
            (Some(libc::EMFILE), _) => curable(
                say!(
                    "no file descriptor for an io_uring (RLIMIT_NOFILE)",
                    "для io_uring не хватило дескриптора файла (RLIMIT_NOFILE)"
                ),
                MORE_OPEN_FILES,
            ),
            _ => {
                Obstacle::incurable(say!("io_uring cannot be set up: {error}", "io_uring не удаётся создать: {error}"))
            }
        }
    }
}

impl Obstacle {
    /// Why an AIO context was refused with `error`, on a kernel whose `fs.aio-max-nr` reads `setting`.
    pub(crate) fn to_aio(error: &io::Error, setting: &str) -> Obstacle {
        let curable = |cause, cure| Obstacle { cause, cure: Some(cure) };
        let setting = setting.trim();
        match error.raw_os_error() {
            Some(libc::ENOSYS) => Obstacle::incurable(say!("this kernel has no AIO", "в этом ядре нет AIO")),
            Some(libc::EPERM | libc::EACCES) => curable(
                say!(
                    "AIO is forbidden here, probably by the seccomp filter of a container",
                    "AIO здесь запрещён, вероятно, фильтром seccomp контейнера"
                ),
                UNCONFINED,
            ),
            Some(libc::EAGAIN) => curable(
                say!(
                    "all AIO requests that this machine allows are taken (fs.aio-max-nr = {setting})",
                    "все запросы AIO, разрешённые на этой машине, заняты (fs.aio-max-nr = {setting})"
                ),
                more_aio(setting),
            ),
            _ => Obstacle::incurable(say!("AIO cannot be set up: {error}", "AIO не удаётся настроить: {error}")),
        }
    }
}

/// 1,048,576 is what databases ask for, 16 times the kernel's default; who has that already gets 16 times
/// that. A trial needs 65,536 at most.
fn more_aio(setting: &str) -> ShellCommand {
    match setting.parse::<u64>() {
        Ok(limit) if limit >= 1 << 20 => ShellCommand::AsRoot("sysctl -w fs.aio-max-nr=16777216"),
        _ => ShellCommand::AsRoot("sysctl -w fs.aio-max-nr=1048576"),
    }
}

/// Cause and command in English, as they are recorded.
impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.cause.en)?;
        match self.cure {
            Some(cure) => write!(f, "; fix it with `{}`", cure.command(true)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(errno: i32, setting: &str) -> String {
        Obstacle::to_ring(&io::Error::from_raw_os_error(errno), setting).to_string()
    }

    #[test]
    fn every_refusal_of_a_ring_names_its_cause_and_the_one_command() {
        let sysctl = "fix it with `sysctl -w kernel.io_uring_disabled=0`";
        for (errno, setting, cause, cure) in [
            (libc::EPERM, "2\n", "kernel.io_uring_disabled = 2", sysctl),
            (libc::EPERM, "1", "kernel.io_uring_disabled = 1", sysctl),
            (libc::EPERM, "0", "seccomp", "seccomp=unconfined"),
            (libc::EACCES, "", "seccomp", "seccomp=unconfined"),
            (libc::ENOMEM, "0", "RLIMIT_MEMLOCK", "--memlock="),
            (libc::EMFILE, "0", "RLIMIT_NOFILE", "--nofile="),
            (libc::ENOSYS, "", "no io_uring", ""),
            (libc::EIO, "0", "Input/output error", ""),
        ] {
            let text = refused(errno, setting);
            assert!(text.contains(cause) && text.contains(cure), "{text}");
            assert_eq!(text.contains("fix it with"), !cure.is_empty(), "{text}");
        }
    }

    #[test]
    fn every_refusal_of_aio_names_its_cause_and_the_one_command() {
        for (errno, setting, cause, cure) in [
            (libc::EAGAIN, "65536\n", "fs.aio-max-nr = 65536)", "fix it with `sysctl -w fs.aio-max-nr=1048576`"),
            (libc::EAGAIN, "1048576", "fs.aio-max-nr = 1048576)", "fix it with `sysctl -w fs.aio-max-nr=16777216`"),
            (libc::EPERM, "65536", "seccomp", "seccomp=unconfined"),
            (libc::ENOSYS, "", "no AIO", ""),
            (libc::ENOMEM, "65536", "Cannot allocate memory", ""),
        ] {
            let text = Obstacle::to_aio(&io::Error::from_raw_os_error(errno), setting).to_string();
            assert!(text.contains(cause) && text.contains(cure), "{text}");
            assert_eq!(text.contains("fix it with"), !cure.is_empty(), "{text}");
        }
    }

    #[test]
    fn who_is_not_root_is_told_to_become_it_only_where_that_is_needed() {
        assert_eq!(ShellCommand::AsRoot("sysctl -w a=1").command(false), "sudo sysctl -w a=1");
        assert_eq!(ShellCommand::AsRoot("sysctl -w a=1").command(true), "sysctl -w a=1");
        assert_eq!(ShellCommand::AsUser("docker run").command(false), "docker run");
    }
}

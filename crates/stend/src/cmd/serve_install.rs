//! `stend serve install`: the unit with which systemd keeps the server running. Writes one file and starts nothing.

use super::serve;
use crate::out::Out;
use clap::ArgMatches;
use std::path::{Path, PathBuf};
use stend_base::{Error, Result, say};
use stend_serve::Listen;
use stend_serve::tls::Files;

/// Prints the unit (`--dry-run`), or writes it.
pub fn install(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let listen = serve::listen(arguments)?;
    let unit = unit(&super::this_program()?, &options(listen, arguments)?, network(listen));
    if arguments.get_flag("dry-run") {
        return out.result(&match out.json {
            true => serde_json::json!({ "unit": unit }).to_string(),
            false => unit,
        });
    }
    let Some(output) = super::output(arguments, "output", say!("the unit", "юнит")) else {
        return Err(Error::usage(say!("the unit goes to a file, not to `-`", "юнит записывают в файл, а не в `-`"))
            .hint(say!("`--dry-run` prints it", "напечатать его можно с `--dry-run`")));
    };
    output.check()?;
    output.save(|to| to.write_all(unit.as_bytes()))?;
    let file = output.path().display();
    let told = say!(
        "Written: {file}\nStart it now and at every boot:\n  systemctl daemon-reload\n  systemctl enable --now stend\nThe first start writes the link to sign in to the journal:\n  journalctl -u stend",
        "Записан {file}\nЗапустить сейчас и при каждой загрузке:\n  systemctl daemon-reload\n  systemctl enable --now stend\nСсылку для входа первый запуск напишет в журнал:\n  journalctl -u stend"
    );
    out.result(&match out.json {
        true => serde_json::json!({ "file": file.to_string() }).to_string(),
        false => told.get(out.lang).to_string(),
    })
}

/// The options of the server, as words of the unit.
fn options(listen: Listen, arguments: &ArgMatches) -> Result<String> {
    let mut words = vec!["--listen".to_string(), listen.address.to_string()];
    if listen.tls && listen.address.ip().is_loopback() {
        words.push("--tls".into());
    }
    if let Some(Files { certificate, key }) = serve::files(arguments)? {
        let file = |path: PathBuf| quoted(&path.to_string_lossy());
        words.extend(["--certificate".into(), file(certificate), "--key".into(), file(key)]);
    }
    words.extend(serve::names(arguments)?.into_iter().flat_map(|name| ["--name".into(), name]));
    Ok(words.join(" "))
}

/// What has to be there before: an address of a card can be listened on only when the card has it.
fn network(listen: Listen) -> &'static str {
    match listen.address.ip().is_loopback() {
        true => "After=local-fs.target network.target",
        false => "Wants=network-online.target\nAfter=local-fs.target network-online.target",
    }
}

/// The text of the unit. What it forbids nothing of Stend does; the rest must stay open, because tasks inherit it.
fn unit(program: &Path, options: &str, network: &str) -> String {
    let (mark, program) = (stend_report::UNIT_COMMENT, quoted(&program.to_string_lossy()));
    format!(
        "{mark}# Settings of your own belong in `systemctl edit stend`.

[Unit]
Description=Stend: console, API and tasks
{network}

[Service]
ExecStart={program} serve {options}
Environment=XDG_DATA_HOME=/var/lib
StateDirectory=stend
StateDirectoryMode=0711
UMask=0077
Restart=on-failure
RestartSec=2

# Tasks are processes of their own. They go on when the server stops, and one that needs too much memory ends alone.
KillMode=process
OOMPolicy=continue

# Tasks inherit what follows. Measuring needs devices, mounts, modules and settings of the kernel, so these stay open.
NoNewPrivileges=yes
LockPersonality=yes
ProtectHostname=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
SystemCallFilter=~@clock @cpu-emulation @obsolete @raw-io @reboot
SystemCallErrorNumber=EPERM
CapabilityBoundingSet=~CAP_AUDIT_CONTROL CAP_AUDIT_READ CAP_MAC_ADMIN CAP_MAC_OVERRIDE CAP_SYS_BOOT CAP_SYS_TIME CAP_WAKE_ALARM

[Install]
WantedBy=multi-user.target
"
    )
}

/// A word as systemd reads it: its escapes, specifiers and variables mean themselves.
fn quoted(word: &str) -> String {
    let plain: String = word
        .chars()
        .map(|letter| match letter {
            '"' | '\\' => format!("\\{letter}"),
            '%' | '$' => format!("{letter}{letter}"),
            other => other.to_string(),
        })
        .collect();
    format!("\"{plain}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_means_itself_in_a_unit() {
        assert_eq!(quoted("/opt/a b/100%/$x\"\\"), "\"/opt/a b/100%%/$$x\\\"\\\\\"");
        let unit = unit(Path::new("/usr/bin/stend"), "--listen 127.0.0.1:9000", "After=network.target");
        assert!(unit.contains("\nExecStart=\"/usr/bin/stend\" serve --listen 127.0.0.1:9000\n"), "{unit}");
        assert!(stend_report::is_ours(&mut std::io::Cursor::new(unit)).unwrap());
    }
}

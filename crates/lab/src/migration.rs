//! Has QEMU write a guest that stands still into a file, and tells when it has read one. Must not decide what becomes of it.

use crate::qmp::Qmp;
use serde_json::json;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// How long either may take. On two busy processors 180 MiB took 0.7 s; a slow disk may be slower than that.
const LIMIT: Duration = Duration::from_secs(60);
/// How often QEMU is asked whether it is done.
const TICK: Duration = Duration::from_millis(5);
/// Bytes per second that QEMU may write: as many as it can. Left alone it takes care not to disturb the guest, which stands still.
const BANDWIDTH: u64 = 1 << 40;
/// What QEMU calls the descriptor.
const NAME: &str = "saved";

/// Stops the guest and writes it behind what is in the file. It stands still then, whether that worked or not.
//= QEMU, qapi/migration.json: migrate, query-migrate, MigrationStatus
pub fn save(qmp: &mut Qmp, file: &File) -> io::Result<()> {
    qmp.execute("stop", &json!({}))?;
    qmp.execute("migrate-set-parameters", &json!({"max-bandwidth": BANDWIDTH}))?;
    qmp.hand(NAME, file.as_fd())?;
    qmp.execute("migrate", &json!({"uri": format!("fd:{NAME}")}))?;
    let start = Instant::now();
    while start.elapsed() < LIMIT {
        let told = qmp.execute("query-migrate", &json!({}))?;
        match told["status"].as_str() {
            Some("completed") => return Ok(()),
            Some("failed" | "cancelled") => {
                let why = told["error-desc"].as_str().unwrap_or("it failed");
                return Err(io::Error::other(format!("QEMU cannot write it: {why}")));
            }
            _ => std::thread::sleep(TICK),
        }
    }
    // What it writes from now on goes nowhere.
    qmp.execute("migrate_cancel", &json!({}))?;
    Err(io::ErrorKind::TimedOut.into())
}

/// Waits until QEMU has read a guest; it stands still then. A QEMU that cannot read it ends, which is an error, too.
//= QEMU, qapi/run-state.json: RunState, `inmigrate`
pub fn restored(qmp: &mut Qmp) -> io::Result<()> {
    let start = Instant::now();
    while start.elapsed() < LIMIT {
        let told = qmp.execute("query-status", &json!({}))?;
        match told["status"].as_str() {
            Some("inmigrate") => std::thread::sleep(TICK),
            Some("paused" | "postmigrate") => return Ok(()),
            status => return Err(io::Error::other(format!("QEMU did not restore it: {}", status.unwrap_or("?")))),
        }
    }
    Err(io::ErrorKind::TimedOut.into())
}

/// Has the guest go on.
pub fn go_on(qmp: &mut Qmp) -> io::Result<()> {
    qmp.execute("cont", &json!({})).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qmp::tests::actor;
    use serde_json::Value;

    /// Commands for a QEMU that answers so, and what came of it.
    fn told(answers: Vec<Value>, act: impl FnOnce(&mut Qmp) -> io::Result<()>) -> (Vec<Value>, io::Result<()>) {
        let (mut qmp, actor) = actor(answers);
        let done = act(&mut qmp);
        drop(qmp);
        (actor.join().unwrap(), done)
    }

    fn status(status: &str) -> Value {
        json!({"return": {"status": status}})
    }

    #[test]
    fn a_guest_is_stopped_and_written_to_the_descriptor_that_qemu_was_handed() {
        let nothing = json!({"return": {}});
        let mut answers = vec![nothing.clone(); 4];
        answers.extend([status("active"), status("completed")]);
        let (heard, done) = told(answers, |qmp| save(qmp, &File::open("/dev/null")?));
        done.unwrap();
        let commands: Vec<&str> = heard.iter().filter_map(|line| line["execute"].as_str()).collect();
        let expected = ["stop", "migrate-set-parameters", "getfd", "migrate", "query-migrate", "query-migrate"];
        assert_eq!(commands, expected);
        assert_eq!(
            (&heard[2]["arguments"]["fdname"], &heard[3]["arguments"]["uri"]),
            (&json!("saved"), &json!("fd:saved"))
        );
    }

    #[test]
    fn a_guest_that_cannot_be_written_is_an_error_with_qemu_s_words() {
        let nothing = json!({"return": {}});
        let failed = json!({"return": {"status": "failed", "error-desc": "No space left on device"}});
        let answers = [vec![nothing.clone(); 4], vec![failed]].concat();
        let (_, done) = told(answers, |qmp| save(qmp, &File::open("/dev/null")?));
        assert!(done.unwrap_err().to_string().ends_with("No space left on device"));
        let blocked = json!({"error": {"desc": "State blocked by non-migratable device"}});
        let answers = [vec![nothing; 3], vec![blocked]].concat();
        let (_, done) = told(answers, |qmp| save(qmp, &File::open("/dev/null")?));
        assert!(done.unwrap_err().to_string().contains("non-migratable device"));
    }

    #[test]
    fn a_guest_is_restored_when_qemu_has_read_all_of_it_and_a_qemu_that_ends_has_not() {
        let (heard, done) = told(vec![status("inmigrate"), status("paused")], restored);
        done.unwrap();
        assert_eq!(heard.len(), 2);
        assert!(told(vec![status("inmigrate")], restored).1.is_err(), "it ended");
        assert!(told(vec![status("internal-error")], restored).1.unwrap_err().to_string().contains("internal-error"));
    }
}

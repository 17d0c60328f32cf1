//! What a server is asked.

use stend_api::{Asked, Cron};
use stend_session::Condition;

/// Method and address in the first line, the body behind it.
pub fn request(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (line, body) = text.split_once('\n').unwrap_or((text, ""));
    let Some((method, target)) = line.split_once(' ') else { return };
    match Asked::read(method, target) {
        Ok(asked) => drop(asked.with(body.to_string())),
        // The one who asked is wrong, never the server.
        Err(failure) => assert!((400..500).contains(&failure.status), "{}", failure.status),
    }
}

/// Text that means a condition, or the times of a schedule.
pub fn terms(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(condition) = Condition::parse(text) {
        condition.holds(&[]);
    }
    if let Ok(cron) = Cron::parse(text) {
        assert!(cron.next(0).is_some_and(|at| at > 0 && at % 60 == 0), "{text}");
        cron.next(i64::MAX);
    }
}

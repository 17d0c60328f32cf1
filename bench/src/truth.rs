//! `make truth`: does a load come as asked, does a stall show, is in flight what was asked for?

mod elbencho;
mod little;
mod many;
mod rates;
mod report;
mod stall;
pub mod stamps;

use crate::fio::Fio;
use crate::{Outcome, Settings};
use std::time::Duration;
use stend_base::{Bytes, Share};

/// I/Os per second of a load that is stalled.
const RATE: u64 = 1000;
/// Length of that load.
const WINDOW: Duration = Duration::from_secs(10);
/// Range of its test file.
const RANGE: Bytes = Bytes::mib(256);
/// What is compared of it.
const QUANTILES: [Share; 3] = [Share(0.95), Share(0.99), Share(0.999)];

/// Measures everything and writes the page.
pub fn compare(settings: &Settings) -> Outcome<()> {
    let fio = Fio::find(settings)?;
    let wanted = |part: &str| settings.only.as_ref().is_none_or(|only| part.contains(only.as_str()));
    let found = report::Found {
        stalls: if wanted("stall") { stall::measure(settings, &fio)? } else { Vec::new() },
        rates: if wanted("rates") { rates::measure(settings, &fio)? } else { Vec::new() },
        stamps: if wanted("stamps") { stamps::measure(settings)? } else { Vec::new() },
        in_flight: if wanted("little") { little::measure(settings)? } else { Vec::new() },
        // Last: thousands of threads are still felt for a while after they have ended.
        many: if wanted("many") { many::measure(settings)? } else { Vec::new() },
    };
    report::write(settings, &fio, &found)
}

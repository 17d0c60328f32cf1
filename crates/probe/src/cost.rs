//! What reading a host costs, measured by doing it. Must not keep what it read.

use crate::{Probe, block_devices};
use std::path::Path;
use std::time::Instant;
use stend_base::{Lang, Nanos, Say, format, say};
use stend_record::{CheckupItem, Level};

/// Samples that are read: enough for a mean, and done in some milliseconds.
const SAMPLES: u32 = 16;

/// From here on a sample every second takes more than half a percent of a CPU.
const MOST: Nanos = Nanos::millis(5);

/// How long it takes to read all devices of this host once, as a finding of a checkup.
pub fn reading_cost(root: &Path) -> CheckupItem {
    let devices = block_devices(root).names;
    let mut probe = Probe::of_host(root, devices, std::process::id());
    // The first reading makes room for its texts.
    probe.read(Nanos(0));
    let begun = Instant::now();
    for _ in 0..SAMPLES {
        probe.read(Nanos(0));
    }
    item(Nanos((begun.elapsed() / SAMPLES).as_nanos() as u64))
}

fn item(each: Nanos) -> CheckupItem {
    let told = |lang: Lang| (format::latency(each, lang), format::percent(each.as_secs(), lang));
    let ((en, en_share), (ru, ru_share)) = (told(Lang::En), told(Lang::Ru));
    let is_much = each > MOST;
    CheckupItem {
        id: "telemetry".to_string(),
        level: if is_much { Level::Warn } else { Level::Ok },
        found: say!(
            "telemetry costs {en_share} of a CPU ({en} a second)",
            "телеметрия стоит {ru_share} процессора ({ru} в секунду)"
        ),
        affects: match is_much {
            true => say!("give `stend record` a longer `--every`", "задайте `stend record` больший `--every`"),
            false => Say::same(""),
        },
        cure: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_a_host_has_its_cost_and_a_warning_above_half_a_percent_of_a_cpu() {
        let cheap = item(Nanos(320_000));
        assert_eq!(cheap.level, Level::Ok);
        assert_eq!(cheap.found.en, "telemetry costs 0.0 % of a CPU (320 µs a second)");
        let dear = item(Nanos(12_000_000));
        assert_eq!((dear.level, dear.affects.en.is_empty()), (Level::Warn, false));
        let dir = tempfile::tempdir().unwrap();
        assert!(reading_cost(dir.path()).found.en.starts_with("telemetry costs "));
    }
}

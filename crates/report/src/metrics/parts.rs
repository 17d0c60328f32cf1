//! What a machine and its parts say of themselves, for Prometheus. Must not judge: whether a drive fails is the word of the journal.

use super::page::{Family, Page};
use std::collections::BTreeMap;
use stend_analyse::journal::{Category, Problem, ProblemSeverity, is_failing};
use stend_record::parts::LinkState;
use stend_record::{Health, HostInfo, Parts};

/// States that a pool of ZFS may have, as node_exporter names them.
const POOL_STATES: [&str; 7] = ["online", "degraded", "faulted", "offline", "removed", "unavail", "suspended"];

/// A number of a link.
type OfLink = fn(&LinkState) -> Option<f64>;

const LINKS: [(Family, OfLink); 3] = [
    (("stend_pcie_link_lanes", "gauge", "Lanes of a PCIe link now."), |l| Some(f64::from(l.now.width))),
    (("stend_pcie_link_lanes_possible", "gauge", "Lanes that device and port can have."), |l| {
        Some(f64::from(l.best.width))
    }),
    (("stend_pcie_corrected_errors_total", "counter", "Errors of a PCIe link that were corrected."), |l| {
        l.corrected.map(|errors| errors as f64)
    }),
];

/// Names of the machine and of its drives.
pub(super) fn host(page: &mut Page, host: &HostInfo) {
    if let Some(facts) = &host.facts {
        let name = "node_uname_info";
        page.family((name, "gauge", "Name of the machine and its kernel."));
        // Behind the release stands the version.
        let release = facts.kernel.split(' ').next().unwrap_or_default();
        let labels = [("nodename", facts.hostname.as_str()), ("release", release), ("sysname", "Linux")];
        page.sample(name, &labels, 1.0);
        let huge_pages = Some(facts.huge_pages.0 as f64);
        page.alone(("node_memory_Hugetlb_bytes", "gauge", "Memory that is set aside as huge pages."), huge_pages);
    }
    let port = ("stend_network_port_info", "gauge", "Interfaces with hardware; others count the same bytes once more.");
    page.each(port, &host.ports, |name| Some((vec![("device", name.clone())], 1.0)));
    let devices = host.targets.iter().flat_map(|target| &target.devices);
    page.each(("node_disk_info", "gauge", "Model and firmware of a drive."), devices, |device| {
        let text = |of: &Option<String>| of.clone().unwrap_or_default();
        let labels = vec![
            ("device", device.name.clone()),
            ("model", text(&device.model)),
            ("revision", text(&device.firmware)),
            ("rotational", device.rotational.map_or("", |yes| if yes { "1" } else { "0" }).to_string()),
            // Not of node_exporter: that a drive is gone which people take away is no alarm.
            ("detachable", if device.is_detachable() { "1" } else { "0" }.to_string()),
        ];
        (device.kind == "disk").then_some((labels, 1.0))
    });
}

/// State of the parts as it was last read.
pub(super) fn parts(page: &mut Page, parts: &Parts) {
    let of = |label: &'static str, name: &str| vec![(label, name.to_string())];
    let celsius = |milli: i64| milli as f64 / 1e3;
    let limit = |milli: Option<i64>| milli.filter(|milli| *milli > 0).map(celsius);
    page.each(("stend_disk_temperature_celsius", "gauge", "Temperature of a drive."), &parts.temperatures, |t| {
        Some((of("device", &t.device), celsius(t.milli_celsius)))
    });
    let warning = ("stend_disk_temperature_warning_celsius", "gauge", "From here on the drive itself warns.");
    page.each(warning, &parts.temperatures, |t| Some((of("device", &t.device), limit(t.warning)?)));
    let critical = ("stend_disk_temperature_critical_celsius", "gauge", "From here on the drive protects itself.");
    page.each(critical, &parts.temperatures, |t| Some((of("device", &t.device), limit(t.critical)?)));
    page.each(("node_md_disks_required", "gauge", "Drives that an array of md should have."), &parts.arrays, |a| {
        Some((of("device", &a.name), f64::from(a.disks)))
    });
    page.each(("stend_md_missing_disks", "gauge", "Drives that an array of md lacks."), &parts.arrays, |a| {
        Some((of("device", &a.name), f64::from(a.degraded?)))
    });
    let pools = parts.pools.iter().filter_map(|pool| Some((pool, pool.health.as_ref()?.to_lowercase())));
    let states: Vec<(&str, &str, bool)> = pools
        .flat_map(|(pool, health)| {
            let is = move |state: &'static str| (pool.name.as_str(), state, health == state);
            POOL_STATES.into_iter().map(is)
        })
        .collect();
    page.each(("node_zfs_zpool_state", "gauge", "1: the pool has this state."), &states, |(pool, state, is)| {
        Some((vec![("zpool", pool.to_string()), ("state", state.to_string())], f64::from(u8::from(*is))))
    });
    let arc = parts.arc.map(|arc| arc.size_bytes as f64);
    page.alone(("node_zfs_arc_size", "gauge", "Cache of ZFS, which is not in the memory that is available."), arc);
    page.each(("stend_path_usable", "gauge", "1: I/O can go this way to a drive."), &parts.paths, |path| {
        let labels = vec![("device", path.device.clone()), ("path", path.path.clone())];
        Some((labels, f64::from(u8::from(path.is_usable()))))
    });
    for (family, number) in LINKS {
        page.each(family, &parts.links, |link| {
            // A drive with two ports has a link for each.
            let labels = vec![("device", link.device.clone()), ("address", link.address.clone())];
            Some((labels, number(link)?))
        });
    }
}

/// A number of what a drive says of itself.
type OfHealth = fn(&Health) -> Option<f64>;

const HEALTH: [(Family, OfHealth); 11] = [
    (("stend_disk_failing", "gauge", "1: the drive fails by its own word, as the journal judges it."), |h| {
        is_failing(h).map(|failing| f64::from(u8::from(failing)))
    }),
    (("stend_disk_healthy", "gauge", "1: the drive passes its own health check."), |h| {
        h.passed.map(|passed| f64::from(u8::from(passed)))
    }),
    (("stend_disk_critical_warning", "gauge", "Bits of the critical warning of an NVMe drive."), |h| {
        h.critical_warning.map(|bits| bits as f64)
    }),
    (("stend_disk_wear_ratio", "gauge", "Share of the rated endurance that is used; may be above 1."), |h| {
        h.used_percent.map(|percent| percent as f64 / 100.0)
    }),
    (("stend_disk_spare_ratio", "gauge", "Share of the spare blocks that is left."), |h| {
        h.spare_percent.map(|percent| percent as f64 / 100.0)
    }),
    (("stend_disk_media_errors_total", "counter", "Reads that could not be corrected."), |h| {
        h.media_errors.map(|errors| errors as f64)
    }),
    (
        ("stend_disk_host_written_bytes_total", "counter", "Bytes that hosts have written in the life of the drive."),
        |h| h.bytes_written.map(|bytes| bytes as f64),
    ),
    (("stend_disk_power_on_seconds_total", "counter", "Time of operation."), |h| {
        h.power_on_hours.map(|hours| hours as f64 * 3600.0)
    }),
    (("stend_disk_unsafe_shutdowns_total", "counter", "How often the drive lost its power without notice."), |h| {
        h.unsafe_shutdowns.map(|count| count as f64)
    }),
    (("stend_disk_hot_seconds_total", "counter", "Time at or above the drive's own warning temperature."), |h| {
        h.hot_minutes.map(|minutes| minutes as f64 * 60.0)
    }),
    (("stend_disk_throttled_seconds_total", "counter", "Time in which heat slowed the drive down."), |h| {
        h.throttled_s.map(|seconds| seconds as f64)
    }),
];

/// What drives say of themselves, as it was last told.
pub(super) fn health(page: &mut Page, drives: &BTreeMap<String, Health>) {
    for (family, of) in HEALTH {
        page.each(family, drives, |(device, health)| Some((vec![("device", device.clone())], of(health)?)));
    }
}

/// How many problems of the journal are open, by category and severity; each that can be, so that zero differs from "not judged".
pub(super) fn problems(page: &mut Page, problems: &[Problem]) {
    let name = "stend_problems";
    page.family((name, "gauge", "Open problems in the journal of the host."));
    for category in Category::ALL {
        for severity in [ProblemSeverity::Warning, ProblemSeverity::Critical] {
            let is =
                |p: &&Problem| p.closed.is_none() && p.severity == severity && p.rule.limits().category == category;
            let labels = [("category", category.key()), ("severity", severity.key())];
            page.sample(name, &labels, problems.iter().filter(is).count() as f64);
        }
    }
}

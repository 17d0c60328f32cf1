//! The dashboards. A test lets a real Prometheus evaluate their queries.

use super::panels::Panel;
use super::{drive, host, run};
use stend_base::{Say, say};

/// A dashboard.
pub struct Board {
    /// Name of the file, and end of the fixed uid.
    pub name: &'static str,
    pub title: fn() -> Say,
    pub about: fn() -> Say,
    /// How often it asks anew, and from when on it shows.
    pub refresh: &'static str,
    pub from: &'static str,
    /// Variables behind the data source: name and query.
    pub variables: &'static [(&'static str, &'static str)],
    /// What is marked on the time axis: name, query, labels that are shown.
    pub marked: fn() -> Say,
    pub mark: &'static str,
    pub mark_title: &'static str,
    pub panels: fn() -> Vec<Panel>,
}

/// All of them.
pub const BOARDS: [Board; 3] = [
    Board {
        name: "host",
        title: || say!("Stend: host", "Стенд: хост"),
        about: || {
            say!("A host that `stend record --metrics` watches.", "Хост, за которым следит `stend record --metrics`.")
        },
        refresh: "30s",
        from: "now-1h",
        variables: &[("instance", "label_values(node_memory_MemTotal_bytes, instance)")],
        marked: || say!("Problems of the journal", "Проблемы из журнала"),
        mark: "sum by (severity, category) (stend_problems{instance=\"$instance\"}) > 0",
        mark_title: "{{severity}}: {{category}}",
        panels: host::panels,
    },
    Board {
        name: "drive",
        title: || say!("Stend: drive", "Стенд: накопитель"),
        about: || say!("One drive of a host that is watched.", "Один накопитель хоста, за которым идёт наблюдение."),
        refresh: "30s",
        from: "now-1h",
        variables: &[
            ("instance", "label_values(node_memory_MemTotal_bytes, instance)"),
            ("device", "label_values(node_disk_info{instance=\"$instance\"}, device)"),
        ],
        marked: || say!("Problems of drives", "Проблемы накопителей"),
        mark: "sum by (severity, category) (stend_problems{instance=\"$instance\",category=~\"drive|temperature|path\"}) > 0",
        mark_title: "{{severity}}: {{category}}",
        panels: drive::panels,
    },
    Board {
        name: "run",
        title: || say!("Stend: run", "Стенд: прогон"),
        about: || {
            say!(
                "A run that `stend watch --metrics` follows. For watching: results come from the run file.",
                "Прогон, за которым следит `stend watch --metrics`. Это для наблюдения: результаты считаются по файлу прогона."
            )
        },
        refresh: "10s",
        from: "now-30m",
        variables: &[("run", "label_values(stend_run_info, run)")],
        marked: || say!("Phases", "Фазы"),
        mark: "stend_run_phase{run=\"$run\"} == 1",
        mark_title: "{{phase}}",
        panels: run::panels,
    },
];

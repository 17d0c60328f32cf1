//! What the dashboards show. A quantity has one y axis; a device or an operation is a line. Queries are those of `monitoring/`, which a
//! test has a real Prometheus evaluate.

use serde_json::{Value, json};
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

/// How a panel looks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Lines,
    Number,
    States,
    Heatmap,
}

/// A panel.
pub struct Panel {
    pub title: Say,
    pub about: Say,
    pub kind: Kind,
    unit: &'static str,
    pub width: usize,
    /// Legend and query of each.
    pub queries: Vec<(Say, String)>,
}

impl Kind {
    /// As Grafana calls it.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Lines => "timeseries",
            Kind::Number => "stat",
            Kind::States => "state-timeline",
            Kind::Heatmap => "heatmap",
        }
    }
}

impl Panel {
    fn lines(title: Say, unit: &'static str, queries: Vec<(Say, String)>) -> Panel {
        Panel { title, about: Say::same(""), kind: Kind::Lines, unit, width: 12, queries }
    }

    fn number(title: Say, unit: &'static str, query: &str) -> Panel {
        let queries = vec![(Say::same(""), query.to_string())];
        Panel { kind: Kind::Number, width: 6, ..Panel::lines(title, unit, queries) }
    }

    fn about(self, about: Say) -> Panel {
        Panel { about, ..self }
    }

    pub fn defaults(&self) -> Value {
        let least = if matches!(self.unit, "celsius") { Value::Null } else { json!(0) };
        // A gap is a gap: nothing is drawn through it.
        json!({"unit": self.unit, "min": least, "custom": {"spanNulls": false, "lineWidth": 1, "fillOpacity": 0}})
    }

    pub fn options(&self) -> Value {
        match self.kind {
            Kind::Lines => {
                json!({"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}})
            }
            Kind::Number => json!({"reduceOptions": {"calcs": ["lastNotNull"]}, "colorMode": "none"}),
            Kind::States => json!({"showValue": "never", "mergeValues": true}),
            Kind::Heatmap => {
                json!({"calculate": false, "yAxis": {"unit": "s"}, "color": {"mode": "scheme", "scale": "exponential", "exponent": 0.5}})
            }
        }
    }
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
        panels: of_host,
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
        panels: of_drive,
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
        panels: of_run,
    },
];

/// Rate of a counter of devices of the host; loop devices, mappings and arrays would count an I/O twice.
fn drives(of: &str) -> String {
    format!("rate({of}{{instance=\"$instance\",device!~\"(loop|dm-|md|zram|ram|sr).*\"}}[$__rate_interval])")
}

/// The same of the interfaces.
fn ports(of: &str) -> String {
    format!("rate({of}{{instance=\"$instance\"}}[$__rate_interval])")
}

fn by_device() -> Say {
    Say::same("{{device}}")
}

fn of_host() -> Vec<Panel> {
    let host = |metric: &str| format!("{metric}{{instance=\"$instance\"}}");
    let waiting =
        |of: &str| format!("rate(node_pressure_{of}_seconds_total{{instance=\"$instance\"}}[$__rate_interval])");
    let cpu = |modes: &str| {
        format!(
            "sum(rate(node_cpu_seconds_total{{instance=\"$instance\",mode=~\"{modes}\"}}[$__rate_interval])) / \
             sum(rate(node_cpu_seconds_total{{instance=\"$instance\"}}[$__rate_interval]))"
        )
    };
    let both = |reads: &str, writes: &str| format!("{} + {}", drives(reads), drives(writes));
    vec![
        Panel::number(say!("CPUs busy", "Процессоры заняты"), "percentunit", &cpu("user|system|irq|softirq|steal")),
        Panel::number(
            say!("Memory in use", "Память занята"),
            "percentunit",
            &format!("1 - {} / {}", host("node_memory_MemAvailable_bytes"), host("node_memory_MemTotal_bytes")),
        ),
        Panel::number(say!("Open problems", "Открытых проблем"), "none", "sum(stend_problems{instance=\"$instance\"})"),
        Panel::number(
            say!("Arrays lack drives", "Не хватает накопителей в массивах"),
            "none",
            "sum(stend_md_missing_disks{instance=\"$instance\"}) or vector(0)",
        ),
        Panel::lines(
            say!("CPU time", "Время процессоров"),
            "percentunit",
            vec![
                (say!("busy", "занято"), cpu("user|system|irq|softirq|steal")),
                (say!("waits for I/O", "ожидание ввода-вывода"), cpu("iowait")),
                (say!("taken by the hypervisor", "отнято гипервизором"), cpu("steal")),
            ],
        ),
        Panel::lines(
            say!("Time in which tasks waited (PSI)", "Время, когда задачи ждали (PSI)"),
            "percentunit",
            vec![
                (say!("some, I/O", "некоторые, ввод-вывод"), waiting("io_waiting")),
                (say!("all, I/O", "все, ввод-вывод"), waiting("io_stalled")),
                (say!("some, CPU", "некоторые, процессор"), waiting("cpu_waiting")),
                (say!("some, memory", "некоторые, память"), waiting("memory_waiting")),
            ],
        ),
        Panel::lines(
            say!("IOPS of each drive", "IOPS каждого накопителя"),
            "iops",
            vec![(by_device(), both("node_disk_reads_completed_total", "node_disk_writes_completed_total"))],
        ),
        Panel::lines(
            say!("Throughput of each drive", "Пропускная способность каждого накопителя"),
            "Bps",
            vec![(by_device(), both("node_disk_read_bytes_total", "node_disk_written_bytes_total"))],
        ),
        Panel::lines(
            say!("Mean latency of reads", "Средняя задержка чтения"),
            "s",
            vec![(by_device(), mean("node_disk_read_time_seconds_total", "node_disk_reads_completed_total", &drives))],
        )
        .about(waits_included()),
        Panel::lines(
            say!("Mean latency of writes", "Средняя задержка записи"),
            "s",
            vec![(
                by_device(),
                mean("node_disk_write_time_seconds_total", "node_disk_writes_completed_total", &drives),
            )],
        )
        .about(waits_included()),
        Panel::lines(
            say!("Network", "Сеть"),
            "Bps",
            vec![
                (say!("{{{{device}}}} received", "{{{{device}}}} принято"), ports("node_network_receive_bytes_total")),
                (say!("{{{{device}}}} sent", "{{{{device}}}} отправлено"), ports("node_network_transmit_bytes_total")),
            ],
        ),
        Panel::lines(
            say!("Bad packets, and TCP segments sent again", "Повреждённые пакеты и повторные передачи TCP"),
            "cps",
            vec![
                (
                    say!("{{{{device}}}} bad", "{{{{device}}}} повреждено"),
                    format!(
                        "{} + {}",
                        ports("node_network_receive_errs_total"),
                        ports("node_network_transmit_errs_total")
                    ),
                ),
                (say!("segments sent again", "повторных сегментов"), ports("node_netstat_Tcp_RetransSegs")),
            ],
        ),
        Panel::lines(
            say!("Temperature of drives", "Температура накопителей"),
            "celsius",
            vec![(by_device(), host("stend_disk_temperature_celsius"))],
        ),
        Panel::lines(
            say!("Share of time with I/O in flight", "Доля времени с операциями в очереди"),
            "percentunit",
            vec![(by_device(), drives("node_disk_io_time_seconds_total"))],
        )
        .about(can_do_more()),
    ]
}

/// Time of I/Os over their number: nothing where there were none.
fn mean(time: &str, count: &str, rate: &dyn Fn(&str) -> String) -> String {
    format!("{} / ({} > 0)", rate(time), rate(count))
}

fn waits_included() -> Say {
    say!("Waiting in the queue of the kernel is included.", "Вместе с ожиданием в очереди ядра.")
}

fn can_do_more() -> Say {
    say!(
        "A drive that works on many I/Os at once can do more at 100 %.",
        "Накопитель, который обрабатывает много операций сразу, может больше и при 100 %."
    )
}

fn of_drive() -> Vec<Panel> {
    let drive = |metric: &str| format!("{metric}{{instance=\"$instance\",device=\"$device\"}}");
    let rate = |metric: &str| format!("rate({}[$__rate_interval])", drive(metric));
    let (read, write, flush) =
        (|| say!("reads", "чтение"), || say!("writes", "запись"), || say!("flushes", "сброс кэша"));
    vec![
        Panel::lines(
            say!("IOPS", "Операций в секунду (IOPS)"),
            "iops",
            vec![
                (read(), rate("node_disk_reads_completed_total")),
                (write(), rate("node_disk_writes_completed_total")),
                (flush(), rate("node_disk_flush_requests_total")),
            ],
        ),
        Panel::lines(
            say!("Throughput", "Пропускная способность"),
            "Bps",
            vec![(read(), rate("node_disk_read_bytes_total")), (write(), rate("node_disk_written_bytes_total"))],
        ),
        Panel::lines(
            say!("Mean latency", "Средняя задержка"),
            "s",
            vec![
                (read(), mean("node_disk_read_time_seconds_total", "node_disk_reads_completed_total", &rate)),
                (write(), mean("node_disk_write_time_seconds_total", "node_disk_writes_completed_total", &rate)),
                (flush(), mean("node_disk_flush_requests_time_seconds_total", "node_disk_flush_requests_total", &rate)),
            ],
        )
        .about(waits_included()),
        Panel::lines(
            say!("I/Os in flight", "Операций в очереди"),
            "none",
            vec![(say!("mean", "в среднем"), rate("node_disk_io_time_weighted_seconds_total"))],
        ),
        Panel::lines(
            say!("Share of time with I/O in flight", "Доля времени с операциями в очереди"),
            "percentunit",
            vec![(Say::same("{{device}}"), rate("node_disk_io_time_seconds_total"))],
        )
        .about(can_do_more()),
        Panel::lines(
            say!("Mean size of an I/O", "Средний размер операции"),
            "bytes",
            vec![
                (read(), mean("node_disk_read_bytes_total", "node_disk_reads_completed_total", &rate)),
                (write(), mean("node_disk_written_bytes_total", "node_disk_writes_completed_total", &rate)),
            ],
        ),
        Panel::lines(
            say!("Temperature, and the limits of the drive", "Температура и пределы накопителя"),
            "celsius",
            vec![
                (say!("now", "сейчас"), drive("stend_disk_temperature_celsius")),
                (say!("it warns", "предупреждает"), drive("stend_disk_temperature_warning_celsius")),
                (say!("it protects itself", "защищается"), drive("stend_disk_temperature_critical_celsius")),
            ],
        ),
        Panel::lines(
            say!("Endurance used, and spare blocks left", "Израсходованный ресурс и оставшийся резерв"),
            "percentunit",
            vec![
                (say!("endurance used", "ресурс израсходован"), drive("stend_disk_wear_ratio")),
                (say!("spare left", "резерв остался"), drive("stend_disk_spare_ratio")),
            ],
        ),
        Panel::lines(
            say!("Media errors in the life of the drive", "Ошибки носителя за всё время"),
            "none",
            vec![(by_device(), drive("stend_disk_media_errors_total"))],
        ),
        Panel::lines(
            say!("Written by hosts in the life of the drive", "Записано хостами за всё время"),
            "bytes",
            vec![(by_device(), drive("stend_disk_host_written_bytes_total"))],
        ),
        Panel::lines(
            say!("Lanes of its PCIe link", "Линии шины PCIe"),
            "none",
            vec![
                (say!("now", "сейчас"), drive("stend_pcie_link_lanes")),
                (say!("possible", "возможно"), drive("stend_pcie_link_lanes_possible")),
            ],
        ),
    ]
}

fn of_run() -> Vec<Panel> {
    let rate = |metric: &str| format!("rate({metric}{{run=\"$run\"}}[$__rate_interval])");
    let quantile =
        |q: &str| format!("histogram_quantile({q}, sum by (le, op) ({}))", rate("stend_io_latency_seconds_bucket"));
    let by_op = || Say::same("{{op}}");
    let run = |metric: &str| format!("{metric}{{run=\"$run\"}}");
    vec![
        Panel::number(say!("Done", "Выполнено"), "percentunit", &run("stend_run_progress_ratio")),
        Panel::number(say!("Time left", "Осталось"), "s", &run("stend_run_eta_seconds")),
        Panel::number(say!("IOPS now", "IOPS сейчас"), "iops", &format!("sum({})", rate("stend_io_operations_total"))),
        Panel::number(
            say!("Failed I/Os", "Ошибок ввода-вывода"),
            "none",
            &format!("sum({})", run("stend_io_errors_total")),
        ),
        Panel::lines(
            say!("IOPS of the load", "IOPS нагрузки"),
            "iops",
            vec![(by_op(), rate("stend_io_operations_total"))],
        ),
        Panel::lines(
            say!("Throughput of the load", "Пропускная способность нагрузки"),
            "Bps",
            vec![(by_op(), rate("stend_io_bytes_total"))],
        ),
        Panel::lines(
            say!("Latency of the load", "Задержка нагрузки"),
            "s",
            vec![
                (say!("{{{{op}}}}, median", "{{{{op}}}}, медиана"), quantile("0.5")),
                (Say::same("{{op}}, p99"), quantile("0.99")),
                (Say::same("{{op}}, p99.9"), quantile("0.999")),
            ],
        )
        .about(say!(
            "From buckets of 1, 2 and 5: rough. Results come from the run file.",
            "По интервалам 1, 2 и 5, поэтому грубо. Результаты считаются по файлу прогона."
        )),
        Panel {
            kind: Kind::Heatmap,
            ..Panel::lines(
                say!("All latencies", "Все задержки"),
                "s",
                vec![(Say::same("{{le}}"), format!("sum by (le) ({})", rate("stend_io_latency_seconds_bucket")))],
            )
        },
        Panel {
            kind: Kind::States,
            width: 24,
            ..Panel::lines(
                say!("Phases of the run", "Фазы прогона"),
                "none",
                vec![(Say::same("{{phase}}"), run("stend_run_phase"))],
            )
        },
    ]
}

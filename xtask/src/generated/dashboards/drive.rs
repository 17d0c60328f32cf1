//! Panels of one drive.

use super::panels::{Panel, by_device, can_do_more, mean, waits_included};
use stend_base::{Say, say};

pub fn panels() -> Vec<Panel> {
    let mut panels = load();
    panels.extend(state());
    panels
}

/// A metric of the drive.
fn of(metric: &str) -> String {
    format!("{metric}{{instance=\"$instance\",device=\"$device\"}}")
}

fn load() -> Vec<Panel> {
    let rate = |metric: &str| format!("rate({}[$__rate_interval])", of(metric));
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
    ]
}

fn state() -> Vec<Panel> {
    vec![
        Panel::lines(
            say!("Temperature, and the limits of the drive", "Температура и пределы накопителя"),
            "celsius",
            vec![
                (say!("now", "сейчас"), of("stend_disk_temperature_celsius")),
                (say!("it warns", "предупреждает"), of("stend_disk_temperature_warning_celsius")),
                (say!("it protects itself", "защищается"), of("stend_disk_temperature_critical_celsius")),
            ],
        ),
        Panel::lines(
            say!("Endurance used, and spare blocks left", "Израсходованный ресурс и оставшийся резерв"),
            "percentunit",
            vec![
                (say!("endurance used", "ресурс израсходован"), of("stend_disk_wear_ratio")),
                (say!("spare left", "резерв остался"), of("stend_disk_spare_ratio")),
            ],
        ),
        Panel::lines(
            say!("Media errors in the life of the drive", "Ошибки носителя за всё время"),
            "none",
            vec![(by_device(), of("stend_disk_media_errors_total"))],
        ),
        Panel::lines(
            say!("Written by hosts in the life of the drive", "Записано хостами за всё время"),
            "bytes",
            vec![(by_device(), of("stend_disk_host_written_bytes_total"))],
        ),
        Panel::lines(
            say!("Lanes of its PCIe link", "Линии шины PCIe"),
            "none",
            vec![
                (say!("now", "сейчас"), of("stend_pcie_link_lanes")),
                (say!("possible", "возможно"), of("stend_pcie_link_lanes_possible")),
            ],
        ),
    ]
}

//! Panels of a host.

use super::panels::{Panel, by_device, can_do_more, mean, waits_included};
use stend_base::{Say, say};

pub fn panels() -> Vec<Panel> {
    let mut panels = cpus_and_memory();
    panels.extend(throughput_of_drives());
    panels.extend(network());
    panels.extend(nfs());
    panels.extend(state_of_drives());
    panels
}

/// A gauge of the host.
fn host(metric: &str) -> String {
    format!("{metric}{{instance=\"$instance\"}}")
}

/// Rate of a counter of devices of the host; loop devices, mappings and arrays would count an I/O twice.
fn drives(of: &str) -> String {
    format!("rate({of}{{instance=\"$instance\",device!~\"(loop|dm-|md|zram|ram|sr).*\"}}[$__rate_interval])")
}

/// The same of the interfaces.
fn ports(of: &str) -> String {
    format!("rate({of}{{instance=\"$instance\"}}[$__rate_interval])")
}

/// The share of memory that programs cannot have: the cache of ZFS gives back all of itself but a thirty-second of the memory.
fn memory_in_use() -> String {
    let [available, all, arc] =
        ["node_memory_MemAvailable_bytes", "node_memory_MemTotal_bytes", "node_zfs_arc_size"].map(host);
    format!("1 - ({available} + (clamp_min({arc} - {all} / 32, 0) or {all} * 0)) / {all}")
}

fn cpus_and_memory() -> Vec<Panel> {
    let waiting =
        |of: &str| format!("rate(node_pressure_{of}_seconds_total{{instance=\"$instance\"}}[$__rate_interval])");
    let cpu = |modes: &str| {
        format!(
            "sum(rate(node_cpu_seconds_total{{instance=\"$instance\",mode=~\"{modes}\"}}[$__rate_interval])) / \
             sum(rate(node_cpu_seconds_total{{instance=\"$instance\"}}[$__rate_interval]))"
        )
    };
    vec![
        Panel::number(say!("CPUs busy", "Процессоры заняты"), "percentunit", &cpu("user|system|irq|softirq|steal")),
        Panel::number(say!("Memory in use", "Память занята"), "percentunit", &memory_in_use()),
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
    ]
}

fn throughput_of_drives() -> Vec<Panel> {
    let both = |reads: &str, writes: &str| format!("{} + {}", drives(reads), drives(writes));
    vec![
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
    ]
}

fn network() -> Vec<Panel> {
    vec![
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
    ]
}

fn nfs() -> Vec<Panel> {
    vec![
        Panel::lines(
            say!("NFS: shares that are mounted, and the server", "NFS: подключённые ресурсы и сервер"),
            "Bps",
            vec![
                (say!("{{{{mount}}}} read", "{{{{mount}}}} чтение"), ports("stend_nfs_mount_read_bytes_total")),
                (say!("{{{{mount}}}} written", "{{{{mount}}}} запись"), ports("stend_nfs_mount_written_bytes_total")),
                (say!("server, read", "сервер, чтение"), ports("node_nfsd_disk_bytes_read_total")),
                (say!("server, written", "сервер, запись"), ports("node_nfsd_disk_bytes_written_total")),
            ],
        ),
        Panel::lines(
            say!("NFS: mean time of a request", "NFS: среднее время запроса"),
            "s",
            vec![(
                Say::same("{{mount}} {{op}}"),
                mean("stend_nfs_mount_request_seconds_total", "stend_nfs_mount_requests_total", &ports),
            )],
        )
        .about(say!("Waiting in the queue of the client is included.", "Вместе с ожиданием в очереди клиента.")),
    ]
}

fn state_of_drives() -> Vec<Panel> {
    vec![
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

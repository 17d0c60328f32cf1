//! What the template of Zabbix reads and when it raises an alarm, as tables. Patterns are those of `stend record --metrics`. Must not know
//! how it is written down.

use super::kinds::{Discovery, Item, Then, Trigger, item, sum};
use stend_base::say;

/// What a host has once.
pub const HOST: &[Item] = &[
    sum(
        "problems.critical",
        || say!("Open problems: critical", "Открытые проблемы: критические"),
        r#"stend_problems{severity="critical"}"#,
        Then::Keep,
        "",
    ),
    sum(
        "problems.warning",
        || say!("Open problems: warnings", "Открытые проблемы: предупреждения"),
        r#"stend_problems{severity="warning"}"#,
        Then::Keep,
        "",
    ),
    sum(
        "cpu.busy",
        || say!("CPUs: busy", "Процессоры: занято"),
        r#"node_cpu_seconds_total{mode=~"user|system|irq|softirq|steal"}"#,
        Then::PerSecond,
        "CPU",
    ),
    sum(
        "cpu.steal",
        || say!("CPUs: taken by the hypervisor", "Процессоры: отнял гипервизор"),
        r#"node_cpu_seconds_total{mode="steal"}"#,
        Then::PerSecond,
        "CPU",
    ),
    item("memory.total", || say!("Memory: total", "Память: всего"), "node_memory_MemTotal_bytes", Then::Keep, "B"),
    item(
        "memory.available",
        || say!("Memory: available", "Память: доступно"),
        "node_memory_MemAvailable_bytes",
        Then::Keep,
        "B",
    ),
    item(
        "pressure.io",
        || say!("Waiting for I/O", "Ожидание ввода-вывода"),
        "node_pressure_io_waiting_seconds_total",
        Then::PercentOfTime,
        "%",
    ),
    item(
        "pressure.memory",
        || say!("Waiting for memory", "Ожидание памяти"),
        "node_pressure_memory_waiting_seconds_total",
        Then::PercentOfTime,
        "%",
    ),
    item(
        "tcp.again",
        || say!("TCP: segments sent again", "TCP: повторные передачи"),
        "node_netstat_Tcp_RetransSegs",
        Then::PerSecond,
        "/s",
    ),
    item(
        "nfsd.requests",
        || say!("NFS server: requests", "Сервер NFS: запросы"),
        "node_nfsd_server_rpcs_total",
        Then::PerSecond,
        "/s",
    ),
    item(
        "nfsd.read",
        || say!("NFS server: read", "Сервер NFS: чтение"),
        "node_nfsd_disk_bytes_read_total",
        Then::PerSecond,
        "Bps",
    ),
    item(
        "nfsd.written",
        || say!("NFS server: written", "Сервер NFS: запись"),
        "node_nfsd_disk_bytes_written_total",
        Then::PerSecond,
        "Bps",
    ),
    item(
        "sample.cost",
        || say!("Time of a reading", "Время одного чтения"),
        "stend_sample_read_seconds",
        Then::Keep,
        "s",
    ),
];

/// Alarms of the host.
pub const HOST_TRIGGERS: &[Trigger] = &[
    Trigger {
        name: || say!("Stend: nothing is recorded on {{HOST.NAME}}", "Стенд: на {{HOST.NAME}} запись не ведётся"),
        expression: "nodata((sample.cost),5m)=1",
        priority: "WARNING",
    },
    Trigger {
        name: || {
            say!(
                "Stend: critical problems on {{HOST.NAME}}; see `stend journal last`",
                "Стенд: критические проблемы на {{HOST.NAME}}; см. `stend journal last`"
            )
        },
        expression: "last((problems.critical))>0",
        priority: "HIGH",
    },
    Trigger {
        name: || {
            say!(
                "Stend: warnings on {{HOST.NAME}}; see `stend journal last`",
                "Стенд: предупреждения на {{HOST.NAME}}; см. `stend journal last`"
            )
        },
        expression: "last((problems.warning))>0",
        priority: "WARNING",
    },
];

/// What a host has several of.
pub const DISCOVERIES: &[Discovery] = &[
    Discovery {
        key: "drives",
        name: || say!("Drives", "Накопители"),
        pattern: "node_disk_info",
        labels: &["device"],
        items: DRIVE,
        triggers: DRIVE_TRIGGERS,
    },
    Discovery {
        key: "ports",
        name: || say!("Network interfaces", "Сетевые интерфейсы"),
        pattern: "node_network_receive_bytes_total",
        labels: &["device"],
        items: PORT,
        triggers: &[Trigger {
            name: || say!("Port {{#DEVICE}}: bad packets", "Порт {{#DEVICE}}: повреждённые пакеты"),
            expression: "min((port.errors),5m)>=1",
            priority: "WARNING",
        }],
    },
    Discovery {
        key: "arrays",
        name: || say!("Arrays of md", "Массивы md"),
        pattern: "stend_md_missing_disks",
        labels: &["device"],
        items: &[item(
            "array.missing",
            || say!("Array {{#DEVICE}}: drives missing", "Массив {{#DEVICE}}: не хватает накопителей"),
            "stend_md_missing_disks{@}",
            Then::Keep,
            "",
        )],
        triggers: &[Trigger {
            name: || say!("Array {{#DEVICE}} lacks drives", "Массиву {{#DEVICE}} не хватает накопителей"),
            expression: "last((array.missing))>0",
            priority: "HIGH",
        }],
    },
    Discovery {
        key: "pools",
        name: || say!("Pools of ZFS", "Пулы ZFS"),
        pattern: r#"node_zfs_zpool_state{state="online"}"#,
        labels: &["zpool"],
        items: &[
            item(
                "pool.online",
                || say!("Pool {{#ZPOOL}}: online", "Пул {{#ZPOOL}}: исправен"),
                r#"node_zfs_zpool_state{@,state="online"}"#,
                Then::Keep,
                "",
            ),
            item(
                "pool.degraded",
                || say!("Pool {{#ZPOOL}}: degraded", "Пул {{#ZPOOL}}: с потерей избыточности"),
                r#"node_zfs_zpool_state{@,state="degraded"}"#,
                Then::Keep,
                "",
            ),
        ],
        triggers: &[
            Trigger {
                name: || say!("Pool {{#ZPOOL}} is degraded", "Пул {{#ZPOOL}} потерял избыточность"),
                expression: "last((pool.degraded))=1",
                priority: "WARNING",
            },
            Trigger {
                name: || say!("Pool {{#ZPOOL}} is not healthy", "Пул {{#ZPOOL}} неисправен"),
                expression: "last((pool.online))=0 and last((pool.degraded))=0",
                priority: "HIGH",
            },
        ],
    },
    Discovery {
        key: "paths",
        name: || say!("Paths to drives", "Пути к накопителям"),
        pattern: "stend_path_usable",
        labels: &["device", "path"],
        items: &[item(
            "path.usable",
            || say!("Path {{#DEVICE}}/{{#PATH}}: usable", "Путь {{#DEVICE}}/{{#PATH}}: работает"),
            "stend_path_usable{@}",
            Then::Keep,
            "",
        )],
        triggers: &[Trigger {
            name: || say!("Path {{#DEVICE}}/{{#PATH}} is down", "Путь {{#DEVICE}}/{{#PATH}} не работает"),
            expression: "last((path.usable))=0",
            priority: "WARNING",
        }],
    },
    Discovery {
        key: "links",
        name: || say!("PCIe links", "Шины PCIe"),
        pattern: "stend_pcie_link_lanes",
        labels: &["device", "address"],
        items: &[
            item(
                "link.lanes",
                || say!("Link {{#DEVICE}} {{#ADDRESS}}: lanes", "Шина {{#DEVICE}} {{#ADDRESS}}: линий"),
                "stend_pcie_link_lanes{@}",
                Then::Keep,
                "",
            ),
            item(
                "link.possible",
                || {
                    say!(
                        "Link {{#DEVICE}} {{#ADDRESS}}: lanes possible",
                        "Шина {{#DEVICE}} {{#ADDRESS}}: возможно линий"
                    )
                },
                "stend_pcie_link_lanes_possible{@}",
                Then::Keep,
                "",
            ),
        ],
        triggers: &[Trigger {
            name: || say!("Link of {{#DEVICE}} is narrower than possible", "Шина {{#DEVICE}} уже возможной"),
            expression: "last((link.lanes))<last((link.possible))",
            priority: "WARNING",
        }],
    },
    Discovery {
        key: "shares",
        name: || say!("Shares of NFS", "Ресурсы NFS"),
        pattern: "stend_nfs_mount_read_bytes_total",
        labels: &["mount", "export"],
        items: SHARE,
        triggers: &[Trigger {
            name: || say!("NFS {{#EXPORT}} at {{#MOUNT}} does not answer", "NFS {{#EXPORT}} в {{#MOUNT}} не отвечает"),
            // Two polls, because one may see a request that is under way. The client sends it again after a minute, then ever more seldom.
            expression: r#"count((share.sent),5m,"gt","0")>=2 and max((share.answered),5m)=0"#,
            priority: "HIGH",
        }],
    },
];

const DRIVE: &[Item] = &[
    item(
        "drive.reads",
        || say!("Drive {{#DEVICE}}: reads", "Накопитель {{#DEVICE}}: операции чтения"),
        "node_disk_reads_completed_total{@}",
        Then::PerSecond,
        "/s",
    ),
    item(
        "drive.writes",
        || say!("Drive {{#DEVICE}}: writes", "Накопитель {{#DEVICE}}: операции записи"),
        "node_disk_writes_completed_total{@}",
        Then::PerSecond,
        "/s",
    ),
    item(
        "drive.read",
        || say!("Drive {{#DEVICE}}: read", "Накопитель {{#DEVICE}}: чтение"),
        "node_disk_read_bytes_total{@}",
        Then::PerSecond,
        "Bps",
    ),
    item(
        "drive.written",
        || say!("Drive {{#DEVICE}}: written", "Накопитель {{#DEVICE}}: запись"),
        "node_disk_written_bytes_total{@}",
        Then::PerSecond,
        "Bps",
    ),
    item(
        "drive.busy",
        || say!("Drive {{#DEVICE}}: time with I/O", "Накопитель {{#DEVICE}}: время с операциями"),
        "node_disk_io_time_seconds_total{@}",
        Then::PercentOfTime,
        "%",
    ),
    item(
        "drive.queue",
        || say!("Drive {{#DEVICE}}: I/Os in flight on average", "Накопитель {{#DEVICE}}: операций в очереди в среднем"),
        "node_disk_io_time_weighted_seconds_total{@}",
        Then::PerSecond,
        "",
    ),
    item(
        "drive.temperature",
        || say!("Drive {{#DEVICE}}: temperature", "Накопитель {{#DEVICE}}: температура"),
        "stend_disk_temperature_celsius{@}",
        Then::Keep,
        "°C",
    ),
    item(
        "drive.temperature.limit",
        || say!("Drive {{#DEVICE}}: its own limit", "Накопитель {{#DEVICE}}: собственный предел"),
        "stend_disk_temperature_warning_celsius{@}",
        Then::Keep,
        "°C",
    ),
    item(
        "drive.temperature.critical",
        || say!("Drive {{#DEVICE}}: limit of its protection", "Накопитель {{#DEVICE}}: предел защиты"),
        "stend_disk_temperature_critical_celsius{@}",
        Then::Keep,
        "°C",
    ),
    item(
        "drive.failing",
        || say!("Drive {{#DEVICE}}: fails by its own word", "Накопитель {{#DEVICE}}: сообщает о неисправности"),
        "stend_disk_failing{@}",
        Then::Keep,
        "",
    ),
    item(
        "drive.healthy",
        || say!("Drive {{#DEVICE}}: passes its check", "Накопитель {{#DEVICE}}: самопроверка пройдена"),
        "stend_disk_healthy{@}",
        Then::Keep,
        "",
    ),
    item(
        "drive.warning",
        || say!("Drive {{#DEVICE}}: bits of its warning", "Накопитель {{#DEVICE}}: биты предупреждения"),
        "stend_disk_critical_warning{@}",
        Then::Keep,
        "",
    ),
    item(
        "drive.wear",
        || say!("Drive {{#DEVICE}}: endurance used", "Накопитель {{#DEVICE}}: израсходованный ресурс"),
        "stend_disk_wear_ratio{@}",
        Then::Percent,
        "%",
    ),
    item(
        "drive.media.errors",
        || say!("Drive {{#DEVICE}}: media errors", "Накопитель {{#DEVICE}}: ошибки носителя"),
        "stend_disk_media_errors_total{@}",
        Then::Keep,
        "",
    ),
    item(
        // A count that goes back is of another drive: Zabbix drops that change.
        "drive.media.rate",
        || say!("Drive {{#DEVICE}}: new media errors", "Накопитель {{#DEVICE}}: новые ошибки носителя"),
        "stend_disk_media_errors_total{@}",
        Then::PerSecond,
        "/s",
    ),
];

const DRIVE_TRIGGERS: &[Trigger] = &[
    Trigger {
        name: || say!("Drive {{#DEVICE}} fails by its own word", "Накопитель {{#DEVICE}} сам сообщает о неисправности"),
        // What the journal says: a drive that is only too warm does not pass its check either.
        expression: "last((drive.failing))=1",
        priority: "HIGH",
    },
    Trigger {
        name: || say!("Drive {{#DEVICE}} is critically hot", "Накопитель {{#DEVICE}} критически перегрет"),
        expression: "last((drive.temperature))>=last((drive.temperature.critical))",
        priority: "HIGH",
    },
    Trigger {
        name: || say!("Drive {{#DEVICE}} is too warm", "Накопитель {{#DEVICE}} перегрет"),
        expression: "last((drive.temperature))>=last((drive.temperature.limit))",
        priority: "WARNING",
    },
    Trigger {
        name: || say!("Drive {{#DEVICE}} is almost worn", "Ресурс накопителя {{#DEVICE}} почти исчерпан"),
        expression: "last((drive.wear))>=90 and last((drive.wear))<100",
        priority: "WARNING",
    },
    Trigger {
        name: || say!("Drive {{#DEVICE}} is worn out", "Ресурс накопителя {{#DEVICE}} исчерпан"),
        expression: "last((drive.wear))>=100",
        priority: "HIGH",
    },
    Trigger {
        name: || say!("Drive {{#DEVICE}}: more media errors", "Накопитель {{#DEVICE}}: новые ошибки носителя"),
        expression: "max((drive.media.rate),1h)>0",
        priority: "WARNING",
    },
];

const PORT: &[Item] = &[
    item(
        "port.received",
        || say!("Port {{#DEVICE}}: received", "Порт {{#DEVICE}}: принято"),
        "node_network_receive_bytes_total{@}",
        Then::PerSecond,
        "Bps",
    ),
    item(
        "port.sent",
        || say!("Port {{#DEVICE}}: sent", "Порт {{#DEVICE}}: передано"),
        "node_network_transmit_bytes_total{@}",
        Then::PerSecond,
        "Bps",
    ),
    item(
        "port.errors",
        || say!("Port {{#DEVICE}}: bad packets received", "Порт {{#DEVICE}}: принято повреждённых пакетов"),
        "node_network_receive_errs_total{@}",
        Then::PerSecond,
        "/s",
    ),
];

const SHARE: &[Item] = &[
    item(
        "share.read",
        || say!("NFS {{#MOUNT}}: read", "NFS {{#MOUNT}}: чтение"),
        "stend_nfs_mount_read_bytes_total{@}",
        Then::PerSecond,
        "Bps",
    ),
    item(
        "share.written",
        || say!("NFS {{#MOUNT}}: written", "NFS {{#MOUNT}}: запись"),
        "stend_nfs_mount_written_bytes_total{@}",
        Then::PerSecond,
        "Bps",
    ),
    sum(
        "share.requests",
        || say!("NFS {{#MOUNT}}: requests", "NFS {{#MOUNT}}: запросы"),
        "stend_nfs_mount_requests_total{@}",
        Then::PerSecond,
        "/s",
    ),
    item(
        "share.sent",
        || say!("NFS {{#MOUNT}}: requests on the wire", "NFS {{#MOUNT}}: отправлено запросов"),
        "stend_nfs_mount_connection_sent_total{@}",
        Then::PerSecond,
        "/s",
    ),
    item(
        "share.answered",
        || say!("NFS {{#MOUNT}}: answers", "NFS {{#MOUNT}}: получено ответов"),
        "stend_nfs_mount_connection_answered_total{@}",
        Then::PerSecond,
        "/s",
    ),
];

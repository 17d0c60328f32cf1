//! The keys of applications. Data only; must not parse.

use super::rate::{LIMIT, RATE};
use super::{Choice, Limits, Mapping, Shape, optional, required, words};
use crate::app::Program;
use stend_base::{Bytes, Millionths, Nanos};

/// What runs.
pub const PROGRAMS: &[Choice<Program>] = &[
    (
        "sysbench-postgresql",
        "PostgreSQL, one server per instance, under sysbench's `oltp_read_write` through a unix socket",
        Program::SysbenchPostgresql,
    ),
    ("sysbench-mariadb", "MariaDB, likewise", Program::SysbenchMariadb),
    (
        "nginx-wrk",
        "nginx, one process per instance with files of 16 KiB, under wrk, which requests them at random over a free loopback port",
        Program::NginxWrk,
    ),
];
/// Instances; each is two processes and more.
pub const INSTANCES: Limits<u32> = Limits { least: 1, most: 1000 };
/// Data of an instance.
pub const DATA: Limits<Bytes> = Limits { least: Bytes::mib(1), most: Bytes::gib(1024) };
/// Connections of a client.
pub const CLIENTS: Limits<u32> = Limits { least: 1, most: 1000 };
/// CPUs, in thousandths.
pub const CPU: Limits<u32> = Limits { least: 10, most: 1_000_000 };
/// Memory; servers do not start with less.
pub const MEMORY: Limits<Bytes> = Limits { least: Bytes::mib(16), most: Bytes::gib(1024) };
/// I/Os per second.
pub const IOPS: Limits<u32> = Limits { least: 1, most: 10_000_000 };
/// The percentile of the objective.
pub const QUANTILE: Limits<Millionths> = Limits { least: Millionths::percent(50), most: Millionths::percent(99) };
/// Parts of rates and windows.
pub const PART: Limits<Millionths> = Limits { least: Millionths::percent(1), most: Millionths::ALL };
/// A window; clients print whole seconds.
pub const SLO_WINDOW: Limits<Nanos> = Limits { least: Nanos::secs(1), most: Nanos::secs(3600) };

/// `application`.
pub const APPLICATION: Mapping = Mapping {
    en: "application",
    ru: "application",
    doc: "The load is instances of an application. Each is a server with its own data on the target and a client, in their own control group. Their number doubles until the objective breaks, then the gap is halved; the last two are tried three times. The programs are those of the host, found by PATH.",
    keys: &[
        required("run", Shape::Word(|| words(PROGRAMS)), "What runs."),
        required("instances", Shape::Map(&COUNT), "How many instances are tried."),
        required("data", Shape::Size(DATA, 1), "Approximate size of the data of each instance."),
        optional("clients", "8", Shape::Whole(CLIENTS), "Connections of each client."),
        optional(
            "rate",
            "none",
            Shape::Either(&[
                Shape::Word(|| vec![("none", "a closed loop: as many transactions as the connections can do")]),
                Shape::Rate(RATE),
            ]),
            "Transactions per second that each client offers, whether earlier ones have ended or not. Not with `nginx-wrk`, whose client has no rate.",
        ),
        optional(
            "limits",
            "none",
            Shape::Either(&[
                Shape::Word(|| vec![("none", "an instance may take all of the machine")]),
                Shape::Map(&LIMITS),
            ]),
            "Resource limits of each instance, server and client together, by control groups (version 1 or 2); needs root.",
        ),
        required("slo", Shape::Map(&SLO), "What must hold for every instance."),
    ],
};

/// `instances`.
pub const COUNT: Mapping = Mapping {
    en: "instances",
    ru: "instances",
    doc: "Neighbouring numbers differ by one, above 66 by 3 %.",
    keys: &[
        optional("from", "1", Shape::Whole(INSTANCES), "Fewest, tried first."),
        required("to", Shape::Whole(INSTANCES), "Most."),
    ],
};

/// `limits`.
pub const LIMITS: Mapping = Mapping {
    en: "limits",
    ru: "limits",
    doc: "Of each instance.",
    keys: &[
        required("cpu", Shape::Thousandths(CPU), "CPUs, e.g. `0.5`."),
        required("memory", Shape::Size(MEMORY, 1), "Memory, with the page cache of its data."),
        optional(
            "iops",
            "absent",
            Shape::Whole(IOPS),
            "Reads per second, and as many writes, on the whole disk of the target. With control groups of version 1 writeback by the kernel does not count.",
        ),
    ],
};

/// `slo`.
pub const SLO: Mapping = Mapping {
    en: "slo",
    ru: "slo",
    doc: "A window of an instance holds if its client printed no error, a percentile within `limit`, and with `rate` enough transactions; an instance holds if enough of its windows do; a number of instances holds if all of them do.",
    keys: &[
        required(
            "quantile",
            Shape::Share(QUANTILE),
            "The percentile, one that the client prints: whole per cent, with `nginx-wrk` 50, 75, 90 or 99.",
        ),
        required("limit", Shape::Span(LIMIT), "The most that it may be."),
        optional(
            "served",
            "95%",
            Shape::Share(PART),
            "Least part of `rate` that must be served, less an allowance for random arrivals (twice the square root of the number due in a window).",
        ),
        optional(
            "window",
            "30s",
            Shape::Span(SLO_WINDOW),
            "Length of a window, whole seconds; `trial` is a multiple of it.",
        ),
        optional("windows", "95%", Shape::Share(PART), "Least part of the windows that must hold."),
    ],
};

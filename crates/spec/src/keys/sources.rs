//! The keys of a file of sources. Data only; must not parse.

use super::{Choice, Limits, Mapping, Shape, optional, required, words};
use crate::sources::Several;
use stend_base::Nanos;

/// Sources of a file.
pub const SOURCES: Limits<usize> = Limits { least: 1, most: 32 };
/// Values of a source.
pub const VALUES: Limits<usize> = Limits { least: 1, most: 32 };
/// Time from one question to the next.
pub const EVERY: Limits<Nanos> = Limits { least: Nanos::millis(200), most: Nanos::secs(3600) };
/// How long an answer may take.
pub const LIMIT: Limits<Nanos> = Limits { least: Nanos::millis(100), most: Nanos::secs(3600) };
/// Time from one question to the next where the file has none (by eye: an array answers that without noticing).
pub const EVERY_DEFAULT: Nanos = Nanos::secs(5);
/// Longest answer that is waited for where the file has no limit.
pub const LIMIT_DEFAULT: Nanos = Nanos::secs(10);
/// Words of a command.
pub const COMMAND: Limits<usize> = Limits { least: 1, most: 64 };
/// Letters of a unit and of a meaning.
pub const TEXT: Limits<usize> = Limits { least: 1, most: 200 };
/// Factors of a value.
pub const FACTOR: Limits<u32> = Limits { least: 1, most: 1_000_000_000 };
/// One value of several.
pub const SEVERAL: &[Choice<Several>] = &[
    ("sum", "their sum", Several::Sum),
    ("mean", "their mean", Several::Mean),
    ("largest", "the largest", Several::Largest),
];

const WORD: Shape = Shape::Spelled("1 to 4096 bytes without control characters", "^[^\\u0000-\\u001f\\u007f]{1,4096}$");
const SHORT: Shape =
    Shape::Spelled("1 to 200 characters without control characters", "^[^\\u0000-\\u001f\\u007f]{1,200}$");
const HOST: Shape = Shape::Spelled("the name or address of a host", "^[^\\s-][^\\s]{0,254}$");
const URL: Shape =
    Shape::Spelled("`http://…` or `https://…` without user and password", "^https?://[^\\s@/?#]+([/?#][^\\s]*)?$");
const ABSOLUTE: Shape = Shape::Spelled("an absolute path", "^/[^\\u0000-\\u001f\\u007f]{0,4095}$");
const OID: Shape = Shape::Spelled("numbers with dots: `1.3.6.1.2.1.1.3.0`", "^\\.?[0-9]+(\\.[0-9]+)+$");
const POINTER: Shape =
    Shape::Spelled("a JSON pointer (RFC 6901): `/records/0/cpu`", "^(/[^\\u0000-\\u001f\\u007f]*)?$");

/// The whole file.
pub const FILE: Mapping = Mapping {
    en: "sources file",
    ru: "файл источников",
    doc: "Sources by their names. Keys beside `sources` hold for every source that has none of its own.",
    keys: &[
        required("sources", Shape::Named(&Shape::Map(&SOURCE), SOURCES), "The sources, by name."),
        optional("every", "5s", Shape::Span(EVERY), "As `every` of a source."),
    ],
};

/// A source.
pub const SOURCE: Mapping = Mapping {
    en: "a source",
    ru: "источник",
    doc: "What is asked, and what is taken from the answer: exactly one of `command`, `ssh`, `http` and `snmp`.",
    keys: &[
        optional(
            "command",
            "absent",
            Shape::Several(&WORD, COMMAND),
            "A program of your machine with its arguments, started without a shell: a name of `PATH`, or an absolute path. Its standard output is the answer.",
        ),
        optional("ssh", "absent", Shape::Map(&SSH), "A command on another host. Its standard output is the answer."),
        optional("http", "absent", Shape::Map(&HTTP), "An address that `curl` reads."),
        optional("snmp", "absent", Shape::Map(&SNMP), "An agent that `snmpget` of net-snmp asks."),
        optional("every", "5s", Shape::Span(EVERY), "Time from one question to the next."),
        optional(
            "limit",
            "`every`, at most 10s",
            Shape::Span(LIMIT),
            "How long an answer may take; one that takes longer is marked late.",
        ),
        required("values", Shape::Named(&Shape::Map(&VALUE), VALUES), "What is taken from each answer, by name."),
    ],
};

/// A command over `ssh`.
pub const SSH: Mapping = Mapping {
    en: "a command over `ssh`",
    ru: "команда по `ssh`",
    doc: "Keys, jump hosts and ports are those of your configuration of `ssh`.",
    keys: &[
        required("host", HOST, "What `ssh` knows it as."),
        required("command", WORD, "The command, as it is typed there."),
    ],
};

/// An address.
pub const HTTP: Mapping = Mapping {
    en: "an address",
    ru: "адрес",
    doc: "What `curl` reads.",
    keys: &[
        required("url", URL, "The address."),
        optional(
            "config",
            "absent",
            ABSOLUTE,
            "A file of options of `curl` (`--config`) for passwords, tokens and certificates: `user = \"monitor:…\"`, `header = \"Authorization: Bearer …\"`, `cacert = \"/etc/array.pem\"`. `~/.curlrc` is not read.",
        ),
    ],
};

/// An agent of SNMP.
pub const SNMP: Mapping = Mapping {
    en: "an agent",
    ru: "агент",
    doc: "What `snmpget` asks.",
    keys: &[
        required("host", HOST, "The agent: `array1`, `udp:10.0.0.7:161`."),
        optional(
            "config",
            "that of net-snmp",
            ABSOLUTE,
            "A directory with a file `snmp.conf`, which has the version (`defVersion 2c` or `3`) and what is secret (`defCommunity`; `defSecurityName`, `defAuthPassphrase`, `defPrivPassphrase`).",
        ),
    ],
};

/// A value.
pub const VALUE: Mapping = Mapping {
    en: "a value",
    ru: "значение",
    doc: "A number in the answer: exactly one of `pattern`, `json`, `prometheus` and `oid`. The answer of `snmp` has only `oid`s, no other answer has them.",
    keys: &[
        optional(
            "pattern",
            "absent",
            WORD,
            "A regular expression with one group, which is the number: `cpu_pc +([0-9.]+)`. The first match counts. `(?m)` has `^` and `$` mean lines.",
        ),
        optional("json", "absent", POINTER, "Where in a JSON document the number is."),
        optional(
            "prometheus",
            "absent",
            WORD,
            "A series of Prometheus's text format: `node_load1`, `disk_busy{device=\"sda\"}`. A series that has these labels, and perhaps others, counts; there must be one.",
        ),
        optional("oid", "absent", OID, "An object, in numbers."),
        optional(
            "several",
            "absent",
            Shape::Word(|| words(SEVERAL)),
            "One value of all matches of `pattern`, or of all series of `prometheus`.",
        ),
        required("unit", SHORT, "Its unit: `%`, `°C`, `MB/s`."),
        required("meaning", SHORT, "What it is; the name of its line in the report."),
        optional(
            "counter",
            "false",
            Shape::Bool,
            "The number counts up for ever. Its rate per second is shown, in `unit`; where it falls there is a gap.",
        ),
        optional("multiply", "1", Shape::Whole(FACTOR), "The number is multiplied by this."),
        optional(
            "divide",
            "1",
            Shape::Whole(FACTOR),
            "The number is divided by this: 100 for hundredths of a percent.",
        ),
    ],
};

/// Every mapping of the file, the whole first.
pub const ALL: &[&Mapping] = &[&FILE, &SOURCE, &SSH, &HTTP, &SNMP, &VALUE];

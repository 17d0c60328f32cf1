//! The keys of a file of receivers. Data only; must not parse.

use super::{Choice, Limits, Mapping, Shape, optional, required, words};
use crate::notify::{MessageLang, When};
use stend_base::Nanos;

/// Receivers of a file; each has a thread.
pub const RECEIVERS: Limits<usize> = Limits { least: 1, most: 32 };
/// Addresses of a mail.
pub const ADDRESSES: Limits<usize> = Limits { least: 1, most: 32 };
/// Time between two digests.
pub const DIGEST: Limits<Nanos> = Limits { least: Nanos::secs(60), most: Nanos::secs(7 * 86_400) };
/// Bytes of a text: an address, a user.
pub const TEXT: Limits<usize> = Limits { least: 1, most: 1024 };
/// Categories of the journal.
pub const CATEGORIES: [&str; 7] = ["node", "port", "path", "drive", "array", "pool", "temperature"];

/// Languages of a message.
pub const LANGS: &[Choice<MessageLang>] = &[
    ("en", "English", MessageLang::En),
    ("ru", "Russian", MessageLang::Ru),
    ("both", "English, then Russian", MessageLang::Both),
];
/// When a problem is sent.
pub const WHENS: &[Choice<When>] = &[
    ("now", "as soon as it opens, and when it closes", When::Now),
    ("digest", "with the next digest", When::Digest),
    ("never", "never", When::Never),
];
/// Whether a line must be encrypted.
pub const TLS: &[Choice<bool>] =
    &[("required", "without encryption nothing is sent", true), ("none", "the line is not encrypted", false)];

const LINE: Shape = Shape::Spelled("1 to 1024 bytes without control characters", "^[^\\u0000-\\u001f\\u007f]{1,1024}$");
const HTTP: Shape = Shape::Spelled("an address that begins with `http://` or `https://`", "^https?://[^\\s]{1,1000}$");
const SMTP: Shape = Shape::Spelled("`smtp://HOST:PORT` or `smtps://HOST:PORT`", "^smtps?://[^\\s]{1,1000}$");
const ADDRESS: Shape =
    Shape::Spelled("an address such as `ops@example.com`", "^[^\\s<>@,;\"]{1,200}@[^\\s<>@,;\"]{1,200}$");
const TIME: Shape = Shape::Spelled("a time of day such as `23:00`, in quotes", "^([01][0-9]|2[0-3]):[0-5][0-9]$");
const HIDDEN: Shape = Shape::Map(&SECRET);

/// The whole file.
pub const FILE: Mapping = Mapping {
    en: "file of receivers",
    ru: "файл получателей",
    doc: "Who hears of problems in the journal, and when.",
    keys: &[
        optional("lang", "en", Shape::Word(|| words(LANGS)), "Language of the messages."),
        optional("send", "{critical: now, warning: digest}", Shape::Map(&SEND), "When problems are sent, by severity."),
        optional("categories", "{}", Shape::Map(&BY_CATEGORY), "The same for single categories; comes before `send`."),
        optional("digest", "6h", Shape::Span(DIGEST), "Longest time that a problem waits for the next digest."),
        optional(
            "quiet",
            "absent",
            Shape::Map(&QUIET),
            "Hours in which only critical problems are sent. The rest comes in a digest after them.",
        ),
        required("receivers", Shape::Named(&Shape::Map(&RECEIVER), RECEIVERS), "The receivers, by name."),
        optional(
            "vendor",
            "absent",
            Shape::Map(&VENDOR),
            "A vendor who gets notices of problems, redacted, after a person has approved the first of each kind.",
        ),
    ],
};

/// `send`.
pub const SEND: Mapping = Mapping {
    en: "when to send",
    ru: "когда отправлять",
    doc: "When problems of a severity are sent.",
    keys: &[
        optional("critical", "now", Shape::Word(|| words(WHENS)), "Data or service are at risk."),
        optional("warning", "digest", Shape::Word(|| words(WHENS)), "Performance or a reserve suffers."),
    ],
};

const fn category(name: &'static str, doc: &'static str) -> super::Key {
    optional(name, "as `send`", Shape::Map(&SEND), doc)
}

/// `categories`.
pub const BY_CATEGORY: Mapping = Mapping {
    en: "categories",
    ru: "категории",
    doc: "Categories of the journal.",
    keys: &[
        category("node", "The machine: CPUs, memory."),
        category("port", "Network interfaces."),
        category("path", "Ways to drives, and PCIe links."),
        category("drive", "Drives."),
        category("array", "Arrays of md."),
        category("pool", "Pools of ZFS."),
        category("temperature", "Temperatures."),
    ],
};

/// `quiet`.
pub const QUIET: Mapping = Mapping {
    en: "quiet hours",
    ru: "тихие часы",
    doc: "Hours by the local time of this host; they may go over midnight.",
    keys: &[required("from", TIME, "They begin."), required("to", TIME, "They end.")],
};

/// A receiver.
pub const RECEIVER: Mapping = Mapping {
    en: "receiver",
    ru: "получатель",
    doc: "Exactly one of these.",
    keys: &[
        optional("mail", "absent", Shape::Map(&MAIL), "By mail."),
        optional("telegram", "absent", Shape::Map(&TELEGRAM), "By a bot of Telegram."),
        optional(
            "mattermost",
            "absent",
            Shape::Map(&MATTERMOST),
            "By an incoming webhook of Mattermost, Slack or Rocket.Chat.",
        ),
        optional("alertmanager", "absent", Shape::Map(&ALERTMANAGER), "To an Alertmanager of Prometheus (API v2)."),
        optional("webhook", "absent", Shape::Map(&WEBHOOK), "As JSON to any address."),
        optional("syslog", "absent", Shape::Map(&SYSLOG), "To the log of this host; journald takes it from there."),
        optional("snmp", "absent", Shape::Map(&SNMP), "By a trap of SNMP."),
    ],
};

/// `mail`.
pub const MAIL: Mapping = Mapping {
    en: "mail",
    ru: "почта",
    doc: "Mail by a server (the program `curl` speaks SMTP with it), or without `server` by the program `sendmail`.",
    keys: &[
        required("to", Shape::Several(&ADDRESS, ADDRESSES), "Addresses."),
        required("from", ADDRESS, "The sender."),
        optional("server", "absent", SMTP, "The server; port 25, 465 or 587."),
        optional(
            "tls",
            "required",
            Shape::Word(|| words(TLS)),
            "Whether `smtp://` must change to encryption (STARTTLS).",
        ),
        optional("user", "absent", LINE, "The user that the server asks for."),
        optional("password", "absent", HIDDEN, "Its password."),
    ],
};

/// `telegram`.
pub const TELEGRAM: Mapping = Mapping {
    en: "telegram",
    ru: "telegram",
    doc: "A bot that is in the chat.",
    keys: &[
        required("chat", LINE, "Number of the chat in quotes, or `@name` of a channel."),
        required("token", HIDDEN, "Token of the bot, from @BotFather."),
        optional("url", "https://api.telegram.org", HTTP, "Address of the API, or of a server between."),
    ],
};

/// `mattermost`.
pub const MATTERMOST: Mapping = Mapping {
    en: "mattermost",
    ru: "mattermost",
    doc: "An incoming webhook.",
    keys: &[required("url", HIDDEN, "Its address, which lets its reader write to the channel.")],
};

/// `alertmanager`.
pub const ALERTMANAGER: Mapping = Mapping {
    en: "alertmanager",
    ru: "alertmanager",
    doc: "An Alertmanager.",
    keys: &[required("url", HTTP, "Its address, without `/api/v2`.")],
};

/// `webhook`.
pub const WEBHOOK: Mapping = Mapping {
    en: "webhook",
    ru: "вебхук",
    doc: "An address that takes JSON.",
    keys: &[
        required("url", HTTP, "The address."),
        optional("token", "absent", HIDDEN, "Sent as `Authorization: Bearer TOKEN`."),
    ],
};

/// `syslog`.
pub const SYSLOG: Mapping = Mapping {
    en: "syslog",
    ru: "syslog",
    doc: "The log of this host.",
    keys: &[optional("socket", "/dev/log", LINE, "Its socket.")],
};

/// `snmp`.
pub const SNMP: Mapping = Mapping {
    en: "snmp",
    ru: "snmp",
    doc: "Traps by the program `snmptrap`: version 2c with `community`, version 3 with `user`. The MIB is `stend monitoring snmp/STEND-MIB.txt`.",
    keys: &[
        required("to", LINE, "`HOST` or `HOST:PORT` (162)."),
        optional("community", "absent", HIDDEN, "Community of version 2c."),
        optional("user", "absent", LINE, "User of version 3 (SHA, AES)."),
        optional("auth", "absent", HIDDEN, "Its password for authentication, 8 letters at least."),
        optional("privacy", "absent", HIDDEN, "Its password for encryption, 8 letters at least."),
        optional(
            "inform",
            "true",
            Shape::Bool,
            "The receiver acknowledges (INFORM); version 3 needs it. A trap that is not acknowledged can be lost.",
        ),
    ],
};

/// Severities of the journal.
pub const SEVERITIES: &[Choice<bool>] =
    &[("critical", "data or service are at risk", true), ("warning", "performance or a reserve suffers", false)];
/// The same categories as words of a list.
pub const CATEGORY_WORDS: &[Choice<&str>] = &[
    ("node", "the machine: CPUs, memory", "node"),
    ("port", "network interfaces", "port"),
    ("path", "ways to drives, and PCIe links", "path"),
    ("drive", "drives", "drive"),
    ("array", "arrays of md", "array"),
    ("pool", "pools of ZFS", "pool"),
    ("temperature", "temperatures", "temperature"),
];

/// `vendor`.
pub const VENDOR: Mapping = Mapping {
    en: "vendor",
    ru: "производитель",
    doc: "Exactly one of `mail` and `webhook`. Names of hosts, serial numbers, addresses and paths are taken out of what is sent.",
    keys: &[
        optional("mail", "absent", Shape::Map(&MAIL), "By mail."),
        optional("webhook", "absent", Shape::Map(&WEBHOOK), "As JSON to the address of its tickets."),
        optional(
            "severities",
            "[critical]",
            Shape::Several(&Shape::Word(|| words(SEVERITIES)), Limits { least: 1, most: 2 }),
            "Which problems.",
        ),
        optional(
            "categories",
            "all",
            Shape::Several(&Shape::Word(|| words(CATEGORY_WORDS)), Limits { least: 1, most: 7 }),
            "Of which categories.",
        ),
        required("consent", Shape::Map(&AGREED), "Without it the file is refused."),
    ],
};

/// `consent`.
pub const AGREED: Mapping = Mapping {
    en: "consent",
    ru: "согласие",
    doc: "Who agrees that notices are sent, and to what.",
    keys: &[
        required("by", LINE, "Name of the customer who agrees."),
        required(
            "on",
            Shape::Spelled("a date such as `2026-11-29`", "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"),
            "The day of that.",
        ),
        required(
            "text",
            Shape::Spelled("the text of the consent", "^[^\\u007f]{1,1024}$"),
            "Word for word what is agreed to; the error that names a missing one prints it.",
        ),
    ],
};

/// A secret.
pub const SECRET: Mapping = Mapping {
    en: "secret",
    ru: "секрет",
    doc: "A secret never stands in the file: exactly one of these.",
    keys: &[
        optional("file", "absent", LINE, "The first line of this file."),
        optional("env", "absent", LINE, "This variable of the environment."),
    ],
};

/// Every mapping of the file, the whole first.
pub const ALL: &[&Mapping] = &[
    &FILE,
    &SEND,
    &BY_CATEGORY,
    &QUIET,
    &RECEIVER,
    &MAIL,
    &TELEGRAM,
    &MATTERMOST,
    &ALERTMANAGER,
    &WEBHOOK,
    &SYSLOG,
    &SNMP,
    &VENDOR,
    &AGREED,
    &SECRET,
];

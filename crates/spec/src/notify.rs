//! A file of receivers: who hears of problems in the journal, how, and when. Pure; must not send anything or read a secret.

use stend_base::Nanos;

/// All of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotifyFile {
    /// Languages of a message, in this order.
    pub lang: MessageLang,
    /// When which problem is sent.
    pub policy: Vec<Policy>,
    /// Time between two digests.
    pub digest: Nanos,
    /// Hours in which only critical problems are sent, the rest in the first digest after them.
    pub quiet: Option<Quiet>,
    /// One at least; names differ.
    pub receivers: Vec<Receiver>,
    /// A vendor who gets notices, with the consent to that.
    pub vendor: Option<Vendor>,
}

/// A vendor who gets notices of problems, redacted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vendor {
    /// How it gets them: by mail, or by a webhook of its tickets.
    pub way: Way,
    /// Which problems: those that are sent at once.
    pub policy: Vec<Policy>,
    /// Who has agreed to that.
    pub consent: Consent,
}

/// Consent in writing to what leaves the house.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consent {
    /// Who agrees.
    pub by: String,
    /// On which day, `2026-11-29`.
    pub on: String,
}

/// What a consent says word for word, in English or in Russian: what is sent, and what is not.
pub const CONSENT: [&str; 2] = [
    "I agree that Stend sends notices about problems of this host to the vendor named here: what the problem is, since when, what was seen, what to do, and the name of the device in the kernel. Names of hosts, serial numbers, addresses and paths are taken out.",
    "Я согласен, что Stend отправляет указанному здесь производителю сообщения о проблемах этой машины: в чём проблема, с какого времени, что замечено, что делать и имя устройства в ядре. Имена машин, серийные номера, адреса и пути из них убраны.",
];

/// Languages of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MessageLang {
    /// English.
    #[default]
    En,
    /// Russian.
    Ru,
    /// English, then Russian.
    Both,
}

/// When problems of a category and a severity are sent; of several that fit the last one counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// A word of the journal; `None`: every category.
    pub category: Option<&'static str>,
    /// Whether it is about critical problems, or about warnings.
    pub is_critical: bool,
    /// When.
    pub when: When,
}

/// When a problem is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// As soon as it opens or closes.
    Now,
    /// With the next digest.
    Digest,
    /// Never.
    Never,
}

/// Hours of a day by local time, in minutes since midnight; they may go over midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quiet {
    /// First minute.
    pub from: u16,
    /// The first minute after them.
    pub to: u16,
}

/// Who gets the messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receiver {
    /// As the user calls it.
    pub name: String,
    /// How.
    pub way: Way,
}

/// How a receiver gets them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// By mail.
    Mail(Mail),
    /// By a bot of Telegram.
    Telegram {
        /// Number or name of the chat.
        chat: String,
        /// Token of the bot.
        token: Secret,
        /// Address of its API.
        url: String,
    },
    /// By an incoming webhook of Mattermost, or of what takes the same (Slack, Rocket.Chat).
    Mattermost {
        /// Its address, which is a secret.
        url: Secret,
    },
    /// By the API of an Alertmanager, version 2.
    Alertmanager {
        /// Address without the path.
        url: String,
    },
    /// The problems as JSON, by POST.
    Webhook {
        /// Where to.
        url: String,
        /// Sent as `Authorization: Bearer …`.
        token: Option<Secret>,
    },
    /// The log of this host, from which journald takes it, too.
    Syslog {
        /// Its socket.
        socket: String,
    },
    /// A trap of SNMP.
    Snmp(Snmp),
}

/// A mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mail {
    /// Who gets it.
    pub to: Vec<String>,
    /// Who it is from.
    pub from: String,
    /// How it leaves this host.
    pub by: MailBy,
}

/// How a mail leaves this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MailBy {
    /// `sendmail` of this host, which has a queue of its own.
    Sendmail,
    /// A server that speaks SMTP.
    Server {
        /// `smtp://HOST:PORT` or `smtps://HOST:PORT`.
        url: String,
        /// Whether the line must be encrypted.
        tls: bool,
        /// User and password.
        login: Option<(String, Secret)>,
    },
}

/// A trap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snmp {
    /// `HOST` or `HOST:PORT`.
    pub to: String,
    /// Who it is from.
    pub user: SnmpUser,
    /// The receiver acknowledges it; without that a trap that is lost is lost.
    pub inform: bool,
}

/// Who a trap is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SnmpUser {
    /// Version 2c.
    Community(Secret),
    /// Version 3 with authentication and encryption (SHA, AES).
    User {
        /// Its name.
        name: String,
        /// Password of the authentication.
        auth: Secret,
        /// Password of the encryption.
        privacy: Secret,
    },
}

/// Something that does not stand in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Secret {
    /// The first line of a file.
    File(String),
    /// A variable of the environment.
    Env(String),
}

impl Quiet {
    /// Whether this minute of the day is quiet.
    pub fn holds(&self, minute: u16) -> bool {
        match self.from <= self.to {
            true => (self.from..self.to).contains(&minute),
            false => minute >= self.from || minute < self.to,
        }
    }
}

impl NotifyFile {
    /// When a problem of this category and severity is sent.
    pub fn when(&self, category: &str, is_critical: bool) -> When {
        let fits =
            |policy: &&Policy| policy.is_critical == is_critical && policy.category.is_none_or(|of| of == category);
        self.policy.iter().rev().find(fits).map_or(When::Digest, |policy| policy.when)
    }
}

//! What `stend doctor` and `stend inspect` find, and what went wrong, for machines.

use serde::Serialize;
use stend_base::{Error, Say};
use stend_record::{Checkup, CheckupItem, Inventory, TargetFacts};

/// Raised when a field changes its meaning or goes away; new fields do not raise it.
const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    schema_version: u32,
    /// Nothing must be cured first.
    ready: bool,
    items: &'a [CheckupItem],
}

/// A host of several, and what it said of what was asked.
#[derive(Clone, Copy, Serialize)]
pub struct OfHost<'a> {
    /// As `ssh` knows it.
    pub host: &'a str,
    /// Whether it can measure.
    pub checkup: Option<&'a Checkup>,
    /// Its storage.
    pub inventory: Option<&'a Inventory>,
    /// A target on it.
    pub target: Option<&'a TargetFacts>,
    /// Why it said nothing.
    pub error: Option<&'a Error>,
}

/// What several hosts said.
#[derive(Serialize)]
struct Hosts<'a> {
    schema: &'static str,
    schema_version: u32,
    /// In the order in which they were named.
    hosts: &'a [OfHost<'a>],
}

/// What several hosts said as JSON, indented, with a line feed at the end.
pub fn hosts_json(hosts: &[OfHost<'_>]) -> String {
    crate::json::pretty(&Hosts { schema: "stend-hosts", schema_version: SCHEMA_VERSION, hosts })
}

/// What a command that fails prints to the standard error with `--json`, on one line.
#[derive(Serialize)]
struct Failure<'a> {
    error: &'a Error,
    exit_code: u8,
}

/// An error as JSON on one line, without a line feed.
pub fn error_json(error: &Error) -> String {
    // Strings and a number: there is no case in which they cannot be written.
    serde_json::to_string(&Failure { error, exit_code: error.kind.exit_code() }).unwrap_or_default()
}

/// A checkup as JSON, indented, with a line feed at the end.
pub fn doctor_json(checkup: &Checkup) -> String {
    let ready = checkup.musts() == 0;
    let items = &checkup.items;
    crate::json::pretty(&Document { schema: "stend-checkup", schema_version: SCHEMA_VERSION, ready, items })
}

/// What `stend serve` says when it begins.
#[derive(Serialize)]
pub struct Serving<'a> {
    schema: &'static str,
    schema_version: u32,
    /// Where it answers.
    url: &'a str,
    /// All addresses where it answers, that one first.
    urls: &'a [String],
    /// The token, if it was made now: it is shown once.
    token: Option<&'a str>,
    /// A link that signs one browser in within an hour, if the token was made now.
    link: Option<&'a str>,
    /// What the server proves itself with; without TLS nothing.
    certificate: Option<ServingCertificate>,
}

/// The certificate of a server that begins.
#[derive(Serialize)]
pub struct ServingCertificate {
    /// Its SHA-256, as `sha256:` and bytes with colons between them.
    pub fingerprint: String,
    /// Whether the server made it itself.
    pub is_own: bool,
    /// File of the own certificate, without the key.
    pub file: Option<String>,
    /// Names and addresses that it is for.
    pub names: Vec<String>,
    /// Last second of its validity, since 1970.
    pub ends_unix: i64,
    /// What an admin should do something about, such as an end within 14 days.
    pub warning: Option<Say>,
}

impl<'a> Serving<'a> {
    /// A server that answers at these addresses.
    pub fn new(
        url: &'a str,
        urls: &'a [String],
        token: Option<&'a str>,
        link: Option<&'a str>,
        certificate: Option<ServingCertificate>,
    ) -> Serving<'a> {
        Serving { schema: "stend-serving", schema_version: SCHEMA_VERSION, url, urls, token, link, certificate }
    }
}

/// Where a server answers, and its token if it is new, as JSON, indented, with a line feed at the end.
pub fn serving_json(serving: &Serving) -> String {
    crate::json::pretty(serving)
}

/// The storage of a host as JSON, indented, with a line feed at the end.
pub fn inventory_json(inventory: &Inventory) -> String {
    crate::json::pretty(inventory)
}

/// The facts of a target as JSON, indented, with a line feed at the end.
pub fn inspect_json(facts: &TargetFacts) -> String {
    crate::json::pretty(facts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use expect_test::expect_file;
    use stend_base::{FilePosition, say};
    use stend_record::{Level, Refusal, Signature, WriteAccess};

    #[test]
    fn the_machine_form_of_a_checkup_is_stable() {
        let item = |id: &str, level, cure: Option<&str>| CheckupItem {
            id: id.into(),
            level,
            found: say!("found", "найдено"),
            affects: Say::same(""),
            cure: cure.map(String::from),
        };
        let items =
            vec![item("io_uring", Level::Ok, None), item("proc", Level::Must, Some("mount -t proc proc /proc"))];
        expect_file!["../tests/golden/checkup.json"].assert_eq(&doctor_json(&Checkup { items }));
        assert!(doctor_json(&Checkup::default()).contains("\"ready\": true"));
    }

    #[test]
    fn the_machine_form_of_several_hosts_is_stable() {
        let checkup = Checkup { items: Vec::new() };
        let error = Error::host_lost(say!("no route", "нет пути"));
        let none = OfHost { host: "db1", checkup: None, inventory: None, target: None, error: None };
        let hosts = [OfHost { checkup: Some(&checkup), ..none }, OfHost { host: "db2", error: Some(&error), ..none }];
        expect_file!["../tests/golden/hosts.json"].assert_eq(&hosts_json(&hosts));
    }

    #[test]
    fn the_machine_form_of_what_a_server_says_is_stable() {
        let urls = ["https://192.0.2.7:8421/", "https://db1:8421/"].map(String::from);
        let certificate = ServingCertificate {
            fingerprint: "sha256:00:FF".into(),
            is_own: true,
            file: Some("/var/lib/stend/server/certificate.pem".into()),
            names: vec!["192.0.2.7".into(), "db1".into()],
            ends_unix: 1_867_190_400,
            warning: Some(say!("the certificate ends", "сертификат кончается")),
        };
        let (token, link) = (Some("stend_00"), Some("https://192.0.2.7:8421/login#code=once_00"));
        let told = serving_json(&Serving::new(&urls[0], &urls, token, link, Some(certificate)));
        expect_file!["../tests/golden/serving.json"].assert_eq(&told);
        assert!(serving_json(&Serving::new("http://a/", &[], None, None, None)).contains("\"token\": null"));
    }

    #[test]
    fn an_error_is_one_line_with_its_exit_code() {
        let place = FilePosition { file: "s.yaml".into(), line: 4, column: Some(7) };
        let error = Error::at(place, &say!("no room", "нет места")).hint(say!("make room", "освободите место"));
        expect_file!["../tests/golden/error.json"].assert_eq(&(error_json(&error) + "\n"));
    }

    #[test]
    fn the_machine_form_of_a_target_is_stable() {
        let mut facts = fixture::target();
        facts.access = WriteAccess::Refused(vec![Refusal::Mounted { at: "/var/tmp".into() }, Refusal::ReadOnly]);
        facts.signatures = vec![Signature { name: "ext4".into(), offset: 1080, label: Some("data".into()) }];
        expect_file!["../tests/golden/target.json"].assert_eq(&inspect_json(&facts));
    }
}

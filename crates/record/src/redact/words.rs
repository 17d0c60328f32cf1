//! Secrets in texts: what looks like a path or an address, and how stand-ins are put in.

use super::Secret;
use std::collections::BTreeMap;

/// Below these lies what every Linux has, and nothing of the user's.
const PUBLIC: [&str; 7] = ["/sys/", "/proc/", "/etc/", "/usr/", "/bin/", "/sbin/", "/lib/"];

/// Whether a path says nothing of the machine it is on: `/`, system files, and devices by their kernel names.
pub fn is_public(path: &str) -> bool {
    let kernel_name = path.strip_prefix("/dev/").is_some_and(|name| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') && !name.starts_with("disk-")
    });
    !path.contains('/') || path == "/" || kernel_name || PUBLIC.iter().any(|public| path.starts_with(public))
}

/// The part of an identity that names one thing alone: `wwn:0x5000…` without `wwn:`, `dm:mpath-3600…` without `dm:mpath-`, by which the
/// kind of a mapping is known.
pub fn secret_part(identity: &str) -> &str {
    let (kind, rest) = identity.split_once(':').unwrap_or(("", identity));
    match kind {
        // Where on the machine a loop device or a partition is says nothing of the user.
        "loop" => "",
        "dm" => {
            let prefixes = [crate::facts::STAND_PATHS, "mpath-", "LVM-", "CRYPT-", "STEND-"];
            prefixes.iter().find_map(|prefix| rest.strip_prefix(prefix)).unwrap_or(rest)
        }
        _ => rest,
    }
}

/// The host of an address: `nas` of `https://nas:8443/api`, `bob@nas` and `udp:nas:161`.
pub fn host_of(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let rest = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    let rest = ["udp:", "tcp:"].iter().find_map(|way| rest.strip_prefix(way)).unwrap_or(rest);
    match rest.rsplit_once(':') {
        Some((host, port)) if port.parse::<u16>().is_ok() && !host.ends_with(':') => host,
        _ => rest,
    }
}

/// Paths and addresses in a text.
pub fn found(text: &str) -> Vec<(Secret, String)> {
    let mut all: Vec<(Secret, String)> = paths(text).into_iter().map(|path| (Secret::Path, path)).collect();
    let apart = |c: char| c.is_whitespace() || "'\"`,;()[]{}<>|=".contains(c);
    all.extend(text.split(apart).filter_map(address).map(|address| (Secret::Address, address)));
    all
}

/// Absolute paths that say something of the machine.
fn paths(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut before = ' ';
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        before = rest[..at].chars().next_back().unwrap_or(before);
        let ends = |c: char| c.is_whitespace() || "'\"`,;:()[]{}<>|*…".contains(c);
        let path = &rest[at..];
        let path = &path[..path.find(ends).unwrap_or(path.len())];
        let begins = !(before.is_alphanumeric() || matches!(before, '.' | '_' | '-' | '/' | ')' | '%' | '*' | '…'));
        let whole = path.trim_end_matches(['.', '/', '!', '?']);
        if begins
            && whole.len() > 1
            && whole[1..].starts_with(|c: char| c.is_alphanumeric() || c == '.' || c == '_')
            && !is_public(whole)
        {
            all.push(whole.to_string());
        }
        before = path.chars().next_back().unwrap_or('/');
        rest = &rest[at + path.len()..];
    }
    all
}

/// A word that is an address: IPv4 or IPv6, with a port or without, a MAC, `user@host`, the name of an iSCSI or NVMe target.
fn address(word: &str) -> Option<String> {
    let word = word.trim_matches(|c: char| matches!(c, '.' | ':' | '!' | '?'));
    let is_name = ["iqn.", "nqn.", "eui.", "naa."].iter().any(|prefix| word.starts_with(prefix));
    let is_user = word.split_once('@').is_some_and(|(user, host)| {
        let plain = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || ".-_".contains(c));
        plain(user) && plain(host)
    });
    let host = word.split(['/', '%']).next().unwrap_or(word);
    (is_name || is_user || is_ipv4(host) || is_ipv6(host)).then(|| word.to_string())
}

fn is_ipv4(word: &str) -> bool {
    let (host, port) = word.split_once(':').unwrap_or((word, "0"));
    let octets: Vec<&str> = host.split('.').collect();
    octets.len() == 4 && octets.iter().all(|octet| octet.parse::<u8>().is_ok()) && port.parse::<u16>().is_ok()
}

/// Groups of hexadecimal digits: eight, or fewer around `::`, or the six pairs of a MAC.
fn is_ipv6(word: &str) -> bool {
    let groups: Vec<&str> = word.split(':').collect();
    let hex = groups.iter().all(|group| group.len() <= 4 && group.chars().all(|c| c.is_ascii_hexdigit()));
    let is_mac = groups.len() == 6 && groups.iter().all(|group| group.len() == 2);
    let shortened = word.contains("::") && groups.len() >= 3 && groups.iter().any(|group| !group.is_empty());
    hex && (groups.len() == 8 || shortened || is_mac)
}

/// A text with every known word replaced, the longest first; a word inside a longer word stays.
pub fn replaced(text: &str, known: &BTreeMap<String, (Secret, String)>) -> String {
    let mut words: Vec<(&String, &(Secret, String))> =
        known.iter().filter(|(word, _)| text.contains(word.as_str())).collect();
    words.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = ' ';
    while let Some(next) = rest.chars().next() {
        let here = words.iter().find(|(word, (kind, _))| stands_alone(word, *kind, rest, before));
        let taken = match here {
            Some((word, (_, stand_in))) => {
                out.push_str(stand_in);
                word.len()
            }
            None => {
                out.push(next);
                next.len_utf8()
            }
        };
        before = rest[..taken].chars().next_back().unwrap_or(before);
        rest = &rest[taken..];
    }
    out
}

/// Whether `rest` begins with a word that is no part of a longer one. Below a path may lie more, and an identity has its kind before it.
fn stands_alone(word: &str, kind: Secret, rest: &str, before: char) -> bool {
    let Some(after) = rest.strip_prefix(word) else { return false };
    let inside = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let mut next = after.chars();
    let ends = match next.next() {
        Some('.') => !next.next().is_some_and(char::is_alphanumeric),
        Some(c) => !inside(c),
        None => true,
    };
    let begins = match kind {
        Secret::Path => !inside(before) && before != '/' && before != '.',
        Secret::Identity => !before.is_alphanumeric(),
        _ => !inside(before),
    };
    begins && ends
}

/// A command line with its options, and none of what they were given.
pub fn shape(command_line: &[String]) -> Vec<String> {
    let one = |(i, word): (usize, &String)| match (i, word.starts_with('-')) {
        (0, _) => "stend".to_string(),
        (1, _) => word.clone(),
        (_, true) => word.split('=').next().unwrap_or("…").to_string(),
        (_, false) => "…".to_string(),
    };
    command_line.iter().enumerate().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        found(text).into_iter().map(|(_, word)| word).collect()
    }

    #[test]
    fn paths_and_addresses_are_found_and_what_every_machine_has_is_not() {
        assert_eq!(words("cannot write `/srv/acme/a b`: full"), ["/srv/acme/a"]);
        assert_eq!(words("mounted at /srv/acme."), ["/srv/acme"]);
        assert_eq!(
            words("-o=/home/bob/x.stend, /dev/disk/by-id/wwn-0x5 and /dev/mapper/acme-db"),
            ["/home/bob/x.stend", "/dev/disk/by-id/wwn-0x5", "/dev/mapper/acme-db"]
        );
        assert_eq!(
            words("10.1.2.3:4420 and fe80::1 and 52:54:00:12:34:56 by bob@filer.acme.example"),
            ["10.1.2.3:4420", "fe80::1", "52:54:00:12:34:56", "bob@filer.acme.example"]
        );
        assert_eq!(words("nqn.2014-08.org.nvmexpress:uuid:1b4e28ba"), ["nqn.2014-08.org.nvmexpress:uuid:1b4e28ba"]);
        let public = "100 MB/s, read/write, 1/2, /dev/nvme0n1p2, /sys/block/sda/queue, /etc/fstab, /, loop:8:1:1234, 6.12.57, 0000:00:1f.2, 10:20:30, md://";
        assert_eq!(words(public), Vec::<String>::new());
    }

    #[test]
    fn stand_ins_replace_whole_words_and_the_longest_first() {
        let known = [("vm", "host-1"), ("/srv", "/path-1"), ("/srv/acme", "/path-2"), ("5000c5", "id-1")];
        let kind = |stand_in: &str| match stand_in.as_bytes() {
            [b'/', ..] => Secret::Path,
            [b'i', ..] => Secret::Identity,
            _ => Secret::Host,
        };
        let known = known.map(|(word, stand_in)| (word.to_string(), (kind(stand_in), stand_in.to_string()))).into();
        assert_eq!(
            replaced("vm: KVM, vm.dirty_ratio, vm. /srv/acme/data on /srv", &known),
            "host-1: KVM, vm.dirty_ratio, host-1. /path-2/data on /path-1"
        );
        assert_eq!(replaced("wwn:5000c5, 15000c5, /usr/srv", &known), "wwn:id-1, 15000c5, /usr/srv");
    }

    #[test]
    fn an_identity_keeps_its_kind() {
        let parts =
            ["wwn:0x5000c5", "serial:S4EV", "dm:mpath-3600a", "dm:LVM-abc", "loop:8:1:1234", "S1"].map(secret_part);
        assert_eq!(parts, ["0x5000c5", "S4EV", "3600a", "abc", "", "S1"]);
    }

    #[test]
    fn the_host_of_an_address_is_found_with_or_without_a_port() {
        let all = ["https://nas:8443/api", "http://nas/a?b", "bob@nas", "udp:nas:161", "nas"].map(host_of);
        assert_eq!(all, ["nas"; 5]);
    }

    #[test]
    fn of_a_command_line_its_options_are_left() {
        let line = ["/home/bob/stend", "run", "acme.yaml", "--on=/srv", "-o", "acme.stend"].map(String::from);
        assert_eq!(shape(&line), ["stend", "run", "…", "--on", "-o", "…"]);
    }
}

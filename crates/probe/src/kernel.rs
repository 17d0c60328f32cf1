//! `/proc/vmstat`, `/proc/net/dev` and `/proc/net/snmp` to numbers. Pure; anything that does not look as
//! documented is `None`.

use stend_record::sample::{NetworkCounters, Paging, TcpCounters, Traffic};

/// Most interfaces that are kept: a host of containers has one or two per container.
const INTERFACES_MAX: usize = 64;

/// Paging from `/proc/vmstat`. `None` without the counters of block devices, which every kernel has.
pub fn paging(text: &str, page_bytes: u64) -> Option<Paging> {
    let [mut read, mut written, mut swap_in, mut swap_out, mut kills, mut stalls] = [None::<u64>; 6];
    for line in text.lines() {
        let Some((name, value)) = line.split_once(' ') else { continue };
        let slot = match name {
            "pgpgin" => &mut read,
            "pgpgout" => &mut written,
            "pswpin" => &mut swap_in,
            "pswpout" => &mut swap_out,
            "oom_kill" => &mut kills,
            // One line per zone since 4.10.
            _ if name.starts_with("allocstall") => &mut stalls,
            _ => continue,
        };
        *slot = value.parse::<u64>().ok().map(|value| slot.unwrap_or(0).saturating_add(value));
    }
    let pages = |count: u64| count.saturating_mul(page_bytes);
    Some(Paging {
        // In KiB, whatever the size of a page (mm/vmstat.c).
        read_bytes: read?.saturating_mul(1024),
        write_bytes: written?.saturating_mul(1024),
        swap_in_bytes: swap_in.map(pages),
        swap_out_bytes: swap_out.map(pages),
        oom_kills: kills,
        allocation_stalls: stalls,
    })
}

/// Interfaces other than the loopback, from `/proc/net/dev`; where there are too many, ports of hardware (`is_port`) come first. `None` if a line is
/// malformed.
pub fn networks(text: &str, is_port: impl Fn(&str) -> bool) -> Option<Vec<NetworkCounters>> {
    // Two lines of headings.
    let lines = text.lines().skip(2).filter_map(|line| line.split_once(':'));
    let mut all: Vec<(&str, &str)> =
        lines.map(|(name, rest)| (name.trim(), rest)).filter(|(name, _)| *name != "lo").collect();
    if all.len() > INTERFACES_MAX {
        all.sort_by_cached_key(|(name, _)| !is_port(name));
        all.truncate(INTERFACES_MAX);
    }
    all.into_iter().map(network).collect()
}

fn network((name, rest): (&str, &str)) -> Option<NetworkCounters> {
    let fields: Vec<u64> = rest.split_ascii_whitespace().map(|f| f.parse().ok()).collect::<Option<_>>()?;
    // Eight fields for each direction; the first four are the same.
    let traffic = |at: usize| {
        let &[bytes, packets, errors, drops] = fields.get(at..at + 4)? else { return None };
        Some(Traffic { bytes, packets, errors, drops })
    };
    Some(NetworkCounters { name: name.to_string(), received: traffic(0)?, sent: traffic(8)? })
}

/// TCP segments from `/proc/net/snmp`, where a line of names comes before each line of numbers.
pub fn tcp(text: &str) -> Option<TcpCounters> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Tcp: "));
    let (names, values) = (lines.next()?, lines.next()?);
    let of = |wanted: &str| {
        let at = names.split_ascii_whitespace().position(|name| name == wanted)?;
        values.split_ascii_whitespace().nth(at)?.parse::<u64>().ok()
    };
    Some(TcpCounters { sent: of("OutSegs")?, sent_again: of("RetransSegs")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paging_counts_kibibytes_pages_and_zones() {
        let text = "pgpgin 4\npgpgout 2\npswpin 3\npswpout 1\noom_kill 5\nallocstall_dma 1\nallocstall_normal 2\n";
        let all = Paging {
            read_bytes: 4096,
            write_bytes: 2048,
            swap_in_bytes: Some(12_288),
            swap_out_bytes: Some(4096),
            oom_kills: Some(5),
            allocation_stalls: Some(3),
        };
        assert_eq!(paging(text, 4096), Some(all));
        let old = paging("pgpgin 4\npgpgout 2\n", 4096).unwrap();
        assert_eq!((old.swap_in_bytes, old.oom_kills, old.allocation_stalls), (None, None, None));
        assert_eq!(paging("pgpgin x\npgpgout 2\n", 4096), None);
    }

    const DEV: &str = "Inter-|   Receive |  Transmit\n face |bytes\n\
        lo: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n  eth0:392 11 1 2 0 0 0 0 618 65 3 4 0 0 0 0\n";

    #[test]
    fn interfaces_are_read_in_both_directions_and_the_loopback_is_not() {
        let networks = |text: &str| networks(text, |_| false);
        let found = networks(DEV).unwrap();
        let eth0 = NetworkCounters {
            name: "eth0".into(),
            received: Traffic { bytes: 392, packets: 11, errors: 1, drops: 2 },
            sent: Traffic { bytes: 618, packets: 65, errors: 3, drops: 4 },
        };
        assert_eq!(found, [eth0]);
        assert_eq!(networks(&DEV.replace("618", "x")), None);
        assert_eq!(networks(&DEV.replace(" 65 3 4 0 0 0 0", "")), None);
    }

    #[test]
    fn where_there_are_too_many_interfaces_none_of_a_container_takes_the_place_of_a_port() {
        let line = |name: &str| format!("{name}: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n");
        let text: String = (0..99).map(|number| line(&format!("veth{number}"))).chain([line("eth0")]).collect();
        let found = networks(&format!("Inter-|\n face |\n{text}"), |name| name.starts_with("eth")).unwrap();
        let names: Vec<&str> = found.iter().map(|network| network.name.as_str()).collect();
        assert_eq!((names.len(), &names[..3]), (INTERFACES_MAX, &["eth0", "veth0", "veth1"][..]));
    }

    #[test]
    fn segments_sent_again_are_found_by_name() {
        let text = "Ip: Forwarding\nIp: 2\nTcp: MaxConn OutSegs RetransSegs\nTcp: -1 5868 7\n";
        assert_eq!(tcp(text), Some(TcpCounters { sent: 5868, sent_again: 7 }));
        assert_eq!(tcp("Tcp: OutSegs RetransSegs\n"), None);
        assert_eq!(tcp("Tcp: OutSegs\nTcp: 1\n"), None);
    }
}

//! Links of the network that go down, delay or lose what they send, and what must not lose its way by that. Reads the machine; must not
//! change it.

use super::lower_devices::LowerDevices;
use crate::change::{Change, run};
use crate::roots::{Roots, names, number, text};
use crate::users::ancestors;
use stend_base::{Say, say};

type Found<T> = std::result::Result<T, Say>;

/// By this handle what was added is removed again, and nothing else; no tool gives it by itself, those begin with 8001.
const HANDLE: &str = "5e0d:";
/// Packets that wait in a delay: netem's own 1000 would lose what comes faster than a thousand in that time.
const WAITING: &str = "100000";
/// Kind of an interface that leads back to the host.
//= linux, include/uapi/linux/if_arp.h: "#define ARPHRD_LOOPBACK 772"
const LOOPBACK: u64 = 772;
//= linux, include/uapi/linux/if.h: IFF_UP
const UP: u64 = 1;

/// A link that is down.
pub(super) fn down(lower: &LowerDevices, link: &str) -> Found<Change> {
    must_be_up(lower.roots(), link)?;
    if is_loopback(lower.roots(), link) {
        return Err(say!(
            "{link} leads back to this host, which needs it: take `link.delay` or `link.loss`",
            "{link} ведёт обратно к этой машине и нужен ей: возьмите `link.delay` или `link.loss`"
        ));
    }
    must_be_spare(lower.roots(), link)?;
    forgets_nothing(link, &told(&["ip", "-o", "-4", "route", "show", "dev", link])?)?;
    forgets_nothing(link, &told(&["ip", "-o", "-6", "addr", "show", "dev", link, "scope", "global", "permanent"])?)?;
    let set = |word: &str| run("ip link set dev", &[link, word]);
    Ok(Change::unseen(Say::same(""), vec![set("down")], [set("up")]))
}

/// A link that delays, or loses: by these words for netem.
pub(super) fn shape(lower: &LowerDevices, link: &str, netem: &str) -> Found<Change> {
    must_be_up(lower.roots(), link)?;
    match is_loopback(lower.roots(), link) {
        true if !lower.uses_loopback() => {
            return Err(say!(
                "the stand of this run exports nothing over {link}: it needs `nvme_of: {{transport: tcp}}`, `iscsi` or `nfs`",
                "стенд этого прогона ничего не экспортирует через {link}: нужен слой `nvme_of: {{transport: tcp}}`, `iscsi` или `nfs`"
            ));
        }
        true => {}
        false => must_be_spare(lower.roots(), link)?,
    }
    if let Some(owner) = somebodys(&told(&["tc", "qdisc", "show", "dev", link])?) {
        return Err(say!(
            "{link} has a queue discipline that Stend could not restore: `{owner}`",
            "у {link} есть дисциплина очереди, которую Stend не сможет восстановить: `{owner}`"
        ));
    }
    can_shape(lower.roots())?;
    let mut apply = vec!["root", "handle", HANDLE, "netem", "limit", WAITING];
    apply.extend(netem.split(' '));
    let qdisc = |word: &str, more: &[&str]| run(&format!("tc qdisc {word} dev {link}"), more);
    let undo = qdisc("del", &["root", "handle", HANDLE]);
    Ok(Change::unseen(Say::same(""), vec![qdisc("add", &apply)], [undo]))
}

fn interface(roots: &Roots, link: &str) -> std::path::PathBuf {
    roots.sys.join("class/net").join(link)
}

fn is_loopback(roots: &Roots, link: &str) -> bool {
    number(interface(roots, link).join("type")) == Some(LOOPBACK)
}

fn must_be_up(roots: &Roots, link: &str) -> Found<()> {
    let flags = text(interface(roots, link).join("flags"));
    let flags = flags.as_deref().and_then(|flags| u64::from_str_radix(flags.trim_start_matches("0x"), 16).ok());
    match flags {
        None => Err(say!("there is no network interface {link}", "сетевого интерфейса {link} нет")),
        Some(flags) if flags & UP == 0 => Err(say!("{link} is down already", "{link} уже отключён")),
        Some(_) => Ok(()),
    }
}

/// This link reaches nobody outside, as far as the kernel shows: neither all others, nor users who work on this host now.
fn must_be_spare(roots: &Roots, link: &str) -> Found<()> {
    let carried = with_what_lies_on_it(roots, link);
    let carries = |other: &String| carried.contains(other);
    if let Some(out) = ways_out(roots).iter().find(|other| carries(other)) {
        return Err(say!(
            "the way to all other hosts (the default route) is over {out}",
            "путь ко всем остальным машинам (маршрут по умолчанию) идёт через {out}"
        ));
    }
    for session in sessions(roots) {
        let (from, to) = (session.from.as_str(), session.to.as_str());
        let told = [told(&["ip", "-o", "route", "get", from]), told(&["ip", "-o", "addr", "show", "to", to])];
        if told.iter().flatten().any(|told| carried.iter().any(|link| names_link(told, link))) {
            return Err(say!(
                "this host is reached from {from} over {link} (SSH_CONNECTION)",
                "через {link} к этой машине подключены с {from} (SSH_CONNECTION)"
            ));
        }
    }
    Ok(())
}

/// The link, and bridges, bonds and VLANs on it.
fn with_what_lies_on_it(roots: &Roots, link: &str) -> Vec<String> {
    let mut found = vec![link.to_string()];
    let mut next = 0;
    while let Some(link) = found.get(next).cloned() {
        let above = names(interface(roots, &link));
        let above = above.iter().filter_map(|name| name.strip_prefix("upper_")).map(str::to_string);
        let new: Vec<String> = above.filter(|name| !found.contains(name)).collect();
        found.extend(new);
        next += 1;
    }
    found
}

/// Links with a default route.
//= linux, net/ipv4/fib_trie.c, fib_route_seq_show(): "Iface Destination Gateway Flags RefCnt Use Metric Mask …", in hexadecimal
//= linux, net/ipv6/route.c: destination, length of its prefix, source, length, next hop, metric, references, use, flags, device
fn ways_out(roots: &Roots) -> Vec<String> {
    let four = text(roots.proc.join("net/route")).unwrap_or_default();
    let six = text(roots.proc.join("net/ipv6_route")).unwrap_or_default();
    let four = four.lines().filter_map(|line| match line.split_whitespace().collect::<Vec<_>>()[..] {
        [link, "00000000", _, _, _, _, _, "00000000", ..] => Some(link.to_string()),
        _ => None,
    });
    let six = six.lines().filter_map(|line| match line.split_whitespace().collect::<Vec<_>>()[..] {
        [to, "00", .., link] if link != "lo" && to.bytes().all(|digit| digit == b'0') => Some(link.to_string()),
        _ => None,
    });
    four.chain(six).collect()
}

/// Both ends of a connection by ssh that this process was started over.
struct Session {
    from: String,
    to: String,
}

/// Looks at this process and all its parents: `sudo` forgets it.
//= openssh, ssh(1): SSH_CONNECTION has client IP address, client port number, server IP address, and server port number
fn sessions(roots: &Roots) -> Vec<Session> {
    let processes = std::iter::once("self".to_string()).chain(ancestors(roots).map(|pid| pid.to_string()));
    let environments = processes.filter_map(|pid| std::fs::read(roots.proc.join(pid).join("environ")).ok());
    let mut found = Vec::new();
    for environment in environments {
        for variable in environment.split(|byte| *byte == 0) {
            let variable = String::from_utf8_lossy(variable);
            let Some(ends) = variable.strip_prefix("SSH_CONNECTION=") else { continue };
            if let [from, _, to, ..] = ends.split(' ').collect::<Vec<_>>()[..] {
                found.push(Session { from: from.to_string(), to: to.to_string() });
            }
        }
    }
    found
}

/// Whether `ip` names a link: as `dev eth0`, or `2: eth0    inet …`; VLANs as `eth0.7@eth0`.
fn names_link(told: &str, link: &str) -> bool {
    let words: Vec<&str> = told.split_whitespace().collect();
    let is_it = |word: &str| word.split('@').next() == Some(link);
    words.windows(2).any(|pair| (pair[0] == "dev" || pair[0].ends_with(':')) && is_it(pair[1]))
}

/// What the kernel forgets of a link that goes down, and does not put back by itself.
fn forgets_nothing(link: &str, told: &str) -> Found<()> {
    let lost = told.lines().map(str::trim).find(|line| !line.is_empty() && !line.contains(" proto kernel "));
    match lost {
        None => Ok(()),
        Some(lost) => {
            Err(say!("{link} would lose these settings: `{lost}`", "{link} потерял бы эти настройки: `{lost}`"))
        }
    }
}

/// A queue of a link that the kernel did not make by itself: those have no number, and what is only looked through on the way in stays.
//= linux, net/sched/sch_api.c, tc_fill_qdisc(): tcm_handle of a default queue is 0, of ingress and clsact ffff:
fn somebodys(told: &str) -> Option<&str> {
    told.lines().map(str::trim).find(|line| {
        let handle = line.split_whitespace().nth(2);
        handle.is_some_and(|handle| handle != "0:" && handle != "ffff:")
    })
}

/// Whether the kernel has netem, as far as can be seen without loading it.
fn can_shape(roots: &Roots) -> Found<()> {
    let is_built_in = || {
        let symbols = std::fs::read_to_string(roots.proc.join("kallsyms")).unwrap_or_default();
        symbols.contains(" netem_enqueue")
    };
    let can_be_loaded = || told(&["modprobe", "--dry-run", "--quiet", "sch_netem"]).is_ok();
    match roots.sys.join("module/sch_netem").is_dir() || can_be_loaded() || is_built_in() {
        true => Ok(()),
        false => Err(say!(
            "this kernel cannot delay or lose packets: it has no module `sch_netem`",
            "это ядро не умеет задерживать и терять пакеты: нет модуля `sch_netem`"
        )),
    }
}

fn told(words: &[&str]) -> Found<String> {
    crate::command::told(&words.iter().map(|word| word.to_string()).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests;

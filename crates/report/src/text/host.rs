//! A host at one moment on a terminal: what `stend top` draws. Must not keep anything between two pictures.

use super::grid::{Column, Row, grid};
use super::layout::{clean, paragraph, width as width_of};
use super::{Screen, screen};
use crate::figures::{NONE, utc};
use std::collections::BTreeMap;
use stend_analyse::host_rates::{DriveRates, HostRates, NetworkRates, NfsMountRates, available, frequency};
use stend_base::text::plural_ru;
use stend_base::{Bytes, Lang, Nanos, Say, format, say};
use stend_record::{Health, Parts};

/// Least devices that are shown, however low the terminal is.
const ROWS_LEAST: usize = 3;

/// Most shares of NFS that have a line, the busiest ones (by eye: drives come first).
const SHARES_MOST: usize = 4;

/// What a picture shows.
#[derive(Debug, Clone, Copy)]
pub struct HostView<'a> {
    /// Name of the host.
    pub host: &'a str,
    /// Wall clock of the picture, seconds since 1970 UTC.
    pub at_unix: i64,
    /// How long before the newest picture it was; zero: it is the newest.
    pub back: Nanos,
    /// It comes from a recording.
    pub recorded: bool,
    /// What happened in the last step.
    pub rates: &'a HostRates,
    /// Temperatures, frequencies and the cache of ZFS as they were last read.
    pub parts: &'a Parts,
    /// How often heat held CPUs back between the last two readings of those.
    pub throttled: u64,
    /// What drives said of themselves last, by kernel name.
    pub health: &'a BTreeMap<String, Health>,
    /// It stands on a terminal that takes keys.
    pub keys: bool,
}

/// The picture in at most `height` lines of `width` columns (40 and 10 at least).
pub fn host_text(view: &HostView, lang: Lang, (width, height): (usize, usize), colour: bool) -> String {
    let screen = screen(lang, width, colour);
    let mut lines = vec![screen.bold(&cut(&title(view, lang), screen.width))];
    let always = [cpus(view, lang), memory(view, lang), waits(view.rates, lang), network(view.rates, lang)];
    // The heading of the table, the keys, and the least devices have their lines. What else there is room for comes in this order: shares
    // of NFS, how many devices are left out, the caveat, an empty line.
    let spare = height.saturating_sub(1 + always.len() + 2 + ROWS_LEAST);
    let shares: Vec<String> = nfs(view.rates, lang).into_iter().take(spare).collect();
    let [has_more, has_note, has_gap] = [0, 1, 2].map(|before| spare.saturating_sub(shares.len()) > before);
    lines.extend(always.iter().chain(&shares).map(|line| cut(line, screen.width)));
    lines.extend(has_gap.then(String::new));
    let others = 2 + usize::from(has_more) + usize::from(has_note);
    let room = height.saturating_sub(lines.len() + others).max(ROWS_LEAST);
    let (shown, left_out) = busiest(&view.rates.drives, room);
    // A name that is broken takes the lines of others.
    lines.extend(table(&shown, view, &screen).lines().take(room.saturating_add(1)).map(str::to_string));
    if left_out > 0 && has_more {
        lines.push(screen.faint(&cut(more(left_out).get(lang), screen.width)));
    }
    if has_note {
        lines.push(screen.faint(&cut(caveat().get(lang), screen.width)));
    }
    if view.keys {
        lines.push(screen.faint(&cut(keys(view.recorded).get(lang), screen.width)));
    }
    lines.join("\n") + "\n"
}

/// A line that is no wider than the screen.
fn cut(line: &str, columns: usize) -> String {
    let line = clean(line);
    if width_of(&line) <= columns {
        return line;
    }
    let mut short = String::new();
    for letter in line.chars() {
        if width_of(&short) + width_of(&letter.to_string()) >= columns {
            break;
        }
        short.push(letter);
    }
    short + "…"
}

fn title(view: &HostView, lang: Lang) -> String {
    let (host, at) = (view.host, to_the_second(view.at_unix));
    let step = format::duration(view.rates.span, lang);
    let back = format::duration(view.back, lang);
    let text = match (view.back.0 > 0, view.recorded) {
        (true, _) => say!(
            "{host}  {at}, {back} before the newest, step {step}",
            "{host}  {at}, за {back} до последнего, шаг {step}"
        ),
        (false, true) => {
            say!("{host}  {at}, the end of the recording, step {step}", "{host}  {at}, конец записи, шаг {step}")
        }
        (false, false) => say!("{host}  {at}, now, step {step}", "{host}  {at}, сейчас, шаг {step}"),
    };
    text.get(lang).to_string()
}

/// A moment as `2026-11-28 01:42:05 UTC`.
fn to_the_second(unix: i64) -> String {
    let (minute, second) = (utc(unix), unix.rem_euclid(60));
    match minute.strip_suffix(" UTC") {
        Some(minute) => format!("{minute}:{second:02} UTC"),
        None => minute,
    }
}

fn share(value: Option<f64>, lang: Lang) -> String {
    value.map_or_else(|| NONE.to_string(), |value| format::percent(value, lang))
}

fn cpus(view: &HostView, lang: Lang) -> String {
    let rates = view.rates;
    let (busy, iowait, steal) =
        (share(rates.cpu_busy, lang), share(rates.cpu_iowait, lang), share(rates.cpu_steal, lang));
    let (heat, clock) = (heat(view, lang), clock(view, lang));
    say!(
        "CPU      {heat}busy {busy}, waiting for I/O {iowait}, hypervisor took {steal}{clock}",
        "Проц.    {heat}заняты {busy}, ждут ввод-вывод {iowait}, отнял гипервизор {steal}{clock}"
    )
    .get(lang)
    .to_string()
}

/// That heat held CPUs back: first in its line, so that a narrow terminal does not cut it off.
fn heat(view: &HostView, lang: Lang) -> String {
    let count = view.throttled;
    let said = (count > 0).then(|| say!("✖ throttled by heat: {count}, ", "✖ замедлялись от нагрева: {count}, "));
    said.map(|said| said.get(lang).to_string()).unwrap_or_default()
}

/// Mean frequency of the CPUs that tell theirs.
fn clock(view: &HostView, lang: Lang) -> String {
    let Some(frequency) = frequency(view.parts) else { return String::new() };
    let ghz = format::number(frequency / 1e9, lang);
    say!(", {ghz} GHz", ", {ghz} ГГц").get(lang).to_string()
}

fn memory(view: &HostView, lang: Lang) -> String {
    let Some(memory) = view.rates.memory else {
        return say!("memory   {NONE}", "Память   {NONE}").get(lang).to_string();
    };
    let size = |bytes: u64| format::bytes(Bytes(bytes), lang);
    let used = size(memory.total_bytes.saturating_sub(available(&memory, view.parts.arc)));
    let total = size(memory.total_bytes);
    let (dirty, swap) = (size(memory.dirty_bytes), size(memory.swap_used_bytes));
    say!(
        "memory   {used} of {total} in use, to be written {dirty}, swap in use {swap}",
        "Память   занято {used} из {total}, ждёт записи {dirty}, занято подкачки {swap}"
    )
    .get(lang)
    .to_string()
}

fn waits(rates: &HostRates, lang: Lang) -> String {
    let of = &rates.stalls;
    let (cpu, io, memory) = (share(of.cpu_some, lang), share(of.io_some, lang), share(of.memory_some, lang));
    say!(
        "waits    for a CPU {cpu}, for I/O {io}, for memory {memory} of the time",
        "Ждали    процессор {cpu}, ввод-вывод {io}, память {memory} времени"
    )
    .get(lang)
    .to_string()
}

/// The interfaces with traffic, the busiest first.
fn network(rates: &HostRates, lang: Lang) -> String {
    let mut busy: Vec<&NetworkRates> = rates.networks.iter().filter(|n| n.received + n.sent > 0.0).collect();
    busy.sort_by(|a, b| (b.received + b.sent).total_cmp(&(a.received + a.sent)));
    let mega = |bytes: f64| format::number(bytes / 1e6, lang);
    let one = |n: &&NetworkRates| {
        let (name, received, sent) = (&n.name, mega(n.received), mega(n.sent));
        let lost = n.errors + n.drops;
        let lost = if lost > 0.0 { format!(" ✖{}", format::number(lost, lang)) } else { String::new() };
        format!("{name} ↓{received} ↑{sent}{lost}")
    };
    let told = busy.iter().map(one).collect::<Vec<_>>().join(", ");
    let told = match (told.as_str(), rates.networks.is_empty()) {
        ("", true) => NONE.to_string(),
        ("", false) => "0".to_string(),
        _ => told,
    };
    let again = rates.tcp_sent_again.filter(|again| *again > 0.0).map(|again| format::percent(again, lang));
    match again {
        None => say!("network  {told} MB/s", "Сеть     {told} МБ/с"),
        Some(again) => {
            say!("network  {told} MB/s, TCP sent again {again}", "Сеть     {told} МБ/с, повторов TCP {again}")
        }
    }
    .get(lang)
    .to_string()
}

/// What the server of NFS and the busiest shares do; no line where there are none.
fn nfs(rates: &HostRates, lang: Lang) -> Vec<String> {
    let mega = |bytes: f64| format::number(bytes / 1e6, lang);
    let number = |of: f64| format::number(of, lang);
    let server = rates.nfs_server.map(|server| {
        let (requests, read, written) = (number(server.requests), mega(server.read_bytes), mega(server.write_bytes));
        say!(
            "NFS      serves {requests} requests/s, ↓{written} ↑{read} MB/s",
            "NFS      сервер: {requests} запросов/с, ↓{written} ↑{read} МБ/с"
        )
    });
    let mut mounts: Vec<&NfsMountRates> = rates.nfs_mounts.iter().collect();
    mounts.sort_by(|a, b| (b.read_bytes + b.write_bytes).total_cmp(&(a.read_bytes + a.write_bytes)));
    mounts.truncate(SHARES_MOST);
    let share = |mount: &NfsMountRates| {
        let ms = |of: Option<Nanos>| of.map_or_else(|| NONE.to_string(), |ns| number(ns.0 as f64 / 1e6));
        let (at, reads, writes) = (&mount.at, number(mount.reads), number(mount.writes));
        let (read, written) = (mega(mount.read_bytes), mega(mount.write_bytes));
        let (read_ms, write_ms) = (ms(mount.read_latency), ms(mount.write_latency));
        let again = if mount.sent_again > 0.0 { format!(" ✖{}", number(mount.sent_again)) } else { String::new() };
        say!(
            "NFS      {at} reads/s {reads} ({read} MB/s, {read_ms} ms), writes/s {writes} ({written} MB/s, {write_ms} ms){again}",
            "NFS      {at} чт/с {reads} ({read} МБ/с, {read_ms} мс), зап/с {writes} ({written} МБ/с, {write_ms} мс){again}"
        )
    };
    server.into_iter().chain(mounts.into_iter().map(share)).map(|said| said.get(lang).to_string()).collect()
}

/// The devices with most I/O that fit, in the order of the host, and how many others there are.
fn busiest(drives: &[DriveRates], room: usize) -> (Vec<&DriveRates>, usize) {
    let mut by_load: Vec<&DriveRates> = drives.iter().collect();
    by_load.sort_by(|a, b| b.busy.total_cmp(&a.busy).then(b.iops().total_cmp(&a.iops())));
    by_load.truncate(room);
    let shown: Vec<&DriveRates> = drives.iter().filter(|d| by_load.iter().any(|one| one.name == d.name)).collect();
    let left_out = drives.len() - shown.len();
    (shown, left_out)
}

fn more(count: usize) -> Say {
    let ru = plural_ru(count as u64, "устройство", "устройства", "устройств");
    say!("… and {count} less busy", "… и ещё {count} {ru} с меньшей нагрузкой")
}

fn table(drives: &[&DriveRates], view: &HostView, screen: &Screen) -> String {
    let lang = screen.lang;
    let mut heads = vec![
        say!("device", "устройство"),
        say!("reads/s", "чт/с"),
        say!("writes/s", "зап/с"),
        say!("rd MB/s", "чт МБ/с"),
        say!("wr MB/s", "зп МБ/с"),
        say!("rd ms", "чт мс"),
        say!("wr ms", "зп мс"),
        say!("queue", "очередь"),
        say!("busy", "занят"),
    ];
    let number = |value: f64| format::number(value, lang);
    let latency = |of: Option<Nanos>| of.map_or_else(|| NONE.to_string(), |ns| number(ns.0 as f64 / 1e6));
    let whole = |value: Option<f64>| value.map_or_else(|| NONE.to_string(), |value| format::fixed(value, 0, lang));
    let warm = |name: &str| {
        let reading = view.parts.temperatures.iter().find(|reading| reading.device == name)?;
        Some(reading.milli_celsius as f64 / 1e3)
    };
    let worn = |name: &str| Some(view.health.get(name)?.used_percent? as f64);
    let is_warm = !view.parts.temperatures.is_empty();
    let is_worn = drives.iter().any(|drive| worn(&drive.name).is_some());
    heads.extend(is_warm.then(|| Say::same("°C")));
    heads.extend(is_worn.then(|| say!("wear %", "износ %")));
    let row = |drive: &&DriveRates| {
        let mut cells = vec![
            number(drive.reads),
            number(drive.writes),
            number(drive.read_bytes / 1e6),
            number(drive.write_bytes / 1e6),
            latency(drive.read_latency),
            latency(drive.write_latency),
            number(drive.queue),
            format::percent(drive.busy, lang),
        ];
        cells.extend(is_warm.then(|| whole(warm(&drive.name))));
        cells.extend(is_worn.then(|| whole(worn(&drive.name))));
        Row { name: clean(&drive.name), indent: 0, cells, tint: None }
    };
    let rows: Vec<Row> = drives.iter().map(row).collect();
    // The last columns go first where there is no room.
    (1..=heads.len())
        .rev()
        .find_map(|count| {
            let column = |(at, head): (usize, &Say)| Column { head: head.get(lang).to_string(), right: at > 0 };
            let columns: Vec<Column> = heads[..count].iter().enumerate().map(column).collect();
            grid(&columns, &rows, screen)
        })
        .unwrap_or_default()
}

fn caveat() -> Say {
    say!(
        "busy: share of time with I/O; at 100 % a drive may still have reserves",
        "занят: доля времени с операциями; и при 100 % у накопителя бывает запас"
    )
}

fn keys(recorded: bool) -> Say {
    match recorded {
        true => {
            say!("← → a step, PgUp PgDn a minute, Home End, q ends", "← → шаг, PgUp PgDn минута, Home End, q — выход")
        }
        false => say!(
            "← → a step, PgUp PgDn a minute, End now, q ends",
            "← → шаг, PgUp PgDn минута, End — сейчас, q — выход"
        ),
    }
}

/// Why there is nothing to see yet.
pub fn host_waits(lang: Lang, width: usize) -> String {
    let text = say!("The first step is being measured.", "Идёт первый шаг.");
    paragraph("", text.get(lang), width)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_analyse::host_rates::{NfsServerRates, Stalls};
    use stend_record::parts::Temperature;
    use stend_record::sample::Memory;

    fn drive(name: &str, reads: f64, busy: f64) -> DriveRates {
        DriveRates {
            name: name.into(),
            reads,
            writes: 12.5,
            read_bytes: reads * 4096.0,
            write_bytes: 51_200.0,
            read_latency: (reads > 0.0).then_some(Nanos(84_200)),
            write_latency: Some(Nanos(1_200_000)),
            queue: 1.5,
            busy,
        }
    }

    fn rates() -> HostRates {
        HostRates {
            at: Nanos::secs(100),
            span: Nanos::SECOND,
            cpu_busy: Some(0.123),
            cpu_iowait: Some(0.04),
            cpu_steal: Some(0.0),
            memory: Some(Memory {
                total_bytes: 8 << 30,
                available_bytes: 5 << 30,
                dirty_bytes: 1 << 20,
                ..Memory::default()
            }),
            stalls: Stalls { cpu_some: Some(0.01), io_some: Some(0.2), memory_some: Some(0.0), ..Stalls::default() },
            drives: vec![drive("nvme0n1", 412_000.0, 0.994), drive("sda", 0.0, 0.02), drive("sdb", 3.0, 0.5)],
            networks: vec![NetworkRates { name: "eth0".into(), received: 12.3e6, sent: 4e5, errors: 0.0, drops: 2.0 }],
            tcp_sent_again: Some(0.001),
            ..HostRates::default()
        }
    }

    fn drawn(lang: Lang, size: (usize, usize), back: u64) -> String {
        drawn_of(&rates(), lang, size, back)
    }

    fn drawn_of(rates: &HostRates, lang: Lang, size: (usize, usize), back: u64) -> String {
        let warm = Temperature { device: "nvme0n1".into(), milli_celsius: 45_850, warning: None, critical: None };
        let parts = Parts { temperatures: vec![warm], frequencies_khz: vec![2_400_000, 2_500_000], ..Parts::default() };
        let health = BTreeMap::from([("sda".to_string(), Health { used_percent: Some(7), ..Health::default() })]);
        let view = HostView {
            host: "lab01",
            at_unix: 1_795_296_600,
            back: Nanos::secs(back),
            recorded: false,
            rates,
            parts: &parts,
            throttled: 3,
            health: &health,
            keys: true,
        };
        let printed = host_text(&HostView { keys: false, ..view }, lang, size, false);
        let shown = host_text(&view, lang, size, false);
        assert!(!printed.contains('←') && shown.starts_with(&printed), "only a terminal has keys");
        shown
    }

    #[test]
    fn shares_of_nfs_and_its_server_have_lines_the_busiest_first() {
        let mount = |at: &str, bytes: f64| NfsMountRates {
            at: at.into(),
            reads: 100.0,
            read_bytes: bytes,
            read_latency: Some(Nanos(1_500_000)),
            sent_again: if bytes > 5e6 { 2.0 } else { 0.0 },
            ..NfsMountRates::default()
        };
        let server = NfsServerRates { requests: 4000.0, read_bytes: 8e6, write_bytes: 1e6 };
        let mounts = (1..=6).map(|n| mount(&format!("/m{n}"), f64::from(n) * 1e6)).collect();
        let rates = HostRates { nfs_mounts: mounts, nfs_server: Some(server), ..rates() };
        let [english, russian] = [Lang::En, Lang::Ru].map(|lang| nfs(&rates, lang));
        assert_eq!(english.len(), 1 + SHARES_MOST);
        assert_eq!(english[0], "NFS      serves 4000 requests/s, ↓1.00 ↑8.00 MB/s");
        assert_eq!(english[1], "NFS      /m6 reads/s 100 (6.00 MB/s, 1.50 ms), writes/s 0 (0 MB/s, — ms) ✖2.00");
        assert!(english[4].starts_with("NFS      /m3 ") && !english[4].contains('✖'), "{english:?}");
        assert!(russian[1].contains("(6,00 МБ/с, 1,50 мс)"), "{russian:?}");
        assert!(nfs(&HostRates::default(), Lang::En).is_empty());
    }

    #[test]
    fn a_host_has_a_line_for_each_thing_and_a_row_for_each_drive() {
        let english = drawn(Lang::En, (80, 24), 0);
        assert_eq!(english.lines().count(), 12, "{english}");
        let begins: Vec<&str> = english.lines().filter_map(|line| line.split_whitespace().next()).collect();
        let expected = ["lab01", "CPU", "memory", "waits", "network", "device", "nvme0n1", "sda", "sdb", "busy:", "←"];
        assert_eq!(begins, expected);
        assert!(english.contains("eth0 ↓12.3 ↑0.4") && english.contains("°C"), "{english}");
        let wide = drawn(Lang::En, (120, 24), 0);
        assert!(wide.contains("2.45\u{a0}GHz"), "{wide}");
        assert!(english.contains("CPU      ✖ throttled by heat: 3, busy"), "{english}");
        let last = |name: &str| {
            let line = wide.lines().find(|line| line.starts_with(name)).unwrap();
            line.split_whitespace().rev().take(2).collect::<Vec<_>>().join(" ")
        };
        assert_eq!([last("nvme0n1"), last("sda"), last("sdb")], ["— 46", "7 —", "— —"]);
        let russian = drawn(Lang::Ru, (80, 24), 75);
        assert!(russian.contains("до последнего"), "{russian}");
        assert!(russian.contains("Проц.    ✖ замедлялись от нагрева: 3, заняты"), "{russian}");
        let silent = HostRates { networks: vec![NetworkRates::default()], ..HostRates::default() };
        assert_eq!(network(&silent, Lang::En), "network  0 MB/s");
        assert_eq!(network(&HostRates::default(), Lang::En), "network  — MB/s", "not counted is not zero");
        let low = drawn(Lang::En, (80, 10), 0);
        assert!(low.contains("nvme0n1") && low.lines().count() <= 10, "{low}");
    }

    #[test]
    fn whatever_the_terminal_no_line_is_wider_and_the_busiest_devices_stay() {
        let drives = (0..70).map(|n| drive(&format!("nvme{n}n1"), f64::from(n), 0.5)).collect();
        let share = |n: u32| NfsMountRates { at: format!("/mnt/{n}"), read_bytes: 1e6, ..NfsMountRates::default() };
        let (few, many) = (rates(), HostRates { drives, nfs_mounts: (0..9).map(share).collect(), ..rates() });
        let heights = [10, 11, 12, 13, 15, 17, 20, 24, 60];
        let sizes = (40..=200).step_by(20).flat_map(|width| heights.map(|height| (width, height)));
        for ((width, height), lang) in sizes.flat_map(|size| [(size, Lang::En), (size, Lang::Ru)]) {
            for rates in [&few, &many] {
                let text = drawn_of(rates, lang, (width, height), 75);
                assert!(text.lines().all(|line| width_of(line) <= width), "{width} {height}\n{text}");
                assert!(text.lines().count() <= height, "{width} {height}\n{text}");
                let devices = text.lines().filter(|line| line.starts_with("nvme") || line.starts_with("sd"));
                assert!(devices.count() >= 3 && text.contains('←'), "{width} {height}\n{text}");
            }
        }
        assert_eq!(drawn_of(&many, Lang::En, (80, 40), 0).lines().count(), 40, "all of the terminal is used");
        let (shown, left_out) = {
            let rates = rates();
            let (shown, left_out) = busiest(&rates.drives, 2);
            (shown.iter().map(|d| d.name.clone()).collect::<Vec<_>>(), left_out)
        };
        assert_eq!((shown, left_out), (vec!["nvme0n1".to_string(), "sdb".to_string()], 1));
    }
}

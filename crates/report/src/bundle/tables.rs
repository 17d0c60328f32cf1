//! Tables of samples as CSV for people with a spreadsheet: what a host did between two of them, a row for the host, each drive, each
//! interface, each thermometer. Numbers are those of `stend top --json`, with six significant digits.

use crate::export::guarded;
use stend_analyse::host_rates::{DriveRates, HostRates, NetworkRates};
use stend_base::{Nanos, Say, format, say};
use stend_record::parts::Temperature;

/// Which table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BundleTable {
    /// CPUs, memory, stalls, TCP: a row for each step.
    Host,
    /// A row for each device and step.
    Drives,
    /// A row for each interface and step.
    Networks,
    /// A row for each reading of each drive.
    Temperatures,
}

/// What happened between two samples.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// Time of the later one, ms since 1970.
    pub at_unix_ms: i64,
    /// Rates since the one before.
    pub rates: &'a HostRates,
    /// Temperatures that were read with it.
    pub temperatures: &'a [Temperature],
}

impl BundleTable {
    /// All of them.
    pub const ALL: [BundleTable; 4] =
        [BundleTable::Host, BundleTable::Drives, BundleTable::Networks, BundleTable::Temperatures];

    /// Name of its file.
    pub fn file(self) -> &'static str {
        match self {
            BundleTable::Host => "host.csv",
            BundleTable::Drives => "drives.csv",
            BundleTable::Networks => "networks.csv",
            BundleTable::Temperatures => "temperatures.csv",
        }
    }

    /// What it is.
    pub fn about(self) -> Say {
        match self {
            BundleTable::Host => say!(
                "samples: CPUs, memory, stalls, TCP, a row for each step",
                "отсчёты: процессоры, память, ожидания, TCP; строка на шаг"
            ),
            BundleTable::Drives => say!(
                "samples: every drive, array and mapping, a row for each and step",
                "отсчёты: все накопители, массивы и отображения; строка на устройство и шаг"
            ),
            BundleTable::Networks => say!(
                "samples: every network interface, a row for each and step",
                "отсчёты: все сетевые интерфейсы; строка на интерфейс и шаг"
            ),
            BundleTable::Temperatures => {
                say!("temperatures of drives with their limits", "температуры накопителей и их пределы")
            }
        }
    }

    /// Its line of headings. Names carry the unit; what is not known is empty.
    pub fn head(self) -> &'static str {
        match self {
            BundleTable::Host => {
                "time_utc,span_s,cpu_busy_share,cpu_iowait_share,cpu_steal_share,memory_total_bytes,memory_available_bytes,cpu_some_share,io_some_share,io_full_share,memory_some_share,memory_full_share,tcp_sent_again_share\n"
            }
            BundleTable::Drives => {
                "time_utc,span_s,drive,reads_per_s,writes_per_s,read_bytes_per_s,write_bytes_per_s,read_latency_ns_mean,write_latency_ns_mean,queue_depth_mean,busy_share\n"
            }
            BundleTable::Networks => {
                "time_utc,span_s,interface,received_bytes_per_s,sent_bytes_per_s,errors_per_s,drops_per_s\n"
            }
            BundleTable::Temperatures => "time_utc,drive,celsius,warning_celsius,critical_celsius\n",
        }
    }

    /// Rows of a step, behind what `out` holds already.
    pub fn add(self, step: &Step<'_>, out: &mut String) {
        let at = time(step.at_unix_ms);
        let head = format!("{at},{}", number(step.rates.span.as_secs()));
        match self {
            BundleTable::Host => host(&head, step.rates, out),
            BundleTable::Drives => step.rates.drives.iter().for_each(|of| drive(&head, of, out)),
            BundleTable::Networks => step.rates.networks.iter().for_each(|of| network(&head, of, out)),
            BundleTable::Temperatures => step.temperatures.iter().for_each(|of| temperature(&at, of, out)),
        }
    }
}

fn host(head: &str, rates: &HostRates, out: &mut String) {
    let stalls = &rates.stalls;
    let shares = [
        rates.cpu_busy,
        rates.cpu_iowait,
        rates.cpu_steal,
        rates.memory.map(|memory| memory.total_bytes as f64),
        rates.memory.map(|memory| memory.available_bytes as f64),
        stalls.cpu_some,
        stalls.io_some,
        stalls.io_full,
        stalls.memory_some,
        stalls.memory_full,
        rates.tcp_sent_again,
    ];
    row(head, &shares, out);
}

fn drive(head: &str, drive: &DriveRates, out: &mut String) {
    let latency = |of: Option<Nanos>| of.map(|ns| ns.0 as f64);
    let values = [
        Some(drive.reads),
        Some(drive.writes),
        Some(drive.read_bytes),
        Some(drive.write_bytes),
        latency(drive.read_latency),
        latency(drive.write_latency),
        Some(drive.queue),
        Some(drive.busy),
    ];
    row(&format!("{head},{}", guarded(&drive.name, ',')), &values, out);
}

fn network(head: &str, network: &NetworkRates, out: &mut String) {
    let values = [network.received, network.sent, network.errors, network.drops].map(Some);
    row(&format!("{head},{}", guarded(&network.name, ',')), &values, out);
}

fn temperature(at: &str, read: &Temperature, out: &mut String) {
    let celsius = [Some(read.milli_celsius), read.warning, read.critical].map(|of| of.map(|milli| milli as f64 / 1e3));
    row(&format!("{at},{}", guarded(&read.device, ',')), &celsius, out);
}

fn row(head: &str, values: &[Option<f64>], out: &mut String) {
    out.push_str(head);
    for value in values {
        out.push(',');
        value.iter().for_each(|value| out.push_str(&number(*value)));
    }
    out.push('\n');
}

/// Six significant digits; whole numbers are not cut.
fn number(value: f64) -> String {
    if value.fract() == 0.0 {
        return format!("{value}");
    }
    let digits = 5 - value.abs().log10().floor() as i32;
    let text = format!("{value:.*}", digits.clamp(0, 12) as usize);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}

/// `2026-11-29 08:50:00.123`, which spreadsheets read as a time.
fn time(unix_ms: i64) -> String {
    let (at, ms) = (format::rfc3339(unix_ms.div_euclid(1000)), unix_ms.rem_euclid(1000));
    format!("{}.{ms:03}", at.trim_end_matches('Z').replace('T', " "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn every_table_has_a_field_for_each_heading_and_what_is_not_known_is_empty() {
        let drive = DriveRates {
            name: "sda".into(),
            reads: 1234.5678,
            read_bytes: 5_056_789.5,
            read_latency: Some(Nanos(84_200)),
            busy: 0.000_123_456_7,
            ..DriveRates::default()
        };
        let network = NetworkRates { name: "=eth0".into(), received: 1e9, ..NetworkRates::default() };
        let span = Nanos(1_000_300_000);
        let rates = HostRates {
            span,
            cpu_busy: Some(0.25),
            drives: vec![drive],
            networks: vec![network],
            ..HostRates::default()
        };
        let warm = Temperature { device: "sda".into(), milli_celsius: 41_500, warning: Some(70_000), critical: None };
        let step = Step { at_unix_ms: 1_795_296_600_123, rates: &rates, temperatures: &[warm] };
        let mut all = String::new();
        for table in BundleTable::ALL {
            let mut rows = String::new();
            table.add(&step, &mut rows);
            let fields = |line: &str| line.matches(',').count();
            assert_eq!(fields(rows.trim_end()), fields(table.head()), "{table:?}: {rows}");
            all.push_str(&rows);
        }
        expect![[r#"
            2026-11-21 21:30:00.123,1.0003,0.25,,,,,,,,,,
            2026-11-21 21:30:00.123,1.0003,sda,1234.57,0,5056790,0,84200,,0,0.000123457
            2026-11-21 21:30:00.123,1.0003,'=eth0,1000000000,0,0,0
            2026-11-21 21:30:00.123,sda,41.5,70,
        "#]]
        .assert_eq(&all);
    }

    #[test]
    fn numbers_have_six_digits_and_whole_ones_all_of_them() {
        let all = [0.0, 1.0, 123_456_789.0, 123_456_789.5, 0.123_456_789, 1e-9, 99.999_999, -2.5].map(number);
        assert_eq!(all, ["0", "1", "123456789", "123456790", "0.123457", "0.000000001", "100", "-2.5"]);
    }
}

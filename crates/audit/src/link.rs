//! What links carry in one direction once their line code is taken off, and how a row of a table names one. Frames and headers take
//! more, so that nothing ever moves as much as this: it is a bound, not an expectation.

use stend_base::{Say, say};

/// Most links of one kind side by side, and lanes of one link.
const COUNT_MAX: u32 = 4096;
const LANES: [u32; 7] = [1, 2, 4, 8, 12, 16, 32];

/// One kind of link with the speeds that it comes in.
struct Family {
    name: &'static str,
    /// How it is written, for errors.
    form: &'static str,
    /// Speeds as they are written, and bytes per second of one lane or port in one direction.
    speeds: &'static [(&'static str, f64)],
    /// What may follow the speed.
    units: &'static [&'static str],
    lanes: Lanes,
    /// Only one side sends at a time.
    half_duplex: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Lanes {
    None,
    Optional,
    Required,
}

const GIGABITS: [&str; 6] = ["g", "gb/s", "gbit/s", "gbps", "гбит/с", "gfc"];
const TRANSFERS: [&str; 2] = ["gt/s", "гт/с"];

/// 8b/10b: eight of ten bits are data. 64b/66b, 128b/130b and 128b/150b likewise.
const FAMILIES: [Family; 7] = [
    Family {
        name: "sata",
        form: "SATA 6G",
        // 8b/10b (Serial ATA); its frames go one way at a time.
        speeds: &[("1.5", 150e6), ("3", 300e6), ("6", 600e6)],
        units: &GIGABITS,
        lanes: Lanes::None,
        half_duplex: true,
    },
    Family {
        name: "sas",
        form: "SAS 12G x4",
        // 8b/10b up to SAS-3, 128b/150b in SAS-4 (22.5 GBd, sold as 24G).
        speeds: &[("1.5", 150e6), ("3", 300e6), ("6", 600e6), ("12", 1.2e9), ("22.5", 2.4e9), ("24", 2.4e9)],
        units: &GIGABITS,
        lanes: Lanes::Optional,
        half_duplex: false,
    },
    Family {
        name: "pcie",
        form: "PCIe 3.0 x4",
        // 2.5 and 5 GT/s with 8b/10b, 8 to 32 GT/s with 128b/130b, 64 GT/s without a line code (PCI Express Base).
        speeds: &[
            ("1", 250e6),
            ("1.1", 250e6),
            ("2", 500e6),
            ("2.1", 500e6),
            ("3", 8e9 * 128.0 / 130.0 / 8.0),
            ("3.1", 8e9 * 128.0 / 130.0 / 8.0),
            ("4", 16e9 * 128.0 / 130.0 / 8.0),
            ("5", 32e9 * 128.0 / 130.0 / 8.0),
            ("6", 8e9),
        ],
        units: &[],
        lanes: Lanes::Required,
        half_duplex: false,
    },
    Family {
        name: "fc",
        form: "FC 16G",
        // 1.0625, 2.125, 4.25 and 8.5 GBd with 8b/10b; 14.025 GBd with 64b/66b; 28.05 GBd with 256b/257b and its error correction in the
        // room of 64b/66b; 57.8 Gb/s with 256b/257b and 514 of 544 symbols (FC-PI-2 to FC-PI-7, FC-FS-5).
        speeds: &[
            ("1", 106.25e6),
            ("2", 212.5e6),
            ("4", 425e6),
            ("8", 850e6),
            ("16", 14.025e9 * 64.0 / 66.0 / 8.0),
            ("32", 28.05e9 * 64.0 / 66.0 / 8.0),
            ("64", 57.8e9 * 256.0 / 257.0 * 514.0 / 544.0 / 8.0),
        ],
        units: &GIGABITS,
        lanes: Lanes::None,
        half_duplex: false,
    },
    Family {
        name: "ethernet",
        form: "Ethernet 10G",
        // Named after what is left when the line code is off (IEEE 802.3).
        speeds: &[
            ("1", 125e6),
            ("2.5", 312.5e6),
            ("5", 625e6),
            ("10", 1.25e9),
            ("25", 3.125e9),
            ("40", 5e9),
            ("50", 6.25e9),
            ("100", 12.5e9),
            ("200", 25e9),
            ("400", 50e9),
            ("800", 100e9),
        ],
        units: &["g", "gb/s", "gbit/s", "gbps", "гбит/с", "gbe"],
        lanes: Lanes::None,
        half_duplex: false,
    },
    Family {
        name: "qpi",
        form: "QPI 8 GT/s",
        // 20 lanes, of which 16 carry data: two bytes a transfer.
        speeds: &[("4.8", 9.6e9), ("5.86", 11.72e9), ("6.4", 12.8e9), ("7.2", 14.4e9), ("8", 16e9), ("9.6", 19.2e9)],
        units: &TRANSFERS,
        lanes: Lanes::None,
        half_duplex: false,
    },
    Family {
        name: "upi",
        form: "UPI 10.4 GT/s",
        // The same two bytes a transfer. UPI 2.0 counts differently and is not listed.
        speeds: &[("9.6", 19.2e9), ("10.4", 20.8e9), ("11.2", 22.4e9)],
        units: &TRANSFERS,
        lanes: Lanes::None,
        half_duplex: false,
    },
];

/// Links side by side that data have to pass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Link {
    /// Bytes per second of all of them in one direction.
    pub one_way: f64,
    /// Bytes per second of both directions together; the same where only one side sends at a time.
    pub both_ways: f64,
}

impl Link {
    /// Reads `2 x SATA 3G`: a count, the kind, its speed, and the lanes of each. Errors: what is not understood.
    pub(super) fn parse(text: &str) -> std::result::Result<Link, Say> {
        let lower = text.trim().to_lowercase().replace(['×', 'х'], "x");
        let words: Vec<&str> = lower.split_whitespace().collect();
        let (count, rest) = counted(&words);
        read(count, rest).ok_or_else(|| refused(text))
    }
}

/// `2 x …`, `2x …`; without a count it is one.
fn counted<'a, 'b>(words: &'b [&'a str]) -> (Option<u32>, &'b [&'a str]) {
    match words {
        [count, "x", rest @ ..] => (number(count), rest),
        [count, rest @ ..] if count.strip_suffix('x').and_then(number).is_some() => {
            (count.strip_suffix('x').and_then(number), rest)
        }
        rest => (Some(1), rest),
    }
}

fn number(text: &str) -> Option<u32> {
    text.parse().ok().filter(|count| (1..=COUNT_MAX).contains(count) && !text.starts_with(['+', '0']))
}

fn read(count: Option<u32>, words: &[&str]) -> Option<Link> {
    let count = count?;
    let (family, rest) = match words {
        // `10GbE` says its kind at its end.
        [speed] if speed.ends_with("gbe") => (FAMILIES.iter().find(|family| family.name == "ethernet")?, words),
        [name, rest @ ..] => (FAMILIES.iter().find(|family| family.name == *name)?, rest),
        [] => return None,
    };
    let (speed, rest) = match rest {
        [speed, unit, rest @ ..] if family.units.contains(unit) => (*speed, rest),
        [speed, rest @ ..] => (family.units.iter().find_map(|unit| speed.strip_suffix(unit)).unwrap_or(speed), rest),
        [] => return None,
    };
    // `3.0` and `gen3` are 3.
    let speed = if family.name == "pcie" { speed.strip_prefix("gen").unwrap_or(speed) } else { speed };
    let speed = speed.strip_suffix(".0").unwrap_or(speed);
    let (_, each) = family.speeds.iter().find(|(name, _)| *name == speed)?;
    let lanes = match (rest, family.lanes) {
        ([], Lanes::None | Lanes::Optional) => 1,
        ([lanes], Lanes::Optional | Lanes::Required) => {
            number(lanes.strip_prefix('x')?).filter(|lanes| LANES.contains(lanes))?
        }
        _ => return None,
    };
    let one_way = each * f64::from(lanes) * f64::from(count);
    Some(Link { one_way, both_ways: if family.half_duplex { one_way } else { 2.0 * one_way } })
}

fn refused(text: &str) -> Say {
    let forms = FAMILIES.iter().map(|family| format!("`{}`", family.form)).collect::<Vec<_>>().join(", ");
    let shown: String = text.chars().take(60).collect();
    say!(
        "`{shown}` names no known link; write one of {forms} with a speed that it has, and the number of links before it: `2 x SATA 3G`",
        "`{shown}` — неизвестный канал; запишите его как {forms}, со скоростью из таблицы каналов, а число каналов — перед ним: `2 x SATA 3G`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_carry_what_their_line_code_leaves() {
        for (text, mb) in [
            ("SATA 3G", 300.0),
            ("2 x SATA 3G", 600.0),
            ("2x SATA 3.0 Gb/s", 600.0),
            ("8 × SAS 3 Гбит/с", 2400.0),
            ("SAS 12G x4", 4800.0),
            ("SAS 22.5G", 2400.0),
            ("PCIe 1.1 x8", 2000.0),
            ("PCIe 3.0 x4", 3938.5),
            ("2 х PCIe gen4 x4", 15_753.8),
            ("PCIe 5 x4", 15_753.8),
            ("FC 8G", 850.0),
            ("4 x FC 16G", 6800.0),
            ("FC 16GFC", 1700.0),
            ("FC 32G", 3400.0),
            ("FC 64G", 6800.0),
            ("10GbE", 1250.0),
            ("2 x 10GbE", 2500.0),
            ("Ethernet 100 Gbit/s", 12_500.0),
            ("QPI 8.0 GT/s", 16_000.0),
            ("2 x UPI 10.4 GT/s", 41_600.0),
        ] {
            let link = Link::parse(text).unwrap_or_else(|why| panic!("{text}: {}", why.en));
            assert!((link.one_way / 1e6 - mb).abs() < 0.06, "{text}: {}", link.one_way / 1e6);
        }
        let both = |text: &str| Link::parse(text).unwrap();
        assert_eq!(both("SATA 6G").both_ways, 600e6, "one side sends at a time");
        assert_eq!(both("SAS 6G").both_ways, 1200e6);
    }

    #[test]
    fn what_is_not_written_so_is_refused_with_the_forms() {
        for text in [
            "",
            "SATA",
            "SATA 12G",
            "PCIe 3.0",
            "PCIe 3.0 x3",
            "PCIe 7.0 x4",
            "SATA 3G x2",
            "0 x SATA 3G",
            "-1 x SATA 3G",
            "4097 x SATA 3G",
            "2 x 2 x SATA 3G",
            "SATA 3G, SAS 6G",
            "SATA 3 MB/s",
            "UPI 16 GT/s",
            "FC 128G",
            "3 Gb/s",
            "10GbE 10GbE",
        ] {
            let why = Link::parse(text).expect_err(text);
            assert!(why.en.contains("`PCIe 3.0 x4`") && why.ru.contains("неизвестный канал"), "{text}: {}", why.en);
        }
    }
}

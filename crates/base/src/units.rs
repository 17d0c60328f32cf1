//! Quantities with their unit in the type. Integers in base units; text only in `format`.

use crate::say;
use crate::text::Say;
use serde::{Deserialize, Serialize};
use std::ops::{Add, Sub};

/// A span of time, or a point on the run's axis, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nanos(pub u64);

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

/// A part of a whole in millionths, 0 to 1,000,000: what is asked for and stored compares equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Millionths(pub u32);

/// A frequency of I/Os, in thousandths of one per second: 1500 is three I/Os in two seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MilliIops(pub u64);

/// A part of a whole, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Share(pub f64);

impl Millionths {
    /// The whole.
    pub const ALL: Millionths = Millionths(1_000_000);

    /// Whole percent.
    pub const fn percent(n: u32) -> Millionths {
        Millionths(n * 10_000)
    }

    /// 0 to 1.
    pub fn as_share(self) -> f64 {
        f64::from(self.0) / 1e6
    }

    /// 0 to 100.
    pub fn as_percent(self) -> f64 {
        f64::from(self.0) / 1e4
    }

    /// What is left of the whole.
    pub fn rest(self) -> Millionths {
        Millionths(Millionths::ALL.0.saturating_sub(self.0))
    }
}

impl Nanos {
    /// One second.
    pub const SECOND: Nanos = Nanos(1_000_000_000);

    /// Whole milliseconds; the longest time there is if that is too many.
    pub const fn millis(n: u64) -> Nanos {
        Nanos(n.saturating_mul(1_000_000))
    }

    /// Whole seconds; the longest time there is if that is too many.
    pub const fn secs(n: u64) -> Nanos {
        Nanos(n.saturating_mul(1_000_000_000))
    }

    /// As fractional seconds, for rates.
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// `self - other`, or zero if `other` is later.
    pub fn saturating_sub(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(other.0))
    }

    /// So much later, or earlier if negative; neither before zero nor beyond the longest time there is.
    pub fn shifted(self, by_ns: i64) -> Nanos {
        Nanos(self.0.saturating_add_signed(by_ns))
    }

    /// As the standard library's duration.
    pub fn duration(self) -> std::time::Duration {
        std::time::Duration::from_nanos(self.0)
    }
}

impl Bytes {
    /// Whole kibibytes (2^10).
    pub const fn kib(n: u64) -> Bytes {
        Bytes(n << 10)
    }

    /// Whole mebibytes (2^20).
    pub const fn mib(n: u64) -> Bytes {
        Bytes(n << 20)
    }

    /// Whole gibibytes (2^30).
    pub const fn gib(n: u64) -> Bytes {
        Bytes(n << 30)
    }

    /// The largest multiple of `unit` that is not above `self`.
    pub fn align_down(self, unit: Bytes) -> Bytes {
        Bytes(self.0 - self.0 % unit.0.max(1))
    }
}

impl MilliIops {
    /// So many per second.
    pub const fn per_second(n: u64) -> MilliIops {
        MilliIops(n * 1000)
    }

    /// As a plain number per second.
    pub fn as_iops(self) -> f64 {
        self.0 as f64 / 1e3
    }
}

impl Share {
    /// A share given in percent.
    pub fn percent(p: f64) -> Share {
        Share(p / 100.0)
    }
}

impl Add for Nanos {
    type Output = Nanos;
    fn add(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_add(other.0))
    }
}

impl Sub for Nanos {
    type Output = Nanos;
    fn sub(self, other: Nanos) -> Nanos {
        debug_assert!(self.0 >= other.0, "time went backwards: {} - {}", self.0, other.0);
        self.saturating_sub(other)
    }
}

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_add(other.0))
    }
}

impl std::iter::Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(all: I) -> Bytes {
        all.fold(Bytes(0), Add::add)
    }
}

/// Reads a size such as `4KiB`, `4k`, `512 B`, `1.5GiB` or `10MB`. IEC prefixes are powers of 1024, and so are prefixes alone, as
/// fio, dd and qemu mean them; SI prefixes with a B are powers of 1000; a bare number is refused because its unit would be a guess.
pub fn parse_bytes(text: &str) -> Result<Bytes, Say> {
    let (number, unit) = split_unit(text)?;
    let factor: u64 = match unit {
        "k" | "K" => 1 << 10,
        "m" | "M" => 1 << 20,
        "g" | "G" => 1 << 30,
        "t" | "T" => 1 << 40,
        _ => return sized(number, unit),
    };
    scaled(number, factor).map(Bytes)
}

/// A size whose unit names bytes.
fn sized(number: &str, unit: &str) -> Result<Bytes, Say> {
    let factor: u64 = match unit {
        "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "TiB" => 1 << 40,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        _ => {
            return Err(say!(
                "`{unit}` is not a unit of size; use B, KiB, MiB, GiB, TiB, kB, MB, GB or TB",
                "`{unit}` — не единица размера; возможны B, KiB, MiB, GiB, TiB, kB, MB, GB и TB"
            ));
        }
    };
    scaled(number, factor).map(Bytes)
}

/// Reads a duration such as `250ms`, `3s`, `1.5 min` or `2h`.
pub fn parse_nanos(text: &str) -> Result<Nanos, Say> {
    let (number, unit) = split_unit(text)?;
    let factor: u64 = match unit {
        "ns" => 1,
        "us" | "µs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" | "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => {
            return Err(say!(
                "`{unit}` is not a unit of time; use ns, us, ms, s, min, h or d",
                "`{unit}` — не единица времени; возможны ns, us, ms, s, min, h и d"
            ));
        }
    };
    scaled(number, factor).map(Nanos)
}

/// Reads a share in percent such as `20%` or `12.5 %`, at most 100 % and with at most four decimals.
pub fn parse_millionths(text: &str) -> Result<Millionths, Say> {
    let (number, unit) = split_unit(text)?;
    if unit != "%" {
        return Err(say!("`{unit}` is not the percent sign", "`{unit}` — не знак процента"));
    }
    if number.split_once('.').is_some_and(|(_, decimals)| decimals.len() > 4) {
        return Err(say!("`{number}` has more than four decimals", "у `{number}` больше четырёх знаков после точки"));
    }
    let share = Millionths(scaled(number, 10_000)?.try_into().unwrap_or(u32::MAX));
    match share <= Millionths::ALL {
        true => Ok(share),
        false => Err(say!("`{number}` is more than 100 %", "`{number}` больше 100 %")),
    }
}

/// Reads a frequency such as `5000/s` or `0.5/s`, to a thousandth.
pub fn parse_rate(text: &str) -> Result<MilliIops, Say> {
    match split_unit(text)? {
        (number, "/s") => scaled(number, 1000).map(MilliIops),
        (_, unit) => Err(say!(
            "`{unit}` is not a unit of frequency; write I/Os per second, such as `5000/s`",
            "`{unit}` — не единица частоты; пишите операции в секунду, например `5000/s`"
        )),
    }
}

/// Reads a throughput such as `2GB/s`, `1.5 GiB/s` or `25Gbit/s`, in bytes per second. Bits have SI prefixes, as networks count.
pub fn parse_throughput(text: &str) -> Result<Bytes, Say> {
    let Some(amount) = text.trim().strip_suffix("/s") else {
        return Err(say!(
            "`{text}` is not per second; write, for example, `2GB/s` or `25Gbit/s`",
            "`{text}` — не в секунду; пишите, например, `2GB/s` или `25Gbit/s`"
        ));
    };
    let (number, unit) = split_unit(amount)?;
    let bits_in_bytes: u64 = match unit {
        "kbit" => 125,
        "Mbit" => 125_000,
        "Gbit" => 125_000_000,
        "Tbit" => 125_000_000_000,
        // `10G/s` may be either.
        _ => return sized(number, unit),
    };
    scaled(number, bits_in_bytes).map(Bytes)
}

fn split_unit(text: &str) -> Result<(&str, &str), Say> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = (&text[..end], text[end..].trim());
    if number.is_empty() {
        return Err(say!(
            "`{text}` does not start with a positive number",
            "`{text}` не начинается с положительного числа"
        ));
    }
    if unit.is_empty() {
        return Err(say!("`{text}` has no unit", "у `{text}` нет единицы"));
    }
    Ok((number, unit))
}

/// Exact for whole numbers; a fraction is rounded to the nearest base unit.
fn scaled(number: &str, factor: u64) -> Result<u64, Say> {
    let too_large = || say!("`{number}` is too large", "`{number}` — слишком большое число");
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(factor).ok_or_else(too_large);
    }
    let value: f64 = number.parse().map_err(|_| say!("`{number}` is not a number", "`{number}` — не число"))?;
    let scaled = value * factor as f64;
    if scaled < 9.0e18 { Ok(scaled.round() as u64) } else { Err(too_large()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_need_a_unit_and_keep_iec_and_si_apart() {
        assert_eq!(parse_bytes("4KiB"), Ok(Bytes(4096)));
        assert_eq!(parse_bytes("1.5 MiB"), Ok(Bytes(1_572_864)));
        assert_eq!(parse_bytes("10MB"), Ok(Bytes(10_000_000)));
        assert!(parse_bytes("4096").unwrap_err().en.contains("no unit"));
        for (short, long) in
            [("4k", "4KiB"), ("4K", "4KiB"), ("1M", "1MiB"), ("1.5m", "1.5MiB"), ("2g", "2GiB"), ("1T", "1TiB")]
        {
            assert_eq!(parse_bytes(short), parse_bytes(long));
        }
        assert!(parse_bytes("4kb").unwrap_err().en.contains("not a unit of size"));
        assert!(parse_bytes("-1KiB").unwrap_err().en.contains("positive"));
        assert!(parse_bytes("99999999999TiB").unwrap_err().en.contains("too large"));
        assert!(parse_bytes("1.2.3KiB").unwrap_err().en.contains("not a number"));
    }

    #[test]
    fn shares_need_the_percent_sign_and_keep_four_decimals() {
        assert_eq!(parse_millionths("20%"), Ok(Millionths::percent(20)));
        assert_eq!(parse_millionths("12.5 %"), Ok(Millionths(125_000)));
        assert_eq!(parse_millionths("0.0001%"), Ok(Millionths(1)));
        assert_eq!(parse_millionths("100%").unwrap().rest(), Millionths(0));
        for (text, why) in [("20", "no unit"), ("20x", "sign"), ("0.00001%", "decimals"), ("100.1%", "more than 100 %")]
        {
            assert!(parse_millionths(text).unwrap_err().en.contains(why), "{text}");
        }
        assert!(parse_millionths("999999999999%").is_err() && parse_millionths("-1%").is_err());
    }

    #[test]
    fn a_rate_is_per_second_and_says_so() {
        assert_eq!(parse_rate("5000/s"), Ok(MilliIops::per_second(5000)));
        assert_eq!(parse_rate("0.5 /s"), Ok(MilliIops(500)));
        assert!(parse_rate("5000").unwrap_err().en.contains("no unit"));
        assert!(parse_rate("5000/min").unwrap_err().en.contains("`5000/s`"));
    }

    #[test]
    fn a_throughput_is_of_bytes_or_of_bits() {
        assert_eq!(parse_throughput("2GB/s"), Ok(Bytes(2_000_000_000)));
        assert_eq!(parse_throughput("1.5 GiB/s"), Ok(Bytes(3 << 29)));
        assert_eq!(parse_throughput("25Gbit/s"), Ok(Bytes(3_125_000_000)));
        for (text, why) in [("2GB", "per second"), ("10G/s", "not a unit of size"), ("/s", "positive number")] {
            assert!(parse_throughput(text).unwrap_err().en.contains(why), "{text}");
        }
        assert!(parse_throughput("999999999999Tbit/s").is_err());
    }

    #[test]
    fn durations_need_a_unit() {
        assert_eq!(parse_nanos("250ms"), Ok(Nanos(250_000_000)));
        assert_eq!(parse_nanos("1.5 min"), Ok(Nanos::secs(90)));
        assert!(parse_nanos("3").unwrap_err().en.contains("no unit"));
        assert!(parse_nanos("3 sec").unwrap_err().en.contains("not a unit of time"));
        assert_eq!(parse_nanos("3").unwrap_err().ru, "у `3` нет единицы");
        assert!(parse_bytes("4q").unwrap_err().ru.starts_with("`q` — не единица размера; возможны B, KiB"));
    }
}

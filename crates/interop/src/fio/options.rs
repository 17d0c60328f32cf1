//! Options of a fio job as its results repeat them: sizes, times, and what Stend calls the same. Pure.
//!
//! Source: fio, HOWTO.rst, "Parameter types" and "Parameters list"; defaults are fio's own.

use super::engines;
use crate::fio_values::{self, Amount};
use std::collections::BTreeMap;
use stend_base::{Bytes, Millionths, Nanos};
use stend_spec::pattern::{DEVIATION, HOT, Pattern, THETA};
use stend_spec::workload::{BlockShare, Mix, Op, Pages, Sync};

/// Options that hold the load back.
const PACING: [&str; 7] =
    ["rate", "rate_iops", "thinktime", "rate_process", "flow", "latency_target", "verify_backlog"];

/// Options of one job: those of the whole file, and over them its own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    /// Values by name; of a switch the value may be empty.
    pub all: BTreeMap<String, String>,
    /// The results repeat options at all (fio 2.15 and later do).
    pub given: bool,
    /// The numbers are those of several sections, or may be: the options are those of one of them (`group_reporting`).
    pub of_one_section: bool,
}

/// What the I/Os of a job are.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// Kinds, by `rw`; `None`: not told.
    pub mix: Option<Mix>,
    /// Order.
    pub pattern: Pattern,
}

impl Options {
    /// The first of some names of one option that is set.
    fn any(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.all.get(*name)).map(String::as_str)
    }

    fn count(&self, name: &str) -> Option<u32> {
        self.all.get(name)?.trim().parse().ok()
    }

    /// The engine; fio's default if none is named, empty if options are not told.
    pub fn engine(&self) -> &str {
        // What has backslashes in its path is Windows.
        //= fio, os/os-windows.h: FIO_PREFERRED_ENGINE
        let windows = self.target().is_some_and(|path| path.contains('\\'));
        self.any(&["ioengine"]).unwrap_or(match (self.given, windows) {
            (false, _) => "",
            (true, false) => "psync",
            (true, true) => "windowsaio",
        })
    }

    /// I/Os in flight per job; `None` if that is not told.
    pub fn depth(&self) -> Option<u32> {
        if !self.given || self.of_one_section {
            return None;
        }
        let asked = self.any(&["iodepth"]).map_or(Some(1), |text| text.trim().parse().ok());
        // Threads of its own make an I/O each, so an engine that waits has as many in flight, too.
        //= fio, HOWTO.rst: io_submit_mode; backend.c: thread_main() caps the depth unless IO_MODE_OFFLOAD
        let offloaded = self.any(&["io_submit_mode"]).map(str::trim) == Some("offload");
        match engines::waits(self.engine()) {
            _ if offloaded => asked,
            Some(true) => Some(1),
            Some(false) => asked,
            None => asked.filter(|depth| *depth == 1),
        }
    }

    /// Jobs of its section.
    pub fn jobs(&self) -> u32 {
        self.count("numjobs").unwrap_or(1).max(1)
    }

    /// Around the page cache: not known to go through it. Where options are not told nothing is said of the cache, and without I/O there
    /// is none.
    pub fn direct(&self) -> bool {
        if !self.given || matches!(self.engine(), "null" | "cpp_null") {
            return true;
        }
        let on = |name: &str| self.all.get(name).is_some_and(|value| value.trim() != "0");
        let buffered = self.all.get("buffered").map(|value| value.trim() == "0");
        on("direct") || buffered.unwrap_or(false)
    }

    /// What buffers lie in.
    pub fn pages(&self) -> Pages {
        let kind = self.any(&["mem", "iomem"]).unwrap_or_default().trim();
        let huge = ["shmhuge", "mmaphuge"].iter().any(|huge| kind.split(':').next() == Some(*huge));
        if huge { Pages::Huge } else { Pages::Ordinary }
    }

    /// When writes are durable.
    pub fn sync(&self) -> Sync {
        let every = |name: &str| self.count(name).filter(|n| *n > 0);
        if let Some("1" | "sync" | "dsync" | "") = self.any(&["sync"]).map(str::trim) {
            return Sync::ODsync;
        }
        every("fsync").map(Sync::Fsync).or(every("fdatasync").map(Sync::Fdatasync)).unwrap_or(Sync::None)
    }

    /// It was held back.
    pub fn paced(&self) -> bool {
        PACING.iter().any(|name| self.all.get(*name).is_some_and(|value| value.trim() != "0"))
    }

    /// A switch that is on, or a number that is not 0.
    pub fn is_set(&self, name: &str) -> bool {
        self.all.get(name).is_some_and(|value| value.trim() != "0")
    }

    /// What it wrote is read again and compared, after the load or amid it.
    pub fn verifies(&self) -> bool {
        let asked = self.any(&["verify"]).map(str::trim).is_some_and(|how| !matches!(how, "" | "0" | "null"));
        asked && self.count("do_verify") != Some(0)
    }

    /// Time before the measurement.
    pub fn ramp(&self) -> Nanos {
        self.any(&["ramp_time"]).and_then(time).unwrap_or_default()
    }

    /// Where its range begins and how long it is, as far as it is known.
    pub fn range(&self) -> (Bytes, Bytes) {
        let of = |names: &[&str]| self.any(names).and_then(|text| self.size(text)).unwrap_or(Bytes(0));
        (of(&["offset"]), of(&["io_size", "size", "filesize"]))
    }

    /// What it works on: names of files, or of a directory.
    pub fn target(&self) -> Option<&str> {
        self.any(&["filename", "directory"])
    }

    /// The largest size of an I/O with the shares of a mixture; `None`: sizes differ and their shares are not told, or are not those that
    /// were asked for.
    pub fn sizes(&self) -> Option<(Bytes, Vec<BlockShare>)> {
        if !self.given || self.of_one_section || self.any(&["bsrange", "blocksize_range"]).is_some() {
            return None;
        }
        if let Some(split) = self.any(&["bssplit"]) {
            return self.mixture(split).filter(|_| !self.has_map());
        }
        let [read, write, trim] = self.by_kind(self.any(&["bs", "blocksize"]).unwrap_or("4k"))?;
        let all = self.shape().mix.map(|mix| [(mix.read, read), (mix.write, write), (mix.discard, trim)]);
        let mut used = all.into_iter().flatten().filter(|(share, _)| *share > 0).map(|(_, size)| size);
        let first = used.next().unwrap_or(read);
        used.all(|other| other == first).then_some((first, Vec::new()))
    }

    /// Whether fio keeps a map of what was visited, with which it cuts I/Os short that reach into a block which was.
    //= fio, filesetup.c: init_random_map(); io_u.c: mark_random_map()
    fn has_map(&self) -> bool {
        let pattern = self.shape().pattern;
        let jumps = matches!(pattern, Pattern::Random | Pattern::Uniform | Pattern::Mixed { .. } | Pattern::Zones(_));
        let distribution = self.any(&["random_distribution"]).and_then(|text| text.split(':').next()).map(str::trim);
        let is_even = matches!(distribution, None | Some("random" | "zoned" | "zoned_abs"));
        jumps && is_even && !self.is_set("norandommap") && !self.has_register()
    }

    /// Offsets come from a shift register, which visits each block once without a map.
    fn has_register(&self) -> bool {
        self.any(&["random_generator"]).map(str::trim) == Some("lfsr")
    }

    /// What its I/Os are. Without `rw` fio reads in order.
    pub fn shape(&self) -> Shape {
        let word = self.any(&["rw", "readwrite"]).unwrap_or(if self.given { "read" } else { "" });
        let (word, behind) = word.split_once(':').map_or((word, ""), |(word, behind)| (word, behind.trim()));
        let word = word.trim();
        let reads = match (self.count("rwmixread"), self.count("rwmixwrite")) {
            (_, Some(writes)) => 100u32.saturating_sub(writes),
            (reads, None) => reads.unwrap_or(50),
        };
        let mix = match word.strip_prefix("rand").unwrap_or(word) {
            "read" => Some(Mix::of_reads(100)),
            "write" => Some(Mix::of_reads(0)),
            "rw" | "readwrite" => Some(Mix::of_reads(reads.min(100) as u8)),
            "trim" => Some(Mix::only(Op::Discard)),
            _ => None,
        };
        let pattern = match (word.starts_with("rand"), behind.parse::<u32>()) {
            // As many I/Os go on in order before the next one jumps.
            (true, Ok(run @ 2..=1_000_000)) => Pattern::Mixed { sequential: Millionths(1_000_000 - 1_000_000 / run) },
            (true, _) => self.distribution(),
            (false, _) => self.spaced(behind),
        };
        Shape { mix, pattern }
    }

    /// A distribution in zones that is not taken over: they are in bytes, or differ between reads and writes.
    pub fn unread_zones(&self) -> Option<&str> {
        let text = self.any(&["random_distribution"]).map(str::trim).filter(|text| text.starts_with("zoned"))?;
        let is_read = text.strip_prefix("zoned:").is_some_and(|zones| fio_values::zones(zones).is_some());
        (!is_read && self.shape().pattern == Pattern::Uniform).then_some(text)
    }

    fn size(&self, text: &str) -> Option<Bytes> {
        size(text, kb_base(&self.all))
    }

    /// Sizes of reads, writes and trims: `4k,8k`. As fio has it, what is not named is as what stands before it, and nothing is 4 KiB.
    fn by_kind(&self, text: &str) -> Option<[Bytes; 3]> {
        let mut parts = text.split(',').map(str::trim);
        let mut of = |before: Bytes| match parts.next() {
            None => Some(before),
            Some("") => Some(Bytes::kib(4)),
            Some(part) => self.size(part),
        };
        let read = of(Bytes::kib(4))?;
        let write = of(read)?;
        Some([read, write, of(write)?])
    }

    /// `4k/60:64k/40`, the same for every kind of I/O.
    fn mixture(&self, text: &str) -> Option<(Bytes, Vec<BlockShare>)> {
        let part = |part: &str| {
            let (bytes, percent) = part.split_once('/')?;
            Some(BlockShare {
                size: self.size(bytes)?,
                percent: percent.trim().parse().ok().filter(|p| (1..=100).contains(p))?,
            })
        };
        if text.contains(',') {
            return None;
        }
        let mut shares = text.split(':').map(part).collect::<Option<Vec<_>>>()?;
        shares.sort_by_key(|share| share.size);
        let whole = shares.iter().map(|share| u32::from(share.percent)).sum::<u32>() == 100;
        let largest = shares.last()?.size;
        whole.then_some((largest, shares))
    }

    /// In order, with what stands behind the colon of `rw`: bytes that are left out between two I/Os, or the way back.
    fn spaced(&self, behind: &str) -> Pattern {
        let one = self.by_kind(self.any(&["bs", "blocksize"]).unwrap_or("4k")).filter(|[read, write, _]| read == write);
        match (self.size(behind).filter(|gap| gap.0 > 0), one) {
            _ if behind.starts_with('-') => Pattern::Reverse,
            (Some(gap), Some([block, ..])) => Pattern::Strided { stride: Bytes(block.0.saturating_add(gap.0)) },
            _ => Pattern::Sequential,
        }
    }

    /// Order of random offsets: with a map of what was visited, or drawn anew each time.
    fn distribution(&self) -> Pattern {
        let drawn_anew = self.is_set("norandommap") && !self.has_register();
        let plain = if drawn_anew { Pattern::Uniform } else { Pattern::Random };
        match self.any(&["percentage_random"]).and_then(|text| text.split(',').next()?.trim().parse::<u32>().ok()) {
            Some(0) => return Pattern::Sequential,
            Some(random @ 1..100) => return Pattern::Mixed { sequential: Millionths::percent(100 - random) },
            _ => {}
        }
        let Some(text) = self.any(&["random_distribution"]) else { return plain };
        let (name, value) = text.split_once(':').unwrap_or((text, ""));
        let number = value.split([':', '/']).next().and_then(|value| value.parse::<f64>().ok()).filter(|v| *v > 0.0);
        let scaled = |value: f64, unit: f64, most: u32| ((value * unit).round().max(1.0) as u32).min(most);
        match (name, number) {
            ("zipf", Some(theta)) => Pattern::Zipf { theta_thousandths: scaled(theta, 1e3, THETA.most) },
            ("pareto", Some(hot)) => Pattern::Pareto { hot: Millionths(scaled(hot, 1e6, HOT.most.0)) },
            // In per cent.
            ("normal", Some(width)) => Pattern::Normal { deviation: Millionths(scaled(width, 1e4, DEVIATION.most.0)) },
            // Zones that are not taken over are noted; inside of them offsets are drawn anew each time.
            ("zoned", _) => fio_values::zones(value).map_or(Pattern::Uniform, Pattern::Zones),
            ("zoned_abs", _) => Pattern::Uniform,
            _ => plain,
        }
    }
}

/// A size in bytes; `kb_base` is what a `k` is.
//= fio, HOWTO.rst#parameter-types
pub fn size(text: &str, kb_base: u64) -> Option<Bytes> {
    match fio_values::size(text, kb_base)? {
        Amount::Bytes(bytes) => Some(bytes),
        Amount::Percent(_) => None,
    }
}

/// What a `k` is among these options.
pub fn kb_base(all: &BTreeMap<String, String>) -> u64 {
    match all.get("kb_base").map(|text| text.trim()) {
        Some("1000") => 1000,
        _ => 1024,
    }
}

/// A time: seconds, unless a unit follows.
fn time(text: &str) -> Option<Nanos> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number: u64 = text[..digits].parse().ok()?;
    let unit = match &text[digits..] {
        "" | "s" | "sec" => 1_000_000_000,
        "ms" | "msec" => 1_000_000,
        "us" | "usec" => 1_000,
        "m" | "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return None,
    };
    number.checked_mul(unit).map(Nanos)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_spec::pattern::Zone;

    fn options(pairs: &[(&str, &str)]) -> Options {
        let all = pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        Options { all, given: true, of_one_section: false }
    }

    #[test]
    fn sizes_are_as_fio_reads_them() {
        let bytes = |text| size(text, 1024).map(|bytes| bytes.0);
        assert_eq!([bytes("4k"), bytes("4KiB"), bytes("4ki"), bytes("512")], [4096, 4000, 4096, 512].map(Some));
        let decimal = options(&[("bs", "4k"), ("kb_base", "1000"), ("size", "1mib")]);
        assert_eq!((decimal.sizes(), decimal.range().1), (Some((Bytes(4000), Vec::new())), Bytes(1 << 20)));
        assert_eq!([bytes("1m"), bytes("0x200"), bytes("2G"), bytes("8kb")], [1 << 20, 512, 2 << 30, 8192].map(Some));
        assert_eq!([bytes("50%"), bytes(""), bytes("4q"), bytes("99999999999p")], [None; 4]);
    }

    #[test]
    fn one_size_is_known_and_so_is_a_mixture_with_shares_and_nothing_else() {
        let sizes = |name, value| options(&[(name, value)]).sizes().map(|(largest, shares)| (largest.0, shares.len()));
        assert_eq!(sizes("bs", "8k"), Some((8192, 0)));
        assert_eq!(sizes("rw", "read"), Some((4096, 0)));
        assert_eq!(sizes("bs", "8k,8k,8k"), Some((8192, 0)));
        assert_eq!(sizes("bs", "4k,8k"), Some((4096, 0)), "fio reads by default");
        assert_eq!(options(&[("bs", "4k,8k"), ("rw", "write")]).sizes(), Some((Bytes(8192), Vec::new())));
        assert_eq!(options(&[("bs", "8k,"), ("rw", "write")]).sizes(), Some((Bytes(4096), Vec::new())));
        assert_eq!(options(&[("bs", "4k,8k"), ("rw", "rw")]).sizes(), None);
        assert_eq!(sizes("bssplit", "64k/40:4k/60"), Some((65_536, 2)));
        let map = |rest: &[(&str, &str)]| options(&[&[("bssplit", "64k/40:4k/60"), ("rw", "randread")], rest].concat());
        assert_eq!(map(&[]).sizes(), None, "the random map cuts I/Os short");
        assert!(
            map(&[("norandommap", "1")]).sizes().is_some()
                && map(&[("random_distribution", "zipf:1.1")]).sizes().is_some()
        );
        for register in [&[("random_generator", "lfsr")][..], &[("norandommap", "1"), ("random_generator", "lfsr")]] {
            assert!(map(register).sizes().is_some(), "a shift register has no map: {register:?}");
        }
        for half in [("percentage_random", "50"), ("random_distribution", "zoned:60/10:40/90")] {
            assert_eq!(map(&[half]).sizes(), None, "the map is kept also with {half:?}");
            assert!(map(&[half, ("norandommap", "1")]).sizes().is_some());
        }
        assert!(map(&[("percentage_random", "0")]).sizes().is_some(), "in order, blocks may be visited again");
        assert_eq!(sizes("bssplit", "4k/60:64k/"), None);
        assert_eq!(sizes("bsrange", "4k-64k"), None);
        assert_eq!(Options::default().sizes(), None);
    }

    #[test]
    fn the_depth_is_one_for_engines_that_wait() {
        let depth = |pairs: &[(&str, &str)]| options(pairs).depth();
        assert_eq!(depth(&[("iodepth", "32"), ("ioengine", "libaio")]), Some(32));
        assert_eq!(depth(&[("iodepth", "32")]), Some(1), "psync by default");
        assert_eq!(
            depth(&[("iodepth", "32"), ("filename", ".\\\\x.dat")]),
            Some(32),
            "windowsaio by default on Windows"
        );
        assert_eq!(depth(&[("ioengine", "io_uring")]), Some(1));
        for waits in ["libpmem", "dev-dax", "http", "gfapi", "libcufile", "mtd", "libhdfs"] {
            assert_eq!(depth(&[("iodepth", "32"), ("ioengine", waits)]), Some(1), "{waits}");
        }
        // Submission by threads, an I/O each.
        let by_threads = [("iodepth", "32"), ("ioengine", "psync"), ("io_submit_mode", "offload")];
        assert_eq!((depth(&by_threads), depth(&by_threads[..2])), (Some(32), Some(1)));
        assert_eq!(depth(&[("iodepth", "32"), ("ioengine", "psync"), ("io_submit_mode", "inline")]), Some(1));
        // Whether an engine waits that is not fio's own is not known; one I/O is one either way.
        for unknown in ["external:/opt/engine.so", "sg"] {
            assert_eq!(depth(&[("iodepth", "32"), ("ioengine", unknown)]), None);
            assert_eq!(depth(&[("ioengine", unknown)]), Some(1));
        }
        assert_eq!(depth(&[("iodepth", "32"), ("ioengine", "")]), Some(32), "as we export results of elbencho");
        assert_eq!(Options::default().depth(), None);
    }

    #[test]
    fn what_is_read_and_written_and_in_which_order() {
        let shape = |pairs: &[(&str, &str)]| {
            let Shape { mix, pattern } = options(pairs).shape();
            (mix.map(|mix| (mix.read, mix.write, mix.discard)), pattern)
        };
        assert_eq!(shape(&[]), (Some((100, 0, 0)), Pattern::Sequential));
        let runs_of_eight = Pattern::Mixed { sequential: Millionths(875_000) };
        assert_eq!(shape(&[("rw", "randrw:8"), ("rwmixread", "70")]), (Some((70, 30, 0)), runs_of_eight));
        assert_eq!(
            shape(&[("readwrite", "readwrite"), ("rwmixwrite", "30")]),
            (Some((70, 30, 0)), Pattern::Sequential)
        );
        assert_eq!(shape(&[("rw", "randtrim"), ("norandommap", "1")]), (Some((0, 0, 100)), Pattern::Uniform));
        assert_eq!(shape(&[("rw", "trimwrite")]).0, None);
        let zipf = shape(&[("rw", "randread"), ("random_distribution", "zipf:1.2")]).1;
        assert_eq!(zipf, Pattern::Zipf { theta_thousandths: 1200 });
        let ordered = |rw| shape(&[("rw", rw), ("bs", "4k")]).1;
        let spaced = Pattern::Strided { stride: Bytes(12 << 10) };
        assert_eq!(
            [ordered("read:8k"), ordered("read:-4k"), ordered("read:0")],
            [spaced, Pattern::Reverse, Pattern::Sequential]
        );
        let drawn = |how| shape(&[("rw", "randread"), ("random_distribution", how)]).1;
        assert_eq!(drawn("zipf:x"), Pattern::Random);
        assert_eq!(drawn("pareto:0.2"), Pattern::Pareto { hot: Millionths::percent(20) });
        assert_eq!(drawn("normal:25"), Pattern::Normal { deviation: Millionths::percent(25) });
        let zone =
            |accesses, space| Zone { accesses: Millionths::percent(accesses), space: Millionths::percent(space) };
        assert_eq!(drawn("zoned:60/10:40/90"), Pattern::Zones(vec![zone(60, 10), zone(40, 90)]));
        for unread in ["zoned_abs:60/1g:40/2g", "zoned:60/10:40/90,zoned:50/50:50/50"] {
            assert_eq!(drawn(unread), Pattern::Uniform);
            assert_eq!(options(&[("rw", "randread"), ("random_distribution", unread)]).unread_zones(), Some(unread));
        }
        let read = options(&[("rw", "randread"), ("random_distribution", "zoned:60/10:40/90")]);
        assert_eq!(read.unread_zones(), None);
        let register = shape(&[("rw", "randread"), ("norandommap", "1"), ("random_generator", "lfsr")]).1;
        assert_eq!(register, Pattern::Random, "each block once, without a map");
        let part = |percent| shape(&[("rw", "randread"), ("percentage_random", percent)]).1;
        assert_eq!(part("30"), Pattern::Mixed { sequential: Millionths::percent(70) });
        assert_eq!([part("0"), part("100,100,100")], [Pattern::Sequential, Pattern::Random]);
    }

    #[test]
    fn memory_of_huge_pages() {
        let pages = |kind| options(&[("mem", kind)]).pages();
        assert_eq!(
            (pages("shmhuge"), pages("mmaphuge:/x"), pages("mmap:/x")),
            (Pages::Huge, Pages::Huge, Pages::Ordinary)
        );
        assert_eq!((options(&[("iomem", "mmaphuge")]).pages(), options(&[]).pages()), (Pages::Huge, Pages::Ordinary));
    }

    #[test]
    fn syncs_direct_rests_and_ramps() {
        assert_eq!(options(&[("fsync", "32")]).sync(), Sync::Fsync(32));
        assert_eq!(options(&[("fdatasync", "1")]).sync(), Sync::Fdatasync(1));
        assert_eq!((options(&[("sync", "1")]).sync(), options(&[("fsync", "0")]).sync()), (Sync::ODsync, Sync::None));
        assert!(options(&[("direct", "1")]).direct() && options(&[("buffered", "0")]).direct());
        assert!(!options(&[("direct", "0")]).direct() && !options(&[]).direct());
        assert!(Options::default().direct(), "not known to go through the page cache");
        assert!(options(&[("ioengine", "null")]).direct(), "no I/O goes anywhere");
        assert!(options(&[("rate_iops", "100")]).paced() && !options(&[("thinktime", "0")]).paced());
        let ramp = |text| options(&[("ramp_time", text)]).ramp();
        assert_eq!((ramp("2"), ramp("1m"), ramp("5q")), (Nanos::secs(2), Nanos::secs(60), Nanos(0)));
    }
}

//! Reads what fio prints at its end (`--output-format=json+`). Pure, and wary: it comes from another program.

use crate::child::WORDS_MAX;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;
use stend_record::fio_bins::{Bins, Exact, bin};
use stend_spec::workload::Op;

/// What fio tells of itself and of every job.
#[derive(Debug, Deserialize)]
pub(super) struct Document {
    /// What it calls itself.
    #[serde(rename = "fio version")]
    pub version: String,
    /// Sections of the job file, in their order.
    pub jobs: Vec<Report>,
}

/// One job.
#[derive(Debug, Deserialize)]
pub(super) struct Report {
    /// Name of the section.
    pub jobname: String,
    /// The error that ended it; 0 if none did.
    pub error: i32,
    /// Since the end of the ramp, ms.
    #[serde(default)]
    job_runtime: u64,
    /// What it read in its section of the job file.
    #[serde(rename = "job options", default)]
    options: BTreeMap<String, String>,
    #[serde(default)]
    usr_cpu: f64,
    #[serde(default)]
    sys_cpu: f64,
    read: Side,
    write: Side,
    sync: Option<Side>,
}

/// One kind of I/O.
#[derive(Debug, Deserialize)]
pub(super) struct Side {
    /// Bytes that it moved.
    #[serde(default)]
    pub io_bytes: u64,
    /// How long, ms.
    #[serde(default)]
    pub runtime: u64,
    /// From before the submission to the completion.
    #[serde(default)]
    pub lat_ns: Latency,
    /// From after the submission.
    #[serde(default)]
    pub clat_ns: Latency,
}

/// Latencies of one kind.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Latency {
    #[serde(default)]
    min: u64,
    /// Largest, ns.
    #[serde(default)]
    pub max: u64,
    #[serde(default)]
    mean: f64,
    #[serde(default)]
    pub(super) bins: BTreeMap<String, u64>,
}

/// Where the summary begins in what was printed.
fn begin(printed: &[u8]) -> Option<usize> {
    let at_line = |at: &usize| *at == 0 || printed[at - 1] == b'\n';
    (0..printed.len()).filter(|&at| printed[at] == b'{').find(at_line)
}

/// What was printed before and behind the summary, the beginning of it.
pub(super) fn outside(printed: &[u8]) -> String {
    let (before, summary) = printed.split_at(begin(printed).unwrap_or(printed.len()));
    let mut values = serde_json::Deserializer::from_slice(summary).into_iter::<IgnoredAny>();
    // One that was cut has nothing behind it.
    let behind = if matches!(values.next(), Some(Ok(_))) { &summary[values.byte_offset()..] } else { &[] };
    let most = WORDS_MAX as usize;
    let texts = [before, behind].map(|part| String::from_utf8_lossy(&part[..part.len().min(most)]).trim().to_string());
    texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

impl Document {
    /// What was printed, warnings before it left out; or why it cannot be understood.
    pub fn parse(printed: &[u8]) -> Result<Document, String> {
        let text = &printed[begin(printed).ok_or("there is no JSON in what it printed")?..];
        // Errors of single jobs may stand behind it, too.
        let first = serde_json::Deserializer::from_slice(text).into_iter::<Document>().next();
        first.ok_or("there is no JSON in what it printed")?.map_err(|e| e.to_string())
    }
}

impl Report {
    /// What it tells of a kind of I/O, if it can tell anything.
    pub fn side(&self, op: Op) -> Option<&Side> {
        match op {
            Op::Read => Some(&self.read),
            Op::Write => Some(&self.write),
            Op::Sync => self.sync.as_ref(),
            Op::Discard | Op::WriteZeroes => None,
        }
    }

    /// An option of its section, as it was read.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.get(name).map(String::as_str)
    }

    /// How long its I/O lasted, ms.
    pub fn runtime_ms(&self) -> u64 {
        self.read.runtime.max(self.write.runtime)
    }

    /// Time on a CPU, ns.
    pub fn cpu_ns(&self) -> u64 {
        ((self.usr_cpu + self.sys_cpu).max(0.0) / 100.0 * self.job_runtime as f64 * 1e6) as u64
    }
}

impl Latency {
    /// Counts by bucket; or which name of one is none.
    pub fn bins(&self) -> Result<Bins, String> {
        let mut bins = Bins::new();
        for (middle, &count) in &self.bins {
            let value: u64 = middle.parse().map_err(|_| format!("`{middle}` is no bucket of latency"))?;
            let sum = bins.entry(bin(value)).or_default();
            *sum = u64::saturating_add(*sum, count);
        }
        Ok(bins)
    }

    /// What does not come from buckets.
    pub fn exact(&self) -> Exact {
        Exact { min_ns: self.min, max_ns: self.max, mean_ns: self.mean }
    }
}

/// What tests change of it.
#[cfg(test)]
impl Report {
    pub fn side_mut(&mut self, op: Op) -> &mut Side {
        match op {
            Op::Read => &mut self.read,
            Op::Write => &mut self.write,
            _ => self.sync.as_mut().expect("a summary of syncs"),
        }
    }

    pub fn set_option(&mut self, name: &str, value: &str) {
        self.options.insert(name.into(), value.into());
    }

    pub fn set_runtime_ms(&mut self, ms: u64) {
        (self.read.runtime, self.write.runtime) = (ms, ms);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_record::fio_bins::count;

    const FIXTURE: &[u8] = include_bytes!("../../tests/fixtures/fio-3.33.json");

    #[test]
    fn what_fio_3_33_printed_is_understood() {
        let document = Document::parse(FIXTURE).unwrap();
        assert_eq!(document.version, "fio-3.33");
        let job = &document.jobs[0];
        assert_eq!((job.jobname.as_str(), job.error, job.runtime_ms()), ("s0j0", 0, 301));
        let counts = [Op::Read, Op::Write, Op::Sync].map(|op| {
            let side = job.side(op).unwrap();
            (count(&side.lat_ns.bins().unwrap()), side.io_bytes)
        });
        assert_eq!(counts, [(2016, 8_257_536), (873, 3_575_808), (0, 0)]);
        assert!(job.side(Op::Discard).is_none());
    }

    #[test]
    fn warnings_before_it_and_words_behind_it_are_left_out() {
        let text = [b"fio: warning {no}\n".as_slice(), FIXTURE, b"\nfio: bye\n"].concat();
        assert_eq!(Document::parse(&text).unwrap().jobs.len(), Document::parse(FIXTURE).unwrap().jobs.len());
    }

    #[test]
    fn what_it_says_around_its_summary_is_kept_and_the_summary_is_not() {
        let text = [b"fio: pid=1, err=5/x\n".as_slice(), FIXTURE, b"\nfio: bye\n"].concat();
        assert_eq!(outside(&text), "fio: pid=1, err=5/x\nfio: bye");
        assert_eq!(outside(FIXTURE), "");
        assert_eq!(outside(b"no luck\n"), "no luck");
        assert_eq!(outside(&[b"why\n", &FIXTURE[..FIXTURE.len() / 2]].concat()), "why");
        assert_eq!(outside(&vec![b'x'; 1 << 20]).len(), WORDS_MAX as usize);
    }

    #[test]
    fn what_is_no_such_document_is_refused() {
        for bad in [&b""[..], b"fio: no", b"{}", b"{\"fio version\": 3, \"jobs\": []}", b"{\"jobs\": [{"] {
            assert!(Document::parse(bad).is_err(), "{}", String::from_utf8_lossy(bad));
        }
        let cut = &FIXTURE[..FIXTURE.len() / 2];
        assert!(Document::parse(cut).is_err());
        let odd = Latency { bins: BTreeMap::from([("12x".to_string(), 1)]), ..Latency::default() };
        assert_eq!(odd.bins().unwrap_err(), "`12x` is no bucket of latency");
    }

    #[test]
    fn cpu_time_is_a_share_of_the_runtime_and_never_negative() {
        let mut document = Document::parse(FIXTURE).unwrap();
        let job = &mut document.jobs[0];
        (job.job_runtime, job.usr_cpu, job.sys_cpu) = (500, 2.5, 37.5);
        assert_eq!(job.cpu_ns(), 200_000_000);
        job.usr_cpu = -1e9;
        assert_eq!(job.cpu_ns(), 0);
    }
}

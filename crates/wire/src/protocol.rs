//! What coordinator and worker say to each other. Both ends are the same build, so messages need no
//! compatibility: a hello with magic and version, then frames of `u32` length and postcard.

use crate::look::{Look, Seen};
use crate::stand::{StandAnswer, StandOrder};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::io::{self, Read, Write};
use stend_base::{Bytes, Error, Nanos, Result, Say, say};
use stend_record::observed::FillOutcome;
use stend_record::{
    Aftermath, ArmFacts, DryRun, Event, HostFacts, IoChunk, Sample, Slice, TargetFacts, TrialOutcome, ZeroSample,
};
use stend_spec::app::Program;
use stend_spec::arm::{Observation, Switch};
use stend_spec::external::FioNeed;
use stend_spec::fault::Fault;
use stend_spec::permission::Permission;
use stend_spec::precondition::Precondition;
use stend_spec::trace::TracedIo;
use stend_spec::workload::{Region, Trial};

/// First bytes of each stream.
const MAGIC: [u8; 8] = *b"stend\r\n\x01";
/// Largest frame. A trial of 64 streams with full histograms is far below it.
pub const FRAME_MAX: usize = 16 << 20;
/// Bytes of the length of a frame.
const LENGTH: usize = size_of::<u32>();
/// Memory that a frame gets before any of it has come; nearly all frames are smaller.
const AT_ONCE: usize = 64 << 10;

/// From the coordinator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// Look at the targets and the host.
    Inspect(Inspect),
    /// Say what `Prepare` would change; change nothing.
    Rehearse(Prepare),
    /// Make the target ready for I/O.
    Prepare(Prepare),
    /// Compare the target with the ledger that a crash of the run left behind, if there is one. Changes nothing.
    Judge(Judge),
    /// Write a range in order, once or as its preconditioning says.
    Fill {
        /// What to write.
        region: Region,
        /// Equal parts of it that are written at the same time, one for each target.
        parts: u32,
        /// How, if not once and plainly.
        how: Option<Precondition>,
        /// Seed of the data.
        seed: u64,
    },
    /// Measure ceilings: read every drive under the targets, and run these loads with nothing behind them. Writes nothing.
    Calibrate {
        /// Loads of cases, without a target.
        engine: Vec<Trial>,
        /// Seed of the offsets.
        seed: u64,
    },
    /// Read blocks at random and count those that hold only zeros.
    SampleZeros {
        /// Where.
        region: Region,
        /// Seed of the offsets.
        seed: u64,
    },
    /// Leave the arm that the host is in, if it is in one, and enter another.
    Switch(Box<SwitchTo>),
    /// Keep recorded I/Os for the trials that replay them; those of one trace come in order, in one message or several.
    Trace {
        /// Number of the trace in the run.
        number: u32,
        /// Its next I/Os.
        ios: Vec<TracedIo>,
    },
    /// Say whether trials could be run, each named by the label of its case; no load is made. What is known of recorded
    /// I/Os must have come before.
    Foresee(Vec<UpcomingTrial>),
    /// Run one trial.
    Trial {
        /// Its ordinal, repeated in every answer.
        ordinal: u32,
        /// What to do.
        trial: Box<Trial>,
        /// What happens beside it.
        faults: Vec<Fault>,
        /// Block of the trial: events that take each drive in turn take its own.
        block: u32,
        /// Its load does not begin before this, CLOCK_MONOTONIC of the host; 0: it begins as soon as it can.
        begin: Nanos,
    },
    /// Plan, put up, look at or take down a stand.
    Stand(Box<StandOrder>),
    /// Read telemetry of this host from now on, beside another one that is measured.
    Watch(Watch),
    /// Read it once more now: a trial begins or ends.
    Mark,
    /// Look at this host, where no run follows. Changes nothing.
    Look(Look),
    /// Say what the clock shows; answered at once.
    Clock,
    /// End whatever I/O is going on, keep what was measured.
    Stop,
    /// Undo what `Prepare` made and give up every claim.
    Release,
}

/// A trial to come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UpcomingTrial {
    /// Label of its case, for errors.
    pub label: String,
    /// What would be done.
    pub trial: Trial,
    /// What would happen beside it.
    pub faults: Vec<Fault>,
}

/// What to look at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Inspect {
    /// Path or identity of every target as the user gave it, in the order in which they form the range.
    pub targets: Vec<String>,
    /// What the user allowed to be written.
    pub permission: Permission,
    /// Directory of the run file; empty if that is on another machine.
    pub run_directory: String,
    /// A case is run by the fio of the host: then there must be one that can do this.
    pub fio: Option<FioNeed>,
    /// Applications that cases run: then their programs must be there.
    pub programs: Vec<Program>,
}

/// What to watch beside a host that is measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watch {
    /// Paths of what this host hands out to that one; `None`: every drive that it has.
    pub targets: Option<Vec<String>>,
    /// Time between telemetry samples.
    pub sample_every: Nanos,
}

/// An arm to enter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SwitchTo {
    /// How.
    pub switch: Switch,
    /// What to look at afterwards, beyond host and target.
    pub observe: Vec<Observation>,
    /// Id of the run.
    pub run: String,
    /// Path of its run file, shown to other runs that find the host switched.
    pub run_file: String,
}

/// What to judge after a crash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judge {
    /// Path of the ledger.
    pub ledger: String,
    /// Id of the run.
    pub run: String,
    /// Sizes of the test files that the run had made; none: it used the target itself.
    pub files: Vec<Bytes>,
    /// The last session kept it, and may have been killed then.
    pub kept: bool,
}

/// How to make the target ready.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prepare {
    /// Sizes of the test files to make on each target, in the order of the range that they form; none: the target itself
    /// is used.
    pub files: Vec<Bytes>,
    /// Bytes of the range on each target, if they are several.
    pub share: Bytes,
    /// Devices that several load hosts share: where the part of this host begins on each of them. `None`: no other host uses the targets.
    pub begin: Option<Bytes>,
    /// The plan writes.
    pub write: bool,
    /// Id of the run.
    pub run: String,
    /// Path of its run file, shown to other runs that find the target taken.
    pub run_file: String,
    /// Path of the ledger to keep, if a crash is to be judged. One that is there is done with.
    pub ledger: Option<String>,
    /// Process id of the coordinator, for its cost; 0 if it is on another machine.
    pub coordinator: u32,
    /// Time between telemetry samples.
    pub sample_every: Nanos,
}

/// From the worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// Answer to `Inspect`.
    Facts(Box<Facts>),
    /// Answer to `Rehearse`.
    Rehearsed(DryRun),
    /// Answer to `Stand`.
    Stand(Box<StandAnswer>),
    /// Answer to `Look`.
    Seen(Box<Seen>),
    /// Answer to `Clock`: CLOCK_MONOTONIC.
    Clock(Nanos),
    /// Answer to `Watch`; samples follow, and one more after each `Mark`.
    Watched {
        /// The host.
        host: Box<HostFacts>,
        /// Its network interfaces with hardware behind them.
        ports: Vec<String>,
        /// What it hands out.
        targets: Vec<TargetFacts>,
    },
    /// Answer to `Prepare`.
    Prepared,
    /// Progress of `Judge`.
    Judging {
        /// Bytes compared so far.
        done: Bytes,
    },
    /// Progress of `Release` where a log of writes is replayed: while the log is read, before each state, and while that is rebuilt and judged.
    Replaying {
        /// Which one is being rebuilt, from 1; 0: the log is read.
        state: u32,
        /// How many there are.
        states: u32,
    },
    /// Answer to `Judge`; `None`: there is no ledger.
    Judged(Option<Box<Aftermath>>),
    /// Answer to `Trace` and to `Foresee`: go on.
    Taken,
    /// Progress of a fill, about ten times a second.
    Filling {
        /// Bytes written so far.
        done: Bytes,
    },
    /// Answer to `Switch`.
    Switched(Box<ArmFacts>),
    /// End of a fill.
    Filled(FillOutcome),
    /// End of `Calibrate`, whose readings came as events.
    Calibrated,
    /// Answer to `SampleZeros`.
    Zeros(ZeroSample),
    /// Intervals of the trial in progress.
    Slices {
        /// Ordinal of the trial.
        ordinal: u32,
        /// The slices.
        slices: Vec<Slice>,
    },
    /// I/Os of the log of the trial in progress.
    Log {
        /// Ordinal of the trial.
        ordinal: u32,
        /// The I/Os.
        chunk: IoChunk,
    },
    /// End of a trial.
    TrialDone {
        /// Ordinal of the trial.
        ordinal: u32,
        /// What is known at its end.
        outcome: Box<TrialOutcome>,
    },
    /// Telemetry; also the sign of life.
    Sample(Box<Sample>),
    /// Something happened.
    Event(Event),
    /// The step in progress could not be done.
    Failed(Box<Error>),
    /// Answer to `Release`.
    Released,
}

/// What a worker knows of its host and target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// The host.
    pub host: HostFacts,
    /// Its network interfaces with hardware behind them.
    pub ports: Vec<String>,
    /// The targets, in their order.
    pub targets: Vec<TargetFacts>,
    /// Whether they may be written, and if not, why write cases do not run.
    pub writes: std::result::Result<(), Say>,
    /// The run file would share a physical drive with a target.
    pub shares_drive: bool,
}

/// First message in each direction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Version of the binary.
    pub version: String,
    /// Process id.
    pub pid: u32,
    /// The kernel's own id of this boot: two that say the same share clocks, processes and paths. Empty if there is none.
    pub boot_id: String,
}

impl Hello {
    /// The hello of this process.
    pub fn ours() -> Hello {
        let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        Hello { version: env!("CARGO_PKG_VERSION").to_string(), pid: std::process::id(), boot_id }
    }
}

/// Sends magic and hello.
pub fn write_hello(to: &mut impl Write) -> io::Result<()> {
    to.write_all(&MAGIC)?;
    write_frame(to, &Hello::ours())
}

/// Receives magic and hello, and refuses another build.
pub fn read_hello(from: &mut impl Read) -> Result<Hello> {
    let lost = |detail: String| {
        Error::host_lost(say!("the worker did not start: {detail}", "рабочий процесс не запустился: {detail}"))
    };
    let mut magic = [0; MAGIC.len()];
    from.read_exact(&mut magic).map_err(|e| lost(e.to_string()))?;
    if magic != MAGIC {
        return Err(lost("its first bytes are not a hello".to_string()));
    }
    let hello: Hello =
        read_frame(from).map_err(|e| lost(e.to_string()))?.ok_or_else(|| lost("no hello".to_string()))?;
    let ours = Hello::ours().version;
    if hello.version != ours {
        let theirs = &hello.version;
        return Err(Error::host_lost(say!(
            "the worker is version {theirs}, this is {ours}",
            "версия рабочего процесса {theirs}, а наша {ours}"
        )));
    }
    Ok(hello)
}

/// One message as it is sent. An error if it is larger than [`FRAME_MAX`]: the other end would not take it.
pub fn frame(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut frame = postcard::to_extend(message, vec![0; LENGTH]).map_err(io::Error::other)?;
    let length = frame.len() - LENGTH;
    if length > FRAME_MAX {
        return Err(io::Error::other(format!("a frame of {length} bytes is over the limit")));
    }
    frame[..LENGTH].copy_from_slice(&(length as u32).to_le_bytes());
    Ok(frame)
}

/// Sends one message and flushes.
pub fn write_frame(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    to.write_all(&frame(message)?)?;
    to.flush()
}

/// Receives one message; `None` at a clean end of the stream.
pub fn read_frame<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<Option<T>> {
    let mut length = [0; LENGTH];
    match from.read(&mut length)? {
        0 => return Ok(None),
        n => from.read_exact(&mut length[n..])?,
    }
    let length = u32::from_le_bytes(length) as usize;
    if length > FRAME_MAX {
        return Err(io::Error::other(format!("a frame of {length} bytes is over the limit")));
    }
    // Memory for what comes, not for what is announced.
    let mut body = Vec::with_capacity(length.min(AT_ONCE));
    from.take(length as u64).read_to_end(&mut body)?;
    if body.len() < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    match postcard::take_from_bytes(&body).map_err(io::Error::other)? {
        (message, []) => Ok(Some(message)),
        (_, rest) => Err(io::Error::other(format!("{} bytes of a frame belong to no message", rest.len()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Kind;

    #[test]
    fn frames_survive_the_stream_and_end_cleanly() {
        let mut stream = Vec::new();
        write_hello(&mut stream).unwrap();
        write_frame(&mut stream, &Request::Stop).unwrap();
        let mut from = stream.as_slice();
        assert_eq!(read_hello(&mut from).unwrap(), Hello::ours());
        assert_eq!(read_frame::<Request>(&mut from).unwrap(), Some(Request::Stop));
        assert_eq!(read_frame::<Request>(&mut from).unwrap(), None);
    }

    #[test]
    fn a_stream_that_is_no_worker_is_refused() {
        let text = b"bash: stend: command not found\n";
        let error = read_hello(&mut text.as_slice()).unwrap_err();
        assert_eq!(error.kind, Kind::HostLost);
        assert!(error.message.en.contains("not a hello"), "{error}");
    }

    #[test]
    fn another_version_is_refused() {
        let mut stream = MAGIC.to_vec();
        write_frame(&mut stream, &Hello { version: "0.0.1".into(), ..Hello::ours() }).unwrap();
        assert!(read_hello(&mut stream.as_slice()).unwrap_err().message.en.contains("version 0.0.1"));
    }

    #[test]
    fn an_oversized_or_cut_frame_is_an_error_not_an_allocation() {
        let huge = u32::MAX.to_le_bytes();
        assert!(read_frame::<Request>(&mut huge.as_slice()).unwrap_err().to_string().contains("over the limit"));
        let cut = [9, 0, 0, 0, 1, 2];
        assert!(read_frame::<Request>(&mut cut.as_slice()).is_err());
    }

    #[test]
    fn a_frame_that_holds_more_than_its_message_is_an_error() {
        let mut stream = vec![2, 0, 0, 0];
        stream.extend(postcard::to_stdvec(&Request::Stop).unwrap());
        stream.push(7);
        assert_eq!(stream.len(), 6, "one byte too many");
        let error = read_frame::<Request>(&mut stream.as_slice()).unwrap_err();
        assert!(error.to_string().contains("belong to no message"), "{error}");
    }

    /// A stream, and the most bytes that were asked of it at once.
    struct Asked<'a>(&'a [u8], usize);

    impl Read for Asked<'_> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            self.1 = self.1.max(to.len());
            self.0.read(to)
        }
    }

    #[test]
    fn a_frame_that_announces_more_than_comes_gets_no_memory_for_it() {
        let mut stream = Asked(&[0, 0, 0, 1, 7], 0);
        assert!(read_frame::<Request>(&mut stream).is_err());
        assert!(stream.1 <= AT_ONCE, "{} bytes for one", stream.1);
        let mut long = Vec::new();
        let ios = vec![
            stend_spec::trace::TracedIo {
                at: Nanos(7),
                offset: 1 << 40,
                len: 4096,
                op: stend_spec::workload::Op::Read,
                durable: false
            };
            100_000
        ];
        write_frame(&mut long, &Request::Trace { number: 0, ios: ios.clone() }).unwrap();
        let back = read_frame::<Request>(&mut long.as_slice()).unwrap();
        assert!(long.len() > 2 * AT_ONCE && back == Some(Request::Trace { number: 0, ios }));
    }
}

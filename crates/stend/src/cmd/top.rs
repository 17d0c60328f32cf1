//! `stend top`: a host step by step, as it is now or as a recording has it. On a terminal a picture with a history, else what it shows as text.

use crate::out::Out;
use crate::terminal::{Key, Terminal};
use clap::ArgMatches;
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;
use stend_analyse::host_rates::{HostRates, between, throttled};
use stend_base::{Error, Nanos, Result, say};
use stend_record::store::SampleRows;
use stend_record::{Health, HostFacts, Parts, Sample, WallClock};
use stend_report::HostView;
use stend_session::{DriveHealth, Sampler};

/// Steps that are kept of a host that is watched now: an hour of seconds, some 20 MB with 32 drives.
const STEPS_KEPT: usize = 3600;

/// A signal is noticed after this time at the latest.
const NOTICE: Duration = Duration::from_millis(100);

/// How far back a recording is looked through for temperatures. They are read every half a minute at least, some seconds later if a drive
/// hangs, and the reading before the last one is needed, too.
const READINGS_WITHIN: Nanos = Nanos::secs(75);

/// So many samples are looked through however old they are: steps of old ones are minutes.
const SAMPLES_BACK: std::ops::Range<usize> = 60..1000;

/// What PgUp and PgDn go by.
const PAGE: Nanos = Nanos::secs(60);

/// Shows a host until the user ends it, or after as many steps as were asked for.
pub fn top(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let every = stend_session::pace(arguments.get_one::<String>("every").map_or("1s", String::as_str))?;
    let count = arguments.get_one::<u64>("count").copied();
    let mut steps = match arguments.get_one::<String>("RECORDING") {
        Some(name) => Steps::recorded(name, out)?,
        None => Steps::now(every)?,
    };
    if !out.json && count.is_none() && Terminal::is_there() {
        steps.ask_drives()?;
        let control = super::signals::watch_signals()?;
        return control.hold(|stopped| draw(&mut steps, out, stopped));
    }
    print(&mut steps, count, out)
}

/// A step with what is needed to draw it.
#[derive(Debug, Clone)]
struct Step {
    rates: HostRates,
    at_unix_ns: i64,
    /// As they were last read.
    parts: Rc<Parts>,
}

/// Where steps come from.
enum Steps {
    /// This host.
    Now {
        sampler: Box<Sampler>,
        every: Nanos,
        due: Nanos,
        before: Box<Sample>,
        kept: VecDeque<Step>,
        host: String,
        /// `None`: drives are not asked.
        drives: Option<Box<DriveHealth>>,
    },
    /// A recording.
    Recorded(Box<SampleRows>, WallClock),
}

impl Steps {
    fn now(every: Nanos) -> Result<Steps> {
        let mut sampler = Box::new(Sampler::new(Path::new("/"))?);
        let (before, _) = sampler.read();
        let HostFacts { hostname: host, .. } = stend_session::host_facts();
        let (due, before, kept) = (before.at + every, Box::new(before), VecDeque::new());
        Ok(Steps::Now { sampler, every, due, before, kept, host, drives: None })
    }

    /// Has drives of this host asked for their health from now on: one picture would be drawn before they answer.
    fn ask_drives(&mut self) -> Result<()> {
        if let Steps::Now { drives, .. } = self {
            *drives = Some(Box::new(DriveHealth::of_this_host()?));
        }
        Ok(())
    }

    fn recorded(name: &str, out: &Out) -> Result<Steps> {
        let path = super::located(name, out)?;
        let rows = super::recording::open(&path, &ArgMatches::default(), &[])?;
        rows.map(|rows| {
            let clock = WallClock::of(&rows.record);
            Steps::Recorded(Box::new(rows), clock)
        })
        .ok_or_else(|| {
            let message = say!("`{name}` is a run, not a recording", "`{name}` — прогон, а не запись");
            Error::usage(message).hint(say!(
                "`stend watch {name}` follows a run, `stend show {name}` prints its results",
                "за прогоном следит `stend watch {name}`, результаты печатает `stend show {name}`"
            ))
        })
    }

    fn host(&self) -> &str {
        match self {
            Steps::Now { host, .. } => host,
            Steps::Recorded(rows, _) => rows.record.load().called(),
        }
    }

    fn is_recorded(&self) -> bool {
        matches!(self, Steps::Recorded(..))
    }

    /// How many there are by now.
    fn len(&self) -> usize {
        match self {
            Steps::Now { kept, .. } => kept.len(),
            Steps::Recorded(rows, _) => rows.len().saturating_sub(1),
        }
    }

    /// When a step ended, on the clock of the host.
    fn at(&self, index: usize) -> Option<Nanos> {
        match self {
            Steps::Now { kept, .. } => kept.get(index).map(|step| step.rates.at),
            Steps::Recorded(rows, _) => rows.at(index + 1),
        }
    }

    /// A step; `None` of one whose samples are damaged.
    fn get(&self, index: usize) -> Option<Step> {
        match self {
            Steps::Now { kept, .. } => kept.get(index).cloned(),
            Steps::Recorded(rows, clock) => {
                let rates = between(&rows.get(index)?, &rows.get(index + 1)?)?;
                let at_unix_ns = clock.unix_ns(rates.at);
                let parts = readings(rows, index + 1).next().unwrap_or_default();
                Some(Step { rates, at_unix_ns, parts: Rc::from(parts) })
            }
        }
    }

    /// How often heat held CPUs back between the reading of a step and the one before it.
    fn throttled(&self, index: usize, step: &Step) -> u64 {
        let before = match self {
            Steps::Now { kept, .. } => {
                let mut earlier = kept.iter().take(index).rev().map(|earlier| &earlier.parts);
                earlier.find(|parts| !Rc::ptr_eq(parts, &step.parts)).cloned()
            }
            Steps::Recorded(rows, _) => readings(rows, index + 1).nth(1).map(Rc::from),
        };
        before.map_or(0, |before| throttled(&before, &step.parts))
    }

    /// What drives had said of themselves until then; of this host the newest.
    fn health(&self, at: Nanos) -> BTreeMap<String, Health> {
        match self {
            Steps::Now { drives, .. } => drives.as_ref().map(|drives| drives.known().clone()).unwrap_or_default(),
            Steps::Recorded(rows, _) => {
                stend_analyse::recording::health(rows.record.events.iter().filter(|event| event.at <= at))
            }
        }
    }

    /// How long until there is a new one; `None`: there will be none.
    fn until_next(&self) -> Option<Duration> {
        match self {
            Steps::Now { due, .. } => Some(due.saturating_sub(stend_sys::clock::now()).duration()),
            Steps::Recorded(..) => None,
        }
    }

    /// Reads the next one, if it is due. Returns how many of the oldest went.
    fn go_on(&mut self) -> Option<usize> {
        let Steps::Now { sampler, every, due, before, kept, drives, .. } = self else { return None };
        if stend_sys::clock::now() < *due {
            return None;
        }
        let (sample, changed) = sampler.read();
        drives.iter_mut().for_each(|drives| drives.look(sample.at, changed.is_some()));
        let rates = between(before, &sample)?;
        let (monotonic, _, realtime) = stend_sys::clock::stamps();
        let at_unix_ns = (realtime as i64).saturating_sub(monotonic as i64).saturating_add_unsigned(sample.at.0);
        let parts = match &sample.parts {
            Some(parts) => Rc::new(Parts::clone(parts)),
            None => kept.back().map(|step| Rc::clone(&step.parts)).unwrap_or_default(),
        };
        kept.push_back(Step { rates, at_unix_ns, parts });
        *due = sample.at + *every;
        **before = sample;
        let over = kept.len().saturating_sub(STEPS_KEPT);
        kept.drain(..over);
        Some(over)
    }
}

/// Readings of parts up to this sample, the newest first.
fn readings(rows: &SampleRows, index: usize) -> impl Iterator<Item = Box<Parts>> + '_ {
    let newest = rows.at(index).unwrap_or_default();
    let is_near = move |at: &usize| {
        let is_young = || rows.at(*at).is_some_and(|then| newest.saturating_sub(then) <= READINGS_WITHIN);
        index - at < SAMPLES_BACK.start || is_young()
    };
    (0..=index).rev().take(SAMPLES_BACK.end).take_while(is_near).filter_map(move |at| rows.get(at)?.parts)
}

/// Prints every step as a line of JSON; without `--json` and a count one picture is enough. A count of a recording is of its last steps.
fn print(steps: &mut Steps, count: Option<u64>, out: &Out) -> Result<()> {
    let most = count.unwrap_or(if out.json { u64::MAX } else { 1 });
    let from_end = steps.is_recorded() && (count.is_some() || !out.json);
    let mut index = if from_end { steps.len().saturating_sub(usize::try_from(most).unwrap_or(usize::MAX)) } else { 0 };
    for _ in 0..most {
        while index >= steps.len() {
            let Some(wait) = steps.until_next() else { return Ok(()) };
            std::thread::sleep(wait);
            index -= steps.go_on().unwrap_or(0);
        }
        if let Some(step) = steps.get(index) {
            let text = match out.json {
                true => {
                    let at_unix_ms = step.at_unix_ns / 1_000_000;
                    stend_report::host_json(steps.host(), at_unix_ms, &step.rates, &step.parts.temperatures)
                }
                false => picture(steps, &step, index, out, usize::MAX),
            };
            if !out.is_read(&text)? {
                return Ok(());
            }
        }
        index += 1;
    }
    Ok(())
}

fn picture(steps: &Steps, step: &Step, index: usize, out: &Out, rows: usize) -> String {
    let newest = steps.at(steps.len().saturating_sub(1)).unwrap_or(step.rates.at);
    let back = if index + 1 == steps.len() { Nanos(0) } else { newest.saturating_sub(step.rates.at) };
    let view = HostView {
        host: steps.host(),
        at_unix: step.at_unix_ns.div_euclid(1_000_000_000),
        back,
        recorded: steps.is_recorded(),
        rates: &step.rates,
        parts: &step.parts,
        throttled: steps.throttled(index, step),
        health: &steps.health(step.rates.at),
        keys: rows < usize::MAX,
    };
    stend_report::host_text(&view, out.lang, (out.width(), rows), out.colour())
}

/// Draws until the user has seen enough: the only place that waits.
fn draw(steps: &mut Steps, out: &Out, stopped: &dyn Fn() -> bool) -> Result<()> {
    let terminal = Terminal::take()?;
    // Which step is shown; `None`: always the newest.
    let mut held: Option<usize> = None;
    let mut changed = true;
    while !stopped() {
        if changed {
            let index = held.unwrap_or(steps.len().saturating_sub(1));
            let text = match steps.get(index) {
                Some(step) => picture(steps, &step, index, out, terminal.rows()),
                None => stend_report::host_waits(out.lang, out.width()),
            };
            if terminal.draw(&text, out.colour()).is_err() {
                return Ok(());
            }
        }
        let keys = terminal.keys(steps.until_next().unwrap_or(NOTICE).min(NOTICE));
        if keys.contains(&Key::Quit) {
            return Ok(());
        }
        changed = !keys.is_empty();
        for key in keys {
            held = moved(steps, held, key);
        }
        if let Some(gone) = steps.go_on() {
            held = held.map(|index| index.saturating_sub(gone));
            changed = true;
        }
    }
    Ok(())
}

/// Which step is shown after a key.
fn moved(steps: &Steps, held: Option<usize>, key: Key) -> Option<usize> {
    let last = steps.len().saturating_sub(1);
    let index = held.unwrap_or(last);
    let at = steps.at(index).unwrap_or_default();
    let wanted = match key {
        Key::Left => index.saturating_sub(1),
        Key::Right => index + 1,
        Key::PageUp => (0..index).rev().find(|i| steps.at(*i).is_some_and(|then| then + PAGE <= at)).unwrap_or(0),
        Key::PageDown => (index..last).find(|i| steps.at(*i).is_some_and(|then| then >= at + PAGE)).unwrap_or(last),
        Key::Home => 0,
        Key::End => last,
        Key::Quit => index,
    };
    // At the newest one the picture goes on by itself.
    (wanted < last).then_some(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Bytes;
    use stend_plan::{PlanInputs, PlanTarget};
    use stend_record::parts::Temperature;
    use stend_record::store::{self, Options};
    use stend_record::{Entry, HostId, Recording, Retention, RunHeader, RunState};
    use stend_spec::suite::Suite;

    /// Steps of this many seconds, each at its end; the host has nothing.
    fn steps(dir: &Path, seconds: &[u64]) -> Steps {
        let step = |second: &u64| Step {
            rates: HostRates { at: Nanos::secs(*second), ..HostRates::default() },
            at_unix_ns: 0,
            parts: Rc::default(),
        };
        Steps::Now {
            sampler: Box::new(Sampler::new(dir).unwrap()),
            every: Nanos::SECOND,
            due: Nanos(u64::MAX),
            before: Box::default(),
            kept: seconds.iter().map(step).collect(),
            host: "lab01".to_string(),
            drives: None,
        }
    }

    #[test]
    fn keys_go_a_step_a_minute_or_to_an_end_and_the_newest_goes_on_by_itself() {
        let dir = tempfile::tempdir().unwrap();
        let steps = steps(dir.path(), &(100..300).collect::<Vec<_>>());
        for (held, key, expected) in [
            (None, Key::Left, Some(198)),
            (Some(198), Key::Left, Some(197)),
            (Some(197), Key::Right, Some(198)),
            (Some(198), Key::Right, None),
            (None, Key::Right, None),
            (Some(0), Key::Left, Some(0)),
            (None, Key::PageUp, Some(139)),
            (Some(30), Key::PageUp, Some(0)),
            (Some(30), Key::PageDown, Some(90)),
            (Some(150), Key::PageDown, None),
            (None, Key::Home, Some(0)),
            (Some(3), Key::End, None),
            (Some(3), Key::Quit, Some(3)),
        ] {
            assert_eq!(moved(&steps, held, key), expected, "{held:?} {key:?}");
        }
    }

    #[test]
    fn a_minute_is_one_of_time_where_steps_are_missing_and_no_step_has_no_neighbour() {
        let dir = tempfile::tempdir().unwrap();
        let gap = steps(dir.path(), &[100, 101, 500, 530, 561]);
        assert_eq!(moved(&gap, None, Key::PageUp), Some(2));
        assert_eq!((moved(&gap, Some(2), Key::PageUp), moved(&gap, Some(0), Key::PageDown)), (Some(1), Some(2)));
        let none = steps(dir.path(), &[]);
        for key in [Key::Left, Key::Right, Key::PageUp, Key::PageDown, Key::Home, Key::End, Key::Quit] {
            assert_eq!(moved(&none, None, key), None, "{key:?}");
        }
    }

    #[test]
    fn heat_that_held_cpus_back_is_what_grew_between_two_readings() {
        let parts = |throttled| Parts { throttled, ..Parts::default() };
        let dir = tempfile::tempdir().unwrap();
        let mut steps = steps(dir.path(), &[100, 101, 102, 103]);
        let Steps::Now { kept, .. } = &mut steps else { panic!() };
        let (cool, hot) = (Rc::new(parts(Some(3))), Rc::new(parts(Some(5))));
        for (step, parts) in kept.iter_mut().zip([&cool, &cool, &hot, &hot]) {
            step.parts = Rc::clone(parts);
        }
        let of = |index: usize| steps.throttled(index, &steps.get(index).unwrap());
        assert_eq!([of(0), of(1), of(2), of(3)], [0, 0, 2, 2], "until it is read again");
    }

    #[test]
    fn a_fast_recording_has_temperatures_and_heat_however_many_samples_ago_they_were_read() {
        let dir = tempfile::tempdir().unwrap();
        let (path, every) = (dir.path().join("fast.stend"), Nanos::millis(100));
        let target = PlanTarget::device(Bytes(0));
        let inputs = PlanInputs { suite: Suite::default(), seed: 0, target, time_budget: None, traces: Vec::new() };
        let recording = Some(Recording { every, retention: Retention::usual(every) });
        let header = RunHeader { recording, ..RunHeader::new("R-20261130T000000Z-fast", inputs) };
        let writer = store::create(&path, header, Options::default()).unwrap();
        for tenth in 0..=310 {
            let warm = Temperature { device: "sda".into(), milli_celsius: 40_000, warning: None, critical: None };
            let parts = Parts { temperatures: vec![warm], throttled: Some(3 + tenth / 300), ..Parts::default() };
            let parts = (tenth % 300 == 0).then(|| Box::new(parts));
            let sample = Sample { at: Nanos::millis(100_000 + 100 * tenth), parts, ..Sample::default() };
            writer.append(Entry::Sample { host: HostId::LOAD, sample: Box::new(sample) });
        }
        writer.close(RunState::Complete).unwrap();
        let rows = SampleRows::open(&path).unwrap();
        assert_eq!(rows.len(), 311);
        let clock = WallClock::of(&rows.record);
        let steps = Steps::Recorded(Box::new(rows), clock);
        let of = |index: usize| {
            let step = steps.get(index).unwrap();
            (step.parts.temperatures.len(), steps.throttled(index, &step))
        };
        assert_eq!((of(289), of(309)), ((1, 0), (1, 1)), "29 s and 31 s after the begin");
    }
}

//! `stend record`: records this machine until somebody ends it.

use super::notify::Notifier;
use crate::out::Out;
use clap::ArgMatches;
use std::path::{Path, PathBuf};
use stend_analyse::journal::{Journal, Keeper};
use stend_base::{Error, Result, format, say};
use stend_record::{EventKind, HostInfo, Parts, Recording, Sample};
use stend_report::HostNow;
use stend_session::{MetricsServer, RecordOrder, RecordingNews};

/// Records, and says at the end where the file is and what reading took.
pub fn record(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let option = |name: &str| arguments.get_one::<String>(name).map(String::as_str);
    if let (Some(file), true) = (option("notify"), arguments.get_flag("test")) {
        return super::notify::test(file, out);
    }
    let every = stend_session::pace(super::required(arguments, "every"))?;
    let recording =
        Recording { every, retention: stend_session::retention(every, option("keep"), option("size-max"))? };
    let order = RecordOrder {
        recording: recording.clone(),
        output: option("output").map(PathBuf::from),
        label: option("name").map(String::from),
        lasts: option("for").map(lasts).transpose()?,
        command_line: std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect(),
    };
    let metrics =
        option("metrics").map(|at| MetricsServer::open(at, stend_report::METRICS_CONTENT_TYPE)).transpose()?;
    let mut notifier = option("notify").map(Notifier::new).transpose()?;
    let control = super::signals::watch_signals()?;
    let mut known = Known::default();
    if let Some(notifier) = &mut notifier {
        // Before anything is recorded: a queue that cannot be used is an error of the command.
        notifier.begin(&HostInfo { facts: Some(stend_session::host_facts()), ..HostInfo::default() })?;
    }
    let path = stend_session::record(order, &control, &mut |news| match news {
        RecordingNews::Begins { id, path, devices } => {
            begins(id, path, devices, &recording, out);
            if let Some(server) = &metrics {
                let address = server.address;
                let told = say!("metrics    http://{address}/metrics", "метрики  http://{address}/metrics");
                out.note(told.get(out.lang));
            }
            if let Some(notifier) = &mut notifier {
                out.note(notifier.told().get(out.lang));
                if let Err(error) = notifier.follow(path) {
                    out.note(&format!("! {}", error.message.get(out.lang)));
                }
            }
        }
        RecordingNews::Host(host) => known.meet(host),
        RecordingNews::Happened(event) => {
            known.journal.happened(event);
            notifier.iter_mut().for_each(|notifier| notifier.happened(event));
        }
        RecordingNews::Read(sample, found) => {
            *found = known.take(sample, &mut |journal| {
                notifier.iter_mut().for_each(|notifier| notifier.look(journal, out));
            });
            if let Some(server) = &metrics {
                server.show(known.page(sample));
            }
        }
        RecordingNews::Warning(warning) => out.note(&format!("! {}", warning.get(out.lang))),
    })?;
    notifier.into_iter().for_each(|notifier| notifier.end(out));
    let (samples, busy_ns) = (known.samples, known.busy_ns);
    let shown = path.display().to_string();
    let (file, count) = (&shown, format::count(samples));
    let each = format::latency(stend_base::Nanos(busy_ns / samples.max(1)), out.lang);
    let told = say!(
        "{file}\nsamples: {count}, reading one took {each} on average",
        "{file}\nотсчётов: {count}, чтение одного занимало в среднем {each}"
    );
    out.result(&match out.json {
        true => serde_json::json!({"recording": shown, "samples": samples, "read_ns_mean": busy_ns / samples.max(1)})
            .to_string(),
        false => told.get(out.lang).to_string(),
    })
}

/// What is known of the host while it is recorded.
#[derive(Default)]
struct Known {
    host: Option<HostInfo>,
    /// Read less often than the rest.
    parts: Option<Box<Parts>>,
    journal: Journal,
    /// What of its problems the file has.
    keeper: Keeper,
    samples: u64,
    busy_ns: u64,
}

impl Known {
    fn meet(&mut self, host: &HostInfo) {
        self.journal.meet(host);
        self.host = Some(host.clone());
    }

    /// Takes a sample, and returns what the file is to keep of its problems; `look` gets the journal before any of them is forgotten.
    fn take(&mut self, sample: &Sample, look: &mut dyn FnMut(&Journal)) -> Vec<EventKind> {
        if sample.parts.is_some() {
            self.parts.clone_from(&sample.parts);
        }
        self.journal.add(sample.clone());
        look(&self.journal);
        let found = self.keeper.changes(self.journal.problems());
        self.journal.forget_closed(sample.at);
        self.samples += 1;
        self.busy_ns = self.busy_ns.saturating_add(sample.cost_ns);
        found
    }

    /// What Prometheus gets.
    fn page(&self, sample: &Sample) -> String {
        let problems = Some(self.journal.problems());
        let health = Some(self.journal.health());
        let now = HostNow { host: self.host.as_ref(), sample, parts: self.parts.as_deref(), health, problems };
        stend_report::metrics_text(&now, env!("CARGO_PKG_VERSION"))
    }
}

fn begins(id: &str, path: &Path, devices: usize, recording: &Recording, out: &Out) {
    let shown = path.display().to_string();
    let (every, keeps) = (recording.every, stend_report::retention_text(&recording.retention));
    let (en_every, ru_every) = (format::exact(every, stend_base::Lang::En), format::exact(every, stend_base::Lang::Ru));
    let (en, ru, file) = (keeps.en, keeps.ru, &shown);
    let text = say!(
        "recording  {id}, every {en_every}, devices: {devices}\nfile       {file}\nkeeps      {en}\nCtrl-C ends it; `stend top {id}` and `stend show {id}` show it meanwhile",
        "запись   {id}, шаг {ru_every}, устройств: {devices}\nфайл     {file}\nхранит   {ru}\nCtrl-C завершает; тем временем её показывают `stend top {id}` и `stend show {id}`"
    );
    out.note(text.get(out.lang));
}

/// How long it shall take.
fn lasts(text: &str) -> Result<stend_base::Nanos> {
    stend_base::units::parse_nanos(text).ok().filter(|lasts| lasts.0 > 0).ok_or_else(|| {
        Error::usage(say!("`--for {text}` is no time", "`--for {text}` — не время"))
            .hint(say!("for example `--for 10min`", "например `--for 10min`"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Nanos;
    use stend_notify::{Changes, Happening, Standing};
    use stend_record::Event;

    #[test]
    fn a_problem_that_was_over_for_an_hour_when_that_is_known_is_still_told_and_the_next_one_too() {
        let (mut known, mut changes) = (Known::default(), Changes::default());
        let mut heard = Vec::new();
        for s in 0..8_000 {
            if [10, 7_300].contains(&s) {
                let kind = EventKind::KernelErrors { device: "sda".into(), count: 1, text: "I/O error".into() };
                known.journal.happened(&Event::new(Nanos::secs(s), kind));
            }
            // No whole second, as in real recordings.
            let sample = Sample { at: Nanos(s * 1_000_300_000), ..Sample::default() };
            known.take(&sample, &mut |journal| {
                heard.extend(
                    changes
                        .look(journal.problems(), &|_| 0, &|_| Standing::Plain)
                        .into_iter()
                        .map(|item| item.happened),
                );
            });
        }
        assert_eq!(heard, [Happening::Opened, Happening::Closed, Happening::Opened]);
    }
}

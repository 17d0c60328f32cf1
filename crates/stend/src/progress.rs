//! Progress on the standard error: a live block on a terminal, plain lines elsewhere.

use crate::out::Out;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::{BTreeSet, VecDeque};
use std::io::IsTerminal;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use stend_analyse::{Eta, EtaQuality, LiveFigures};
use stend_base::{Error, Lang, Nanos, Result, Say, format, say};
use stend_record::observed::Phase;
use stend_run::Update;

/// Longest silence of plain progress.
const PLAIN_EVERY: Nanos = Nanos::secs(10);
/// A worker that is silent for longer is worth a word.
const SILENCE: Nanos = Nanos::secs(3);

/// A sparkline has so many rates, one a second.
const RATES_KEPT: usize = 24;
const RATE_EVERY: Nanos = Nanos::SECOND;

/// How long a display may take to end: longer only if its terminal stands still.
const END_LIMIT: Duration = Duration::from_secs(2);

/// A display on a thread of its own. A terminal that stands still (Ctrl-S, a connection that hangs) holds up its
/// writer; that must never be the run.
pub struct DisplayThread {
    updates: SyncSender<Update>,
    ended: Receiver<()>,
}

impl DisplayThread {
    /// Starts it; it says what begins when the target has been looked at: a run that is refused there has not begun.
    pub fn start(mut display: Display, run: &str, suite: &str, target: &str) -> Result<DisplayThread> {
        let (updates, queue) = sync_channel::<Update>(1);
        let (end, ended) = sync_channel(1);
        let names = [run, suite, target].map(String::from);
        let show = move || {
            let [run, suite, target] = &names;
            let mut begun = false;
            for update in queue {
                if !begun && update.phase != Phase::Preflight {
                    let interrupt = say!(
                        "Ctrl-C: stop after this trial; again: now",
                        "Ctrl-C — остановить после испытания, ещё раз — сразу"
                    );
                    display.begin(run, suite, target, &interrupt);
                    begun = true;
                }
                display.show(&update);
            }
            display.end();
            // Nobody waits any more if this took too long.
            let _ = end.send(());
        };
        std::thread::Builder::new()
            .name("progress".into())
            .spawn(show)
            .map_err(|e| Error::bug(say!("cannot start a thread: {e}", "не удаётся запустить поток: {e}")))?;
        Ok(DisplayThread { updates, ended })
    }

    /// Shows a picture of the run unless the one before is still being drawn; each holds every warning so far.
    pub fn show(&self, update: &Update) {
        drop(self.updates.try_send(update.clone()));
    }

    /// Takes the live block away, and waits for that if the terminal moves.
    pub fn end(self) {
        drop(self.updates);
        // A terminal that stands still stays as it is.
        let _ = self.ended.recv_timeout(END_LIMIT);
    }
}

/// Warnings that were printed in this process, each with the targets that it is of: blocks that alternate between targets have the same ones
/// again and again.
pub type Told = Arc<Mutex<BTreeSet<(String, String)>>>;

/// How progress is shown.
pub struct Display {
    lang: Lang,
    form: Form,
    warned: usize,
    /// The targets, as they are shown.
    targets: String,
    /// Warnings of the sessions before, which are not printed again, and of all.
    told: (BTreeSet<(String, String)>, Told),
    phase: Option<Phase>,
    last_line: Nanos,
    /// Rates of the last seconds, and when the last one was taken.
    rates: (VecDeque<f64>, Nanos),
}

enum Form {
    /// A block that is redrawn.
    Live(Box<ProgressBar>),
    /// A line now and then.
    Plain,
    /// Nothing.
    None,
}

impl Display {
    /// `how` is `auto`, `tty`, `plain` or `none`.
    pub fn new(how: &str, out: &Out) -> Display {
        let terminal = std::io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|t| t != "dumb");
        let form = match how {
            "none" => Form::None,
            "tty" => Form::Live(Box::new(live_block())),
            "auto" if terminal => Form::Live(Box::new(live_block())),
            _ => Form::Plain,
        };
        let (told, rates) = Default::default();
        let targets = String::new();
        Display { lang: out.lang, form, warned: 0, targets, told, phase: None, last_line: Nanos(0), rates }
    }

    /// Prints no warning that another display of the same targets printed before.
    pub fn after(self, told: &Told, targets: &str) -> Display {
        let earlier = told.lock().map(|told| told.clone()).unwrap_or_default();
        Display { targets: targets.to_string(), told: (earlier, Arc::clone(told)), ..self }
    }

    /// Says what begins, and what Ctrl-C does here.
    pub fn begin(&mut self, run: &str, suite: &str, target: &str, interrupt: &Say) {
        let hint = interrupt.get(self.lang);
        self.line(&format!("stend ▸ {run}  {suite} ▸ {target}    {hint}"));
    }

    /// Shows one picture of the run.
    pub fn show(&mut self, update: &Update) {
        for warning in &update.warnings[self.warned.min(update.warnings.len())..] {
            let text = warning.get(self.lang);
            let warning = (self.targets.clone(), text.to_string());
            if !self.told.0.contains(&warning) {
                self.line(&format!("! {text}"));
            }
            if let Ok(mut told) = self.told.1.lock() {
                told.insert(warning);
            }
        }
        self.warned = update.warnings.len();
        let entered = self.phase.replace(update.phase) != Some(update.phase);
        self.note_rate(update);
        if let Form::Live(bar) = &self.form {
            bar.set_position((update.done * 1000.0) as u64);
            bar.set_message(stend_report::for_terminal(&self.lines(update).join("\n"), false));
            bar.tick();
            return;
        }
        if entered || update.elapsed.saturating_sub(self.last_line) >= PLAIN_EVERY {
            self.last_line = update.elapsed;
            let line = self.lines(update).join("  ");
            self.line(&line);
        }
    }

    /// Takes the live block away.
    pub fn end(&mut self) {
        if let Form::Live(bar) = &self.form {
            bar.finish_and_clear();
        }
    }

    fn line(&self, text: &str) {
        let text = stend_report::for_terminal(text, false);
        match &self.form {
            Form::Live(bar) => {
                bar.suspend(|| drop(std::io::Write::write_all(&mut std::io::stderr(), format!("{text}\n").as_bytes())))
            }
            // A closed standard error must not end a measurement.
            Form::Plain => drop(std::io::Write::write_all(&mut std::io::stderr(), format!("{text}\n").as_bytes())),
            Form::None => {}
        }
    }

    /// Takes a rate about once a second.
    fn note_rate(&mut self, update: &Update) {
        let (rates, taken) = &mut self.rates;
        if let Some(live) = update.live.as_ref().filter(|_| update.elapsed.saturating_sub(*taken) >= RATE_EVERY) {
            *taken = update.elapsed;
            rates.push_back(live.iops);
            if rates.len() > RATES_KEPT {
                rates.pop_front();
            }
        }
    }

    /// Where we are, how long it takes, what is happening now.
    fn lines(&self, update: &Update) -> Vec<String> {
        let lang = self.lang;
        let mut lines = vec![self.position(update), times(update, lang)];
        if let Some(live) = &update.live {
            let drawn = sparkline(self.rates.0.iter().copied());
            let drawn =
                if matches!(self.form, Form::Live(_)) && !drawn.is_empty() { drawn + "  " } else { String::new() };
            lines.push(drawn + &figures(live, lang));
        } else if update.silent > SILENCE {
            let silent = format::duration(update.silent, lang);
            lines.push(say!("no data for {silent}", "нет данных {silent}").get(lang).to_string());
        }
        lines
    }

    fn position(&self, update: &Update) -> String {
        let phase = phase_name(update.phase);
        let phase = phase.get(self.lang);
        if let Some((state, states)) = update.replay {
            return say!("{phase}: state {state} of {states}", "{phase}: состояние {state} из {states}")
                .get(self.lang)
                .to_string();
        }
        match (update.fill, update.step) {
            (Some((done, all)), _) => {
                let (done, all) = (format::bytes(done, self.lang), format::bytes(all, self.lang));
                say!("{phase}: {done} of {all}", "{phase}: {done} из {all}").get(self.lang).to_string()
            }
            (None, step) if update.phase == Phase::Measure && step > 0 => {
                let (steps, label) = (update.steps, &update.label);
                let separator = if label.is_empty() { "" } else { ": " };
                format!("{phase} {step}/{steps}{separator}{label}")
            }
            _ => phase.to_string(),
        }
    }
}

fn live_block() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {percent:>3} %\n{msg}") {
        bar.set_style(style.progress_chars("█▌░"));
    }
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}

/// Rates as blocks, from none to the largest.
fn sparkline(rates: impl Iterator<Item = f64> + Clone) -> String {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let largest = rates.clone().fold(0.0, f64::max);
    let block = |rate: f64| BLOCKS[((rate / largest).clamp(0.0, 1.0) * 7.0).round() as usize];
    if largest > 0.0 { rates.map(block).collect() } else { String::new() }
}

fn times(update: &Update, lang: Lang) -> String {
    let elapsed = format::duration(update.elapsed, lang);
    let text = match left(&update.eta, lang) {
        Some(left) => say!("elapsed {elapsed}, left {left}", "прошло {elapsed}, осталось {left}"),
        None => say!("elapsed {elapsed}", "прошло {elapsed}"),
    };
    text.get(lang).to_string()
}

/// How long the rest takes, once that is known.
fn left(eta: &Eta, lang: Lang) -> Option<String> {
    let left = format::duration(eta.left, lang);
    let (low, high) = (format::duration(eta.low, lang), format::duration(eta.high, lang));
    let text = match eta.quality {
        EtaQuality::Unknown => return None,
        // It would be 0 s.
        _ if eta.left < Nanos::millis(50) => return None,
        EtaQuality::Rough => say!("about {left} (rough, {low} to {high})", "около {left} (грубо, от {low} до {high})"),
        EtaQuality::Good => say!("about {left}", "около {left}"),
    };
    Some(text.get(lang).to_string())
}

fn figures(live: &LiveFigures, lang: Lang) -> String {
    let iops = format::iops(live.iops, lang);
    let throughput = format::throughput(live.bytes_per_s, lang);
    let latency = |value: Option<Nanos>| value.map_or("–".to_string(), |v| format::latency(v, lang));
    // Percentiles come later than rates, and in short trials not at all.
    let quantiles = match (live.p50, live.p99) {
        (None, None) => String::new(),
        (p50, p99) => format!("p50 {}  p99 {}  ", latency(p50), latency(p99)),
    };
    let (max, errors) = (latency(live.max), live.errors);
    let text = say!(
        "{iops} IOPS  {throughput}  {quantiles}max {max}  errors {errors}",
        "{iops} IOPS  {throughput}  {quantiles}макс. {max}  ошибок {errors}"
    );
    text.get(lang).to_string()
}

fn phase_name(phase: Phase) -> Say {
    match phase {
        Phase::Preflight => say!("looking at the target", "осмотр объекта"),
        Phase::Provision => say!("preparing", "подготовка"),
        Phase::Calibrate => say!("measuring ceilings", "измерение потолков"),
        Phase::Fill => say!("filling", "заполнение"),
        Phase::Arm => say!("switching to another arm", "переход к другому варианту"),
        Phase::Measure => say!("measuring", "измерение"),
        Phase::CleanUp => say!("cleaning up", "уборка"),
        Phase::Replay => say!("replaying the log of writes", "воспроизведение журнала записей"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sparkline_goes_from_none_to_the_largest() {
        let drawn = |rates: &[f64]| sparkline(rates.iter().copied());
        assert_eq!(drawn(&[0.0, 50.0, 100.0]), "▁▅█");
        assert_eq!((drawn(&[]), drawn(&[0.0])), (String::new(), String::new()));
    }

    fn replaying() -> Update {
        let left = |seconds| Nanos::secs(seconds);
        Update {
            phase: Phase::Replay,
            step: 1,
            steps: 1,
            label: String::new(),
            elapsed: Nanos::secs(90),
            done: 0.25,
            eta: Eta { left: left(120), low: left(100), high: left(140), quality: EtaQuality::Good },
            live: None,
            fill: None,
            replay: Some((13, 48)),
            silent: Nanos(0),
            warnings: Vec::new(),
        }
    }

    #[test]
    fn a_replay_tells_which_state_of_how_many_and_how_long_the_rest_takes() {
        let update = replaying();
        let shown = |lang| {
            let (form, (told, rates)) = (Form::None, Default::default());
            let targets = String::new();
            let display = Display { lang, form, warned: 0, targets, told, phase: None, last_line: Nanos(0), rates };
            display.lines(&update).join(" | ")
        };
        assert_eq!(
            shown(Lang::En),
            "replaying the log of writes: state 13 of 48 | elapsed 1 min 30 s, left about 2 min 00 s"
        );
        assert_eq!(
            shown(Lang::Ru),
            "воспроизведение журнала записей: состояние 13 из 48 | прошло 1 мин 30 с, осталось около 2 мин 00 с"
        );
    }

    #[test]
    fn what_is_not_known_yet_is_left_out() {
        let eta = |quality, left| Eta { left, low: left, high: left, quality };
        assert_eq!(left(&eta(EtaQuality::Unknown, Nanos::secs(5)), Lang::En), None);
        assert_eq!(left(&eta(EtaQuality::Good, Nanos(0)), Lang::En), None);
        assert_eq!(left(&eta(EtaQuality::Good, Nanos::secs(5)), Lang::En).as_deref(), Some("about 5 s"));
        let none =
            LiveFigures { iops: 10.0, bytes_per_s: 40_960.0, p50: None, p99: None, p999: None, max: None, errors: 0 };
        let shown = figures(&none, Lang::En);
        assert!(!shown.contains("p50") && shown.contains("max –"), "{shown}");
        let some = LiveFigures { p50: Some(Nanos(1000)), ..none };
        assert!(figures(&some, Lang::En).contains("  p50 1"), "it is known now");
    }

    #[test]
    fn a_warning_is_printed_once_over_all_sessions_of_its_targets() {
        let told = Told::default();
        let display = |on: &str| {
            let (own, rates, targets) = Default::default();
            let (form, lang) = (Form::None, Lang::En);
            let own = Display { lang, form, warned: 0, targets, told: own, phase: None, last_line: Nanos(0), rates };
            own.after(&told, on)
        };
        let is_printed = |display: &Display| !display.told.0.contains(&(display.targets.clone(), "busy".to_string()));
        let mut first = display("/a");
        first.show(&Update { warnings: vec![Say::same("busy")], ..replaying() });
        assert!(first.told.0.is_empty(), "a session may say a thing twice");
        assert!(!is_printed(&display("/a")), "the next one of these targets does not print it");
        assert!(is_printed(&display("/b")), "one of others does");
    }
}

//! Answers that are whole: what verbs print, from the same functions. May take as long as the verb does, and knows nothing of HTTP but
//! types of content.

use crate::catalogue::Catalogue;
use crate::clock::now_unix;
use crate::confirmations::Confirmed;
use crate::hosts_now::HostsNow;
use crate::intervals;
use crate::journal;
use crate::printed::{printed, printed_in_any_case};
use crate::run_file::{self, RunFile};
use crate::schedules::Schedules;
use crate::summary;
use crate::tasks::Tasks;
use crate::tls::Tls;
use crate::upload::Upload;
use crate::users::{Change, Sender, Users};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stend_analyse::{Findings, analyse, judge};
use stend_api::{CertificateHealth, Format, Health, Me, OPENAPI, Request, Shown, StopAsked};
use stend_base::{Error, Lang, Result, say};
use stend_record::RunRecord;
use stend_record::redact::Redaction;
use stend_report::{Book, ListedSuite};
use stend_session::comparison::{self, Asked};
use stend_session::suites;

const JSON: &str = "application/json";

/// An answer.
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Media type.
    pub media: &'static str,
    /// The bytes of the body.
    pub body: Vec<u8>,
    /// It follows from run files alone, so that the same answer need not be sent again.
    pub is_result: bool,
    /// What it changed, for the log; of tokens the log has it already.
    pub change: Option<Change>,
    /// The log has what it changed.
    pub is_logged: bool,
    /// What the order needs to be carried out, if it may write to devices.
    pub confirmation: Option<String>,
    /// Name of the file that a browser makes of it, rather than show it.
    pub file: Option<String>,
}

/// Where answers come from.
pub struct Results {
    /// The runs.
    pub catalogue: Catalogue,
    /// Hosts that are recorded now.
    pub hosts_now: HostsNow,
    /// Orders that were given to the server.
    pub tasks: Arc<Tasks>,
    /// Orders that are repeated.
    pub schedules: Arc<Schedules>,
    /// Tokens, and the log of changes.
    pub users: Arc<Users>,
    /// This program.
    pub program: PathBuf,
    /// Where copies are made that have a name only for a moment.
    pub scratch: PathBuf,
    /// Version of Stend.
    pub stend_version: &'static str,
    /// How the server encrypts, if it does.
    pub tls: Option<Arc<Tls>>,
}

impl Results {
    /// The answer to a request of this sender and language, which the log has as `what`; `None`: it is about events, which are no whole.
    ///
    /// Errors: those of the verb.
    pub fn answer(&self, request: &Request, sender: &Sender, what: &str, lang: Lang) -> Result<Option<Answer>> {
        Ok(Some(match request {
            Request::Health => json(pretty(&Health::of(self.stend_version, self.tls.as_deref().map(certificate)))),
            Request::Runs(filter) | Request::Recordings(filter) => {
                json(stend_report::list_json(&self.catalogue.page(filter)?))
            }
            Request::Run { run, redact } => result(stend_report::json(&analyse(&self.run(run, *redact)?)?)),
            Request::Summary { run } => {
                let made = |path: &Path| {
                    let run = stend_session::read_run(path)?;
                    Ok((pretty(&summary::of(&judge(&run)?)), run.state))
                };
                result(self.catalogue.summary(run, made)?)
            }
            Request::Intervals { run, stretch } => {
                result(compact(&intervals::of(&self.catalogue.find(run)?, stretch)?))
            }
            Request::Report { run, format, lang: asked, redact, full } => {
                report(&self.run(run, *redact)?, *format, *full, asked.unwrap_or(lang))?
            }
            Request::Recording { recording } => self.of_recording("show", recording)?,
            Request::Journal { recording } => self.of_recording("journal", recording)?,
            Request::History(filter) => {
                let files = self.catalogue.files(filter)?;
                if files.is_empty() {
                    let message = say!("no complete run fits", "подходящих завершённых прогонов нет");
                    return Err(Error::usage(message));
                }
                let names: Vec<_> = files.iter().map(|file| file.to_string_lossy()).collect();
                let mut words = vec!["compare", "--history", "--json", "--"];
                words.extend(names.iter().map(|name| &**name));
                Answer { body: printed(&self.program, &words, "")?, ..result(String::new()) }
            }
            Request::Comparison { runs, baseline, margin, redact } => {
                let asked = Asked {
                    names: runs.clone(),
                    baseline: baseline.clone(),
                    margin: margin.clone(),
                    ..Asked::default()
                };
                let changed = |runs| if *redact { redacted(runs) } else { Ok(runs) };
                result(stend_report::comparison_json(&comparison::of(&asked, &|name| self.read(name), changed)?))
            }
            Request::Audit { table } => Answer {
                body: printed(&self.program, &["audit", "--json", "/dev/stdin"], table)?,
                ..json(String::new())
            },
            Request::Suites => {
                let of = |suite: &suites::BuiltIn| ListedSuite::of(suite.name, (suite.about)(), suite.text);
                json(stend_report::suites_json(&suites::ALL.iter().map(of).collect::<Result<Vec<_>>>()?))
            }
            Request::Doctor => json(stend_report::doctor_json(&stend_session::checkup(None))),
            Request::Drives { quick } => {
                let words: &[&str] = if *quick { &["inspect", "--quick", "--json"] } else { &["inspect", "--json"] };
                Answer { body: printed(&self.program, words, "")?, ..json(String::new()) }
            }
            Request::OpenApi => json(OPENAPI.to_string()),
            asked => match self.text(asked, lang)? {
                Some(text) => text,
                None => return self.of_tasks_and_tokens(asked, sender, what),
            },
        }))
    }

    /// What verbs print for people, and what monitors read; `None` for the rest.
    fn text(&self, request: &Request, lang: Lang) -> Result<Option<Answer>> {
        Ok(Some(match request {
            Request::ShownRuns(filter, Shown { lang: asked, width, color }) => {
                let text =
                    stend_report::list_text(&self.catalogue.page(filter)?, asked.unwrap_or(lang), *width, *color);
                plain(text.into_bytes())
            }
            Request::DryRun { order, shown: Some(Shown { lang: asked, color, .. }) } => {
                plain(self.tasks.dry_run_text(order, asked.unwrap_or(lang), *color)?)
            }
            Request::Metrics => {
                let page = self.hosts_now.metrics(&self.catalogue, &self.tasks, self.stend_version)?;
                Answer { media: stend_report::METRICS_CONTENT_TYPE, ..json(page) }
            }
            Request::OpenProblems => json(pretty(&self.hosts_now.open_problems(&self.catalogue)?)),
            _ => return Ok(None),
        }))
    }

    /// What a verb prints of a recording. Months of samples are read by a process of their own.
    fn of_recording(&self, verb: &str, name: &str) -> Result<Answer> {
        let path = self.catalogue.recording(name)?;
        Ok(Answer {
            body: printed(&self.program, &[verb, "--json", "--", &path.to_string_lossy()], "")?,
            ..json(String::new())
        })
    }

    /// Answers about orders, tasks, tokens and the log of changes; `None` for the rest, which are events.
    fn of_tasks_and_tokens(&self, request: &Request, sender: &Sender, what: &str) -> Result<Option<Answer>> {
        let find = |name: &str| self.catalogue.recording(name);
        if let Some((body, change)) = journal::mark(request, find, &self.program, &sender.name)? {
            return Ok(Some(Answer { body, change: Some(change), ..json(String::new()) }));
        }
        Ok(Some(match request {
            Request::Validate { order } => json(pretty(&self.tasks.validate(order)?)),
            Request::DryRun { order, .. } => {
                let (body, confirmation) = self.tasks.dry_run(order, sender)?;
                Answer { body, confirmation, ..json(String::new()) }
            }
            Request::PutTask { id, order, confirmation, devices } => {
                let confirmed = Confirmed { confirmation: confirmation.as_deref(), devices };
                let (task, is_new) = self.tasks.put(id, order, sender, &confirmed)?;
                let after = format!("queued, order {}, devices {}", task.order_sha256, devices.join(", "));
                let after = if devices.is_empty() { format!("queued, order {}", task.order_sha256) } else { after };
                let change = is_new.then_some(Change { before: String::new(), after });
                Answer { status: if is_new { 201 } else { 200 }, change, ..json(pretty(&task)) }
            }
            Request::Tasks { limit, state, cursor } => {
                json(pretty(&self.tasks.list(*limit, *state, cursor.as_deref())?))
            }
            Request::Task { id } => json(pretty(&self.tasks.get(id)?)),
            Request::TaskOrder { id } => plain(self.tasks.order(id)?.into_bytes()),
            Request::TaskLog { id } => plain(self.tasks.log(id)?),
            Request::StopTask { id, now } => {
                let (before, task) = self.tasks.stop(id, *now)?;
                let after = if task.state.is_over() { "taken from the queue" } else { "asked to end" };
                let change = Some(Change { before: before.word().into(), after: after.into() });
                Answer { change, ..json(pretty(&task)) }
            }
            Request::StopRun { run, now } => {
                let run = stend_session::ask_to_stop(&self.catalogue.find(run)?, *now)?;
                let change = Some(Change { before: "going on".into(), after: "asked to end".into() });
                let asked = StopAsked { schema: "stend-stop", schema_version: 1, run, now: *now };
                Answer { change, ..json(pretty(&asked)) }
            }
            Request::Schedules => json(pretty(&self.schedules.list_for(sender.role))),
            Request::ScheduleOrder { id } => plain(self.schedules.order(id)?.into_bytes()),
            Request::PutSchedule { id, order, repeat, is_new } => {
                let (schedule, is_new, change) = self.schedules.put(id, order, repeat, *is_new, sender)?;
                let schedule = schedule.seen_by(sender.role);
                Answer { status: if is_new { 201 } else { 200 }, change, ..json(pretty(&schedule)) }
            }
            Request::DeleteSchedule { id } => {
                let change = Some(self.schedules.remove(id)?);
                Answer { change, ..json(pretty(&self.schedules.list_for(sender.role))) }
            }
            Request::RunSchedule { id } => {
                let (schedule, change) = self.schedules.run(id)?;
                Answer { change: Some(change), ..json(pretty(&schedule.seen_by(sender.role))) }
            }
            Request::Me => {
                let Sender { name, role } = sender;
                json(pretty(&Me { schema: "stend-me", schema_version: 1, id: name.clone(), role: *role }))
            }
            Request::Tokens => json(pretty(&self.users.list()?)),
            Request::PutToken { id, role, days } => {
                let token = self.users.issue(id, *role, *days, (sender, what), now_unix())?;
                Answer { status: 201, ..json(pretty(&token)) }
            }
            Request::DeleteToken { id } => {
                self.users.revoke(id, (sender, what), now_unix())?;
                json(pretty(&self.users.list()?))
            }
            Request::TestNotices { file } => self.test_notices(file)?,
            Request::AuditLog { limit, cursor } => json(pretty(&self.users.changes(*limit, *cursor)?)),
            _ => return Ok(None),
        }))
    }

    /// Sends a test message to each receiver of a file on this machine, as the command line does.
    fn test_notices(&self, file: &str) -> Result<Answer> {
        if !Path::new(file).is_absolute() {
            return Err(Error::usage(say!("`{file}` is no absolute path", "`{file}` — не абсолютный путь")));
        }
        let body = printed_in_any_case(&self.program, &["record", "--notify", file, "--test", "--json"])?;
        let change = Some(Change { before: String::new(), after: "test messages were sent".into() });
        Ok(Answer { body, change, ..json(String::new()) })
    }

    /// The run of a file of results.
    ///
    /// Errors: those of `stend import`.
    pub fn import(&self, upload: &Upload) -> Result<Answer> {
        let (body, run) = upload.imported(&self.program)?;
        let change = Some(Change { before: String::new(), after: format!("run {run}") });
        Ok(Answer { status: 201, body, change, ..json(String::new()) })
    }

    /// Notes what an answer changed. That is done, so the answer is no error if the log cannot be written now.
    pub fn logged(&self, answer: Answer, sender: &Sender, what: &str) -> Answer {
        let noted = answer.change.as_ref().map(|change| self.users.note(sender, what, change, now_unix()));
        Answer { is_logged: noted.is_none_or(|noted| noted.is_ok()), ..answer }
    }

    /// A run file or recording, to be sent as it is.
    ///
    /// Errors: `RunUnknown`; those of reading it.
    pub fn run_file(&self, name: &str) -> Result<RunFile> {
        let path = self.catalogue.find(name)?;
        run_file::open(&path, &self.scratch, &|| self.catalogue.is_recording(&path))
    }

    fn read(&self, name: &str) -> Result<RunRecord> {
        stend_session::read_run(&self.catalogue.find(name)?)
    }

    fn run(&self, name: &str, redact: bool) -> Result<RunRecord> {
        let run = self.read(name)?;
        if redact { Redaction::of(&[&run])?.apply(run) } else { Ok(run) }
    }
}

/// All together, so that one machine has one stand-in in all of them.
fn redacted(runs: Vec<RunRecord>) -> Result<Vec<RunRecord>> {
    let redaction = Redaction::of(&runs.iter().collect::<Vec<_>>())?;
    runs.into_iter().map(|run| redaction.apply(run)).collect()
}

fn certificate(tls: &Tls) -> CertificateHealth {
    let now = tls.now();
    CertificateHealth {
        fingerprint: now.fingerprint.to_string(),
        is_own: tls.is_own(),
        names: now.facts.names.clone(),
        ends_unix: now.facts.ends_unix,
        warning: tls.warning_now(),
    }
}

fn json(text: String) -> Answer {
    Answer {
        status: 200,
        media: JSON,
        body: text.into_bytes(),
        is_result: false,
        change: None,
        is_logged: true,
        confirmation: None,
        file: None,
    }
}

fn plain(body: Vec<u8>) -> Answer {
    Answer { media: "text/plain; charset=utf-8", body, ..json(String::new()) }
}

/// Numbers, strings and words: there is no case in which they cannot be written.
fn pretty(value: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

/// The same on one line: columns of numbers.
fn compact(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default() + "\n"
}

fn result(text: String) -> Answer {
    Answer { is_result: true, ..json(text) }
}

fn report(run: &RunRecord, format: Format, full: bool, lang: Lang) -> Result<Answer> {
    let of = |media, body| Answer {
        status: 200,
        media,
        body,
        is_result: true,
        change: None,
        is_logged: true,
        confirmation: None,
        file: None,
    };
    Ok(match format {
        Format::Html => {
            let page = stend_report::gated_html(&analyse(run)?, run, None, full, lang);
            of("text/html; charset=utf-8", page.into_bytes())
        }
        Format::Markdown => of("text/markdown; charset=utf-8", stend_report::markdown(&judge(run)?, lang).into_bytes()),
        Format::Xlsx => {
            let media = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
            let (file, judged) = (Some(format!("{}.xlsx", run.header.id)), [(run.clone(), analyse(run)?)]);
            Answer { file, ..of(media, workbook(&judged, lang)?) }
        }
    })
}

fn workbook(judged: &[(RunRecord, Findings)], lang: Lang) -> Result<Vec<u8>> {
    let comparison = comparison::of_workbook(judged)?;
    let runs = judged.iter().map(|(run, findings)| (run, findings)).collect();
    stend_report::xlsx(&Book { runs, comparison: comparison.as_ref(), lang })
}

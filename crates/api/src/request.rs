//! Requests, and what makes them of values that a route allows. Must not know addresses.

use crate::filter::{Filter, Listed, Sort, StateFilter};
use crate::intervals::Stretch;
use crate::live::Cursor;
use crate::parameters::Values;
use crate::schedules::NotifyWhen;
use crate::tasks::TaskState;
use crate::users::Role;
use stend_base::Lang;
use stend_base::format::parse_utc;

/// Runs of a page when the request does not say.
const PAGE: usize = 50;
/// Runs of a history when the request does not say.
const HISTORY: usize = 100;
/// Life of a token when the request does not say.
const DAYS: usize = 90;
/// Columns of a text when the request does not say.
const WIDTH: usize = 80;
/// Loss to a baseline that fails when the request does not say, in percent.
const LOSS: usize = 5;

/// Buckets of intervals when the request does not say: as many as a line of a chart has.
const POINTS: usize = 600;

/// What is asked of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// Whether it is there.
    Health,
    /// A page of the list of runs.
    Runs(Filter),
    /// The same as `stend list` prints it for people.
    ShownRuns(Filter, Shown),
    /// The result of a run.
    Run {
        /// Its name in the list, or `last`.
        run: String,
        /// Without names of hosts, serial numbers and the like.
        redact: bool,
    },
    /// The run file.
    RunFile {
        /// Its name in the list, or `last`.
        run: String,
    },
    /// End a run, also one that no task began.
    StopRun {
        /// Its name in the list, or `last`.
        run: String,
        /// At once.
        now: bool,
    },
    /// A run in short.
    Summary {
        /// Its name in the list, or `last`.
        run: String,
    },
    /// Intervals of a run.
    Intervals {
        /// Its name in the list, or `last`.
        run: String,
        /// Which, and how many buckets.
        stretch: Stretch,
    },
    /// The report of a run.
    Report {
        /// Its name in the list, or `last`.
        run: String,
        /// As what.
        format: Format,
        /// Language of its texts; `None`: that of the request.
        lang: Option<Lang>,
        /// Without names of hosts, serial numbers and the like.
        redact: bool,
        /// Print everything.
        full: bool,
    },
    /// A run that goes on, event by event.
    Events {
        /// Its name in the list, or `last`.
        run: String,
        /// What the reader has already, where the query says it.
        after: Option<Cursor>,
    },
    /// A page of the list of recordings.
    Recordings(Filter),
    /// A recording of a host.
    Recording {
        /// Its name in the list.
        recording: String,
    },
    /// The problems of the host in a recording.
    Journal {
        /// Its name in the list.
        recording: String,
    },
    /// Send a test message to every receiver of a file.
    TestNotices {
        /// Its path on the machine of the server.
        file: String,
    },
    /// How many problems are open where a recording is written now.
    OpenProblems,
    /// What the server knows, for Prometheus.
    Metrics,
    /// Somebody knows of a problem.
    Acknowledge {
        /// Name of the recording in the list.
        recording: String,
        /// Id of the problem.
        problem: String,
        /// Why.
        comment: Option<String>,
    },
    /// That was a mistake.
    Unacknowledge {
        /// Name of the recording in the list.
        recording: String,
        /// Id of the problem.
        problem: String,
    },
    /// Send nothing of a problem or an object until a time.
    Mute {
        /// Name of the recording in the list.
        recording: String,
        /// Id of the problem, or `object:NAME`.
        what: String,
        /// When that ends.
        until: String,
        /// Why.
        comment: Option<String>,
    },
    /// Send messages again.
    Unmute {
        /// Name of the recording in the list.
        recording: String,
        /// Id of the problem, or `object:NAME`.
        what: String,
    },
    /// Values over many runs: those that a filter means, the newest of them.
    History(Filter),
    /// Runs against the first of them, or the arms of one.
    Comparison {
        /// Their names in the list.
        runs: Vec<String>,
        /// Which of them is 100 %.
        baseline: Option<String>,
        /// The difference that does not matter.
        margin: Option<String>,
        /// Without names of hosts, serial numbers and the like.
        redact: bool,
    },
    /// Results of another tool, which come as the body, as a run.
    Import {
        /// Name of their file.
        name: String,
    },
    /// Published numbers, judged.
    Audit {
        /// The table.
        table: String,
    },
    /// The suites that are built in.
    Suites,
    /// Whether this machine can measure.
    Doctor,
    /// The storage of this machine.
    Drives {
        /// Drives are not asked for their health.
        quick: bool,
    },
    /// The OpenAPI document.
    OpenApi,
    /// Whether an order can be read, and what it asks for.
    Validate {
        /// Its text.
        order: String,
    },
    /// What an order would do.
    DryRun {
        /// Its text.
        order: String,
        /// As a text for people, laid out so; otherwise as a document.
        shown: Option<Shown>,
    },
    /// Give an order to the server, once.
    PutTask {
        /// The id that its author gives it.
        id: String,
        /// The text of the order.
        order: String,
        /// What its dry run gave, if it may write to devices.
        confirmation: Option<String>,
        /// The identities of these devices, as a person typed them.
        devices: Vec<String>,
    },
    /// Who asks.
    Me,
    /// Tokens, without their secrets.
    Tokens,
    /// Make a token.
    PutToken {
        /// Name of its holder.
        id: String,
        /// What the holder may do.
        role: Role,
        /// How long.
        days: usize,
    },
    /// End a token.
    DeleteToken {
        /// Name of its holder.
        id: String,
    },
    /// Who changed what.
    AuditLog {
        /// Most changes of the page.
        limit: usize,
        /// Number of the change that the page before ended with.
        cursor: Option<usize>,
    },
    /// Tasks, newest first.
    Tasks {
        /// Most of them.
        limit: usize,
        /// Only those in this state.
        state: Option<TaskState>,
        /// Id of the task that the page before ended with.
        cursor: Option<String>,
    },
    /// A task.
    Task {
        /// Its id.
        id: String,
    },
    /// The text of its order.
    TaskOrder {
        /// Its id.
        id: String,
    },
    /// What its process says.
    TaskLog {
        /// Its id.
        id: String,
    },
    /// End it.
    StopTask {
        /// Its id.
        id: String,
        /// At once.
        now: bool,
    },
    /// Orders that are repeated.
    Schedules,
    /// The text of one of them.
    ScheduleOrder {
        /// Its id.
        id: String,
    },
    /// Repeat an order, or change how.
    PutSchedule {
        /// The id that its author gives it.
        id: String,
        /// The text of the order.
        order: String,
        /// When and with which consequences.
        repeat: Repeat,
        /// It takes the place of no other one.
        is_new: bool,
    },
    /// Repeat it no more.
    DeleteSchedule {
        /// Its id.
        id: String,
    },
    /// Once more, now.
    RunSchedule {
        /// Its id.
        id: String,
    },
    /// Tasks as they change.
    TaskEvents {
        /// The last change that the reader has, where the query says it.
        after: Option<u64>,
    },
}

/// How a text for people is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shown {
    /// Its language; `None`: that of the request.
    pub lang: Option<Lang>,
    /// Columns of the terminal.
    pub width: usize,
    /// With the colours of a terminal.
    pub color: bool,
}

/// When an order is repeated, and what becomes of its results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeat {
    /// Five fields of cron, in UTC.
    pub cron: Option<String>,
    /// The one time in their place, in seconds since 1970.
    pub at_unix: Option<i64>,
    /// The run that results are compared with, or `first`.
    pub baseline: Option<String>,
    /// Loss to it from which a result fails, in percent.
    pub loss_percent: usize,
    /// A program or an address that gets messages.
    pub notify: Option<String>,
    /// Which outcomes it gets.
    pub notify_when: NotifyWhen,
    /// No time is due.
    pub paused: bool,
}

/// Forms of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One page.
    Html,
    /// Verdict, tables and caveats.
    Markdown,
    /// A workbook.
    Xlsx,
}

impl Format {
    /// The words of requests.
    pub(crate) const WORDS: [&'static str; 3] = ["html", "md", "xlsx"];

    fn of(word: &str) -> Option<Format> {
        let all = [Format::Html, Format::Markdown, Format::Xlsx];
        all.into_iter().zip(Format::WORDS).find(|(_, known)| *known == word).map(|(format, _)| format)
    }
}

/// What makes a request of the values of its route.
pub(crate) mod make {
    use super::*;

    pub fn runs(values: &Values, _: String) -> Request {
        let page = values.count("limit").unwrap_or(PAGE);
        let filter = Filter {
            limit: if values.is_set("all") { usize::MAX } else { page },
            cursor: values.text("cursor"),
            label: values.text("label"),
            target: values.text("target"),
            suite: values.text("suite"),
            state: values.text("state").and_then(|word| StateFilter::of(&word)),
            text: values.text("text"),
            condition: values.text("where"),
            sort: values.text("sort").and_then(|word| Sort::of(&word)).unwrap_or_default(),
            listed: if values.is_set("recordings") { Listed::Both } else { Listed::Runs },
        };
        match shown(values) {
            Some(shown) => Request::ShownRuns(filter, shown),
            None => Request::Runs(filter),
        }
    }

    pub fn dry_run(values: &Values, order: String) -> Request {
        Request::DryRun { order, shown: shown(values) }
    }

    /// How a text is laid out, if one is asked for.
    fn shown(values: &Values) -> Option<Shown> {
        (values.text("format").as_deref() == Some("text")).then(|| Shown {
            lang: values.text("lang").map(|lang| Lang::from_locale(&lang)),
            width: values.count("width").unwrap_or(WIDTH),
            color: values.is_set("color"),
        })
    }

    pub fn recordings(values: &Values, _: String) -> Request {
        Request::Recordings(Filter {
            limit: values.count("limit").unwrap_or(PAGE),
            cursor: values.text("cursor"),
            text: values.text("text"),
            listed: Listed::Recordings,
            ..Filter::default()
        })
    }

    pub fn report(values: &Values, _: String) -> Request {
        Request::Report {
            run: values.name("run"),
            format: values.text("format").and_then(|word| Format::of(&word)).unwrap_or(Format::Html),
            lang: values.text("lang").map(|lang| Lang::from_locale(&lang)),
            redact: values.is_set("redact"),
            full: values.is_set("full"),
        }
    }

    pub fn intervals(values: &Values, _: String) -> Request {
        let stretch = Stretch {
            from: values.seconds("from").unwrap_or_default(),
            to: values.seconds("to"),
            points: values.count("points").unwrap_or(POINTS),
            case: values.text("case").and_then(|text| text.parse().ok()),
        };
        Request::Intervals { run: values.name("run"), stretch }
    }

    pub fn events(values: &Values, _: String) -> Request {
        Request::Events { run: values.name("run"), after: values.text("after").and_then(|text| Cursor::of(&text)) }
    }

    pub fn history(values: &Values, _: String) -> Request {
        Request::History(Filter {
            limit: values.count("limit").unwrap_or(HISTORY),
            label: values.text("label"),
            target: values.text("target"),
            suite: values.text("suite"),
            state: Some(StateFilter::Complete),
            condition: values.text("where"),
            ..Filter::default()
        })
    }

    pub fn put_task(values: &Values, order: String) -> Request {
        let (confirmation, devices) = (values.text("confirmation"), values.all("device"));
        Request::PutTask { id: values.name("task"), order, confirmation, devices }
    }

    pub fn tasks(values: &Values, _: String) -> Request {
        let state = values.text("state").and_then(|word| TaskState::of(&word));
        Request::Tasks { limit: values.count("limit").unwrap_or(PAGE), state, cursor: values.text("cursor") }
    }

    pub fn put_schedule(values: &Values, order: String) -> Request {
        let repeat = Repeat {
            cron: values.text("cron"),
            at_unix: values.text("at").and_then(|text| parse_utc(&text)),
            baseline: values.text("baseline").filter(|name| !name.is_empty()),
            loss_percent: values.count("loss").unwrap_or(LOSS),
            notify: values.text("notify").filter(|hook| !hook.is_empty()),
            notify_when: values.text("notify_when").and_then(|word| NotifyWhen::of(&word)).unwrap_or_default(),
            paused: values.is_set("paused"),
        };
        Request::PutSchedule { id: values.name("schedule"), order, repeat, is_new: values.is_set("new") }
    }

    pub fn put_token(values: &Values, _: String) -> Request {
        let role = values.text("role").and_then(|word| Role::of(&word)).unwrap_or(Role::Viewer);
        Request::PutToken { id: values.name("token"), role, days: values.count("days").unwrap_or(DAYS) }
    }

    pub fn audit_log(values: &Values, _: String) -> Request {
        Request::AuditLog { limit: values.count("limit").unwrap_or(PAGE), cursor: values.count("cursor") }
    }
}

//! The routes of recordings: hosts that were watched without a load, and the problems that the journal finds in them.

use crate::parameters::{Location, Parameter, Takes};
use crate::request::{Request, make};
use crate::route::{Answer, Body, JSON, Method, PAGE_MAX, Route, Schema, query};
use crate::users::Role;
use stend_base::say;

const RECORDING: Parameter = Parameter {
    name: "recording",
    place: Location::Path,
    takes: Takes::Text,
    about: || say!("name of the recording in the list", "имя записи из списка"),
};

pub(crate) const RECORDINGS: Route = Route {
    path: "/api/v1/recordings",
    operation: "recordings",
    about: || say!("recordings of hosts, newest first", "записи хостов, новые первыми"),
    parameters: &[
        query("limit", Takes::Count(PAGE_MAX), || {
            say!("most of a page, 50 by default", "сколько на странице, по умолчанию 50")
        }),
        query("text", Takes::Text, || say!("a part of the name or the label", "часть имени или метки")),
        query("cursor", Takes::Text, || say!("`next` of the page before", "`next` предыдущей страницы")),
    ],
    answers: &[Answer { media: JSON, schema: Schema::Document("list") }],
    command: "stend list --json",
    make: make::recordings,
    ..Route::READ
};

pub(crate) const RECORDING_ROUTE: Route = Route {
    path: "/api/v1/recordings/{recording}",
    operation: "recording",
    about: || {
        say!(
            "a recording: the host, its drives, and charts as data, also while it goes on",
            "запись: хост, его накопители и графики как данные, в том числе пока она идёт"
        )
    },
    parameters: &[RECORDING],
    answers: &[Answer { media: JSON, schema: Schema::Document("recording") }],
    command: "stend show RECORDING --json",
    make: |values, _| Request::Recording { recording: values.name("recording") },
    ..Route::READ
};

pub(crate) const JOURNAL: Route = Route {
    path: "/api/v1/recordings/{recording}/journal",
    operation: "journal",
    about: || {
        say!(
            "the problems of the host in a recording: what, since when, how bad, what to do",
            "проблемы хоста по записи: что, с какого времени, насколько серьёзно, что делать"
        )
    },
    parameters: &[RECORDING],
    answers: &[Answer { media: JSON, schema: Schema::Document("journal") }],
    command: "stend journal RECORDING --json",
    make: |values, _| Request::Journal { recording: values.name("recording") },
    ..Route::READ
};

pub(crate) const OPEN_PROBLEMS: Route = Route {
    path: "/api/v1/open-problems",
    operation: "openProblems",
    about: || {
        say!(
            "how many problems are open in each recording that is written now, as its recorder found them",
            "сколько проблем открыто в каждой записи, которая идёт сейчас"
        )
    },
    answers: &[Answer { media: JSON, schema: Schema::Type("answers.rs", "OpenProblems") }],
    command: "stend journal RECORDING --open",
    make: |_, _| Request::OpenProblems,
    ..Route::READ
};

pub(crate) const TEST_NOTICES: Route = Route {
    method: Method::Post,
    role: Role::Admin,
    body: Body::None,
    path: "/api/v1/notices/test",
    operation: "testNotices",
    about: || {
        say!(
            "sends a test message to each receiver of a file on this machine, and says which took it",
            "отправляет пробное сообщение каждому получателю из файла на этой машине и говорит, кто его принял"
        )
    },
    parameters: &[Parameter {
        name: "file",
        place: Location::Required,
        takes: Takes::Text,
        about: || {
            say!("absolute path of the file, as `--notify` takes it", "абсолютный путь файла, как в ключе `--notify`")
        },
    }],
    answers: &[Answer { media: JSON, schema: Schema::Type("answers.rs", "NoticesTest") }],
    command: "stend record --notify FILE --test --json",
    make: |values, _| Request::TestNotices { file: values.name("file") },
};

/// Prometheus asks for this path unless its configuration names another.
pub(crate) const METRICS: Route = Route {
    path: "/metrics",
    operation: "metrics",
    about: || {
        say!(
            "for Prometheus: tasks, runs, and each host that is recorded now, as `stend record --metrics` shows it",
            "для Prometheus: задачи, прогоны и каждый хост, запись которого идёт, как в `stend record --metrics`"
        )
    },
    answers: &[Answer { media: "text/plain; version=0.0.4; charset=utf-8", schema: Schema::Opaque }],
    command: "stend record --metrics PORT",
    make: |_, _| Request::Metrics,
    ..Route::READ
};

const AFTER: &[Answer] = &[Answer { media: JSON, schema: Schema::Document("journal") }];

const PROBLEM: Parameter = Parameter {
    name: "problem",
    place: Location::Required,
    takes: Takes::Text,
    about: || {
        say!(
            "`id` of the problem, or its first eight digits: the newest occurrence",
            "`id` проблемы или первые восемь его знаков — последний случай"
        )
    },
};

const WHAT: Parameter = Parameter {
    name: "what",
    place: Location::Required,
    takes: Takes::Text,
    about: || {
        say!(
            "`id` of a problem, its first eight digits, or `object:NAME`: everything about an object",
            "`id` проблемы, первые восемь его знаков или `object:ИМЯ` — всё, что касается объекта"
        )
    },
};

const COMMENT: Parameter = query("comment", Takes::Text, || {
    say!("why, in one line of at most 500 characters", "почему; одна строка до 500 знаков")
});

pub(crate) const ACKNOWLEDGE: Route = Route {
    method: Method::Put,
    role: Role::Operator,
    body: Body::None,
    path: "/api/v1/recordings/{recording}/journal/acknowledgement",
    operation: "acknowledgeProblem",
    about: || {
        say!(
            "notes that somebody knows of a problem that is open; the journal after that",
            "помечает открытую проблему как принятую к сведению; журнал после этого"
        )
    },
    parameters: &[RECORDING, PROBLEM, COMMENT],
    answers: AFTER,
    command: "stend journal RECORDING --acknowledge ID --json",
    make: |values, _| Request::Acknowledge {
        recording: values.name("recording"),
        problem: values.name("problem"),
        comment: values.text("comment"),
    },
};

pub(crate) const UNACKNOWLEDGE: Route = Route {
    method: Method::Delete,
    about: || say!("takes that back; the journal after that", "снимает эту пометку; журнал после этого"),
    operation: "unacknowledgeProblem",
    parameters: &[RECORDING, PROBLEM],
    command: "stend journal RECORDING --unacknowledge ID --json",
    make: |values, _| Request::Unacknowledge { recording: values.name("recording"), problem: values.name("problem") },
    ..ACKNOWLEDGE
};

pub(crate) const MUTE: Route = Route {
    path: "/api/v1/recordings/{recording}/journal/mute",
    operation: "muteProblem",
    about: || {
        say!(
            "has nothing sent of a problem or an object until a time, also when it comes back; the journal after that",
            "до указанного времени не сообщать о проблеме или объекте, даже при повторе; журнал после этого"
        )
    },
    parameters: &[
        RECORDING,
        WHAT,
        Parameter {
            name: "until",
            place: Location::Required,
            takes: Takes::Text,
            about: || {
                say!(
                    "after a time such as `2h`, or at a time in UTC such as `2026-11-22T06:00Z`; at most 366 days ahead",
                    "срок (`2h`) или время по UTC (`2026-11-22T06:00Z`); не дальше 366 дней"
                )
            },
        },
        COMMENT,
    ],
    command: "stend journal RECORDING --mute ID --until TIME --json",
    make: |values, _| Request::Mute {
        recording: values.name("recording"),
        what: values.name("what"),
        until: values.name("until"),
        comment: values.text("comment"),
    },
    ..ACKNOWLEDGE
};

pub(crate) const UNMUTE: Route = Route {
    method: Method::Delete,
    operation: "unmuteProblem",
    about: || say!("has messages sent again; the journal after that", "снова сообщать; журнал после этого"),
    parameters: &[RECORDING, WHAT],
    command: "stend journal RECORDING --unmute ID --json",
    make: |values, _| Request::Unmute { recording: values.name("recording"), what: values.name("what") },
    ..MUTE
};

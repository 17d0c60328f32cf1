//! The routes of recordings: hosts that were watched without a load, and the problems that the journal finds in them.

use crate::parameters::{Location, Parameter, Takes};
use crate::request::{Request, make};
use crate::route::{Answer, JSON, PAGE_MAX, Route, Schema, query};
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

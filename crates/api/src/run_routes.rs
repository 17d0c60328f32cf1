//! Routes of runs as files and as processes, and what a list of them may be asked for besides its filter.

use crate::parameters::{Parameter, Takes};
use crate::request::{Request, make};
use crate::route::{Answer, IF_NONE_MATCH, JSON, Method, RUN, Route, Schema, query};
use crate::users::Role;
use stend_base::say;

/// Widest text that is laid out.
const WIDTH_MAX: usize = 1000;

pub(crate) const ALL: Parameter = query("all", Takes::Flag, || {
    say!("every run in one answer, whatever `limit` is", "все прогоны одним ответом, `limit` не действует")
});
pub(crate) const RECORDINGS_TOO: Parameter = query("recordings", Takes::Flag, || {
    say!("recordings of hosts, too, as `stend list` shows them", "и записи машин, как их показывает `stend list`")
});
pub(crate) const AS: Parameter = query("format", Takes::Choice(&["json", "text"]), || {
    say!("`text` is what the command prints for people", "`text` — то, что команда печатает людям")
});
pub(crate) const LANG: Parameter = query("lang", Takes::Choice(&["en", "ru"]), || {
    say!("of `format=text`; otherwise that of `Accept-Language`", "для `format=text`; иначе по `Accept-Language`")
});
pub(crate) const WIDTH: Parameter = query("width", Takes::Count(WIDTH_MAX), || {
    say!("columns of `format=text`, 80 by default", "столбцов в `format=text`, по умолчанию 80")
});
pub(crate) const COLOR: Parameter = query("color", Takes::Flag, || {
    say!("`format=text` with the colours of a terminal", "`format=text` с цветами терминала")
});

pub(crate) const INTERVALS: Route = Route {
    path: "/api/v1/runs/{run}/intervals",
    operation: "intervals",
    about: || {
        say!(
            "a stretch of a run in buckets, down to single intervals of 100 ms, for charts that zoom",
            "отрезок прогона по частям, вплоть до отдельных интервалов в 100 мс, для увеличения графиков"
        )
    },
    parameters: &[
        RUN,
        query("from", Takes::Seconds, || {
            say!(
                "begin of the stretch, seconds since the start of the run as in its charts; 0 by default",
                "начало отрезка, секунды от начала прогона, как на его графиках; по умолчанию 0"
            )
        }),
        query("to", Takes::Seconds, || {
            say!(
                "end of the stretch, later than `from`; by default that of the run",
                "конец отрезка, позже `from`; по умолчанию конец прогона"
            )
        }),
        query("points", Takes::Between(10, 2000), || {
            say!(
                "most buckets of all trials together, 600 by default; each trial has one at least",
                "сколько частей во всех испытаниях вместе, по умолчанию 600; у каждого испытания хотя бы одна"
            )
        }),
        query("case", Takes::Between(0, u32::MAX as usize), || {
            say!("only trials of this `case` of the result", "только испытания этого случая (`case`) результата")
        }),
        IF_NONE_MATCH,
    ],
    answers: &[Answer { media: JSON, schema: Schema::Type("intervals.rs", "Intervals") }],
    make: make::intervals,
    ..Route::READ
};

pub(crate) const RUN_FILE: Route = Route {
    path: "/api/v1/runs/{run}/file",
    operation: "runFile",
    about: || {
        say!(
            "the run file of a run or a recording, as it is at one moment if something still writes to it",
            "файл прогона или записи машины; если он ещё пишется — по состоянию на один момент"
        )
    },
    parameters: &[RUN, IF_NONE_MATCH],
    answers: &[Answer { media: "application/vnd.sqlite3", schema: Schema::Opaque }],
    command: "stend export RUN --format run -o FILE",
    make: |values, _| Request::RunFile { run: values.name("run") },
    ..Route::READ
};

pub(crate) const STOP_RUN: Route = Route {
    method: Method::Post,
    role: Role::Operator,
    path: "/api/v1/runs/{run}/stop",
    operation: "stopRun",
    about: || {
        say!(
            "asks a run to end, also one that no task began; it does not wait for the end",
            "просит прогон завершиться, в том числе начатый не задачей; конца не ждёт"
        )
    },
    parameters: &[
        RUN,
        query("now", Takes::Flag, || say!("do not wait for the trial in progress", "не ждать текущего испытания")),
    ],
    answers: &[Answer { media: JSON, schema: Schema::Type("answers.rs", "StopAsked") }],
    command: "stend stop RUN",
    make: |values, _| Request::StopRun { run: values.name("run"), now: values.is_set("now") },
    ..Route::READ
};

//! The routes of what is found in many runs, and in what others measured or published.

use crate::parameters::{Location, Parameter, Takes};
use crate::request::{Request, make};
use crate::route::{
    Answer, Body, IF_NONE_MATCH, JSON, LABEL, Method, PAGE_MAX, Route, SUITE, Schema, TARGET, WHERE, query,
};
use crate::users::Role;
use stend_base::say;

pub(crate) const HISTORY: Route = Route {
    path: "/api/v1/history",
    operation: "history",
    about: || {
        say!(
            "values of every case over complete runs, where they changed, and what changed at that time",
            "значения каждого случая по завершённым прогонам: где изменились и что изменилось тогда же"
        )
    },
    parameters: &[
        SUITE,
        TARGET,
        LABEL,
        WHERE,
        query("limit", Takes::Count(PAGE_MAX), || {
            say!("the newest so many runs, 100 by default", "сколько новейших прогонов, по умолчанию 100")
        }),
        IF_NONE_MATCH,
    ],
    answers: &[Answer { media: JSON, schema: Schema::Document("history") }],
    command: "stend compare --history RUN… --json",
    make: make::history,
    ..Route::READ
};

pub(crate) const AUDIT: Route = Route {
    method: Method::Post,
    role: Role::Viewer,
    body: Body::Text("text/csv", || say!("a table of published numbers", "таблица опубликованных чисел")),
    path: "/api/v1/audits",
    operation: "audit",
    about: || {
        say!(
            "numbers that others published, judged from themselves; nothing is kept",
            "проверка опубликованных чисел по ним самим; ничего не сохраняется"
        )
    },
    parameters: &[],
    answers: &[Answer { media: JSON, schema: Schema::Document("audit") }],
    command: "stend audit TABLE --json",
    make: |_, table| Request::Audit { table },
};

pub(crate) const IMPORT: Route = Route {
    method: Method::Post,
    role: Role::Operator,
    body: Body::File(|| {
        say!(
            "results as a tool printed them (fio as JSON, elbencho, vdbench), at most 64 MiB",
            "результаты, как их напечатала программа (fio в JSON, elbencho, vdbench), не больше 64 МиБ"
        )
    }),
    path: "/api/v1/imports",
    operation: "import",
    about: || {
        say!(
            "makes a run of results of another tool; the file itself is not kept",
            "делает прогон из результатов другой программы; сам файл не сохраняется"
        )
    },
    parameters: &[Parameter {
        name: "name",
        place: Location::Required,
        takes: Takes::Text,
        about: || {
            say!(
                "name of the file, without directories: errors begin with it",
                "имя файла без каталогов: с него начинаются ошибки"
            )
        },
    }],
    answers: &[Answer { media: JSON, schema: Schema::Document("findings") }],
    command: "stend import FILE --json",
    make: |values, _| Request::Import { name: values.name("name") },
};

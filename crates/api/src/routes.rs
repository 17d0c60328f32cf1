//! The table of routes: requests are read by it, and the OpenAPI document and the page of the API are written from it.

use crate::analysis_routes::*;
use crate::filter::{Sort, StateFilter};
use crate::parameters::{Location, Parameter, Takes};
use crate::request::{Format, Request, make};
use crate::route::{Answer, IF_NONE_MATCH, JSON, LABEL, PAGE_MAX, RUN, Route, SUITE, Schema, TARGET, WHERE, query};
use crate::run_routes::*;
use crate::schedule_routes::*;
use crate::task_routes::*;
use crate::user_routes::*;
use crate::watching_routes::*;
use stend_base::say;

/// Version of the API, as its document has it. The first number is that of the address.
pub const VERSION: &str = "1.7.0";

const REDACT: Parameter = Parameter {
    name: "redact",
    place: Location::Query,
    takes: Takes::Flag,
    about: || {
        say!(
            "without names of hosts, serial numbers, paths, addresses and kernel command lines",
            "без имён машин, серийных номеров, путей, адресов и командных строк ядра"
        )
    },
};

/// Every route, in the order in which people look for them.
pub const ROUTES: &[Route] = &[
    Route {
        path: "/api/v1/health",
        operation: "health",
        about: || say!("the server is there, and its version", "сервер отвечает; его версия"),
        answers: &[Answer { media: JSON, schema: Schema::Type("answers.rs", "Health") }],
        command: "stend --version",
        make: |_, _| Request::Health,
        ..Route::READ
    },
    Route {
        path: "/api/v1/runs",
        operation: "runs",
        about: || {
            say!(
                "runs in pages, newest first unless asked otherwise",
                "прогоны страницами, без другой просьбы новые сверху"
            )
        },
        parameters: &[
            LABEL,
            TARGET,
            SUITE,
            query("state", Takes::Choice(&StateFilter::WORDS), || {
                say!(
                    "how far it got; `ended`: it ended early, or its coordinator is gone",
                    "как далеко он дошёл; `ended` — закончился раньше времени или его координатор исчез"
                )
            }),
            query("text", Takes::Text, || {
                say!(
                    "a part of any name: of the run, its label, suite, targets or leading case",
                    "часть любого имени: прогона, метки, набора, объектов или главного случая"
                )
            }),
            WHERE,
            query("sort", Takes::Choice(&Sort::WORDS), || {
                say!(
                    "which come first, `newest` by default; `rate` and `size` begin with the largest",
                    "какие идут первыми, по умолчанию `newest`; `rate` и `size` начинают с наибольших"
                )
            }),
            query("limit", Takes::Count(PAGE_MAX), || {
                say!("most runs of a page, 50 by default", "сколько прогонов на странице, по умолчанию 50")
            }),
            query("cursor", Takes::Text, || say!("`next` of the page before", "`next` предыдущей страницы")),
            ALL,
            RECORDINGS_TOO,
            AS,
            LANG,
            WIDTH,
            COLOR,
        ],
        answers: &[
            Answer { media: JSON, schema: Schema::Document("list") },
            Answer { media: "text/plain; charset=utf-8", schema: Schema::Opaque },
        ],
        command: "stend list --json",
        make: make::runs,
        ..Route::READ
    },
    Route {
        path: "/api/v1/runs/{run}",
        operation: "run",
        about: || {
            say!(
                "the result of a run: verdict, numbers with intervals, checks, caveats, charts as data",
                "результат прогона: вердикт, числа с интервалами, проверки, оговорки, графики как данные"
            )
        },
        parameters: &[RUN, REDACT, IF_NONE_MATCH],
        answers: &[Answer { media: JSON, schema: Schema::Document("findings") }],
        command: "stend show RUN --json",
        make: |values, _| Request::Run { run: values.name("run"), redact: values.is_set("redact") },
        ..Route::READ
    },
    Route {
        path: "/api/v1/runs/{run}/summary",
        operation: "summary",
        about: || {
            say!(
                "a run in short: its sentence, and how many checks passed, warned and failed",
                "прогон кратко: его фраза и сколько проверок пройдено, предупреждает и не пройдено"
            )
        },
        parameters: &[RUN, IF_NONE_MATCH],
        answers: &[Answer { media: JSON, schema: Schema::Type("summary.rs", "Summary") }],
        command: "stend show RUN",
        make: |values, _| Request::Summary { run: values.name("run") },
        ..Route::READ
    },
    Route {
        path: "/api/v1/runs/{run}/report",
        operation: "report",
        about: || {
            say!("the report of a run: page, Markdown or workbook", "отчёт о прогоне: страница, Markdown или книга")
        },
        parameters: &[
            RUN,
            query("format", Takes::Choice(&Format::WORDS), || {
                say!("form of the report, `html` by default", "вид отчёта, по умолчанию `html`")
            }),
            query("lang", Takes::Choice(&["en", "ru"]), || {
                say!(
                    "language of its texts; by default that of `Accept-Language`",
                    "язык текстов; по умолчанию из `Accept-Language`"
                )
            }),
            REDACT,
            query("full", Takes::Flag, || say!("a printer gets everything", "на печать выводится всё")),
            IF_NONE_MATCH,
        ],
        answers: &[
            Answer { media: "text/html; charset=utf-8", schema: Schema::Opaque },
            Answer { media: "text/markdown; charset=utf-8", schema: Schema::Opaque },
            Answer {
                media: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
                schema: Schema::Opaque,
            },
        ],
        command: "stend report RUN -o FILE",
        make: make::report,
        ..Route::READ
    },
    INTERVALS,
    RUN_FILE,
    STOP_RUN,
    Route {
        path: "/api/v1/runs/{run}/events",
        operation: "events",
        about: || {
            say!(
                "a run as it goes on, as server-sent events; of a run that has ended everything, then the end",
                "идущий прогон как события сервера (SSE); у законченного — всё и затем конец"
            )
        },
        parameters: &[
            RUN,
            query("after", Takes::Cursor, || {
                say!(
                    "`id` of the last event that came: only what is newer comes",
                    "`id` последнего полученного события: придёт только новое"
                )
            }),
            Parameter {
                name: "Last-Event-ID",
                place: Location::Header,
                takes: Takes::Cursor,
                about: || say!("the same, as browsers send it", "то же, как присылают браузеры"),
            },
        ],
        answers: &[Answer {
            media: "text/event-stream",
            schema: Schema::Events(
                "live.rs",
                &[("recorded", "Happened"), ("second", "Second"), ("progress", "Progress"), ("finished", "Finished")],
            ),
        }],
        command: "stend watch RUN",
        make: make::events,
        ..Route::READ
    },
    Route {
        path: "/api/v1/comparisons",
        operation: "comparison",
        about: || {
            say!(
                "runs compared with the first of them, or the arms of one: what changed, and a verdict on every case",
                "прогоны в сравнении с первым из них или варианты одного: что изменилось и вердикт по каждому случаю"
            )
        },
        parameters: &[
            Parameter {
                name: "run",
                place: Location::Repeated,
                takes: Takes::Text,
                about: || say!("name of a run in the list; several times", "имя прогона из списка; несколько раз"),
            },
            query("baseline", Takes::Text, || {
                say!(
                    "which run, or which arm of one, is 100 %; by default the first",
                    "какой прогон или вариант принять за 100 %; по умолчанию первый"
                )
            }),
            query("margin", Takes::Text, || {
                say!(
                    "difference that does not matter, such as `5%`; 2% by default",
                    "различие, которое не важно, например `5%`; по умолчанию 2%"
                )
            }),
            REDACT,
            IF_NONE_MATCH,
        ],
        answers: &[Answer { media: JSON, schema: Schema::Document("comparison") }],
        command: "stend compare RUN RUN --json",
        make: |values, _| Request::Comparison {
            runs: values.all("run"),
            baseline: values.text("baseline"),
            margin: values.text("margin"),
            redact: values.is_set("redact"),
        },
        ..Route::READ
    },
    HISTORY,
    AUDIT,
    IMPORT,
    RECORDINGS,
    RECORDING_ROUTE,
    JOURNAL,
    ACKNOWLEDGE,
    UNACKNOWLEDGE,
    MUTE,
    UNMUTE,
    OPEN_PROBLEMS,
    TEST_NOTICES,
    METRICS,
    Route {
        path: "/api/v1/suites",
        operation: "suites",
        about: || say!("the suites that are built in, with their files", "встроенные наборы вместе с файлами"),
        answers: &[Answer { media: JSON, schema: Schema::Document("suites") }],
        command: "stend suites --json",
        make: |_, _| Request::Suites,
        ..Route::READ
    },
    Route {
        path: "/api/v1/doctor",
        operation: "doctor",
        about: || say!("whether this machine can measure", "пригодна ли машина для измерений"),
        answers: &[Answer { media: JSON, schema: Schema::Document("checkup") }],
        command: "stend doctor --json",
        make: |_, _| Request::Doctor,
        ..Route::READ
    },
    Route {
        path: "/api/v1/drives",
        operation: "drives",
        about: || {
            say!(
                "the drives of this machine with everything on them: who uses them, and whether they may be written",
                "диски этой машины и всё, что на них: кто ими пользуется и можно ли на них писать"
            )
        },
        parameters: &[query("quick", Takes::Flag, || {
            say!("do not ask the drives for their health", "не запрашивать у дисков состояние")
        })],
        answers: &[Answer { media: JSON, schema: Schema::Document("inventory") }],
        command: "stend inspect --json",
        make: |values, _| Request::Drives { quick: values.is_set("quick") },
        ..Route::READ
    },
    Route {
        path: "/api/v1/openapi.json",
        operation: "openapi",
        about: || say!("this API for programs (OpenAPI 3.1)", "этот API для программ (OpenAPI 3.1)"),
        answers: &[Answer { media: JSON, schema: Schema::Opaque }],
        make: |_, _| Request::OpenApi,
        ..Route::READ
    },
    VALIDATE,
    DRY_RUN,
    PUT_TASK,
    TASKS,
    TASK,
    TASK_ORDER,
    TASK_LOG,
    STOP_TASK,
    TASK_EVENTS,
    SCHEDULES,
    PUT_SCHEDULE,
    DELETE_SCHEDULE,
    SCHEDULE_ORDER,
    RUN_SCHEDULE,
    ME,
    TOKENS,
    PUT_TOKEN,
    DELETE_TOKEN,
    AUDIT_LOG,
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_path_has_its_parameters_and_every_operation_a_name_of_its_own() {
        let names: BTreeSet<&str> = ROUTES.iter().map(|route| route.operation).collect();
        assert_eq!(names.len(), ROUTES.len());
        for route in ROUTES {
            let in_path: Vec<&str> =
                route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
            let declared: Vec<&str> =
                route.parameters.iter().filter(|p| p.place == Location::Path).map(|p| p.name).collect();
            assert_eq!(in_path, declared, "{}", route.path);
            assert!(!route.answers.is_empty());
        }
    }

    #[test]
    fn an_address_without_a_command_stands_in_the_page_of_the_api_with_the_reason_and_no_other_does() {
        let page = include_str!("../../../docs/api.md");
        let table = page.split("| why there is no command |").nth(1).unwrap().split("\n\n").next().unwrap();
        for route in ROUTES {
            let is_there = table.contains(&format!("`{}`", route.path));
            let bare = ROUTES.iter().any(|other| other.path == route.path && other.command.is_empty());
            assert_eq!(is_there, bare, "{}", route.path);
        }
    }

    #[test]
    fn the_document_names_every_route() {
        let document: serde_json::Value = serde_json::from_str(crate::OPENAPI).unwrap();
        let operations = document["paths"].as_object().unwrap().values().map(|path| path.as_object().unwrap().len());
        assert_eq!(operations.sum::<usize>(), ROUTES.len());
        for route in ROUTES {
            assert!(document["paths"][route.path][route.method.word().to_lowercase()].is_object(), "{}", route.path);
        }
    }
}

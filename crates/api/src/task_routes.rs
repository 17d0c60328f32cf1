//! The routes of orders and tasks.

use crate::parameters::{Location, Parameter, Takes};
use crate::request::{Request, make};
use crate::route::{Answer, Body, JSON, Method, PAGE_MAX, Route, Schema, query};
use crate::run_routes::{AS, COLOR, LANG};
use crate::tasks::TaskState;
use crate::users::Role;
use stend_base::say;

const TASK_ID: Parameter = Parameter {
    name: "task",
    place: Location::Path,
    takes: Takes::TaskId,
    about: || {
        say!(
            "id that the author of the task gives it: letters, digits, `.`, `_` and `-`",
            "имя, которое задаче даёт её автор: латинские буквы, цифры, `.`, `_` и `-`"
        )
    },
};

/// One task in the body.
const ONE: &[Answer] = &[Answer { media: JSON, schema: Schema::Type("tasks.rs", "Task") }];

pub(crate) const VALIDATE: Route = Route {
    method: Method::Post,
    role: Role::Operator,
    body: Body::Format("order"),
    path: "/api/v1/orders/validate",
    operation: "validateOrder",
    about: || {
        say!(
            "whether an order can be read; what it asks for, loads and allows",
            "можно ли прочитать заказ; чего он требует, что нагружает и разрешает"
        )
    },
    parameters: &[],
    answers: &[Answer { media: JSON, schema: Schema::Type("tasks.rs", "Validated") }],
    command: "",
    make: |_, order| Request::Validate { order },
};

pub(crate) const DRY_RUN: Route = Route {
    method: Method::Post,
    role: Role::Operator,
    body: Body::Format("order"),
    path: "/api/v1/orders/dry-run",
    operation: "dryRunOrder",
    about: || {
        say!(
            "what an order would do: steps, writes, time, caveats; nothing is changed. With `against` an array, one for each target",
            "что сделает заказ: шаги, объём записи, время, оговорки; ничего не меняется. С `against` — массив, по одному на объект"
        )
    },
    parameters: &[AS, LANG, COLOR],
    answers: &[
        Answer { media: JSON, schema: Schema::Documents("preview") },
        Answer { media: "text/plain; charset=utf-8", schema: Schema::Opaque },
    ],
    command: "stend run --order FILE --dry-run --json",
    make: make::dry_run,
};

pub(crate) const PUT_TASK: Route = Route {
    method: Method::Put,
    role: Role::Operator,
    body: Body::Format("order"),
    path: "/api/v1/tasks/{task}",
    operation: "putTask",
    about: || {
        say!(
            "gives the server an order; sent again, the same order changes nothing, and another one is a conflict",
            "передаёт серверу заказ; тот же заказ повторно ничего не меняет, другой — конфликт"
        )
    },
    parameters: &[
        TASK_ID,
        query("confirmation", Takes::Text, || {
            say!(
                "of an order that may write to devices: `Stend-Confirmation` of its dry run, at most 10 minutes old",
                "для заказа с записью на устройства: `Stend-Confirmation` его пробного режима, не старше 10 минут"
            )
        }),
        Parameter {
            name: "device",
            place: Location::Several,
            takes: Takes::Text,
            about: || {
                say!(
                    "likewise, the identity of each device that it may overwrite, typed by a person",
                    "там же — идентификатор каждого устройства, которое он может перезаписать, введённый человеком"
                )
            },
        },
    ],
    answers: ONE,
    command: "stend run --order FILE",
    make: make::put_task,
};

pub(crate) const TASKS: Route = Route {
    path: "/api/v1/tasks",
    operation: "tasks",
    about: || say!("tasks in pages, newest first", "задачи страницами, новые сверху"),
    parameters: &[
        query("state", Takes::Choice(&TaskState::WORDS), || say!("how far it is", "состояние")),
        query("limit", Takes::Count(PAGE_MAX), || {
            say!("most tasks of a page, 50 by default", "сколько задач на странице, по умолчанию 50")
        }),
        query("cursor", Takes::TaskId, || say!("`next` of the page before", "`next` предыдущей страницы")),
    ],
    answers: &[Answer { media: JSON, schema: Schema::Type("tasks.rs", "TaskList") }],
    make: make::tasks,
    ..Route::READ
};

pub(crate) const TASK: Route = Route {
    path: "/api/v1/tasks/{task}",
    operation: "task",
    about: || {
        say!(
            "a task: state, reason, exit code, what it loads, its runs",
            "задача: состояние, причина, код завершения, нагрузка, её прогоны"
        )
    },
    parameters: &[TASK_ID],
    answers: ONE,
    make: |values, _| Request::Task { id: values.name("task") },
    ..Route::READ
};

pub(crate) const TASK_ORDER: Route = Route {
    path: "/api/v1/tasks/{task}/order",
    operation: "taskOrder",
    about: || say!("the order of a task, as it was sent", "заказ задачи, каким его прислали"),
    parameters: &[TASK_ID],
    answers: &[Answer { media: "text/plain; charset=utf-8", schema: Schema::Opaque }],
    make: |values, _| Request::TaskOrder { id: values.name("task") },
    ..Route::READ
};

pub(crate) const TASK_LOG: Route = Route {
    path: "/api/v1/tasks/{task}/log",
    operation: "taskLog",
    about: || {
        say!(
            "what its process prints for people: at most the last 256 KiB",
            "что её процесс печатает для людей: не больше последних 256 КиБ"
        )
    },
    parameters: &[TASK_ID],
    answers: &[Answer { media: "text/plain; charset=utf-8", schema: Schema::Opaque }],
    make: |values, _| Request::TaskLog { id: values.name("task") },
    ..Route::READ
};

pub(crate) const STOP_TASK: Route = Route {
    method: Method::Post,
    role: Role::Operator,
    body: Body::None,
    path: "/api/v1/tasks/{task}/stop",
    operation: "stopTask",
    about: || {
        say!(
            "asks the run of a task to end, or takes a waiting task from the queue; it does not wait for the end",
            "просит прогон задачи завершиться или убирает ждущую задачу из очереди; конца не ждёт"
        )
    },
    parameters: &[
        TASK_ID,
        query("now", Takes::Flag, || {
            say!("abort, rather than drain what is in flight", "прервать, не дожидаясь начатого")
        }),
    ],
    answers: ONE,
    command: "stend stop RUN",
    make: |values, _| Request::StopTask { id: values.name("task"), now: values.is_set("now") },
};

pub(crate) const TASK_EVENTS: Route = Route {
    path: "/api/v1/task-events",
    operation: "taskEvents",
    about: || {
        say!(
            "tasks as they change, as server-sent events; first each that changed since, in its newest state",
            "изменения задач как события сервера (SSE); сначала изменившиеся с тех пор, в последнем состоянии"
        )
    },
    parameters: &[
        query("after", Takes::Count(usize::MAX), || {
            say!("`id` of the last event that came", "`id` последнего полученного события")
        }),
        Parameter {
            name: "Last-Event-ID",
            place: Location::Header,
            takes: Takes::Count(usize::MAX),
            about: || say!("the same, as browsers send it", "то же, как присылают браузеры"),
        },
    ],
    answers: &[Answer { media: "text/event-stream", schema: Schema::Events("tasks.rs", &[("task", "Task")]) }],
    make: |values, _| Request::TaskEvents { after: values.count("after").map(|count| count as u64) },
    ..Route::READ
};

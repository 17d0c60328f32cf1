//! The routes of orders that are repeated.

use crate::parameters::{Location, Parameter, Takes};
use crate::request::{Request, make};
use crate::route::{Answer, Body, JSON, Method, Route, Schema, query};
use crate::schedules::NotifyWhen;
use crate::users::Role;
use stend_base::say;

const ID: Parameter = Parameter {
    name: "schedule",
    place: Location::Path,
    takes: Takes::TaskId,
    about: || {
        say!(
            "id that its author gives it, at most 40 characters: letters, digits, `.`, `_` and `-`",
            "имя, которое задаёт автор, до 40 знаков: латинские буквы, цифры, `.`, `_` и `-`"
        )
    },
};

const ONE: &[Answer] = &[Answer { media: JSON, schema: Schema::Type("schedules.rs", "Schedule") }];
const LIST: &[Answer] = &[Answer { media: JSON, schema: Schema::Type("schedules.rs", "ScheduleList") }];

pub(crate) const SCHEDULES: Route = Route {
    path: "/api/v1/schedules",
    operation: "schedules",
    about: || {
        say!(
            "orders that are repeated: when, the next time, and what became of the last times",
            "повторяемые заказы: когда, следующий раз и итоги последних"
        )
    },
    answers: LIST,
    make: |_, _| Request::Schedules,
    ..Route::READ
};

pub(crate) const SCHEDULE_ORDER: Route = Route {
    path: "/api/v1/schedules/{schedule}/order",
    operation: "scheduleOrder",
    about: || say!("the order of a schedule, as it was sent", "заказ расписания, каким его прислали"),
    parameters: &[ID],
    answers: &[Answer { media: "text/plain; charset=utf-8", schema: Schema::Opaque }],
    make: |values, _| Request::ScheduleOrder { id: values.name("schedule") },
    ..Route::READ
};

pub(crate) const PUT_SCHEDULE: Route = Route {
    method: Method::Put,
    role: Role::Operator,
    body: Body::Format("order"),
    path: "/api/v1/schedules/{schedule}",
    operation: "putSchedule",
    about: || {
        say!(
            "repeats an order, or changes how; orders that write to devices or execute commands are refused, and `notify` needs the role `admin`",
            "повторяет заказ или меняет повторение; заказы с записью на устройства и с командами отклоняются, для `notify` нужна роль `admin`"
        )
    },
    parameters: &[
        ID,
        query("cron", Takes::Cron, || {
            say!(
                "when, in UTC: `MINUTE HOUR DAY MONTH WEEKDAY` with numbers, `*`, lists, ranges and steps",
                "когда, по UTC: `МИНУТА ЧАС ДЕНЬ МЕСЯЦ ДЕНЬ-НЕДЕЛИ` из чисел, `*`, списков, диапазонов и шагов"
            )
        }),
        query("at", Takes::Time, || {
            say!(
                "in place of `cron`: once, at a time in UTC such as `2026-12-24T03:00`",
                "вместо `cron`: один раз, время по UTC, например `2026-12-24T03:00`"
            )
        }),
        query("baseline", Takes::Text, || {
            say!(
                "the run to compare each result with, or `first`: the first that passed; without it only limits of the order count",
                "прогон для сравнения с каждым результатом или `first` — первый пройденный; без него считаются только пределы заказа"
            )
        }),
        query("loss", Takes::Count(90), || {
            say!(
                "loss to the baseline from which it fails, in percent, 5 by default",
                "с какого ухудшения к базе результат не проходит, в процентах, по умолчанию 5"
            )
        }),
        query("notify", Takes::Text, || {
            say!(
                "who gets a message: absolute path of a program (JSON on its standard input), or an address (`POST`)",
                "кто получит сообщение: полный путь программы (JSON на её стандартный ввод) или адрес (`POST`)"
            )
        }),
        query("notify_when", Takes::Choice(&NotifyWhen::WORDS), || {
            say!(
                "`problems`, the default, or `always`: of every result",
                "`problems` (по умолчанию) — о проблемах, `always` — о каждом результате"
            )
        }),
        query("paused", Takes::Flag, || say!("no time is due", "повторение приостановлено")),
        query("new", Takes::Flag, || {
            say!(
                "another schedule of this id is an error (409, `schedule_exists`) and stays as it is",
                "если под этим именем уже есть другое расписание, это ошибка (409, `schedule_exists`), и оно остаётся как было"
            )
        }),
    ],
    answers: ONE,
    command: "",
    make: make::put_schedule,
};

pub(crate) const DELETE_SCHEDULE: Route = Route {
    method: Method::Delete,
    role: Role::Operator,
    body: Body::None,
    path: "/api/v1/schedules/{schedule}",
    operation: "deleteSchedule",
    about: || {
        say!(
            "ends a schedule; a task that goes on is not stopped; the schedules that are left",
            "удаляет расписание; идущая задача не останавливается; оставшиеся расписания"
        )
    },
    parameters: &[ID],
    answers: LIST,
    command: "",
    make: |values, _| Request::DeleteSchedule { id: values.name("schedule") },
};

pub(crate) const RUN_SCHEDULE: Route = Route {
    method: Method::Post,
    role: Role::Operator,
    body: Body::None,
    path: "/api/v1/schedules/{schedule}/run",
    operation: "runSchedule",
    about: || say!("one more time, now; also while it is paused", "ещё один раз, сейчас; и во время паузы"),
    parameters: &[ID],
    answers: ONE,
    command: "",
    make: |values, _| Request::RunSchedule { id: values.name("schedule") },
};

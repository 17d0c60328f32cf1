//! The routes of tokens and of the log of changes.

use crate::parameters::{Location, Parameter, Takes};
use crate::request::{Request, make};
use crate::route::{Answer, Body, JSON, Method, PAGE_MAX, Route, Schema, query};
use crate::users::Role;
use stend_base::say;

/// Longest life of a token, in days.
const DAYS_MAX: usize = 3650;

const TOKEN_ID: Parameter = Parameter {
    name: "token",
    place: Location::Path,
    takes: Takes::TaskId,
    about: || {
        say!(
            "name of its holder, which the log of changes has: letters, digits, `.`, `_` and `-`",
            "имя владельца, под которым он попадёт в журнал изменений: латинские буквы, цифры, `.`, `_` и `-`"
        )
    },
};

const LIST: &[Answer] = &[Answer { media: JSON, schema: Schema::Type("users.rs", "TokenList") }];

pub(crate) const ME: Route = Route {
    path: "/api/v1/me",
    operation: "me",
    about: || say!("who sends this request, and with which role", "кто прислал этот запрос и с какой ролью"),
    answers: &[Answer { media: JSON, schema: Schema::Type("users.rs", "Me") }],
    make: |_, _| Request::Me,
    ..Route::READ
};

pub(crate) const TOKENS: Route = Route {
    method: Method::Get,
    role: Role::Admin,
    body: Body::None,
    path: "/api/v1/tokens",
    operation: "tokens",
    about: || say!("tokens with their roles, without their secrets", "токены с ролями, без секретов"),
    parameters: &[],
    answers: LIST,
    command: "",
    make: |_, _| Request::Tokens,
};

pub(crate) const PUT_TOKEN: Route = Route {
    method: Method::Put,
    role: Role::Admin,
    body: Body::None,
    path: "/api/v1/tokens/{token}",
    operation: "putToken",
    about: || say!("makes a token; its secret is shown only now", "создаёт токен; секрет показывается только сейчас"),
    parameters: &[
        TOKEN_ID,
        query("role", Takes::Choice(&Role::WORDS), || {
            say!("what its holder may do, `viewer` by default", "что можно владельцу, по умолчанию `viewer`")
        }),
        query("days", Takes::Count(DAYS_MAX), || {
            say!("days after which it ends, 90 by default", "через сколько дней он закончится, по умолчанию 90")
        }),
    ],
    answers: &[Answer { media: JSON, schema: Schema::Type("users.rs", "IssuedToken") }],
    command: "",
    make: make::put_token,
};

pub(crate) const DELETE_TOKEN: Route = Route {
    method: Method::Delete,
    role: Role::Admin,
    body: Body::None,
    path: "/api/v1/tokens/{token}",
    operation: "deleteToken",
    about: || {
        say!(
            "ends a token and the sessions of its browsers; the tokens that are left",
            "отменяет токен и сеансы браузеров с ним; оставшиеся токены"
        )
    },
    parameters: &[TOKEN_ID],
    answers: LIST,
    command: "",
    make: |values, _| Request::DeleteToken { id: values.name("token") },
};

pub(crate) const AUDIT_LOG: Route = Route {
    method: Method::Get,
    role: Role::Admin,
    body: Body::None,
    path: "/api/v1/audit-log",
    operation: "auditLog",
    about: || {
        say!(
            "who changed what, in pages, newest first: tasks that were given or stopped, tokens",
            "кто что изменил, страницами, новое сверху: заказанные и остановленные задачи, токены"
        )
    },
    parameters: &[
        query("limit", Takes::Count(PAGE_MAX), || {
            say!("most changes of a page, 50 by default", "сколько изменений на странице, по умолчанию 50")
        }),
        query("cursor", Takes::Count(usize::MAX), || say!("`next` of the page before", "`next` предыдущей страницы")),
    ],
    answers: &[Answer { media: JSON, schema: Schema::Type("users.rs", "AuditLog") }],
    command: "",
    make: make::audit_log,
};

//! What can be asked of `stend serve` and what it answers: the table of routes, from which requests are read and the OpenAPI document and
//! the pages of the API are written, and the types of answers that no verb prints. Pure: no sockets, no clock, no files.
#![forbid(unsafe_code)]

mod analysis_routes;
mod answers;
mod cron;
mod filter;
mod intervals;
mod live;
mod parameters;
mod problem;
mod read;
mod request;
mod route;
mod routes;
mod run_routes;
mod schedule_routes;
mod schedules;
mod summary;
mod task_routes;
mod tasks;
mod user_routes;
mod users;
mod watching_routes;

pub use answers::{CertificateHealth, Health, NoticeTest, NoticesTest, OpenOfRecording, OpenProblems, StopAsked};
pub use cron::Cron;
pub use filter::{Filter, Listed, Sort, StateFilter};
pub use intervals::{Intervals, OperationIntervals, Stretch, TrialIntervals};
pub use live::{Cursor, Figures, Finished, Happened, LiveState, Progress, Second};
pub use parameters::{Location, Parameter, SECONDS_MAX, Takes, decoded};
pub use problem::{Failure, Problem, status};
pub use read::Asked;
pub use request::{Format, Repeat, Request, Shown};
pub use route::{Answer, Body, Method, Route, Schema};
pub use routes::{ROUTES, VERSION};
pub use schedules::{Due, Notice, Notification, NotifyWhen, Outcome, Schedule, ScheduleList};
pub use summary::Summary;
pub use tasks::{Task, TaskList, TaskState, Validated, is_task_id};
pub use users::{AuditEntry, AuditLog, IssuedToken, Me, Role, Token, TokenList};

/// The OpenAPI document of the routes, as it is committed.
pub const OPENAPI: &str = include_str!("../../../docs/api/openapi.json");

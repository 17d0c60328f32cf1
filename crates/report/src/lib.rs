//! Findings and chart documents to HTML, SVG, terminal text and JSON. Pure: no clock, no I/O, and no
//! statistic: every number shown here was computed by `analyse` or observed by the run.
#![forbid(unsafe_code)]

mod audit;
mod bundle;
mod comparison;
mod density;
mod export;
mod faults;
mod figures;
mod fio_jobs;
mod fio_json;
mod history;
mod hosts;
mod html;
mod io_log;
mod journal;
mod json;
mod listing;
mod machine;
mod markdown;
mod markup;
mod metrics;
mod numbers;
mod ours;
mod preview;
mod published;
mod rates;
mod recording;
#[cfg(test)]
mod recording_tests;
mod repeat;
mod results_csv;
mod shell;
mod sources;
mod stand_answers;
mod suites;
mod svg;
mod text;
mod typography;
mod words;
mod xlsx;

pub use audit::json::audit_json;
pub use bundle::{
    BUNDLE_SPAN, BUNDLE_TABLES_MAX, Bundle, BundleFile, BundlePart, BundleTable, LeftOut, Packing, Step, left_out_text,
};
pub use comparison::gate::junit::junit;
pub use comparison::json::comparison_json;
pub use comparison::markdown::comparison_markdown;
pub use export::{record_json, trials_csv};
pub use fio_jobs::fio_jobs;
pub use fio_json::{fio_json, fio_json_place};
pub use history::{history_json, history_text};
pub use html::audit::audit_html;
pub use html::comparison::comparison_html;
pub use html::history::history_html;
pub use html::published::published_html;
pub use html::recording::recording_html;
pub use html::{gated_html, html};
pub use io_log::{IoFormat, LoggedTrial, ios, ios_head};
pub use journal::{Said, journal_json, journal_text};
pub use json::{gated_json, json};
pub use listing::{Listing, list_json};
pub use machine::{
    OfHost, Serving, ServingCertificate, doctor_json, error_json, hosts_json, inspect_json, inventory_json,
    serving_json,
};
pub use markdown::{gated_markdown, markdown};
pub use metrics::{
    CONTENT_TYPE as METRICS_CONTENT_TYPE, HostNow, RecordingNow, RunMetrics, RunNow, ServerNow, metrics_text,
    server_metrics_text,
};
pub use ours::{MAN_COMMENT, UNIT_COMMENT, is_ours};
pub use preview::preview_json;
pub use published::json::published_json;
pub use recording::{host_json, recording_json, retention_text};
pub use results_csv::{Dialect, ResultsCsv};
pub use sources::sources_csv;
pub use stand_answers::{stand_plan_json, stand_plan_text, stand_status_json, stand_status_text, stand_up_json};
pub use suites::{ListedSuite, suites_json, suites_text};
pub use svg::svg;
pub use text::audit::audit_text;
pub use text::brief::brief;
pub use text::comparison::{arms_text, comparison_text};
pub use text::comparison_brief::{arms_brief, campaign_text, comparison_brief};
pub use text::doctor::doctor_text;
pub use text::gate::gate_text;
pub use text::host::{HostView, host_text, host_waits};
pub use text::hosts::hosts_text;
pub use text::inspect::inspect_text;
pub use text::inventory::inventory_text;
pub use text::list::list_text;
pub use text::preview::preview_text;
pub use text::previews::previews_text;
pub use text::published::published_text;
pub use text::recording::recording_text;
pub use text::text;
pub use text::{clean, for_terminal, json_for_terminal, wrapped};
pub use xlsx::{Book, xlsx};

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod fleet_tests;

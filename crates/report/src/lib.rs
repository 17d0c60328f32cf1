//! Findings and chart documents to HTML, SVG, terminal text and JSON. Pure: no clock, no I/O, and no
//! statistic: every number shown here was computed by `analyse` or observed by the run.
#![forbid(unsafe_code)]

mod figures;
mod html;
mod json;
mod markup;
mod shell;
mod svg;
mod text;
mod typography;
mod words;

pub use html::html;
pub use json::json;
pub use svg::svg;
pub use text::inspect::inspect_text;
pub use text::text;

#[cfg(test)]
mod fixture;

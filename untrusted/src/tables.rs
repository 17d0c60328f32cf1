//! Results that others measured or published, and files that are about to be replaced.

use crate::shown;
use std::io::{Cursor, Read};
use stend_base::Lang;
use stend_interop::fio::log;
use stend_interop::{File, ImportedRun, results as imported};
use stend_record::{Entry, RunRecord};

/// Columns of a terminal.
const WIDTH: usize = 100;

/// A file of results, whatever form it looks like.
pub fn results(bytes: &[u8]) {
    if let Ok(run) = imported(&[File { name: "fuzzed", bytes }]) {
        shown_as_run(run, Vec::new(), bytes.len());
    }
}

/// Each kind of fio's logs.
pub fn logs(bytes: &[u8]) {
    for kind in ["lat", "clat", "clat_hist", "iops"] {
        let open = |_: &str| Ok(Box::new(Cursor::new(bytes.to_vec())) as Box<dyn Read>);
        read_logs(&[format!("fuzzed_{kind}.1.log")], &open, bytes.len());
    }
    // Averages: the bytes from their begin, from a third and from two thirds on as the logs that are needed for them.
    let names = ["iops", "bw", "lat"].map(|kind| format!("averaged_{kind}.1.log"));
    let part = |name: &str| names.iter().position(|own| own == name).unwrap_or(0) * bytes.len() / 3;
    let open = |name: &str| Ok(Box::new(Cursor::new(bytes[part(name)..].to_vec())) as Box<dyn Read>);
    read_logs(&names, &open, bytes.len());
}

fn read_logs(names: &[String], open: &dyn Fn(&str) -> stend_base::Result<Box<dyn Read>>, which: usize) {
    let mut entries = Vec::new();
    if let Ok(run) = log::read(names, open, &mut |entry| entries.push(entry)) {
        shown_as_run(run, entries, which);
    }
}

fn shown_as_run(mut run: ImportedRun, before: Vec<Entry>, which: usize) {
    let entries = std::mem::take(&mut run.entries);
    let mut header = shown::header(run.inputs);
    header.imported = Some(run.imported);
    let mut record = RunRecord::new(header);
    before.into_iter().chain(entries).for_each(|entry| record.apply(entry));
    shown::run(&record, which);
}

/// A table of published numbers, audited.
pub fn published(bytes: &[u8]) {
    let Ok((table, unread)) = stend_interop::read(bytes, "fuzzed.csv") else { return };
    let audit = stend_audit::audit(&table, unread, &[]);
    stend_report::audit_text(&audit, Lang::Ru, WIDTH, true);
    stend_report::audit_json(&audit);
    stend_report::audit_html(&audit, &table, Lang::En);
}

/// A file in whose place a result is to be put.
pub fn ours(bytes: &[u8]) {
    let _ = stend_report::is_ours(&mut Cursor::new(bytes));
}

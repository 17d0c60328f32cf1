//! What the cells of a plan are called: two that differ may not share a label, which is how people and `compare` know them. Pure.

use std::collections::BTreeSet;
use stend_base::units::parse_bytes;
use stend_base::{Bytes, Error, Lang, Result, format, say};
use stend_spec::case::Case;
use stend_spec::suite::JobsOf;

/// Name of the axis of a number of jobs: the same on any number of targets.
pub(crate) fn jobs(of: JobsOf) -> &'static str {
    match of {
        JobsOf::Range | JobsOf::Files => "jobs",
        JobsOf::Target => "jobs_per_target",
    }
}

/// A block size as it is usually written; in bytes, where that would be rounded.
pub(crate) fn size(bytes: Bytes) -> String {
    let usual = format::bytes(bytes, Lang::En);
    if parse_bytes(&usual) == Ok(bytes) { usual } else { format!("{} B", bytes.0) }
}

/// Refuses a plan in which two cells have the same label. A suite says it of names of cases and of values of an axis; what
/// is left is a name that looks like another one with its axes.
pub(crate) fn unique(cases: &[Case]) -> Result<()> {
    let mut seen = BTreeSet::new();
    for label in cases.iter().map(Case::label) {
        if seen.contains(&label) {
            let message = say!("two cases are called `{label}`", "два случая называются `{label}`");
            return Err(
                Error::spec(message).hint(say!("give one of them another `name`", "дайте одному из них другое `name`"))
            );
        }
        seen.insert(label);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::plan;
    use expect_test::expect;

    #[test]
    fn cells_with_the_same_label_are_refused() {
        let stream = "op: read, pattern: random, block_size: 4KiB";
        let named = |name: &str| {
            format!(
                "  - {{name: a, streams: [{{{stream}, queue_depth: [1, 8]}}]}}\n  - {{name: '{name}', streams: [{{{stream}}}]}}\n"
            )
        };
        assert!(plan(&named("a, queue_depth 9")).is_ok());
        expect![[r#"
            error: two cases are called `a, queue_depth 8`
            hint: give one of them another `name`"#]]
        .assert_eq(&plan(&named("a, queue_depth 8")).unwrap_err().render(Lang::En));
    }

    #[test]
    fn schedules_and_sizes_that_differ_little_make_cells_of_their_own() {
        let schedule = |rate: &str| format!("{{schedule: [{{at: 0s, rate: 5/s}}, {{at: 1s, rate: {rate}}}]}}");
        let rates = format!("[{}, {}]", schedule("6/s"), schedule("7/s"));
        let sizes = "[1MiB, 1052672B, 1056768B]";
        let text =
            format!("  - {{name: a, streams: [{{op: read, pattern: random, block_size: {sizes}, rate: {rates}}}]}}\n");
        let labels: Vec<String> = plan(&text).unwrap().cases.iter().map(Case::label).collect();
        expect![[r#"
            a, block_size 1 MiB, rate schedule of 2 from 5/s to 6/s (a93ec7)
            a, block_size 1 MiB, rate schedule of 2 from 5/s to 7/s (e521c0)
            a, block_size 1052672 B, rate schedule of 2 from 5/s to 6/s (a93ec7)
            a, block_size 1052672 B, rate schedule of 2 from 5/s to 7/s (e521c0)
            a, block_size 1056768 B, rate schedule of 2 from 5/s to 6/s (a93ec7)
            a, block_size 1056768 B, rate schedule of 2 from 5/s to 7/s (e521c0)"#]]
        .assert_eq(&labels.join("\n"));
    }
}

//! Reasons to doubt a run that another tool made.

use crate::findings::Caveat;
use std::collections::BTreeSet;
use stend_record::RunRecord;

/// That it was imported, and what of the files is missing.
pub(super) fn doubts(run: &RunRecord) -> Vec<Caveat> {
    let Some(imported) = &run.header.imported else { return Vec::new() };
    let told = || {
        run.trials.iter().filter_map(|trial| trial.outcome.as_ref()?.tool_output.as_ref()).flat_map(|told| &told.ops)
    };
    let versions: BTreeSet<&str> = imported.files.iter().map(|file| file.version.as_str()).collect();
    let versions: Vec<&str> = versions.into_iter().filter(|version| !version.is_empty()).collect();
    let by = if versions.is_empty() { imported.tool.clone() } else { versions.join(", ") };
    let whole = Caveat::Imported {
        by,
        after_submission: told().any(|op| op.latency == "clat"),
        printed: told().any(|op| !op.mergeable),
        snapshots: imported.snapshots,
    };
    let missing = imported.dropped.clone();
    let part = (!missing.is_empty()).then_some(Caveat::ImportedInPart { dropped: missing });
    part.into_iter().chain([whole]).collect()
}

#[cfg(test)]
mod tests {
    use crate::analyse;
    use crate::findings::Caveat;
    use crate::fixture::{imported, run};
    use stend_base::{Lang, say};

    fn said(mergeable: bool, dropped: bool) -> Vec<(String, bool)> {
        let mut record = imported(run().six_blocks(&[9_870.0]).record(), mergeable);
        if dropped {
            record.header.imported.as_mut().unwrap().dropped.push(say!("a.json:9: cut", "a.json:9: обрыв"));
        }
        let of = |caveat: &Caveat| (caveat.say().get(Lang::En).to_string(), caveat.is_about_data());
        analyse(&record).unwrap().caveats.iter().map(of).collect()
    }

    #[test]
    fn an_imported_run_says_so_and_what_its_latencies_are() {
        let (merged, printed) = (said(true, false), said(false, false));
        assert!(merged[0].0.contains("fio-3.33") && merged[0].0.contains("clat"), "{merged:?}");
        assert!(!merged[0].0.contains("as printed") && printed[0].0.contains("as printed"), "{printed:?}");
        assert!(merged.iter().all(|(text, _)| !text.contains("has not written")), "{merged:?}");
    }

    #[test]
    fn advice_about_fio_is_given_for_fio_alone() {
        let advice = |tool: &str| {
            let mut record = imported(run().six_blocks(&[9_870.0]).record(), false);
            let told = record.header.imported.as_mut().unwrap();
            told.files.iter_mut().for_each(|file| file.version = tool.to_string());
            analyse(&record).unwrap().caveats[0].advice().get(Lang::En).to_string()
        };
        assert!(advice("fio-3.33").contains("json+") && !advice("elbencho 3.1-10").contains("fio"));
    }

    #[test]
    fn what_is_missing_comes_first() {
        let found = said(true, true);
        assert!(found[0].0.contains("a.json:9: cut") && found[0].1, "{found:?}");
        assert!(!found[1].1);
    }
}

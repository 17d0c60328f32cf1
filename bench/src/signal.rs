//! `make signal`: what does Stend warn of where there is nothing to warn of? `quick` on kinds of healthy, idle storage, and what its checks
//! and caveats say of each. Whether an alarm is a true one is for people to say, in the notes of the page.

use crate::lab::{MACHINE, Place};
use crate::{Outcome, Settings, machine, page, say};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use stend_analyse::Findings;
use stend_analyse::findings::{CaseFinding, Caveat, CheckStatus};
use stend_record::store;

/// Large enough for the test file of `quick`, small enough for memory.
const SIZE: &str = "2GiB";

/// A kind of storage.
struct Kind {
    name: &'static str,
    on: On,
}

enum On {
    /// A directory as it is.
    Directory(PathBuf),
    /// A stand of these layers on this machine.
    Layers(String),
    /// A stand file, in the machine of the lab.
    Lab(&'static str),
}

/// What was said of one.
struct Said {
    /// Cases with their failed and warned checks.
    cases: Vec<BTreeSet<String>>,
    /// Checks that this machine has no data for.
    unmeasured: BTreeSet<String>,
    /// Ids of caveats of the run.
    caveats: BTreeSet<String>,
    /// The first sentence.
    verdict: String,
}

/// Measures every kind and writes the page.
pub fn measure(settings: &Settings) -> Outcome<()> {
    let place = Place::new(settings, &settings.directory)?;
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    let kinds = kinds(&place.directory);
    let wanted = |kind: &&Kind| settings.only.as_ref().is_none_or(|only| kind.name.contains(only.as_str()));
    for kind in kinds.iter().filter(wanted) {
        say(&format!("signal: {}", kind.name));
        match run(&place, kind) {
            Ok(said) => found.push((kind.name, said)),
            Err(why) => {
                say(&why);
                missing.push(format!("{}: {}", kind.name, why.lines().next().unwrap_or_default()));
            }
        }
    }
    let text = report(settings, &found, &missing);
    if settings.only.is_some() {
        say(&text);
        return Ok(());
    }
    page::write(&settings.page("signal.md"), &text)
}

fn kinds(here: &Path) -> Vec<Kind> {
    let on_file = |name, more: &str| {
        let layers = format!("- loop: {{directory: {}, size: {SIZE}}}\n{more}", here.display());
        Kind { name, on: On::Layers(layers) }
    };
    vec![
        Kind { name: "directory", on: On::Directory(here.to_path_buf()) },
        Kind { name: "tmpfs", on: On::Directory("/dev/shm".into()) },
        Kind { name: "zram", on: On::Layers(format!("- zram: {{size: {SIZE}}}\n- fs: {{type: ext4}}\n")) },
        on_file("loop", ""),
        on_file("ext4", "- fs: {type: ext4}\n"),
        on_file("xfs", "- fs: {type: xfs}\n"),
        on_file("btrfs", "- btrfs: {}\n"),
        Kind { name: "NVMe (lab)", on: On::Lab("single") },
        Kind { name: "md RAID 10 (lab)", on: On::Lab("md-raid10") },
        Kind { name: "LVM striped (lab)", on: On::Lab("lvm-striped") },
        Kind { name: "ZFS (lab)", on: On::Lab("zfs-files-raidz") },
    ]
}

/// Runs `quick` on one kind.
fn run(place: &Place, kind: &Kind) -> Outcome<Said> {
    let file = place.directory.join("run.stend");
    let mut words: Vec<String> =
        ["run", "quick", "--progress", "none", "--allow-commands", "-o"].map(String::from).into();
    words.push(file.display().to_string());
    match &kind.on {
        On::Directory(path) => words.extend(["--on".to_string(), path.display().to_string()]),
        On::Layers(layers) => {
            let stand = place.directory.join("stand.yaml");
            let text = format!("stand: signal\nlayers:\n{layers}");
            std::fs::write(&stand, text).map_err(|e| format!("cannot write `{}`: {e}", stand.display()))?;
            words.extend(["--stand".to_string(), stand.display().to_string()]);
        }
        On::Lab(name) => {
            // The first of them starts the machine; for the others it is up.
            if !place.output(&["lab", "list"])?.contains(MACHINE) {
                place.output(&["lab", "up", &format!("lab/{MACHINE}.yaml")])?;
            }
            let stand = format!("stands/soft-raid/{name}.yaml");
            words.extend(["--lab".to_string(), MACHINE.to_string(), "--stand".to_string(), stand]);
        }
    }
    let output = place.command(&words.iter().map(String::as_str).collect::<Vec<_>>()).output();
    let output = output.map_err(|e| format!("cannot run Stend: {e}"))?;
    if !file.exists() {
        return Err(format!("{}: {}", kind.name, String::from_utf8_lossy(&output.stderr)));
    }
    let run = store::read(&file).map_err(|e| format!("{}: {}", kind.name, e.render(stend_base::Lang::En)))?;
    std::fs::remove_file(&file).map_err(|e| format!("cannot remove `{}`: {e}", file.display()))?;
    let findings = stend_analyse::judge(&run).map_err(|e| e.render(stend_base::Lang::En))?;
    Ok(said(&findings))
}

fn said(findings: &Findings) -> Said {
    let of = |case: &CaseFinding, wanted: &[CheckStatus]| -> BTreeSet<String> {
        case.checks.iter().filter(|check| wanted.contains(&check.status)).map(|check| check.id.to_string()).collect()
    };
    Said {
        cases: findings.cases.iter().map(|case| of(case, &[CheckStatus::Warn, CheckStatus::Fail])).collect(),
        unmeasured: findings.cases.iter().flat_map(|case| of(case, &[CheckStatus::NotMeasurable])).collect(),
        caveats: findings.caveats.iter().map(Caveat::slug).collect(),
        verdict: findings.verdict.en.clone(),
    }
}

fn report(settings: &Settings, found: &[(&str, Said)], missing: &[String]) -> String {
    let mut text = "# What Stend warns of on healthy, idle storage\n\n\
                    Written by `make signal`; everything above \"Notes\" is replaced by the next run. `quick` runs on every kind of storage, one after the\n\
                    other. Below: in how many cases a check warned or failed, which checks had no data to decide, and with • which caveats the run had. Every one of them\n\
                    that a knowledgeable reader would not act on is a false alarm; the notes say which is which.\n\n| what | |\n|---|---|\n"
        .to_string();
    for (what, value) in machine::of_host(settings) {
        text += &format!("| {what} | {value} |\n");
    }
    let row = |name: &str, cells: Vec<String>| format!("| {name} | {} |\n", cells.join(" | "));
    let cells = |of: &dyn Fn(&Said) -> String| found.iter().map(|(_, said)| of(said)).collect::<Vec<_>>();
    text += &format!("\n## Alarms\n\n| | {} |\n", found.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" | "));
    text += &format!("|---|{}\n", "--:|".repeat(found.len()));
    text += &row("cases", cells(&|said| said.cases.len().to_string()));
    text += &row("most checks of one case", cells(&|said| most(said).to_string()));
    text +=
        &row("cases without any", cells(&|said| said.cases.iter().filter(|case| case.is_empty()).count().to_string()));
    for (check, by_kind) in fired(found) {
        text += &row(&format!("`{check}`"), by_kind.iter().map(|cases| shown(*cases)).collect());
    }
    text += &row("not measurable here", cells(&|said| said.unmeasured.iter().cloned().collect::<Vec<_>>().join(", ")));
    let caveats: BTreeSet<&String> = found.iter().flat_map(|(_, said)| &said.caveats).collect();
    for caveat in caveats {
        let mark = |said: &Said| if said.caveats.contains(caveat) { "•".to_string() } else { String::new() };
        text += &row(&format!("[{caveat}](../caveats/{caveat}.md)"), cells(&mark));
    }
    text += "\n## Verdicts\n\n| storage | verdict |\n|---|---|\n";
    for (name, said) in found {
        text += &format!("| {name} | {} |\n", said.verdict);
    }
    for why in missing {
        text += &format!("\nNot measured: {why}.\n");
    }
    text + "\n"
}

fn most(said: &Said) -> usize {
    said.cases.iter().map(BTreeSet::len).max().unwrap_or(0)
}

/// By check, in how many cases of each kind it fired.
fn fired(found: &[(&str, Said)]) -> BTreeMap<String, Vec<usize>> {
    let all: BTreeSet<&String> = found.iter().flat_map(|(_, said)| said.cases.iter().flatten()).collect();
    let of = |check: &String, said: &Said| said.cases.iter().filter(|case| case.contains(check)).count();
    all.into_iter().map(|check| (check.clone(), found.iter().map(|(_, said)| of(check, said)).collect())).collect()
}

fn shown(cases: usize) -> String {
    if cases == 0 { String::new() } else { cases.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_alarm_is_counted_where_it_fires() {
        let of = |ids: &[&str]| ids.iter().map(|id| id.to_string()).collect::<BTreeSet<_>>();
        let said = Said {
            cases: vec![of(&["H1", "H2"]), of(&["H1"]), of(&[])],
            unmeasured: of(&[]),
            caveats: of(&["few"]),
            verdict: String::new(),
        };
        let none = Said { cases: vec![of(&[])], unmeasured: of(&[]), caveats: of(&[]), verdict: String::new() };
        assert_eq!(most(&said), 2);
        let found = fired(&[("a", said), ("b", none)]);
        assert_eq!(found["H1"], [2, 0]);
        assert_eq!(found["H2"], [1, 0]);
        assert_eq!(shown(0), "");
    }
}

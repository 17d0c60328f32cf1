//! The power of a machine of the lab is cut by a run in the middle of its writes: what had been acknowledged outlives that where it
//! lies on drives, and is missed where it lay in memory. Not part of the usual tests because of its time; `make lab` has it.

use crate::support::lab::{Machine, identity};
use crate::support::*;
use std::path::{Path, PathBuf};
use stend_record::observed::Phase;
use stend_record::{Crash, EventKind, RunRecord, RunState};

/// Small durable writes, cut off twice.
const SUITE: &str = "suite: cut\nfill: {size: 8MiB}\nrepeats: {blocks: 2}\ndefaults: {ramp: 500ms, trial: 10s}\ncases:\n  - name: log\n    \
    events: [{at: 3s, do: power.cut}]\n    streams:\n      \
    - {op: write, pattern: random, block_size: 4KiB, queue_depth: 4, sync: dsync, verify: {crash: true}}\n";

impl Machine<'_> {
    /// A run on a stand, and its file.
    fn cut(&self, name: &str, drives: u32, layers: &str, code: i32) -> (RunRecord, PathBuf, String) {
        let stand = self.stand(name, drives, layers);
        let (suite, file) = (self.scratch.file("suite.yaml", SUITE), self.scratch.join(&format!("{name}.stend")));
        let path = file.to_string_lossy().into_owned();
        let (told, notes) = self.stend(&["run", &suite, "--stand", &stand, "--progress", "none", "-o", &path], code);
        let run = stend_record::store::read(&file).expect("a run file");
        let left = self.guest("ls /var/lib/stend/stands; ls /var/lib/stend | grep ledger; true");
        assert_eq!(left, "", "{name}: neither stand nor ledger stays");
        // Lines are as wide as a terminal.
        let told = one_line(&(told + &notes));
        (run, file, told)
    }
}

fn crashes(run: &RunRecord) -> Vec<&Crash> {
    run.crashes().collect()
}

#[test]
#[ignore = "takes minutes under emulation: `make lab` runs it"]
fn what_was_acknowledged_outlives_cuts_of_power_on_drives_and_is_missed_where_it_lay_in_memory() {
    let scratch = Scratch::new();
    let machine = Machine::up(&scratch, "cut", |serial| {
        format!("memory: 1GiB\ncpus: 2\ndrives: [{{serial: {serial}, count: 2, size: 96MiB}}]\n")
    });
    let (drive, confirmed) = (format!("{}1", machine.serial), identity(&format!("{}1", machine.serial)));
    let on = format!("/dev/disk/by-id/nvme-QEMU_NVMe_Ctrl_{drive}");
    let (plan, _) = machine.stend(&["run", "power-cut", "--on", &on, "--confirm", &confirmed, "--dry-run"], 0);
    let plan = one_line(&plan);
    assert!(plan.contains("/var/lib/stend/R-") && plan.contains("power of the machine is cut"), "{plan}");

    let layers = "{md: {level: 1, member_size: 64MiB}}, {fs: {type: ext4}}";
    let (run, file, told) = machine.cut("mirror", 2, layers, 0);
    assert_eq!(run.state, RunState::Complete, "{told}");
    let found = crashes(&run);
    assert_eq!(found.len(), 2, "{told}");
    for crash in &found {
        assert!(crash.rebooted && crash.acknowledged > 50 && crash.wrong() == 0, "{crash:?}");
    }
    assert!(run.trials.len() == 2 && run.trials.iter().all(|trial| trial.outcome.is_none()));
    let json = show_json(&scratch, Path::new(&file));
    let cuts = &json["faults"][0]["cuts"];
    assert_eq!((&cuts["cuts"], &cuts["judged"], &cuts["lost"]), (&2.into(), &2.into(), &0.into()), "{json}");
    assert!(told.contains("Cuts of power: 2") && told.contains("all are there"), "{told}");
    assert!(told.contains("After a cut the guest answered after"), "{told}");
    let back = &cuts["back"];
    let [answered, stood, read] = ["answered_ns_max", "stood_ns_max", "read_ns_max"].map(|key| back[key].as_u64());
    assert!(Some(0) < answered && answered < stood && stood < read, "{back}");
    let html = std::fs::read_to_string(file.with_extension("html")).expect("a report");
    assert!(html.contains("the stand was up after"));
    let fills = run.events.iter().filter(|event| event.kind == EventKind::Phase(Phase::Fill)).count();
    assert_eq!(fills, 2, "once for each block, and not behind the last cut");

    // Memory acknowledges a durable write at once, and forgets it with the power.
    let (run, file, told) = machine.cut("memory", 0, "{zram: {size: 32MiB}}, {dm: {linear: whole}}", 7);
    let found = crashes(&run);
    assert!(found.len() == 2 && found.iter().all(|crash| crash.acknowledged > 50), "{told}");
    for crash in &found {
        assert_eq!(crash.wrong(), crash.acknowledged, "nothing of it can be there: {crash:?}");
    }
    let cuts = show_json(&scratch, Path::new(&file))["faults"][0]["cuts"].clone();
    assert!(cuts["harmful"] == 2 && cuts["lost"].as_u64().is_some_and(|lost| lost > 100), "{cuts}");
    machine.down();
}

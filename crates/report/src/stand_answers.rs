//! Stands for people and for machines: what putting one up would do, and how those are that are up.

use crate::text::{clean, columns};
use serde::Serialize;
use stend_base::{Lang, Say, format, say};
use stend_record::{LayerStatus, PlannedDrive, PlannedStep, StandPlan, StandStatus, StandTargets};

/// Raised when a field changes its meaning or goes away; new fields do not raise it.
const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize)]
struct Planned<'a> {
    schema: &'static str,
    schema_version: u32,
    plan: &'a StandPlan,
}

#[derive(Serialize)]
struct Statuses<'a> {
    schema: &'static str,
    schema_version: u32,
    stands: &'a [StandStatus],
}

#[derive(Serialize)]
struct Up<'a> {
    schema: &'static str,
    schema_version: u32,
    up: &'a StandTargets,
}

/// A plan as JSON, indented, with a line feed at the end.
pub fn stand_plan_json(plan: &StandPlan) -> String {
    crate::json::pretty(&Planned { schema: "stend-stand-plan", schema_version: SCHEMA_VERSION, plan })
}

/// Stands that are up as JSON, indented, with a line feed at the end.
pub fn stand_status_json(stands: &[StandStatus]) -> String {
    crate::json::pretty(&Statuses { schema: "stend-stand-status", schema_version: SCHEMA_VERSION, stands })
}

/// What came of putting a stand up, as JSON, indented, with a line feed at the end.
pub fn stand_up_json(up: &StandTargets) -> String {
    crate::json::pretty(&Up { schema: "stend-stand-up", schema_version: SCHEMA_VERSION, up })
}

/// A plan for a person: drives and what is lost on them, the commands, how they are undone, what is measured.
pub fn stand_plan_text(plan: &StandPlan, lang: Lang) -> String {
    let mut out = String::new();
    let mut put = |line: String| out.push_str(&(line + "\n"));
    let name = clean(&plan.name);
    let title = match plan.is_up {
        false => say!(
            "Nothing was changed. Putting up the stand {name} would do this:",
            "Ничего не изменено. Чтобы поднять стенд {name}, будет сделано:"
        ),
        true => say!(
            "Nothing was changed. The stand {name} is up; of this the steps marked ✔ are done:",
            "Ничего не изменено. Стенд {name} поднят; шаги с ✔ сделаны:"
        ),
    };
    put(title.get(lang).to_string());
    if !plan.drives.is_empty() {
        put(format!(
            "\n{}",
            say!("Drives: everything on them is lost", "Накопители: всё, что на них, будет потеряно").get(lang)
        ));
        let rows: Vec<Vec<String>> = plan.drives.iter().map(|drive| row(drive, lang)).collect();
        columns(&rows).into_iter().for_each(&mut put);
        for drive in &plan.drives {
            if let Some(why) = &drive.refused {
                put(format!("✘ {}: {}", clean(&drive.name), why.get(lang)));
            }
        }
    }
    put(format!("\n{}", say!("Steps", "Шаги").get(lang)));
    for PlannedStep { layer, what, commands, destroys, done } in &plan.steps {
        let lost = match destroys.is_empty() {
            true => String::new(),
            false => {
                let names = clean(&destroys.join(", "));
                say!("; lost: {names}", "; будет потеряно: {names}").get(lang).to_string()
            }
        };
        let mark = if *done { "✔" } else { "•" };
        put(format!("{mark} {}: {}{lost}", clean(layer), clean(what.get(lang))));
        commands.iter().for_each(|command| put(format!("    {}", clean(command))));
    }
    put(format!("\n{}", say!("Taking it down", "Как стенд убирается").get(lang)));
    plan.undo.iter().for_each(|command| put(format!("    {}", clean(command))));
    let targets = clean(&plan.targets.join(", "));
    put(format!("\n{}", say!("Measured: {targets}", "Измеряется: {targets}").get(lang)));
    out
}

fn row(drive: &PlannedDrive, lang: Lang) -> Vec<String> {
    let absent = || say!("not here", "здесь нет").get(lang).to_string();
    vec![
        format!("  {}", clean(&drive.name)),
        clean(&drive.id),
        if drive.paths.is_empty() { absent() } else { clean(&drive.paths.join(", ")) },
        drive.size.map(|size| format::bytes(size, lang)).unwrap_or_default(),
        clean(&drive.signatures.join(", ")),
    ]
}

/// Stands that are up, for a person.
pub fn stand_status_text(stands: &[StandStatus], lang: Lang) -> String {
    if stands.is_empty() {
        return say!("no stand is up here\n", "ни один стенд не поднят\n").get(lang).to_string();
    }
    let mut out = String::new();
    for StandStatus { name, file, layers, targets, .. } in stands {
        out.push_str(&format!("{}  ({})\n", clean(name), clean(file)));
        let rows: Vec<Vec<String>> = layers.iter().map(|layer| layer_row(layer, lang)).collect();
        columns(&rows).iter().for_each(|line| out.push_str(&format!("{line}\n")));
        let targets = clean(&targets.join(", "));
        out.push_str(&format!("{}\n", say!("  measured: {targets}", "  измеряется: {targets}").get(lang)));
    }
    out
}

fn layer_row(layer: &LayerStatus, lang: Lang) -> Vec<String> {
    let LayerStatus { name, kind, done, steps, products, degraded, syncing, health } = layer;
    let state = match (*done, *steps) {
        (done, steps) if done == steps => say!("up", "поднят"),
        (0, _) => say!("not there", "отсутствует"),
        (done, steps) => say!("{done} of {steps} steps", "шагов: {done} из {steps}"),
    };
    let missing = (*degraded > 0)
        .then(|| say!("degraded: {degraded} members are missing", "неполный, не хватает накопителей: {degraded}"));
    let far = syncing.as_ref().map(|(action, percent)| Say::same(format!("{action}, {percent} %")));
    let more: Vec<Say> = health.clone().map(Say::same).into_iter().chain(missing).chain(far).collect();
    let more: Vec<&str> = more.iter().map(|say| say.get(lang)).collect();
    vec![
        format!("  {}", clean(name)),
        kind.clone(),
        state.get(lang).to_string(),
        clean(&products.join(" ")),
        more.join("; "),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{expect, expect_file};
    use stend_base::Bytes;

    fn plan() -> StandPlan {
        StandPlan {
            name: "pair".into(),
            is_up: false,
            drives: vec![
                PlannedDrive {
                    name: "d1".into(),
                    id: "serial:A".into(),
                    paths: vec!["/dev/sda".into(), "/dev/sdb".into()],
                    size: Some(Bytes::gib(2)),
                    signatures: vec!["ext4".into()],
                    refused: Some(say!("it carries `ext4`", "на нём `ext4`")),
                },
                PlannedDrive {
                    name: "d2".into(),
                    id: "serial:B".into(),
                    paths: Vec::new(),
                    size: None,
                    signatures: Vec::new(),
                    refused: None,
                },
            ],
            steps: vec![PlannedStep {
                layer: "md".into(),
                what: say!("make the array", "собрать массив"),
                commands: vec!["mdadm --create /dev/md/x".into()],
                destroys: vec!["/dev/sda".into()],
                done: false,
            }],
            undo: vec!["mdadm --stop /dev/md/x".into()],
            targets: vec!["/dev/md/x".into()],
        }
    }

    fn statuses() -> Vec<StandStatus> {
        let layer = |name: &str, done, degraded, syncing| LayerStatus {
            name: name.into(),
            kind: "md".into(),
            done,
            steps: 2,
            products: vec!["/dev/md127".into()],
            degraded,
            syncing,
            health: None,
        };
        let layers =
            vec![layer("a", 2, 0, None), layer("b", 1, 1, Some(("recover".into(), 40))), layer("c", 0, 0, None)];
        vec![StandStatus {
            name: "pair".into(),
            file: "pair.yaml".into(),
            owner: "stend stand up".into(),
            layers,
            targets: vec!["/dev/md127".into()],
        }]
    }

    #[test]
    fn a_plan_names_what_is_lost_and_every_command() {
        expect![[r#"
            Nothing was changed. Putting up the stand pair would do this:

            Drives: everything on them is lost
              d1  serial:A  /dev/sda, /dev/sdb  2 GiB  ext4
              d2  serial:B  not here
            ✘ d1: it carries `ext4`

            Steps
            • md: make the array; lost: /dev/sda
                mdadm --create /dev/md/x

            Taking it down
                mdadm --stop /dev/md/x

            Measured: /dev/md/x
        "#]]
        .assert_eq(&stand_plan_text(&plan(), Lang::En));
        expect![[r#"
            Ничего не изменено. Чтобы поднять стенд pair, будет сделано:

            Накопители: всё, что на них, будет потеряно
              d1  serial:A  /dev/sda, /dev/sdb  2 ГиБ  ext4
              d2  serial:B  здесь нет
            ✘ d1: на нём `ext4`

            Шаги
            • md: собрать массив; будет потеряно: /dev/sda
                mdadm --create /dev/md/x

            Как стенд убирается
                mdadm --stop /dev/md/x

            Измеряется: /dev/md/x
        "#]]
        .assert_eq(&stand_plan_text(&plan(), Lang::Ru));
        let up = StandPlan { is_up: true, ..plan() };
        assert!(stand_plan_text(&up, Lang::En).contains("is up"));
    }

    #[test]
    fn the_state_of_every_layer_is_told() {
        expect![[r#"
            pair  (pair.yaml)
              a  md  up            /dev/md127
              b  md  1 of 2 steps  /dev/md127  degraded: 1 members are missing; recover, 40 %
              c  md  not there     /dev/md127
              measured: /dev/md127
        "#]]
        .assert_eq(&stand_status_text(&statuses(), Lang::En));
        expect![[r#"
            pair  (pair.yaml)
              a  md  поднят         /dev/md127
              b  md  шагов: 1 из 2  /dev/md127  неполный, не хватает накопителей: 1; recover, 40 %
              c  md  отсутствует    /dev/md127
              измеряется: /dev/md127
        "#]]
        .assert_eq(&stand_status_text(&statuses(), Lang::Ru));
        assert_eq!(stand_status_text(&[], Lang::En), "no stand is up here\n");
    }

    #[test]
    fn the_machine_forms_are_stable() {
        expect_file!["../tests/golden/stand-plan.json"].assert_eq(&stand_plan_json(&plan()));
        expect_file!["../tests/golden/stand-status.json"].assert_eq(&stand_status_json(&statuses()));
        let up = StandTargets {
            targets: vec!["/dev/md127".into()],
            identities: vec!["md:1".into()],
            signatures: Vec::new(),
        };
        expect_file!["../tests/golden/stand-up.json"].assert_eq(&stand_up_json(&up));
    }
}

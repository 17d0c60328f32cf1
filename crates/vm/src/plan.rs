//! What `up` does, step by step, before it is done. Pure.

use crate::domain;
use crate::group::Group;
use stend_base::format::bytes;
use stend_base::{Lang, Say, say};
use stend_spec::vm::{Accelerator, DiskPlace};

/// A step and how it is undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What is done.
    pub does: Say,
    /// What `down` does; `None`: nothing has to be done.
    pub undone: Option<Say>,
    /// The XML that libvirt gets.
    pub xml: Option<String>,
}

/// The steps in their order. `counter_khz` is the speed of this machine's time stamp counter.
pub fn plan(group: &Group, how: Accelerator, counter_khz: Option<u64>) -> Vec<Step> {
    let shown = group.directory.display();
    let mut steps = vec![Step {
        does: say!(
            "make `{shown}` with kernel, first steps and system of the guests",
            "создать `{shown}` с ядром, первыми шагами и системой гостей"
        ),
        undone: Some(say!("remove `{shown}`", "удалить `{shown}`")),
        xml: None,
    }];
    for (at, disk) in group.machines.disks.iter().enumerate() {
        for number in group.numbers() {
            let (path, machine) = (group.disk(at, number), group.name_of(number));
            steps.push(match &disk.place {
                DiskPlace::File { size, .. } => {
                    let [en, ru] = [Lang::En, Lang::Ru].map(|lang| bytes(*size, lang));
                    Step {
                        does: say!("create `{path}` of {en}", "создать `{path}`, {ru}"),
                        undone: Some(say!("remove `{path}`", "удалить `{path}`")),
                        xml: None,
                    }
                }
                DiskPlace::Devices(_) => Step {
                    does: say!(
                        "give `{path}` to `{machine}`, which may overwrite it",
                        "отдать `{path}` машине `{machine}`, которая может его затереть"
                    ),
                    undone: None,
                    xml: None,
                },
            });
        }
    }
    let virsh = group.virsh();
    for number in group.numbers() {
        let (name, uuid) = (domain::name(&group.machines.name, number), group.uuid(number));
        let [start, destroy, undefine] =
            [["start", &uuid], ["destroy", &uuid], ["undefine", &uuid]].map(|words| virsh.words(&words).join(" "));
        let define = virsh.words(&["define"]).join(" ");
        steps.push(Step {
            does: say!(
                "define and start the domain `{name}`: `{define}`, `{start}`",
                "создать и запустить домен `{name}`: `{define}`, `{start}`"
            ),
            undone: Some(Say::same(format!("`{destroy}`, `{undefine}`"))),
            xml: Some(xml(group, number, how, counter_khz)),
        });
    }
    steps
}

/// The XML of one of the machines.
pub(crate) fn xml(group: &Group, number: u32, how: Accelerator, counter_khz: Option<u64>) -> String {
    let machines = &group.machines;
    let emulated = (how == Accelerator::Tcg).then_some(counter_khz);
    let modules = domain::modules(&machines.disks);
    let parameters = stend_lab::guest_parameters(machines.cpus, emulated, machines.disks.len(), modules);
    domain::xml(machines, how, (&group.mark(number), &group.uuid(number)), &group.paths(number), &parameters)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::tests::kept_in;
    use expect_test::expect;

    #[test]
    fn steps_are_shown_with_what_undoes_them_and_domains_with_their_xml() {
        let place = tempfile::tempdir().unwrap();
        let group = kept_in(place.path());
        let steps = plan(&group, Accelerator::Tcg, Some(1));
        let line = |step: &Step| {
            let undone = step.undone.as_ref().map_or("-", |undone| &undone.en);
            format!("{} | {undone} | {}\n", step.does.en, step.xml.is_some())
        };
        let text: String = steps.iter().map(line).collect();
        let text = text.replace(&group.directory.display().to_string(), "DIR").replace(&group.id, "ID");
        let text = text.replace(&group.uuid(1), "UUID1").replace(&group.uuid(2), "UUID2");
        expect![[r#"
            make `DIR` with kernel, first steps and system of the guests | remove `DIR` | false
            create `/d/stend-web-1-1-ID.img` of 1 MiB | remove `/d/stend-web-1-1-ID.img` | false
            create `/d/stend-web-2-1-ID.img` of 1 MiB | remove `/d/stend-web-2-1-ID.img` | false
            give `/dev/disk/by-id/wwn-0xa` to `web-1`, which may overwrite it | - | false
            give `/dev/b` to `web-2`, which may overwrite it | - | false
            define and start the domain `stend-web-1`: `virsh --quiet --connect qemu:///system define`, `virsh --quiet --connect qemu:///system start UUID1` | `virsh --quiet --connect qemu:///system destroy UUID1`, `virsh --quiet --connect qemu:///system undefine UUID1` | true
            define and start the domain `stend-web-2`: `virsh --quiet --connect qemu:///system define`, `virsh --quiet --connect qemu:///system start UUID2` | `virsh --quiet --connect qemu:///system destroy UUID2`, `virsh --quiet --connect qemu:///system undefine UUID2` | true
        "#]]
        .assert_eq(&text.replace('\u{a0}', " "));
        let first = steps.iter().find_map(|step| step.xml.as_ref()).unwrap();
        assert!(first.contains("<source dev='/dev/disk/by-id/wwn-0xa'/>"), "{first}");
        let xml = steps.last().and_then(|step| step.xml.as_ref()).unwrap();
        assert!(xml.contains("<name>stend-web-2</name>") && xml.contains("tsc_early_khz=1 "), "{xml}");
    }
}

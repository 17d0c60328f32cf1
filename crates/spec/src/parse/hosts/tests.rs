//! Files of hosts that are read, and what is said of those that cannot be.

use super::*;
use stend_base::{Kind, Lang};

const FLEET: &str = "become: sudo -n\non: /dev/sdb\nhosts:\n  db1: {ssh: root@db1, groups: [rack1, db], become: [doas]}\n  \
                     pod: {exec: [kubectl, exec, -i, pod-1, --], on: [/data, /more], groups: [db]}\n  \
                     nas: {ssh: nas, role: observe, on: /srv/export}\n  switch: {ssh: switch, role: observe}\n";

fn words(all: &[&str]) -> Vec<String> {
    all.iter().map(|word| word.to_string()).collect()
}

#[test]
fn hosts_have_what_they_say_and_else_what_the_file_says() {
    let file = hosts(FLEET, "h.yaml").unwrap();
    let [db1, pod, nas, switch] = file.hosts.as_slice() else { panic!("four") };
    assert_eq!(
        (&db1.via, &db1.privilege, &db1.on),
        (&Via::Ssh("root@db1".into()), &words(&["doas"]), &words(&["/dev/sdb"]))
    );
    let exec = Via::Exec { program: "kubectl".into(), arguments: words(&["exec", "-i", "pod-1", "--"]) };
    assert_eq!((&pod.via, &pod.privilege, &pod.on), (&exec, &words(&["sudo", "-n"]), &words(&["/data", "/more"])));
    assert_eq!((nas.role, &nas.on), (HostRole::Observe, &words(&["/srv/export"])));
    assert!(switch.on.is_empty(), "`on` of the file is of hosts that make load");
    assert!(file.executes());
}

/// What stands at a path of keys and numbers.
fn at<'a>(node: &'a Node, path: &str) -> &'a Value {
    let step = |node: &'a Node, step: &str| match &node.value {
        Value::Map(pairs) => &pairs.iter().find(|(key, _)| key.name == step).unwrap_or_else(|| panic!("{step}")).1,
        Value::List(all) => &all[step.parse::<usize>().unwrap()],
        other => panic!("`{step}` in {other:?}"),
    };
    &path.split('/').fold(node, step).value
}

#[test]
fn the_example_of_the_page_and_the_pods_of_the_manifest_are_hosts() {
    let page = include_str!("../../../../../docs/formats/hosts.md");
    let examples = page.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next());
    let counts: Vec<usize> = examples.map(|text| hosts(text, "example").unwrap().hosts.len()).collect();
    assert_eq!(counts, [4]);
    let pods = hosts(include_str!("../../../../../docs/fleets/kubernetes-hosts.yaml"), "pods").unwrap().hosts;
    let manifest = yaml::parse(include_str!("../../../../../docs/fleets/kubernetes.yaml"), "manifest").unwrap();
    let text = |path: &str| match at(&manifest, path) {
        Value::Text(text) => text.clone(),
        other => panic!("{path}: {other:?}"),
    };
    let (set, pod) = (text("metadata/name"), "spec/template/spec");
    let shell = text(&format!("{pod}/containers/0/name"));
    assert_eq!(*at(&manifest, "spec/replicas"), Value::Int(pods.len() as i128));
    for (host, number) in pods.iter().zip(0..) {
        let arguments = words(&["exec", "-i", &format!("{set}-{number}"), "-c", &shell, "--"]);
        assert_eq!(host.via, Via::Exec { program: "kubectl".into(), arguments });
        assert_eq!(host.on, [text(&format!("{pod}/containers/0/volumeMounts/0/mountPath"))]);
    }
    // The copy of the program is on the other volume, which goes with the pod.
    let of_cache = ["env/0/value", "volumeMounts/1/mountPath"].map(|path| text(&format!("{pod}/containers/0/{path}")));
    assert_eq!(of_cache[0], of_cache[1]);
    assert_eq!(
        text("spec/volumeClaimTemplates/0/metadata/name"),
        text(&format!("{pod}/containers/0/volumeMounts/0/name"))
    );
    assert_eq!(text("spec/selector/matchLabels/app"), text("spec/template/metadata/labels/app"));
}

#[test]
fn the_playbook_writes_a_file_of_hosts() {
    let playbook = yaml::parse(include_str!("../../../../../docs/fleets/ansible.yaml"), "playbook").unwrap();
    let Value::Text(template) = at(&playbook, "0/tasks/2/ansible.builtin.copy/content") else { panic!("a template") };
    // As for one host, and with one word for every variable.
    let filled = |line: &str| {
        let mut parts = line.split("{{");
        let first = parts.next().unwrap_or_default().to_string();
        parts.fold(first, |line, part| format!("{line}db1{}", part.split_once("}}").unwrap().1))
    };
    let lines: Vec<String> = template.lines().filter(|line| !line.starts_with("{%")).map(filled).collect();
    let found = hosts(&lines.join("\n"), "hosts.yaml").unwrap().hosts;
    let [host] = found.as_slice() else { panic!("{lines:?}") };
    assert_eq!((host.name.as_str(), &host.via), ("db1", &Via::Ssh("db1@db1".into())));
    assert_eq!((&host.privilege, &host.on), (&words(&["sudo", "-n"]), &words(&["db1"])));
}

#[test]
fn groups_choose_hosts_and_one_without_any_is_an_error_with_those_that_there_are() {
    let file = hosts(FLEET, "h.yaml").unwrap();
    let of = |groups: &[&str]| {
        let found = file.of_groups(&words(groups));
        found.map(|hosts| hosts.into_iter().map(|host| host.name.clone()).collect::<Vec<_>>())
    };
    assert_eq!(of(&[]).unwrap(), ["db1", "pod", "nas", "switch"]);
    assert_eq!((of(&["rack1"]).unwrap(), of(&["rack1", "db"]).unwrap()), (words(&["db1"]), words(&["db1", "pod"])));
    let error = of(&["rack7"]).unwrap_err();
    assert_eq!(error.kind, Kind::Usage);
    assert!(error.render(Lang::En).contains("groups of the file: db, rack1"), "{}", error.render(Lang::En));
}

#[test]
fn what_is_wrong_is_refused_with_its_place() {
    let many: String = (0..10_001).map(|n| format!("  h{n}: {{ssh: h{n}}}\n")).collect();
    for (text, place, told) in [
        ("hosts: {}", "1:8", "0 hosts; a file has 1 to 10000"),
        ("hosts: [a]", "1:8", "mapping from names to hosts"),
        (&format!("hosts:\n{many}"), "2:3", "10001 hosts"),
        ("hosts:\n  a: {ssh: x}\n  a: {ssh: y}", "3:3", "stands here twice"),
        ("hosts:\n  a: {ssh: x}\n  b: {ssh: x}", "3:3", "`b` is reached as `a` is"),
        ("hosts:\n  a: {exec: [x, y]}\n  b: {exec: [x, y]}", "3:3", "`b` is reached as `a` is"),
        ("hosts:\n  a/b: {ssh: x}", "2:3", "`a/b` is no name"),
        ("hosts:\n  'a:b': {ssh: x}", "2:3", "is no name"),
        ("hosts:\n  a: {}", "2:6", "none of `ssh`, `exec`, `vm`"),
        ("hosts:\n  a: {ssh: x, exec: [y]}", "2:6", "`ssh` and `exec`; one of them is enough"),
        ("hosts:\n  a: {vm: web-1}\n  b: {vm: web-1}", "3:3", "`b` is reached as `a` is"),
        ("hosts:\n  a: {vm: web}", "2:11", "`web` names no virtual machine"),
        ("hosts:\n  a: {vm: web-1, role: observe}", "2:6", "`a` is a virtual machine"),
        ("hosts:\n  a: {vm: web-1, become: sudo}", "2:6", "`a` is a virtual machine"),
        ("hosts:\n  a: {ssh: -oProxyCommand=x}", "2:12", "does not name a host"),
        ("hosts:\n  a: {exec: []}", "2:13", "0 of them; 1 to 64"),
        ("hosts:\n  a: {ssh: x, become: 'sudo; reboot'}", "2:23", "`become` has 1 to 16 words"),
        ("hosts:\n  a: {ssh: x, role: storage}", "2:21", "`storage` is not one of `load`, `observe`"),
        ("hosts:\n  a: {ssh: x, role: observe, on: sdb}", "2:6", "`sdb` is none"),
        ("hosts:\n  a: {ssh: x, group: [b]}", "2:15", "unknown key `group`"),
        ("hosts:\n  a: {ssh: x}\nbecome: ''", "3:9", "`become` has 1 to 16 words"),
    ] {
        let error = hosts(text, "h.yaml").unwrap_err();
        let shown = error.render(Lang::En);
        assert_eq!(error.kind, Kind::Spec, "{shown}");
        assert!(shown.contains(&format!("h.yaml:{place}")) && shown.contains(told), "{shown}");
        assert_ne!(shown, error.render(Lang::Ru));
    }
}

//! Hosts of a file, reached by commands that hand on two streams: processes in network namespaces of their own, which no server listens in.

use crate::support::far::script;
use crate::support::*;
use std::process::Command;
use stend_record::{RunState, store};

/// A host of a file that is reached by a command, with a cache and leases of its own.
fn host(scratch: &Scratch, name: &str, more: &str) -> String {
    let (cache, leases) = (scratch.directory(&format!("cache-{name}")), scratch.directory(&format!("leases-{name}")));
    format!(
        "  {name}: {{exec: [unshare, --net, --, env, XDG_CACHE_HOME={cache}, STEND_LEASES={leases}], on: {}, {more}}}\n",
        scratch.directory(&format!("t-{name}"))
    )
}

#[test]
fn hosts_of_a_file_are_reached_by_their_commands_and_do_what_it_says() {
    if !root("hosts_of_a_file_are_reached_by_their_commands") {
        return;
    }
    let scratch = Scratch::new();
    let all = [
        ("one", "groups: [g]"),
        ("two", "groups: [g], become: env"),
        ("nas", "role: observe, groups: [g]"),
        ("off", ""),
    ];
    let text: String = all.iter().map(|(name, more)| host(&scratch, name, more)).collect();
    let (hosts, suite) = (scratch.file("hosts.yaml", &format!("hosts:\n{text}")), scratch.file("small.yaml", SMALL));
    let file = scratch.join("r.stend");
    let words = ["run", &suite, "--hosts", &hosts, "--group", "g", "--progress", "none", "-o"];
    let (_, told) = expect_exit(stend(&scratch, &words).arg(&file), 0);
    assert!(told.contains("2 hosts load together"), "{told}");
    let record = store::read(&file).expect("a run file");
    assert_eq!((&record.state, record.trials.len()), (&RunState::Complete, 4));
    let names: Vec<&str> = record.hosts().iter().map(|host| host.name.as_str()).collect();
    assert_eq!(names, ["one", "two", "nas"]);
    for (name, (_, host)) in ["one", "two"].into_iter().zip(record.loads()) {
        assert_eq!(host.targets[0].path, scratch.directory(&format!("t-{name}")));
        assert_eq!(leftovers(&host.targets[0].path), [""; 0]);
    }
    let programs = |name: &str| scratch.join(&format!("cache-{name}/stend/programs")).exists();
    assert!(programs("one") && programs("nas") && !programs("off"), "only hosts of the group are reached");
    let (shown, _) = expect_exit(&mut stend(&scratch, &["inspect", "--hosts", &hosts, "--group", "g", "--quick"]), 0);
    assert!(["one", "two", "nas"].iter().all(|name| shown.contains(name)), "{shown}");
    // Four I/Os in flight in all are two on each of two hosts, and cannot be shared by three.
    let divided = ["run", &suite, "--hosts", &hosts, "--load", "all-hosts", "--dry-run"];
    let (shown, said) = expect_exit(stend(&scratch, &divided).args(["--group", "g"]), 0);
    assert!(shown.contains("2 in flight") && !shown.contains("4 in flight"), "{shown}");
    assert!(said.contains("each host makes an equal part"), "{said}");
    let (_, said) = expect_exit(&mut stend(&scratch, &divided), 2);
    assert!(one_line(&said).contains("nor its queue depth (4) can be divided by 3 hosts"), "{said}");
    expect_exit(&mut stend(&scratch, &["hosts", "clean", "--hosts", &hosts]), 0);
    assert!(!programs("one") && !programs("nas"));
    let (order, _) = expect_exit(&mut stend(&scratch, &["run", &suite, "--hosts", &hosts, "--print-order"]), 0);
    let order = scratch.file("order.json", &order);
    std::fs::remove_file(&hosts).expect("a file");
    let (shown, _) = expect_exit(&mut stend(&scratch, &["run", "--order", &order, "--dry-run", "--json"]), 0);
    let shown: serde_json::Value = serde_json::from_str(&shown).expect("JSON");
    assert_eq!(shown["hosts"].as_array().map(Vec::len), Some(3), "an order has the text of the file: {shown}");
}

#[test]
fn the_nodes_of_a_job_become_a_file_of_hosts_as_the_page_writes_it() {
    let scratch = Scratch::new();
    let page = include_str!("../../../docs/fleets.md");
    let [block] = page.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next()).collect::<Vec<_>>()[..]
    else {
        panic!("one block")
    };
    script(&scratch, "scontrol", "test \"$*\" = 'show hostnames n[1-2]' || exit 1; echo n1; echo n2");
    let path = format!("{}:{}", scratch.path().display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.args(["-euc", block]).current_dir(scratch.path());
    shell.env("PATH", path).env("USER", "me").env("SLURM_JOB_NODELIST", "n[1-2]");
    assert!(output(&mut shell).status.success());
    let text = std::fs::read_to_string(scratch.join("hosts.yaml")).expect("a file of hosts");
    let found = stend_spec::parse::hosts(&text, "hosts.yaml").unwrap_or_else(|error| panic!("{error}:\n{text}"));
    let hosts: Vec<(&str, &[String])> = found.hosts.iter().map(|host| (host.name.as_str(), &host.on[..])).collect();
    let on = ["/scratch/me".to_string()];
    assert_eq!(hosts, [("n1", &on[..]), ("n2", &on[..])]);
}

#[test]
fn a_file_of_hosts_that_cannot_be_used_says_where_and_why() {
    let scratch = Scratch::new();
    let suite = scratch.file("small.yaml", SMALL);
    for (text, code, told) in [
        ("hosts:\n  a: {ssh: x}\n  b: {ssh: x}\n", 3, "hosts.yaml:3:3: `b` is reached as `a` is"),
        ("hosts:\n  a: {shh: x}\n", 3, "did you mean `ssh`?"),
        ("hosts:\n  a: {ssh: x, role: observe}\n", 2, "has none that makes load"),
        ("hosts:\n  a: {exec: [/no/such/program]}\n", 2, "`a` has no target"),
        ("on: /x\nhosts:\n  a: {exec: [/no/such/program]}\n", 4, "cannot start `/no/such/program`"),
        ("on: /x\nhosts:\n  a: {exec: [sh, -c, 'echo no such pod >&2; exit 1']}\n", 8, "cannot reach `a`: no such pod"),
        ("on: /x\nhosts:\n  a: {exec: [sh, -c, 'echo banner; exec \"$0\" \"$@\"']}\n", 8, "`a` prints `banner`"),
    ] {
        let hosts = scratch.file("hosts.yaml", text);
        let (_, said) = expect_exit(&mut stend(&scratch, &["run", &suite, "--hosts", &hosts]), code);
        assert!(one_line(&said).contains(told), "{text}: {said}");
    }
    let hosts = scratch.file("hosts.yaml", "hosts: {a: {ssh: x, groups: [rack1]}}\n");
    let (_, said) = expect_exit(&mut stend(&scratch, &["doctor", "--hosts", &hosts, "--group", "rack2"]), 2);
    assert!(said.contains("no host is in the group `rack2`") && said.contains("rack1"), "{said}");
}

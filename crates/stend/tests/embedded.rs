//! Stand files, machine files and tables inside the binary, in a directory that has nothing of the repository.

use crate::support::{Scratch, expect_exit, stend};
use serde_json::Value;

/// What a command prints in an empty directory.
fn printed(scratch: &Scratch, words: &[&str]) -> String {
    expect_exit(stend(scratch, words).current_dir(scratch.directory("empty")), 0).0
}

fn in_repository(path: &str) -> String {
    std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)).expect("a file")
}

#[test]
fn what_is_embedded_is_listed_printed_and_used_in_any_directory() {
    let scratch = Scratch::new();
    let print = |words: &[&str]| printed(&scratch, words);
    assert_eq!(print(&["stands", "soft-raid/md-raid5"]), in_repository("stands/soft-raid/md-raid5.yaml"));
    assert_eq!(print(&["lab", "machines", "six-nvme"]), in_repository("lab/six-nvme.yaml"));
    let (english, russian) = (print(&["stands"]), print(&["stands", "--lang", "ru"]));
    let line = |list: &str, name: &str| {
        let line = list.lines().find(|line| line.split_whitespace().next() == Some(name));
        line.map(|line| line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ")).expect("a line")
    };
    assert_eq!(line(&english, "rehearse/md-raid5"), "a machine of the lab · drives: 3 · md · fs");
    assert_eq!(line(&russian, "two/nvme-tcp"), "машин: 2 · накопителей: 2 · md · nvme_of");
    assert_eq!(line(&print(&["lab", "machines"]), "six-nvme"), "CPUs: 2, memory: 1 GiB, drives: 6");
    assert_eq!(line(&print(&["monitoring"]), "grafana/ru/drive.json"), "Grafana: one of its drives");
    assert_eq!(print(&["monitoring", "grafana/ru/run.json"]), in_repository("monitoring/grafana/ru/run.json"));
    for (words, key) in [
        (&["stands", "--json"][..], "stands"),
        (&["lab", "machines", "--json"], "machines"),
        (&["monitoring", "--json"], "monitoring"),
    ] {
        let document: Value = serde_json::from_str(&print(words)).expect("JSON");
        assert_eq!(document["schema"], format!("stend-{key}"));
        let names: Vec<_> = document[key].as_array().expect("a list").iter().map(|file| &file["name"]).collect();
        assert!(names.len() > 5 && names.is_sorted_by_key(|name| name.as_str()), "{names:?}");
    }
    // By the name and by the path that documents give.
    let plan = print(&["stand", "plan", "btrfs-raid1", "--json"]);
    assert!(plan.contains("mkfs.btrfs"), "{plan}");
    let order = |stand| serde_json::from_str::<Value>(&print(&["run", "quick", "--stand", stand, "--print-order"]));
    let [by_name, by_path] = ["soft-raid/md-raid5", "stands/soft-raid/md-raid5.yaml"].map(|s| order(s).expect("JSON"));
    assert_eq!(by_name["stands"], by_path["stands"]);
    assert!(print(&["audit", "nvme-soft-raid"]).contains("346"));
}

#[test]
fn a_file_comes_first_and_an_unknown_name_is_told_what_is_near() {
    let scratch = Scratch::new();
    scratch.directory("empty");
    scratch.file("empty/btrfs-raid1", "stand: mine\nlayers: [{zram: {size: 64MiB}}]\n");
    let order: Value =
        serde_json::from_str(&printed(&scratch, &["run", "quick", "--stand", "btrfs-raid1", "--print-order"]))
            .expect("JSON");
    assert!(order["stands"][0]["text"].as_str().expect("a text").starts_with("stand: mine"), "{order}");
    let fails = |words: &[&str], code| expect_exit(stend(&scratch, words).current_dir(scratch.join("empty")), code).1;
    assert!(fails(&["stands", "soft-raid/md-raid7"], 2).contains("did you mean `soft-raid/md-raid"));
    assert!(fails(&["monitoring", "grafana/en/hosts.json"], 2).contains("did you mean `grafana/en/host.json`"));
    assert!(fails(&["lab", "machines", "none-like-it"], 2).contains("`stend lab machines` lists them"));
    assert!(fails(&["run", "quick", "--stand", "none-like-it"], 3).contains("`stend stands` lists"));
    // It gets as far as the image, which is not there.
    let without = stend(&scratch, &["lab", "up", "six-nvme"])
        .env("XDG_CACHE_HOME", scratch.join("none"))
        .output()
        .expect("it ran");
    let told = String::from_utf8_lossy(&without.stderr);
    assert!(told.contains("stend lab build"), "{told}");
}

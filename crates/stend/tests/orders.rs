//! An order means what its command line means: the same plan, the same steps, the same trials. What it does not allow is not done.

use crate::support::*;
use serde_json::Value;
use std::path::Path;

fn printed(scratch: &Scratch, words: &[&str]) -> String {
    let words = [words, &["--print-order"]].concat();
    let (order, told) = expect_exit(&mut stend(scratch, &words), 0);
    assert!(told.is_empty(), "{told}");
    order
}

/// What a dry run says of the plan and its steps, without the id of the run, which is new each time.
fn dry(scratch: &Scratch, words: &[&str]) -> Value {
    let (text, _) = expect_exit(&mut stend(scratch, &[words, &["--dry-run", "--json"]].concat()), 0);
    let preview: Value = serde_json::from_str(&text).expect("JSON");
    let path = preview["run_file"]["path"].as_str().expect("a path");
    let id = Path::new(path).file_stem().expect("a name").to_string_lossy().into_owned();
    let mut plain: Value = serde_json::from_str(&text.replace(&id, "ID")).expect("JSON");
    // Who else uses the disk, and how full it is.
    ["caveats", "targets"].iter().for_each(|key| drop(plain.as_object_mut().expect("a mapping").remove(*key)));
    plain
}

/// What the trials of a run were asked to do, in their order.
fn asked(file: &Path) -> Vec<String> {
    let run = stend_record::store::read(file).expect("a run file");
    run.trials.iter().map(|trial| format!("{} {} {:?}", trial.case, trial.block, trial.asked)).collect()
}

#[test]
fn a_printed_order_makes_the_plan_and_the_steps_of_its_command_line() {
    let scratch = Scratch::new();
    let target = scratch.directory("target");
    scratch.file("app.iolog", include_str!("../../../suites/replay/app.iolog"));
    let traced = "suite: x\nfill: {size: 64MiB}\ncases: [{name: a, streams: [{trace: {file: app.iolog, pace: 4}}]}]\n";
    let suites = ["quick".to_string(), scratch.file("small.yaml", SMALL), scratch.file("traced.yaml", traced)];
    for suite in &suites {
        let words = ["run", suite, "--on", &target, "--seed", "18446744073709551615", "--time-budget", "5min"];
        let more: &[&str] = if suite == "quick" { &["--engine", "native"] } else { &[] };
        let words = [&words, more].concat();
        let order = scratch.file("order.json", &printed(&scratch, &words));
        let (ordered, typed) = (dry(&scratch, &["run", "--order", &order]), dry(&scratch, &words));
        match suite.as_str() {
            // How much it fills follows from how full the disk is at that moment.
            "quick" => ["suite", "seed", "blocks", "trials", "cases"]
                .iter()
                .for_each(|key| assert_eq!(ordered[key], typed[key])),
            _ => assert_eq!(ordered, typed),
        }
    }
}

#[test]
fn an_order_is_whole_wherever_it_is_carried_out_and_its_run_makes_the_same_trials() {
    let scratch = Scratch::new();
    scratch.directory("target");
    scratch.file("small.yaml", SMALL);
    let words =
        ["run", "small.yaml", "--on", "target", "-o", "a.stend", "--seed", "7", "--name", "before", "--print-order"];
    let mut there = stend(&scratch, &words);
    let (order, _) = expect_exit(there.current_dir(scratch.path()), 0);
    let order = scratch.file("order.json", &order);
    // The files that it was made from are not needed any more.
    std::fs::remove_file(scratch.join("small.yaml")).expect("a file");
    expect_exit(stend(&scratch, &["run", "--order", &order, "--progress", "none"]).current_dir("/"), 0);
    let suite = scratch.file("small.yaml", SMALL);
    let (target, other) = (scratch.join("target"), scratch.join("b.stend"));
    let (target, other) = (target.to_string_lossy(), other.to_string_lossy());
    let words = ["run", &suite, "--on", &target, "-o", &other, "--seed", "7", "--progress", "none"];
    expect_exit(&mut stend(&scratch, &words), 0);
    let label = stend_record::store::read(&scratch.join("a.stend")).expect("a run file").header.label;
    assert_eq!(label.as_deref(), Some("before"), "the label travels in the order");
    let trials = asked(&scratch.join("a.stend"));
    assert!(trials.len() == 4 && trials == asked(Path::new(&*other)), "{trials:#?}");
}

#[test]
fn the_command_that_a_report_names_runs_as_it_is_pasted_and_makes_the_same_plan() {
    let scratch = Scratch::new();
    let (suite, target) = (scratch.file("it's small.yaml", SMALL), scratch.directory("the target"));
    let file = scratch.join("a.stend").to_string_lossy().into_owned();
    expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &target, "-o", &file, "--progress", "none"]), 0);
    let page = std::fs::read_to_string(scratch.join("a.html")).expect("the page");
    let begin = "<pre class=\"command\" tabindex=\"0\"><code>";
    let command = page.split_once(begin).and_then(|(_, rest)| rest.split_once("</code>")).expect("a command").0;
    let command = [("&#39;", "'"), ("&quot;", "\""), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")]
        .iter()
        .fold(command.to_string(), |text, (entity, sign)| text.replace(entity, sign));
    let pasted = |more: &str| -> String {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &format!("{command} {more}")]).stdin(std::process::Stdio::null());
        shell.envs(stend(&scratch, &[]).get_envs().filter_map(|(name, value)| Some((name, value?))));
        expect_exit(&mut shell, 0).0
    };
    let answer = |more: &str| -> Value { serde_json::from_str(&pasted(more)).expect("JSON") };
    let (preview, order) = (answer("--dry-run --json"), answer("--print-order"));
    let run = stend_record::store::read(Path::new(&file)).expect("a run file");
    assert_eq!(
        (&preview["seed"], &order["seed"]),
        (&run.header.inputs.seed.into(), &run.header.inputs.seed.to_string().into())
    );
    assert_eq!(order["suite"]["text"], SMALL);
    assert_eq!(preview["trials"], run.trials.len());
    assert_ne!(preview["run_file"]["path"], file.as_str(), "that name is taken");
    let again = scratch.join("b.stend");
    pasted(&format!("-o {}", again.display()));
    assert_eq!(asked(Path::new(&file)), asked(&again));
}

#[test]
fn a_drawn_seed_is_in_the_order_and_what_nobody_allowed_is_not() {
    let scratch = Scratch::new();
    let target = scratch.directory("target");
    let order: Value = serde_json::from_str(&printed(&scratch, &["run", "quick", "--on", &target])).expect("JSON");
    assert!(
        order["seed"].as_str().is_some_and(|seed| seed.parse::<u64>().is_ok())
            && order.get("permission").is_none()
            && order.get("output").is_none(),
        "{order}"
    );
    let words = ["run", "quick", "--on", "serial:X", "--confirm", "serial:X", "--beside"];
    let order: Value = serde_json::from_str(&printed(&scratch, &words)).expect("JSON");
    let allowed =
        serde_json::json!({"confirm": ["serial:X"], "overwrite_signatures": [], "commands": false, "beside": true});
    assert_eq!((&order["on"], &order["permission"]), (&serde_json::json!(["serial:X"]), &allowed));
}

#[test]
fn an_order_allows_to_write_to_a_device_only_what_it_confirms() {
    if !root("an_order_allows_to_write_to_a_device_only_what_it_confirms") {
        return;
    }
    let scratch = Scratch::new();
    let device = Loop::new(&scratch, "disk.img", 96 << 20);
    let suite = scratch.file("small.yaml", SMALL);
    let id = device.identity(&scratch);
    let words = ["run", &suite, "--on", &device.device, "--confirm", &id, "--seed", "1"];
    let confirmed = printed(&scratch, &words);
    let mut order: Value = serde_json::from_str(&confirmed).expect("JSON");
    order.as_object_mut().expect("a mapping").remove("permission");
    let before = tool(&["sha256sum", &device.backing.to_string_lossy()]);
    let silent = scratch.file("silent.json", &order.to_string());
    let (told, _) = expect_exit(&mut stend(&scratch, &["run", "--order", &silent, "--progress", "none"]), 0);
    assert!(told.contains("--confirm") && before == tool(&["sha256sum", &device.backing.to_string_lossy()]), "{told}");
    order["permission"] = serde_json::json!({"confirm": ["serial:another"]});
    let wrong = scratch.file("wrong.json", &order.to_string());
    expect_exit(&mut stend(&scratch, &["run", "--order", &wrong]), 5);
    assert_eq!(before, tool(&["sha256sum", &device.backing.to_string_lossy()]));
    let order = scratch.file("order.json", &confirmed);
    expect_exit(&mut stend(&scratch, &["run", "--order", &order, "--progress", "none"]), 0);
    assert_ne!(before, tool(&["sha256sum", &device.backing.to_string_lossy()]));
}

#[test]
fn an_order_puts_its_stands_up_from_the_texts_that_it_holds() {
    if !root("an_order_puts_its_stands_up_from_the_texts_that_it_holds") {
        return;
    }
    let scratch = Scratch::new();
    let suite = scratch.file("small.yaml", SMALL);
    let stand = |name: &str| {
        let name = format!("{name}{}", std::process::id());
        let directory = scratch.path().display();
        let layers = format!("layers:\n  - loop: {{directory: '{directory}', size: 256MiB}}\n  - fs: {{type: ext4}}\n");
        scratch.file(&format!("{name}.yaml"), &format!("stand: {name}\n{layers}"))
    };
    let (one, two) = (stand("orda"), stand("ordb"));
    let order = printed(&scratch, &["run", &suite, "--stand", &one, "--stand", &two, "--rebuild", "--seed", "3"]);
    [&suite, &one, &two].iter().for_each(|file| std::fs::remove_file(file).expect("a file"));
    let order = scratch.file("order.json", &order);
    let (told, _) = expect_exit(&mut stend(&scratch, &["run", "--order", &order, "--progress", "none"]), 0);
    let name = |file: &str| Path::new(file).file_stem().expect("a name").to_string_lossy().into_owned();
    assert!(told.contains(&name(&one)) && told.contains(&name(&two)), "{told}");
}

#[test]
fn an_order_comes_through_a_pipe_too() {
    let scratch = Scratch::new();
    let target = scratch.directory("target");
    let suite = scratch.file("small.yaml", SMALL);
    let order = printed(&scratch, &["run", &suite, "--on", &target]);
    let cut = scratch.file("cut.json", &order[..order.len() / 2]);
    let order = scratch.file("order.json", &order);
    let piped = |file: &str, code: i32| {
        let mut command = stend(&scratch, &["run", "--order", "-", "--dry-run", "--json"]);
        expect_exit(command.stdin(std::fs::File::open(file).expect("a file")), code)
    };
    let shown: Value = serde_json::from_str(&piped(&order, 0).0).expect("JSON");
    let of_file = dry(&scratch, &["run", "--order", &order]);
    assert!(shown["seed"].is_number() && shown["seed"] == of_file["seed"], "{shown}");
    let (_, told) = piped(&cut, 3);
    assert!(told.contains("a quote is never closed"), "{told}");
}

#[test]
fn a_trace_that_is_not_the_one_of_the_order_is_refused_before_anything_is_measured() {
    let scratch = Scratch::new();
    let target = scratch.directory("target");
    let trace = scratch.file("app.iolog", include_str!("../../../suites/replay/app.iolog"));
    let suite = "suite: x\nfill: {size: 64MiB}\ncases: [{name: a, streams: [{trace: {file: app.iolog, pace: 4}}]}]\n";
    let suite = scratch.file("traced.yaml", suite);
    let order = scratch.file("order.json", &printed(&scratch, &["run", &suite, "--on", &target]));
    let text = std::fs::read_to_string(&trace).expect("a trace");
    std::fs::write(&trace, text + "\n").expect("a trace");
    let (_, told) = expect_exit(&mut stend(&scratch, &["run", "--order", &order]), 4);
    assert!(told.contains("differ from those of the order") && told.contains("app.iolog"), "{told}");
    assert_eq!(std::fs::read_dir(&target).expect("a directory").count(), 0);
}

#[test]
fn an_order_that_cannot_be_carried_out_names_its_place_and_says_what_to_do() {
    let scratch = Scratch::new();
    let target = scratch.directory("target");
    let good = printed(&scratch, &["run", "quick", "--on", &target]);
    let cut = scratch.file("cut.json", &good[..good.len() / 2]);
    let later = scratch.file("later.json", &good.replacen("\"order\": 1", "\"order\": 9", 1));
    let mangled = scratch.file("suite.json", &good.replacen("suite: quick", "suit: quick", 1));
    let missing = scratch.join("none.json").to_string_lossy().into_owned();
    for (file, code, parts) in [
        (&cut, 3, ["cut.json:", "a quote is never closed"]),
        (&later, 3, ["later.json:2:12: an order of version 9", "this Stend reads version 1"]),
        (&mangled, 3, ["quick.yaml:2:1", "did you mean `suite`?"]),
        (&missing, 3, ["cannot read the order", "no such file"]),
    ] {
        let (_, told) = expect_exit(&mut stend(&scratch, &["run", "--order", file]), code);
        assert!(parts.iter().all(|part| told.contains(part)), "{file}: {told}");
    }
    let order = scratch.file("order.json", &good);
    let (_, told) = expect_exit(&mut stend(&scratch, &["run", "--order", &order, "--junit", "x.xml"]), 2);
    assert!(told.contains("the order has none") && told.contains("`gate` or `expect`"), "{told}");
    for more in [
        &["--seed", "1"][..],
        &["--expect", "p99 < 5ms"],
        &["--repeats", "7"],
        &["--on", &target],
        &["quick"],
        &["--print-order"],
    ] {
        expect_exit(&mut stend(&scratch, &[&["run", "--order", &order], more].concat()), 2);
    }
}

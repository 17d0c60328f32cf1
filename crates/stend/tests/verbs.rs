//! The verbs that read runs, and those that serve the shell: what they print, write and refuse.

use crate::support::fixed_run::two_runs;
use crate::support::*;
use std::path::Path;
use std::time::Duration;

const A: &str = "R-20261121T213000Z-aaaa";
const B: &str = "R-20261122T213000Z-bbbb";

fn json(scratch: &Scratch, words: &[&str]) -> serde_json::Value {
    let (stdout, _) = expect_exit(&mut stend(scratch, words), 0);
    serde_json::from_str(&stdout).expect("JSON")
}

#[test]
fn a_comparison_is_relative_to_the_first_run() {
    let scratch = Scratch::new();
    two_runs(&scratch);
    let found = json(&scratch, &["compare", A, B, "--json"]);
    let ratio = &found["cases"][0]["sides"][1]["rate_ratio"];
    assert!((ratio["value"].as_f64().expect("a ratio") - 1.1).abs() < 1e-3, "{ratio}");
    let changed: Vec<_> =
        found["conditions_changed"].as_array().expect("a list").iter().map(|c| &c["condition"]).collect();
    assert_eq!(changed, ["kernel"]);
    let back = json(&scratch, &["compare", B, A, "--json"]);
    let ratio = &back["cases"][0]["sides"][1]["rate_ratio"];
    assert!((ratio["value"].as_f64().expect("a ratio") - 1.0 / 1.1).abs() < 1e-3, "{ratio}");
}

#[test]
fn a_comparison_can_be_written_as_one_page_and_needs_two_runs_or_arms() {
    let scratch = Scratch::new();
    two_runs(&scratch);
    let page = scratch.join("compare.html");
    expect_exit(&mut stend(&scratch, &["compare", A, "last", "-o", &page.to_string_lossy()]), 0);
    let page = std::fs::read_to_string(page).expect("a page");
    assert!(page.contains("Changed conditions") && page.contains("Изменившиеся условия") && !page.contains("<script"));
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["compare", A]), 2);
    assert!(stderr.contains("and it has no arms: nothing to compare"), "{stderr}");
    expect_exit(&mut stend(&scratch, &[&["compare"][..], &[A; 65]].concat()), 2);
    let (_, error) = expect_exit(&mut stend(&scratch, &["compare", A, "R-1999", "--json"]), 2);
    let error: serde_json::Value = serde_json::from_str(&error).expect("one line of JSON");
    assert_eq!((&error["error"]["code"], &error["error"]["kind"]), (&"run_unknown".into(), &"usage".into()), "{error}");
}

#[test]
fn a_list_shows_the_newest_first_and_survives_broken_files() {
    let scratch = Scratch::new();
    let empty = json(&scratch, &["list", "--json"]);
    assert_eq!(empty["runs"].as_array().map(Vec::len), Some(0), "no directory is no run");
    two_runs(&scratch);
    std::fs::write(scratch.join("stend/runs/R-broken.stend"), "not a database").expect("a file");
    std::fs::write(scratch.join("stend/runs/notes.txt"), "not a run").expect("a file");
    let list = json(&scratch, &["list", "--json"]);
    let runs = list["runs"].as_array().expect("runs");
    let names: Vec<_> = runs.iter().filter(|r| r["error"].is_null()).map(|r| &r["name"]).collect();
    assert_eq!(names, [B, A]);
    let broken = runs.iter().find(|r| r["name"] == "R-broken").expect("the broken file is listed");
    assert_eq!(broken["error"]["kind"], "run_file");
    let first = runs.iter().find(|r| r["name"] == A).expect("a run");
    assert_eq!((&first["cases"], &first["trials"], &first["suite"]), (&2.into(), &4.into(), &"small".into()));
}

/// A run of a second, whose file goes where the test says.
fn short_run(scratch: &Scratch, file: &str) {
    short_run_with(scratch, &["-o", file]);
}

/// The same with more words.
fn short_run_with(scratch: &Scratch, more: &[&str]) {
    let suite = "suite: engine\ndefaults: {ramp: 50ms, trial: 200ms, direct: false}\nfill: {size: 16MiB}\n\
                 repeats: {blocks: 1}\ncases:\n  - name: write\n    streams: [{op: write, pattern: random, block_size: 4KiB}]\n";
    let suite = scratch.file("engine.yaml", suite);
    let words = ["run", &suite, "--on", "/dev/null", "--progress", "none"];
    expect_exit(&mut stend(scratch, &[&words, more].concat()), 0);
}

#[test]
fn a_run_made_with_o_is_listed_and_found_like_any_other_until_its_file_is_gone() {
    let scratch = Scratch::new();
    let file = Path::new(&scratch.directory("elsewhere")).join("before.stend").to_string_lossy().into_owned();
    short_run(&scratch, &file);
    let listed = |index: usize| json(&scratch, &["list", "--json"])["runs"][index].clone();
    let run = listed(0);
    let id = run["run"].as_str().expect("an id").to_string();
    assert_eq!((&run["name"], &run["path"]), (&run["run"], &file.as_str().into()), "{run}");
    // Within 1 %: the report rounds.
    let shown = json(&scratch, &["show", "last", "--json"]);
    let iops = |value: &serde_json::Value| value.as_f64().expect("a number");
    let ratio = iops(&run["result"]["iops"]) / iops(&shown["cases"][0]["iops"]["value"]);
    assert!((0.99..1.01).contains(&ratio), "{run} {shown}");
    for name in ["last", id.as_str(), &id[..18]] {
        assert_eq!(json(&scratch, &["show", name, "--json"])["run"], id.as_str());
    }
    // The page goes beside the file, not beside the link.
    assert!(scratch.join("elsewhere/before.html").exists());

    two_runs(&scratch);
    std::fs::remove_file(&file).expect("removed");
    let gone = json(&scratch, &["list", "--json"])["runs"]
        .as_array()
        .expect("runs")
        .iter()
        .find(|run| run["name"] == id.as_str())
        .cloned();
    assert_eq!(gone.expect("it is still listed")["gone"], true);
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["show", &id]), 2);
    assert!(stderr.contains("is gone") && stderr.contains(&file), "{stderr}");
    expect_exit(&mut stend(&scratch, &["compare", A, B]), 0);
    // The id of now is older or newer than the fixed ones, by the clock of this machine.
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["show", "last"]), 0);
    assert_eq!(stderr.contains("is gone; taking"), id.as_str() > B, "{stderr}");
    // Another run in the place of the file is not that run.
    short_run(&scratch, &file);
    let names = json(&scratch, &["list", "--json"])["runs"].as_array().expect("runs").len();
    assert_eq!(names, 4);
    expect_exit(&mut stend(&scratch, &["show", &id]), 2);
}

#[test]
fn rm_removes_all_that_was_asked_for_or_nothing() {
    let scratch = Scratch::new();
    two_runs(&scratch);
    let file = Path::new(&scratch.directory("elsewhere")).join("before.stend").to_string_lossy().into_owned();
    short_run(&scratch, &file);
    let id = json(&scratch, &["list", "--json"])["runs"][0]["run"].as_str().expect("an id").to_string();
    let report = scratch.join("elsewhere/before.html");
    let notes = scratch.file("notes.stend", "not a run");
    let there = || Path::new(&file).exists() && report.exists() && run_of(&scratch, A).exists();

    // Nobody is there to be asked.
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["rm", &id]), 2);
    assert!(stderr.contains("`--yes`") && there(), "{stderr}");
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["rm", A, &id, &notes, "--yes"]), 12);
    assert!(stderr.contains("is not a run file") && there() && Path::new(&notes).exists(), "{stderr}");
    expect_exit(&mut stend(&scratch, &["rm", A, "R-1999", "--yes"]), 2);
    assert!(there());

    // What the user wrote where a report would be stays.
    let mine = run_of(&scratch, A).with_extension("html");
    std::fs::write(&mine, "<p>mine</p>").expect("a file");
    let gone = json(&scratch, &["rm", &id, A, A, "--yes", "--json"]);
    let link = run_of(&scratch, &id);
    let all = [Path::new(&file), &link, &report, &run_of(&scratch, A)].map(|path| path.display().to_string());
    assert_eq!(gone["removed"], serde_json::json!(all));
    assert!(!Path::new(&file).exists() && !report.exists() && link.symlink_metadata().is_err() && mine.exists());
    let (text, _) = expect_exit(&mut stend(&scratch, &["rm", "last", "--yes"]), 0);
    assert!(text.starts_with("removed `") && text.contains(B), "{text}");
    assert_eq!(json(&scratch, &["list", "--json"])["runs"].as_array().map(Vec::len), Some(0));
}

#[test]
fn a_label_is_shown_and_finds_the_newest_run_that_has_it() {
    let scratch = Scratch::new();
    two_runs(&scratch);
    let label = "до ремонта / 2";
    short_run_with(&scratch, &["--name", label, "-o", &scratch.join("a.stend").to_string_lossy()]);
    short_run_with(&scratch, &["--name", label]);
    let list = json(&scratch, &["list", "--json"]);
    assert_eq!((&list["runs"][0]["label"], &list["runs"][1]["label"]), (&label.into(), &label.into()), "{list}");
    let newest = list["runs"][0]["run"].as_str().expect("an id");
    let (text, _) = expect_exit(stend(&scratch, &["list"]).env("COLUMNS", "80"), 0);
    assert!(text.contains("label") && text.contains("до ремонта") && text.lines().all(|l| l.chars().count() <= 80));
    let shown = json(&scratch, &["show", label, "--json"]);
    assert_eq!((&shown["run"], &shown["label"]), (&newest.into(), &label.into()));
    let (text, _) = expect_exit(&mut stend(&scratch, &["show", label]), 0);
    assert!(text.starts_with(&format!("{label} ({newest}): engine on /dev/null")), "{text}");
    let (page, _) = expect_exit(&mut stend(&scratch, &["report", label, "-o", "-"]), 0);
    assert!(page.contains(&format!("{label}: engine on /dev/null")), "the title");
    expect_exit(&mut stend(&scratch, &["compare", label, A]), 0);

    // A path comes first, then an id, then a label.
    short_run_with(&scratch, &["--name", "R-20261121"]);
    assert_eq!(json(&scratch, &["show", "R-20261121", "--json"])["run"], A);
    short_run_with(&scratch, &["--name", "b.stend"]);
    assert_eq!(json(&scratch, &["show", "b.stend", "--json"])["label"], "b.stend");
    std::fs::copy(run_of(&scratch, B), scratch.join("b.stend")).expect("copied");
    let (shown, _) = expect_exit(stend(&scratch, &["show", "b.stend", "--json"]).current_dir(scratch.path()), 0);
    assert!(shown.contains(B), "{shown}");
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["show", "unheard of"]), 2);
    assert!(stderr.contains("no run has the label or id"), "{stderr}");
}

#[test]
fn a_label_has_limits_and_belongs_to_a_new_run() {
    let scratch = Scratch::new();
    let refused = |words: &[&str]| {
        let words = [&["run", "quick", "--on", "/dev/null", "--print-order"], words].concat();
        expect_exit(&mut stend(&scratch, &words), 2).1
    };
    for wrong in ["", "last", "a\nb", &"x".repeat(65)] {
        let told = refused(&["--name", wrong]);
        assert!(told.contains("--name: "), "{wrong:?}: {told}");
    }
    let (_, told) = expect_exit(&mut stend(&scratch, &["run", "--resume", "last", "--name", "x"]), 2);
    assert!(told.contains("cannot be used with"), "{told}");
}

#[test]
fn rm_takes_away_the_name_of_a_run_whose_file_is_gone() {
    let scratch = Scratch::new();
    let file = Path::new(&scratch.directory("elsewhere")).join("before.stend").to_string_lossy().into_owned();
    short_run(&scratch, &file);
    std::fs::remove_file(&file).expect("removed");
    let id = json(&scratch, &["list", "--json"])["runs"][0]["name"].as_str().expect("a name").to_string();
    expect_exit(&mut stend(&scratch, &["rm", &id, "--yes"]), 0);
    assert!(run_of(&scratch, &id).symlink_metadata().is_err());
}

#[test]
fn a_run_that_is_going_on_is_not_removed() {
    let scratch = Scratch::new();
    let suite = scratch.file("long.yaml", &SMALL.replace("trial: 400ms", "trial: 10s"));
    let (target, file) = (scratch.directory("target"), scratch.join("r.stend"));
    let words = ["run", &suite, "--on", &target, "-o", &file.to_string_lossy(), "--progress", "none"];
    let mut run = Running::new(&mut stend(&scratch, &words));
    eventually("a trial", Duration::from_secs(60), || {
        stend_record::store::read(&file).is_ok_and(|run| !run.trials.is_empty())
    });
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["rm", "last", "--yes"]), 4);
    assert!(stderr.contains("still in progress") && file.exists(), "{stderr}");
    run.kill();
}

/// The file or link of a run in the directory of run files.
fn run_of(scratch: &Scratch, id: &str) -> std::path::PathBuf {
    scratch.join("stend/runs").join(format!("{id}.stend"))
}

#[test]
fn a_list_has_the_newest_twenty_runs_or_all() {
    let scratch = Scratch::new();
    two_runs(&scratch);
    let runs = scratch.join("stend/runs");
    for day in 1..=25 {
        std::fs::copy(runs.join(format!("{A}.stend")), runs.join(format!("R-202501{day:02}T000000Z-copy.stend")))
            .expect("copied");
    }
    let (text, _) = expect_exit(stend(&scratch, &["list"]).env("COLUMNS", "80"), 0);
    assert_eq!(text.lines().count(), 1 + 20 + 1, "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80) && text.contains("5025 IOPS"), "{text}");
    assert!(text.contains("7 older runs not shown; `stend list --all`"), "{text}");
    let count = |words: &[&str]| json(&scratch, words)["runs"].as_array().expect("runs").len();
    assert_eq!((count(&["list", "--json"]), count(&["list", "--all", "--json"])), (20, 27));
    assert_eq!(json(&scratch, &["list", "--json"])["left_out"], 7);
}

#[test]
fn an_export_holds_every_trial_and_its_histograms() {
    let scratch = Scratch::new();
    two_runs(&scratch);
    let record = &json(&scratch, &["export", A, "--format", "json"])["record"];
    assert_eq!(record["header"]["id"], A);
    let trial = &record["trials"][0]["outcome"]["jobs"][0];
    let counted: u64 =
        trial["latency"][0]["buckets"].as_array().expect("buckets").iter().filter_map(|b| b[1].as_u64()).sum();
    assert_eq!(Some(counted), trial["done"][0][0].as_u64());

    let file = scratch.join("trials.csv").to_string_lossy().into_owned();
    let (stdout, _) =
        expect_exit(&mut stend(&scratch, &["export", A, "--format", "csv-trials", "-o", &file, "--lang", "ru"]), 0);
    assert_eq!(stdout.trim(), file);
    let (printed, _) = expect_exit(&mut stend(&scratch, &["export", A, "--format", "csv-trials"]), 0);
    assert_eq!(std::fs::read_to_string(file).expect("the file"), printed, "the language changes nothing");
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines.len(), 1 + 4);
    assert!(lines[0].starts_with("run,trial,block,case,label,status,counts,window_ns,stream,operation,ops"));
    assert!(
        lines[1]
            .starts_with(&format!("{A},0,0,0,read,complete,true,400000000,0,read,2000,8192000,0,5000,20480000,2000"))
    );
}

#[test]
fn a_report_is_opened_where_there_is_a_display_and_else_named() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    two_runs(&scratch);
    let tools = scratch.directory("tools");
    let opened = scratch.join("opened");
    let opener = |script: &str| {
        let path = scratch.file("tools/xdg-open", &format!("#!/bin/sh\n{script}\n"));
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    };
    let path = format!("{tools}:{}", std::env::var("PATH").expect("a path"));
    let run = |display: &str, words: &[&str]| {
        let mut command = stend(&scratch, &[&["report", A, "--open"], words].concat());
        command.env("PATH", &path).env("DISPLAY", display).env_remove("WAYLAND_DISPLAY").env_remove("SUDO_UID");
        command
    };
    opener(&format!("echo \"$@\" > {}", opened.display()));
    let beside = run_of(&scratch, A).with_extension("html");
    let (stdout, stderr) = expect_exit(&mut run(":0", &[]), 0);
    assert_eq!((stdout.trim(), stderr.as_str()), (&*beside.to_string_lossy(), ""));
    assert_eq!(std::fs::read_to_string(&opened).expect("opened").trim(), beside.to_string_lossy());

    // A name of the user that looks like an option goes as a path.
    std::fs::remove_file(&opened).expect("removed");
    expect_exit(run(":0", &["-o", "--version"]).current_dir(scratch.path()), 2);
    expect_exit(run(":0", &["-o=-v.html"]).current_dir(scratch.path()), 0);
    let named = std::fs::read_to_string(&opened).expect("opened");
    assert!(named.starts_with('/') && named.trim().ends_with("v.html"), "{named}");

    std::fs::remove_file(&opened).expect("removed");
    let (stdout, stderr) = expect_exit(&mut run("", &[]), 0);
    assert!(stderr.contains("no display") && stderr.contains(stdout.trim()) && !opened.exists(), "{stderr}");
    opener("exit 3");
    let (_, stderr) = expect_exit(&mut run(":0", &[]), 0);
    assert!(stderr.contains("`xdg-open` failed: exit status: 3"), "{stderr}");
    expect_exit(&mut run(":0", &["-o", "-"]), 2);
    expect_exit(&mut run(":0", &["--markdown", "x.md"]), 2);
}

#[test]
fn a_result_never_replaces_a_run_file() {
    let scratch = Scratch::new();
    two_runs(&scratch);
    let run = scratch.join("stend/runs").join(format!("{A}.stend"));
    let (before, path) = (std::fs::read(&run).expect("a run file"), run.to_string_lossy().into_owned());
    for words in [["export", B, "-o", &path], ["report", B, "-o", &path]] {
        let (_, stderr) = expect_exit(&mut stend(&scratch, &words), 5);
        assert!(stderr.contains("is a run file"), "{stderr}");
    }
    expect_exit(&mut stend(&scratch, &["compare", A, B, "-o", &path]), 5);
    assert_eq!(std::fs::read(&run).expect("a run file"), before);
}

#[test]
fn completions_know_every_verb_for_every_shell() {
    let scratch = Scratch::new();
    for shell in ["bash", "zsh", "fish", "pwsh"] {
        let (script, _) = expect_exit(&mut stend(&scratch, &["completions", shell]), 0);
        for word in ["compare", "export", "inspect", "--on", "--format"] {
            let word = if shell == "fish" { word.trim_start_matches("--") } else { word };
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    let (script, _) = expect_exit(&mut stend(&scratch, &["completions", "zsh", "--lang", "ru"]), 0);
    assert!(script.contains("сравнить прогоны"), "{script}");
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["completions", "csh"]), 2);
    assert!(stderr.contains("bash, zsh, fish, pwsh"), "{stderr}");
}

#[test]
fn the_completion_for_bash_is_a_program_that_bash_accepts() {
    let scratch = Scratch::new();
    let (script, _) = expect_exit(&mut stend(&scratch, &["completions", "bash"]), 0);
    let file = scratch.file("stend.bash", &script);
    tool(&["bash", "-n", &file]);
    let words = format!(
        "source {file}; COMP_WORDS=(stend comp); COMP_CWORD=1; _stend stend comp stend; echo ${{COMPREPLY[@]}}"
    );
    assert_eq!(tool(&["bash", "-c", &words]), "compare completions");
}

#[test]
fn there_is_a_manual_page_for_every_verb_in_the_language_of_the_session() {
    let scratch = Scratch::new();
    for (lang, heading, example) in
        [("en", ".SH \"NAME\"", ".SH \"EXAMPLES\""), ("ru", ".SH \"ИМЯ\"", ".SH \"ПРИМЕРЫ\"")]
    {
        let dir = scratch.join(&format!("man/{lang}")).to_string_lossy().into_owned();
        let (stdout, _) = expect_exit(&mut stend(&scratch, &["man", &dir, "--lang", lang]), 0);
        for verb in verbs(&scratch) {
            let page = Path::new(&dir).join(format!("stend-{verb}.1"));
            let text = std::fs::read_to_string(&page).unwrap_or_else(|e| panic!("{}: {e}", page.display()));
            assert!(text.contains(heading) && text.contains(example), "{text}");
            assert!(stdout.contains(&*page.to_string_lossy()), "{stdout}");
        }
        assert!(Path::new(&dir).join("stend.1").exists());
        assert!(!Path::new(&dir).join("stend-worker.1").exists(), "what people never type has no page");
    }
}

#[test]
fn help_is_a_verb_too_in_the_language_of_the_session() {
    let scratch = Scratch::new();
    let both = |verb: &[&str], lang: &str| {
        let asked = expect_exit(stend(&scratch, &["help"]).args(verb).args(["--lang", lang]), 0).0;
        let told = expect_exit(stend(&scratch, verb).args(["--help", "--lang", lang]), 0).0;
        assert_eq!(asked, told, "{verb:?}");
        asked
    };
    for lang in ["en", "ru"] {
        for verb in [&[][..], &["run"], &["rm"], &["help"], &["stand"], &["lab"]] {
            both(verb, lang);
        }
    }
    assert!(both(&["list"], "ru").contains("показать прогоны"));
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["help", "lst"]), 2);
    assert!(stderr.contains("unknown command `lst`") && stderr.contains("`list`"), "{stderr}");
}

#[test]
fn a_reader_that_closes_the_pipe_early_ends_nothing_with_an_error() {
    let scratch = Scratch::new();
    two_runs(&scratch);
    let (suite, target) = (scratch.file("small.yaml", SMALL), scratch.directory("target"));
    let commands: [&[&str]; 12] = [
        &["show", "last"],
        &["show", "last", "--json"],
        &["list", "--json"],
        &["inspect", &target],
        &["doctor"],
        &["run", &suite, "--on", &target, "--dry-run"],
        &["compare", A, B],
        &["list"],
        &["export", A],
        &["completions", "bash"],
        &["--help"],
        &["report", A, "-o", "-"],
    ];
    for words in commands {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let (_, stderr) = expect_exit(stend(&scratch, words).stdout(writer), 0);
        assert!(stderr.is_empty(), "{words:?}: {stderr}");
    }
}

#[test]
fn a_lost_terminal_does_not_stop_a_run() {
    let scratch = Scratch::new();
    let suite = scratch.file("small.yaml", SMALL);
    let (target, file) = (scratch.directory("target"), scratch.join("r.stend"));
    let words = ["run", &suite, "--on", &target, "-o", &file.to_string_lossy(), "--progress", "plain"];
    let mut run = Running::new(&mut stend(&scratch, &words));
    eventually("a trial", Duration::from_secs(60), || {
        stend_record::store::read(&file).is_ok_and(|run| !run.trials.is_empty())
    });
    // The reader of the output is gone, too.
    drop((run.child.stdout.take(), run.child.stderr.take()));
    tool(&["kill", "-HUP", &run.child.id().to_string()]);
    assert_eq!(run.wait(Duration::from_secs(60)), Some(0));
    let findings = show_json(&scratch, &file);
    assert_eq!(findings["state"]["state"], "complete");
    assert!(leftovers(&target).is_empty());
}

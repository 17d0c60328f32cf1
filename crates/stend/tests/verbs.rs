//! The verbs that read runs, and those that serve the shell: what they print, write and refuse.

mod support;

use std::path::Path;
use std::time::Duration;
use support::fixed_run::two_runs;
use support::*;

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
    assert_eq!(changed, ["kernel", "seed"]);
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
    assert!(stderr.contains("fewer than two arms of it were measured"), "{stderr}");
    expect_exit(&mut stend(&scratch, &[&["compare"][..], &[A; 65]].concat()), 2);
    expect_exit(&mut stend(&scratch, &["compare", A, "R-1999"]), 2);
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
    // Whoever read the output is gone, too.
    drop((run.child.stdout.take(), run.child.stderr.take()));
    tool(&["kill", "-HUP", &run.child.id().to_string()]);
    assert_eq!(run.wait(Duration::from_secs(60)), Some(0));
    let findings = show_json(&scratch, &file);
    assert_eq!(findings["state"]["state"], "complete");
    assert!(leftovers(&target).is_empty());
}

//! Searches for the largest number of instances of an application: with programs that only pretend, so that it is known what
//! they can take, and with the real ones.

use crate::support::*;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// PostgreSQL under sysbench with windows of a second; limits are another test's.
const SUITE: &str = "\
suite: density
defaults: {ramp: 1s, trial: 2s}
cases:
  - name: db
    application: {run: sysbench-postgresql, instances: {to: 8}, data: 1MiB, clients: 1, rate: 20/s, slo: {quantile: 99%, limit: 100ms, window: 1s}}
";

/// Lets everybody pass: servers run as users of their own.
fn open(path: &Path) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("a mode");
}

fn script(path: &Path, text: &str) {
    std::fs::write(path, format!("#!/bin/sh\n{text}\n")).expect("a script");
    open(path);
}

/// Whether these programs are there; without them a named skip, under CI a failure.
fn installed(test: &str, programs: &[&str]) -> bool {
    let places = ["/usr/bin", "/usr/sbin", "/usr/local/bin"];
    let there = |program: &&str| match *program {
        "postgres" => Path::new("/usr/lib/postgresql").exists(),
        program => places.iter().any(|place| Path::new(place).join(program).exists()),
    };
    let missing: Vec<&&str> = programs.iter().filter(|program| !there(program)).collect();
    assert!(missing.is_empty() || std::env::var("CI").as_deref() != Ok("true"), "{test} needs {missing:?}");
    if !missing.is_empty() {
        eprintln!("skipped, needs {missing:?}: {test}");
    }
    missing.is_empty()
}

/// Programs on a PATH of their own: a server that says it is ready, and a client whose percentile is 10 ms as long as at most
/// three servers run, else 300 ms.
struct Pretended {
    scratch: Scratch,
    path: String,
    target: String,
}

fn pretended(client: &str) -> Pretended {
    let scratch = Scratch::new();
    open(scratch.path());
    let (programs, running) = (scratch.directory("bin"), scratch.directory("running"));
    std::fs::set_permissions(&running, std::fs::Permissions::from_mode(0o777)).expect("a mode");
    let program = |name: &str, text: &str| script(&Path::new(&programs).join(name), text);
    let version = "case \"$1\" in --version) echo pretended 1; exit 0;; esac";
    program("initdb", "mkdir -p \"$2\"");
    program(
        "postgres",
        &format!(
            "{version}\nme={running}/$$\ntrap 'rm -f $me; exit 0' TERM INT\ntouch $me\necho ready to accept connections >&2\nwhile [ -e $me ]; do sleep 0.02; done"
        ),
    );
    let told = "echo \"[ ${t}s ] thds: 1 tps: 20.00 qps: 1 lat (ms,99%): $lat.00 err/s: 0.00 reconn/s: 0.00\"";
    let client = client.replace(
        "TELL",
        &format!("lat=10; [ $(ls {running} | wc -l) -gt 3 ] && lat=300; for t in 1 2 3 4; do {told}; done"),
    );
    program(
        "sysbench",
        &format!("{version}\nfor word in \"$@\"; do last=$word; done\n[ $last = prepare ] && exit 0\n{client}"),
    );
    let path = format!("{programs}:/usr/bin:/bin");
    let target = scratch.directory("target");
    open(Path::new(&target));
    Pretended { scratch, path, target }
}

impl Pretended {
    fn stend(&self, words: &[&str]) -> std::process::Command {
        let mut command = stend(&self.scratch, words);
        command.env("PATH", &self.path);
        command
    }

    /// Servers that run: each has a file that is called as its process. One that was killed leaves its file.
    fn servers(&self) -> usize {
        let files = std::fs::read_dir(self.scratch.join("running")).into_iter().flatten().flatten();
        files.filter(|file| Path::new("/proc").join(file.file_name()).join("exe").exists()).count()
    }
}

#[test]
fn the_largest_number_that_holds_is_found_and_stands_in_file_text_and_report() {
    if !installed("the_largest_number_that_holds_is_found_and_stands_in_file_text_and_report", &["postgres"]) {
        return;
    }
    let all = pretended("TELL");
    let suite = all.scratch.file("s.yaml", SUITE);
    let (ahead, _) = expect_exit(&mut all.stend(&["run", &suite, "--on", &all.target, "--dry-run"]), 0);
    assert!(
        ahead.contains("instances searched from 1 to 8") && ahead.contains("start PostgreSQL under sysbench"),
        "{ahead}"
    );
    let file = all.scratch.join("r.stend");
    let path = file.to_string_lossy().into_owned();
    let (stdout, _) = expect_exit(&mut all.stend(&["run", &suite, "--on", &all.target, "-o", &path]), 0);
    assert!(stdout.contains("db: 3 (3 of 3 trials) instances hold the objective, 4 (0 of 3 trials)"), "{stdout}");
    let findings = show_json(&all.scratch, &file);
    let found = &findings["density"][0];
    assert_eq!((&found["held"], &found["missed"], &found["confirmed"]), (&3.into(), &4.into(), &true.into()));
    let tried: Vec<u64> =
        found["points"].as_array().expect("points").iter().filter_map(|p| p["instances"].as_u64()).collect();
    assert_eq!(tried, [1, 2, 3, 4]);
    assert_eq!(
        (&found["points"][3]["latency_ns_most"], &found["points"][2]["rate_per_s"]),
        (&300_000_000.into(), &60.0.into())
    );
    assert_eq!(found["versions"][1], "pretended 1");
    let html = all.scratch.join("r.html");
    expect_exit(&mut all.stend(&["report", &path, "-o", &html.to_string_lossy()]), 0);
    let html = std::fs::read_to_string(html).expect("a report");
    assert!(html.contains("цель выполняется при числе экземпляров 3") && html.contains("How many instances hold"));
    assert_eq!((leftovers(&all.target), all.servers()), (Vec::new(), 0));
}

#[test]
fn a_client_that_fails_ends_the_run_with_its_words_and_nothing_is_left() {
    if !installed("a_client_that_fails_ends_the_run_with_its_words_and_nothing_is_left", &["postgres"]) {
        return;
    }
    let all = pretended("echo 'FATAL: no such table'; exit 1");
    let suite = all.scratch.file("s.yaml", SUITE);
    let words =
        ["run", &suite, "--on", &all.target, "-o", &all.scratch.join("r.stend").to_string_lossy()].map(String::from);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (_, stderr) = expect_exit(&mut all.stend(&words), 4);
    assert!(
        stderr.contains("no client printed a usable result") && stderr.contains("FATAL: no such table"),
        "{stderr}"
    );
    assert!(stderr.contains("hint: "), "{stderr}");
    assert_eq!((leftovers(&all.target), all.servers()), (Vec::new(), 0));
}

#[test]
fn a_number_of_which_one_cannot_be_started_is_a_miss_with_its_words_and_the_search_goes_on() {
    if !installed(
        "a_number_of_which_one_cannot_be_started_is_a_miss_with_its_words_and_the_search_goes_on",
        &["postgres"],
    ) {
        return;
    }
    let all = pretended("TELL");
    let server = all.scratch.join("bin/postgres");
    let running = all.scratch.join("running").display().to_string();
    let text = std::fs::read_to_string(&server).expect("a script");
    // Servers start side by side: they count and take a place under one lock, else a third could find only one there.
    let place = format!(
        "exec 9<{running}; flock 9\n[ $(ls {running} | wc -l) -lt 2 ] || {{ echo FATAL: too many here >&2; exit 1; }}\ntouch $me; exec 9<&-"
    );
    std::fs::write(&server, text.replacen("touch $me", &place, 1)).expect("a script");
    let suite = all.scratch.file("s.yaml", SUITE);
    let file = all.scratch.join("r.stend");
    let path = file.to_string_lossy().into_owned();
    let (stdout, _) = expect_exit(&mut all.stend(&["run", &suite, "--on", &all.target, "-o", &path]), 0);
    assert!(stdout.contains("db: 2 (3 of 3 trials) instances hold the objective, 3 (0 of 3 trials)"), "{stdout}");
    let words = one_line(&stdout);
    assert!(words.contains("At 3 an instance failed: ") && words.contains("FATAL: too many here"), "{stdout}");
    let found = &show_json(&all.scratch, &file)["density"][0];
    assert_eq!((&found["held"], &found["missed"]), (&2.into(), &3.into()));
    assert!(found["points"][2]["latency_ns_most"].is_null() && found["points"][2]["rate_per_s"] == 0.0, "{found}");
    assert!(!stdout.contains("-0") && !found.to_string().contains("-0.0"), "{found}");
    assert_eq!((leftovers(&all.target), all.servers()), (Vec::new(), 0));
}

#[test]
fn a_killed_coordinator_leaves_no_server_and_no_data() {
    if !installed("a_killed_coordinator_leaves_no_server_and_no_data", &["postgres"]) {
        return;
    }
    let all = pretended("sleep 1000");
    let suite = all.scratch.file("s.yaml", SUITE);
    let path = all.scratch.join("r.stend").to_string_lossy().into_owned();
    let mut run =
        Running::new(&mut all.stend(&["run", &suite, "--on", &all.target, "-o", &path, "--progress", "none"]));
    eventually("a server", Duration::from_secs(60), || all.servers() > 0);
    run.kill();
    eventually("an empty target", Duration::from_secs(60), || leftovers(&all.target).is_empty());
    eventually("no server", Duration::from_secs(60), || all.servers() == 0);
}

#[test]
fn what_is_missing_is_named_with_the_packages_and_a_device_is_no_place_for_instances() {
    let scratch = Scratch::new();
    let (empty, target) = (scratch.directory("empty"), scratch.directory("target"));
    let text = SUITE.replace("sysbench-postgresql", "sysbench-mariadb");
    let suite = scratch.file("s.yaml", &text);
    let mut command = stend(&scratch, &["run", &suite, "--on", &target, "--dry-run"]);
    let (_, stderr) = expect_exit(command.env("PATH", &empty), 4);
    assert!(stderr.contains("hint: `apt-get install sysbench mariadb-server`"), "{stderr}");
    if !installed("a_device_is_no_place_for_instances", &["nginx", "wrk"]) {
        return;
    }
    let web = SUITE.replace("sysbench-postgresql", "nginx-wrk").replace(" rate: 20/s,", "");
    let suite = scratch.file("w.yaml", &web);
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["run", &suite, "--on", "/dev/null", "--dry-run"]), 4);
    assert!(stderr.contains("name one directory with `--on`"), "{stderr}");
}

/// Whether instances can be held to limits on this machine.
fn has_groups() -> bool {
    let root = rustix::process::geteuid().is_root();
    let v2 = std::fs::read_to_string("/sys/fs/cgroup/cgroup.subtree_control").unwrap_or_default();
    let v2 = ["cpu", "memory", "io"].iter().all(|name| v2.split_whitespace().any(|own| own == *name));
    root && (v2 || Path::new("/sys/fs/cgroup/blkio/cgroup.procs").exists())
}

/// A built-in suite as small as it gets: two instances at most, windows of a second, little data.
fn scaled(scratch: &Scratch, name: &str) -> String {
    let (text, _) = expect_exit(&mut stend(scratch, &["suites", name]), 0);
    let cut = |text: &str, from: &str, to: &str| {
        let start = text.find(from).unwrap_or_else(|| panic!("{from}: {text}"));
        let end = start + text[start..].find(['\n', '}']).expect("an end");
        format!("{}{to}{}", &text[..start], &text[end..])
    };
    let text = cut(&text, "ramp: ", "ramp: 1s, trial: 2s");
    let text = cut(&text, "from: ", "from: 1, to: 2");
    let text = cut(&text, "data: ", "data: 1MiB");
    let text = cut(&text, "limit: ", "limit: 60s, window: 1s, served: 1%, windows: 50%");
    // The directory of a test need not lie on a disk.
    let text = cut(&text, ", iops: ", "");
    if has_groups() {
        return text;
    }
    let start = text.find("limits: ").expect("limits");
    let end = start + text[start..].find('\n').expect("a line");
    format!("{}limits: none{}", &text[..start], &text[end..])
}

/// The command of somebody whose new files nobody else can read: servers run as users of their own.
fn unreadable_for_others(command: &std::process::Command) -> std::process::Command {
    let mut masked = std::process::Command::new("sh");
    masked.args(["-c", "umask 077; exec \"$0\" \"$@\""]).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => masked.env(name, value),
            None => masked.env_remove(name),
        };
    }
    masked.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    masked
}

fn real(name: &str) -> Value {
    let scratch = Scratch::new();
    open(scratch.path());
    let target = scratch.directory("target");
    open(Path::new(&target));
    let suite = scratch.file("s.yaml", &scaled(&scratch, name));
    let path = scratch.join("r.stend").to_string_lossy().into_owned();
    let words = ["run", &suite, "--on", &target, "-o", &path, "--json", "--progress", "none"];
    let (stdout, _) = expect_exit(&mut unreadable_for_others(&stend(&scratch, &words)), 0);
    assert_eq!(leftovers(&target), Vec::<String>::new());
    let mut findings: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(findings["state"]["state"], "complete");
    let found = findings["density"][0].take();
    assert_eq!(found["cgroup_version"].is_null(), !has_groups(), "{found}");
    let points = found["points"].as_array().expect("points");
    // How much it serves is the machine's business; that every instance was reported window by window is not.
    assert!(!points.is_empty() && points.iter().all(|point| point["trials"].as_u64() > Some(0)), "{found}");
    assert!(points.iter().any(|point| point["latency_ns_most"].as_u64() > Some(0)), "{found}");
    found
}

#[test]
fn databases_are_made_loaded_and_removed() {
    if installed("databases_are_made_loaded_and_removed", &["postgres", "sysbench"]) {
        let found = real("oltp-density");
        assert!(found["versions"][0].as_str().is_some_and(|version| version.contains("PostgreSQL")), "{found}");
    }
}

#[test]
fn web_servers_are_made_loaded_and_removed() {
    if installed("web_servers_are_made_loaded_and_removed", &["nginx", "wrk"]) {
        let found = real("web-density");
        assert!(found["versions"][0].as_str().is_some_and(|version| version.contains("nginx")), "{found}");
    }
}

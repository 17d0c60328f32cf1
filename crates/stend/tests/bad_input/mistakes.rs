//! Mistakes that people make, and what they are answered: message, hint and exit code, in both languages. Nothing here measures.
//! `UPDATE_EXPECT=1 cargo test -p stend --test bad_input` writes the files anew; read each answer aloud.

use crate::support::fixed_run::two_runs;
use crate::support::*;
use expect_test::expect_file;

/// The suite that the files of mistakes are made of.
const SUITE: &str = "suite: s
fill: {size: 64MiB}
repeats: {blocks: 2}
cases:
  - name: read
    streams: [{op: read, pattern: random, block_size: 4KiB, queue_depth: 4}]
";

/// Suites with a mistake: name, what is replaced, by what.
const SUITES: [(&str, &str, &str); 17] = [
    ("key", "queue_depth", "queue_depht"),
    ("number", "blocks: 2", "blocks: two"),
    ("unit", "64MiB", "64"),
    ("range", "queue_depth: 4", "queue_depth: 5000"),
    ("op", "op: read", "op: raed"),
    ("cases", "cases:", "casez:"),
    ("braces", "fill: {", "fill: {{"),
    ("twice", "repeats: {blocks: 2}", "suite: t"),
    ("pattern", "pattern: random", "pattern: randm"),
    ("missing", ", block_size: 4KiB", ""),
    ("alike", "4KiB", "[4KiB, 4KiB]"),
    ("bracket", "streams: [", "streams: {"),
    ("time", "repeats:", "defaults: {trial: 5}\nrepeats:"),
    ("shares", "op: read", "op: {read: 70, write: 40}"),
    ("rate", "queue_depth: 4", "queue_depth: 4, rate: fast"),
    ("depth", "queue_depth: 4", "queue_depth: [1, x]"),
    ("list", "cases:\n  - name: read\n    streams:", "cases: read\nx:"),
];

/// Mistakes where there are two runs.
const MISTAKES: &str = include_str!("mistakes.txt");
/// Mistakes where there are none.
const WITHOUT_RUNS: [&str; 4] = ["show last", "stop last", "export R-1", "run --resume last"];

/// Words of a line; single quotes hold a word together.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut quoted) = (Vec::new(), false);
    let mut word: Option<String> = None;
    for character in line.chars() {
        match character {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            ' ' if !quoted => words.extend(word.take()),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    words
}

fn files(scratch: &Scratch) {
    for (name, from, to) in SUITES {
        assert!(SUITE.contains(from), "{name}");
        scratch.file(&format!("{name}.yaml"), &SUITE.replace(from, to));
    }
    for (name, text) in [
        ("text.txt", "text\n"),
        ("bad.stend", "not a database\n"),
        ("empty.yaml", ""),
        ("nothing.yaml", "gate: g\n"),
        ("rules.yaml", "gate: g\nrules: [{}]\n"),
        ("limit.yaml", "gate: g\nlimits:\n  - rand-read p9 < 5ms\n"),
        ("loss.yaml", "gate: g\nrules: [{loss: 500%}]\n"),
        ("word.yaml", "gate: g\nrules: [{metric: p98}]\n"),
    ] {
        scratch.file(name, text);
    }
    for (name, size, ceph) in [
        ("ceph-two", "2GiB", "{replicated: {size: 3}, ec: {k: 3, m: 2}}"),
        ("ceph-none", "2GiB", "{}"),
        ("ceph-few", "2GiB", "{replicated: {size: 6}}"),
        ("ceph-min", "2GiB", "{replicated: {size: 2, min_size: 3}}"),
        ("ceph-k", "2GiB", "{ec: {k: 1, m: 2}}"),
        ("ceph-memory", "2GiB", "{ec: {k: 3, m: 2}, osd_memory: 100MiB}"),
        ("ceph-word", "2GiB", "{replicas: {size: 3}}"),
        ("ceph-small", "512MiB", "{replicated: {size: 3}}"),
    ] {
        let below = format!("loop: {{directory: {}, size: {size}, count: 5}}", scratch.directory("dir"));
        scratch.file(&format!("{name}.yaml"), &format!("stand: mistake\nlayers:\n- {below}\n- ceph: {ceph}\n"));
    }
    scratch.directory("dir");
    scratch.directory("nowhere");
}

/// What a mistake is answered, and what is wrong with that.
fn answer(scratch: &Scratch, line: &str, lang: &str, data: &str) -> (String, Vec<String>) {
    let words = [words(line), vec!["--lang".into(), lang.into()]].concat();
    let mut command = stend(scratch, &words.iter().map(String::as_str).collect::<Vec<_>>());
    command.current_dir(scratch.path()).env("XDG_DATA_HOME", scratch.join(data));
    let (code, stdout, stderr) = texts(&output(&mut command));
    let text = stderr.replace(&*scratch.path().to_string_lossy(), "SCRATCH");
    // Which places there are, and how many, is a matter of the machine.
    let lines = text.lines().map(|line| if line.starts_with("  --on ") { "  --on PLACE" } else { line });
    // On a machine that is busy a look at the target takes long enough for a line of progress.
    let progress = |line: &str| line.starts_with("looking at the target") || line.starts_with("осмотр объекта");
    let mut lines: Vec<&str> = lines.filter(|line| !progress(line)).collect();
    lines.dedup();
    let text = lines.join("\n");
    let entry = format!("$ stend {line}\n[{code}] {text}\n\n");
    let mut poor = poor(line, lang, &text);
    if code == 0 || !stdout.is_empty() {
        poor.push("it is no mistake to the program");
    }
    let told = poor.iter().map(|poor| format!("{poor}:\n{entry}")).collect();
    (entry, told)
}

/// What is wrong with an answer, whatever it says.
fn poor(line: &str, lang: &str, text: &str) -> Vec<&'static str> {
    // A language that is not known is answered in English.
    let (error, hint) = if lang == "ru" && !line.contains("--lang") {
        ("ошибка: ", "\nсовет: ")
    } else {
        ("error: ", "\nhint: ")
    };
    let mut poor = Vec::new();
    if !text.starts_with(error) || text.matches(error).count() != 1 {
        poor.push("there is not one error");
    }
    if !text.contains(hint) {
        poor.push("it does not say what to do");
    }
    // The signs of limits are meant.
    let signs = [" < 5ms", "`<`, `<=`, `>` ", "< VALUE", "< ЗНАЧЕНИЕ"];
    let without_signs = signs.iter().fold(text.to_string(), |text, sign| text.replace(sign, ""));
    for (part, why) in [
        ("os error", "it is in the words of the system"),
        ("``", "it quotes nothing"),
        ("command-line.yaml", "it names a file that nobody has seen"),
        ("<", "it has the brackets of the help"),
        ("panicked", "it is a crash"),
    ] {
        if without_signs.contains(part) && !line.contains(part) {
            poor.push(why);
        }
    }
    poor
}

#[test]
fn a_hundred_mistakes_are_answered_with_what_where_why_and_what_to_do() {
    let scratch = Scratch::new();
    two_runs(&scratch);
    files(&scratch);
    let all = || MISTAKES.lines().filter(|line| !line.starts_with('#'));
    assert!(all().count() >= 100, "{}", all().count());
    let answers = |lang: &str| -> (String, Vec<String>) {
        let with = all().map(|line| answer(&scratch, line, lang, ""));
        let (entries, poor): (String, Vec<_>) =
            with.chain(WITHOUT_RUNS.iter().map(|line| answer(&scratch, line, lang, "nowhere"))).unzip();
        (entries, poor.concat())
    };
    let ((en, poor), (ru, poor_ru)) = std::thread::scope(|scope| {
        let en = scope.spawn(|| answers("en"));
        let ru = answers("ru");
        (en.join().expect("English"), ru)
    });
    expect_file!["../golden/mistakes_en.txt"].assert_eq(&en);
    expect_file!["../golden/mistakes_ru.txt"].assert_eq(&ru);
    let poor = [poor, poor_ru].concat();
    assert!(poor.is_empty(), "{} poor answers\n{}", poor.len(), poor.join(""));
}

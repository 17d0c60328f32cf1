//! What has the name of a result already stays, whatever it is and whichever verb writes, unless Stend wrote it; and a run tells
//! before it measures what it could not write afterwards.

use crate::support::fixed_run::two_runs;
use crate::support::*;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::{Path, PathBuf};

const A: &str = "R-20261121T213000Z-aaaa";
const B: &str = "R-20261122T213000Z-bbbb";
const FOREIGN: &str = "<!doctype html>\n<html lang=\"en\"><p>my notes</p></html>\n";

/// A verb that writes a file.
struct Writer {
    /// Its words without the file.
    words: Vec<String>,
    /// Name of the file that it writes.
    name: &'static str,
    /// Its words name the directory of the file instead.
    takes_directory: bool,
    /// The file can be recognised as ours.
    known: bool,
}

fn writers(scratch: &Scratch) -> Vec<Writer> {
    let gate = scratch.file("gate.yaml", "gate: g\nrules:\n  - {inconclusive: pass}\n");
    let jobs = scratch.file("jobs.fio", "[a]\nfilename=/srv/x\nrw=randread\nsize=1g\nruntime=10\ntime_based\n");
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../published/nvme-soft-raid.csv").display().to_string();
    let writer = |words: &[&str], name, known| Writer {
        words: words.iter().map(ToString::to_string).collect(),
        name,
        takes_directory: false,
        known,
    };
    let export = |format: &'static str, known| writer(&["export", A, "--format", format, "-o"], format, known);
    vec![
        writer(&["report", A, "-o"], "report.html", true),
        writer(&["report", A, "--markdown"], "report.md", true),
        writer(&["compare", A, B, "-o"], "compared.html", true),
        writer(&["compare", A, B, "--gate", &gate, "--junit"], "gate.xml", true),
        writer(&["compare", A, B, "--markdown"], "compared.md", true),
        writer(&["compare", A, "--published", &table, "-o"], "beside.html", true),
        writer(&["audit", &table, "-o"], "audit.html", true),
        export("json", true),
        export("csv", true),
        export("csv-ru", true),
        export("csv-trials", true),
        export("xlsx", true),
        export("fio-json", true),
        // What people go on to write is theirs.
        export("fio-job", false),
        writer(&["import", "--suite", &jobs, "-o"], "suite.yaml", false),
        Writer { takes_directory: true, ..writer(&["man"], "stend.1", true) },
    ]
}

impl Writer {
    fn run(&self, scratch: &Scratch, directory: &Path, more: &[&str]) -> (i32, String) {
        let path = if self.takes_directory { directory.to_path_buf() } else { directory.join(self.name) };
        let mut words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        let path = path.to_string_lossy().into_owned();
        words.push(&path);
        words.extend(more);
        let (code, _, stderr) = texts(&output(&mut stend(scratch, &words)));
        (code, format!("{words:?}: {stderr}"))
    }
}

/// A directory of its own for each case.
fn fresh(scratch: &Scratch, count: &mut u32) -> PathBuf {
    *count += 1;
    PathBuf::from(scratch.directory(&format!("case-{count}")))
}

#[test]
fn no_verb_replaces_what_stend_did_not_write_and_none_follows_a_link() {
    let scratch = Scratch::new();
    two_runs(&scratch);
    let mut count = 0;
    for writer in writers(&scratch) {
        // Absent, then its own file.
        let directory = fresh(&scratch, &mut count);
        let (code, told) = writer.run(&scratch, &directory, &[]);
        assert_eq!(code, 0, "{told}");
        let ours = std::fs::read(directory.join(writer.name)).expect("it was written");
        let (code, told) = writer.run(&scratch, &directory, &[]);
        assert_eq!(code, if writer.known { 0 } else { 5 }, "{told}");
        let names = std::fs::read_dir(&directory).expect("a directory").flatten().map(|entry| entry.file_name());
        assert!(writer.takes_directory || names.count() == 1, "{told}: nothing else is left");

        // A foreign file, with and without permission.
        let directory = fresh(&scratch, &mut count);
        let path = directory.join(writer.name);
        std::fs::write(&path, FOREIGN).expect("a file");
        let (code, told) = writer.run(&scratch, &directory, &[]);
        assert!(code == 5 && told.contains("--force"), "{code} {told}");
        assert_eq!(std::fs::read_to_string(&path).expect("the file"), FOREIGN, "{told}");
        let (code, told) = writer.run(&scratch, &directory, &["--force"]);
        assert!(code == 0 && std::fs::read(&path).expect("the file") == ours, "{code} {told}");

        // Links, also to a file of ours; a pipe; a directory: force or not.
        let kept = directory.join("kept");
        std::fs::rename(&path, &kept).expect("renamed");
        for target in ["kept", "absent"] {
            symlink(target, &path).expect("a link");
            for more in [&[][..], &["--force"]] {
                let (code, told) = writer.run(&scratch, &directory, more);
                assert!(code == 5 && told.contains("is a link to"), "{code} {told}");
            }
            std::fs::remove_file(&path).expect("removed");
        }
        assert!(std::fs::read(&kept).expect("the file") == ours && !directory.join("absent").exists());
        let pipe = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, pipe, 0).expect("a pipe");
        let (code, told) = writer.run(&scratch, &directory, &["--force"]);
        assert!(code == 5 && told.contains("a named pipe"), "{code} {told}");
        assert!(std::fs::symlink_metadata(&path).expect("it").file_type().is_fifo(), "{told}");
        std::fs::remove_file(&path).expect("removed");
        std::fs::create_dir(&path).expect("a directory");
        if !writer.words.contains(&"fio-json".to_string()) {
            let (code, told) = writer.run(&scratch, &directory, &["--force"]);
            assert!(code == 5 && told.contains("is a directory"), "{code} {told}");
        }

        // No such directory; `man` makes it.
        let (code, told) = writer.run(&scratch, &directory.join("missing"), &[]);
        assert_eq!(code, if writer.takes_directory { 0 } else { 4 }, "{told}");
    }
}

#[test]
fn a_device_and_a_directory_that_cannot_be_written_stay_as_they_are() {
    if !root("a_device_and_a_directory_that_cannot_be_written_stay_as_they_are") {
        return;
    }
    let scratch = Scratch::new();
    two_runs(&scratch);
    let mount = Mount::new(&["-t", "tmpfs", "-o", "ro,size=1m", "tmpfs"], scratch.join("read-only"));
    let full = Mount::new(&["-t", "tmpfs", "-o", "size=64k", "tmpfs"], scratch.join("full"));
    let mut hog = std::fs::File::create(full.0.join("hog")).expect("a file");
    while std::io::Write::write_all(&mut hog, &[0; 4 << 10]).is_ok() {}
    let mut count = 0;
    for writer in writers(&scratch) {
        let (code, told) = writer.run(&scratch, &mount.0, &[]);
        assert!(code == 4 && told.contains("mounted read-only"), "{code} {told}");
        let (code, told) = writer.run(&scratch, &full.0, &[]);
        assert!(code == 4 && told.contains("the file system is full"), "{code} {told}");
        assert_eq!(std::fs::read_dir(&full.0).expect("a directory").count(), 1, "{told}");
        let directory = fresh(&scratch, &mut count);
        let path = directory.join(writer.name);
        tool(&["mknod", &path.to_string_lossy(), "c", "1", "3"]);
        let (code, told) = writer.run(&scratch, &directory, &["--force"]);
        assert!(code == 5 && told.contains("a character device"), "{code} {told}");
        assert!(std::fs::symlink_metadata(&path).expect("it").file_type().is_char_device(), "{told}");
    }
}

#[test]
fn a_run_tells_before_it_measures_that_its_report_cannot_be_written() {
    let scratch = Scratch::new();
    let (suite, target) = (scratch.file("small.yaml", SMALL), scratch.directory("target"));
    let file = scratch.join("notes.stend").to_string_lossy().into_owned();
    let notes = scratch.file("notes.html", FOREIGN);
    let run = |file: &str, more: &[&str]| {
        let words = [&["run", &suite, "--on", &target, "-o", file, "--progress", "none"], more].concat();
        texts(&output(&mut stend(&scratch, &words)))
    };
    for more in [&[][..], &["--dry-run"]] {
        let (code, _, told) = run(&file, more);
        assert!(code == 5 && told.contains("notes.html") && told.contains("--force"), "{code} {told}");
        assert!(!Path::new(&file).exists() && leftovers(&target).is_empty());
        // A run file of this name would be its own report.
        let page = scratch.join("x.html").to_string_lossy().into_owned();
        let (code, _, told) = run(&page, more);
        assert!(code == 2 && told.contains("x.stend"), "{code} {told}");
        assert!(!Path::new(&page).exists());
        let nowhere = scratch.join("nowhere/r.stend").to_string_lossy().into_owned();
        assert_eq!(run(&nowhere, more).0, 12);
    }
    assert_eq!(std::fs::read_to_string(&notes).expect("notes"), FOREIGN);
    // What would be written is listed, and what it replaces is said.
    let (code, stdout, told) = run(&file, &["--dry-run", "--force", "--json"]);
    assert_eq!(code, 0, "{told}");
    let preview: serde_json::Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(preview["report"], serde_json::json!({"path": notes, "replaces": true}));
    assert!(run(&file, &["--dry-run", "--force"]).1.contains("in place of the file that is there"));
    let (code, _, told) = run(&file, &["--force"]);
    assert!(code == 0 && std::fs::read_to_string(&notes).expect("a report") != FOREIGN, "{code} {told}");
}

#[test]
fn a_report_that_comes_to_nothing_keeps_nobody_from_the_findings() {
    if !root("a_report_that_comes_to_nothing_keeps_nobody_from_the_findings") {
        return;
    }
    let scratch = Scratch::new();
    let (suite, target) = (scratch.file("small.yaml", SMALL), scratch.directory("target"));
    let file = scratch.join("r.stend");
    let words = ["run", &suite, "--on", &target, "-o", &file.to_string_lossy(), "--progress", "none"];
    let mut run = stend(&scratch, &words).spawn().expect("the binary runs");
    eventually("a run file", std::time::Duration::from_secs(60), || file.exists());
    // While it measures somebody takes the name of its report.
    std::fs::write(scratch.join("r.html"), FOREIGN).expect("a file");
    let ended = run.wait().expect("it ends").code();
    let (mut stdout, mut stderr) = (String::new(), String::new());
    std::io::Read::read_to_string(&mut run.stdout.take().expect("a stream"), &mut stdout).expect("text");
    std::io::Read::read_to_string(&mut run.stderr.take().expect("a stream"), &mut stderr).expect("text");
    assert_eq!(ended, Some(5), "{stderr}");
    assert!(stdout.contains("read") && stdout.contains("IOPS"), "{stdout}");
    assert!(stderr.contains("r.stend` is complete; `stend report"), "{stderr}");
    assert_eq!(std::fs::read_to_string(scratch.join("r.html")).expect("a file"), FOREIGN);
}

#[test]
fn what_is_no_file_is_not_read_and_never_waited_for() {
    let scratch = Scratch::new();
    two_runs(&scratch);
    let pipe = scratch.join("pipe").to_string_lossy().into_owned();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).expect("a pipe");
    let trace = scratch.file("trace.yaml", "suite: x\ncases:\n  - name: a\n    streams: [{trace: {file: pipe}}]\n");
    let target = scratch.directory("target");
    let verbs: [(&[&str], i32); 12] = [
        (&["run", &pipe, "--on", &target], 3),
        (&["run", &trace, "--on", &target], 3),
        (&["run", "quick", "--stand", &pipe], 3),
        (&["stand", "plan", &pipe], 3),
        (&["lab", "up", &pipe], 3),
        (&["lab", "build", &pipe], 3),
        (&["lab", "like", &pipe], 2),
        (&["audit", &pipe], 2),
        (&["compare", A, B, "--gate", &pipe], 3),
        (&["import", &pipe], 2),
        (&["import", "--suite", &pipe], 2),
        (&["show", &pipe], 12),
    ];
    for (words, code) in verbs {
        let (_, stderr) = expect_exit(&mut stend(&scratch, words), code);
        assert!(stderr.contains("pipe"), "{words:?}: {stderr}");
        assert_ne!(words[0] == "show", stderr.contains("only regular files are read"), "{words:?}: {stderr}");
    }
}

#[test]
fn every_verb_says_of_what_is_no_run_file_the_same() {
    let scratch = Scratch::new();
    two_runs(&scratch);
    let good = scratch.join("stend/runs").join(format!("{A}.stend"));
    let bytes = std::fs::read(&good).expect("a run file");
    let (mut future, mut truncated) = (bytes.clone(), bytes.clone());
    future[60..64].copy_from_slice(&99u32.to_be_bytes());
    truncated.truncate(4000);
    let put = |name: &str, bytes: &[u8]| {
        let path = scratch.join(name);
        std::fs::write(&path, bytes).expect("a file");
        path.to_string_lossy().into_owned()
    };
    let files = [
        (scratch.join("absent.stend").to_string_lossy().into_owned(), 2),
        (scratch.directory("directory.stend"), 12),
        (put("empty.stend", b""), 12),
        (put("text.stend", b"a letter\n"), 12),
        (put("truncated.stend", &truncated), 12),
        (put("future.stend", &future), 12),
    ];
    let page = scratch.join("page.html").to_string_lossy().into_owned();
    for (file, code) in &files {
        let verbs: [&[&str]; 13] = [
            &["show", file],
            &["watch", file, "--progress", "none"],
            &["stop", file],
            &["report", file, "-o", &page],
            &["compare", A, file],
            &["compare", file, A],
            &["compare", A, B, "--floor", file],
            &["export", file],
            &["export", file, "--format", "csv"],
            &["export", file, "--format", "fio-job"],
            &["export", file, "--ios"],
            &["run", "--resume", file],
            &["run", "--resume", file, "--lab", "nobody"],
        ];
        for words in verbs {
            let (got, _, stderr) = texts(&output(&mut stend(&scratch, words)));
            assert_eq!(got, *code, "{words:?}: {stderr}");
        }
    }
    assert!(!Path::new(&page).exists());
}

//! Whatever has the name of a result stays, unless Stend wrote it.

use super::*;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use stend_base::Kind;

const OURS: &str = "<!-- Stend -->\nold\n\n<!-- /Stend -->\n";

fn put(path: &Path, force: bool, text: &str) -> Result<()> {
    let output = Output::new(path, Say::same("x"), force);
    output.check()?;
    output.save(|to| to.write_all(text.as_bytes()))
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_result_replaces_an_older_one_and_keeps_its_permissions() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("report.html");
    fs::write(&path, OURS).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o604)).unwrap();
    let kept = dir.path().join("kept.html");
    fs::hard_link(&path, &kept).unwrap();
    put(&path, false, "short").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "short");
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o604);
    // Another name of the old file is another file now.
    assert_eq!(fs::read_to_string(&kept).unwrap(), OURS);
    assert_eq!(names(dir.path()), ["kept.html", "report.html"]);
}

#[test]
fn a_text_that_people_edit_is_not_called_foreign() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("suite.yaml");
    let suite = |force| Output::new(&path, Say::same("x"), force).that_is_edited();
    suite(false).save(|to| to.write_all(b"suite: x\n")).unwrap();
    let refused = suite(false).check().unwrap_err();
    assert_eq!(refused.kind, Kind::Unsafe);
    assert!(refused.message.en.ends_with("exists; Stend does not replace it, because you may have edited it"));
    assert!(suite(true).check().unwrap(), "it takes the place of the other one");
}

#[test]
fn a_foreign_file_is_replaced_only_when_that_is_asked_for_and_a_run_file_never() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("notes.html");
    fs::write(&path, "my notes").unwrap();
    let error = put(&path, false, "x").unwrap_err();
    assert!(error.kind == Kind::Unsafe && error.hint.unwrap().ru.contains("--force"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "my notes");
    put(&path, true, "x").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "x");
    fs::write(&path, [DATABASE.as_slice(), b"more"].concat()).unwrap();
    assert_eq!(put(&path, true, "x").unwrap_err().kind, Kind::Unsafe);
    assert!(fs::read(&path).unwrap().ends_with(b"more"));
}

#[test]
fn what_is_no_regular_file_is_never_written_to() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("precious"), OURS).unwrap();
    symlink(at("precious"), at("link")).unwrap();
    symlink(at("absent"), at("dangling")).unwrap();
    fs::create_dir(at("directory")).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, at("fifo"), FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600), 0)
        .unwrap();
    for path in ["link", "dangling", "directory", "fifo"].map(at).into_iter().chain([PathBuf::from("/dev/null")]) {
        for force in [false, true] {
            let error = put(&path, force, "x").unwrap_err();
            assert_eq!(error.kind, Kind::Unsafe, "{}: {error}", path.display());
        }
    }
    assert_eq!(fs::read_to_string(at("precious")).unwrap(), OURS);
    assert_eq!(names(dir.path()), ["dangling", "directory", "fifo", "link", "precious"]);
    assert!(fs::metadata(at("fifo")).unwrap().file_type().is_fifo());
}

#[test]
fn links_on_the_way_are_followed_unless_another_user_made_them_where_everybody_can() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir(at("real")).unwrap();
    symlink("real", at("mine")).unwrap();
    put(&at("mine/a.html"), false, "x").unwrap();
    put(&at("mine/../real/b.html"), false, "x").unwrap();
    assert_eq!(names(&at("real")), ["a.html", "b.html"]);
    symlink("loop", at("loop")).unwrap();
    assert_eq!(put(&at("loop/a.html"), false, "x").unwrap_err().kind, Kind::Preflight);
    if !rustix::process::geteuid().is_root() {
        assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "needs root");
        eprintln!(
            "skipped, needs root: links_on_the_way_are_followed_unless_another_user_made_them_where_everybody_can"
        );
        return;
    }
    fs::create_dir(at("shared")).unwrap();
    fs::set_permissions(at("shared"), fs::Permissions::from_mode(0o1777)).unwrap();
    let theirs = at("shared/theirs");
    symlink(at("real"), &theirs).unwrap();
    std::os::unix::fs::lchown(&theirs, Some(4242), Some(4242)).unwrap();
    let error = put(&theirs.join("c.html"), true, "x").unwrap_err();
    assert!(error.kind == Kind::Unsafe && error.message.en.contains("link of another user"), "{error}");
    // A file of another user in such a directory stays, too, whatever is in it.
    let file = at("shared/report.html");
    fs::write(&file, OURS).unwrap();
    std::os::unix::fs::chown(&file, Some(4242), Some(4242)).unwrap();
    assert_eq!(put(&file, true, "x").unwrap_err().kind, Kind::Unsafe);
    assert_eq!(fs::read_to_string(&file).unwrap(), OURS);
    // In a directory of its own root replaces it, and it stays the user's.
    let file = at("real/a.html");
    fs::write(&file, OURS).unwrap();
    std::os::unix::fs::chown(&file, Some(4242), Some(4243)).unwrap();
    put(&file, false, "new").unwrap();
    let found = fs::metadata(&file).unwrap();
    assert_eq!((found.uid(), found.gid(), fs::read_to_string(&file).unwrap()), (4242, 4243, "new".to_string()));
}

#[test]
fn a_result_that_cannot_be_written_whole_is_not_there() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("report.html");
    let broken = |path: &Path| {
        Output::new(path, Say::same("x"), false).save(|to| {
            to.write_all(&[b'x'; 100_000])?;
            Err(ErrorKind::StorageFull.into())
        })
    };
    assert_eq!(broken(&path).unwrap_err().kind, Kind::Preflight);
    assert!(names(dir.path()).is_empty());
    fs::write(&path, OURS).unwrap();
    assert!(broken(&path).is_err());
    assert_eq!((fs::read_to_string(&path).unwrap(), names(dir.path()).len()), (OURS.to_string(), 1));
}

#[test]
fn what_came_while_a_result_was_written_stays() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("report.html");
    let output = Output::new(&path, Say::same("x"), true);
    let error = output.save(|to| {
        fs::write(&path, "theirs")?;
        to.write_all(b"ours")
    });
    assert_eq!(error.unwrap_err().kind, Kind::Unsafe);
    assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
    // Nor is one that was put in the place of the file that was looked at.
    let error = output.save(|to| {
        fs::remove_file(&path)?;
        fs::write(dir.path().join("other"), "other")?;
        fs::rename(dir.path().join("other"), &path)?;
        to.write_all(b"ours")
    });
    assert_eq!(error.unwrap_err().kind, Kind::Unsafe);
    assert_eq!((fs::read_to_string(&path).unwrap(), names(dir.path()).len()), ("other".to_string(), 1));
}

#[test]
fn a_place_that_cannot_be_written_is_named_before_anything_is_written() {
    let error = put(Path::new("/does/not/exist/report.html"), false, "x").unwrap_err();
    assert!(error.kind == Kind::Preflight && error.message.ru.contains("/does/not/exist"), "{error}");
    assert_eq!(put(Path::new("/proc/report.html"), true, "x").unwrap_err().kind, Kind::Preflight);
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    let below = dir.path().join("file/report.html");
    assert_eq!(Output::new(&below, Say::same("x"), false).check().unwrap_err().kind, Kind::Preflight);
}

#[test]
fn two_results_do_not_share_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let output = |name: &str| Output::new(dir.path().join(name), Say::same("x"), true);
    check(&[output("a"), output("b")]).unwrap();
    assert_eq!(check(&[output("a"), output("./a")]).unwrap_err().kind, Kind::Usage);
}

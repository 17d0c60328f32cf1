//! Who may do what: each power has words that betray its use, and the table of powers in
//! `docs/ARCHITECTURE.md` says in which files they may stand, and why there.

use crate::layers::ARCHITECTURE;
use crate::problem::Problem;
use crate::source::{RustFile, Tree, find_words, line_of};
use crate::table;

/// A power and the words that betray its use in the code of the product.
struct Power {
    name: &'static str,
    words: &'static [&'static str],
}

const UNSAFE: &str = "unsafe";
const RUN_FILE: &str = "open a run file for writing";

const POWERS: [Power; 8] = [
    Power { name: UNSAFE, words: &["unsafe"] },
    Power {
        name: "print to the terminal",
        words: &["print!", "println!", "eprint!", "eprintln!", "stdout()", "stderr()"],
    },
    Power {
        name: "listen, or run async code",
        words: &["TcpListener", "UnixListener", "UdpSocket", "UnixDatagram", "rustix::net", "tokio", "async", ".await"],
    },
    Power {
        name: "change a file system",
        words: &[
            "OpenOptions",
            "DirBuilder",
            "File::create",
            "File::create_new",
            "fs::write",
            "fs::copy",
            "fs::rename",
            "OFlags::WRONLY",
            "OFlags::RDWR",
            "OFlags::CREATE",
            "OFlags::TMPFILE",
            "create_dir",
            "create_dir_all",
            "mkdir",
            "mkdirat",
            "remove_file",
            "remove_dir",
            "remove_dir_all",
            "unlink",
            "unlinkat",
            "renameat",
            "symlink",
            "hard_link",
            "set_len",
            "ftruncate",
            "fallocate",
            "set_permissions",
            "fchown",
            "chownat",
        ],
    },
    Power { name: "start processes", words: &["Command::new"] },
    Power { name: "generate I/O", words: &["io_uring::", "uring::", "write_at"] },
    Power { name: "claim a target", words: &["Claim::"] },
    Power { name: RUN_FILE, words: &[] },
];

/// A place in which a power may be used.
struct Grant<'a> {
    line: usize,
    power: &'a str,
    /// A file, or a directory with a slash at the end.
    place: &'a str,
}

impl Grant<'_> {
    fn covers(&self, path: &str) -> bool {
        path == self.place || (self.place.ends_with('/') && path.starts_with(self.place))
    }
}

/// Powers used where the table does not grant them, and grants that nobody uses.
pub fn check(tree: &Tree) -> Vec<Problem> {
    let Some(rows) = tree.text(ARCHITECTURE).and_then(|text| table::rows(text, "power")) else {
        return vec![Problem::new(ARCHITECTURE, 0, "has no table that begins with `power`")];
    };
    let mut problems = Vec::new();
    let mut grants = Vec::new();
    for row in &rows {
        match table::quoted(row.cells.get(1).map_or("", String::as_str)).first() {
            Some(place) if POWERS.iter().any(|power| power.name == row.cells[0]) => {
                grants.push(Grant { line: row.line, power: &row.cells[0], place });
            }
            Some(_) => {
                problems.push(Problem::new(ARCHITECTURE, row.line, format!("there is no power `{}`", row.cells[0])))
            }
            None => problems.push(Problem::new(ARCHITECTURE, row.line, "names no place in back quotes")),
        }
    }
    for power in &POWERS {
        problems.extend(uses_without_grant(tree, power, &grants));
    }
    problems.extend(grants.iter().filter(|grant| !is_used(tree, grant)).map(|grant| {
        let text = format!("`{}` is granted to `{}`, which does not use it", grant.power, grant.place);
        Problem::new(ARCHITECTURE, grant.line, text)
    }));
    problems.extend(tree.rust.iter().filter_map(|file| unsafe_not_forbidden(file, &grants)));
    problems
}

fn uses_without_grant(tree: &Tree, power: &Power, grants: &[Grant]) -> Vec<Problem> {
    let granted = |path: &str| grants.iter().any(|grant| grant.power == power.name && grant.covers(path));
    let mut problems = Vec::new();
    for file in tree.rust.iter().filter(|file| !granted(&file.path)) {
        for (line, word) in uses(file, power) {
            let text = format!("`{word}` needs the power `{}`, which this file does not have", power.name);
            problems.push(Problem::new(&file.path, line, text));
        }
    }
    problems
}

fn is_used(tree: &Tree, grant: &Grant) -> bool {
    let power = POWERS.iter().find(|power| power.name == grant.power);
    power.is_some_and(|power| tree.rust.iter().any(|file| grant.covers(&file.path) && !uses(file, power).is_empty()))
}

/// Lines of the product that use a power, and the word that betrays it. Unsafe code counts in tests too.
fn uses<'a>(file: &'a RustFile, power: &'a Power) -> Vec<(usize, &'a str)> {
    let code = &file.parts.code;
    let found: Vec<(usize, &str)> = match power.name {
        RUN_FILE => mentions_of_store(code).into_iter().map(|at| (at, "store")).collect(),
        _ => power.words.iter().flat_map(|word| find_words(code, word).map(move |at| (at, *word))).collect(),
    };
    let lines = found.into_iter().map(|(at, word)| (line_of(code, at), word));
    lines.filter(|(line, _)| power.name == UNSAFE || !file.is_test[line - 1]).collect()
}

/// Where `stend_record::store` is named, also inside the braces of a `use`.
fn mentions_of_store(code: &str) -> Vec<usize> {
    let named = |&at: &usize| {
        let rest = &code[at..];
        let end = rest.find(|c: char| !(c.is_alphanumeric() || "_:".contains(c))).unwrap_or(rest.len());
        let path =
            if rest[end..].starts_with('{') { &rest[..rest.find('}').unwrap_or(rest.len())] } else { &rest[..end] };
        find_words(path, "store").next().is_some()
    };
    find_words(code, "stend_record").filter(named).collect()
}

/// Every crate without the power forbids unsafe code to itself, so that the compiler holds it to that.
fn unsafe_not_forbidden(file: &RustFile, grants: &[Grant]) -> Option<Problem> {
    let is_root = ["/src/lib.rs", "/src/main.rs"].iter().any(|end| file.path.ends_with(end));
    let granted = grants.iter().any(|grant| grant.power == UNSAFE && grant.covers(&file.path));
    let missing = is_root && !granted && !file.parts.code.contains("#![forbid(unsafe_code)]");
    missing.then(|| Problem::new(&file.path, 0, "does not say `#![forbid(unsafe_code)]`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "| power | only here | why |\n|---|---|---|\n\
        | unsafe | `crates/sys/` | system calls |\n\
        | change a file system | `crates/record/src/store/writer.rs` | the run file |\n\
        | open a run file for writing | `crates/run/` | walks the plan |\n";

    /// Problems after adding one file to a small tree that has none.
    fn problems_with(path: &str, text: &str) -> Vec<String> {
        let forbid = "#![forbid(unsafe_code)]\n";
        let files = [
            (ARCHITECTURE, TABLE.to_string()),
            ("crates/sys/src/lib.rs", "unsafe { a }\n".to_string()),
            ("crates/record/src/store/writer.rs", "OpenOptions::new()\n".to_string()),
            ("crates/run/src/lib.rs", format!("{forbid}use stend_record::store::Writer;\n")),
            (path, text.to_string()),
        ];
        let tree = Tree::of(files.map(|(path, text)| (path.to_string(), text)));
        check(&tree).into_iter().map(|problem| problem.to_string()).collect()
    }

    #[test]
    fn powers_that_are_granted_may_be_used() {
        assert_eq!(problems_with("crates/sys/src/x.rs", "unsafe fn a() {}\n"), Vec::<String>::new());
    }

    #[test]
    fn every_power_is_refused_where_it_is_not_granted() {
        for text in [
            "unsafe { a }",
            "println!()",
            "let mut out = std::io::stdout();",
            "TcpListener::bind(a)",
            "async fn a() {}",
            "File::options().write(true); OpenOptions::new()",
            "std::fs::remove_file(a)",
            "open(a, OFlags::RDWR)",
            "Command::new(a)",
            "file.write_at(a, b)",
            "Claim::device(a)",
            "use stend_record::store;",
            "use stend_record::{\n    Entry,\n    store,\n};",
            "stend_record::store::create(a)",
        ] {
            let problems = problems_with("crates/host/src/x.rs", text);
            assert_eq!(problems.len(), 1, "{text}: {problems:?}");
            assert!(problems[0].starts_with("crates/host/src/x.rs:"), "{problems:?}");
        }
    }

    #[test]
    fn words_in_comments_texts_and_tests_betray_nothing() {
        let text =
            "// println!()\nlet a = \"Command::new\";\n#[cfg(test)]\nmod tests { fn a() { std::fs::write(b, c) } }\n";
        assert_eq!(problems_with("crates/host/src/x.rs", text), Vec::<String>::new());
        assert_eq!(problems_with("crates/host/src/x.rs", "use stend_record::{Entry, Sample};\n"), Vec::<String>::new());
    }

    #[test]
    fn a_crate_that_does_not_forbid_unsafe_code_is_found() {
        let problems = problems_with("crates/host/src/lib.rs", "pub mod x;\n");
        assert_eq!(problems, ["crates/host/src/lib.rs: does not say `#![forbid(unsafe_code)]`"]);
    }

    #[test]
    fn a_table_with_rows_that_mean_nothing_is_found() {
        let tree = |text: &str| Tree::of([(ARCHITECTURE.to_string(), text.to_string())]);
        let problems = check(&tree(
            "| power | only here | why |\n|---|---|---|\n| fly | `x` | |\n| unsafe | x | |\n| unsafe | `x` | |\n",
        ));
        let texts: Vec<&str> = problems.iter().map(|problem| problem.text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "there is no power `fly`",
                "names no place in back quotes",
                "`unsafe` is granted to `x`, which does not use it"
            ]
        );
        assert_eq!(check(&tree("")).len(), 1);
    }
}

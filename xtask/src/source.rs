//! The files of the tree, and which of their lines are tests.

use crate::lexer::{self, Parts};
use std::path::{Path, PathBuf};

/// Where this tree is.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// Directories that hold nothing of ours, or files that are compared byte by byte elsewhere.
const SKIPPED: [&str; 5] = ["target", "node_modules", "golden", "fixtures", "proptest-regressions"];

/// Endings of the files that are read.
const TEXTS: [&str; 8] = [".rs", ".toml", ".md", ".sh", ".yaml", ".css", "Makefile", "run"];

/// All files of the tree.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    /// Rust files.
    pub rust: Vec<RustFile>,
    /// Other text files: path and text.
    pub other: Vec<(String, String)>,
}

/// A Rust file.
#[derive(Debug, Clone)]
pub struct RustFile {
    /// Relative to the root.
    pub path: String,
    /// As it is.
    pub text: String,
    /// Taken apart.
    pub parts: Parts,
    /// By line: whether it is only built for tests.
    pub is_test: Vec<bool>,
}

impl Tree {
    /// Reads all text files below `root`.
    pub fn read(root: &Path) -> Tree {
        let mut paths = Vec::new();
        list(root, &mut paths);
        let read = |path: PathBuf| {
            let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            std::fs::read_to_string(&path).ok().map(|text| (name, text))
        };
        Tree::of(paths.into_iter().filter_map(read))
    }

    /// A tree of the given files.
    pub fn of(files: impl IntoIterator<Item = (String, String)>) -> Tree {
        let (rust, other): (Vec<_>, Vec<_>) = files.into_iter().partition(|(path, _)| path.ends_with(".rs"));
        let mut rust: Vec<RustFile> = rust.into_iter().map(|(path, text)| RustFile::new(path, text)).collect();
        let tests: Vec<String> = rust.iter().flat_map(RustFile::test_modules).collect();
        for file in &mut rust {
            let named = tests
                .iter()
                .any(|test| file.path == format!("{test}.rs") || file.path.starts_with(&format!("{test}/")));
            if named || file.path.split('/').any(|part| part == "tests" || part == "benches") {
                file.is_test.fill(true);
            }
        }
        Tree { rust, other }
    }

    /// The text of a file that is not Rust.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.other.iter().find(|(name, _)| name == path).map(|(_, text)| text.as_str())
    }
}

fn list(directory: &Path, paths: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let hidden = name.starts_with('.') && name != ".ci";
        if hidden || SKIPPED.contains(&name.as_str()) || path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            list(&path, paths);
        } else if TEXTS.iter().any(|ending| name.ends_with(ending)) {
            paths.push(path);
        }
    }
}

impl RustFile {
    /// Takes a file apart.
    pub fn new(path: String, text: String) -> RustFile {
        let parts = lexer::parts(&text);
        let mut is_test = vec![false; text.lines().count()];
        for (from, to, _) in test_items(&parts.code) {
            is_test[line_of(&parts.code, from) - 1..line_of(&parts.code, to)].fill(true);
        }
        RustFile { path, text, parts, is_test }
    }

    /// Lines of code that are part of the product: number and text.
    pub fn product_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.parts
            .code
            .lines()
            .enumerate()
            .filter(|(index, _)| !self.is_test[*index])
            .map(|(index, line)| (index + 1, line))
    }

    /// Paths, without ending, of the modules that the file declares for tests only.
    fn test_modules(&self) -> Vec<String> {
        let stem = self.path.strip_suffix(".rs").unwrap_or(&self.path);
        let own_name = ["/mod", "/lib", "/main"].iter().find_map(|name| stem.strip_suffix(name));
        let home = own_name.unwrap_or(stem);
        test_items(&self.parts.code)
            .into_iter()
            .filter_map(|(_, _, module)| Some(format!("{home}/{}", module?)))
            .collect()
    }
}

/// Line, from 1, of a byte position.
pub fn line_of(text: &str, at: usize) -> usize {
    1 + text.as_bytes()[..at].iter().filter(|&&byte| byte == b'\n').count()
}

/// Items under `#[cfg(test)]`: first and last byte, and the name if it is a module in another file.
fn test_items(code: &str) -> Vec<(usize, usize, Option<&str>)> {
    const MARK: &str = "#[cfg(test)]";
    let item = |(from, _): (usize, &str)| {
        let rest = &code[from + MARK.len()..];
        let end = item_end(rest);
        let module = rest[..end].split_once("mod ").filter(|_| !rest[..end].contains('{'));
        let module = module.map(|(_, name)| name.trim_end_matches([';', '\n']).trim());
        (from, from + MARK.len() + end.saturating_sub(1), module)
    };
    code.match_indices(MARK).map(item).collect()
}

/// Length of an item that begins here: to its closing brace, or to a semicolon outside of all brackets.
pub fn item_end(code: &str) -> usize {
    let (mut braces, mut brackets) = (0usize, 0usize);
    for (at, byte) in code.bytes().enumerate() {
        match byte {
            b'{' => braces += 1,
            b'}' if braces <= 1 => return at + 1,
            b'}' => braces -= 1,
            b'(' | b'[' => brackets += 1,
            b')' | b']' => brackets = brackets.saturating_sub(1),
            b';' if braces == 0 && brackets == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

/// Byte positions at which `pattern` stands in `code`, not as part of a longer word.
pub fn find_words<'a>(code: &'a str, pattern: &'a str) -> impl Iterator<Item = usize> + 'a {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    let whole = move |at: usize| {
        let before = code[..at].chars().next_back().is_some_and(in_word);
        let after = code[at + pattern.len()..].chars().next().is_some_and(in_word);
        !(before && pattern.starts_with(in_word) || after && pattern.ends_with(in_word))
    };
    code.match_indices(pattern).map(|(at, _)| at).filter(move |&at| whole(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> Tree {
        Tree::of(files.iter().map(|(path, text)| (path.to_string(), text.to_string())))
    }

    #[test]
    fn test_modules_are_known_inside_a_file_and_in_files_of_their_own() {
        let tree = tree(&[
            ("crates/a/src/lib.rs", "a\n#[cfg(test)]\nmod samples;\n#[cfg(test)]\nmod tests {\n  b {}\n}\nc\n"),
            ("crates/a/src/samples.rs", "d\n"),
            ("crates/a/src/samples/deep.rs", "d\n"),
            ("crates/a/src/x.rs", "#[cfg(test)]\nmod y;\n"),
            ("crates/a/src/x/y.rs", "d\n"),
            ("crates/a/src/y.rs", "d\n"),
            ("crates/a/tests/z.rs", "d\n"),
        ]);
        let tests = |path: &str| tree.rust.iter().find(|file| file.path == path).unwrap().is_test.clone();
        assert_eq!(tests("crates/a/src/lib.rs"), [false, true, true, true, true, true, true, false]);
        for path in
            ["crates/a/src/samples.rs", "crates/a/src/samples/deep.rs", "crates/a/src/x/y.rs", "crates/a/tests/z.rs"]
        {
            assert_eq!(tests(path), [true], "{path}");
        }
        assert_eq!(tests("crates/a/src/y.rs"), [false]);
    }

    #[test]
    fn an_item_ends_at_its_own_brace_or_semicolon() {
        let ends = |code: &str| code[..item_end(code)].to_string();
        assert_eq!(ends("fn f(x: [u8; 3]) { a; { b } } c"), "fn f(x: [u8; 3]) { a; { b } }");
        assert_eq!(ends("fn f(x: [u8; 3]); c {}"), "fn f(x: [u8; 3]);");
    }

    #[test]
    fn words_are_found_whole() {
        let found = |code, pattern| find_words(code, pattern).collect::<Vec<_>>();
        assert_eq!(found("unsafe_code unsafe {", "unsafe"), [12]);
        assert_eq!(found("eprint!() print!()", "print!"), [10]);
        assert_eq!(found("a.write_at(b) rewrite_at(c)", "write_at("), [2]);
    }

    #[test]
    fn this_tree_is_found_and_read() {
        let tree = Tree::read(root());
        assert!(tree.rust.iter().any(|file| file.path == "xtask/src/source.rs"));
        assert!(tree.text("Cargo.toml").is_some());
        assert!(!tree.rust.iter().any(|file| file.path.starts_with("target/")));
    }
}

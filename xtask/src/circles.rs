//! Circles of files: inside a crate, modules import each other in one direction only. A parent and what lies below it may
//! know each other; a name that a module re-exports counts as an import of the file that defines it. Must not look into tests.

use crate::finding::Finding;
use crate::scan;
use crate::tree::Source;
use std::collections::{BTreeMap, BTreeSet};

const RULE: &str = "circles";
/// Most arrows of a circle that are printed.
const ARROWS_MAX: usize = 12;
/// A name that is re-exported through more modules than this is not followed further.
const REEXPORTS_MAX: usize = 8;

/// A module by its path inside the crate; the root is empty.
type Module = Vec<String>;
/// Which modules each module imports.
type Arrows = BTreeMap<Module, BTreeSet<Module>>;

/// Finds circles of files in every crate.
pub fn check(sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for files in crates(sources).values() {
        let arrows = arrows(files);
        findings.extend(circles(&arrows).iter().map(|circle| told(files, &arrows, circle)));
    }
    findings
}

/// The files of each crate by their modules; tests are left out.
fn crates(sources: &[Source]) -> BTreeMap<String, BTreeMap<Module, &Source>> {
    let mut crates: BTreeMap<String, BTreeMap<Module, &Source>> = BTreeMap::new();
    for source in sources.iter().filter(|source| !source.production.trim().is_empty()) {
        let Some((name, file)) = source.path.split_once("/src/") else { continue };
        let Some(file) = file.strip_suffix(".rs") else { continue };
        let mut module: Module = file.split('/').map(String::from).collect();
        if module.last().is_some_and(|last| matches!(last.as_str(), "lib" | "main" | "mod")) {
            module.pop();
        }
        crates.entry(name.to_string()).or_default().insert(module, source);
    }
    crates
}

/// A path inside the crate that a file names, and the name that it gives it, if it imports it.
struct Named {
    path: Module,
    name: Option<String>,
}

/// Which file of a crate imports which, parents and children aside.
fn arrows(files: &BTreeMap<Module, &Source>) -> Arrows {
    let all: BTreeMap<&Module, Vec<Named>> =
        files.iter().map(|(module, source)| (module, named(module, source))).collect();
    let mut arrows = Arrows::new();
    for (module, named) in &all {
        let defined = named.iter().filter_map(|named| defining(&named.path, &all, REEXPORTS_MAX));
        let others = defined.filter(|other| !other.starts_with(module) && !module.starts_with(other));
        arrows.insert((*module).clone(), others.collect());
    }
    arrows
}

/// Every path inside the crate that a file names, from the root of the crate.
fn named(module: &Module, source: &Source) -> Vec<Named> {
    let code = &source.production;
    let imported = scan::named_imports(code).into_iter().map(|import| (import.path, Some(import.name)));
    let spelled = ["crate", "super"].iter().flat_map(|base| scan::find_all(code, base)).map(|at| {
        let path: String = code[at..].chars().take_while(|&c| scan::is_word(c) || c == ':').collect();
        (path, None)
    });
    // Each name in braces is an import of its own.
    let spelled = spelled.filter(|(path, _)| !path.ends_with(':'));
    let named = |(path, name): (String, Option<String>)| Some(Named { path: from_root(module, &path)?, name });
    imported.chain(spelled).filter_map(named).collect()
}

/// A path from the root of the crate; `None` if it leads out of the crate.
fn from_root(module: &Module, path: &str) -> Option<Module> {
    let mut parts = path.split("::").map(str::trim).filter(|part| !part.is_empty()).peekable();
    let mut base = match parts.next()? {
        "crate" => Vec::new(),
        "self" => module.clone(),
        "super" => {
            let mut base = module.clone();
            base.pop()?;
            while parts.next_if_eq(&"super").is_some() {
                base.pop()?;
            }
            base
        }
        // The name of a module beside or below this one, or of another crate.
        first => module.iter().cloned().chain([first.to_string()]).collect(),
    };
    base.extend(parts.map(String::from));
    Some(base)
}

/// The file that defines what a path names: the deepest module on the way, and from there where it re-exports the name from.
fn defining(path: &Module, all: &BTreeMap<&Module, Vec<Named>>, steps: usize) -> Option<Module> {
    let depth = (0..=path.len()).rev().find(|&depth| all.contains_key(&path[..depth].to_vec()))?;
    let (module, rest) = (path[..depth].to_vec(), &path[depth..]);
    let again = rest.first().filter(|_| steps > 0).and_then(|name| {
        let reexported = all.get(&module)?.iter().find(|named| named.name.as_ref() == Some(name))?;
        (reexported.path != *path).then(|| defining(&reexported.path, all, steps - 1)).flatten()
    });
    again.or(Some(module))
}

/// Groups of files that can reach each other, largest first.
fn circles(arrows: &Arrows) -> Vec<Vec<Module>> {
    let reach: BTreeMap<&Module, BTreeSet<&Module>> =
        arrows.keys().map(|from| (from, reachable(from, arrows))).collect();
    let mut left: BTreeSet<&Module> = arrows.keys().filter(|module| reach[module].contains(module)).collect();
    let mut circles = Vec::new();
    while let Some(first) = left.first().copied() {
        let circle: Vec<&Module> =
            left.iter().copied().filter(|other| reach[first].contains(other) && reach[other].contains(first)).collect();
        left.retain(|module| !circle.contains(module));
        circles.push(circle.into_iter().cloned().collect::<Vec<Module>>());
    }
    circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
    circles
}

fn reachable<'a>(from: &Module, arrows: &'a Arrows) -> BTreeSet<&'a Module> {
    let mut seen = BTreeSet::new();
    let mut next: Vec<&Module> = arrows[from].iter().collect();
    while let Some(module) = next.pop() {
        if let Some((module, further)) = arrows.get_key_value(module)
            && seen.insert(module)
        {
            next.extend(further);
        }
    }
    seen
}

/// The finding about a circle, at its first file: which files, and who imports whom.
fn told(files: &BTreeMap<Module, &Source>, arrows: &Arrows, circle: &[Module]) -> Finding {
    let names: Vec<String> = circle.iter().map(|module| module.join("::")).collect();
    let within = |from: &Module| arrows[from].iter().filter(|to| circle.contains(to)).cloned().collect::<Vec<_>>();
    let all = circle.iter().flat_map(|from| within(from).into_iter().map(move |to| (from, to)));
    let all: Vec<String> = all.take(ARROWS_MAX).map(|(a, b)| format!("{} → {}", a.join("::"), b.join("::"))).collect();
    let message =
        format!("{} files import each other in a circle: {} ({})", names.len(), names.join(", "), all.join(", "));
    Finding::new(&files[&circle[0]].path, 1, RULE, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> = files.iter().map(|(file, text)| Source::new(file, text)).collect();
        check(&sources).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn two_files_that_import_each_other_are_a_circle_however_they_spell_it() {
        for (one, other) in [
            ("use crate::b::B;", "use super::a::A;"),
            ("use crate::{c, b::{self, B}};", "fn f() -> crate::a::A { x }"),
            ("fn f() { super::b::f() }", "pub(crate) use crate::a as c;"),
        ] {
            let files = [("crates/y/src/a.rs", one), ("crates/y/src/b.rs", other), ("crates/y/src/c.rs", "")];
            assert_eq!(found(&files), ["2 files import each other in a circle: a, b (a → b, b → a)"], "{one} {other}");
        }
    }

    #[test]
    fn arrows_in_one_direction_between_parent_and_child_and_in_tests_are_no_circle() {
        let files = [
            ("crates/y/src/lib.rs", "mod a; mod b; pub use a::A;"),
            (
                "crates/y/src/a.rs",
                "mod child; use child::C; use crate::b::B;\n#[cfg(test)]\nmod tests { use crate::c::X; }",
            ),
            ("crates/y/src/a/child.rs", "use super::A;"),
            ("crates/y/src/b.rs", "// crate::a\nconst A: &str = \"crate::a::A\";"),
            ("crates/y/src/c.rs", "use crate::a::A;"),
            ("crates/y/src/c/tests.rs", "use crate::c::A;"),
        ];
        assert_eq!(found(&files), [""; 0]);
    }

    #[test]
    fn a_face_that_re_exports_hides_no_circle() {
        let files = [
            ("crates/y/src/lib.rs", "mod a; mod b; pub use a::A;"),
            ("crates/y/src/a.rs", "use crate::b::B; pub struct A;"),
            ("crates/y/src/b.rs", "use crate::A; pub struct B;"),
        ];
        assert_eq!(found(&files), ["2 files import each other in a circle: a, b (a → b, b → a)"]);
    }

    #[test]
    fn names_in_braces_are_imports_of_the_files_that_define_them() {
        let files = [
            ("crates/y/src/a.rs", "pub use crate::b::{B, C}; use crate::d::D;"),
            ("crates/y/src/b.rs", "pub struct B; pub struct C;"),
            ("crates/y/src/d.rs", "use crate::a::{B, C};"),
        ];
        assert_eq!(found(&files), [""; 0]);
        let files = [("crates/y/src/a.rs", "use crate::d::D;"), ("crates/y/src/d.rs", "use crate::a::{B, C};")];
        assert_eq!(found(&files), ["2 files import each other in a circle: a, d (a → d, d → a)"]);
    }

    #[test]
    fn a_name_that_a_file_gives_to_an_import_is_not_the_name_of_what_it_defines() {
        let files = [
            ("crates/y/src/a.rs", "use crate::keys::b as keys; fn f() { crate::b::b() }"),
            ("crates/y/src/b.rs", "use crate::keys::b as keys; use crate::a::f; pub fn b() {}"),
            ("crates/y/src/keys.rs", ""),
        ];
        assert_eq!(found(&files), ["2 files import each other in a circle: a, b (a → b, b → a)"]);
    }

    #[test]
    fn programs_beside_the_crates_are_looked_at_too() {
        let files = [("bench/src/a.rs", "use crate::b::B;"), ("bench/src/b.rs", "use crate::a::A;")];
        assert_eq!(found(&files).len(), 1);
    }

    #[test]
    fn a_longer_way_round_is_one_circle() {
        let files = [
            ("crates/y/src/a.rs", "use crate::b::B;"),
            ("crates/y/src/b.rs", "use crate::c::C;"),
            ("crates/y/src/c.rs", "use crate::a::A;"),
        ];
        assert_eq!(found(&files), ["3 files import each other in a circle: a, b, c (a → b, b → c, c → a)"]);
    }
}

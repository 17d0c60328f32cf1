//! The console: its built files, which are part of the program, and which addresses are its pages. Must not know what the pages show: they ask
//! the API as any other program does.

mod files;

pub use files::FILES;

/// The page behind every address of the console. It holds no data and no script, and names the files.
pub const PAGE: &str = include_str!("../assets/console/index.html");

/// Pages that are not about one run, task or drive.
const PAGES: [&str; 16] = [
    "/",
    "/order",
    "/schedules",
    "/tasks",
    "/runs",
    "/compare",
    "/history",
    "/audit",
    "/import",
    "/drives",
    "/monitoring",
    "/journal",
    "/suites",
    "/settings",
    "/tokens",
    "/changes",
];

/// Media type and content of a file of the console. Its name changes with its content.
pub fn file(path: &str) -> Option<(&'static str, &'static str)> {
    FILES.iter().find(|(known, ..)| *known == path).map(|(_, media, text)| (*media, *text))
}

/// Whether a path is a page of the console.
pub fn is_page(path: &str) -> bool {
    let named = ["/runs/", "/tasks/", "/drives/"].iter().find_map(|of| path.strip_prefix(of));
    PAGES.contains(&path) || named.is_some_and(|name| !name.is_empty() && !name.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_names_every_file_and_no_other_and_has_no_script_or_style_inside() {
        let named: Vec<&str> = PAGE.split('"').filter(|part| part.starts_with("/assets/")).collect();
        assert!(named.iter().all(|name| *name == "/assets/icon.svg" || file(name).is_some()), "{named:?}");
        assert!(FILES.iter().all(|(name, ..)| named.contains(name)), "{named:?}");
        assert!(!PAGE.contains("<style") && !PAGE.contains("style=") && !PAGE.contains("://"));
        assert_eq!(PAGE.matches("<script").count(), PAGE.matches("<script type=\"module\" crossorigin src=").count());
    }

    #[test]
    fn no_file_asks_another_machine_or_needs_more_than_the_policy_of_the_server_allows() {
        for (name, _, text) in FILES {
            // Names of XML and of messages of libraries are no addresses that are asked.
            let asked = ["src=\"http", "url(http", "url(//", "fetch(\"http", "@import", "eval(", "new Function("];
            assert!(asked.iter().all(|word| !text.contains(word)), "{name}");
        }
    }

    #[test]
    fn only_pages_of_the_console_are_pages_of_the_console() {
        assert!(["/", "/runs/R-1", "/tasks/a", "/drives/nvme0n1"].into_iter().all(is_page));
        for other in ["", "//", "//x", "/runs/", "/runs/a/b", "/api", "/login", "/x", "runs", "/compare/", "https://x/"]
        {
            assert!(!is_page(other), "{other}");
        }
    }

    #[test]
    fn the_server_answers_at_every_address_that_the_console_knows() {
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/src/App.svelte");
        let source = std::fs::read_to_string(source).unwrap();
        let shown = source.lines().filter_map(|line| line.trim().split_once("path() === \"")?.1.split_once('"'));
        let shown: std::collections::BTreeSet<&str> = shown.map(|(path, _)| path).collect();
        assert_eq!(shown, PAGES.into_iter().collect());
    }
}

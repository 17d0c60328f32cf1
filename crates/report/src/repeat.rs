//! The command that makes a run again: what was typed, with the seed that was drawn and without the names of files that are there now.

use stend_record::RunHeader;

/// Options that name what the run wrote: a second one has its own.
const OUTPUT: [&str; 3] = ["-o", "--output", "--junit"];
/// Words with which a command line has its seed, or takes it from elsewhere.
const SEEDED: [&str; 3] = ["--seed", "--order", "--resume"];

/// The words of a command that asks for the same plan: the same I/Os in the same order. The run file gets a name of its own.
pub fn command(header: &RunHeader) -> Vec<String> {
    let mut words = Vec::new();
    let mut given = header.command_line.iter();
    while let Some(word) = given.next() {
        if OUTPUT.contains(&word.as_str()) {
            given.next();
        } else if !["-o", "--output=", "--junit="].iter().any(|option| word.starts_with(option)) {
            words.push(word.clone());
        }
    }
    let is = |word: &String, option: &str| {
        word.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    };
    let seeded = words.iter().any(|word| SEEDED.iter().any(|option| is(word, option)));
    if header.imported.is_none() && !seeded {
        words.extend(["--seed".to_string(), header.inputs.seed.to_string()]);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn again(line: &str) -> String {
        let mut header = fixture::run().header;
        header.inputs.seed = 7;
        header.command_line = line.split(' ').map(String::from).collect();
        command(&header).join(" ")
    }

    #[test]
    fn the_seed_is_added_and_the_name_of_the_file_left_out() {
        for named in ["-o a.stend", "--output a.stend", "--output=a.stend", "-oa.stend", "-o=a.stend"] {
            assert_eq!(again(&format!("stend run quick {named} --on /x")), "stend run quick --on /x --seed 7");
        }
        assert_eq!(again("stend run quick --expect x --junit g.xml"), "stend run quick --expect x --seed 7");
        for kept in ["--seed 9", "--seed=9", "--order o.json"] {
            assert_eq!(again(&format!("stend run quick {kept}")), format!("stend run quick {kept}"));
        }
    }

    #[test]
    fn the_command_of_another_tool_stays_as_it_is() {
        let mut header = fixture::run().header;
        header.imported = Some(Default::default());
        header.command_line = vec!["stend".into(), "import".into(), "x.json".into()];
        assert_eq!(command(&header), header.command_line);
    }
}

//! Any bytes as a file of jobs of another tool, which may include itself, and as a command line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use stend_spec::jobs::{World, command, files};

fuzz_target!(|bytes: &[u8]| {
    let lenient = bytes.len() % 2 == 0;
    let read = |_: &str| Ok(bytes.to_vec());
    let variable = |name: &str| (name.len() % 2 == 0).then(|| "4k".to_string());
    let world = World { read: &read, variable: &variable, lenient };
    if let Ok(imported) = files(&[("fuzzed".to_string(), bytes.to_vec())], &world) {
        let _ = (imported.text(stend_base::Lang::Ru), stend_spec::jobs::export::fio(&imported.suite));
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = command(&[text.to_string()], &world);
    }
});

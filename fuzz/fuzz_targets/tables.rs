//! Any bytes as a table of published numbers.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = stend_import::read(bytes, "fuzzed.csv");
});

//! Any bytes as a file of results: whatever form they look like, they are read or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use stend_import::{File, results};

fuzz_target!(|bytes: &[u8]| {
    let _ = results(&[File { name: "fuzzed", bytes }]);
});

//! Any bytes as each kind of fio's logs.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::io::{Cursor, Read};
use stend_import::fio::log;

fuzz_target!(|bytes: &[u8]| {
    for kind in ["lat", "clat", "clat_hist"] {
        let open = |_: &str| Ok(Box::new(Cursor::new(bytes.to_vec())) as Box<dyn Read>);
        let _ = log::read(&[format!("fuzzed_{kind}.1.log")], &open, &mut |_| ());
    }
});

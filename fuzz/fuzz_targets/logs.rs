//! Any bytes as each kind of fio's logs.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::io::{Cursor, Read};
use stend_import::fio::log;

fuzz_target!(|bytes: &[u8]| {
    for kind in ["lat", "clat", "clat_hist", "iops"] {
        let open = |_: &str| Ok(Box::new(Cursor::new(bytes.to_vec())) as Box<dyn Read>);
        let _ = log::read(&[format!("fuzzed_{kind}.1.log")], &open, &mut |_| ());
    }
    // Averages: the bytes from their begin, from a third and from two thirds on as the logs that are needed for them.
    let names = ["iops", "bw", "lat"].map(|kind| format!("averaged_{kind}.1.log"));
    let part = |name: &str| names.iter().position(|own| own == name).unwrap_or(0) * bytes.len() / 3;
    let open = |name: &str| {
        let from = part(name);
        let own = bytes[from..].to_vec();
        Ok(Box::new(Cursor::new(own)) as Box<dyn Read>)
    };
    let _ = log::read(&names, &open, &mut |_| ());
});

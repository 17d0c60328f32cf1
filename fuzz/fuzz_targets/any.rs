//! Any bytes as what the target reads that `STEND_TARGET` names. One program for all of them, because building one takes minutes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static TARGET: LazyLock<&stend_untrusted::Target> = LazyLock::new(|| {
    let name = std::env::var("STEND_TARGET").unwrap_or_default();
    stend_untrusted::named(&name).unwrap_or_else(|| panic!("STEND_TARGET names no target: `{name}`"))
});

fuzz_target!(|bytes: &[u8]| (TARGET.run)(bytes));

//! The promises about data, kept on real devices and files. Device tests need root and the tools that
//! `make setup` installs.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests: a failure must stop the test, a skip must be seen"
)]

mod arms;
mod bench;
mod checks;
mod claims;
mod devices;
mod files;
mod holders;
mod members;

//! The engine as a whole, on real files and devices.

mod append;
mod broken;
mod devices;
mod durability;
mod erasing;
mod files;
mod io_log;
mod mixtures;
mod numa;
mod open;
mod places;
mod replay;
pub(crate) mod support;

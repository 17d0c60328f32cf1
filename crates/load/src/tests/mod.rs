//! The engine as a whole, on real files and devices.

mod devices;
mod files;
mod mixtures;
mod open;
pub(crate) mod support;

//! Namespaces of NVMe formatted to another logical block. The device stays what it is, empty; what its blocks were before is noted, and
//! `down` formats it back.
//!
//! Source: NVM Express, command Format NVM; nvme-format(1) of nvme-cli 2.13.

use super::super::product::Product;
use super::{Made, StepContext};
use crate::change::{Action, Change, Condition, LayerDevice};
use serde_json::Value;
use std::path::Path;
use stend_base::{Error, Result, say};

/// Each device with logical blocks of so many bytes.
pub(super) fn formatted(context: &StepContext, bytes: u32) -> Made {
    let mut made = Made::default();
    for (index, device) in context.paths().enumerate() {
        let of = LayerDevice { layer: context.layer.name.clone(), index: index as u32, device: device.to_string() };
        made.steps.push(Change {
            what: say!(
                "format {device} to logical blocks of {bytes} bytes",
                "отформатировать {device} под логические блоки по {bytes} байт"
            ),
            erases: vec![device.to_string()],
            done: Condition::Blocks { device: device.to_string(), bytes },
            undo: vec![(Condition::Noted(noted(&of)), Action::BlocksBack { of: of.clone() })],
            apply: vec![Action::Blocks { of, bytes }],
            wait: None,
        });
        made.products.push(Product::Drive(device.to_string()));
    }
    made
}

/// Under which name the journal keeps what the blocks of a device were. No path of a setting begins so.
pub(crate) fn noted(of: &LayerDevice) -> String {
    format!("blocks of {}/{}", of.layer, of.index + 1)
}

/// Refuses what cannot be formatted so: another kind of drive, and a namespace that lacks such blocks without metadata.
///
/// `sysfs` is its directory there; `identify` has the namespace identified by `nvme id-ns`, as JSON.
pub(crate) fn must_take(
    sysfs: &Path,
    device: &str,
    bytes: u32,
    identify: impl FnOnce() -> Result<String>,
) -> Result<()> {
    if !sysfs.join("nsid").exists() {
        return Err(Error::preflight(say!(
            "`{device}` is not an NVMe namespace",
            "`{device}` — не пространство имён NVMe"
        ))
        .hint(say!(
            "formatting other drives takes hours; do it yourself with `sg_format` and leave the layer `sectors` out",
            "форматирование других накопителей длится часами; выполните его сами (`sg_format`) и уберите слой `sectors`"
        )));
    }
    let offered = offered(&identify()?);
    if offered.contains(&bytes) {
        return Ok(());
    }
    let shown: Vec<String> = offered.iter().map(u32::to_string).collect();
    let shown = shown.join(", ");
    Err(Error::preflight(say!(
        "`{device}` has no logical blocks of {bytes} bytes without metadata; it has: {shown}",
        "у `{device}` нет логических блоков по {bytes} байт без метаданных; есть: {shown}"
    )))
}

/// Sizes of blocks without metadata that a namespace tells, bytes.
fn offered(identified: &str) -> Vec<u32> {
    let told: Value = serde_json::from_str(identified).unwrap_or_default();
    let formats = told["lbafs"].as_array().into_iter().flatten();
    // The size is given as a power of two; 0 is none.
    let size = |format: &Value| match (format["ms"].as_u64(), format["ds"].as_u64()) {
        (Some(0), Some(power @ 9..=16)) => Some(1 << power),
        _ => None,
    };
    let mut sizes: Vec<u32> = formats.filter_map(size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `nvme id-ns --output-format=json` of nvme-cli 2.13 tells an emulated namespace, shortened.
    const TOLD: &str = r#"{"nsze": 262144, "flbas": 0, "lbafs": [{"ms": 0, "ds": 9, "rp": 0}, {"ms": 8, "ds": 9, "rp": 0},
        {"ms": 0, "ds": 12, "rp": 0}, {"ms": 64, "ds": 12, "rp": 0}, {"ms": 0, "ds": 0, "rp": 0}]}"#;

    #[test]
    fn blocks_that_a_namespace_offers_without_metadata_are_read() {
        assert_eq!(offered(TOLD), [512, 4096]);
        assert_eq!(offered("no JSON"), [0; 0]);
    }

    #[test]
    fn what_is_no_namespace_or_lacks_such_blocks_is_refused_before_anything_is_done() {
        let tree = tempfile::tempdir().unwrap();
        let error = must_take(tree.path(), "/dev/sda", 4096, || Ok(TOLD.into())).unwrap_err();
        assert!(error.message.en.contains("`/dev/sda` is not an NVMe namespace"), "{error}");
        std::fs::write(tree.path().join("nsid"), "1\n").unwrap();
        must_take(tree.path(), "/dev/nvme0n1", 4096, || Ok(TOLD.into())).unwrap();
        let only = TOLD.replace("12", "9");
        let error = must_take(tree.path(), "/dev/nvme0n1", 4096, || Ok(only)).unwrap_err();
        assert!(
            error.message.en.contains("no logical blocks of 4096 bytes") && error.message.en.ends_with("it has: 512")
        );
    }
}

//! `fill`: how much is written before the first trial.

use super::{Map, bytes};
use crate::keys;
use crate::suite::Fill;
use crate::yaml::{Node, Value};
use stend_base::{Result, say};

/// How much; `None`: nothing.
pub(super) fn fill(node: &Node) -> Result<Option<Fill>> {
    if let Value::Text(word) = &node.value
        && word == "none"
    {
        return Ok(None);
    }
    let mut map = Map::of(node, &keys::FILL)?;
    let size = map.required("size", |node| match &node.value {
        Value::Text(word) if word == "auto" => Ok(Fill::Auto),
        _ => bytes(node).and_then(|size| {
            if !keys::FILL_SIZE.hold(&size) {
                return Err(node.error(say!("a fill is at least 1 MiB", "заполнение не бывает меньше 1 МиБ")));
            }
            Ok(Fill::Size(size))
        }),
    })?;
    map.finish()?;
    Ok(Some(size))
}

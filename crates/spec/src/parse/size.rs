//! Sizes: one, a list of them as an axis, or a mapping of sizes to shares.

use super::{axis, bytes, whole};
use crate::keys;
use crate::workload::BlockShare;
use crate::yaml::{Key, Node, Value};
use stend_base::{Bytes, Result, say};

/// Sizes as an axis, or one mixture of them.
pub(super) fn block_sizes(node: &Node) -> Result<(Vec<Bytes>, Vec<BlockShare>)> {
    let Value::Map(pairs) = &node.value else { return Ok((axis(node, block_size)?, Vec::new())) };
    let mix = mixture("block_size", node, pairs, block_size)?;
    Ok((mix.last().map(|share| share.size).into_iter().collect(), mix))
}

/// The mapping `pairs` of sizes, each read by `one`, to shares; smallest first. `key` names it in errors.
pub(super) fn mixture(
    key: &str,
    node: &Node,
    pairs: &[(Key, Node)],
    one: impl Fn(&Node) -> Result<Bytes>,
) -> Result<Vec<BlockShare>> {
    let mut mix = Vec::new();
    for (size, share) in pairs {
        let size = one(&Node { at: size.at.clone(), value: Value::Text(size.name.clone()) })?;
        mix.push(BlockShare { size, percent: whole(share, keys::SIZE_PERCENT)? as u8 });
    }
    mix.sort_by_key(|share| share.size);
    let sum: u32 = mix.iter().map(|share| u32::from(share.percent)).sum();
    if sum != 100 {
        return Err(node.error(say!(
            "the shares of `{key}` are percent and add up to {sum}, not to 100",
            "доли в `{key}` указаны в процентах и дают в сумме {sum}, а не 100"
        )));
    }
    let smallest = mix.first().map_or(1, |share| share.size.0);
    let whole_and_once = |pair: &[BlockShare]| pair[0].size != pair[1].size && pair[1].size.0.is_multiple_of(smallest);
    if !mix.windows(2).all(whole_and_once) {
        return Err(node.error(say!(
            "the sizes of a mixture differ, and each is a multiple of the smallest",
            "размеры в смеси различны, и каждый кратен наименьшему"
        )));
    }
    Ok(mix)
}

fn block_size(node: &Node) -> Result<Bytes> {
    let size = bytes(node)?;
    if !keys::BLOCK_SIZE.hold(&size) || size.0 % keys::BLOCK_UNIT != 0 {
        return Err(
            node.error(say!("a block is a multiple of 512 B, at most 64 MiB", "блок кратен 512 Б и не больше 64 МиБ"))
        );
    }
    Ok(size)
}

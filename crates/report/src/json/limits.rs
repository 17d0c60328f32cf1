//! The table of limits for machines.

use serde::Serialize;
use stend_analyse::findings::CheckId;
use stend_analyse::limits::list;
use stend_base::Say;

/// One limit for machines.
#[derive(Serialize)]
pub struct LimitOut {
    /// Name of the constant.
    key: &'static str,
    /// Numbers of the checks that it decides; none of caveats, intervals and comparisons.
    checks: Vec<&'static str>,
    /// What is limited.
    meaning: Say,
    /// The limit with its unit.
    value: Say,
}

/// Every limit, in the order in which reports print them.
pub fn limits() -> Vec<LimitOut> {
    let one = |limit: list::Limit| LimitOut {
        key: limit.key,
        checks: CheckId::codes(limit.checks),
        meaning: limit.meaning,
        value: limit.value.say(),
    };
    list::all().into_iter().map(one).collect()
}

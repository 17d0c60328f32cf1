//! How the data of a job are verified.

use super::expected::Expected;
use super::ledger::account::Account;
use std::sync::Arc;

/// How the data of a job are verified.
#[derive(Debug, Clone)]
pub(crate) struct Check {
    /// What every block of its area may hold.
    pub expected: Arc<Expected>,
    /// After the window: the blocks to be read back, in this order.
    pub listed: Option<Arc<[u64]>>,
    /// Where its writes are kept for the judgement of a crash, if they are.
    pub account: Option<Account>,
}

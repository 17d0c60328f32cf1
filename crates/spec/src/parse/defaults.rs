//! `defaults`: settings that a case takes over or has for itself. Must not know what cases do.

use super::{Map, boolean, io_log, prober, ramp, steady, window, word};
use crate::keys;
use crate::prober::ProberKey;
use crate::steady::Steady;
use crate::workload::{Backend, Engine, Pages};
use crate::yaml::Node;
use stend_base::{Bytes, Nanos, Result};

/// What holds for every case that does not say it for itself.
#[derive(Debug, Clone)]
pub(super) struct Defaults {
    pub direct: bool,
    pub pages: Pages,
    /// As named; see [`RAMP`] and [`WINDOW`].
    pub ramp: Option<Nanos>,
    pub window: Option<Nanos>,
    pub backend: Backend,
    pub engine: Engine,
    pub io_log: Option<Bytes>,
    pub prober: ProberKey,
    pub steady: Option<Steady>,
}

/// Where neither a case nor `defaults` say it.
pub(super) const RAMP: Nanos = Nanos::secs(1);
pub(super) const WINDOW: Nanos = Nanos::secs(3);

impl Default for Defaults {
    fn default() -> Self {
        let (backend, engine) = (Backend::Auto, Engine::Native);
        let prober = ProberKey::Auto;
        let (direct, pages) = (true, Pages::Ordinary);
        Defaults { direct, pages, ramp: None, window: None, backend, engine, io_log: None, prober, steady: None }
    }
}

impl Defaults {
    /// `defaults`.
    pub fn parse(node: &Node) -> Result<Defaults> {
        let mut map = Map::of(node, &keys::DEFAULTS)?;
        let settings = Defaults::default().overridden(&mut map)?;
        map.finish()?;
        Ok(settings)
    }

    /// The settings that a case may repeat from `defaults`.
    pub fn overridden(&self, map: &mut Map) -> Result<Defaults> {
        Ok(Defaults {
            direct: map.optional("direct", boolean)?.unwrap_or(self.direct),
            pages: map.optional("pages", |node| word(node, keys::pages::PAGES))?.unwrap_or(self.pages),
            ramp: map.optional("ramp", ramp)?.or(self.ramp),
            window: map.optional("trial", window)?.or(self.window),
            backend: map.optional("backend", |node| word(node, keys::BACKENDS))?.unwrap_or(self.backend),
            engine: map.optional("engine", |node| word(node, keys::ENGINES))?.unwrap_or(self.engine),
            io_log: map.optional("io_log", io_log::io_log)?.unwrap_or(self.io_log),
            prober: map.optional("prober", prober::prober)?.unwrap_or(self.prober),
            steady: map.optional("steady", steady::steady)?.unwrap_or(self.steady),
        })
    }
}

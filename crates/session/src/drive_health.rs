//! What the drives of this host said of themselves last, for a live view. A drive that hangs is missing in it, and holds up nothing.

use crate::descriptions::Descriptions;
use crate::device_news::DeviceNews;
use std::collections::BTreeMap;
use std::path::Path;
use stend_base::{Nanos, Result};
use stend_record::{EventKind, Health};

/// Follows the drives of a host.
pub struct DriveHealth {
    descriptions: Descriptions,
    news: DeviceNews,
    known: BTreeMap<String, Health>,
}

impl DriveHealth {
    /// That of the host that this process runs on, whose drives are asked from now on as often as for a recording.
    ///
    /// Errors: kind `Preflight` if no thread can be started.
    pub fn of_this_host() -> Result<DriveHealth> {
        let descriptions = Descriptions::of_this_host()?;
        Ok(DriveHealth { descriptions, news: DeviceNews::new(Path::new("/")), known: BTreeMap::new() })
    }

    /// Takes what is new. With `have_changed` drives came or went, and the host is described anew.
    pub fn look(&mut self, now: Nanos, have_changed: bool) {
        if have_changed {
            self.descriptions.ask();
        }
        if let Some(host) = self.descriptions.take() {
            self.news.meet(&host);
            let devices = || host.targets.iter().flat_map(|target| &target.devices);
            self.known.retain(|name, _| devices().any(|device| device.name == *name));
        }
        for news in self.news.take(now) {
            if let EventKind::DriveHealth { drives } = news.kind {
                self.known.extend(drives);
            }
        }
    }

    /// What each said, by kernel name.
    pub fn known(&self) -> &BTreeMap<String, Health> {
        &self.known
    }
}

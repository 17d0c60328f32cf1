//! Stands over several hosts: those with drives hand out what is built on them, others take it in, build on it, and one is measured.

use super::{DriveRef, IscsiTransport, Kind, Layer, Ref, Stand, Transport};

/// A host of a stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandHost {
    /// Name in the file.
    pub name: String,
    /// Addresses by which the others reach it, at least one; paths of an export take them in turn.
    pub addresses: Vec<String>,
}

impl Kind {
    /// Whether it hands out what lies below it, and takes that in again.
    pub fn is_export(&self) -> bool {
        matches!(self, Kind::NvmeOf(_) | Kind::Iscsi(_) | Kind::Nbd | Kind::Nfs(_))
    }

    /// Whether two hosts keep it together, each on devices of its own.
    pub fn is_mirror(&self) -> bool {
        matches!(self, Kind::Drbd(_))
    }

    /// Whether it goes over RDMA, and there has to be a card for that where several hosts have it.
    pub fn needs_card(&self) -> bool {
        match self {
            Kind::NvmeOf(settings) => settings.transport == Transport::Rdma && !settings.soft_roce,
            Kind::Iscsi(settings) => settings.transport == IscsiTransport::Iser && !settings.soft_roce,
            _ => false,
        }
    }
}

impl Layer {
    /// The host on which what it makes is found: of an export the one that takes it in, of a mirror its primary.
    pub fn found_on(&self) -> Option<&str> {
        self.to.as_deref().or(self.host.as_deref())
    }
}

impl Stand {
    /// The part of it that one of its hosts has. A stand of one host stays as it is.
    #[must_use]
    pub fn on(mut self, host: Option<&str>) -> Stand {
        self.here = host.filter(|host| self.hosts.iter().any(|known| known.name == *host)).map(str::to_string);
        self
    }

    /// Whether this host is meant; every one is where there is only one, or all are looked at together.
    fn is_here(&self, host: Option<&str>) -> bool {
        self.here.is_none() || self.here.as_deref() == host
    }

    /// Whether this host hands out what a layer lies on, or is the peer of a mirror.
    pub fn hands_out(&self, layer: &Layer) -> bool {
        self.is_here(layer.host.as_deref())
    }

    /// Whether what a layer makes is found on this host.
    pub fn takes_in(&self, layer: &Layer) -> bool {
        self.is_here(layer.found_on())
    }

    /// The layers of which this host has something to build, from the drives up.
    pub fn layers_here(&self) -> impl DoubleEndedIterator<Item = &Layer> {
        self.layers.iter().filter(|layer| self.hands_out(layer) || self.takes_in(layer))
    }

    /// The drives of this host.
    pub fn drives_here(&self) -> impl Iterator<Item = &DriveRef> {
        self.drives.iter().filter(|drive| self.is_here(drive.host.as_deref()))
    }

    /// The host on which what a name stands for is found.
    pub fn host_of(&self, of: &Ref) -> Option<&str> {
        match self.layer(&of.name) {
            Some(layer) => layer.found_on(),
            None => self.drives.iter().find(|drive| drive.name == of.name)?.host.as_deref(),
        }
    }

    /// Whether this host has what is measured.
    pub fn is_measured_here(&self) -> bool {
        self.targets.iter().any(|of| self.is_here(self.host_of(of)))
    }

    /// The host that is measured; `None`: there is only one.
    pub fn measured(&self) -> Option<&str> {
        self.targets.first().and_then(|of| self.host_of(of))
    }

    /// What this host has of what is measured: where that is on another one, what is handed out.
    pub fn targets_here(&self) -> Vec<&Ref> {
        if self.is_measured_here() {
            return self.targets.iter().collect();
        }
        let exports = self.layers.iter().filter(|layer| layer.to.is_some() && self.hands_out(layer));
        exports.flat_map(|layer| self.below_here(layer)).collect()
    }

    /// What a layer lies on of this host: a mirror lies on devices of two, and each of them has its own.
    pub fn below_here<'a>(&'a self, layer: &'a Layer) -> impl Iterator<Item = &'a Ref> {
        layer.on.iter().filter(|of| !layer.kind.is_mirror() || self.is_here(self.host_of(of)))
    }

    /// Addresses of this host, by which the others reach it; none where there is only one.
    pub fn addresses_here(&self) -> &[String] {
        let here = self.here.as_deref();
        here.map_or(&[], |here| self.addresses_of(here))
    }

    /// Addresses of a host of this name.
    pub fn addresses_of(&self, name: &str) -> &[String] {
        self.hosts.iter().find(|host| host.name == name).map_or(&[], |host| &host.addresses)
    }

    /// Names of the hosts in the order in which they are built: a host comes after those from which it takes something in, and the primary
    /// of a mirror after its peer. `None` where two wait for each other.
    pub fn hosts_from_below(&self) -> Option<Vec<&str>> {
        let mut left: Vec<&str> = self.hosts.iter().map(|host| host.name.as_str()).collect();
        let mut order = Vec::new();
        while !left.is_empty() {
            let waits = |host: &str| {
                let takes = |layer: &&Layer| layer.to.as_deref() == Some(host);
                self.layers
                    .iter()
                    .filter(takes)
                    .any(|layer| left.iter().any(|other| layer.host.as_deref() == Some(*other)))
            };
            let at = left.iter().position(|host| !waits(host))?;
            order.push(left.remove(at));
        }
        Some(order)
    }
}

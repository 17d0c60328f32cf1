//! Stands of two hosts: one has the drives and hands out what is built on them, the other takes it in and is measured.

use super::{IscsiTransport, Kind, Layer, Ref, Stand, Transport};
use serde::{Deserialize, Serialize};

/// Addresses of two hosts that reach each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Across {
    /// Address of the host with the drives.
    pub storage: String,
    /// Address of the host that is measured.
    pub client: String,
}

/// One of the two hosts of a stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The one with the drives.
    Storage,
    /// The one that is measured.
    Client,
}

impl Kind {
    /// Whether it hands out what lies below it, and takes that in again.
    pub fn is_export(&self) -> bool {
        matches!(self, Kind::NvmeOf(_) | Kind::Iscsi(_) | Kind::Nbd | Kind::Nfs(_))
    }

    /// Whether it goes over RDMA, and there has to be a card for that where two hosts have it.
    pub fn needs_card(&self) -> bool {
        match self {
            Kind::NvmeOf(settings) => settings.transport == Transport::Rdma && !settings.soft_roce,
            Kind::Iscsi(settings) => settings.transport == IscsiTransport::Iser && !settings.soft_roce,
            _ => false,
        }
    }
}

impl Stand {
    /// The part of it that one of its hosts has. A stand of one host stays as it is.
    #[must_use]
    pub fn on(mut self, side: Option<Side>) -> Stand {
        self.side = side.filter(|_| self.across.is_some());
        self
    }

    /// Index of the layer that one host hands out and the other takes in; `None`: there is only one host.
    pub fn border(&self) -> Option<usize> {
        self.across.as_ref()?;
        self.layers.iter().position(|layer| layer.kind.is_export())
    }

    /// The layers of which this host has something to build, from the drives up.
    pub fn layers_here(&self) -> &[Layer] {
        match (self.side, self.border()) {
            (Some(Side::Storage), Some(border)) => &self.layers[..=border],
            (Some(Side::Client), Some(border)) => &self.layers[border..],
            _ => &self.layers,
        }
    }

    /// What this host has of what is measured: with the drives, that is what is handed out.
    pub fn targets_here(&self) -> &[Ref] {
        match (self.side, self.border()) {
            (Some(Side::Storage), Some(border)) => &self.layers[border].on,
            _ => &self.targets,
        }
    }

    /// Address of this host, by which the other one reaches it; `None`: there is only one.
    pub fn address_here(&self) -> Option<&str> {
        let hosts = self.across.as_ref()?;
        match self.side? {
            Side::Storage => Some(&hosts.storage),
            Side::Client => Some(&hosts.client),
        }
    }

    /// Whether the drives are of this host.
    pub fn has_drives(&self) -> bool {
        self.side != Some(Side::Client)
    }

    /// Whether what is handed out is taken in by this host.
    pub fn takes_in(&self) -> bool {
        self.side != Some(Side::Storage)
    }
}

//! Secrets of a machine as `stend inspect` and a recording know it: drives by their labels, pools, ports, interfaces that are named after
//! their address.

use super::{Redaction, Secret, words};
use crate::inventory::Inventory;
use crate::parts::Parts;
use crate::sample::Sample;
use stend_base::Result;

impl Redaction {
    /// Learns the secrets of a host with its drives.
    ///
    /// Errors: `Bug` if a part of it cannot be looked through.
    pub fn learn_inventory(&mut self, inventory: &Inventory) -> Result<()> {
        let host = &inventory.host;
        self.learn(Secret::Host, &host.hostname);
        self.learn(Secret::Boot, &host.boot_id);
        self.learn(Secret::CommandLine, &host.kernel_command_line);
        for line in &inventory.devices {
            let fabric = line.fabric.iter().flat_map(|path| [&path.port, &path.remote_port]).flatten();
            let identities = line.device.identity.as_deref().map(words::secret_part).into_iter();
            for identity in identities.chain(line.serial.as_deref()).chain(fabric.map(String::as_str)) {
                self.learn(Secret::Identity, identity);
            }
            std::iter::once(&line.path).chain(&line.mounted).for_each(|path| self.learn_path(path));
            for label in line.signatures.iter().filter_map(|signature| signature.label.as_deref()) {
                self.learn(Secret::Label, label);
            }
        }
        self.learn_parts(&inventory.parts);
        self.scan(inventory)
    }

    /// Learns names of pools: those of btrfs are UUIDs, those of ZFS are chosen as labels are.
    pub(super) fn learn_parts(&mut self, parts: &Parts) {
        parts.pools.iter().for_each(|pool| self.learn(Secret::Label, &pool.name));
    }

    /// Learns what a sample has of secrets, which no other part of a recording names.
    pub fn learn_sample(&mut self, sample: &Sample) {
        sample.parts.iter().for_each(|parts| self.learn_parts(parts));
        for mount in sample.nfs.iter().flat_map(|nfs| &nfs.mounts) {
            // An address may have colons itself; the path begins with a slash.
            let (host, path) = mount.export.split_once(":/").unwrap_or((&mount.export, ""));
            self.learn_name(host);
            [&mount.at, &format!("/{path}")].into_iter().for_each(|path| self.learn_path(path));
        }
        for network in sample.networks.iter().flatten().filter(|network| is_address(&network.name)) {
            self.learn(Secret::Address, &network.name);
        }
    }

    /// Learns what a problem of the journal concerns, by the stable word of its rule: perhaps no sample that is left names it. Other rules
    /// concern hosts, which are known, or kernel names.
    pub fn learn_object(&mut self, rule: &str, object: &str) {
        match rule {
            "pool_unhealthy" => self.learn(Secret::Label, object),
            "port_errors" if is_address(object) => self.learn(Secret::Address, object),
            "nfs_silent" => self.learn_path(object),
            _ => {}
        }
    }

    /// Learns interfaces that are named after their address.
    pub fn learn_ports(&mut self, ports: &[String]) {
        ports.iter().filter(|name| is_address(name)).for_each(|name| self.learn(Secret::Address, name));
    }

    /// Takes them out of a sample.
    pub fn sample(&self, sample: &mut Sample) {
        let parts = sample.parts.iter_mut();
        let pools = parts.flat_map(|parts| &mut parts.pools).map(|pool| &mut pool.name);
        let networks = sample.networks.iter_mut().flatten().map(|network| &mut network.name);
        let mounts = sample.nfs.iter_mut().flat_map(|nfs| &mut nfs.mounts);
        mounts.flat_map(|mount| [&mut mount.at, &mut mount.export]).for_each(|text| *text = self.text(text));
        pools.chain(networks).filter(|name| self.known.contains_key(*name)).for_each(|name| *name = self.text(name));
    }
}

/// Whether an interface is named after its address, as systemd does it with USB and wireless ones: `enx0017c8aabbcc`.
fn is_address(name: &str) -> bool {
    let digits = ["enx", "wlx", "wwx"].iter().find_map(|kind| name.strip_prefix(kind));
    digits.is_some_and(|digits| digits.len() == 12 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{Device, HostFacts, Signature, WriteAccess};
    use crate::inventory::{FabricPath, InventoryDevice};
    use crate::nfs::{Nfs, NfsMount};
    use crate::parts::PoolState;
    use crate::sample::NetworkCounters;

    fn pool() -> PoolState {
        PoolState { kind: "zfs".into(), name: "acmetank".into(), ..PoolState::default() }
    }

    fn inventory() -> Inventory {
        let fabric = FabricPath {
            port: Some("0x50014380aa".into()),
            remote_port: Some("0x50014380bb".into()),
            ..FabricPath::default()
        };
        let line = InventoryDevice {
            device: Device { name: "sda".into(), identity: Some("wwn:0x5000c500aa".into()), ..Device::default() },
            path: "/dev/mapper/acme-db".into(),
            serial: Some("S4EVNX0R".into()),
            logical_block: 512,
            physical_block: 4096,
            signatures: vec![Signature { name: "ext4".into(), offset: 1080, label: Some("backup-2026".into()) }],
            mounted: vec!["/srv/acme data".into()],
            access: WriteAccess::Confirm { identity: "wwn:0x5000c500aa".into(), signatures: Vec::new() },
            interrupt_cpus: Vec::new(),
            fabric: Some(fabric),
            health: None,
        };
        let host = HostFacts { hostname: "filer7".into(), boot_id: "b00t".into(), ..HostFacts::default() };
        Inventory { host, devices: vec![line], parts: Parts { pools: vec![pool()], ..Parts::default() } }
    }

    #[test]
    fn a_host_with_its_drives_keeps_no_secret_and_its_models() {
        let inventory = inventory();
        let mut redaction = Redaction::tagged("kfzm");
        redaction.learn_inventory(&inventory).unwrap();
        let found = serde_json::to_string(&redaction.part(&inventory).unwrap()).unwrap();
        let plain = serde_json::to_string(&inventory).unwrap();
        for secret in ["filer7", "b00t", "acme", "S4EVNX0R", "5000c500aa", "50014380", "backup-2026", "acmetank"] {
            assert!(plain.contains(secret), "the fixture lacks {secret}");
            assert!(!found.contains(secret), "{secret} in {found}");
        }
        assert!(found.contains("\"name\":\"sda\"") && found.contains("wwn:id-1-kfzm"), "{found}");
    }

    #[test]
    fn servers_exports_and_mount_points_of_nfs_are_taken_out_of_samples() {
        let mount = NfsMount { at: "/srv/acme".into(), export: "filer7:/vol/acme".into(), ..NfsMount::default() };
        let nfs = Some(Box::new(Nfs { mounts: vec![mount], server: None }));
        let mut sample = Sample { nfs, ..Sample::default() };
        let mut redaction = Redaction::tagged("kfzm");
        redaction.learn_sample(&sample);
        redaction.sample(&mut sample);
        let mount = &sample.nfs.unwrap().mounts[0];
        assert_eq!((mount.at.as_str(), mount.export.as_str()), ("/path-1-kfzm", "host-1-kfzm:/path-2-kfzm"));
    }

    #[test]
    fn pools_and_interfaces_named_after_their_address_are_taken_out_of_samples() {
        let network = |name: &str| NetworkCounters { name: name.into(), ..NetworkCounters::default() };
        let mut sample = Sample {
            parts: Some(Box::new(Parts { pools: vec![pool()], ..Parts::default() })),
            networks: Some(["eth0", "enx0017c8aabbcc", "enx1"].map(network).to_vec()),
            ..Sample::default()
        };
        let mut redaction = Redaction::tagged("kfzm");
        redaction.learn_sample(&sample);
        redaction.sample(&mut sample);
        let names: Vec<&str> = sample.networks.iter().flatten().map(|network| network.name.as_str()).collect();
        assert_eq!(names, ["eth0", "address-1-kfzm", "enx1"]);
        assert_eq!(sample.parts.unwrap().pools[0].name, "label-1-kfzm");
    }
}

//! Line rates of network interfaces: `/sys/class/net/*/speed`.

use super::names;
use crate::source::Source;
use std::path::Path;
use stend_record::parts::LineRate;

/// Files with the rates.
#[derive(Debug, Default)]
pub struct LineRates {
    speeds: Vec<(String, Source)>,
}

impl LineRates {
    /// All interfaces but the loopback.
    pub fn find(root: &Path) -> LineRates {
        let place = root.join("sys/class/net");
        let interfaces = names(&place).into_iter().filter(|name| name != "lo");
        let speeds = interfaces.map(|name| (name.clone(), Source::open(&place.join(name).join("speed"))));
        LineRates { speeds: speeds.filter(|(_, file)| file.exists()).collect() }
    }

    /// Rates of those that have one now: without a carrier, and where a hypervisor does not say, there is none.
    pub fn read(&mut self) -> Vec<LineRate> {
        let one = |(name, file): &mut (String, Source)| {
            let mbit_per_s = file.read()?.trim().parse::<u64>().ok().filter(|&rate| rate > 0 && rate < UNKNOWN)?;
            Some(LineRate { name: name.clone(), mbit_per_s })
        };
        self.speeds.iter_mut().filter_map(one).collect()
    }
}

/// The kernel's "unknown" of 32 bits, where it is printed without a sign.
const UNKNOWN: u64 = 0xffff_ffff;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_with_a_carrier_has_a_rate_and_others_have_none() {
        let dir = tempfile::tempdir().unwrap();
        let speeds = [("eth0", "25000\n"), ("eth1", "-1\n"), ("eth2", "4294967295\n"), ("lo", "10\n"), ("tun0", "")];
        for (name, speed) in speeds {
            let place = dir.path().join("sys/class/net").join(name);
            std::fs::create_dir_all(&place).unwrap();
            std::fs::write(place.join("speed"), speed).unwrap();
        }
        let told = LineRates::find(dir.path()).read();
        assert_eq!(told, [LineRate { name: "eth0".into(), mbit_per_s: 25_000 }]);
        assert_eq!(LineRates::find(Path::new("/absent")).read(), []);
    }
}

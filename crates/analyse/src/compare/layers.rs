//! The price of a layer: of two runs one of which lies on the stack of the other, what the layers in between cost or bring.

use super::{CaseComparison, Comparison, Doubt, LayerPrice, LayerRate, Metric, Pairing, RatioValue, base};
use crate::findings::Findings;
use stend_base::Bytes;
use stend_record::{Device, RunRecord, TargetFacts, TargetKind};

/// How identities begin that a drive has wherever it is; those of places and contents are also those of others.
const OF_HARDWARE: [&str; 2] = ["wwn:", "serial:"];

/// A lowest device.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Drive {
    name: String,
    /// Identity, model and size, if it is known wherever it is: serial numbers repeat, above all those of virtual disks.
    own: Option<(String, Option<String>, Bytes)>,
}

impl Drive {
    fn new(device: &Device) -> Drive {
        let of_hardware = |identity: &String| OF_HARDWARE.iter().any(|kind| identity.starts_with(kind));
        let identity = device.identity.clone().filter(of_hardware);
        let own = identity.map(|identity| (identity, device.model.clone(), device.size));
        Drive { name: device.name.clone(), own }
    }

    /// Whether it is the other one. A name says that only until the next boot.
    fn is(&self, other: &Drive, same_boot: bool) -> bool {
        match (&self.own, &other.own) {
            (Some(one), Some(other)) => one == other,
            _ => same_boot && self.name == other.name,
        }
    }
}

/// What a target consists of, from the drives up.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stack {
    drives: Vec<Drive>,
    layers: Vec<String>,
}

impl Stack {
    /// For all targets of a run; `None` where no device is visible, or they are of different kinds.
    fn of(targets: &[TargetFacts]) -> Option<Stack> {
        let mut all = targets.iter().map(Stack::of_one);
        let mut stack = all.next()??;
        for other in all {
            let other = other?;
            if other.layers != stack.layers {
                return None;
            }
            stack.drives.extend(other.drives);
        }
        stack.drives.sort();
        stack.drives.dedup();
        Some(stack)
    }

    fn of_one(target: &TargetFacts) -> Option<Stack> {
        // A partition is a part of its disk and does nothing by itself.
        let devices: Vec<_> = target.devices.iter().filter(|device| device.kind != "partition").collect();
        let deepest = devices.iter().map(|device| device.depth).max()?;
        let at = |depth: u32| devices.iter().filter(move |device| device.depth == depth);
        let mut layers = Vec::new();
        for depth in (0..=deepest).rev() {
            let mut kinds: Vec<&str> = at(depth).map(|device| device.kind.as_str()).collect();
            kinds.sort_unstable();
            kinds.dedup();
            layers.extend((!kinds.is_empty()).then(|| kinds.join("+")));
        }
        // A loop device on a file of the drive below is a layer over its file system, too, but that is not in the facts.
        let on_files = matches!(target.kind, TargetKind::File | TargetKind::Directory);
        layers.extend(target.file_system.clone().filter(|_| on_files));
        Some(Stack { drives: at(deepest).map(|device| Drive::new(device)).collect(), layers })
    }

    /// The layers that this stack has above the other; `None` if it does not stand on it.
    fn above(&self, other: &Stack, same_boot: bool) -> Option<&[String]> {
        let has = |drive: &Drive| self.drives.iter().any(|own| own.is(drive, same_boot));
        let stands = other.drives.iter().all(has);
        let more = self.layers.strip_prefix(other.layers.as_slice())?;
        (stands && !more.is_empty()).then_some(more)
    }
}

/// For every run that stands on another one: the price of what it has more than the one nearest to it.
pub(super) fn prices(runs: &[(&RunRecord, &Findings)], pairing: Pairing) -> Vec<LayerPrice> {
    let stacks: Vec<Option<Stack>> = runs.iter().map(|(record, _)| Stack::of(&record.load().targets)).collect();
    let boot = |run: usize| runs[run].0.load().facts.as_ref().map(|facts| &facts.boot_id).filter(|id| !id.is_empty());
    let same_boot = |one: usize, other: usize| boot(one).is_some() && boot(one) == boot(other);
    let mut found = Vec::new();
    for (above, stack) in stacks.iter().enumerate() {
        let Some(stack) = stack else { continue };
        let below = stacks.iter().enumerate().filter_map(|(i, other)| {
            let other = other.as_ref()?;
            Some((i, other.layers.len(), stack.above(other, same_boot(above, i))?))
        });
        // Among equally near ones the first on the command line.
        let nearest = below.reduce(|best, next| if next.1 > best.1 { next } else { best });
        let Some((below, _, layers)) = nearest else { continue };
        let pair = base(&[runs[below], runs[above]], pairing);
        let price = LayerPrice { below, above, layers: layers.join(" → "), rates: rates(&pair), mean: mean(&pair) };
        found.extend((!price.rates.is_empty()).then_some(price));
    }
    found.sort_by_key(|price| (stacks[price.above].as_ref().map(|stack| stack.layers.len()), price.above));
    found
}

fn rates(pair: &Comparison) -> Vec<LayerRate> {
    let one = |case: &CaseComparison| {
        let ratio = case.sides.get(1)?.as_ref()?.rate_ratio.as_ref()?;
        // What is not of the same thing has no price; the table says why.
        let is_void = matches!(ratio.judged.doubt, Some(Doubt::Failed(_) | Doubt::OtherWorkload));
        let (value, interval) = if is_void { (RatioValue::Unknown, None) } else { (ratio.value, ratio.interval) };
        Some(LayerRate { label: case.label.clone(), headline: case.headline, value, interval })
    };
    pair.cases.iter().filter_map(one).collect()
}

fn mean(pair: &Comparison) -> Option<(f64, Option<(f64, f64)>)> {
    let found = pair.means.iter().find(|mean| mean.metric == Metric::Rate)?;
    Some((found.value, found.interval))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse;
    use crate::compare::{Options, compare};
    use crate::fixture::{case, run_of};
    use stend_spec::workload::Sync;

    fn device(name: &str, kind: &str, depth: u32) -> Device {
        Device { name: name.into(), kind: kind.into(), depth, ..Device::default() }
    }

    /// A run on these devices, with a file system if one is named.
    fn on(devices: Vec<Device>, file_system: Option<&str>, iops: f64) -> RunRecord {
        let cases = vec![case("read", 100, 8, Sync::None), case("write", 0, 8, Sync::None)];
        let mut record = run_of(cases).six_blocks(&[iops, iops / 2.0]).record();
        record.load_mut().facts.as_mut().unwrap().boot_id = "one".into();
        let target = &mut record.load_mut().targets[0];
        target.devices = devices;
        target.kind = if file_system.is_some() { TargetKind::Directory } else { TargetKind::BlockDevice };
        target.file_system = file_system.map(String::from);
        record
    }

    fn prices_of(records: &[RunRecord]) -> Vec<(usize, usize, String, f64)> {
        let findings: Vec<Findings> = records.iter().map(|record| analyse(record).unwrap()).collect();
        let found = compare(&records.iter().zip(&findings).collect::<Vec<_>>(), &Options::default());
        let mean = |price: &LayerPrice| (price.mean.unwrap().0 * 100.0).round() / 100.0;
        found.layers.iter().map(|p| (p.below, p.above, p.layers.clone(), mean(p))).collect()
    }

    fn members() -> Vec<Device> {
        vec![device("sda", "disk", 1), device("sdb", "disk", 1)]
    }

    #[test]
    fn each_layer_is_priced_against_the_stack_right_below_it() {
        let md = || [vec![device("md0", "md", 0)], members()].concat();
        let lvm = [
            vec![device("dm-0", "dm", 0), device("md0", "md", 1)],
            vec![device("sda", "disk", 2), device("sdb", "disk", 2)],
        ];
        let records = [
            on(lvm.concat(), Some("ext4"), 13_500.0),
            on(vec![device("sda", "disk", 0)], None, 10_000.0),
            on(md(), None, 18_000.0),
            on(md(), Some("xfs"), 17_100.0),
        ];
        let expected = [(1, 2, "md".to_string(), 1.8), (2, 3, "xfs".into(), 0.95), (2, 0, "dm → ext4".into(), 0.75)];
        assert_eq!(prices_of(&records), expected);
    }

    #[test]
    fn other_drives_and_equal_stacks_have_no_price() {
        let plain = |name: &str| on(vec![device(name, "disk", 0)], None, 10_000.0);
        assert!(prices_of(&[plain("sda"), plain("sda")]).is_empty());
        let ext4 = on(vec![device("sdc", "disk", 0)], Some("ext4"), 9_000.0);
        assert!(prices_of(&[plain("sda"), ext4]).is_empty(), "the file system lies on another drive");
    }

    #[test]
    fn drives_of_other_machines_are_not_told_by_their_names() {
        let pair = |identities: [Option<&str>; 2], boots: [&str; 2]| {
            let drive = |identity: Option<&str>| {
                vec![Device { identity: identity.map(String::from), ..device("sda", "disk", 0) }]
            };
            let [below, above] = identities.map(drive);
            let mut both = [on(below, None, 10_000.0), on(above, Some("ext4"), 9_000.0)];
            for (record, boot) in both.iter_mut().zip(boots) {
                record.load_mut().facts.as_mut().unwrap().boot_id = boot.into();
            }
            prices_of(&both).len()
        };
        assert_eq!(pair([None, None], ["one", "one"]), 1);
        assert_eq!(pair([None, None], ["one", "two"]), 0, "the same name on another machine");
        assert_eq!(pair([None, None], ["", ""]), 0, "the machines are not known");
        assert_eq!(pair([Some("wwn:0x5"), Some("wwn:0x6")], ["one", "one"]), 0, "another drive in its place");
        assert_eq!(pair([Some("path:pci-0,1"), Some("path:pci-0,1")], ["one", "two"]), 0, "a place is no drive");
        // Names change at a boot, and an identity does not.
        let drive = |name: &str| Device { identity: Some("wwn:0x5".into()), ..device(name, "disk", 0) };
        let mut above = on(vec![drive("sdc")], Some("ext4"), 9_000.0);
        above.load_mut().facts.as_mut().unwrap().boot_id = "two".into();
        assert_eq!(prices_of(&[on(vec![drive("sda")], None, 10_000.0), above.clone()]).len(), 1);
        above.load_mut().targets[0].devices[0].model = Some("another".into());
        assert_eq!(prices_of(&[on(vec![drive("sda")], None, 10_000.0), above]).len(), 0, "serial numbers repeat");
    }

    #[test]
    fn a_case_with_a_failed_check_has_no_price() {
        let below = on(vec![device("sda", "disk", 0)], None, 10_000.0);
        let mut above = on(vec![device("sda", "disk", 0)], Some("ext4"), 9_000.0);
        for trial in above.trials.iter_mut().filter(|trial| trial.case == 0) {
            let op = stend_spec::workload::Op::Read;
            let error = stend_record::IoErrors { stream: 0, op, errno: 5, count: 3, first_offset: Some(0) };
            trial.outcome.as_mut().unwrap().errors.push(error);
        }
        let findings = [&below, &above].map(|record| analyse(record).unwrap());
        let found = compare(&[(&below, &findings[0]), (&above, &findings[1])], &Options::default());
        let rates = &found.layers[0].rates;
        assert_eq!((rates[0].label.as_str(), rates[0].value, rates[0].interval), ("read", RatioValue::Unknown, None));
        assert!(matches!(rates[1].value, RatioValue::At(ratio) if (ratio - 0.9).abs() < 0.01), "{rates:?}");
    }

    #[test]
    fn a_partition_is_no_layer() {
        let part = vec![device("sda1", "partition", 0), device("sda", "disk", 1)];
        let records = [on(part, Some("ext4"), 9_000.0), on(vec![device("sda", "disk", 0)], None, 10_000.0)];
        assert_eq!(prices_of(&records), [(1, 0, "ext4".to_string(), 0.9)]);
    }
}

//! H61: was the network the limit of a target that lies behind one, or did it lose packets?

use super::stretch::{self, Stretch, stretches};
use super::{Check, too_few_samples};
use crate::findings::{CheckId, CheckResult};
use crate::host_rates::of_ports;
use crate::limits::{LINE_RATE_REACHED, SENT_AGAIN};
use crate::trials::CaseTrials;
use stend_base::{Lang, Say, format, say, say_in};
use stend_record::sample::{NetworkCounters, TcpCounters};
use stend_record::{RunRecord, Sample, TargetFacts};

/// File systems that a network is below.
const FILE_SYSTEMS: [&str; 9] =
    ["nfs", "nfs4", "cifs", "smb3", "ceph", "fuse.glusterfs", "lustre", "beegfs", "fuse.sshfs"];
/// Kinds of block devices that a network is below.
const KINDS: [&str; 3] = ["nbd", "rbd", "drbd"];
/// Transports of drives that a network of the machine is below; Fibre Channel has one of its own, without interfaces.
const TRANSPORTS: [&str; 2] = ["tcp", "iscsi"];

/// What the interfaces did in the trials of a case.
#[derive(Debug, Clone, PartialEq, Default)]
struct Traffic {
    /// The interface that was nearest to its line rate, and how near; `None` where no rate is known.
    fullest: Option<(String, f64)>,
    /// Packets that interfaces had no room for.
    drops: u64,
    /// TCP segments sent again, of those sent; `None` if none were sent.
    again: Option<f64>,
}

impl Traffic {
    /// Whether data were lost on their way. An interface also drops frames that no program here waits for, such as those of protocols that
    /// the machine does not speak: while TCP sends nothing again they are no loss.
    fn is_lossy(&self) -> bool {
        let drops = self.drops > 0;
        self.again.map_or(drops, |share| share > SENT_AGAIN || drops && share > 0.0)
    }
}

/// H61: line rate, segments sent again, drops.
pub fn network(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    let check = Check {
        id: CheckId::H61,
        limit: say!(
            |l| "≤ {r} of the line rate, sent again ≤ {a}, none beside drops",
            "≤ {r} скорости канала, повторов ≤ {a}, при отброшенных — ни одного",
            r = format::percent(LINE_RATE_REACHED, l),
            a = format::percent(SENT_AGAIN, l)
        ),
    };
    if !is_over_network(run) {
        return check.not_applicable(say!("No target lies behind a network.", "Ни один объект не находится за сетью."));
    }
    if case.counting.is_empty() {
        return check.no_trials();
    }
    let Some(found) = traffic(run, &stretches(run, case)) else { return check.not_measurable(too_few_samples()) };
    let measured = Say::both(|l| in_words(&found, l));
    if found.fullest.as_ref().is_some_and(|(_, share)| *share > LINE_RATE_REACHED) {
        return check.measured(measured).warn(full());
    }
    if found.is_lossy() {
        return check.measured(measured).warn(lost());
    }
    if found.fullest.is_none() {
        return check.not_measurable(Say::both(|l| {
            let what = l.pick(
                "no interface reports its line rate (usual in a virtual machine); otherwise: ",
                "скорость канала не известна ни у одного интерфейса (обычно в виртуальной машине); остальное: ",
            );
            format!("{what}{}", measured.get(l))
        }));
    }
    check.pass(measured)
}

/// Whether a target lies behind a network of the machine.
pub(crate) fn is_over_network(run: &RunRecord) -> bool {
    run.load().targets.iter().any(is_remote)
}

/// Below a remote target: the interface that was nearest to its line rate while the load of a case ran, and how near.
pub(crate) fn fullest_interface(run: &RunRecord, case: &CaseTrials<'_>) -> Option<(String, f64)> {
    if !is_over_network(run) {
        return None;
    }
    traffic(run, &stretches(run, case))?.fullest
}

fn is_remote(target: &TargetFacts) -> bool {
    target.file_system.as_deref().is_some_and(|kind| FILE_SYSTEMS.contains(&kind))
        || target.devices.iter().any(|device| {
            let transport = device.transport.as_deref();
            KINDS.contains(&device.kind.as_str()) || transport.is_some_and(|t| TRANSPORTS.contains(&t))
        })
}

fn full() -> Say {
    say!(
        "The network was the limit: this is its line rate, not the storage behind it. Use a faster or a second link, or publish the number as that of the network.",
        "Пределом была сеть: это скорость канала, а не хранилища за ним. Возьмите канал быстрее или второй либо публикуйте число как скорость сети."
    )
}

fn lost() -> Say {
    say!(
        "Packets were lost and sent again, which shows as long latencies. Look at `ethtool -S`, pause frames, the MTU of both ends and the buffers of switches.",
        "Пакеты терялись и отправлялись заново, а это видно как длинные задержки. Посмотрите `ethtool -S`, кадры паузы, MTU обоих концов и буферы коммутаторов."
    )
}

fn traffic(run: &RunRecord, stretches: &[Stretch<'_>]) -> Option<Traffic> {
    let first = stretches.first()?.samples.first()?;
    let ports = of_ports(first.networks.as_ref()?, |network| &network.name, &run.load().ports);
    let names: Vec<&str> = ports.map(|network| network.name.as_str()).collect();
    let of = |name: &str, counter: fn(&NetworkCounters) -> u64| {
        let name = name.to_string();
        let one = move |sample: &Sample| Some(counter(sample.networks.as_ref()?.iter().find(|n| n.name == name)?));
        stretch::sum(stretches, |stretch| stretch.growth(&one))
    };
    let seconds = stretch::length(stretches).as_secs();
    let rates =
        run.load().samples.iter().filter_map(|sample| sample.parts.as_deref()).flat_map(|parts| &parts.line_rates);
    let rates: Vec<(&str, u64)> = rates.map(|rate| (rate.name.as_str(), rate.mbit_per_s)).collect();
    let share = |name: &&str| {
        let (_, mbit) = rates.iter().find(|(known, _)| known == name)?;
        let bytes = of(name, |n| n.received.bytes)?.max(of(name, |n| n.sent.bytes)?);
        Some((name.to_string(), bytes as f64 * 8.0 / (*mbit as f64 * 1e6 * seconds.max(1e-9))))
    };
    let drops = names.iter().filter_map(|name| of(name, |n| n.received.drops.saturating_add(n.sent.drops)));
    let segments = |counter: fn(&TcpCounters) -> u64| {
        stretch::sum(stretches, |stretch| stretch.growth(|sample| sample.tcp.as_ref().map(counter)))
    };
    let (sent, again) = (segments(|tcp| tcp.sent), segments(|tcp| tcp.sent_again));
    Some(Traffic {
        fullest: names.iter().filter_map(share).max_by(|a, b| a.1.total_cmp(&b.1)),
        drops: drops.fold(0, u64::saturating_add),
        again: sent.zip(again).filter(|(sent, _)| *sent > 0).map(|(sent, again)| again as f64 / sent as f64),
    })
}

fn in_words(found: &Traffic, lang: Lang) -> String {
    let fullest = found.fullest.as_ref().map(|(name, share)| {
        say_in!(
            lang,
            "{name} at {s} of its line rate",
            "{name}: {s} скорости канала",
            s = format::near_limit::percent(*share, LINE_RATE_REACHED, lang)
        )
    });
    let drops = say_in!(lang, "{d} packets dropped", "отброшено пакетов: {d}", d = format::count(found.drops));
    let again = found.again.map(|share| {
        say_in!(
            lang,
            "{a} of TCP segments sent again",
            "повторено {a} сегментов TCP",
            a = format::near_limit::percent(share, SENT_AGAIN, lang)
        )
    });
    fullest.into_iter().chain([drops]).chain(again).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::CheckStatus;
    use crate::fixture::run;
    use crate::trials::by_case;
    use stend_record::Parts;
    use stend_record::parts::LineRate;

    /// A run on NFS, in each half second of which so many bytes came in, and packets were dropped and sent again, of 10 000.
    fn check(bytes: u64, drops: u64, again: u64, rate: Option<u64>) -> CheckResult {
        check_on(&["eth0"], bytes, drops, (again, rate))
    }

    fn check_on(names: &[&str], bytes: u64, drops: u64, (again, rate): (u64, Option<u64>)) -> CheckResult {
        let mut record = run().trial(0).done().record();
        record.load_mut().ports = vec!["eth0".into()];
        record.load_mut().targets[0].file_system = Some("nfs4".into());
        for (at, sample) in record.load_mut().samples.iter_mut().enumerate() {
            let at = at as u64;
            let received = stend_record::sample::Traffic { bytes: at * bytes, drops: at * drops, ..Default::default() };
            let network = |name: &&str| NetworkCounters { name: name.to_string(), received, ..Default::default() };
            sample.networks = Some(names.iter().map(network).collect());
            sample.tcp = Some(TcpCounters { sent: at * 10_000, sent_again: at * again });
            let line_rates = rate.map(|mbit_per_s| LineRate { name: "eth0".into(), mbit_per_s }).into_iter().collect();
            sample.parts = Some(Box::new(Parts { line_rates, ..Parts::default() }));
        }
        network(&record, &by_case(&record)[0])
    }

    #[test]
    fn a_link_with_room_and_no_losses_passes() {
        // 31.25 MB in half a second are 500 Mbit/s.
        let found = check(31_250_000, 0, 5, Some(1000));
        assert_eq!(found.status, CheckStatus::Pass);
        assert_eq!(
            found.measured.en,
            "eth0 at 50.0 % of its line rate, 0 packets dropped, 0.05 % of TCP segments sent again"
        );
    }

    #[test]
    fn a_packet_that_a_bond_counts_too_is_dropped_once() {
        let on = |names: &[&str]| check_on(names, 1000, 1, (0, Some(1000))).measured;
        assert_eq!(on(&["eth0"]), on(&["bond0", "eth0"]));
    }

    #[test]
    fn a_full_link_drops_and_repetitions_are_warnings() {
        let full = check(57_000_000, 0, 0, Some(1000));
        assert_eq!((full.status, full.measured.ru.starts_with("eth0: 91,2 %")), (CheckStatus::Warn, true), "{full:?}");
        assert_eq!(check(1000, 1, 30, Some(1000)).status, CheckStatus::Warn);
        assert_eq!(check(1000, 0, 30, Some(1000)).status, CheckStatus::Warn);
    }

    #[test]
    fn a_frame_that_an_interface_dropped_is_no_loss_while_tcp_repeats_nothing() {
        let found = check(1000, 1, 0, Some(1000));
        assert_eq!(found.status, CheckStatus::Pass);
        assert!(found.measured.en.contains("packets dropped, 0.0 % of TCP segments"), "{}", found.measured.en);
    }

    #[test]
    fn where_tcp_is_not_counted_a_drop_is_a_warning() {
        let lossy = |drops, again| Traffic { fullest: None, drops, again }.is_lossy();
        assert_eq!([lossy(1, None), lossy(0, None), lossy(1, Some(0.0))], [true, false, false]);
        assert_eq!([lossy(1, Some(0.0001)), lossy(0, Some(0.0001))], [true, false]);
    }

    #[test]
    fn without_a_line_rate_only_losses_can_be_told() {
        assert_eq!(check(1000, 0, 0, None).status, CheckStatus::NotMeasurable);
        assert_eq!(check(1000, 1, 30, None).status, CheckStatus::Warn);
    }

    #[test]
    fn what_lies_behind_a_network_is_known_by_file_system_kind_and_transport() {
        let status = |change: fn(&mut RunRecord)| {
            let mut record = run().trial(0).done().record();
            change(&mut record);
            network(&record, &by_case(&record)[0]).status
        };
        assert_eq!(status(|_| {}), CheckStatus::NotApplicable);
        assert_eq!(
            status(|r| r.load_mut().targets[0].devices[1].transport = Some("pcie".into())),
            CheckStatus::NotApplicable
        );
        assert_eq!(
            status(|r| r.load_mut().targets[0].devices[1].transport = Some("tcp".into())),
            CheckStatus::NotMeasurable
        );
        assert_eq!(status(|r| r.load_mut().targets[0].devices[1].kind = "nbd".into()), CheckStatus::NotMeasurable);
    }
}

//! What can be said against a measurement because of load hosts other than the first, before it begins.

use super::forewarn;
use crate::findings::Caveat;
use std::mem::discriminant;
use stend_plan::Plan;
use stend_record::{HostId, HostInfo};

/// Reasons to doubt that hold on some load hosts and not on the first, which [`forewarn`] is about. Each kind comes once, with the hosts that
/// it is about, in the order of [`forewarn`].
pub fn forewarn_others(loads: &[(HostId, &HostInfo)], plan: &Plan) -> Vec<Caveat> {
    let of = |info: &HostInfo| info.facts.as_ref().map_or(Vec::new(), |host| forewarn(host, &info.targets, plan));
    let Some(((_, first), others)) = loads.split_first() else { return Vec::new() };
    let first = of(first);
    let is_known = |caveat: &Caveat| first.iter().any(|known| discriminant(known) == discriminant(caveat));
    let mut found: Vec<(Caveat, Vec<String>)> = Vec::new();
    for (_, info) in others {
        for caveat in of(info).into_iter().filter(|caveat| !is_known(caveat)) {
            match found.iter_mut().find(|(known, _)| discriminant(known) == discriminant(&caveat)) {
                Some((_, hosts)) => hosts.push(info.name.clone()),
                None => found.push((caveat, vec![info.name.clone()])),
            }
        }
    }
    let of_hosts = loads.len() as u32;
    let told = |(caveat, hosts)| Caveat::OnLoadHosts { hosts, of_hosts, caveat: Box::new(caveat) };
    found.into_iter().map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Lang;
    use stend_record::HostFacts;

    fn host(name: &str, cpus: u32) -> HostInfo {
        let run = crate::fixture::run().record();
        let facts = HostFacts { cpus, ..run.load().facts.clone().unwrap() };
        HostInfo { name: name.into(), facts: Some(facts), targets: run.load().targets.clone(), ..HostInfo::default() }
    }

    fn told(hosts: &[HostInfo]) -> Vec<String> {
        let plan = crate::fixture::run().record().plan().unwrap().into_owned();
        let loads: Vec<(HostId, &HostInfo)> = (0..).map(HostId).zip(hosts).collect();
        forewarn_others(&loads, &plan).iter().map(|caveat| caveat.say().get(Lang::En).to_string()).collect()
    }

    #[test]
    fn what_holds_on_other_hosts_alone_is_told_once_with_their_names() {
        let all = told(&[host("a", 8), host("b", 2), host("c", 8), host("d", 2)]);
        let [only] = &all[..] else { panic!("{all:?}") };
        assert!(only.starts_with("On 2 of 4 load hosts (b, d): "), "{only}");
    }

    #[test]
    fn what_is_told_of_the_first_host_or_of_none_is_not_told_again() {
        assert_eq!(told(&[host("a", 2), host("b", 2)]), [""; 0]);
        assert_eq!(told(&[host("a", 8), host("b", 8)]), [""; 0]);
        assert_eq!(told(&[]), [""; 0]);
    }
}

//! Which CPUs and which memory the threads of a stream get: what was asked, on the machine that there is. Pure.

use serde::{Deserialize, Serialize};
use stend_base::{Say, say};

/// What a machine has.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Topology {
    /// Its NUMA nodes, ascending; one on a machine without NUMA.
    pub nodes: Vec<NumaNode>,
    /// NumaNode of the target's device; `None` if the kernel does not tell.
    pub device: Option<u32>,
}

/// A NUMA node.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct NumaNode {
    /// Number.
    pub node: u32,
    /// CPUs that are online, ascending; none where a node is memory only.
    pub cpus: Vec<u32>,
}

/// Where threads and memory of a stream are asked to be.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Placement {
    /// CPUs, one thread after the other; empty: the scheduler chooses, or `numa` does.
    pub cpus: Vec<u32>,
    /// NUMA nodes.
    pub numa: Option<Numa>,
}

/// NUMA nodes by what they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Numa {
    /// The node of the target's device.
    Local,
    /// A node that is not that of the target's device.
    Remote,
    /// Every node that has CPUs with every node as memory, each pair a cell of its own.
    Every,
    /// By number.
    Nodes {
        /// Node of the threads; `None`: the scheduler chooses their CPUs.
        cpu: Option<u32>,
        /// Node of the memory; `None`: where the thread runs that touches it first.
        memory: Option<u32>,
    },
}

/// Where threads and memory of a stream are.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Affinity {
    /// CPUs, one thread after the other; empty: the scheduler chooses.
    pub cpus: Vec<u32>,
    /// NumaNode that the buffers are bound to; `None`: where the thread runs that touches them first.
    pub memory: Option<u32>,
}

impl Affinity {
    /// Whether it is the same CPUs, in whatever order, and the same memory.
    pub fn is_like(&self, other: &Affinity) -> bool {
        let sorted = |place: &Affinity| {
            let mut cpus = place.cpus.clone();
            cpus.sort_unstable();
            cpus
        };
        self.memory == other.memory && sorted(self) == sorted(other)
    }
}

/// Why a placement cannot be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Misplaced {
    /// The suite names what the machine does not have: a mistake.
    Missing(Say),
    /// The machine is too simple for the case.
    NotHere(Say),
}

impl Placement {
    /// The placements that it stands for on a machine, each with its name among the others: several of `every`, else itself.
    pub fn cells(&self, machine: &Topology) -> Vec<(String, Placement)> {
        if self.numa != Some(Numa::Every) {
            return vec![(String::new(), self.clone())];
        }
        let of = |cpu: &NumaNode, memory: &NumaNode| {
            let numa = Some(Numa::Nodes { cpu: Some(cpu.node), memory: Some(memory.node) });
            (format!("threads {} memory {}", cpu.node, memory.node), Placement { cpus: self.cpus.clone(), numa })
        };
        let threads = machine.nodes.iter().filter(|node| !node.cpus.is_empty());
        let cells: Vec<_> = threads.flat_map(|cpu| machine.nodes.iter().map(move |memory| of(cpu, memory))).collect();
        if cells.is_empty() { vec![(String::new(), self.clone())] } else { cells }
    }

    /// The place on a machine.
    pub fn on(&self, machine: &Topology) -> Result<Affinity, Misplaced> {
        if *self == Placement::default() {
            return Ok(Affinity::default());
        }
        if let Some(cpu) = self.cpus.iter().find(|cpu| !machine.nodes.iter().any(|node| node.cpus.contains(cpu))) {
            let all: Vec<u32> = machine.nodes.iter().flat_map(|node| node.cpus.iter().copied()).collect();
            let there = ranges(&all);
            return Err(Misplaced::Missing(say!(
                "there is no CPU {cpu} here, only {there}",
                "здесь нет CPU {cpu}, есть только {there}"
            )));
        }
        let mut place = Affinity { cpus: self.cpus.clone(), memory: None };
        let (cpu, memory) = match self.numa {
            // One that was not expanded is of a machine that tells no nodes.
            None | Some(Numa::Every) => (None, None),
            Some(Numa::Nodes { cpu, memory }) => (cpu, memory),
            Some(which @ (Numa::Local | Numa::Remote)) => {
                let node = machine.beside(which)?;
                (Some(node), Some(node))
            }
        };
        if let Some(node) = cpu {
            place.cpus = machine.node(node)?.cpus.clone();
            if place.cpus.is_empty() {
                return Err(Misplaced::Missing(say!("NUMA node {node} has no CPUs", "в узле NUMA {node} нет CPU")));
            }
        }
        if let Some(node) = memory {
            place.memory = Some(machine.node(node)?.node);
        }
        Ok(place)
    }
}

impl Topology {
    fn node(&self, number: u32) -> Result<&NumaNode, Misplaced> {
        self.nodes.iter().find(|node| node.node == number).ok_or_else(|| {
            let there = ranges(&self.nodes.iter().map(|node| node.node).collect::<Vec<_>>());
            Misplaced::Missing(say!(
                "there is no NUMA node {number} here, only {there}",
                "здесь нет узла NUMA {number}, есть только {there}"
            ))
        })
    }

    /// The node of the device, or the first other one that has CPUs.
    fn beside(&self, which: Numa) -> Result<u32, Misplaced> {
        let not_here = |why| Err(Misplaced::NotHere(why));
        match (self.nodes.as_slice(), self.device, which) {
            ([only], _, Numa::Local) => Ok(only.node),
            ([_], _, _) => not_here(say!("this machine has one NUMA node", "на этой машине один узел NUMA")),
            (_, None, _) => not_here(say!(
                "the kernel does not tell the NUMA node of the target's device",
                "ядро не сообщает узел NUMA устройства объекта"
            )),
            (_, Some(device), Numa::Remote) => {
                let other = self.nodes.iter().find(|node| node.node != device && !node.cpus.is_empty());
                match other {
                    Some(node) => Ok(node.node),
                    None => not_here(say!("no other NUMA node has CPUs", "в других узлах NUMA нет CPU")),
                }
            }
            (_, Some(device), _) => Ok(device),
        }
    }
}

/// Numbers as the kernel writes them: `0-3,8`.
pub fn ranges(numbers: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let told = |&(first, last): &(u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    runs.iter().map(told).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes with CPUs, and the node of the device.
    fn machine(nodes: &[(u32, &[u32])], device: Option<u32>) -> Topology {
        let node = |&(node, cpus): &(u32, &[u32])| NumaNode { node, cpus: cpus.to_vec() };
        Topology { nodes: nodes.iter().map(node).collect(), device }
    }

    /// CPUs and memory, or why not.
    fn placed(cpus: &[u32], numa: Option<Numa>, machine: &Topology) -> String {
        match (Placement { cpus: cpus.to_vec(), numa }).on(machine) {
            Ok(Affinity { cpus, memory }) => format!("{} {memory:?}", ranges(&cpus)),
            Err(Misplaced::Missing(why)) => format!("error: {}", why.en),
            Err(Misplaced::NotHere(why)) => format!("not run: {}", why.en),
        }
    }

    #[test]
    fn a_machine_with_two_nodes_places_by_number_and_by_the_device() {
        let two = machine(&[(0, &[0, 1, 4, 5]), (1, &[2, 3, 6, 7])], Some(1));
        let nodes = |cpu, memory| Some(Numa::Nodes { cpu, memory });
        assert_eq!(placed(&[], None, &two), " None");
        assert_eq!(placed(&[2, 3], None, &two), "2-3 None");
        assert_eq!(placed(&[7, 0], nodes(None, Some(0)), &two), "7,0 Some(0)");
        assert_eq!(placed(&[], nodes(Some(0), Some(1)), &two), "0-1,4-5 Some(1)");
        assert_eq!(placed(&[], nodes(Some(0), None), &two), "0-1,4-5 None");
        assert_eq!(placed(&[], Some(Numa::Local), &two), "2-3,6-7 Some(1)");
        assert_eq!(placed(&[], Some(Numa::Remote), &two), "0-1,4-5 Some(0)");
    }

    #[test]
    fn what_the_machine_does_not_have_is_an_error_that_says_what_it_has() {
        let two = machine(&[(0, &[0, 1]), (2, &[])], None);
        let nodes = |cpu, memory| Some(Numa::Nodes { cpu, memory });
        assert_eq!(placed(&[1, 9], None, &two), "error: there is no CPU 9 here, only 0-1");
        assert_eq!(placed(&[], nodes(Some(1), None), &two), "error: there is no NUMA node 1 here, only 0,2");
        assert_eq!(placed(&[], nodes(None, Some(7)), &two), "error: there is no NUMA node 7 here, only 0,2");
        assert_eq!(placed(&[], nodes(Some(2), None), &two), "error: NUMA node 2 has no CPUs");
        assert_eq!(placed(&[], nodes(None, Some(2)), &two), " Some(2)", "memory it may have");
    }

    #[test]
    fn local_and_remote_need_a_machine_on_which_they_differ() {
        let one = machine(&[(0, &[0, 1])], None);
        assert_eq!(placed(&[], Some(Numa::Local), &one), "0-1 Some(0)", "everything is local");
        assert_eq!(placed(&[], Some(Numa::Remote), &one), "not run: this machine has one NUMA node");
        let unknown = machine(&[(0, &[0]), (1, &[1])], None);
        let told = "not run: the kernel does not tell the NUMA node of the target's device";
        assert_eq!([Numa::Local, Numa::Remote].map(|n| placed(&[], Some(n), &unknown)), [told, told]);
        let memory_only = machine(&[(0, &[0, 1]), (1, &[])], Some(0));
        assert_eq!(placed(&[], Some(Numa::Remote), &memory_only), "not run: no other NUMA node has CPUs");
    }
}

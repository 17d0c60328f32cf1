//! The keys of exports. Data only; must not parse.

use super::MOUNT_OPTIONS;
use crate::keys::{Choice, Key, Limits, Mapping, Shape, optional, required, words};
use crate::stand::{IscsiTransport, NvmePolicy, PathPolicy, Transport};

/// What NVMe-oF goes over.
pub const TRANSPORTS: &[Choice<Transport>] = &[
    ("tcp", "TCP: on the loopback, or between the two hosts of `across`", Transport::Tcp),
    (
        "rdma",
        "RDMA: between the two hosts of `across` over their cards, on one host over a card that the kernel emulates (soft RoCE), to test function and not performance",
        Transport::Rdma,
    ),
    ("loop", "calls inside of the kernel, without a network", Transport::Loop),
];
/// What iSCSI goes over.
pub const ISCSI_TRANSPORTS: &[Choice<IscsiTransport>] = &[
    ("tcp", "TCP: on the loopback, or between the two hosts of `across`", IscsiTransport::Tcp),
    (
        "iser",
        "RDMA: between the two hosts of `across` over their cards, on one host over a card that the kernel emulates (soft RoCE), to test function and not performance",
        IscsiTransport::Iser,
    ),
];

/// Paths to one disk.
pub const PATHS: Limits<u32> = Limits { least: 1, most: 8 };
/// Paths by which a host reaches a drive: two ports of a SAS drive; over Fibre Channel often four or eight.
pub const DRIVE_PATHS: Limits<u32> = Limits { least: 2, most: 32 };
/// How one of several paths is chosen.
pub const PATH_POLICIES: &[Choice<PathPolicy>] = &[
    ("service-time", "the path with the shortest expected service time", PathPolicy::ServiceTime),
    ("queue-length", "the path with the fewest I/Os in flight", PathPolicy::QueueLength),
    ("round-robin", "one after the other", PathPolicy::RoundRobin),
];
/// How the kernel chooses one of several paths to a namespace.
pub const NVME_POLICIES: &[Choice<NvmePolicy>] = &[
    ("numa", "the path nearest to the NUMA node of the caller; among equal ones always the same", NvmePolicy::Numa),
    ("round-robin", "one after the other", NvmePolicy::RoundRobin),
    ("queue-depth", "the path with the fewest I/Os in flight; since Linux 6.11", NvmePolicy::QueueDepth),
];

const SOFT_ROCE: Key = optional(
    "soft_roce",
    "false",
    Shape::Bool,
    "With `across`, over RDMA: if the interface of a host has no RDMA card, its kernel emulates one (soft RoCE), to test function and not performance. Without this key such a stand is refused.",
);

/// `nvme_of`.
pub const NVME_OF: Mapping = Mapping {
    en: "nvme_of",
    ru: "nvme_of",
    doc: "Namespaces of one subsystem of the kernel's own target, which only this host can reach.",
    keys: &[
        required("transport", Shape::Word(|| words(TRANSPORTS)), "Transport."),
        optional(
            "paths",
            "1",
            Shape::Whole(PATHS),
            "Controllers, each over its own port; not for `loop`. The kernel joins several paths into one device.",
        ),
        optional("policy", "numa", Shape::Word(|| words(NVME_POLICIES)), "Path policy; for `paths` above 1."),
        optional(
            "active",
            "all",
            Shape::Whole(PATHS),
            "Number of optimised paths (ANA), the first ones; the others are used when these are gone. For `paths` above 1.",
        ),
        SOFT_ROCE,
    ],
};
/// `iscsi`.
pub const ISCSI: Mapping = Mapping {
    en: "iscsi",
    ru: "iscsi",
    doc: "Units of one target of the kernel (LIO), which only this host can reach.",
    keys: &[
        optional("transport", "tcp", Shape::Word(|| words(ISCSI_TRANSPORTS)), "Transport."),
        optional(
            "paths",
            "1",
            Shape::Whole(PATHS),
            "Sessions, each over its own port. With more than one, multipath of the device mapper joins them into one device.",
        ),
        optional(
            "policy",
            "service-time",
            Shape::Word(|| words(PATH_POLICIES)),
            "Path policy, among those that are optimised; for `paths` above 1.",
        ),
        optional(
            "active",
            "all",
            Shape::Whole(PATHS),
            "Number of optimised paths (ALUA), the first ones; the others are used when these are gone. For `paths` above 1.",
        ),
        SOFT_ROCE,
    ],
};
/// `multipath`.
pub const MULTIPATH: Mapping = Mapping {
    en: "multipath",
    ru: "multipath",
    doc: "Drives that the host sees several times with one world-wide name: each becomes one device of the device mapper. Non-optimised paths (ALUA, `access_state` in sysfs) form groups that are used when the earlier groups are gone.",
    keys: &[
        required(
            "paths",
            Shape::Whole(DRIVE_PATHS),
            "Paths to each drive. With more or fewer of them the stand is not put up.",
        ),
        optional(
            "policy",
            "service-time",
            Shape::Word(|| words(PATH_POLICIES)),
            "Path policy, among those of a group.",
        ),
    ],
};
/// `nbd`.
pub const NBD: Mapping = Mapping {
    en: "nbd",
    ru: "nbd",
    doc: "Exports of one `nbd-server`, which only this host can reach, or with `across` the other one, each as a device of the kernel's own client. It has no settings: `nbd: {}`.",
    keys: &[],
};
/// `nfs`.
pub const NFS: Mapping = Mapping {
    en: "nfs",
    ru: "nfs",
    doc: "NFS 4.2 on the loopback, which only this host can reach. Lies on a layer that is a directory.",
    keys: &[MOUNT_OPTIONS],
};

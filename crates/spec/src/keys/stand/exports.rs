//! The keys of exports. Data only; must not parse.

use super::MOUNT_OPTIONS;
use crate::keys::{Choice, Key, Limits, Mapping, Shape, optional, required, words};
use crate::stand::{IscsiTransport, NvmePolicy, PathPolicy, Transport};

/// What NVMe-oF goes over.
pub const TRANSPORTS: &[Choice<Transport>] = &[
    ("tcp", "TCP: on the loopback, or between the two hosts of `across`", Transport::Tcp),
    (
        "rdma",
        "RDMA: between the two hosts of `across` over their cards, on one host over a card that the kernel imitates (soft RoCE), for function and not for speed",
        Transport::Rdma,
    ),
    ("loop", "calls inside of the kernel, without a network", Transport::Loop),
];
/// What iSCSI goes over.
pub const ISCSI_TRANSPORTS: &[Choice<IscsiTransport>] = &[
    ("tcp", "TCP: on the loopback, or between the two hosts of `across`", IscsiTransport::Tcp),
    (
        "iser",
        "RDMA: between the two hosts of `across` over their cards, on one host over a card that the kernel imitates (soft RoCE), for function and not for speed",
        IscsiTransport::Iser,
    ),
];

/// Paths to one disk.
pub const PATHS: Limits<u32> = Limits { least: 1, most: 8 };
/// Paths by which a host reaches a drive: two ports of a SAS drive; over Fibre Channel often four or eight.
pub const DRIVE_PATHS: Limits<u32> = Limits { least: 2, most: 32 };
/// How one of several paths is chosen.
pub const PATH_POLICIES: &[Choice<PathPolicy>] = &[
    ("service-time", "the one that would be done first with what is under way", PathPolicy::ServiceTime),
    ("queue-length", "the one with the fewest I/Os under way", PathPolicy::QueueLength),
    ("round-robin", "one after the other", PathPolicy::RoundRobin),
];
/// How the kernel chooses one of several paths to a namespace.
pub const NVME_POLICIES: &[Choice<NvmePolicy>] = &[
    ("numa", "the nearest to the memory of whoever asks; of equal ones always the same", NvmePolicy::Numa),
    ("round-robin", "one after the other", NvmePolicy::RoundRobin),
    ("queue-depth", "the one with the fewest I/Os under way; since Linux 6.11", NvmePolicy::QueueDepth),
];

const SOFT_ROCE: Key = optional(
    "soft_roce",
    "false",
    Shape::Bool,
    "With `across`, over RDMA: where the interface of a host has no card for RDMA, its kernel imitates one (soft RoCE), for function and not for speed; without it such a stand is refused.",
);

/// `nvme_of`.
pub const NVME_OF: Mapping = Mapping {
    en: "nvme_of",
    ru: "nvme_of",
    doc: "Namespaces of one subsystem of the kernel's own target, which only this host can reach.",
    keys: &[
        required("transport", Shape::Word(|| words(TRANSPORTS)), "What it goes over."),
        optional(
            "paths",
            "1",
            Shape::Whole(PATHS),
            "Controllers, each over a port of its own; not for `loop`. The kernel makes one device of what several reach.",
        ),
        optional(
            "policy",
            "numa",
            Shape::Word(|| words(NVME_POLICIES)),
            "How a path is chosen for an I/O; for `paths` above 1.",
        ),
        optional(
            "active",
            "all",
            Shape::Whole(PATHS),
            "So many of the paths, the first ones, are optimised (ANA); the others are taken when these are gone. For `paths` above 1.",
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
        optional("transport", "tcp", Shape::Word(|| words(ISCSI_TRANSPORTS)), "What it goes over."),
        optional(
            "paths",
            "1",
            Shape::Whole(PATHS),
            "Sessions, each over a port of its own. More than one become one device by multipath of the device mapper.",
        ),
        optional(
            "policy",
            "service-time",
            Shape::Word(|| words(PATH_POLICIES)),
            "How a path is chosen for an I/O, among those that are optimised; for `paths` above 1.",
        ),
        optional(
            "active",
            "all",
            Shape::Whole(PATHS),
            "So many of the paths, the first ones, are optimised (ALUA); the others are taken when these are gone. For `paths` above 1.",
        ),
        SOFT_ROCE,
    ],
};
/// `multipath`.
pub const MULTIPATH: Mapping = Mapping {
    en: "multipath",
    ru: "multipath",
    doc: "Drives of one world-wide name that the host sees several times: each becomes one device of the device mapper. Paths that the drive tells not to be optimised (ALUA, `access_state` in sysfs) make groups that are taken when those before are gone.",
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
            "How a path is chosen for an I/O, among those of a group.",
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

//! The key of the memory of I/Os. Data only; must not parse.

use super::{Choice, Key, Shape, optional, words};
use crate::workload::Pages;

/// What the buffers of I/Os lie in.
pub const PAGES: &[Choice<Pages>] = &[
    (
        "ordinary",
        "pages of 4 KiB, as most applications and fio have; the kernel is asked not to join them",
        Pages::Ordinary,
    ),
    (
        "huge",
        "transparent huge pages of 2 MiB (nearest in fio: `iomem=shmhuge`), if the kernel has them; the result shows how many it gave. Each load thread takes at least one, with `psync` each I/O in flight",
        Pages::Huge,
    ),
];

/// `pages`.
pub const KEY: Key = optional(
    "pages",
    "ordinary",
    Shape::Word(|| words(PAGES)),
    "Memory of the I/O buffers. A device takes a limited number of segments in one request, and each ordinary page is one unless its neighbour follows it in memory. So large blocks are split; huge pages avoid that.",
);

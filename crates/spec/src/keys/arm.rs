//! The keys of what is varied between measurements. Data only; must not parse.

use super::{COMMAND, EXPECTED, Mapping, SETTINGS, Shape, optional, required};

pub(super) const COMMAND_WORDS: Shape = Shape::Several(&Shape::Name, COMMAND);

/// An item of `arms`.
pub const ARM: Mapping = Mapping {
    en: "an arm",
    ru: "вариант",
    doc: "One level of the varied thing.",
    keys: &[
        required("name", Shape::Name, "Name, unique in the suite."),
        optional(
            "switch",
            "none",
            Shape::Either(&[
                Shape::Word(|| vec![("none", "the machine as it is; only before the first `reboot` or `person`")]),
                Shape::Map(&SWITCH),
            ]),
            "How to switch to the arm. The first arm needs no person.",
        ),
        optional(
            "expect",
            "absent",
            Shape::Several(&Shape::Name, EXPECTED),
            "Facts that must differ from the first arm, otherwise the run stops: conditions as `stend compare --json` names them (`kernel`, `schedulers`, `device_firmware`, …) and names of `observe`. Not for the first arm.",
        ),
    ],
};

/// `switch`.
pub const SWITCH: Mapping = Mapping {
    en: "switch",
    ru: "switch",
    doc: "Exactly one of `tunables`, `command` (with `undo`), `reboot` and `person`. The first two need `--allow-commands` when the run is started.",
    keys: &[
        optional(
            "tunables",
            "absent",
            Shape::Named(&Shape::Name, SETTINGS),
            "Files below `/proc/sys` or `/sys` with the values to write; the old values are restored afterwards.",
        ),
        optional("command", "absent", COMMAND_WORDS, "Words of a command, without a shell."),
        optional("undo", "absent", COMMAND_WORDS, "Words of the command that undoes `command`."),
        optional(
            "reboot",
            "absent",
            Shape::Name,
            "What a person does during a reboot of the host; the run is suspended until `stend run --resume`.",
        ),
        optional(
            "person",
            "absent",
            Shape::Name,
            "What a person does to the machine; the run is suspended until `stend run --resume`.",
        ),
    ],
};

//! The built files of the console, by address. Written by `make web`; must not be edited.

/// Address, media type and content. A name changes with what is in it.
pub const FILES: &[(&str, &str, &str)] = &[
    (
        "/assets/index-C4UV9A2P.css",
        "text/css; charset=utf-8",
        include_str!("../../assets/console/assets/index-C4UV9A2P.css"),
    ),
    (
        "/assets/index-C6a4ZeTM.js",
        "text/javascript; charset=utf-8",
        include_str!("../../assets/console/assets/index-C6a4ZeTM.js"),
    ),
];

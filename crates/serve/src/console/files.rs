//! The built files of the console, by address. Written by `make web`; must not be edited.

/// Address, media type and content. A name changes with what is in it.
pub const FILES: &[(&str, &str, &str)] = &[
    (
        "/assets/index-C2BD-V8n.js",
        "text/javascript; charset=utf-8",
        include_str!("../../assets/console/assets/index-C2BD-V8n.js"),
    ),
    (
        "/assets/index-DV38zWJ0.css",
        "text/css; charset=utf-8",
        include_str!("../../assets/console/assets/index-DV38zWJ0.css"),
    ),
];

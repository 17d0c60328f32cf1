//! The built files of the console, by address. Written by `make web`; must not be edited.

/// Address, media type and content. A name changes with what is in it.
pub const FILES: &[(&str, &str, &str)] = &[
    (
        "/assets/index-DSod8Cog.js",
        "text/javascript; charset=utf-8",
        include_str!("../../assets/console/assets/index-DSod8Cog.js"),
    ),
    (
        "/assets/index-DV38zWJ0.css",
        "text/css; charset=utf-8",
        include_str!("../../assets/console/assets/index-DV38zWJ0.css"),
    ),
];

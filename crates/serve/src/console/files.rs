//! The built files of the console, by address. Written by `make web`; must not be edited.

/// Address, media type and content. A name changes with what is in it.
pub const FILES: &[(&str, &str, &str)] = &[
    (
        "/assets/index-BdWhP2wK.js",
        "text/javascript; charset=utf-8",
        include_str!("../../assets/console/assets/index-BdWhP2wK.js"),
    ),
    (
        "/assets/index-wZIKoHAU.css",
        "text/css; charset=utf-8",
        include_str!("../../assets/console/assets/index-wZIKoHAU.css"),
    ),
];

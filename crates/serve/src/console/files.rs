//! The built files of the console, by address. Written by `make web`; must not be edited.

/// Address, media type and content. A name changes with what is in it.
pub const FILES: &[(&str, &str, &str)] = &[
    (
        "/assets/index-7qM_IY06.js",
        "text/javascript; charset=utf-8",
        include_str!("../../assets/console/assets/index-7qM_IY06.js"),
    ),
    (
        "/assets/index-wZIKoHAU.css",
        "text/css; charset=utf-8",
        include_str!("../../assets/console/assets/index-wZIKoHAU.css"),
    ),
];

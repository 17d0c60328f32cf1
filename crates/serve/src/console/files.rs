//! The built files of the console, by address. Written by `make web`; must not be edited.

/// Address, media type and content. A name changes with what is in it.
pub const FILES: &[(&str, &str, &str)] = &[
    (
        "/assets/index-Cb_IqZEV.js",
        "text/javascript; charset=utf-8",
        include_str!("../../assets/console/assets/index-Cb_IqZEV.js"),
    ),
    (
        "/assets/index-DL55buS0.css",
        "text/css; charset=utf-8",
        include_str!("../../assets/console/assets/index-DL55buS0.css"),
    ),
];

//! Over which ports of Fibre Channel a disk is reached. Reads only.
//!
//! Source: Documentation/scsi/scsi_fc_transport.rst of Linux 6.12, drivers/scsi/scsi_transport_fc.c: names of directories and attributes.

use crate::node::Node;
use crate::roots::{Roots, text};
use stend_record::FabricPath;

/// The path of a disk; `None` if it is not behind Fibre Channel.
pub(crate) fn path(roots: &Roots, disk: &Node) -> Option<FabricPath> {
    let parts: Vec<String> =
        disk.sysfs.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    let remote = parts.iter().find(|part| part.starts_with("rport-"))?;
    // `host7`, and of a virtual port the last of several.
    let is_host = |part: &&String| part.strip_prefix("host").is_some_and(|number| number.parse::<u32>().is_ok());
    let host = parts.iter().take_while(|part| *part != remote).filter(is_host).last()?;
    let of_host = |file: &str| told(text(roots.sys.join("class/fc_host").join(host).join(file)));
    let of_remote = |file: &str| told(text(roots.sys.join("class/fc_remote_ports").join(remote).join(file)));
    Some(FabricPath {
        host: host.clone(),
        port: of_host("port_name"),
        state: of_host("port_state"),
        speed: of_host("speed"),
        remote_port: of_remote("port_name"),
        remote_state: of_remote("port_state"),
    })
}

/// What the kernel knows.
fn told(value: Option<String>) -> Option<String> {
    value.filter(|value| !value.is_empty() && !value.eq_ignore_ascii_case("unknown"))
}

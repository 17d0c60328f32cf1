//! A directory handed out by the kernel's NFS server and mounted again: on the loopback by the same host, or by another one.
//!
//! Source: nfsd(7), exportfs(8), rpc.mountd(8), nfs(5) of nfs-utils 2.8; the tree of Linux 6.12, fs/nfsd/nfsctl.c.

use super::super::product::Product;
use super::super::step::{Deed, Sign, Step};
use super::exports::tell;
use super::{Made, Site, directory};
use stend_base::say;
use stend_spec::stand::Nfs;

/// Where the server is controlled.
const CONTROL: &str = "/proc/fs/nfsd";
/// What `nfs-server.service` of Debian takes.
const THREADS: &str = "8";

pub(super) fn nfs(site: &Site, nfs: &Nfs) -> Made {
    let Some(of) = site.paths().next() else { return Made::default() };
    let at = site.names.mount(&site.layer.name);
    let options = ["vers=4.2".to_string()].into_iter().chain(nfs.options.iter().cloned()).collect::<Vec<_>>().join(",");
    let source = format!("{}:{of}", site.address());
    let mount = Deed::run("mount -t nfs4 -o", [options.as_str(), source.as_str(), at.as_str()]);
    let there = Sign::Mounted(at.clone());
    let mount = Step {
        apply: vec![mount],
        undo: vec![(there.clone(), Deed::run("umount --", [at.as_str()]))],
        ..Step::new(say!("mount {source} at {at}", "смонтировать {source} в {at}"), there)
    };
    let mut steps = Vec::new();
    if site.hands_out() {
        steps.extend([control(), listener(), server(), export(site, of)]);
    }
    if site.takes_in() {
        steps.extend([directory(&at), mount]);
    }
    Made { steps, products: vec![Product::Directory(at)] }
}

fn control() -> Step {
    Step {
        // It stays: others use it as well.
        apply: vec![Deed::Module("nfsd"), Deed::run("mount -t nfsd nfsd", [CONTROL])],
        ..Step::new(
            say!("mount the control of the NFS server", "смонтировать управление сервером NFS"),
            Sign::Mounted(CONTROL.to_string()),
        )
    }
}

/// It stays, too: it answers the kernel's questions who may mount what.
fn listener() -> Step {
    let apply = vec![Deed::run("rpc.mountd --no-nfs-version 2 --no-nfs-version 3", [])];
    Step { apply, ..Step::new(say!("start rpc.mountd", "запустить rpc.mountd"), Sign::Process("rpc.mountd")) }
}

/// A server that runs already is used as it is, and stays.
fn server() -> Step {
    let threads = format!("{CONTROL}/threads");
    Step {
        apply: vec![
            // Version 3 would need rpcbind.
            tell(format!("{CONTROL}/versions"), "-3"),
            Deed::Set { path: threads.clone(), value: THREADS.to_string() },
            // There are no clients of before for which the first one would wait 90 seconds.
            tell(format!("{CONTROL}/v4_end_grace"), "Y"),
        ],
        undo: vec![(Sign::Noted(threads.clone()), Deed::PutBack { path: threads.clone() })],
        ..Step::new(say!("start the NFS server", "запустить сервер NFS"), Sign::Positive(threads))
    }
}

fn export(site: &Site, of: &str) -> Step {
    // Nobody else can mount it.
    let client = site.way.map_or("127.0.0.1", |way| &way.hosts.client);
    let (there, client) = (Sign::NfsExport(of.to_string()), format!("{client}:{of}"));
    let options = format!("rw,sync,no_root_squash,insecure,no_subtree_check,fsid={}", site.uuid(0));
    Step {
        apply: vec![Deed::run("exportfs -o", [options.as_str(), client.as_str()])],
        undo: vec![(there.clone(), Deed::run("exportfs -u", [client.as_str()]))],
        ..Step::new(say!("hand out {of} over NFS", "отдать {of} по NFS"), there)
    }
}

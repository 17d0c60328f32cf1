//! A directory handed out by the kernel's NFS server and mounted again: on the loopback by the same host, or by another one.
//!
//! Source: nfsd(7), exportfs(8), rpc.mountd(8), nfs(5) of nfs-utils 2.8; the tree of Linux 6.12, fs/nfsd/nfsctl.c.

use super::super::product::Product;
use super::exports::tell;
use super::{Made, StepContext, directory};
use crate::change::{Action, Change, Condition, run};
use stend_base::say;
use stend_spec::stand::Nfs;

/// Where the server is controlled.
const CONTROL: &str = "/proc/fs/nfsd";
/// What `nfs-server.service` of Debian takes.
const THREADS: &str = "8";

pub(super) fn nfs(context: &StepContext, nfs: &Nfs) -> Made {
    let Some(of) = context.paths().next() else { return Made::default() };
    let at = context.names.mount(&context.layer.name);
    let options = ["vers=4.2".to_string()].into_iter().chain(nfs.options.iter().cloned()).collect::<Vec<_>>().join(",");
    let source = format!("{}:{of}", context.address());
    let mount = run("mount -t nfs4 -o", &[options.as_str(), source.as_str(), at.as_str()]);
    let there = Condition::Mounted(at.clone());
    let mount = Change {
        apply: vec![mount],
        undo: vec![(there.clone(), run("umount --", &[at.as_str()]))],
        ..Change::new(say!("mount {source} at {at}", "смонтировать {source} в {at}"), there)
    };
    let mut steps = Vec::new();
    if context.hands_out() {
        steps.extend([control(), listener(), server()]);
        steps.extend(exports(context, of));
    }
    if context.takes_in() {
        steps.extend([directory(&at), mount]);
    }
    Made { steps, products: vec![Product::Directory(at)] }
}

fn control() -> Change {
    Change {
        // It stays: others use it as well.
        apply: vec![Action::Module("nfsd".into()), run("mount -t nfsd nfsd", &[CONTROL])],
        ..Change::new(
            say!("mount the control of the NFS server", "смонтировать управление сервером NFS"),
            Condition::Mounted(CONTROL.to_string()),
        )
    }
}

/// It stays, too: it answers the kernel's questions who may mount what.
fn listener() -> Change {
    let apply = vec![run("rpc.mountd --no-nfs-version 2 --no-nfs-version 3", &[])];
    Change {
        apply,
        ..Change::new(say!("start rpc.mountd", "запустить rpc.mountd"), Condition::Process("rpc.mountd".into()))
    }
}

/// A server that runs already is used as it is, and stays. So does one that others have begun to use: without threads it would answer no client.
fn server() -> Change {
    let threads = format!("{CONTROL}/threads");
    Change {
        apply: vec![
            // Version 3 would need rpcbind.
            tell(format!("{CONTROL}/versions"), "-3"),
            Action::Set { path: threads.clone(), value: THREADS.to_string() },
            // There are no clients of before for which the first one would wait 90 seconds.
            tell(format!("{CONTROL}/v4_end_grace"), "Y"),
        ],
        undo: vec![(Condition::NotedUnshared(threads.clone()), Action::PutBack { path: threads.clone() })],
        ..Change::new(say!("start the NFS server", "запустить сервер NFS"), Condition::Positive(threads))
    }
}

/// No other client can mount it.
fn exports(context: &StepContext, of: &str) -> Vec<Change> {
    let loopback = ["127.0.0.1".to_string()];
    let clients = context.way.as_ref().map_or(&loopback[..], |way| way.to);
    clients.iter().map(|client| export(context.uuid(0), of, client)).collect()
}

fn export(fsid: String, of: &str, client: &str) -> Change {
    let (options, to) =
        (format!("rw,sync,no_root_squash,insecure,no_subtree_check,fsid={fsid}"), format!("{client}:{of}"));
    let there = Condition::NfsExport { path: of.to_string(), client: client.to_string(), fsid };
    Change {
        apply: vec![run("exportfs -o", &[options.as_str(), to.as_str()])],
        undo: vec![(there.clone(), run("exportfs -u", &[to.as_str()]))],
        ..Change::new(say!("export {of} over NFS to {client}", "экспортировать {of} по NFS для {client}"), there)
    }
}

//! Memory of NUMA nodes: binding what a thread will touch, and asking where a page lies. Must not choose nodes.
//! Numbers: include/uapi/linux/mempolicy.h.

use std::io;

/// Pages come from these nodes or not at all.
const MPOL_BIND: libc::c_int = 2;
/// Ask for a node, not for a policy.
const MPOL_F_NODE: libc::c_ulong = 1;
/// Ask about the page at an address.
const MPOL_F_ADDR: libc::c_ulong = 2;
/// Largest node number that can be named, by the kernels in use (MAX_NUMNODES of x86 is 1024).
const NODES_MAX: u32 = 1024;
const WORD: u32 = u64::BITS;

/// Binds memory that the calling thread touches from now on for the first time to a node.
pub fn bind_memory(node: u32) -> io::Result<()> {
    if node >= NODES_MAX {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut mask = [0u64; (NODES_MAX / WORD) as usize];
    mask[(node / WORD) as usize] |= 1 << (node % WORD);
    // The kernel takes the number of bits less one.
    let bits = libc::c_ulong::from(NODES_MAX) + 1;
    // set_mempolicy(2) reads as many bits of the mask as its length says, and the mask has as many.
    match unsafe { libc::syscall(libc::SYS_set_mempolicy, MPOL_BIND, mask.as_ptr(), bits) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Node of the page that holds the first byte; it must have been touched. An error on a kernel without NUMA.
pub fn node_of(memory: &[u8]) -> io::Result<u32> {
    let mut node: libc::c_int = -1;
    let (mask, bits) = (std::ptr::null_mut::<libc::c_ulong>(), 0 as libc::c_ulong);
    let flags = MPOL_F_NODE | MPOL_F_ADDR;
    // SAFETY: get_mempolicy(2) writes one int through the first pointer and nothing through the second, which is null,
    // and only looks the address up.
    let done = unsafe { libc::syscall(libc::SYS_get_mempolicy, &raw mut node, mask, bits, memory.as_ptr(), flags) };
    match (done, u32::try_from(node)) {
        (0, Ok(node)) => Ok(node),
        (0, Err(_)) => Err(io::ErrorKind::NotFound.into()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel without NUMA, or a seccomp filter as Docker's, knows no policies; a note then, which CI does not accept.
    fn bound() -> bool {
        match bind_memory(0) {
            Ok(()) => true,
            Err(reason) => {
                assert!(std::env::var_os("CI").is_none(), "policies of memory are needed here: {reason}");
                eprintln!("skipped: policies of memory: {reason}");
                false
            }
        }
    }

    #[test]
    fn memory_that_is_bound_lies_on_its_node_and_a_node_that_is_not_there_is_refused() {
        std::thread::spawn(|| {
            assert!(bind_memory(NODES_MAX - 1).is_err() && bind_memory(u32::MAX).is_err());
            if !bound() {
                return;
            }
            let memory = vec![1u8; 1 << 20];
            assert_eq!(node_of(&memory).unwrap(), 0);
        })
        .join()
        .unwrap();
    }
}

//! Loopback addresses for peers that are stopped and restarted.

use std::net::{Ipv4Addr, SocketAddr};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// An address for a peer to listen on: any port of a loopback address that is used only once. The
/// kernel reassigns a freed port of 127.0.0.1 at once, so a test that waits for a server to come
/// back could reach a different server there.
#[must_use]
pub fn unique_loopback_address() -> SocketAddr {
    static ALLOCATED: AtomicU32 = AtomicU32::new(0);
    let number = ALLOCATED.fetch_add(1, Ordering::Relaxed);
    // Only Linux routes all of 127.0.0.0/8 to the loopback interface.
    let ip = if cfg!(target_os = "linux") {
        let [_, a, b, c] = (process::id().wrapping_mul(1021).wrapping_add(number)).to_be_bytes();
        Ipv4Addr::new(127, (a & 0x7e) | 1, b, c)
    } else {
        Ipv4Addr::LOCALHOST
    };
    SocketAddr::from((ip, 0))
}

//! Addresses for peers that go and come back.

use std::net::{Ipv4Addr, SocketAddr};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// Where a peer may listen: any port of a loopback address that is given once. A port of the usual
/// address is handed to the next who asks as soon as its owner goes, and a test that waits for a
/// server to come back would meet a stranger there.
#[must_use]
pub fn own_address() -> SocketAddr {
    static GIVEN: AtomicU32 = AtomicU32::new(0);
    let nth = GIVEN.fetch_add(1, Ordering::Relaxed);
    // Only Linux takes the whole of 127.0.0.0/8 for its own.
    let ip = if cfg!(target_os = "linux") {
        let [_, a, b, c] = (process::id().wrapping_mul(1021).wrapping_add(nth)).to_be_bytes();
        Ipv4Addr::new(127, (a & 0x7e) | 1, b, c)
    } else {
        Ipv4Addr::LOCALHOST
    };
    SocketAddr::from((ip, 0))
}

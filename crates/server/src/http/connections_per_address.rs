//! Counts open connections by the address of their client, so that one machine cannot use all of
//! them.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;

#[derive(Clone)]
pub(super) struct ConnectionsPerAddress {
    limit: usize,
    open: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

/// One open connection. Dropping it frees its place.
pub(super) struct CountedConnection {
    connections: ConnectionsPerAddress,
    client: IpAddr,
}

impl ConnectionsPerAddress {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            open: Arc::default(),
        }
    }

    /// Counts a connection; `None` at the limit.
    pub(super) fn add(&self, address: IpAddr) -> Option<CountedConnection> {
        let client = client_of(address);
        let mut open = self.open.lock();
        let count = open.entry(client).or_default();
        if *count >= self.limit {
            return None;
        }
        *count += 1;
        Some(CountedConnection {
            connections: self.clone(),
            client,
        })
    }
}

impl Drop for CountedConnection {
    fn drop(&mut self) {
        let mut open = self.connections.open.lock();
        if let Some(count) = open.get_mut(&self.client) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.client);
            }
        }
    }
}

/// A client with IPv6 usually has a whole network of 64 bits.
fn client_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let network = address.to_bits() & !u128::from(u64::MAX);
            IpAddr::V6(network.into())
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_has_its_own_limit() {
        let connections = ConnectionsPerAddress::new(1);
        let add = |address: &str| connections.add(address.parse().unwrap());
        let first = add("127.0.0.1");
        assert!(first.is_some());
        assert!(add("127.0.0.1").is_none());
        assert!(add("::ffff:127.0.0.1").is_none());
        assert!(add("127.0.0.2").is_some());
        let network = add("2001:db8::1");
        assert!(network.is_some() && add("2001:db8::ffff:2").is_none());
        assert!(add("2001:db8:0:1::1").is_some());
        drop(first);
        assert!(add("127.0.0.1").is_some());
        assert_eq!(connections.open.lock().len(), 1, "only the network is left");
    }
}

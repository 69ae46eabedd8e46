//! Terminates TLS in front of a server and forwards in clear text.
//!
//! Must not know: what the bytes mean.

use std::net::SocketAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use super::{ServerCertificate, listen};

/// A TLS terminator. Dropping it closes all connections.
pub struct TlsTerminator {
    address: SocketAddr,
    log: Arc<ConnectionLog>,
    state: watch::Sender<TerminatorState>,
    _accepting: JoinSet<()>,
}

#[derive(Clone, Copy, PartialEq)]
enum TerminatorState {
    Open,
    /// Connections stay open, but nothing is forwarded.
    Frozen,
    /// Connections up to this number are closed.
    Cut(usize),
}

#[derive(Default)]
struct ConnectionLog(Mutex<Vec<bool>>);

impl ConnectionLog {
    /// Records a connection; returns its number.
    fn add(&self, resumed: bool) -> usize {
        let mut all = self.0.lock();
        all.push(resumed);
        all.len()
    }

    fn all(&self) -> Vec<bool> {
        self.0.lock().clone()
    }
}

impl TlsTerminator {
    /// Starts a terminator in front of a server, with these ALPN protocols.
    pub async fn start(
        server: SocketAddr,
        certificate: ServerCertificate,
        protocols: &[&str],
    ) -> Self {
        let (listener, address) = listen().await;
        let acceptor = TlsAcceptor::from(Arc::new(certificate.into_server_config(protocols)));
        let (state, watched) = watch::channel(TerminatorState::Open);
        let log = Arc::new(ConnectionLog::default());
        let mut accepting = JoinSet::new();
        accepting.spawn(accept(
            listener,
            server,
            acceptor,
            Arc::clone(&log),
            watched,
        ));
        Self {
            address,
            log,
            state,
            _accepting: accepting,
        }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// For each connection so far, whether it resumed an earlier TLS session.
    pub fn resumed(&self) -> Vec<bool> {
        self.log.all()
    }

    /// Stops forwarding without closing connections, like a peer that vanished.
    pub fn freeze(&self) {
        self.state.send_replace(TerminatorState::Frozen);
    }

    /// Closes all open connections.
    pub fn cut(&self) {
        self.state
            .send_replace(TerminatorState::Cut(self.log.all().len()));
    }
}

async fn accept(
    listener: TcpListener,
    server: SocketAddr,
    acceptor: TlsAcceptor,
    log: Arc<ConnectionLog>,
    state: watch::Receiver<TerminatorState>,
) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let (acceptor, log, state) = (acceptor.clone(), Arc::clone(&log), state.clone());
        connections.spawn(forward(stream, server, acceptor, log, state));
    }
}

async fn forward(
    stream: TcpStream,
    server: SocketAddr,
    acceptor: TlsAcceptor,
    log: Arc<ConnectionLog>,
    mut state: watch::Receiver<TerminatorState>,
) {
    stream.set_nodelay(true).ok();
    // A client that rejects the certificate disconnects.
    let Ok(mut client) = acceptor.accept(stream).await else {
        return;
    };
    let kind = client.get_ref().1.handshake_kind();
    let number = log.add(kind == Some(tokio_rustls::rustls::HandshakeKind::Resumed));
    let Ok(mut upstream) = TcpStream::connect(server).await else {
        return;
    };
    upstream.set_nodelay(true).ok();
    let cut = async |state: &mut watch::Receiver<TerminatorState>| {
        let ends = |state: &TerminatorState| match state {
            TerminatorState::Open => false,
            TerminatorState::Frozen => true,
            TerminatorState::Cut(last) => number <= *last,
        };
        state.wait_for(ends).await.map(|state| *state)
    };
    tokio::select! {
        _ = copy_bidirectional(&mut client, &mut upstream) => {}
        state = cut(&mut state) => {
            if let Ok(TerminatorState::Frozen) = state {
                std::future::pending::<()>().await;
            }
        }
    }
}

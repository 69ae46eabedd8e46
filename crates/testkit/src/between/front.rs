//! A server's transport with encryption: what comes in goes on to the server in the clear.
//!
//! Must not know: what the bytes mean.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use super::Identity;

/// A transport. Dropping it closes everything.
pub struct TlsFront {
    address: SocketAddr,
    log: Arc<Log>,
    state: watch::Sender<State>,
    _taking: JoinSet<()>,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Open,
    /// Connections stay, and nothing goes through.
    Frozen,
    /// Connections of this generation and before are cut.
    Cut(usize),
}

#[derive(Default)]
struct Log(Mutex<Vec<bool>>);

impl Log {
    /// Notes a connection; gives its number.
    fn add(&self, resumed: bool) -> usize {
        let mut all = self.0.lock();
        all.push(resumed);
        all.len()
    }

    fn all(&self) -> Vec<bool> {
        self.0.lock().clone()
    }
}

impl TlsFront {
    /// A transport to this server, that can be spoken to in these protocols.
    pub async fn before(server: SocketAddr, identity: Identity, protocols: &[&str]) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.expect("a port is free");
        let address = listener.local_addr().expect("the socket has an address");
        let acceptor = TlsAcceptor::from(Arc::new(identity.server(protocols)));
        let (state, watched) = watch::channel(State::Open);
        let log = Arc::new(Log::default());
        let mut taking = JoinSet::new();
        taking.spawn(take(listener, server, acceptor, Arc::clone(&log), watched));
        Self {
            address,
            log,
            state,
            _taking: taking,
        }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// For each connection so far, whether it went on with the session of one before.
    pub fn resumed(&self) -> Vec<bool> {
        self.log.all()
    }

    /// Lets nothing through any more, and closes nothing: as a peer that vanished.
    pub fn freeze(&self) {
        self.state.send_replace(State::Frozen);
    }

    /// Cuts all connections that are open.
    pub fn cut(&self) {
        self.state.send_replace(State::Cut(self.log.all().len()));
    }
}

async fn take(
    listener: TcpListener,
    server: SocketAddr,
    acceptor: TlsAcceptor,
    log: Arc<Log>,
    state: watch::Receiver<State>,
) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let (acceptor, log, state) = (acceptor.clone(), Arc::clone(&log), state.clone());
        connections.spawn(pass(stream, server, acceptor, log, state));
    }
}

async fn pass(
    stream: TcpStream,
    server: SocketAddr,
    acceptor: TlsAcceptor,
    log: Arc<Log>,
    mut state: watch::Receiver<State>,
) {
    stream.set_nodelay(true).ok();
    // A client that does not like the certificate goes away.
    let Ok(mut near) = acceptor.accept(stream).await else {
        return;
    };
    let kind = near.get_ref().1.handshake_kind();
    let number = log.add(kind == Some(tokio_rustls::rustls::HandshakeKind::Resumed));
    let Ok(mut far) = TcpStream::connect(server).await else {
        return;
    };
    far.set_nodelay(true).ok();
    let cut = async |state: &mut watch::Receiver<State>| {
        let ends = |state: &State| match state {
            State::Open => false,
            State::Frozen => true,
            State::Cut(last) => number <= *last,
        };
        state.wait_for(ends).await.map(|state| *state)
    };
    tokio::select! {
        _ = copy_bidirectional(&mut near, &mut far) => {}
        state = cut(&mut state) => {
            if let Ok(State::Frozen) = state {
                std::future::pending::<()>().await;
            }
        }
    }
}

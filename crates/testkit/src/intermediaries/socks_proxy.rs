//! A SOCKS 5 proxy that forwards to one server, whatever the requested target.
//!
//! Must not know: what is sent through it.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::listen;

const VERSION: u8 = 5;
const PASSWORD_AUTHENTICATION: u8 = 2;
const DOMAIN_NAME_ADDRESS: u8 = 3;

/// A proxy that requires a user name and a password. Dropping it closes all connections.
pub struct SocksProxy {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    _accepting: JoinSet<()>,
}

impl SocksProxy {
    /// Starts a proxy that forwards to this server.
    pub async fn forwarding_to(server: SocketAddr) -> Self {
        let (listener, address) = listen().await;
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let recorded = Arc::clone(&requests);
        let mut accepting = JoinSet::new();
        accepting.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                let recorded = Arc::clone(&recorded);
                connections.spawn(async move {
                    forward(client, server, &recorded).await.ok();
                });
            }
        });
        Self {
            address,
            requests,
            _accepting: accepting,
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The requests received so far: `user:password host:port`.
    pub fn requests(&self) -> Vec<String> {
        let requests = self.requests.lock();
        requests.clone()
    }
}

async fn forward(
    mut client: TcpStream,
    server: SocketAddr,
    recorded: &Mutex<Vec<String>>,
) -> io::Result<()> {
    // Greeting: version and authentication methods.
    let _version = client.read_u8().await?;
    text(&mut client).await?;
    client
        .write_all(&[VERSION, PASSWORD_AUTHENTICATION])
        .await?;
    // User name and password.
    let _version = client.read_u8().await?;
    let (name, password) = (text(&mut client).await?, text(&mut client).await?);
    client.write_all(&[1, 0]).await?;
    // Request: version, command, reserved byte, address type.
    let mut head = [0; 4];
    client.read_exact(&mut head).await?;
    if head[3] != DOMAIN_NAME_ADDRESS {
        return client
            .write_all(&[VERSION, 8, 0, 1, 0, 0, 0, 0, 0, 0])
            .await;
    }
    let (host, port) = (text(&mut client).await?, client.read_u16().await?);
    let line = format!("{name}:{password} {host}:{port}");
    recorded.lock().push(line);
    let mut upstream = TcpStream::connect(server).await?;
    client
        .write_all(&[VERSION, 0, 0, 1, 0, 0, 0, 0, 0, 0])
        .await?;
    copy_bidirectional(&mut client, &mut upstream).await?;
    Ok(())
}

/// Reads a string that is preceded by its length.
async fn text(stream: &mut TcpStream) -> io::Result<String> {
    let mut bytes = vec![0; stream.read_u8().await?.into()];
    stream.read_exact(&mut bytes).await?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

//! A proxy over SOCKS 5, always to one server, under whatever name it is asked for.
//!
//! Must not know: what is said through it.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

const VERSION: u8 = 5;
const BY_PASSWORD: u8 = 2;
const A_NAME: u8 = 3;

/// A proxy that wants a name and a password. Dropping it closes everything.
pub struct SocksProxy {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
    _taking: JoinSet<()>,
}

impl SocksProxy {
    /// One that knows the way to this server.
    pub async fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.expect("a port is free");
        let address = listener.local_addr().expect("the socket has an address");
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let noted = Arc::clone(&asked);
        let mut taking = JoinSet::new();
        taking.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((near, _)) = listener.accept().await {
                let noted = Arc::clone(&noted);
                connections.spawn(async move {
                    pass(near, server, &noted).await.ok();
                });
            }
        });
        Self {
            address,
            asked,
            _taking: taking,
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Who asked it for what: `name:password host:port`.
    pub fn asked(&self) -> Vec<String> {
        let asked = self.asked.lock();
        asked.clone()
    }
}

async fn pass(
    mut near: TcpStream,
    server: SocketAddr,
    noted: &Mutex<Vec<String>>,
) -> io::Result<()> {
    // Greeting: version, and the ways to say who one is.
    let _version = near.read_u8().await?;
    text(&mut near).await?;
    near.write_all(&[VERSION, BY_PASSWORD]).await?;
    // Who it is.
    let _version = near.read_u8().await?;
    let (name, password) = (text(&mut near).await?, text(&mut near).await?);
    near.write_all(&[1, 0]).await?;
    // Where to: version, command, a reserved byte, the kind of address.
    let mut head = [0; 4];
    near.read_exact(&mut head).await?;
    if head[3] != A_NAME {
        return near.write_all(&[VERSION, 8, 0, 1, 0, 0, 0, 0, 0, 0]).await;
    }
    let (host, port) = (text(&mut near).await?, near.read_u16().await?);
    let line = format!("{name}:{password} {host}:{port}");
    noted.lock().push(line);
    let mut far = TcpStream::connect(server).await?;
    near.write_all(&[VERSION, 0, 0, 1, 0, 0, 0, 0, 0, 0])
        .await?;
    copy_bidirectional(&mut near, &mut far).await?;
    Ok(())
}

/// What has its length before it.
async fn text(stream: &mut TcpStream) -> io::Result<String> {
    let mut bytes = vec![0; stream.read_u8().await?.into()];
    stream.read_exact(&mut bytes).await?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

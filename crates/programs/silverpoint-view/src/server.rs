//! The server: binds, accepts a bounded number of connections, and ends on request or when it is idle.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hyper::server::conn::http1;
use hyper::service::service_fn;
use tokio::net::{TcpListener, TcpStream};

use crate::guard::Guard;
use crate::http::{self, Server};
use crate::io::Connection;
use crate::sql::Sql;
use crate::switches::Switches;
use crate::worker::{Views, Worker};

/// Connections at once; a browser opens six.
const CONNECTIONS_MAX: usize = 64;
/// Between two looks whether to end.
const LOOK: Duration = Duration::from_millis(100);
/// Threads for what waits for other programs.
const BLOCKING_MAX: usize = 2;
/// Bytes of a request's head.
const HEAD_MAX: usize = 32 << 10;

/// Where and how long.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Where it listens; port 0: any.
    pub listen: SocketAddr,
    /// It ends when nobody has asked for so long.
    pub idle: Option<Duration>,
}

/// Serves until `stop` is set, or it has been idle for too long. `ready` is given the address that opens the page, once.
///
/// # Errors
/// The address cannot be listened at, or a thread cannot be started.
pub fn serve(
    mut views: Views,
    options: Options,
    stop: &AtomicBool,
    ready: impl FnOnce(&str),
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .max_blocking_threads(BLOCKING_MAX)
        .build()?;
    let sql = Sql::start(views.source())?;
    // Over a network, a program that listens in could do it, too.
    let switches = Switches::of(views.source()).filter(|_| options.listen.ip().is_loopback()).map(Arc::new);
    views.has_switches = switches.is_some();
    let (worker, thread) = Worker::start(views)?;
    let ended = runtime.block_on(async {
        let listener = TcpListener::bind(options.listen).await?;
        let address = listener.local_addr()?;
        let server = Arc::new(Server {
            guard: Guard::new(address)?,
            is_token_used: AtomicBool::new(false),
            worker,
            sql,
            switches,
            begun: Instant::now(),
            asked: AtomicU64::new(0),
        });
        ready(&format!("http://{}/?token={}", reachable(address), server.guard.token()));
        accept(&listener, &server, options.idle, stop).await;
        Ok(())
    });
    // Connections go with the runtime, and with them the last way to the readers: their thread ends.
    drop(runtime);
    let _ = thread.join();
    ended
}

/// An address that a browser can open.
fn reachable(address: SocketAddr) -> SocketAddr {
    match address {
        SocketAddr::V4(v4) if v4.ip().is_unspecified() => ([127, 0, 0, 1], address.port()).into(),
        SocketAddr::V6(v6) if v6.ip().is_unspecified() => {
            (std::net::Ipv6Addr::LOCALHOST, address.port()).into()
        }
        other => other,
    }
}

async fn accept(listener: &TcpListener, server: &Arc<Server>, idle: Option<Duration>, stop: &AtomicBool) {
    let count = Arc::new(AtomicUsize::new(0));
    while !stop.load(Ordering::Relaxed) {
        let asked = Duration::from_millis(server.asked.load(Ordering::Relaxed));
        if idle.is_some_and(|idle| server.begun.elapsed().saturating_sub(asked) >= idle) {
            return;
        }
        let accepted = tokio::time::timeout(LOOK, listener.accept()).await;
        match accepted {
            Ok(Ok((stream, _))) if count.load(Ordering::Relaxed) < CONNECTIONS_MAX => {
                let (server, count) = (Arc::clone(server), Arc::clone(&count));
                count.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(async move {
                    connection(server, stream).await;
                    count.fetch_sub(1, Ordering::Relaxed);
                });
            }
            // No descriptor is free, or there are too many connections: others must end first.
            Ok(Ok(_)) => {}
            Ok(Err(_)) => tokio::time::sleep(LOOK).await,
            Err(_) => {}
        }
    }
}

async fn connection(server: Arc<Server>, stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| http::answer(Arc::clone(&server), request));
    let mut builder = http1::Builder::new();
    builder.max_buf_size(HEAD_MAX).max_headers(64);
    // What a browser does wrong concerns only itself.
    let _ = builder.serve_connection(Connection::new(stream), service).await;
}

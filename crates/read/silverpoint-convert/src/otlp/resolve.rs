//! Addresses of a collector's name. The HTTP library's own way panics where no thread can be started.

use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::{io, thread, vec};

use ureq::Error;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

/// Asks the system, in a thread of its own, so that the answer is waited for only so long. Where there can be no thread, it is waited for as long as it takes.
#[derive(Debug)]
pub(super) struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let host = uri.host().ok_or(Error::HostNotFound)?.to_owned();
        // (An address of IPv6 stands in brackets.)
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = uri.port_u16().unwrap_or(80);
        let found = addresses(host, port, &timeout)?;
        let mut addresses = self.empty();
        for address in config.ip_family().keep_wanted(found).take(16) {
            addresses.push(address);
        }
        if addresses.is_empty() { Err(Error::HostNotFound) } else { Ok(addresses) }
    }
}

fn addresses(host: String, port: u16, timeout: &NextTimeout) -> Result<vec::IntoIter<SocketAddr>, Error> {
    let (sender, receiver) = sync_channel::<io::Result<vec::IntoIter<SocketAddr>>>(1);
    let name = host.clone();
    let ask = move || drop(sender.send((name.as_str(), port).to_socket_addrs()));
    match thread::Builder::new().name("resolve".into()).spawn(ask) {
        Err(_) => Ok((host.as_str(), port).to_socket_addrs()?),
        Ok(_) => match receiver.recv_timeout(*timeout.after) {
            Ok(found) => Ok(found?),
            Err(RecvTimeoutError::Timeout) => Err(Error::Timeout(timeout.reason)),
            Err(RecvTimeoutError::Disconnected) => Err(Error::HostNotFound),
        },
    }
}

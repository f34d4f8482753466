//! Messages to a server: datagrams, or a stream with a frame around each message.
//!
//! A call waits at most [`PATIENCE`] for a receiver that is behind, and then reports it. The next call makes
//! a broken connection again.

use std::io::{self, IoSlice, Write};
use std::mem::MaybeUninit;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs, UdpSocket};
use std::os::fd::{AsFd, IntoRawFd};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::time::Duration;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fstat, memfd_create};
use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

use crate::config::Address;

/// Longest wait for room at the receiver, and for a connection.
const PATIENCE: Duration = Duration::from_millis(100);
const CONNECT_PATIENCE: Duration = Duration::from_secs(2);

/// A message that a datagram cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TooLong {
    /// Its beginning is sent.
    Cut,
    /// It is sent as a sealed file, as the journal takes it.
    File,
}

/// A connection, or the target of one.
#[derive(Debug)]
pub(super) struct Channel {
    address: Address,
    too_long: TooLong,
    open: Option<Open>,
    /// The identity behind its descriptor. The program may close that, and open something else under the
    /// number.
    identity: (u64, u64),
    /// Bytes of the first waiting frame that this stream has sent.
    begun: usize,
}

#[derive(Debug)]
enum Open {
    Local(UnixDatagram),
    LocalStream(UnixStream),
    Udp(UdpSocket),
    Tcp(TcpStream),
}

impl Channel {
    pub(super) fn new(address: Address, too_long: TooLong) -> Self {
        Self { address, too_long, open: None, identity: (0, 0), begun: 0 }
    }

    /// Sends one message; a stream gets `frame(message)`. After an error it was not sent completely, and may
    /// be sent again.
    pub(super) fn send(&mut self, message: &[u8]) -> io::Result<()> {
        let was_open = self.open.is_some();
        match self.attempt(message) {
            // The server was restarted: one more attempt by its name, before the error is reported.
            Err(error) if was_open && self.open.is_none() => self.attempt(message).map_err(|_| error),
            sent => sent,
        }
    }

    fn attempt(&mut self, message: &[u8]) -> io::Result<()> {
        self.forget_closed();
        if self.open.is_none() {
            self.begun = 0;
            let open = connect(&self.address)?;
            self.identity = identity(&open);
            self.open = Some(open);
        }
        let Some(open) = &mut self.open else { return Err(io::ErrorKind::NotConnected.into()) };
        let sent = match open {
            Open::Local(socket) => datagram(socket, message, self.too_long),
            Open::Udp(socket) => cut(message, |part| socket.send(part)),
            Open::LocalStream(stream) => push(stream, &[message, b"\0"].concat(), &mut self.begun),
            Open::Tcp(stream) => {
                let frame = [format!("{} ", message.len()).as_bytes(), message].concat();
                push(stream, &frame, &mut self.begun)
            }
        };
        if sent.as_ref().is_err_and(|error| !is_full(error)) {
            self.open = None;
        }
        sent
    }
}

impl Channel {
    /// A connection whose descriptor stands for something else now is neither used nor closed.
    fn forget_closed(&mut self) {
        if let Some(open) = self.open.take_if(|open| identity(open) != self.identity) {
            let _ = match open {
                Open::Local(socket) => socket.into_raw_fd(),
                Open::LocalStream(stream) => stream.into_raw_fd(),
                Open::Udp(socket) => socket.into_raw_fd(),
                Open::Tcp(stream) => stream.into_raw_fd(),
            };
        }
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.forget_closed();
    }
}

fn identity(open: &Open) -> (u64, u64) {
    let found = match open {
        Open::Local(socket) => fstat(socket),
        Open::LocalStream(stream) => fstat(stream),
        Open::Udp(socket) => fstat(socket),
        Open::Tcp(stream) => fstat(stream),
    };
    found.map_or((0, 0), |found| (found.st_dev, found.st_ino))
}

/// Whether a receiver is there, but behind.
fn is_full(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock
        || error.kind() == io::ErrorKind::TimedOut
        || error.raw_os_error() == Some(Errno::NOBUFS.raw_os_error())
}

fn connect(address: &Address) -> io::Result<Open> {
    match address {
        Address::Local(path) => {
            let socket = UnixDatagram::unbound()?;
            match socket.connect(path) {
                Ok(()) => {
                    socket.set_write_timeout(Some(PATIENCE))?;
                    Ok(Open::Local(socket))
                }
                Err(error) if error.raw_os_error() == Some(Errno::PROTOTYPE.raw_os_error()) => {
                    let stream = UnixStream::connect(path)?;
                    stream.set_write_timeout(Some(PATIENCE))?;
                    Ok(Open::LocalStream(stream))
                }
                Err(error) => Err(error),
            }
        }
        Address::Udp(host) => first(host, |address| {
            let any = if address.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
            let socket = UdpSocket::bind(any)?;
            socket.connect(address)?;
            socket.set_write_timeout(Some(PATIENCE))?;
            Ok(Open::Udp(socket))
        }),
        Address::Tcp(host) => first(host, |address| {
            let stream = TcpStream::connect_timeout(&address, CONNECT_PATIENCE)?;
            stream.set_write_timeout(Some(PATIENCE))?;
            Ok(Open::Tcp(stream))
        }),
    }
}

/// The first address of a name that can be connected to.
fn first(host: &str, connect: impl Fn(SocketAddr) -> io::Result<Open>) -> io::Result<Open> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in host.to_socket_addrs()? {
        match connect(address) {
            Ok(open) => return Ok(open),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// The rest of a frame, of which `begun` bytes were sent before.
fn push(stream: &mut impl Write, frame: &[u8], begun: &mut usize) -> io::Result<()> {
    while let Some(rest) = frame.get(*begun..).filter(|rest| !rest.is_empty()) {
        match stream.write(rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => *begun += written,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    *begun = 0;
    Ok(())
}

fn datagram(socket: &UnixDatagram, message: &[u8], too_long: TooLong) -> io::Result<()> {
    match too_long {
        TooLong::Cut => cut(message, |part| socket.send(part)),
        TooLong::File => match socket.send(message) {
            Err(error) if is_too_long(&error) => as_file(socket, message),
            sent => sent.map(drop),
        },
    }
}

fn is_too_long(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::MSGSIZE.raw_os_error())
}

/// As much of a message from its beginning as a datagram holds, by halves.
fn cut(message: &[u8], send: impl Fn(&[u8]) -> io::Result<usize>) -> io::Result<()> {
    let mut part = message;
    loop {
        match send(part) {
            Err(error) if is_too_long(&error) && part.len() > 1 => {
                let mut half = part.len() / 2;
                // Not within a character.
                while half > 1 && part[half] & 0xC0 == 0x80 {
                    half -= 1;
                }
                part = &part[..half];
            }
            sent => return sent.map(drop),
        }
    }
}

/// Sends a sealed file in memory instead of the message: the receiver may read it later, because nothing can
/// change it.
fn as_file(socket: &UnixDatagram, message: &[u8]) -> io::Result<()> {
    let memory = memfd_create("silverpoint-message", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    let mut file = std::fs::File::from(memory);
    file.write_all(message)?;
    fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE | SealFlags::SEAL)?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let descriptors = [file.as_fd()];
    control.push(SendAncillaryMessage::ScmRights(&descriptors));
    sendmsg(socket, &[IoSlice::new(&[])], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

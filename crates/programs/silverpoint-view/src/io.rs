//! A connection as hyper reads and writes it; one that brings nothing for a while is closed.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::rt::{Read, ReadBufCursor, Write};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};

/// How long a connection may bring nothing.
const SILENCE: Duration = Duration::from_secs(60);
/// Bytes that are read at a time.
const CHUNK: usize = 8 << 10;

/// See the module.
pub struct Connection {
    stream: TcpStream,
    silence: Pin<Box<Sleep>>,
}

impl Connection {
    /// Of a stream.
    pub fn new(stream: TcpStream) -> Self {
        Self { stream, silence: Box::pin(tokio::time::sleep(SILENCE)) }
    }
}

impl Read for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let mut bytes = [0u8; CHUNK];
        let most = buffer.remaining().min(CHUNK);
        let mut read = ReadBuf::new(&mut bytes[..most]);
        match Pin::new(&mut self.stream).poll_read(context, &mut read) {
            Poll::Ready(Ok(())) => {
                buffer.put_slice(read.filled());
                self.silence.as_mut().reset(Instant::now() + SILENCE);
                Poll::Ready(Ok(()))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => {
                self.silence.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
            }
        }
    }
}

impl Write for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

//! What a writer has made and not yet handed on: it goes out in large pieces.

use std::io::{self, Write};

/// Bytes from which on it is handed on.
pub(crate) const FULL: usize = 64 << 10;

/// Text or bytes that wait.
pub(crate) trait Waiting {
    fn bytes(&self) -> &[u8];
    fn clear(&mut self);

    /// Hands on what waits, if it is enough.
    #[inline]
    fn relieve(&mut self, out: &mut impl Write) -> io::Result<()> {
        if self.bytes().len() < FULL { Ok(()) } else { self.hand_on(out) }
    }

    /// Hands on all that waits.
    fn hand_on(&mut self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(self.bytes())?;
        self.clear();
        Ok(())
    }

    /// Hands on all that waits, which is the last.
    fn end(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.hand_on(out)?;
        out.flush()
    }
}

impl Waiting for String {
    fn bytes(&self) -> &[u8] {
        self.as_bytes()
    }

    fn clear(&mut self) {
        String::clear(self);
    }
}

impl Waiting for Vec<u8> {
    fn bytes(&self) -> &[u8] {
        self
    }

    fn clear(&mut self) {
        Vec::clear(self);
    }
}

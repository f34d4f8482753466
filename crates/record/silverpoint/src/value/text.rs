//! Texts, and values recorded as their text.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::fmt;
use std::net;
use std::path::{Path, PathBuf};

use super::{Known, Trace, transparent};
use crate::item::Item;
use crate::placed::{Shown, ShownDebug};
use crate::sig::{Class, Sig};
use crate::writer::Writer;

/// Values whose bytes are a text. Paths and other texts of the system keep every byte, UTF-8 or not.
macro_rules! texts {
    ($($kind:ty, $self:ident => $bytes:expr;)*) => {$(
        impl Trace for $kind {
            const SIGNATURE: Sig = Sig::Text("s");
            const FIXED: Option<usize> = None;
            const CLASS: Class = Class::Text;
            const EXACT: Known<Self> = Known::when(true);
            const ONCE: bool = false;
            #[inline(always)]
            fn trace_size(&$self) -> usize {
                4 + $bytes.len()
            }
            #[inline(always)]
            fn trace_least(&$self) -> usize {
                $self.trace_size().min(8)
            }
            #[inline(always)]
            fn trace_write(&$self, writer: &mut Writer<'_>) {
                writer.text($bytes);
            }
            fn trace_item(&$self, item: &mut Item<'_>) {
                item.text_lossy($bytes);
            }
        }
    )*};
}

texts! {
    str, self => self.as_bytes();
    OsStr, self => self.as_encoded_bytes();
    Path, self => self.as_os_str().as_encoded_bytes();
    CStr, self => self.to_bytes();
}

transparent! {
    [] String as str, self => self.as_str();
    [] OsString as OsStr, self => self.as_os_str();
    [] PathBuf as Path, self => self.as_path();
    [] CString as CStr, self => self.as_c_str();
}

/// Bytes that are no text and no list of numbers: recorded as one value of bytes.
#[derive(Clone, Copy, Debug)]
pub struct Bytes<'a>(pub &'a [u8]);

impl Trace for Bytes<'_> {
    const SIGNATURE: Sig = Sig::Text("y");
    const FIXED: Option<usize> = None;
    const EXACT: Known<Self> = Known::when(true);
    const ONCE: bool = false;

    #[inline(always)]
    fn trace_size(&self) -> usize {
        4 + self.0.len()
    }
    #[inline(always)]
    fn trace_least(&self) -> usize {
        self.trace_size().min(8)
    }
    #[inline(always)]
    fn trace_write(&self, writer: &mut Writer<'_>) {
        let kept = writer.sequence(self.0.len(), 1);
        writer.raw(&self.0[..kept]);
    }
    fn trace_item(&self, item: &mut Item<'_>) {
        item.bytes(self.0);
    }
}

/// A value recorded as its `Display` text, formatted once (`%value`).
pub struct Displayed<'a, T: ?Sized>(pub &'a T);
/// A value recorded as its `Debug` text, formatted once (`?value`).
pub struct Debugged<'a, T: ?Sized>(pub &'a T);

/// Formatted once, into its place.
macro_rules! formatted {
    ($([$($generics:tt)*] $kind:ty, $self:ident => $text:expr;)*) => {$(
        impl<$($generics)*> $crate::Trace for $kind {
            const SIGNATURE: $crate::sig::Sig = $crate::sig::Sig::Text("s");
            const FIXED: Option<usize> = None;
            const CLASS: $crate::sig::Class = $crate::sig::Class::Text;
            fn trace_size(&$self) -> usize {
                8 + $crate::writer::formatted_len($text)
            }
            fn trace_least(&$self) -> usize {
                8
            }
            fn trace_write(&$self, writer: &mut $crate::Writer<'_>) {
                writer.formatted($text);
            }
            fn trace_item(&$self, item: &mut $crate::Item<'_>) {
                item.formatted($text);
            }
        }
    )*};
}
#[cfg(any(feature = "chrono", feature = "time"))]
pub(super) use formatted;

formatted! {
    [T: fmt::Display + ?Sized] Displayed<'_, T>, self => format_args!("{}", self.0);
    [T: fmt::Display + ?Sized] Shown<T>, self => format_args!("{self:?}");
    [T: fmt::Debug + ?Sized] ShownDebug<T>, self => format_args!("{self:?}");
    [T: fmt::Debug + ?Sized] Debugged<'_, T>, self => format_args!("{:?}", self.0);
    [] fmt::Arguments<'_>, self => *self;
    [] std::thread::ThreadId, self => format_args!("{self:?}");
    [] std::process::ExitStatus, self => format_args!("{self}");
    [] std::io::ErrorKind, self => format_args!("{self:?}");
    [] std::io::Error, self => format_args!("{self}");
    [] net::Ipv4Addr, self => format_args!("{self}");
    [] net::Ipv6Addr, self => format_args!("{self}");
    [] net::IpAddr, self => format_args!("{self}");
    [] net::SocketAddrV4, self => format_args!("{self}");
    [] net::SocketAddrV6, self => format_args!("{self}");
    [] net::SocketAddr, self => format_args!("{self}");
}

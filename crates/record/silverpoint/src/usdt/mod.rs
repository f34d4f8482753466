//! USDT probes at the places of tracepoints (spec/usdt.md): only with the feature `usdt`.
//!
//! ```text
//!  semaphore not 0 ─▶ mark in the state ─▶ arguments ─▶ Scratch, once ─▶ numbers ─▶ `nop` ─▶ the record, if the site is on
//!  when the program is compiled: names and sizes ─▶ words ─▶ the assembler writes the note
//! ```

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
compile_error!("silverpoint: the feature `usdt` needs Linux on x86-64 or AArch64");

mod atrace;
mod attached;
mod message;
mod name;
mod numbers;
mod span;

use std::arch::asm;
use std::marker::PhantomData;
use std::time::Instant;

use crate::args::{Args, Borrower};
use crate::header::Made;
use crate::level::AtLevel;
use crate::platform::owner;
use crate::probed::{self, Written};
use crate::scratch::{Scratch, Unfinished};
use crate::site::{Meta, Site};
pub(crate) use atrace::hit_atrace;
pub(crate) use attached::{ATTACHED, is_attached, marked};
pub(crate) use message::hit_message;
use name::Names;
use numbers::{MOST, Numbers, Signature};
pub(crate) use span::hit_span;

/// What the note of a probe says.
trait Note {
    const PROVIDER: [u64; 4];
    const NAME: [u64; 7];
    /// Of each number four bits: whether it has a sign, then its size as a power of two.
    const SIZES: u64;
    const COUNT: u64;
}

/// The probe of a site.
struct Whole<M, A>(PhantomData<(M, A)>);

impl<M: Meta, A: Args> Whole<M, A> {
    const SIGNATURE: Signature = Signature::of(&A::SIGNATURE);
    const NUMBERS: Numbers = Numbers::of(&Self::SIGNATURE);
    const NAMES: Names = Names::of::<M>(name::suffix(M::KIND));
}

impl<M: Meta, A: Args> Note for Whole<M, A> {
    const PROVIDER: [u64; 4] = Self::NAMES.provider;
    const NAME: [u64; 7] = Self::NAMES.name;
    const SIZES: u64 = Self::NUMBERS.sizes;
    const COUNT: u64 = Self::NUMBERS.count as u64;
}

/// The probe at the end of a span: its duration in ns.
struct End<M>(PhantomData<M>);

impl<M: Meta> End<M> {
    const NAMES: Names = Names::of::<M>("_exit");
}

impl<M: Meta> Note for End<M> {
    const PROVIDER: [u64; 4] = Self::NAMES.provider;
    const NAME: [u64; 7] = Self::NAMES.name;
    const SIZES: u64 = numbers::size(8, false);
    const COUNT: u64 = 1;
}

/// The characters of words, the lowest first, without the zeros behind them; then a zero.
macro_rules! text {
    ($words:literal) => {
        concat!(
            ".irp sp_word,",
            $words,
            "\n",
            ".set .Lsp_usdt_left,\\sp_word\n.rept 8\n",
            ".if .Lsp_usdt_left&255\n.byte .Lsp_usdt_left&255\n.endif\n",
            ".set .Lsp_usdt_left,.Lsp_usdt_left>>8\n.endr\n.endr\n.byte 0"
        )
    };
}

/// A number of the probe, if it has so many: its size and sign, and the register that it is in.
macro_rules! argument {
    ($number:literal, $register:literal) => {
        concat!(
            ".if {count}>",
            $number,
            "\n.if ",
            $number,
            "\n.byte 32\n.endif\n.if ({sizes}>>(4*",
            $number,
            "))&1\n.byte 45\n.endif\n.byte 48+(1<<(({sizes}>>(4*",
            $number,
            "+1))&3)),64\n.ascii \"",
            $register,
            "\"\n.endif"
        )
    };
}

macro_rules! probe {
    ($numbers:ident $($option:ident)?) => {
        asm!(
            "990: nop",
            // It goes where its function goes, if the linker drops that.
            ".pushsection .note.stapsdt,\"o\",\"note\",{function}",
            ".balign 4",
            ".4byte 992f-991f,994f-993f,3",
            "991: .asciz \"stapsdt\"",
            "992: .balign 4",
            "993: .8byte 990b,_.stapsdt.base,silverpoint_usdt_semaphore",
            text!("{p0},{p1},{p2},{p3}"),
            text!("{n0},{n1},{n2},{n3},{n4},{n5},{n6}"),
            argument!("0", "{a0}"),
            argument!("1", "{a1}"),
            argument!("2", "{a2}"),
            argument!("3", "{a3}"),
            argument!("4", "{a4}"),
            argument!("5", "{a5}"),
            argument!("6", "{a6}"),
            argument!("7", "{a7}"),
            argument!("8", "{a8}"),
            argument!("9", "{a9}"),
            argument!("10", "{a10}"),
            argument!("11", "{a11}"),
            ".byte 0",
            "994: .balign 4",
            ".popsection",
            // For tools that know of prelinked files. Among the code: perf takes it that both lie equally far
            // from their places in the file, which differs between the segments that lld makes.
            ".ifndef _.stapsdt.base",
            ".pushsection .stapsdt.base,\"axG\",\"progbits\",.stapsdt.base,comdat",
            ".weak _.stapsdt.base",
            ".hidden _.stapsdt.base",
            "_.stapsdt.base: .space 1",
            ".size _.stapsdt.base,1",
            ".popsection",
            ".endif",
            function = sym hit::<N>,
            p0 = const N::PROVIDER[0],
            p1 = const N::PROVIDER[1],
            p2 = const N::PROVIDER[2],
            p3 = const N::PROVIDER[3],
            n0 = const N::NAME[0],
            n1 = const N::NAME[1],
            n2 = const N::NAME[2],
            n3 = const N::NAME[3],
            n4 = const N::NAME[4],
            n5 = const N::NAME[5],
            n6 = const N::NAME[6],
            count = const N::COUNT,
            sizes = const N::SIZES,
            a0 = in(reg) $numbers[0],
            a1 = in(reg) $numbers[1],
            a2 = in(reg) $numbers[2],
            a3 = in(reg) $numbers[3],
            a4 = in(reg) $numbers[4],
            a5 = in(reg) $numbers[5],
            a6 = in(reg) $numbers[6],
            a7 = in(reg) $numbers[7],
            a8 = in(reg) $numbers[8],
            a9 = in(reg) $numbers[9],
            a10 = in(reg) $numbers[10],
            a11 = in(reg) $numbers[11],
            options($($option,)? readonly, nostack, preserves_flags),
        )
    };
}

/// Where tracers stop the thread. All numbers are in registers, which all tools understand.
#[cold]
#[inline(never)]
fn hit<N: Note>(numbers: &[u64; MOST]) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: it does nothing; what is around it only goes into the file.
    unsafe {
        probe!(numbers att_syntax);
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        probe!(numbers);
    }
}

/// Takes the arguments of a site while a tracer is attached: probe, then what LTTng and the ring want.
pub(crate) struct Hit<M, L>(pub(crate) &'static Site, pub(crate) PhantomData<(M, L)>);

impl<M: Meta, L: AtLevel> Borrower for Hit<M, L> {
    type Result = Made;
    #[cold]
    #[inline(never)]
    fn take<A: Args>(self, arguments: &A) -> Made {
        let id = self.0.wanted_id::<M, A>();
        let unfinished = (id != 0).then_some(Unfinished);
        let mut scratch = Scratch::new();
        let written = Written::of(&mut scratch, arguments, Self::take::<A> as *const ());
        if let Some(unfinished) = unfinished {
            unfinished.finish();
        }
        if let Some(len) = written.len {
            // SAFETY: so many were written.
            let bytes = unsafe { scratch.bytes(len) };
            hit::<Whole<M, A>>(&numbers::in_registers(&Whole::<M, A>::SIGNATURE, bytes));
        }
        if id == 0 {
            return Made::LOST;
        }
        probed::give(id, owner::traced(id), M::KIND.is_span(), L::LEVEL, &mut scratch, &written)
    }
}

/// What is hit at the end of a span, and since when it is open.
#[derive(Clone, Copy)]
pub(crate) struct Exit {
    hit: fn(u64),
    begun: Instant,
}

impl Exit {
    /// The span ends.
    #[cold]
    #[inline(never)]
    pub(crate) fn hit(&self) {
        (self.hit)(u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX));
    }
}

/// A span begins while a tracer is attached.
#[inline(always)]
pub(crate) fn begin<M: Meta, L: AtLevel, A: Args>(site: &'static Site, arguments: &A) -> (Made, Exit) {
    fn end<M: Meta>(duration: u64) {
        let mut numbers = [0; MOST];
        numbers[0] = duration;
        hit::<End<M>>(&numbers);
    }
    let begun = Instant::now();
    let made = arguments.lend(Hit::<M, L>(site, PhantomData));
    (made, Exit { hit: end::<M>, begun })
}

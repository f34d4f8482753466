//! The four probes of spans of `tracing` (spec/usdt.md, Spans of tracing). Their places are not ours, so they have no
//! notes of their own.

use std::fmt;

use super::message::{Text, parts, sizes};
use super::name::Names;
use super::numbers::MOST;
use super::{Note, hit};
use crate::span_step::SpanStep;

/// One of [`NAMES`].
struct Step<const AT: usize>;

const NAMES: [Names; 4] = [
    Names::given("silverpoint", "span_begin"),
    Names::given("silverpoint", "span_entry"),
    Names::given("silverpoint", "span_exit"),
    Names::given("silverpoint", "span_end"),
];
/// Of each number: bytes.
const BYTES: [usize; 9] = [8, 8, 8, 8, 8, 8, 4, 8, 8];

impl<const AT: usize> Note for Step<AT> {
    const PROVIDER: [u64; 4] = NAMES[AT].provider;
    const NAME: [u64; 7] = NAMES[AT].name;
    const SIZES: u64 = sizes(&BYTES, 0);
    const COUNT: u64 = BYTES.len() as u64;
}

/// Hits the probe of a step of the span `id`. `write` makes the text.
#[cold]
#[inline(never)]
pub(crate) fn hit_span(
    step: SpanStep,
    of: u64,
    (level, of_target): (u8, &str),
    (in_file, in_line): (&str, u32),
    write: &dyn Fn(&mut dyn fmt::Write) -> fmt::Result,
) {
    let text = Text::of(write);
    let mut numbers = [0; MOST];
    let [id, target, target_len, at, len, last, line, file, file_len, ..] = &mut numbers;
    *id = of;
    (*target, *target_len) = parts(of_target.as_bytes());
    (*at, *len) = parts(text.bytes());
    *line = in_line.into();
    (*file, *file_len) = parts(in_file.as_bytes());
    *last = match step {
        SpanStep::Exit { ns } => ns,
        _ => level.into(),
    };
    match step {
        SpanStep::Begin => hit::<Step<0>>(&numbers),
        SpanStep::Entry => hit::<Step<1>>(&numbers),
        SpanStep::Exit { .. } => hit::<Step<2>>(&numbers),
        SpanStep::End => hit::<Step<3>>(&numbers),
    }
}

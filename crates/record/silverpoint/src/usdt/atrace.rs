//! The nine probes of ATrace's calls, one for each kind (spec/usdt.md, ATrace).

use super::message::{parts, sizes};
use super::name::Names;
use super::numbers::MOST;
use super::{Note, hit};
use crate::atrace_call::AtraceCall;

/// One of [`NAMES`].
struct Call<const AT: usize>;

const NAMES: [Names; 9] = [
    Names::given("silverpoint", "atrace_begin"),
    Names::given("silverpoint", "atrace_end"),
    Names::given("silverpoint", "atrace_async_begin"),
    Names::given("silverpoint", "atrace_async_end"),
    Names::given("silverpoint", "atrace_track_begin"),
    Names::given("silverpoint", "atrace_track_end"),
    Names::given("silverpoint", "atrace_instant"),
    Names::given("silverpoint", "atrace_track_instant"),
    Names::given("silverpoint", "atrace_counter"),
];
/// Numbers of each: tag, name, the call's number, track. The fourth has a sign.
const COUNT: usize = 6;
const SIGNED: usize = 3;

impl<const AT: usize> Note for Call<AT> {
    const PROVIDER: [u64; 4] = NAMES[AT].provider;
    const NAME: [u64; 7] = NAMES[AT].name;
    const SIZES: u64 = sizes(&[8; COUNT], 1 << SIGNED);
    const COUNT: u64 = COUNT as u64;
}

/// Hits the probe of a call.
#[cold]
#[inline(never)]
pub(crate) fn hit_atrace(call: AtraceCall, of_tag: u64, name: &str, of_call: i64, on_track: &str) {
    let mut numbers = [0; MOST];
    let [tag, at, len, number, track, track_len, ..] = &mut numbers;
    (*tag, *number) = (of_tag, of_call as u64);
    (*at, *len) = parts(name.as_bytes());
    (*track, *track_len) = parts(on_track.as_bytes());
    match call {
        AtraceCall::Begin => hit::<Call<0>>(&numbers),
        AtraceCall::End => hit::<Call<1>>(&numbers),
        AtraceCall::AsyncBegin => hit::<Call<2>>(&numbers),
        AtraceCall::AsyncEnd => hit::<Call<3>>(&numbers),
        AtraceCall::TrackBegin => hit::<Call<4>>(&numbers),
        AtraceCall::TrackEnd => hit::<Call<5>>(&numbers),
        AtraceCall::Instant => hit::<Call<6>>(&numbers),
        AtraceCall::TrackInstant => hit::<Call<7>>(&numbers),
        AtraceCall::Counter => hit::<Call<8>>(&numbers),
    }
}

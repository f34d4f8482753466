//! Every decoder over any bytes: none panics, none goes beyond its input, none does more work than its input pays for.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::block::{self, BlockHeader, BlockKind, LossInfo, SessionInfo, StreamInfo, push_block};
use crate::layout::signature::{SIZE_MAX, ZERO_SIZED_MAX};
use crate::record::Records;
use crate::scan::{Found, Scanner};
use crate::signature::{self, Type};
use crate::site::SiteDescription;
use crate::slice::judge_slice;
use crate::value::{Sequence, Text, Visitor, WalkError, skip, walk};
use crate::{function, process, template};

/// Counts what is given out.
#[derive(Default)]
struct Counter {
    visits: usize,
    open: usize,
}

macro_rules! count {
    ($($name:ident($($type:ty),*)),*) => {
        impl Visitor for Counter {
            type Error = std::convert::Infallible;
            $(fn $name(&mut self, $(_: $type),*) -> Result<(), Self::Error> { self.visits += 1; Ok(()) })*
            fn begin_sequence(&mut self, _: Sequence, _: u32, _: u32) -> Result<(), Self::Error> { self.begin() }
            fn begin_map(&mut self, _: u32) -> Result<(), Self::Error> { self.begin() }
            fn begin_record(&mut self, _: &str, _: usize) -> Result<(), Self::Error> { self.begin() }
            fn end(&mut self) -> Result<(), Self::Error> { self.open -= 1; Ok(()) }
        }
    };
}

count!(
    null(),
    bool(bool),
    i64(i64),
    u64(u64),
    i128(i128),
    u128(u128),
    f32(f32),
    f64(f64),
    char(char),
    pointer(u64),
    text(Text<'_>, u32),
    bytes(&[u8], u32),
    uuid([u8; 16]),
    time(i64),
    duration(i64),
    any(&[u8]),
    none(),
    field(&str),
    enumeration(&str, Option<&str>, i64)
);

impl Counter {
    fn begin(&mut self) -> Result<(), std::convert::Infallible> {
        self.visits += 1;
        self.open += 1;
        Ok(())
    }
}

/// Signatures that are often right.
const SIGNATURE: &str = "([nbahiloAHILOfdcwWpsSZyuTtv]|[?\\[$]|#[0-9]{1,5}:|\\{|\\(|\\)|/|\\||<a\\||f:|,|>|eE\\||1=x,|;|@k=v;){0,12}";

fn any_type() -> impl Strategy<Value = Type> {
    let code = prop::sample::select(
        ["n", "b", "i", "O", "d", "c", "w", "s", "S", "y", "v", "u", "eE|h|1=x,;", "()"].as_slice(),
    );
    let leaf = code.prop_map(|code| signature::parse(code).unwrap().remove(0));
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|ty| Type::Optional(Box::new(ty))),
            inner.clone().prop_map(|ty| Type::Sequence(Box::new(ty))),
            inner.clone().prop_map(|ty| Type::Set(Box::new(ty))),
            (0_u32..70_000, inner.clone()).prop_map(|(count, ty)| Type::Array(count, Box::new(ty))),
            (0_u32..4, inner.clone()).prop_map(|(count, ty)| Type::Array(count, Box::new(ty))),
            (inner.clone(), inner.clone()).prop_map(|(k, v)| Type::Map(Box::new(k), Box::new(v))),
            vec(inner.clone(), 0..4).prop_map(|types| Type::Tuple(Box::new(signature::Tuple::new(types)))),
            vec(inner.clone(), 0..4).prop_map(Type::Variant),
            vec((".{0,3}", inner.clone()), 0..4)
                .prop_map(|fields| Type::Record(Box::new(signature::Record::new("R".into(), fields)))),
            (".{0,3}", inner).prop_map(|(key, ty)| Type::Meta(key, "t".into(), Box::new(ty))),
        ]
    })
}

/// Bytes of which many are small, as lengths, marks and indices are.
fn any_bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    vec(prop_oneof![3 => Just(0_u8), 2 => 0_u8..4, 1 => any::<u8>()], 0..most)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 256 }))]

    #[test]
    fn texts_are_judged(text in any::<String>(), near in SIGNATURE) {
        for text in [&text, &near] {
            if let Err(error) = signature::parse(text) {
                prop_assert!(error.at <= text.len());
            }
            if let Err(error) = template::parse(text) {
                prop_assert!(error.at <= text.len());
            }
            prop_assert!(function::function_name(text).len() <= text.len());
            process::lines(text.as_bytes());
        }
    }

    #[test]
    fn a_signature_that_is_printed_is_the_same_when_parsed(types in vec(any_type(), 0..4)) {
        let printed: String = types.iter().map(Type::to_string).collect();
        if printed.len() <= SIZE_MAX {
            prop_assert_eq!(signature::parse(&printed), Ok(types));
        }
    }

    #[test]
    fn values_lie_within_their_bytes(ty in any_type(), bytes in any_bytes(64)) {
        let mut counter = Counter::default();
        let walked = walk(&ty, &bytes, 0, &mut counter);
        match &walked {
            Ok(end) => {
                prop_assert!(*end <= bytes.len() && counter.open == 0);
                prop_assert_eq!(skip(&ty, &bytes, 0), Ok(*end));
                prop_assert!(ty.fixed_size().is_none_or(|size| size == *end));
                // What was not needed is not looked at; what was needed is.
                prop_assert_eq!(&walk(&ty, &bytes[..*end], 0, &mut Counter::default()), &walked);
                if let Some(less) = end.checked_sub(1) {
                    prop_assert!(walk(&ty, &bytes[..less], 0, &mut Counter::default()).is_err());
                }
            }
            Err(WalkError::Decode(error)) => prop_assert!(error.at <= bytes.len()),
            Err(WalkError::Visitor(never)) => match *never {},
        }
        // A byte, or a value of zero size, is paid for once on each level.
        prop_assert!(counter.visits <= 32 * (bytes.len() + ZERO_SIZED_MAX + 1), "{} visits", counter.visits);
    }

    #[test]
    fn payloads_are_walked_to_their_end_or_first_mistake(bytes in any_bytes(256), position in any::<u64>()) {
        let mut covered = 0;
        for record in Records::new(&bytes) {
            match record {
                Ok(record) => {
                    prop_assert_eq!(record.offset, covered);
                    covered += record.header.size as usize;
                }
                Err(error) => prop_assert_eq!(error.offset, covered),
            }
        }
        prop_assert!(covered <= bytes.len());
        let (summary, error) = crate::slice::summarize(&bytes, position & !7, 4096, |site| site < 3);
        prop_assert!(summary.bytes <= bytes.len() && (error.is_some() || summary.bytes == bytes.len()));
    }

    #[test]
    fn images_of_slices_are_judged(header in any_bytes(256), data in any_bytes(512), state in 0_u32..5) {
        let mut image = header;
        image.resize(256, 0);
        // A header that is nearly right, so that what lies behind it is reached.
        image[..4].copy_from_slice(&crate::layout::ring::MAGIC.to_le_bytes());
        image[4..8].copy_from_slice(&state.to_le_bytes());
        image[16..20].copy_from_slice(&256_u32.to_le_bytes());
        image[20..24].copy_from_slice(&256_u32.to_le_bytes());
        image.extend(data);
        let verdict = judge_slice(&image, |site| site < 4);
        prop_assert!(verdict.payload.len() <= 256);
        prop_assert_eq!(verdict.records as usize, verdict.records().count());
    }

    #[test]
    fn blocks_and_their_payloads_are_judged(payload in any_bytes(200), kind in 0_u8..20, flip in 0_usize..400) {
        let header = BlockHeader::new(BlockKind(kind), &payload);
        let mut file = Vec::new();
        push_block(&mut file, &header, &payload);
        let size = file.len();
        prop_assert_eq!(BlockHeader::decode(&file), Ok(header));
        file[flip % size] ^= 1;
        let mut scanner = Scanner::new(file.as_slice(), 0, true);
        let mut covered = 0;
        while let Ok(Some(found)) = scanner.next() {
            covered += match found {
                Found::Block { header, .. } => header.block_size(),
                Found::Damage(damage) => damage.bytes,
            };
        }
        prop_assert_eq!(covered, size as u64);
        SessionInfo::decode(&payload);
        let items = block::sites(&payload).count()
            + StreamInfo::decode_all(&payload).count()
            + LossInfo::decode_all(&payload).count()
            + block::anchors(&payload).count()
            + block::positions(&payload).count();
        prop_assert!(items <= payload.len());
    }

    #[test]
    fn descriptions_lie_within_their_bytes(mut bytes in any_bytes(120), right in any::<bool>()) {
        if right && bytes.len() >= 48 {
            // Size and hash are right, so that the texts are reached.
            bytes.truncate(bytes.len() & !7);
            let size = bytes.len() as u32;
            bytes[..4].copy_from_slice(&size.to_le_bytes());
            let hash = crate::site::fnv1a64(&bytes[16..]);
            bytes[8..16].copy_from_slice(&hash.to_le_bytes());
        }
        if let Ok((site, size)) = SiteDescription::decode(&bytes) {
            prop_assert!(size <= bytes.len());
            let mut again = Vec::new();
            site.encode(&mut again);
            prop_assert_eq!(SiteDescription::decode(&again).map(|(site, _)| site), Ok(site));
        }
    }
}

/// The widest types that a signature can hold, over as many bytes as a record can: work grows with the bytes, not with bytes times width.
#[test]
#[cfg_attr(miri, ignore = "takes minutes in an interpreter")]
fn wide_types_cost_no_more_than_their_bytes() {
    let nulls = "n".repeat(16_000);
    let labels: String = (0..2_000).map(|i| format!("{i}=x,")).collect();
    for text in [
        format!("[({nulls}A)"),
        format!("#65536:({nulls})"),
        format!("[({})", "A".repeat(16_000)),
        format!("[[({})", "A".repeat(16_000)),
        format!("[eE|A|{labels};"),
        format!("[{}A{}", "(".repeat(30), ")".repeat(30)),
    ] {
        let types = signature::parse(&text).unwrap();
        let mut bytes = vec![0_u8; 256 << 10];
        // As long as it can be: the elements' own lengths are zero.
        let element = match &types[0] {
            Type::Sequence(element) => element.fixed_size().unwrap_or(4),
            _ => 1,
        };
        let len = ((bytes.len() - 4) / element.max(1)) as u32;
        bytes[..4].copy_from_slice(&len.to_le_bytes());
        let mut counter = Counter::default();
        let started = std::time::Instant::now();
        let _ = walk(&types[0], &bytes, 0, &mut counter);
        assert!(
            counter.visits <= 32 * (bytes.len() + ZERO_SIZED_MAX),
            "{} visits of {text:.20}",
            counter.visits
        );
        assert!(started.elapsed().as_secs() < 5, "{:?} for {text:.20}", started.elapsed());
    }
}

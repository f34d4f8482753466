//! Hostile bytes and hostile types: nothing is read beyond the input, and no more is done than the input pays for. (What every decoder makes of any bytes is
//! tested in tests/it; here is what needs a count of the work.)

use proptest::collection::vec;
use proptest::prelude::*;

use crate::layout::signature::ZERO_SIZED_MAX;
use crate::leaf::{Container, Leaf, Pieces};
use crate::signature::{self, Type};
use crate::site::SiteDescription;
use crate::value::{WalkError, skip, walk};

/// Counts what is given out.
#[derive(Default)]
struct Counter {
    visits: usize,
    open: usize,
}

impl Pieces for Counter {
    type Error = std::convert::Infallible;

    fn leaf(&mut self, _: Leaf<'_>) -> Result<(), Self::Error> {
        self.visits += 1;
        Ok(())
    }

    fn begin(&mut self, _: Container<'_>) -> Result<(), Self::Error> {
        self.visits += 1;
        self.open += 1;
        Ok(())
    }

    fn end(&mut self) -> Result<(), Self::Error> {
        self.open -= 1;
        Ok(())
    }

    fn field(&mut self, _: &str) -> Result<(), Self::Error> {
        self.visits += 1;
        Ok(())
    }
}

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

/// The widest types that a signature can hold, over as many bytes as a record can hold. Work grows with the
/// bytes, not with bytes times width.
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

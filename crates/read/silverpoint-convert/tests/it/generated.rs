//! Generated values of every type: each pair of formats that carries everything gives them back.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use silverpoint_convert::Record;
use silverpoint_trace::{Site, What};
use silverpoint_wire::level::{Kind, Level};
use silverpoint_wire::site::SiteDescription;

use crate::round_trip::WHOLE;
use crate::support::{all, convert, with_writer};

/// A type and a value of it, as a signature and packed bytes.
fn value() -> impl Strategy<Value = (String, Vec<u8>)> {
    let counted = |bytes: Vec<u8>, unit: usize, cut: Option<u32>| {
        let len = (bytes.len() / unit) as u32;
        let mut packed = (len | if cut.is_some() { 1 << 31 } else { 0 }).to_le_bytes().to_vec();
        packed.extend(cut.into_iter().flat_map(u32::to_le_bytes));
        packed.extend_from_slice(&bytes[..len as usize * unit]);
        packed
    };
    let bits = |code: &'static str, size: usize| {
        prop::collection::vec(any::<u8>(), size).prop_map(move |bytes| (code.to_owned(), bytes))
    };
    let units =
        prop_oneof![any::<String>().prop_map(String::into_bytes), prop::collection::vec(any::<u8>(), 0..24)];
    let cut = || prop::option::of(1..u32::MAX);
    let leaf = prop_oneof![
        Just(("n".to_owned(), Vec::new())),
        any::<bool>().prop_map(|value| ("b".to_owned(), vec![u8::from(value)])),
        prop::sample::select(vec![
            ("a", 1),
            ("h", 2),
            ("i", 4),
            ("l", 8),
            ("o", 16),
            ("A", 1),
            ("H", 2),
            ("I", 4)
        ])
        .prop_flat_map(move |(code, size)| bits(code, size)),
        prop::sample::select(vec![
            ("L", 8),
            ("O", 16),
            ("c", 1),
            ("w", 2),
            ("W", 4),
            ("p", 8),
            ("u", 16),
            ("T", 8)
        ])
        .prop_flat_map(move |(code, size)| bits(code, size)),
        any::<i64>().prop_map(|value| ("t".to_owned(), value.to_le_bytes().to_vec())),
        // NaN equals NaN for any bits: one of them.
        any::<f32>().prop_map(|value| {
            let value = if value.is_nan() { f32::NAN } else { value };
            ("f".to_owned(), value.to_le_bytes().to_vec())
        }),
        any::<f64>().prop_map(|value| {
            let value = if value.is_nan() { f64::NAN } else { value };
            ("d".to_owned(), value.to_le_bytes().to_vec())
        }),
        (units.clone(), cut()).prop_map(move |(bytes, cut)| ("s".to_owned(), counted(bytes, 1, cut))),
        (units.clone(), cut()).prop_map(move |(bytes, cut)| ("S".to_owned(), counted(bytes, 2, cut))),
        (units.clone(), cut()).prop_map(move |(bytes, cut)| ("Z".to_owned(), counted(bytes, 4, cut))),
        (units, cut()).prop_map(move |(bytes, cut)| ("y".to_owned(), counted(bytes, 1, cut))),
        any::<i8>().prop_map(|value| ("eColour|a|-1=red,2=green,;".to_owned(), value.to_le_bytes().to_vec())),
        any::<bool>().prop_map(|value| ("@unit=ms;@secret=;b".to_owned(), vec![u8::from(value)])),
        Just(("v".to_owned(), vec![3, 0, 0, 0, 0x82, 1, 0xF6])),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let with = |code: &'static str, head: Vec<u8>| {
            move |(signature, bytes): (String, Vec<u8>)| {
                (format!("{code}{signature}"), [head.clone(), bytes].concat())
            }
        };
        prop_oneof![
            inner.clone().prop_map(|(signature, _)| (format!("?{signature}"), vec![0])),
            inner.clone().prop_map(with("?", vec![1])),
            inner.clone().prop_map(with("[", vec![1, 0, 0, 0])),
            inner.clone().prop_map(|(signature, _)| (format!("${signature}"), vec![0; 4])),
            inner.clone().prop_map(with("#1:", Vec::new())),
            inner.clone().prop_map(with("{L", [vec![1, 0, 0, 0], vec![7; 8]].concat())),
            (inner.clone(), inner.clone())
                .prop_map(|(a, b)| (format!("({}{})", a.0, b.0), [a.1, b.1].concat())),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| (
                format!("<P%3Cx|%3A1:{},é:{},>", a.0, b.0).replace('é', "%C3%A9"),
                [a.1, b.1].concat()
            )),
            inner.clone().prop_map(|(signature, _)| (format!("/{signature}|"), vec![255])),
            inner.prop_map(|(signature, bytes)| (format!("/b{signature}|"), [vec![1], bytes].concat())),
        ]
    })
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), Just("a\tb\r\n\u{0}\u{FFFE}<&>\"\\".to_owned()), Just(String::new())]
}

prop_compose! {
    pub fn description()(
        (args, names) in (prop::collection::vec(value(), 0..4), any::<bool>()),
        (category, file, function, template) in (text(), text(), text(), text()),
        (kind, level, line) in (0..13_u8, 0..6_u8, any::<u32>()),
    ) -> (SiteDescription, Vec<u8>) {
        let names = if names { (0..args.len()).map(|n| format!("n\"<{n}\n")).collect() } else { String::new() };
        let signature = args.iter().map(|(signature, _)| signature.as_str()).collect();
        let mut packed: Vec<u8> = args.into_iter().flat_map(|(_, bytes)| bytes).collect();
        packed.resize(packed.len().next_multiple_of(8), 0);
        let site = SiteDescription {
            kind: Kind::from_u8(kind).unwrap(),
            level: Level::from_u8(level).unwrap(),
            flags: 0,
            line,
            language: 2,
            category,
            file,
            function,
            names,
            template,
            signature,
        };
        (site, packed)
    }
}

/// The same cases each time; with `SILVERPOINT_CONVERT_CASES` as many others.
fn config() -> ProptestConfig {
    let cases = std::env::var("SILVERPOINT_CONVERT_CASES").ok().and_then(|cases| cases.parse().ok());
    let rng_seed = if cases.is_some() { RngSeed::Random } else { RngSeed::Fixed(1) };
    ProptestConfig {
        cases: cases.unwrap_or(48),
        rng_seed,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_pair_gives_back_what_it_was_given(
        records in prop::collection::vec((description(), 0..4_000_000_000_000_000_000_i64, text(), any::<bool>(), any::<u32>()), 1..4),
    ) {
        let mut sorted: Vec<_> = records.into_iter().map(|(site, ns, thread, cut, tid)| (ns, site, thread, cut, tid)).collect();
        sorted.sort_by_key(|record| record.0);
        sorted.dedup_by_key(|record| record.0);
        let sites: Vec<Site> = sorted.iter().map(|record| Site::new(record.1.0.clone())).collect();
        let original = with_writer("cbor", true, |writer| {
            for (number, (record, site)) in sorted.iter().zip(&sites).enumerate() {
                let what = What::Record { site, site_number: number, args: &record.1.1, truncated: record.3 };
                writer.write(&Record {
                    wall_ns: record.0,
                    ticks: None,
                    process: "a b",
                    pid: 7,
                    process_number: 0,
                    tid: record.4,
                    thread: &record.2,
                    context: None,
                    is_backtrace: false,
                    what,
                }).unwrap();
            }
            writer.finish().unwrap();
        });
        let expected = all("cbor", &original);
        for first in WHOLE {
            let a = convert("cbor", &original, first).unwrap();
            prop_assert_eq!(&all(first, &a), &expected, "{}", first);
            for second in WHOLE {
                let b = convert(first, &a, second).unwrap();
                prop_assert_eq!(&all(second, &b), &expected, "{} to {}", first, second);
            }
        }
    }
}

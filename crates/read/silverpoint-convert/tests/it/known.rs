//! Records that look like earlier ones are read a shorter way: it gives what the long way gives, of good ones and of damaged ones.

use proptest::prelude::*;
use silverpoint_convert::Record;
use silverpoint_trace::{Site, What};
use silverpoint_wire::level::{Kind, Level};
use silverpoint_wire::site::SiteDescription;

use crate::support::{comparable, with_reader, with_writer};

const FORMATS: [(&str, bool); 6] =
    [("jsonl", true), ("jsonl", false), ("json", true), ("cbor", true), ("tsv", true), ("xml", true)];

/// Signature, names, template; the arguments of each are some of the same five values.
const SITES: [(&str, &str); 7] = [
    ("ilLdfsb", ""),
    ("Ls", "id\nwho \"is\"\n"),
    ("", ""),
    ("ddd", "x\ny\nz\n"),
    ("eSide|a|0=buy,1=sell,;T@unit=ms;l", "side\nwait\nlong\n"),
    ("?ls", ""),
    ("AHI", "a\nb\nc\n"),
];

#[derive(Clone, Debug)]
struct Values {
    site: usize,
    whole: u64,
    float: f64,
    text: String,
    ns: i64,
    thread: u32,
    is_end: bool,
    ticks: Option<u64>,
}

fn values() -> impl Strategy<Value = Values> {
    let whole = prop_oneof![
        any::<u64>(),
        any::<u64>().prop_map(|n| n >> 40),
        Just(0),
        Just(u64::MAX),
        Just(1 << 63),
        Just((1 << 63) - 1)
    ];
    let float =
        prop_oneof![any::<f64>(), Just(1.0), Just(-0.0), Just(f64::NAN), Just(f64::INFINITY), Just(1e300)];
    let text = prop_oneof![
        any::<String>(),
        "[a-z \"\\\\<>&\n\t]{0,40}",
        Just("\u{FFFE}\u{0}\u{1F}\u{7F}".to_owned()),
        Just("plain text of some length".to_owned())
    ];
    let ticks = prop_oneof![Just(None), any::<u64>().prop_map(Some)];
    (0..SITES.len(), whole, float, text, 0..200_000_000_000_i64, 0..3_u32, any::<u8>(), ticks).prop_map(
        |(site, whole, float, text, ns, thread, end, ticks)| {
            let is_end = end < 30;
            Values {
                site,
                whole,
                float: if float.is_nan() { f64::NAN } else { float },
                text,
                ns,
                thread,
                is_end,
                ticks,
            }
        },
    )
}

fn packed(signature: &str, values: &Values) -> Vec<u8> {
    let mut args = Vec::new();
    let mut codes = signature;
    while let Some(code) = codes.chars().next() {
        codes = match code {
            'e' | '@' => codes.split_once(';').unwrap().1,
            _ => &codes[code.len_utf8()..],
        };
        match code {
            'i' | 'I' => args.extend_from_slice(&(values.whole as u32).to_le_bytes()),
            'H' => args.extend_from_slice(&(values.whole as u16).to_le_bytes()),
            'A' => args.push(values.whole as u8),
            'l' | 'L' | 'T' => args.extend_from_slice(&values.whole.to_le_bytes()),
            'd' => args.extend_from_slice(&values.float.to_le_bytes()),
            'f' => args.extend_from_slice(&(values.float as f32).to_le_bytes()),
            'b' => args.push(u8::from(values.whole % 2 == 1)),
            'e' => args.push((values.whole % 3) as u8),
            '?' => args.push(1),
            's' => {
                args.extend_from_slice(&(values.text.len() as u32).to_le_bytes());
                args.extend_from_slice(values.text.as_bytes());
            }
            _ => {}
        }
    }
    args.resize(args.len().next_multiple_of(8), 0);
    args
}

fn sites() -> Vec<Site> {
    let site = |(at, (signature, names)): (usize, &(&str, &str))| {
        Site::new(SiteDescription {
            kind: if at == 3 { Kind::Span } else { Kind::Log },
            level: Level::from_u8((at % 6) as u8).unwrap(),
            flags: 0,
            line: at as u32,
            language: (at % 3) as u16,
            category: "a::b".into(),
            file: "src/\"file\" <1>.cpp".into(),
            function: "void f(int&)".into(),
            names: (*names).into(),
            template: format!("number {at}"),
            signature: (*signature).into(),
        })
    };
    SITES.iter().enumerate().map(site).collect()
}

/// Calls with each record.
fn each(values: &[Values], mut call: impl FnMut(&Record<'_>)) {
    let sites = sites();
    let threads = ["main", "", "worker \"2\""];
    for values in values {
        let site = &sites[values.site];
        let args = packed(SITES[values.site].0, values);
        let what = match values.is_end {
            true => What::SpanEnd {
                site: Some(&sites[3]),
                site_number: Some(3),
                begin_ticks: 0,
                duration_ns: Some(values.whole),
            },
            false => {
                What::Record { site, site_number: values.site, args: &args, truncated: values.whole == 5 }
            }
        };
        call(&Record {
            wall_ns: 1_795_000_000_000_000_000 + values.ns,
            ticks: values.ticks,
            process: "p q",
            pid: 7,
            process_number: 0,
            tid: values.thread,
            thread: threads[values.thread as usize],
            context: None,
            is_backtrace: values.whole == 6,
            what,
        });
    }
}

fn written(format: &str, lossless: bool, values: &[Values]) -> Vec<u8> {
    with_writer(format, lossless, |writer| {
        each(values, |record| writer.write(record).unwrap());
        writer.finish().unwrap();
    })
}

/// All records and errors, up to an error that nothing follows.
fn read(format: &str, bytes: &[u8]) -> Vec<String> {
    with_reader(format, bytes, |reader| {
        let mut all = Vec::new();
        loop {
            match reader.advance() {
                Ok(true) => {
                    let record = reader.record().unwrap();
                    all.push(format!("{:?} {} {}", record.ticks, record.is_backtrace, comparable(&record)));
                }
                Ok(false) => return all,
                Err(error) => {
                    all.push(format!("{} {} {}", error.path, error.found, error.expected));
                    if !error.may_go_on {
                        return all;
                    }
                }
            }
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 8,
        rng_seed: proptest::test_runner::RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_was_written_is_read(values in prop::collection::vec(values(), 1..60)) {
        let mut expected = Vec::new();
        each(&values, |record| {
            expected.push(format!("{:?} {} {}", record.ticks, record.is_backtrace, comparable(record)));
        });
        for (format, lossless) in FORMATS.into_iter().filter(|(_, lossless)| *lossless) {
            let found = read(format, &written(format, lossless, &values));
            prop_assert_eq!(&found, &expected, "{}", format);
        }
    }

    /// A record after others is read as it is alone, for a change of any byte of it.
    #[test]
    fn a_damaged_record_is_what_it_is_alone(
        values in prop::collection::vec(values(), 20..30),
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![any::<u8>(), prop::sample::select(b"0123456789,:\"\\{}[]<>-.eE \t\n".to_vec())]), 1..12),
    ) {
        for (format, lossless) in FORMATS {
            let last = values.len() - 1;
            let head = match format {
                "json" => continue,
                "tsv" | "xml" => written(format, lossless, &[]),
                _ => Vec::new(),
            };
            let head = head.strip_suffix(b"</silverpoint>\n").unwrap_or(&head);
            let whole = written(format, lossless, &[&values[..], &values[..]].concat());
            let whole = whole.strip_suffix(b"</silverpoint>\n").unwrap_or(&whole);
            let one = written(format, lossless, &values[last..]);
            let one = &one.strip_suffix(b"</silverpoint>\n").unwrap_or(&one)[head.len()..];
            let before = read(format, whole).len();
            for (at, byte) in &changes {
                let mut damaged = one.to_vec();
                damaged[at.index(one.len())] = *byte;
                let among = read(format, &[whole, &damaged].concat());
                let alone = read(format, &[head, &damaged].concat());
                let path = |text: &String| text.split_once(']').map_or(text.clone(), |(_, rest)| rest.to_owned());
                let (among, alone): (Vec<_>, Vec<_>) =
                    (among.iter().skip(before - usize::from(format == "xml")).map(path).collect(), alone.iter().map(path).collect());
                prop_assert_eq!(among, alone, "{} {:?}", format, String::from_utf8_lossy(&damaged));
            }
        }
    }
}

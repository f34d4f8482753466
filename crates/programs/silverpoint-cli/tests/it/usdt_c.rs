//! USDT probes of tracepoints in C: the notes, and what a tracer that is attached reads.

#[cfg(target_arch = "x86_64")]
use std::collections::BTreeSet;

#[cfg(target_arch = "x86_64")]
use silverpoint_trace::{Trace, What};
#[cfg(target_arch = "x86_64")]
use silverpoint_wire::level::Kind;

use crate::harness::{Scratch, end, objects_of_c};
use crate::usdt::{compile, probes, read, source, without_a_tracer_no_argument_is_evaluated};

#[test]
fn probes_in_c() {
    let scratch = Scratch::new();
    let objects = objects_of_c();
    let from = source("shop.c");
    let part = source("part.c");
    let words = ["-O2", &from, &part, &objects[0], &objects[1], "-o", "shop", "-pthread"];
    compile(&scratch, "gcc", &words);
    assert_eq!(probes(&scratch, "shop"), OF_C.iter().map(|line| line.to_string()).collect());
    without_a_tracer_no_argument_is_evaluated(&scratch);
    #[cfg(target_arch = "x86_64")]
    {
        each_end_of_a_span_is_a_hit(&scratch);
        each_end_of_a_span_is_a_record_too(&scratch);
    }

    let shop = "usdt:./shop:net_shop:";
    let script = [
        format!(
            "{shop}of_is {{ printf(\"of_is %d '%s' %d %lx\\n\", arg0, str(arg1, arg2), arg2, arg3); }}\n"
        ),
        format!("{shop}_9_numbers {{ printf(\"_9_numbers %lx %ld %ld\\n\", arg0, arg1, arg2); }}\n"),
        format!("{shop}fetch_begin {{ printf(\"fetch %d '%s'\\n\", arg0, str(arg1, arg2)); }}\n"),
        format!("{shop}numbers_small {{ printf(\"small %d %d %d %d\\n\", arg0, arg1, arg2, arg3); }}\n"),
        format!("{shop}load_entry {{ printf(\"load %d\\n\", arg0); }}\n"),
        format!("{shop}load_exit {{ printf(\"load took %d\\n\", arg0 > 0); }}\n"),
    ];
    let Some(out) = read(&scratch, "", &script.concat(), "3") else { return };
    for i in 0..3_i64 {
        let name = if i % 2 == 0 { "even" } else { "(null)" };
        let high = if i == 0 { 0 } else { -1 };
        for line in [
            format!("of_is {i} '{name}' {} {:x}\n", name.len(), i << 40),
            format!("_9_numbers {:x} {} {high}\n", (i as f64 / 4.0).to_bits(), -i),
            format!("fetch {i} 'text {i}'\n"),
            format!("small {} {} {} {}\n", -i, 200 + i, -300 - i, 60000 + i),
            format!("load {i}\n"),
        ] {
            assert_eq!(out.matches(&line).count(), 1, "{line}: {out}");
        }
    }
    assert_eq!(out.matches("load took 1\n").count(), 3, "{out}");
    assert!(out.contains("3 evaluated"), "{out}");
}

/// What the probes of `./shop WORDS` are hit with, as the tracer of `uprobes.c` prints it; then what the program says.
#[cfg(target_arch = "x86_64")]
fn hits(scratch: &Scratch, before: &[&str], words: &[&str]) -> (Vec<String>, String) {
    let tracer = scratch.path("uprobes.so");
    let preload = format!("LD_PRELOAD={}", tracer.display());
    let texts = "TEXTS= fetch_begin=1 of_is=1 passed_entry=0 ";
    let command = [before, &["env", texts, &preload, "./shop"], words].concat();
    let ended = end(&mut scratch.command(command[0], &command[1..]));
    assert_eq!(ended.code(), Some(0), "{}", ended.err);
    (ended.err.lines().map(str::to_owned).collect(), ended.out)
}

/// How long the span was, which is not known; the rest of the line is.
#[cfg(target_arch = "x86_64")]
fn without_duration(line: &str) -> String {
    match line.split_once("_exit ") {
        Some((name, ns)) if ns.parse::<u64>().is_ok_and(|ns| ns < 1_000_000_000_000) => {
            format!("{name}_exit NS")
        }
        _ => line.to_owned(),
    }
}

#[cfg(target_arch = "x86_64")]
fn each_end_of_a_span_is_a_hit(scratch: &Scratch) {
    compile(scratch, "gcc", &["-O2", "-fPIC", "-shared", &source("uprobes.c"), "-o", "uprobes.so"]);
    for filter in ["FILTER=off", "FILTER=trace"] {
        let (lines, out) = hits(scratch, &["env", &format!("SILVERPOINT_{filter}")], &["3"]);
        assert_eq!(out, "3 evaluated\n");
        // Each probe once a round.
        let each = OF_C.len();
        assert_eq!(lines.len(), 3 * each, "{lines:#?}");
        for (i, round) in lines.chunks(each).enumerate() {
            let text_of = |begin: &str| {
                let line = round.iter().find_map(|line| line.strip_prefix(begin)).unwrap();
                line.split_once(' ').unwrap().1.to_owned()
            };
            assert_eq!(text_of(&format!("net_shop:fetch_begin {i} ")), format!("6 'text {i}'"));
            assert_eq!(text_of("net_shop:passed_entry "), format!("6 'text {i}'"));
            let found: Vec<String> = round[each - 7..].iter().map(|line| without_duration(line)).collect();
            let ends = [
                format!("net_shop:load_entry {i}"),
                "net_shop:within".to_owned(),
                "net_shop:scope_entry".to_owned(),
                "net_shop:scope_exit NS".to_owned(),
                round[each - 3].clone(),
                "net_shop:passed_exit NS".to_owned(),
                "net_shop:load_exit NS".to_owned(),
            ];
            assert_eq!(found, ends);
        }
    }
}

/// The ring has both ends of each span, with or without a tracer.
#[cfg(target_arch = "x86_64")]
fn each_end_of_a_span_is_a_record_too(scratch: &Scratch) {
    let run =
        [env!("CARGO_BIN_EXE_silverpoint"), "run", "--quiet", "--filter", "trace", "-o", "both.silver", "--"];
    let (lines, _) = hits(scratch, &run, &["100"]);
    let exits = |lines: &[String]| lines.iter().filter(|line| line.contains("_exit ")).count();
    assert_eq!(exits(&lines), 300, "{lines:?}");
    let trace = Trace::open(&[scratch.path("both.silver")]).unwrap();
    let (mut begun, mut ended, mut events) = (BTreeSet::new(), BTreeSet::new(), trace.events());
    while let Some(event) = events.next() {
        match event.what {
            What::Record { site_number, site, .. } if site.description.kind == Kind::Span => {
                begun.insert((site_number, event.ticks));
            }
            What::SpanEnd { site_number, begin_ticks, .. } => {
                ended.insert((site_number.unwrap(), begin_ticks));
            }
            _ => {}
        }
    }
    assert_eq!((begun.len(), &begun), (300, &ended));
}

const OF_C: [&str; 19] = [
    "Other_Category:slow_ms -4+",
    "net_shop:_9_numbers 8 8 8+",
    "net_shop:a_text_that_is_longer_than_a_name_of_a_probe_may -4+",
    "net_shop:evaluated -4+",
    "net_shop:fetch_begin 8 8 8+",
    "net_shop:fetch_end 8+",
    "net_shop:line_24 -4+",
    "net_shop:load_entry -4+",
    "net_shop:load_exit 8+",
    "net_shop:many -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4+",
    "net_shop:numbers_large -4 4 -8 8 4 8+",
    // In C a character constant is an int.
    "net_shop:numbers_small -1 1 -2 2 1 -4+",
    "net_shop:of_is -4 8 8 8+",
    "net_shop:passed_entry 8 8+",
    "net_shop:passed_exit 8+",
    "net_shop:queue_depth -4+",
    "net_shop:scope_entry +",
    "net_shop:scope_exit 8+",
    "net_shop:within +",
];

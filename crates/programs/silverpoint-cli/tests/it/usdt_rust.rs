//! USDT probes of tracepoints in Rust (the feature `usdt`): the notes, and what a tracer that is attached reads.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use silverpoint_tests::skipped;

use crate::crates;
use crate::harness::{Scratch, end};
use crate::kernel::is_installed;
use crate::usdt::{probes, read, traced, without_a_tracer_no_argument_is_evaluated};

const ALL: [&str; 33] = [
    "Other_Category:slow_ms -4+",
    "net_shop:_9_limited -4+",
    "net_shop:a_name_that_is_longer_than_that_of_a_probe_may_be_it_is_ -4+",
    "net_shop:evaluated 4+",
    "net_shop:fetch_begin 8 8 8+",
    "net_shop:fetch_end 8+",
    "net_shop:fetch_entry 8+",
    "net_shop:fetch_exit 8+",
    "net_shop:flow_begin 8+",
    "net_shop:flow_end 8+",
    "net_shop:flow_step 8+",
    "net_shop:lists 8 8 -4 8 8+",
    "net_shop:load_entry -4+",
    "net_shop:load_exit 8+",
    // Of fourteen numbers.
    "net_shop:many -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4+",
    "net_shop:numbers_large -4 4 -8 8 4 8+",
    "net_shop:numbers_small -1 1 -2 2 1 4+",
    "net_shop:of_it -4 8 8 1 8 8+",
    "net_shop:optional 1 -4 -4 1 -8+",
    "net_shop:order_at -4 8+",
    "net_shop:order_filled -4 8 8 8 -2+",
    "net_shop:others 8 8 -4+",
    "net_shop:passed_over 8 8 8 -4+",
    "net_shop:queue_depth -4+",
    "net_shop:shown 8 8+",
    "net_shop:wide 8 8+",
    "net_shop:within +",
    "shop:instance 1+",
    "shop:instance 8 8+",
    "shop:instrumented_entry -4+",
    "shop:instrumented_exit 8+",
    // A scope, whose function the compiler does not tell.
    "shop:shop_rs_55_entry +",
    "shop:shop_rs_55_exit 8+",
];

fn all() -> BTreeSet<String> {
    ALL.iter().map(|line| line.to_string()).collect()
}

/// The programs without optimisation: together, since they have most in common.
fn unoptimised(scratch: &Scratch) -> PathBuf {
    crates::cargo(scratch, "build", &["-p", "shop", "-p", "facades"]).join("debug")
}

/// One test, so that the program is compiled once.
#[test]
fn probes_in_rust() {
    let scratch = Scratch::new();
    let unoptimised = unoptimised(&scratch).join("shop");
    assert_eq!(probes(&scratch, unoptimised.to_str().unwrap()), all());
    let target = crates::cargo(&scratch, "build", &["--release", "-p", "shop"]);
    scratch.executable("shop", target.join("release/shop"));
    assert_eq!(probes(&scratch, "shop"), all());
    without_a_tracer_no_argument_is_evaluated(&scratch);
    a_tracer_reads_the_values_of_all_arguments(&scratch);
    a_tracer_and_the_ring_get_the_same_call(&scratch);
    perf_reads_the_values(&scratch);
}

#[test]
fn without_the_feature_there_are_no_probes() {
    let scratch = Scratch::new();
    let program = crates::cargo(&scratch, "build", &["--release", "-p", "plain"]).join("release/plain");
    assert_eq!(probes(&scratch, program.to_str().unwrap()), BTreeSet::new());
    let symbols = end(&mut scratch.command("nm", [&program]));
    assert!(symbols.code() == Some(0) && !symbols.out.contains("usdt"), "{symbols:?}");
}

#[test]
fn the_notes_of_rust_are_the_same_on_aarch64() {
    let scratch = Scratch::new();
    let triple = "aarch64-unknown-linux-gnu";
    let installed = end(&mut scratch.command("rustc", ["--print", "target-libdir", "--target", triple]));
    if !is_installed("aarch64-linux-gnu-gcc") || !Path::new(installed.out.trim()).is_dir() {
        return skipped!(
            "there is no compiler for AArch64 (Debian: gcc-aarch64-linux-gnu; rustup target add {triple})"
        );
    }
    let target = crates::cargo(&scratch, "build", &["--release", "--target", triple, "-p", "shop"]);
    assert_eq!(probes(&scratch, target.join(triple).join("release/shop").to_str().unwrap()), all());
}

fn a_tracer_reads_the_values_of_all_arguments(scratch: &Scratch) {
    let format = |probe: &str, form: &str, arguments: &str| {
        format!("usdt:./shop:{probe} {{ printf(\"{probe} {form}\\n\", {arguments}); }}\n")
    };
    let script = [
        format("net_shop:evaluated", "%d", "arg0"),
        format("net_shop:order_at", "%d %lx", "arg0, arg1"),
        format("net_shop:of_it", "%d '%s' %d '%s' %d", "arg0, str(arg1, arg2), arg3, str(arg4, arg5), arg5"),
        format("net_shop:numbers_small", "%d %d %d %d %d %c", "arg0, arg1, arg2, arg3, arg4, arg5"),
        format("net_shop:numbers_large", "%d %lu %ld %lx %x %d", "arg0, arg1, arg2, arg3, arg4, arg5 != 0"),
        format("net_shop:order_filled", "%d %lx '%s' %d", "arg0, arg1, str(arg2, arg3), arg4"),
        format("net_shop:optional", "%d %d %d %d %ld", "arg0, arg1, arg2, arg3, arg4"),
        format(
            "net_shop:lists",
            "%x %d %d %d %d",
            "arg1 > 0 ? *(uint32*)arg0 : 0, arg1, arg2, *(uint16*)arg3, arg4",
        ),
        format("net_shop:wide", "%ld %ld", "arg0, arg1"),
        format("net_shop:others", "%d %d", "*(uint32*)arg0, arg2"),
        format("net_shop:passed_over", "%d", "arg3"),
        format("net_shop:shown", "'%s'", "str(arg0, arg1)"),
        format("Other_Category:slow_ms", "%d", "arg0"),
        format("net_shop:fetch_begin", "%d '%s'", "arg0 != 0, str(arg1, arg2)"),
        format("net_shop:fetch_end", "%d", "arg0 != 0"),
        format("net_shop:load_entry", "%d", "arg0"),
        format("net_shop:load_exit", "%d", "arg0 < 60000000000"),
        format("shop:instrumented_entry", "%d", "arg0"),
    ];
    let Some(out) = read(scratch, "", &script.concat(), "5") else { return };
    let mut lines: Vec<String> = out.lines().filter(|line| line.contains(":")).map(str::to_owned).collect();
    let mut expected = Vec::new();
    for i in 0..5_i64 {
        let text = format!("text {i}");
        let even = i64::from(i % 2 == 0);
        let (name, name_len) = if even == 1 { ("even", 4) } else { ("", 0) };
        let number = i as f64;
        expected.extend([
            // The text beside it is formatted in each round, too.
            format!("net_shop:evaluated {}", 2 * i + 1),
            format!("net_shop:order_at {i} {:x}", (number / 8.0).to_bits()),
            format!("net_shop:of_it {i} '{text}' {even} '{name}' {name_len}"),
            format!("net_shop:numbers_small {} {} {} {} {even} x", -i, 200 + i, -300 - i, 60000 + i),
            format!(
                "net_shop:numbers_large {} {} {} ffffffffffffffff {:x} 1",
                -i,
                4_000_000_000_i64 + i,
                i64::MIN + i,
                (number as f32).to_bits()
            ),
            format!("net_shop:order_filled {i} {:x} '{text}' -3", (number / 4.0).to_bits()),
            format!("net_shop:optional {even} {} {i} 7 {}", even * i, i * 1000),
            format!("net_shop:lists {:x} {i} {i} {i} 3", if i > 0 { 0.5f32.to_bits() } else { 0 }),
            format!("net_shop:wide {} {}", -i, if i == 0 { 0 } else { -1 }),
            // A map begins with how many pairs it has.
            format!("net_shop:others 1 {i}"),
            format!("net_shop:passed_over {i}"),
            format!("net_shop:shown 'shown {i}'"),
            format!("Other_Category:slow_ms {i}"),
            format!("net_shop:fetch_begin 1 '{text}'"),
            "net_shop:fetch_end 1".to_owned(),
            format!("net_shop:load_entry {i}"),
            "net_shop:load_exit 1".to_owned(),
            format!("shop:instrumented_entry {i}"),
        ]);
    }
    lines.sort();
    expected.sort();
    assert_eq!(lines, expected, "{out}");
    // Each once, though nothing is recorded.
    assert!(out.contains("10 evaluated"), "{out}");
}

/// A probe and a record of one call: the same values; the record is not made twice, nor an argument evaluated.
fn a_tracer_and_the_ring_get_the_same_call(scratch: &Scratch) {
    let run = format!("{} run --quiet --filter trace -o both.silver --", env!("CARGO_BIN_EXE_silverpoint"));
    let probe = "usdt:./shop:net_shop:order_at { @ = count(); }\n";
    let Some(out) = read(scratch, &run, probe, "50") else { return };
    assert!(out.contains("@: 50") && out.contains("100 evaluated"), "{out}");
    let records = scratch.messages("both.silver");
    let orders: Vec<&String> = records.iter().filter(|text| text.starts_with("order ")).collect();
    assert_eq!((orders.len(), &**orders[8]), (50, "order 8 at 1.00"));
    assert_eq!(records.iter().filter(|text| text.starts_with("shown ")).count(), 50);
}

fn perf_reads_the_values(scratch: &Scratch) {
    if !is_installed("perf") {
        return skipped!("perf is not installed (Debian: linux-perf)");
    }
    let script = "set -e
        export HOME=\"$PWD\"
        trap \"perf probe --quiet --del 'sdt_net_shop:*' || true\" EXIT
        perf buildid-cache --add ./shop
        perf list sdt
        perf probe sdt_net_shop:numbers_small
        perf record --quiet -e sdt_net_shop:numbers_small -o perf.data ./shop 40
        perf script -i perf.data";
    let Some(out) = traced(scratch, script) else { return };
    assert!(out.contains("  sdt_net_shop:order_at "), "{out}");
    assert_eq!(out.matches(" sdt_net_shop:numbers_small: ").count(), 40, "{out}");
    // (Not all versions of perf show signs.)
    assert!(out.contains(" arg2=239 ") && out.contains(" arg4=60039 arg5=0 arg6=120"), "{out}");
}

const STEPS: [&str; 4] = ["begin", "entry", "exit", "end"];

/// Three spans: each step once, and the steps of a span have one id. (The tracer has a buffer for each processor, so
/// that lines may come in another order.)
fn spans_have_four_steps(out: &str) {
    let of_step = |step: &str| -> Vec<(&str, u64)> {
        let begin = format!("{step} facades ");
        let lines = out.lines().filter_map(|line| line.strip_prefix(&begin)?.rsplit_once(" id "));
        let mut all: Vec<_> = lines.map(|(line, id)| (line, id.parse().unwrap())).collect();
        all.sort_unstable();
        all
    };
    let sorted_ids = |step: &str| {
        let mut ids: Vec<u64> = of_step(step).into_iter().map(|(_, id)| id).collect();
        ids.sort_unstable();
        ids
    };
    for step in STEPS {
        let lines: Vec<&str> = of_step(step).into_iter().map(|(line, _)| line).collect();
        let expected = match step {
            "begin" => ["'within i=0' 4", "'within i=1' 4", "'within i=2' 4"],
            "exit" => ["'within' 1"; 3],
            _ => ["'within' 4"; 3],
        };
        assert_eq!(lines, expected, "{step}: {out}");
        assert_eq!(sorted_ids(step), sorted_ids("begin"), "{step}: {out}");
    }
}

/// The callsites of `tracing` and `log` have no probes of their own: one stands for all of their messages, four for all
/// spans.
#[test]
fn messages_of_facades_are_one_probe() {
    let scratch = Scratch::new();
    scratch.executable("shop", unoptimised(&scratch).join("facades"));
    let all = ["message 1 8 8 8 8 4 8 8+"]
        .into_iter()
        .map(str::to_owned)
        .chain(STEPS.map(|step| format!("span_{step} 8 8 8 8 8 8 4 8 8+")))
        .map(|probe| format!("silverpoint:{probe}"));
    assert_eq!(probes(&scratch, "shop"), all.collect());
    without_a_tracer_no_argument_is_evaluated(&scratch);
    let ended = end(&mut scratch.command("./shop", ["3", "layer"]));
    // With layers `tracing` evaluates fields before it asks their filters. Texts are not formatted.
    assert_eq!((ended.code(), &*ended.out), (Some(0), "3 evaluated\n"), "{}", ended.err);

    let script = "usdt:./shop:silverpoint:message {\n\
        printf(\"%d %s %d '%s' line %d\\n\", arg0, str(arg1, arg2), arg4, str(arg3, arg4), arg5 > 0);\n}\n";
    // The last number of an exit is a time, of the others the level.
    let of_span = |step: &str| {
        let last = if step == "exit" { "arg5 > 0 && arg5 < 60000000000" } else { "arg5" };
        format!(
            "usdt:./shop:silverpoint:span_{step} {{\n\
            printf(\"{step} %s '%s' %d id %lu\\n\", str(arg1, arg2), str(arg3, arg4), {last}, arg0);\n}}\n"
        )
    };
    let script = format!("{script}{}", STEPS.map(of_span).concat());
    for way in ["3", "3 layer"] {
        let Some(out) = read(&scratch, "", &script, way) else { return };
        spans_have_four_steps(&out);
        let mut lines: Vec<&str> = out.lines().filter(|line| line.ends_with(" line 1")).collect();
        for i in 0..3 {
            let long = "\u{fc}".repeat(600);
            for (level, target, text) in [
                (1, "shop", format!("order shown {i} i={i} of=\"a \\\"b\\\"\"")),
                (4, "shop::named", format!("number={i}")),
                (0, "net", format!("slow shown {i} user={i} peer=10.0.0.1")),
                (3, "long", long[..1024].to_owned()),
            ] {
                // Lines may come in another order, and bpftrace cuts texts by itself.
                let begin = format!("{level} {target} {} '", text.len());
                let is_it = |line: &&str| {
                    let rest = line.strip_prefix(&*begin).and_then(|rest| rest.strip_suffix("' line 1"));
                    let kept = rest.map(|rest| rest.trim_end_matches('\u{fffd}'));
                    kept.is_some_and(|kept| text.starts_with(kept) && kept.len() >= text.len().min(60))
                };
                let at = lines.iter().position(is_it).unwrap_or_else(|| panic!("{begin}{text}: {out}"));
                lines.swap_remove(at);
            }
        }
        assert_eq!(lines, [""; 0], "{out}");
        // Nothing is recorded, so each is evaluated once.
        assert!(out.contains("9 evaluated"), "{out}");
    }
}

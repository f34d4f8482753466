//! Files whose blocks are not as they were written: joined, moved, damaged at the beginning or all over. Also
//! records that do not come in order of time.

use std::collections::BTreeSet;
use std::fs;

use silverpoint_wire::block::{BlockHeader, BlockKind};

use crate::harness::{Ended, Scratch, end, subject};

/// Traces so many records of each of so many threads.
fn traced(scratch: &Scratch, trace: &str, records: u64, threads: u64) -> Vec<u8> {
    let mut command = scratch.silverpoint(["run", "-q", "--policy", "block=forever", "-o", trace, "--"]);
    let ended = end(command.arg(subject()).args(["count", &records.to_string(), &threads.to_string()]));
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    fs::read(scratch.path(trace)).unwrap()
}

/// Where each block begins and ends, and its header.
fn blocks(bytes: &[u8]) -> Vec<(usize, usize, BlockHeader)> {
    let (mut blocks, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let header = BlockHeader::decode(&bytes[at..]).unwrap();
        let next = at + header.block_size() as usize;
        blocks.push((at, next, header));
        at = next;
    }
    blocks
}

fn write(scratch: &Scratch, name: &str, bytes: &[u8]) {
    fs::write(scratch.path(name), bytes).unwrap();
}

/// Thread and number of each record.
fn numbers(scratch: &Scratch, trace: &str) -> (BTreeSet<(u64, u64, u64)>, Ended) {
    let cat = scratch.run(["cat", "--json", trace]);
    let number = |line: &str| {
        let object: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(object["template"], "subject.count", "{line}");
        let args = &object["args"];
        Some((object["pid"].as_u64()?, args["thread"].as_u64()?, args["number"].as_u64()?))
    };
    let lines = cat.out.lines().filter(|line| line.contains("\"kind\":\"event\""));
    let all: Vec<_> = lines.map(|line| number(line).unwrap_or_else(|| panic!("{line}"))).collect();
    let unique: BTreeSet<_> = all.iter().copied().collect();
    assert_eq!(unique.len(), all.len(), "none comes twice");
    (unique, cat)
}

/// `repair` gives a file that is in order.
fn repaired(scratch: &Scratch, trace: &str) -> BTreeSet<(u64, u64, u64)> {
    let _ = fs::remove_file(scratch.path("repaired.silver"));
    let ended = scratch.run(["repair", trace, "-o", "repaired.silver"]);
    assert!(scratch.path("repaired.silver").exists(), "{ended:?}");
    let verified = scratch.run(["verify", "repaired.silver"]);
    assert_eq!(verified.code(), Some(0), "{verified:?}");
    numbers(scratch, "repaired.silver").0
}

#[test]
fn files_joined_by_cat_are_read_as_several() {
    let scratch = Scratch::new();
    let (a, b) = (traced(&scratch, "a.silver", 1000, 1), traced(&scratch, "b.silver", 2000, 2));
    write(&scratch, "ab.silver", &[&a[..], &b].concat());
    let (found, cat) = numbers(&scratch, "ab.silver");
    assert_eq!((found.len(), cat.code()), (5000, Some(0)), "{}", cat.err);
    assert_eq!(found.iter().map(|(pid, ..)| pid).collect::<BTreeSet<_>>().len(), 2);
    assert_eq!(repaired(&scratch, "ab.silver"), found);
    let ended = scratch.run(["verify", "ab.silver"]);
    assert!(ended.code() == Some(0) && ended.out.contains("files were joined"), "{ended:?}");
    let ended = scratch.run(["sql", "ab.silver", "select count(*), count(distinct pid) from records"]);
    assert!(ended.out.ends_with("5000,2\n"), "{ended:?}");
    let ended = scratch.run(["recover", "ab.silver", "-o", "recovered.silver"]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert_eq!(numbers(&scratch, "recovered.silver").0, found);
    let ended = scratch.run(["verify", "recovered.silver"]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let ended = scratch.run(["merge", "ab.silver", "b.silver", "-o", "merged.silver"]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert_eq!(numbers(&scratch, "merged.silver").0, found);
    // The first was cut at an odd byte: its whole blocks are read, and all of the second.
    let cut = blocks(&a).iter().rfind(|(.., header)| header.kind == BlockKind::RECORDS).unwrap().0 + 201;
    write(&scratch, "cut.silver", &[&a[..cut], &b].concat());
    let (found, cat) = numbers(&scratch, "cut.silver");
    assert_eq!(cat.code(), Some(3), "{}", cat.err);
    assert!(found.len() >= 4000, "{}", found.len());
    assert_eq!(repaired(&scratch, "cut.silver"), found);
}

#[test]
fn blocks_that_were_moved_are_found_where_they_are() {
    let scratch = Scratch::new();
    let whole = traced(&scratch, "t.silver", 20_000, 2);
    let all = numbers(&scratch, "t.silver").0;
    let records: Vec<_> =
        blocks(&whole).into_iter().filter(|(.., header)| header.kind == BlockKind::RECORDS).collect();
    let ((a, a_end, _), (b, b_end, _)) = (records[2], records[3]);
    let pieces = [&whole[..a], &whole[b..b_end], &whole[a_end..b], &whole[a..a_end], &whole[b_end..]];
    write(&scratch, "moved.silver", &pieces.concat());
    let (found, cat) = numbers(&scratch, "moved.silver");
    assert_eq!((found.len(), cat.code()), (all.len(), Some(3)), "{}", cat.err);
    assert!(cat.err.contains("where another block should"), "{}", cat.err);
    assert_eq!(found, all);
    assert_eq!(repaired(&scratch, "moved.silver"), all);
    let ended = scratch.run(["cat", "--count", "moved.silver"]);
    assert_eq!((ended.out.trim(), ended.code()), ("40000", Some(3)), "{ended:?}");
}

/// What describes the records stood in the first page alone: without it nothing of the file could be shown.
#[test]
fn a_damaged_page_costs_what_lies_in_it() {
    let scratch = Scratch::new();
    let whole = traced(&scratch, "t.silver", 6_000, 2);
    let all = numbers(&scratch, "t.silver").0;
    for page in [0, 1, 5] {
        let mut damaged = whole.clone();
        damaged[page * 4096..(page + 1) * 4096].fill(0);
        write(&scratch, "damaged.silver", &damaged);
        let (found, cat) = numbers(&scratch, "damaged.silver");
        assert_eq!(cat.code(), Some(3), "{}", cat.err);
        // Those of the blocks that the page touches, at most.
        let touched = blocks(&whole).into_iter().filter(|(at, end, header)| {
            header.kind == BlockKind::RECORDS && *at < (page + 1) * 4096 && page * 4096 < *end
        });
        let lost: u32 = touched.map(|(.., header)| header.records).sum();
        assert!(found.len() + lost as usize >= all.len(), "page {page}: {} and {lost}", found.len());
        assert!(found.is_subset(&all));
        assert_eq!(repaired(&scratch, "damaged.silver"), found);
    }
}

/// The collector was killed: nothing stands behind the last records.
#[test]
fn descriptions_come_again_in_a_file_that_was_never_closed() {
    let scratch = Scratch::new();
    let whole = traced(&scratch, "t.silver", 40_000, 2);
    // As far as it was when a third was written.
    let cut = whole.len() * 2 / 3;
    let mut damaged = whole[..cut].to_vec();
    damaged[..4096].fill(0);
    write(&scratch, "damaged.silver", &damaged);
    let (found, cat) = numbers(&scratch, "damaged.silver");
    assert_eq!(cat.code(), Some(3), "{}", cat.err);
    assert!(found.len() > 40_000, "{} of 80,000, two thirds of which are there: {}", found.len(), cat.err);
}

/// Blocks are short, so that damage all over leaves most of a file.
#[test]
fn flipped_bits_cost_the_blocks_that_they_are_in() {
    let scratch = Scratch::new();
    let whole = traced(&scratch, "t.silver", 60_000, 2);
    let longest = blocks(&whole).into_iter().map(|(at, end, _)| end - at).max().unwrap();
    assert!(longest <= (64 << 10) + 96, "{longest}");
    let mut damaged = whole.clone();
    let flips: Vec<usize> = (0..20).map(|turn| (turn * 7919 + 4321) * 37 % whole.len()).collect();
    flips.iter().for_each(|at| damaged[*at] ^= 1 << (at % 8));
    write(&scratch, "damaged.silver", &damaged);
    let (found, _) = numbers(&scratch, "damaged.silver");
    let hit = blocks(&whole).into_iter().filter(|(at, end, header)| {
        header.kind == BlockKind::RECORDS && flips.iter().any(|flip| (*at..*end).contains(flip))
    });
    let lost: u32 = hit.map(|(.., header)| header.records).sum();
    assert!(found.len() + lost as usize >= 120_000, "{} and {lost}", found.len());
    assert!(found.len() > 40_000, "{}", found.len());
}

/// Lines of another program's log, written by several threads under one name, or sorted by something else.
#[test]
fn records_that_come_in_another_order_are_shown_by_time() {
    let scratch = Scratch::new();
    // A full turn of a number that has no divisor in common with their count: each once, in no order.
    const COUNT: u64 = 20_011;
    let mut lines = String::new();
    for turn in 0..COUNT {
        let n = turn * 7919 % COUNT;
        let (minute, second, ms) = (n / 60_000, n / 1000 % 60, n % 1000);
        lines += &format!(
            "{{\"time\":\"2026-01-01T00:{minute:02}:{second:02}.{ms:03}Z\",\"msg\":\"number {n}\",\"tid\":{}}}\n",
            n % 2 + 1
        );
    }
    write(&scratch, "in.jsonl", lines.as_bytes());
    let ended = scratch.run(["convert", "in.jsonl", "out.silver"]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let verified = scratch.run(["verify", "out.silver"]);
    assert_eq!(verified.code(), Some(0), "{verified:?}");
    let in_order = |text: &str| {
        let numbers = text.lines().filter_map(|line| line.split("number ").nth(1));
        let numbers: Vec<u64> =
            numbers.map(|rest| rest.trim_end_matches(['"', '}']).parse().unwrap()).collect();
        assert_eq!(numbers.len() as u64, COUNT);
        let wrong = numbers.iter().zip(0..).find(|(found, expected)| **found != *expected);
        assert_eq!(wrong, None);
    };
    in_order(&scratch.run(["cat", "out.silver"]).out);
    in_order(&scratch.run(["sql", "out.silver", "select message from records"]).out);
}

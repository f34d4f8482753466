//! A program with a logger inside. `logged FILE flood` logs numbers until it is killed, which must be soon,
//! and prints its progress; `logged FILE count N` logs N and ends.

use std::io::Write;
use std::time::Duration;

use silverpoint::info;
use silverpoint_logger::{Config, Filter, Flushed, Logger, Sink, text};
use silverpoint_query::filter::Expression;

/// Records that a program makes which is to be killed. The first come as fast as it goes, the others so that it still has work however late the kill comes.
const FLOOD: std::ops::Range<u64> = 0..600_000;
/// So many of them as fast as it goes; then so many a millisecond.
const BURST: u64 = 20_000;
const PACE: u64 = 20;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let [file, how, count @ ..] = &words[..] else { panic!("logged FILE flood, or logged FILE count N") };
    // What code can say and a configuration file cannot, too.
    let options = text::Options { process: true, ..text::Options::default() };
    let some = Filter { expression: Expression::parse("number < 5").ok(), ..Filter::default() };
    let config = Config::new("info")
        .sink(Sink::file(*file).text(options))
        .sink(Sink::file(format!("{file}.jsonl")).json())
        .sink(Sink::file(format!("{file}.few")).only(some));
    let logger = Logger::start(config).unwrap_or_else(|error| panic!("{error}"));
    let mut out = std::io::stdout();
    let is_flood = *how == "flood";
    let numbers = if is_flood { FLOOD } else { 0..count[0].parse().unwrap() };
    for number in numbers {
        info!(number, "number {}", number);
        if number.is_multiple_of(100) {
            let _ = writeln!(out, "{number}").and_then(|()| out.flush());
        }
        if is_flood && number > BURST && number.is_multiple_of(PACE) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    assert!(!is_flood, "nobody has killed it");
    assert_eq!(logger.stop(Duration::from_secs(300)), Flushed::Complete);
}

//! The Rust victim: `kill-victim COUNTS THREADS RECORDS`. Each thread traces (thread, sequence, text) and counts the calls that returned.

use std::path::Path;

use silverpoint::event;
use silverpoint_killtest::counts::{Counts, text_of};

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok());
    let (Some(path), Some(threads), Some(records)) = (words.get(1), number(2), number(3)) else {
        eprintln!("usage: kill-victim COUNTS THREADS RECORDS");
        std::process::exit(2);
    };
    let counts = Counts::open(Path::new(path)).expect("the counts can be mapped");
    counts.set_pid(std::process::id());
    std::thread::scope(|scope| {
        for thread in 0..threads as u32 {
            let counts = &counts;
            scope.spawn(move || {
                let mut text = String::new();
                for sequence in 1..=records {
                    if counts.is_stopped() {
                        break;
                    }
                    text_of(thread, sequence, &mut text);
                    event!("kill.tick", thread, sequence, text = text.as_str());
                    counts.add(thread as usize);
                }
            });
        }
    });
}

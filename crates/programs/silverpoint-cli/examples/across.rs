//! Spans that end in another thread than they began in, as of a future that a program sends all the same. Once for each line of input.

use std::io::stdin;
use std::thread;

use silverpoint::{Span, event, span};

struct Handed {
    _span: Span,
}

// SAFETY: what a span holds is valid in each thread.
unsafe impl Send for Handed {}

impl Handed {
    fn end(self) {}
}

fn passed(number: i32) -> Handed {
    let span = span!("passed", number);
    event!("inside", number);
    Handed { _span: span }
}

fn main() {
    for _ in stdin().lines() {
        let one = passed(1);
        thread::scope(|scope| {
            scope.spawn(|| {
                let own = passed(2);
                one.end();
                event!("own", number = 2);
                own.end();
            });
        });
        event!("behind");
        let one = thread::spawn(|| passed(3)).join().unwrap();
        one.end();
        event!("last");
        println!("done");
    }
}

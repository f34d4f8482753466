//! `atraced SEED CALLS`: so many calls of ATrace, of all kinds and with names of all sorts, in an order that the seed decides; threads take turns.

use silverpoint_atrace::{self as atrace, Tag};

/// Numbers that look random and are the same each time (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        for shift in [13, -7, 17] {
            self.0 ^= if shift > 0 { self.0 << shift } else { self.0 >> -shift };
        }
        self.0 % bound
    }

    fn name(&mut self) -> String {
        const PIECES: [&str; 12] =
            ["load", "{}", "|", "\n", "ä", "\u{1F600}", " ", "\t", "%s", "\"", "\x7F", "E|1"];
        let pieces = match self.below(20) {
            // Longer than a message.
            0 => 400,
            1 => 0,
            _ => 1 + self.below(6),
        };
        (0..pieces).map(|_| PIECES[self.below(12) as usize]).collect::<String>() + &self.below(50).to_string()
    }
}

fn main() {
    let words: Vec<u64> = std::env::args().skip(1).map(|word| word.parse().unwrap()).collect();
    let [seed, calls] = words[..] else { panic!("atraced SEED CALLS") };
    let mut numbers = Numbers(seed * 2 + 1);
    let mut left = calls;
    while left > 0 {
        // Each in a thread of its own, one after the other.
        let turn = left.min(1 + numbers.below(300));
        left -= turn;
        std::thread::scope(|scope| scope.spawn(|| call(&mut numbers, turn)).join()).unwrap();
    }
}

fn call(numbers: &mut Numbers, calls: u64) {
    let mut depth = 0_u32;
    let (mut on_tracks, mut stretches) = (Vec::<(String, i32)>::new(), Vec::<(String, i32)>::new());
    for _ in 0..calls {
        let (name, other) = (numbers.name(), numbers.name());
        let number = numbers.below(u64::MAX);
        let tag = if numbers.below(4) == 0 { Tag::GRAPHICS } else { Tag::APP };
        match numbers.below(9) {
            0 | 1 => {
                atrace::begin(Tag::APP, &name);
                depth += 1;
            }
            2 if depth > 0 => {
                atrace::end(Tag::APP);
                depth -= 1;
            }
            3 => atrace::instant(tag, &name),
            4 => atrace::track_instant(tag, &other, &name),
            5 => atrace::int(tag, &name, number as i32),
            6 => atrace::int64(tag, &name, number as i64),
            7 => match stretches.pop().filter(|_| number.is_multiple_of(2)) {
                Some((name, cookie)) => atrace::async_end(Tag::APP, &name, cookie),
                None => {
                    atrace::async_begin(Tag::APP, &name, number as i32);
                    stretches.push((name, number as i32));
                }
            },
            8 => match on_tracks.pop().filter(|_| number.is_multiple_of(2)) {
                Some((track, cookie)) => atrace::track_end(Tag::APP, &track, cookie),
                None => {
                    // (What ends on a track is known by track and cookie: those of another would be taken for it.)
                    let track = format!("track {other}");
                    atrace::track_begin(Tag::APP, &track, &name, number as i32);
                    on_tracks.push((track, number as i32));
                }
            },
            _ => drop(atrace::scope(tag, &name)),
        }
    }
    (0..depth).for_each(|_| atrace::end(Tag::APP));
}

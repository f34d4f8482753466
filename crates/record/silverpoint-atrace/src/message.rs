//! What is written to `trace_marker`: one line a call, exactly as Android writes it.
//!
//! ```text
//!  B|pid|name   E|pid   I|pid|name   N|pid|track|name   C|pid|name|value
//!  S|pid|name|cookie   F|pid|name|cookie   G|pid|track|name|cookie   H|pid|track|cookie
//! ```

use std::cell::{Cell, RefCell};

use silverpoint::dynamic;

/// Most bytes of a message: what Android writes, and what every kernel accepts in one piece.
pub(crate) const MOST: usize = 1023;

/// Bytes of a track's name at most, in all of its messages: what begins is what ends. It leaves some for the name behind it.
const TRACK: usize = 900;

/// Bytes of a message beside its names, at most: letter, process, what stands between, number and newline.
const BESIDE: usize = 48;
/// Names of so many bytes together make a short message: less memory is cleared for it.
pub(crate) const SHORT: usize = 128 - BESIDE;

/// A message with names of no more than [`SHORT`] bytes together.
pub(crate) type Short = Message<{ SHORT + BESIDE }>;
/// Any message.
pub(crate) type Long = Message<{ MOST + 1 }>;

/// Bytes of `|process`, with some to spare: a whole block is copied in two instructions.
const PROCESS_BLOCK: usize = 16;

thread_local! {
    /// `|process` as it was written last, its bytes, and whose it is: a forked child's is another one.
    static PROCESS: Cell<([u8; PROCESS_BLOCK], usize, u32)> = const { Cell::new(([0; PROCESS_BLOCK], 0, 0)) };
}

thread_local! {
    /// Memory of the thread's long messages: to clear it for each would take as long as to fill it.
    static LONG: RefCell<Long> = const { RefCell::new(Long::empty()) };
}

/// Lends memory for a long message.
pub(crate) fn with_long(make: impl FnOnce(&mut Long)) {
    LONG.with(|own| match own.try_borrow_mut() {
        Ok(mut own) => make(&mut own),
        // A signal handler interrupts the making of another one.
        Err(_) => make(&mut Long::empty()),
    });
}

/// A message under way, with room for the newline that a file needs.
pub(crate) struct Message<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Message<N> {
    pub(crate) const fn empty() -> Self {
        Self { bytes: [0; N], len: 0 }
    }

    #[cfg(test)]
    fn new(letter: u8, process: u32, names: &[&str], number: Option<i64>) -> Self {
        let mut message = Self::empty();
        message.fill(letter, process, names, number);
        message
    }

    /// `letter|pid`, then each name after a `|`, cut so that everything fits, then the number after a `|`. Over any earlier contents.
    pub(crate) fn fill(&mut self, letter: u8, process: u32, names: &[&str], number: Option<i64>) {
        let (text, len) = PROCESS.with(|known| match known.get() {
            (text, len, of) if of == process => (text, len),
            _ => {
                let mut made = Message::<PROCESS_BLOCK> { bytes: [b'|'; PROCESS_BLOCK], len: 1 };
                made.decimal(i64::from(process));
                known.set((made.bytes, made.len, process));
                (made.bytes, made.len)
            }
        });
        self.len = 1 + len;
        self.bytes[0] = letter;
        // What is behind it is written over.
        self.bytes[1..=PROCESS_BLOCK].copy_from_slice(&text);
        let tail = if number.is_some() { 21 } else { 0 };
        for (place, name) in names.iter().enumerate() {
            self.bar();
            let left = (MOST.min(N - 1) - self.len - tail).saturating_sub(names.len() - place - 1);
            let is_track = place == 0 && matches!(letter, b'G' | b'H' | b'N');
            self.name(name, if is_track { left.min(TRACK) } else { left });
        }
        if let Some(number) = number {
            self.bar();
            self.decimal(number);
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// With a newline, for a file.
    pub(crate) fn line(&mut self) -> &[u8] {
        self.bytes[self.len] = b'\n';
        &self.bytes[..=self.len]
    }

    fn bar(&mut self) {
        self.bytes[self.len] = b'|';
        self.len += 1;
    }

    /// What would end the name or the line is made harmless: `|` becomes `/`, a control character a space.
    #[inline]
    fn name(&mut self, name: &str, most: usize) {
        let size = if name.len() > most { dynamic::floor_char_boundary(name, most) } else { name.len() };
        let from = &name.as_bytes()[..size];
        let Some(to) = self.bytes.get_mut(self.len..self.len + size) else { return };
        let ends = from.first_chunk().zip(from.last_chunk());
        let ends = ends.filter(|(first, last)| size <= 16 && are_plain(**first) && are_plain(**last));
        if size >= 16 && is_plain(from) {
            to.copy_from_slice(from);
        } else if let Some((first, last)) = ends {
            to[..8].copy_from_slice(first);
            to[size - 8..].copy_from_slice(last);
        } else {
            copy_safe(to, from);
        }
        self.len += size;
    }

    fn decimal(&mut self, number: i64) {
        let mut rest = number.unsigned_abs();
        let count = rest.checked_ilog10().unwrap_or(0) as usize + 1;
        if number < 0 {
            self.bytes[self.len] = b'-';
            self.len += 1;
        }
        let mut at = self.len + count;
        while rest >= 10 {
            let two = (rest % 100) as u8;
            rest /= 100;
            at -= 2;
            self.bytes[at..at + 2].copy_from_slice(&[b'0' + two / 10, b'0' + two % 10]);
        }
        if at > self.len {
            self.bytes[self.len] = b'0' + rest as u8;
        }
        self.len += count;
    }
}

/// Byte by byte. (Apart: so nothing of it is made ready for other names.)
#[inline(never)]
fn copy_safe(to: &mut [u8], from: &[u8]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = safe(*from));
}

#[inline(always)]
fn safe(byte: u8) -> u8 {
    match byte {
        b'|' => b'/',
        0..0x20 | 0x7F => b' ',
        byte => byte,
    }
}

/// Whether all bytes are harmless, by the least and the greatest of them: others may be, too. (A pass of its own: in one with the copy the compiler looks at each byte by itself.)
#[inline(always)]
fn is_plain(bytes: &[u8]) -> bool {
    let (least, most) =
        bytes.iter().fold((u8::MAX, 0), |(least, most), byte| (least.min(*byte), most.max(*byte)));
    least >= b' ' && most < b'|'
}

/// The same for eight, all at once. (Bytes beyond ASCII count as not harmless.)
#[inline(always)]
fn are_plain(bytes: [u8; 8]) -> bool {
    const EACH: u64 = u64::MAX / 0xFF;
    let all = u64::from_le_bytes(bytes);
    let below = all.wrapping_sub(EACH * u64::from(b' '));
    let above = all.wrapping_add(EACH * u64::from(0x80 - b'|'));
    (all | below | above) & (EACH * 0x80) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(letter: u8, names: &[&str], number: Option<i64>) -> String {
        let long = Long::new(letter, 42, names, number).bytes().to_vec();
        if names.iter().map(|name| name.len()).sum::<usize>() <= SHORT {
            assert_eq!(Short::new(letter, 42, names, number).bytes(), long);
        }
        String::from_utf8(long).unwrap()
    }

    #[test]
    fn the_longest_short_message_is_whole() {
        for size in 0..=SHORT {
            let (track, name) = ("t".repeat(size), "n".repeat(SHORT - size));
            let mut message = Short::new(b'G', u32::MAX, &[&track, &name], Some(i64::MIN));
            let expected = format!("G|{}|{track}|{name}|{}\n", u32::MAX, i64::MIN);
            assert_eq!(message.line(), expected.as_bytes());
        }
    }

    #[test]
    fn memory_that_is_used_again_leaves_nothing_of_the_last_message() {
        let names: [&[&str]; 4] =
            [&["a|long name\n, longer than the next one"], &["12345678|"], &["1234567"], &[]];
        with_long(|message| {
            for number in [Some(i64::MIN), Some(7), None] {
                for names in names {
                    message.fill(b'X', 4242, names, number);
                    assert_eq!(message.bytes(), Long::new(b'X', 4242, names, number).bytes());
                }
            }
            // Who comes in between has memory of its own.
            with_long(|other| other.fill(b'B', 1, &["other"], None));
            assert_eq!(message.bytes(), b"X|4242");
        });
    }

    #[test]
    fn messages_are_androids() {
        assert_eq!(text(b'B', &["draw"], None), "B|42|draw");
        assert_eq!(text(b'E', &[], None), "E|42");
        assert_eq!(text(b'C', &["fps"], Some(i64::MIN)), "C|42|fps|-9223372036854775808");
        assert_eq!(text(b'S', &["load"], Some(-7)), "S|42|load|-7");
        assert_eq!(text(b'G', &["net", "fetch"], Some(7)), "G|42|net|fetch|7");
        assert_eq!(text(b'B', &[""], None), "B|42|");
    }

    #[test]
    fn numbers_of_any_length_are_whole() {
        let powers = (0..19).map(|power| 10_i64.pow(power));
        let near = powers.flat_map(|power| [power - 1, power, power + power / 7, -power]);
        for number in near.chain([i64::MAX, i64::MIN]) {
            assert_eq!(text(b'C', &["n"], Some(number)), format!("C|42|n|{number}"));
        }
    }

    #[test]
    fn names_cannot_end_lines_or_fields() {
        assert_eq!(text(b'B', &["a|b\nc\rd\0e\tf"], None), "B|42|a/b c d e f");
        assert_eq!(text(b'N', &["a|b", "größe"], None), "N|42|a/b|größe");
        assert_eq!(text(b'I', &[&"größer".repeat(10)], None), format!("I|42|{}", "größer".repeat(10)));
        for size in 0..70 {
            let name: String = (0..size).map(|n| ['|', 'x', '\x7f', 'y', '\x1f', '~', ' '][n % 7]).collect();
            let expected: String = (0..size).map(|n| ['/', 'x', ' ', 'y', ' ', '~', ' '][n % 7]).collect();
            assert_eq!(text(b'I', &[&name], Some(-10)), format!("I|42|{expected}|-10"));
            // In plain names, too: one byte that is not, at each place.
            for place in 0..size {
                let plain = "x".repeat(size);
                let (mut odd, mut made) = (plain.clone(), plain);
                odd.replace_range(place..=place, "\n");
                made.replace_range(place..=place, " ");
                assert_eq!(text(b'I', &[&odd], None), format!("I|42|{made}"));
            }
        }
    }

    #[test]
    fn long_names_are_cut_and_numbers_are_not() {
        let long = "ä".repeat(2000);
        let begin = text(b'B', &[&long], None);
        assert!(begin.len() <= MOST && begin.len() > MOST - 2 && begin.starts_with("B|42|ä"));
        let counter = text(b'C', &[&long], Some(i64::MIN));
        assert!(counter.len() <= MOST && counter.ends_with("ä|-9223372036854775808"), "{counter}");
        let track = text(b'G', &[&long, &long], Some(7));
        assert!(track.len() <= MOST && track.ends_with("ä|7"));
        assert_eq!(track.split('|').count(), 5);
        assert!(text(b'G', &["short", &long], Some(7)).len() > MOST - 25);
        // A track is the same in all of its messages.
        let of = |message: &str| message.split('|').nth(2).unwrap().to_owned();
        let name = text(b'H', &[&long], Some(7));
        assert_eq!((of(&track), of(&text(b'N', &[&long, "x"], None))), (of(&name), of(&name)));
        assert_eq!(of(&name).len(), TRACK);
    }
}

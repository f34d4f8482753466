//! The monitor beside simulated senders, in many orders of their steps; some senders are killed, some break the rules.

use std::convert::Infallible;
use std::time::Duration;

use crate::monitor::{BUFFER_BYTES, Message, Monitor, NOTE_AT, Objects, is_served, message};

/// Bytes of a text that one turn of a sender writes.
const PIECE: usize = BUFFER_BYTES - 5;

/// Where a sender is in its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Lock,
    AwaitBuffer,
    WritePid,
    WriteFirstHalf,
    WriteSecondHalf,
    SetData,
    Gone,
}

struct Sender {
    pid: u32,
    /// What it says, in turns of the buffer; the first is next.
    pieces: Vec<Vec<u8>>,
    at: At,
    /// Steps until it is killed.
    lives: u32,
    is_suspended: bool,
}

impl Sender {
    fn new(pid: u32, text: &[u8]) -> Self {
        let pieces = text.chunks(PIECE).map(|piece| [piece, &[0]].concat()).collect();
        Self { pid, pieces, at: At::Lock, lives: u32::MAX, is_suspended: false }
    }
}

struct Simulated {
    random: u64,
    senders: Vec<Sender>,
    buffer: [u8; BUFFER_BYTES],
    is_buffer_ready: bool,
    has_data: bool,
    /// The sender that has the mutex.
    owner: Option<usize>,
    is_locked: bool,
    /// What was completely written, in this order.
    sent: Vec<(u32, Vec<u8>)>,
    pulses: u32,
    /// Another monitor: how many of its steps it has before it is killed, and what it has taken.
    other_lives: u32,
    other_has_taken: Vec<(u32, Vec<u8>)>,
    /// Whether the other one has taken a message, and has not let the next sender go on.
    other_owes: bool,
}

impl Simulated {
    fn new(seed: u64, senders: Vec<Sender>) -> Self {
        Self {
            random: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
            senders,
            buffer: [0; BUFFER_BYTES],
            is_buffer_ready: false,
            has_data: false,
            owner: None,
            is_locked: false,
            sent: Vec::new(),
            pulses: 0,
            other_lives: 0,
            other_has_taken: Vec::new(),
            other_owes: false,
        }
    }

    /// Of senders that do nothing yet but what a test asks for.
    fn suspended(seed: u64, mut senders: Vec<Sender>) -> Self {
        senders.iter_mut().for_each(|sender| sender.is_suspended = true);
        Self::new(seed, senders)
    }

    /// A number below `end`.
    fn below(&mut self, end: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 16) as usize % end
    }

    fn are_gone(&self) -> bool {
        self.senders.iter().all(|sender| sender.at == At::Gone)
    }

    /// Some steps of some senders.
    fn run(&mut self, most: usize) {
        for _ in 0..self.below(most + 1) {
            let number = self.below(self.senders.len() + usize::from(self.other_lives > 0));
            if number == self.senders.len() { self.step_of_other() } else { self.step(number) }
        }
    }

    fn step_of_other(&mut self) {
        self.other_lives -= 1;
        if std::mem::take(&mut self.other_owes) {
            self.is_buffer_ready = true;
        } else if std::mem::take(&mut self.has_data) {
            let Message { pid, text, .. } = message(&self.buffer);
            self.other_has_taken.push((pid, text.to_vec()));
            self.other_owes = true;
        }
    }

    /// Some steps, until this holds or the time has passed.
    fn wait(&mut self, timeout: Duration, holds: impl Fn(&Self) -> bool) -> bool {
        let turns = if timeout.is_zero() { 1 } else { 1000 };
        (0..turns).any(|_| {
            self.run(4);
            holds(self)
        })
    }

    fn step(&mut self, number: usize) {
        let sender = &mut self.senders[number];
        if sender.at == At::Gone || sender.is_suspended {
            return;
        }
        sender.lives -= 1;
        if sender.lives == 0 {
            sender.at = At::Gone;
            if self.owner == Some(number) {
                self.owner = None;
            }
            return;
        }
        let piece = &sender.pieces[0];
        let half = piece.len() / 2;
        sender.at = match sender.at {
            At::Lock if self.owner.is_some() || self.is_locked => At::Lock,
            At::Lock => {
                self.owner = Some(number);
                At::AwaitBuffer
            }
            At::AwaitBuffer if !self.is_buffer_ready => At::AwaitBuffer,
            At::AwaitBuffer => {
                self.is_buffer_ready = false;
                At::WritePid
            }
            At::WritePid => {
                self.buffer[..4].copy_from_slice(&sender.pid.to_le_bytes());
                At::WriteFirstHalf
            }
            At::WriteFirstHalf => {
                self.buffer[4..4 + half].copy_from_slice(&piece[..half]);
                At::WriteSecondHalf
            }
            At::WriteSecondHalf => {
                self.buffer[4 + half..4 + piece.len()].copy_from_slice(&piece[half..]);
                At::SetData
            }
            At::SetData => {
                let end = piece.iter().position(|byte| *byte == 0).unwrap_or(piece.len());
                self.sent.push((sender.pid, piece[..end].to_vec()));
                self.has_data = true;
                sender.pieces.remove(0);
                if sender.pieces.is_empty() {
                    self.owner = None;
                    At::Gone
                } else {
                    At::AwaitBuffer
                }
            }
            At::Gone => At::Gone,
        };
    }
}

impl Objects for Simulated {
    type Error = Infallible;

    fn wait_for_data(&mut self, timeout: Duration) -> Result<bool, Infallible> {
        self.run(4);
        if !timeout.is_zero() {
            for _ in 0..4 {
                if self.has_data {
                    break;
                }
                self.run(16);
            }
        }
        Ok(std::mem::take(&mut self.has_data))
    }

    fn copy(&mut self, to: &mut [u8; BUFFER_BYTES]) {
        // Half and half: a sender that writes meanwhile would be seen.
        let half = BUFFER_BYTES / 2;
        to[..half].copy_from_slice(&self.buffer[..half]);
        self.run(8);
        to[half..].copy_from_slice(&self.buffer[half..]);
        self.buffer[NOTE_AT..].fill(0);
    }

    fn set_buffer_ready(&mut self) -> Result<(), Infallible> {
        self.run(4);
        self.is_buffer_ready = true;
        self.run(4);
        Ok(())
    }

    fn reset_buffer_ready(&mut self, timeout: Duration) -> Result<bool, Infallible> {
        self.wait(timeout, |all| all.is_buffer_ready);
        Ok(std::mem::take(&mut self.is_buffer_ready))
    }

    fn pulse_buffer_ready(&mut self) -> Result<(), Infallible> {
        self.pulses += 1;
        let waits = |sender: &&mut Sender| sender.at == At::AwaitBuffer && !sender.is_suspended;
        if let Some(sender) = self.senders.iter_mut().find(waits) {
            sender.at = At::WritePid;
        }
        self.is_buffer_ready = false;
        Ok(())
    }

    fn try_lock(&mut self, timeout: Duration) -> Result<bool, Infallible> {
        self.is_locked = self.wait(timeout, |all| all.owner.is_none());
        Ok(self.is_locked)
    }

    fn unlock(&mut self) -> Result<(), Infallible> {
        self.run(4);
        self.is_locked = false;
        Ok(())
    }
}

/// Runs the monitor until all senders are gone and nothing comes any more; gives what came.
fn received(monitor: &mut Monitor<Simulated>) -> Vec<(u32, Vec<u8>)> {
    let (mut all, mut idle, mut turns) = (Vec::new(), 0, 0);
    while idle < 3 {
        let Ok(found) = monitor.next_message();
        idle = if found.is_none() { idle + 1 } else { 0 };
        all.extend(found.map(|message| (message.pid, message.text.to_vec())));
        turns += 1;
        assert!(turns < 2000, "a sender waits in vain");
        if !monitor.objects().are_gone() {
            idle = 0;
        }
    }
    all
}

fn text(sender: usize, bytes: usize) -> Vec<u8> {
    vec![b'a' + sender as u8; bytes]
}

#[test]
fn nothing_is_lost_or_mixed_in_any_order() {
    for seed in 0..3000 {
        let sizes = [1, 100, PIECE, PIECE + 1, 3 * PIECE];
        let sender = |number: usize| {
            Sender::new(number as u32, &text(number, sizes[(number + seed as usize) % sizes.len()]))
        };
        let Ok(mut monitor) = Monitor::new(Simulated::new(seed, (1..6).map(sender).collect()));
        let all = received(&mut monitor);
        assert_eq!(all, monitor.objects().sent, "seed {seed}");
        assert_eq!(all.iter().map(|(_, text)| text.len()).sum::<usize>(), sizes.iter().sum(), "seed {seed}");
    }
}

/// The one that is killed may have the mutex, and may have begun to write.
#[test]
fn senders_that_are_killed_hold_nobody_up() {
    let mut pulses = 0;
    for seed in 0..3000 {
        let mut senders: Vec<Sender> =
            (1..5).map(|number| Sender::new(number as u32, &text(number, 50))).collect();
        senders[0].lives = 1 + seed as u32 % 7;
        senders[1].lives = 1 + seed as u32 / 7 % 7;
        let Ok(mut monitor) = Monitor::new(Simulated::new(seed, senders));
        let all = received(&mut monitor);
        assert_eq!(all, monitor.objects().sent, "seed {seed}");
        for living in [3, 4] {
            assert!(all.contains(&(living, text(living as usize, 50))), "seed {seed}: {living}");
        }
        pulses += monitor.objects().pulses;
    }
    assert!(pulses > 0, "no sender came between the death of another and the monitor's check");
}

/// It has the mutex and the buffer, and stands still for longer than others may be held up.
#[test]
fn a_sender_that_stands_still_keeps_the_buffer() {
    for seed in 0..100 {
        let senders = vec![Sender::new(1, &text(1, 3000)), Sender::new(2, &text(2, 3000))];
        let Ok(mut monitor) = Monitor::new(Simulated::suspended(seed, senders));
        monitor.objects().senders[0].is_suspended = false;
        while monitor.objects().senders[0].at != At::WriteSecondHalf {
            monitor.objects().step(0);
        }
        monitor.objects().senders[0].is_suspended = true;
        monitor.objects().senders[1].is_suspended = false;
        for _ in 0..100 {
            assert_eq!(monitor.next_message(), Ok(None), "seed {seed}");
        }
        assert!(monitor.objects().pulses > 0);
        monitor.objects().senders[0].is_suspended = false;
        assert_eq!(received(&mut monitor), [(1, text(1, 3000)), (2, text(2, 3000))], "seed {seed}");
    }
}

#[test]
fn a_monitor_that_lives_is_seen() {
    for seed in 0..200 {
        let senders = (1..6).map(|number| Sender::new(number, &text(number as usize, 3 * PIECE))).collect();
        let mut all = Simulated::new(seed, senders);
        (all.is_buffer_ready, all.other_lives) = (true, u32::MAX);
        for _ in 0..5 {
            assert_eq!(is_served(&mut all), Ok(true), "seed {seed}");
        }
    }
}

/// Senders keep the objects. What the first monitor has not taken the second one takes.
#[test]
fn a_monitor_follows_one_that_was_killed() {
    let mut takeovers = 0;
    for seed in 0..200 {
        let senders = (1..6).map(|number| Sender::new(number, &text(number as usize, 3 * PIECE))).collect();
        let mut all = Simulated::new(seed, senders);
        (all.is_buffer_ready, all.other_lives) = (true, 1 + seed as u32 % 60);
        while all.other_lives > 0 {
            all.run(16);
        }
        for look in 0.. {
            assert!(look < 5, "seed {seed}: a monitor that has ended is taken for one that lives");
            if is_served(&mut all) == Ok(false) {
                takeovers += 1;
                break;
            }
            for _ in 0..100 {
                all.run(16);
            }
        }
        let Ok(mut monitor) = Monitor::new(all);
        let late = received(&mut monitor);
        let all = monitor.objects();
        assert_eq!([&all.other_has_taken[..], &late].concat(), all.sent, "seed {seed}");
        assert!(all.sent.len() >= 15, "seed {seed}: {}", all.sent.len());
    }
    assert_eq!(takeovers, 200);
}

#[test]
fn hostile_buffers_are_texts_with_an_end() {
    let senders = vec![Sender::new(7, b"x")];
    let Ok(mut monitor) = Monitor::new(Simulated::new(1, senders));
    // No zero, 4 KiB exactly, and a process that does not exist.
    monitor.objects().senders[0].is_suspended = true;
    monitor.objects().buffer = [0xFF; BUFFER_BYTES];
    monitor.objects().has_data = true;
    let Ok(Some(Message { pid, text, recorded: None })) = monitor.next_message() else {
        panic!("no message")
    };
    assert_eq!((pid, text), (u32::MAX, &[0xFF; BUFFER_BYTES - 4][..]));
    // An empty text; what stood behind it before is not shown.
    monitor.objects().buffer[4] = 0;
    monitor.objects().has_data = true;
    assert_eq!(monitor.next_message(), Ok(Some(Message { pid: u32::MAX, text: b"", recorded: None })));
    // Data is announced, and nobody has the mutex: the buffer is read once.
    assert_eq!(monitor.next_message(), Ok(None));
}

/// A sender of ours says of its own text that its session has it. What stands there of another text says nothing.
#[test]
fn a_note_is_of_its_own_text_alone() {
    let Ok(mut monitor) = Monitor::new(Simulated::suspended(1, vec![Sender::new(7, b"x")]));
    let mut send = |pid: u32, text: &[u8], note: Option<(u32, u32)>| {
        let all = monitor.objects();
        all.buffer[..4].copy_from_slice(&pid.to_le_bytes());
        all.buffer[4..4 + text.len()].copy_from_slice(text);
        all.buffer[4 + text.len()] = 0;
        if let Some((pid, bytes)) = note {
            let note =
                [b"SPrecord", &pid.to_le_bytes()[..], &bytes.to_le_bytes(), &9u64.to_le_bytes()].concat();
            all.buffer[NOTE_AT..].copy_from_slice(&note);
        }
        all.has_data = true;
        let Ok(Some(Message { pid: sender, text: got, recorded })) = monitor.next_message() else {
            panic!("no message")
        };
        assert_eq!((sender, got), (pid, text));
        recorded
    };
    assert_eq!(send(7, b"ours", Some((7, 4))), Some(9));
    // The same process, by Windows's own function: it writes no note, and the one of before is gone.
    assert_eq!(send(7, b"ours", None), None);
    // Of one that was killed before its text was whole.
    assert_eq!(send(8, b"ours", Some((7, 4))), None);
    assert_eq!(send(7, b"other", Some((7, 4))), None);
    assert_eq!(send(7, &[b'n'; NOTE_AT - 5], Some((7, NOTE_AT as u32 - 5))), Some(9));
    // A longer text reaches into the note.
    assert_eq!(send(7, &[b'n'; NOTE_AT], None), None);
}

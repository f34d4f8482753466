//! What the headers of blocks state of records that have not been read: the first picture of a file of any size.

use std::collections::BTreeMap;

use silverpoint_trace::{Session, Trace};
use silverpoint_wire::level::Level;

use crate::lanes::{Entry, UNREAD};
use crate::timeline::NO_SITE;

/// Stretches that are kept of all threads together, besides one of each stream.
const PARTS_MAX: usize = 400_000;

/// Bits of levels.
const LEVELS: u32 = (1 << Level::ALL.len()) - 1;

/// One block of a thread, or several that follow one another.
#[derive(Clone, Copy, Debug)]
struct Part {
    begin: i64,
    end: i64,
    records: u64,
    /// The highest level.
    level: u8,
}

impl Part {
    /// What is left of it behind a time, up to which everything has been read.
    fn behind(&self, read: i64) -> Option<Self> {
        if self.begin > read {
            return Some(*self);
        }
        if self.end <= read {
            return None;
        }
        let length = |begin: i64| (i128::from(self.end) - i128::from(begin)) as f64;
        let records = (self.records as f64 * length(read) / length(self.begin)).ceil() as u64;
        Some(Self { begin: read, records, ..*self })
    }

    fn join(&mut self, other: &Self) {
        self.begin = self.begin.min(other.begin);
        self.end = self.end.max(other.end);
        self.records = self.records.saturating_add(other.records);
        self.level = self.level.max(other.level);
    }

    fn entry(&self) -> Entry {
        Entry {
            begin: self.begin,
            duration: u64::try_from(i128::from(self.end) - i128::from(self.begin)).unwrap_or(0),
            site: NO_SITE,
            count: u32::try_from(self.records).unwrap_or(u32::MAX),
            level: self.level,
            marks: UNREAD,
        }
    }
}

/// See the module.
#[derive(Debug, Default)]
pub struct Outline {
    /// By session and thread, by their begins.
    threads: BTreeMap<(usize, u32), Vec<Part>>,
    range: Option<(i64, i64)>,
}

impl Outline {
    /// Of everything that is indexed.
    pub fn of(trace: &Trace) -> Self {
        let streams = trace.sessions.iter().flat_map(|session| &session.streams);
        let blocks: usize = streams.map(|stream| stream.headers().len()).sum();
        let joined = blocks.div_ceil(PARTS_MAX).max(1);
        let mut outline = Self { range: trace.time_range(), ..Self::default() };
        for (number, session) in trace.sessions.iter().enumerate() {
            for stream in &session.streams {
                let mut parts = parts(session, stream.headers(), joined).peekable();
                if parts.peek().is_some() {
                    let tid = session.threads.get(stream.thread).map_or(0, |thread| thread.tid);
                    outline.threads.entry((number, tid)).or_default().extend(parts);
                }
            }
        }
        for parts in outline.threads.values_mut() {
            parts.sort_unstable_by_key(|part| part.begin);
        }
        outline
    }

    /// Time of the first and of the last record.
    pub fn range(&self) -> Option<(i64, i64)> {
        self.range
    }

    /// Sessions and ids of the threads that have records.
    pub fn threads(&self) -> impl Iterator<Item = (usize, u32)> {
        self.threads.keys().copied()
    }

    /// Gives what a thread has in a range and behind the time `read`, at most one rectangle for each `pixel` nanoseconds.
    pub fn fold(
        &self,
        thread: (usize, u32),
        read: i64,
        (from, to, pixel): (i64, i64, u64),
        mut give: impl FnMut(Entry),
    ) {
        let Some(parts) = self.threads.get(&thread) else { return };
        // One may have begun before.
        let first = parts.partition_point(|part| part.begin < from).saturating_sub(1);
        let pixel = i128::from(pixel.max(1));
        let mut open: Option<(i128, Part)> = None;
        let parts = parts[first..].iter().take_while(|part| part.begin < to);
        for part in parts.filter_map(|part| part.behind(read)).filter(|part| part.end >= from) {
            let at = (i128::from(part.begin) - i128::from(from)).div_euclid(pixel);
            match &mut open {
                Some((same, joined)) if *same == at => joined.join(&part),
                _ => {
                    if let Some((_, joined)) = open.replace((at, part)) {
                        give(joined.entry());
                    }
                }
            }
        }
        if let Some((_, joined)) = open {
            give(joined.entry());
        }
    }

    /// Adds to equal intervals of a range the records of all threads behind the time `read`.
    pub fn count(&self, read: i64, (from, to): (i64, i64), counts: &mut [u64]) {
        let Some(most) = counts.len().checked_sub(1) else { return };
        let length = (i128::from(to) - i128::from(from)).max(1) as f64 / counts.len() as f64;
        let place = |at: i64| (i128::from(at) - i128::from(from)) as f64 / length;
        // Each part costs the same, however many intervals it covers: within it only what changes from one to the next is noted.
        let (mut at_edges, mut changes) = (vec![0.0; counts.len()], vec![0.0; counts.len()]);
        for part in self.threads.values().flatten() {
            let Some(part) = part.behind(read).filter(|part| part.end >= from && part.begin < to) else {
                continue;
            };
            let (begin, end) = (place(part.begin), place(part.end));
            let first = (begin.max(0.0) as usize).min(most);
            let last = (end.max(0.0) as usize).min(most);
            let records = part.records as f64;
            if end <= begin {
                at_edges[first] += records;
                continue;
            }
            // Evenly over the time from its first record to its last.
            let share =
                |at: usize| (end.min(at as f64 + 1.0) - begin.max(at as f64)).max(0.0) / (end - begin);
            at_edges[first] += records * share(first);
            if last > first {
                at_edges[last] += records * share(last);
                changes[first + 1] += records / (end - begin);
                changes[last] -= records / (end - begin);
            }
        }
        let mut covering = 0.0;
        for ((count, at_edge), change) in counts.iter_mut().zip(at_edges).zip(changes) {
            covering += change;
            *count = count.saturating_add((covering + at_edge).round() as u64);
        }
    }
}

/// The blocks of a stream, `joined` of them as one.
fn parts<'h>(
    session: &'h Session,
    headers: impl Iterator<Item = &'h silverpoint_wire::block::BlockHeader> + 'h,
    joined: usize,
) -> impl Iterator<Item = Part> + 'h {
    let mut blocks = headers.filter(|header| header.records > 0).map(|header| Part {
        begin: session.clock.wall_ns(header.first_ticks),
        end: session.clock.wall_ns(header.last_ticks).max(session.clock.wall_ns(header.first_ticks)),
        records: u64::from(header.records),
        // Old files state none, and hostile ones too many.
        level: (header.levels & LEVELS).checked_ilog2().unwrap_or(0) as u8,
    });
    std::iter::from_fn(move || {
        let mut part = blocks.next()?;
        blocks.by_ref().take(joined - 1).for_each(|next| part.join(&next));
        Some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline() -> Outline {
        let part = |begin, end| Part { begin, end, records: 100, level: 2 };
        let threads =
            BTreeMap::from([((0, 7), vec![part(0, 1000), part(1000, 2000)]), ((0, 8), vec![part(500, 500)])]);
        Outline { threads, range: Some((0, 2000)) }
    }

    #[test]
    fn what_has_been_read_is_left_out_and_the_rest_keeps_its_number() {
        let outline = outline();
        for (read, left) in [(-1, 300), (500, 150), (1000, 100), (1500, 50), (2000, 0)] {
            let mut counts = vec![0; 7];
            outline.count(read, (0, 2001), &mut counts);
            let sum: u64 = counts.iter().sum();
            assert!(sum.abs_diff(left) <= 4, "{read}: {sum}");
        }
    }

    #[test]
    fn parts_that_cover_many_intervals_are_spread_evenly() {
        let part = |begin, end, records| Part { begin, end, records, level: 0 };
        // Each has less than a record an interval; one reaches over both ends of the range, one has no length.
        let mut parts = vec![part(-1000, 3000, 40_000)];
        parts.extend(vec![part(0, 2000, 1); 10_000]);
        parts.extend([part(400, 1400, 1000), part(1500, 1500, 7)]);
        let outline = Outline { threads: BTreeMap::from([((0, 7), parts)]), range: Some((-1000, 3000)) };
        let mut counts = vec![0; 20];
        outline.count(i64::MIN, (0, 2000), &mut counts);
        let expected = (0..20).map(|at| match at {
            4..=13 => 1600,
            15 => 1507,
            _ => 1500,
        });
        assert_eq!(counts, expected.collect::<Vec<u64>>());
        // Where the range begins and ends within an interval of the whole.
        let mut counts = vec![0; 3];
        outline.count(i64::MIN, (350, 650), &mut counts);
        assert_eq!(counts, [1550, 1600, 1600]);
    }

    #[test]
    fn there_is_at_most_one_rectangle_a_pixel_and_none_of_what_is_read() {
        let outline = outline();
        let folded = |read, range| {
            let mut found = Vec::new();
            outline.fold((0, 7), read, range, |entry| found.push((entry.begin, entry.duration, entry.count)));
            found
        };
        assert_eq!(folded(-1, (0, 2000, 10_000)), [(0, 2000, 200)]);
        assert_eq!(folded(-1, (0, 2000, 10)), [(0, 1000, 100), (1000, 1000, 100)]);
        assert_eq!(folded(1500, (0, 2000, 10)), [(1500, 500, 50)]);
        assert_eq!(folded(-1, (1200, 1300, 1)), [(1000, 1000, 100)]);
        assert_eq!(folded(2000, (0, 2000, 10)), []);
    }
}

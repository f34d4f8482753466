//! From when to when each stream has records, by the headers of its blocks. Of very many streams few have some in a stretch of time:
//! these are found without a look at the others' blocks.

use super::Trace;

/// One stream that has blocks.
#[derive(Clone, Copy, Debug)]
struct Extent {
    session: u32,
    /// Place among the streams of the session.
    at: u32,
    /// Wall time of the first and of the last record.
    range: (i64, i64),
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Extents {
    list: Vec<Extent>,
    /// Records in all blocks.
    pub(super) records: u64,
}

impl Extents {
    /// Of everything that is indexed.
    pub(super) fn of(trace: &Trace) -> Self {
        let mut extents = Self::default();
        for (number, session) in trace.sessions.iter().enumerate() {
            for (at, stream) in session.holding() {
                let (Some(first), Some(last)) = (stream.blocks.first(), stream.blocks.last()) else {
                    continue;
                };
                extents.records = extents.records.saturating_add(stream.records_stated());
                let wall_ns = |ticks| session.clock.wall_ns(ticks);
                let range = (wall_ns(first.header.first_ticks), wall_ns(last.header.last_ticks));
                extents.list.push(Extent { session: number as u32, at: at as u32, range });
            }
        }
        extents
    }

    /// Sessions and places of the streams that may have records from a time on and before another one.
    pub(super) fn between(&self, from: i64, to: i64) -> impl Iterator<Item = (usize, usize)> {
        let reaches = move |extent: &&Extent| extent.range.0 < to && extent.range.1 >= from;
        self.list.iter().filter(reaches).map(|extent| (extent.session as usize, extent.at as usize))
    }
}

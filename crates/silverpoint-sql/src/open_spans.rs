//! Which spans are open where: begins are kept until their ends come.

use std::collections::HashMap;

use rusqlite::Error;

/// Spans that may be open at once; a file of nothing but begins must not fill the memory.
const MOST: usize = 1 << 20;

/// Open spans of all threads, with what is kept of each.
pub(crate) struct OpenSpans<T> {
    /// By session and thread, in the order of their begins.
    threads: HashMap<(usize, usize), Vec<Open<T>>>,
    count: usize,
}

/// A span that has begun.
struct Open<T> {
    begin_ticks: u64,
    site: usize,
    kept: T,
}

impl<T> OpenSpans<T> {
    pub(crate) fn new() -> Self {
        Self { threads: HashMap::new(), count: 0 }
    }

    /// The innermost open span of a thread.
    pub(crate) fn innermost(&self, thread: (usize, usize)) -> Option<&T> {
        self.threads.get(&thread)?.last().map(|open| &open.kept)
    }

    /// A span has begun.
    ///
    /// # Errors
    /// There are too many.
    pub(crate) fn begin(
        &mut self,
        thread: (usize, usize),
        site: usize,
        begin_ticks: u64,
        kept: T,
    ) -> Result<(), Error> {
        admit(self.count)?;
        self.count += 1;
        let spans = self.threads.entry(thread).or_default();
        let at = spans.partition_point(|open| open.begin_ticks <= begin_ticks);
        spans.insert(at, Open { begin_ticks, site, kept });
        Ok(())
    }

    /// A span has ended: gives what was kept. `None` when its begin was not seen.
    pub(crate) fn end(&mut self, thread: (usize, usize), site: usize, begin_ticks: u64) -> Option<T> {
        let spans = self.threads.get_mut(&thread)?;
        let end = spans.partition_point(|open| open.begin_ticks <= begin_ticks);
        let same = spans[..end].iter().rev().take_while(|open| open.begin_ticks == begin_ticks);
        let back = same.into_iter().position(|open| open.site == site)?;
        self.count -= 1;
        Some(spans.remove(end - 1 - back).kept)
    }

    /// The open span of a session that began at these ticks, in any thread.
    pub(crate) fn begun_at(&mut self, session: usize, begin_ticks: u64) -> Option<&mut T> {
        let threads = self.threads.iter_mut().filter(|((of, _), _)| *of == session);
        let mut open = threads.flat_map(|(_, spans)| spans);
        open.find(|open| open.begin_ticks == begin_ticks).map(|open| &mut open.kept)
    }

    /// Takes all that have not ended.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = T> + use<T> {
        self.count = 0;
        std::mem::take(&mut self.threads).into_values().flatten().map(|open| open.kept)
    }
}

/// Whether one more may be open.
///
/// # Errors
/// Not one more.
pub(crate) fn admit(count: usize) -> Result<(), Error> {
    if count < MOST {
        return Ok(());
    }
    let why = format!(
        "more than {MOST} spans are open at once; ask for less of the trace: add a condition on time, thread or name"
    );
    Err(Error::ModuleError(why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_find_their_begins_in_any_order() {
        let mut spans = OpenSpans::new();
        for (site, ticks) in [(1, 10), (2, 20), (3, 20), (1, 30)] {
            spans.begin((0, 0), site, ticks, (site, ticks)).unwrap();
        }
        assert_eq!(spans.innermost((0, 0)), Some(&(1, 30)));
        assert_eq!(spans.end((0, 0), 2, 20), Some((2, 20)));
        assert_eq!(spans.end((0, 0), 2, 20), None);
        assert_eq!(spans.end((0, 1), 3, 20), None);
        assert_eq!(spans.end((0, 0), 1, 30), Some((1, 30)));
        assert_eq!(spans.innermost((0, 0)), Some(&(3, 20)));
        assert_eq!(spans.take().collect::<Vec<_>>(), [(1, 10), (3, 20)]);
        assert_eq!(spans.innermost((0, 0)), None);
    }

    #[test]
    fn there_is_an_end_to_what_is_kept() {
        let mut spans = OpenSpans::new();
        for ticks in 0..MOST as u64 {
            spans.begin((0, 0), 1, ticks, ()).unwrap();
        }
        assert!(spans.begin((0, 0), 1, 0, ()).unwrap_err().to_string().contains("ask for less"));
        spans.end((0, 0), 1, 0).unwrap();
        spans.begin((0, 0), 1, MOST as u64, ()).unwrap();
    }
}

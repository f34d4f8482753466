//! How many spans may be open at once.

use rusqlite::Error;

/// Spans that may be open at once; a file of nothing but begins must not fill the memory.
const MOST: usize = 1 << 20;

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
    use silverpoint_query::spans::OpenSpans;

    use super::*;

    #[test]
    fn there_is_an_end_to_what_is_kept() {
        let mut spans = OpenSpans::default();
        for ticks in 0..MOST as u64 {
            admit(spans.count()).unwrap();
            spans.begin((0, 0), 1, ticks, ());
        }
        assert!(admit(spans.count()).unwrap_err().to_string().contains("ask for less"));
        spans.end((0, 0), 1, 0).unwrap();
        admit(spans.count()).unwrap();
    }
}

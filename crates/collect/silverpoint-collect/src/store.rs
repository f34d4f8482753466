//! Storing: intent, write, release. In this order, always.

use std::time::Instant;

use crate::fault;
use crate::session::Session;
use crate::sink::{PassError, Sink};

/// Stores the batch and releases what it holds. After an error the batch is empty, and nothing was released.
pub(crate) fn flush(session: &mut Session, sink: &mut Sink) -> Result<(), PassError> {
    let result = write(session, sink).and_then(|()| release(session, sink));
    if let (Ok(()), Some(keep)) = (&result, &mut session.keep) {
        keep.is_told();
    }
    sink.clear();
    result
}

fn write(session: &mut Session, sink: &mut Sink) -> Result<(), PassError> {
    if sink.batch.is_empty() {
        return Ok(());
    }
    if !sink.releases.is_empty() {
        fault::point("before-intent");
        session.write_intent(&sink.trace.intent())?;
        fault::point("after-intent");
    }
    if let Err(error) = sink.trace.append(&sink.batch) {
        sink.stats.write_errors += 1;
        return Err(PassError::Sink(error));
    }
    // A pass may take long where the disk is slow.
    session.beat()?;
    let (records, ring_bytes) = sink.batch.contents();
    sink.stats.batches += 1;
    sink.stats.file_bytes += sink.batch.len() as u64;
    sink.stats.records += records;
    sink.stats.ring_bytes += ring_bytes;
    session.records += records;
    session.declared.has_stored(&sink.batch);
    if records > 0 {
        sink.records_at = Some(Instant::now());
    }
    if !sink.releases.is_empty() {
        fault::point("after-write");
    }
    Ok(())
}

fn release(session: &mut Session, sink: &mut Sink) -> Result<(), PassError> {
    for (n, (slice, position)) in sink.releases.iter().enumerate() {
        if n > 0 {
            fault::point("mid-release");
        }
        if session.keeps {
            continue;
        }
        session.observed.set_consumed(*slice, *position)?;
        if session.observed.wake(*slice)? {
            sink.stats.wakes += 1;
        }
    }
    for (slice, sum) in &sink.told {
        session.observed.set_told(*slice, *sum)?;
    }
    if !sink.releases.is_empty() {
        fault::point("after-release");
    }
    Ok(())
}

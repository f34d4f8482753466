//! The sinks of the logger, which get the records of a trace: files with rotation, syslog, journal, all that
//! a configuration can name.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use silverpoint_convert::silver::SilverWriter;
use silverpoint_convert::{WriteError, Writer};
use silverpoint_logger::{Config, Feed, Flushed};
use silverpoint_render::time::TimeZone;
use silverpoint_trace::Event;

use super::destination::Destination;
use super::sink::Sink;
use crate::exit::{Failed, at, failure};
use crate::printing::{Printing, text_options};
use crate::units::show_count;

/// Bytes of the file between this and the sinks. When it has more, this waits for the sinks and begins
/// another.
const PART_BYTES: u64 = 64 << 20;
/// How long sinks may take at the end to write the rest.
const PATIENCE: Duration = Duration::from_secs(60);

/// See the module.
pub struct Logger {
    feed: Feed,
    writer: SilverWriter<Counted>,
    left_out: u64,
    part_bytes: u64,
    /// Ends the wait for sinks that do not progress.
    stop: Arc<AtomicBool>,
}

impl Logger {
    /// Opens all sinks.
    pub fn open(
        destinations: &[&Destination],
        config: Option<&Path>,
        printing: &Printing,
        zone: TimeZone,
        stop: Arc<AtomicBool>,
    ) -> Result<Self, Failed> {
        let mut all = match config {
            Some(path) => Config::from_file(path).map_err(failure)?,
            None => Config::new("trace"),
        };
        for sink in destinations.iter().filter_map(|destination| destination.sink()) {
            let sink = sink.text(silverpoint_logger::text::Options {
                colour: false,
                ..text_options(printing, zone.clone())
            });
            all = all.sink(if printing.json { sink.json() } else { sink });
        }
        if all.sinks.is_empty() {
            return Err(failure("the configuration names no sink"));
        }
        let mut feed = Feed::open(all).map_err(failure)?;
        let writer = begin(&feed)?;
        feed.start().map_err(failure)?;
        Ok(Self { feed, writer, left_out: 0, part_bytes: PART_BYTES, stop })
    }

    /// Waits until everything so far is written; continues in a new file.
    fn next_part(&mut self) -> Result<(), Failed> {
        self.writer.finish().map_err(of(&self.feed))?;
        // A sink that fails has reported it.
        while self.feed.flush(Duration::from_secs(1)) != Flushed::Complete {
            if self.stop.load(Ordering::Relaxed) {
                return Err(failure("stopped before all sinks had received all records"));
            }
        }
        self.feed.begin_part().map_err(failure)?;
        self.writer = begin(&self.feed)?;
        Ok(())
    }
}

/// An error of the file that the sinks are fed by.
fn of(feed: &Feed) -> impl Fn(io::Error) -> Failed {
    at(feed.file().display().to_string())
}

fn begin(feed: &Feed) -> Result<SilverWriter<Counted>, Failed> {
    let path = feed.file();
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
    let file = made.map_err(|error| failure(format!("{}: {error}", path.display())))?;
    SilverWriter::new(Counted { file, bytes: 0 }).map_err(of(feed))
}

impl Sink for Logger {
    fn take(&mut self, event: &Event<'_>) -> Result<(), Failed> {
        match self.writer.write(&event.record()) {
            Ok(()) => {}
            Err(WriteError::Io(error)) => return Err(of(&self.feed)(error)),
            Err(WriteError::CannotHold(_)) => self.left_out += 1,
        }
        if self.writer.get_ref().bytes >= self.part_bytes {
            self.next_part()?;
        }
        Ok(())
    }

    fn pass_on(&mut self) -> Result<(), Failed> {
        self.writer.flush().map_err(of(&self.feed))?;
        self.feed.written();
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<String>, Failed> {
        self.writer.finish().map_err(of(&self.feed))?;
        let ended = self.feed.end(PATIENCE);
        if let Flushed::Late { sinks } = ended {
            return Err(failure(format!("{sinks} sinks have not received all records within {PATIENCE:?}")));
        }
        let mut said = Vec::new();
        if self.left_out > 0 {
            said.push(format!("{} records were left out: too long", show_count(self.left_out)));
        }
        Ok(said)
    }
}

/// How much was written.
struct Counted {
    file: File,
    bytes: u64,
}

impl std::io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use clap::Parser;
    use silverpoint_convert::{Input, Reader, json::JsonReader};

    use super::*;

    #[derive(clap::Parser)]
    struct Shown {
        #[command(flatten)]
        printing: Printing,
    }

    #[test]
    fn what_is_between_it_and_the_sinks_stays_small() {
        const COUNT: usize = 5000;
        let folder = tempfile::TempDir::with_prefix("silverpoint-feed-").unwrap();
        let line =
            |n| format!("{{\"time\":\"2026-11-20T19:02:11Z\",\"tid\":{},\"message\":\"n{n}\"}}\n", n % 3 + 1);
        let text: String = (0..COUNT).map(line).collect();
        let path = folder.path().join("in.silver");
        let mut writer = SilverWriter::new(File::create(&path).unwrap()).unwrap();
        let mut reader = JsonReader::new(Input::new(Box::new(std::io::Cursor::new(text))), 1);
        while reader.advance().unwrap() {
            writer.write(&reader.record().unwrap()).unwrap();
        }
        writer.finish().unwrap();
        let trace = silverpoint_trace::Trace::open(&[path]).unwrap();
        let log = Destination::File(folder.path().join("out.log"));
        let printing = Shown::parse_from(["x", "--pattern", "{message}"]).printing;
        let zone = silverpoint_render::time::utc_zone();
        let mut sink = Logger::open(&[&log], None, &printing, zone, Arc::default()).unwrap();
        sink.part_bytes = 4096;
        let file = sink.feed.file();
        let mut most = 0;
        let mut events = trace.events();
        let mut taken = 0;
        while let Some(event) = events.next() {
            if event.is_shown() {
                sink.take(&event).unwrap();
                taken += 1;
                if taken % 50 == 0 {
                    sink.pass_on().unwrap();
                }
                most = most.max(fs::metadata(&file).unwrap().len());
            }
        }
        assert!(most < 64 << 10, "{most}");
        Box::new(sink).finish().unwrap();
        let out = fs::read_to_string(folder.path().join("out.log")).unwrap();
        let mut lines: Vec<usize> = out.lines().map(|line| line[1..].parse().unwrap()).collect();
        assert_eq!(lines.len(), COUNT);
        lines.sort_unstable();
        assert!(lines.into_iter().eq(0..COUNT));
        assert!(!file.exists());
    }
}

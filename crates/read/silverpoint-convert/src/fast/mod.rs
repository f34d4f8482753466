//! The short way for records that look like earlier ones. The members for process and thread stand together,
//! and so do those for the site. Writers repeat the same bytes in each record of that thread or site. So they
//! are compared instead of parsed, and between them only the time and the arguments are read.
//!
//! ```text
//!  {"time":"…" │ ,"level":…,"thread":"main" │ ,"category":…,"signature":"Ld" │ ,"message":"…","args":[ 7 , 0.5 ]}
//!  read          a run that is known: who     a run that is known: the site     passed over      read by its types
//! ```
//!
//! Nothing is ever refused here. A record that is unexpected in any way takes the long way from its first
//! byte, and the result is learned. Examples are another order, white space, a value that its type cannot
//! hold, and the end of the buffered input. Both ways give the same: a test compares them.

mod args;
mod cbor;
mod json;
mod xml;

pub(crate) use cbor::Cbor;
pub(crate) use json::{Json, Tsv};
pub(crate) use xml::Xml;

use silverpoint_trace::Site;
use silverpoint_wire::level::Level;

pub(crate) use args::Simple;
use args::{Steps, steps};

/// Different runs of each sort that are kept.
const RUNS_MAX: usize = 256;
/// Bytes of a run that is kept.
const RUN_MAX: usize = 4096;
/// Records that are not looked at after one that taught nothing, at most.
const REST_MAX: u32 = 1024;

/// Bytes, and how far they are read. `None` of its functions: not as expected.
pub(crate) struct Cursor<'b> {
    pub bytes: &'b [u8],
    pub at: usize,
}

impl<'b> Cursor<'b> {
    #[inline(always)]
    pub fn rest(&self) -> &'b [u8] {
        &self.bytes[self.at..]
    }

    #[inline(always)]
    pub fn eat(&mut self, expected: &[u8]) -> Option<()> {
        begins_with(self.rest(), expected).then(|| self.at += expected.len())
    }

    #[inline(always)]
    pub fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline(always)]
    pub fn take(&mut self, len: usize) -> Option<&'b [u8]> {
        let taken = self.rest().get(..len)?;
        self.at += len;
        Some(taken)
    }
}

/// A format as its writer writes it.
pub(crate) trait Dialect {
    /// What stands before the text of the time.
    const BEFORE_TIME: &'static [u8];
    /// What stands behind it.
    const AFTER_TIME: &'static [u8];

    /// Passes over the members that have one of these names, all texts or numbers.
    fn run(cursor: &mut Cursor<'_>, names: &[&str]) -> Option<()>;
    /// Whether a run of a site has the member.
    fn has(run: &[u8], name: &str) -> bool {
        let others: Vec<&str> = SITE.into_iter().filter(|known| *known != name).collect();
        let mut cursor = Cursor { bytes: run, at: 0 };
        // It stops where the member stands.
        Self::run(&mut cursor, &others).is_none() || cursor.at < run.len()
    }
    /// The members that a run of a site may have.
    fn site_members() -> &'static [&'static str] {
        &SITE
    }
    /// A member of this name that is an unsigned number; `Some(None)`: it is not there.
    fn number(cursor: &mut Cursor<'_>, name: &str) -> Option<Option<u64>>;
    /// Passes over a message, if there is one.
    fn message(cursor: &mut Cursor<'_>) -> Option<()>;
    /// What stands before the first argument, of this number of arguments, and behind the last.
    fn around(is_named: bool, count: usize) -> (Vec<u8>, Vec<u8>);
    /// What stands before and behind a value.
    fn beside(index: usize, name: Option<&str>, value: args::Simple) -> (Vec<u8>, Vec<u8>);
    /// Reads a value; appends it, packed.
    fn value(cursor: &mut Cursor<'_>, value: args::Simple, out: &mut Vec<u8>) -> Option<()>;
    /// Passes over the end of a record, of which `tail` is what is known to stand before it.
    fn end(cursor: &mut Cursor<'_>) -> Option<()>;
    /// Where columns that hold something may follow the arguments: what stands there, up to the ticks.
    fn tail<'b>(_cursor: &mut Cursor<'b>) -> Option<&'b [u8]> {
        Some(&[])
    }
    /// Of a format that has the ticks at the end.
    const TICKS_LAST: bool = false;
}

/// What a record came to, by one way or the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    pub wall_ns: i64,
    pub ticks: Option<u64>,
    /// Indexes of the parsed processes and sites.
    pub process: usize,
    pub tid: u32,
    pub level: Level,
    pub what: Happened,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Happened {
    Record { site: usize },
    SpanEnd { site: Option<usize>, duration_ns: u64 },
}

/// Members that tell who it was.
const WHO: [&str; 5] = ["level", "process", "pid", "tid", "thread"];
/// Members that tell the site.
const SITE: [&str; 10] =
    ["kind", "category", "file", "line", "function", "template", "signature", "names", "flags", "language"];

/// Runs of bytes that are known, and what each one means.
#[derive(Debug)]
struct Runs<T> {
    runs: Vec<Run<T>>,
    /// The run that was found last.
    last: usize,
}

#[derive(Debug)]
struct Run<T> {
    /// At least eight.
    bytes: Vec<u8>,
    /// Its last eight bytes.
    end: u64,
    /// Where it begins to differ from the run that is most like it, and the eight bytes there.
    probe: usize,
    there: u64,
    /// The run that came after this one the last time.
    next: usize,
    meaning: T,
}

/// As `starts_with`, by words and without a call: most compared runs are short, and the wide registers of
/// libc's comparison are slow at first.
#[inline(always)]
fn begins_with(bytes: &[u8], expected: &[u8]) -> bool {
    let Some(bytes) = bytes.get(..expected.len()) else { return false };
    let ((words, rest), (expected_words, expected_rest)) =
        (bytes.as_chunks::<8>(), expected.as_chunks::<8>());
    words.iter().zip(expected_words).all(|(a, b)| u64::from_le_bytes(*a) == u64::from_le_bytes(*b))
        && rest.iter().zip(expected_rest).all(|(a, b)| a == b)
}

/// Eight bytes as a number.
#[inline(always)]
fn word(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|eight| u64::from_le_bytes(*eight))
}

impl<T> Run<T> {
    /// It is like another up to there.
    fn probe_at(&mut self, alike: usize) {
        self.probe = self.probe.max(alike.min(self.bytes.len() - 8));
        self.there = word(&self.bytes, self.probe).unwrap_or(0);
    }
}

impl<T> Default for Runs<T> {
    fn default() -> Self {
        Self { runs: Vec::new(), last: 0 }
    }
}

impl<T> Runs<T> {
    /// The run that stands at the cursor, which goes behind it.
    #[inline]
    fn find(&mut self, cursor: &mut Cursor<'_>, is_it: impl Fn(&T) -> bool) -> Option<usize> {
        let rest = cursor.rest();
        let stands = |run: &Run<T>| {
            let len = run.bytes.len();
            let is_alike = word(rest, run.probe)? == run.there && word(rest, len - 8)? == run.end;
            (is_alike && begins_with(rest, &run.bytes) && is_it(&run.meaning)).then_some(len)
        };
        let guess = self.runs.get(self.last)?.next;
        let (found, len) = match self.runs.get(guess).and_then(stands) {
            Some(len) => (guess, len),
            None => self.runs.iter().enumerate().find_map(|(at, run)| Some((at, stands(run)?)))?,
        };
        self.runs[self.last].next = found;
        self.last = found;
        cursor.at += len;
        Some(found)
    }

    fn learn(&mut self, bytes: &[u8], meaning: T) -> bool {
        if self.runs.len() == RUNS_MAX || !(8..=RUN_MAX).contains(&bytes.len()) {
            return false;
        }
        let next = self.runs.len();
        let Some(end) = word(bytes, bytes.len() - 8) else { return false };
        let mut new = Run { bytes: bytes.to_vec(), end, probe: 0, there: 0, next, meaning };
        for run in &mut self.runs {
            let alike = run.bytes.iter().zip(bytes).take_while(|(a, b)| a == b).count();
            run.probe_at(alike);
            new.probe_at(alike);
        }
        new.probe_at(0);
        self.runs.push(new);
        true
    }
}

#[derive(Debug)]
struct Who {
    level: Level,
    process: usize,
    tid: u32,
    thread: String,
}

#[derive(Debug)]
struct Known {
    level: Level,
    /// What stands behind the arguments, in a format of columns.
    tail: Vec<u8>,
    what: KnownWhat,
}

#[derive(Debug)]
enum KnownWhat {
    Record { site: usize, steps: Steps },
    SpanEnd { site: Option<usize> },
}

/// What one reader has learned.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    who: Runs<Who>,
    sites: Runs<Known>,
    /// The minute of the last date-time, and its nanoseconds since 1970.
    minute: [u8; 17],
    minute_ns: i64,
    /// Records that are still not learned from, and how many after the next that teaches nothing.
    rest: u32,
    next_rest: u32,
}

impl Memo {
    /// The record that begins at the cursor, which goes behind it. Its arguments are left in `args`, unfinished when there is none.
    #[inline]
    pub fn read<D: Dialect>(
        &mut self,
        cursor: &mut Cursor<'_>,
        args: &mut Vec<u8>,
        thread: &mut String,
    ) -> Option<Outcome> {
        cursor.eat(D::BEFORE_TIME)?;
        let wall_ns = self.time(cursor.take(30)?)?;
        cursor.eat(D::AFTER_TIME)?;
        let mut ticks = if D::TICKS_LAST { None } else { D::number(cursor, "ticks")? };
        let who = self.who.find(cursor, |_| true)?;
        let who = &self.who.runs[who].meaning;
        let level = who.level;
        let known = self.sites.find(cursor, |known| known.level == level)?;
        let known = &self.sites.runs[known].meaning;
        args.clear();
        let what = match &known.what {
            KnownWhat::Record { site, steps } => {
                D::message(cursor)?;
                steps.read::<D>(cursor, args)?;
                Happened::Record { site: *site }
            }
            KnownWhat::SpanEnd { site } => {
                let duration_ns = D::number(cursor, "duration_ns")??;
                D::message(cursor)?;
                Happened::SpanEnd { site: *site, duration_ns }
            }
        };
        cursor.eat(&known.tail)?;
        if D::TICKS_LAST {
            ticks = D::number(cursor, "ticks")?;
        }
        D::end(cursor)?;
        if *thread != who.thread {
            thread.clone_from(&who.thread);
        }
        Some(Outcome { wall_ns, ticks, process: who.process, tid: who.tid, level, what })
    }

    /// A date-time with nine digits of the second's fraction, in UTC.
    #[inline]
    fn time(&self, text: &[u8]) -> Option<i64> {
        let (minute, rest) = text.split_first_chunk::<17>()?;
        if *minute != self.minute || rest[2] != b'.' || rest[12] != b'Z' {
            return None;
        }
        let number = |digits: &[u8]| {
            let mut sum = 0_i64;
            for digit in digits {
                let digit = digit.wrapping_sub(b'0');
                if digit > 9 {
                    return None;
                }
                sum = sum * 10 + i64::from(digit);
            }
            Some(sum)
        };
        let seconds = number(&rest[..2])?;
        if seconds > 59 {
            return None;
        }
        self.minute_ns.checked_add(seconds * 1_000_000_000 + number(&rest[3..12])?)
    }

    /// Whether the next record is to be learned from.
    #[inline]
    pub fn is_willing(&mut self) -> bool {
        self.rest = self.rest.saturating_sub(1);
        self.rest == 0
    }

    /// Learns from the bytes of a record and what the long way made of it. `site` is that of a record or a span's end; its signature was inferred, if none stands there.
    pub fn learn<D: Dialect>(&mut self, bytes: &[u8], outcome: &Outcome, thread: &str, site: Option<&Site>) {
        if self.try_learn::<D>(bytes, outcome, thread, site).is_some() {
            self.next_rest = 0;
        } else {
            self.next_rest = (2 * self.next_rest + 1).min(REST_MAX);
        }
        self.rest = self.next_rest;
    }

    fn try_learn<D: Dialect>(
        &mut self,
        bytes: &[u8],
        outcome: &Outcome,
        thread: &str,
        site: Option<&Site>,
    ) -> Option<()> {
        let mut cursor = Cursor { bytes, at: 0 };
        cursor.eat(D::BEFORE_TIME)?;
        let minute = *cursor.take(30)?.first_chunk::<17>()?;
        let mut taught = None;
        if minute != self.minute {
            let text = format!("{}00Z", std::str::from_utf8(&minute).ok()?);
            let minute_ns = text.parse::<jiff::Timestamp>().ok()?.as_nanosecond();
            (self.minute, self.minute_ns) = (minute, i64::try_from(minute_ns).ok()?);
            taught = Some(());
        }
        cursor.eat(D::AFTER_TIME)?;
        if !D::TICKS_LAST {
            D::number(&mut cursor, "ticks")?;
        }
        let run = |cursor: &mut Cursor<'_>, names: &[&str]| {
            let from = cursor.at;
            D::run(cursor, names)?;
            Some(&bytes[from..cursor.at])
        };
        let who = run(&mut cursor, &WHO)?;
        let site_run = run(&mut cursor, D::site_members())?;
        let level = outcome.level;
        let new_who = Who { level, process: outcome.process, tid: outcome.tid, thread: thread.to_owned() };
        if self.who.find(&mut Cursor { bytes: who, at: 0 }, |_| true).is_none() {
            taught = taught.or(self.who.learn(who, new_who).then_some(()));
        }
        let is_known = self.sites.find(&mut Cursor { bytes: site_run, at: 0 }, |known| known.level == level);
        if is_known.is_some() {
            return taught;
        }
        D::message(&mut cursor)?;
        let what = match outcome.what {
            Happened::Record { site: number } => {
                let site = site.filter(|_| D::has(site_run, "template"))?;
                let steps = steps::<D>(site, !D::has(site_run, "signature"), &cursor)?;
                steps.read::<D>(&mut cursor, &mut Vec::new())?;
                KnownWhat::Record { site: number, steps }
            }
            Happened::SpanEnd { site: number, .. } => {
                D::number(&mut cursor, "duration_ns")??;
                D::message(&mut cursor)?;
                KnownWhat::SpanEnd { site: number }
            }
        };
        let tail = D::tail(&mut cursor)?.to_vec();
        self.sites.learn(site_run, Known { level, tail, what }).then_some(())
    }
}

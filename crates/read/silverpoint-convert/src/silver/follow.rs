//! Records of trace files that grow, and of living sessions, which are copied into such files.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use silverpoint_trace::{Context, Event, Follow, Note, OpenError, Trace, Watcher};

use super::read::keep;
use crate::record::Head;
use crate::{Place, ReadError, Reader, Record};

/// Records that are taken out of the files at a time.
const BATCH: usize = 4096;

/// Gets the state, and decides whether more may come; see [`FollowReader::new`].
pub type More<'f> = dyn FnMut(&mut Follow, Vec<Note>, bool) -> Result<bool, ReadError> + 'f;

/// Reads what is followed until somebody says that it is over, and then what was recorded until then.
pub struct FollowReader<'f> {
    follow: Follow,
    more: Box<More<'f>>,
    input: usize,
    taken: VecDeque<Taken>,
    spare: Vec<Taken>,
    current: Option<Taken>,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Follows,
    /// What is there is read yet, up to this time.
    Ends(i64),
    Over,
}

#[derive(Default)]
struct Taken {
    head: Option<Head>,
    args: Vec<u8>,
    thread: String,
    context: Option<Arc<Context>>,
}

impl<'f> FollowReader<'f> {
    /// Of the input of this number. `more` is called after each look with the damage that was found, and whether the look found nothing: it may sleep then, and add files. False ends it.
    pub fn new(follow: Follow, input: u32, more: Box<More<'f>>) -> Self {
        Self {
            follow,
            more,
            input: (input as usize) << 32,
            taken: VecDeque::new(),
            spare: Vec::new(),
            current: None,
            stage: Stage::Follows,
        }
    }

    /// Looks once.
    fn look(&mut self) -> Result<Vec<Note>, OpenError> {
        let until = match self.stage {
            Stage::Ends(until) => until,
            _ => i64::MAX,
        };
        let mut batch = Batch { taken: &mut self.taken, spare: &mut self.spare, until };
        let notes = match self.stage {
            Stage::Follows => self.follow.poll(&mut batch)?,
            _ => self.follow.poll_all(&mut batch)?,
        };
        Ok(notes)
    }
}

struct Batch<'r> {
    taken: &'r mut VecDeque<Taken>,
    spare: &'r mut Vec<Taken>,
    until: i64,
}

impl Watcher for Batch<'_> {
    fn begin(&mut self, _: &Trace) {}

    fn event(&mut self, event: &Event<'_>) -> bool {
        // A program that goes on recording would go on for ever.
        if event.wall_ns > self.until {
            return true;
        }
        let mut taken = self.spare.pop().unwrap_or_default();
        taken.head = keep(event, &mut taken.args, &mut taken.thread, &mut taken.context);
        match taken.head {
            Some(_) => self.taken.push_back(taken),
            None => self.spare.push(taken),
        }
        self.taken.len() < BATCH
    }
}

impl Reader for FollowReader<'_> {
    fn advance(&mut self) -> Result<bool, ReadError> {
        self.spare.extend(self.current.take());
        loop {
            self.current = self.taken.pop_front();
            if self.current.is_some() {
                return Ok(true);
            }
            if self.stage == Stage::Over {
                return Ok(false);
            }
            let notes = self.look().map_err(|error| ReadError {
                input: error.path.display().to_string().into(),
                ..ReadError::of_io(Place::default(), error.error)
            })?;
            let is_idle = self.taken.is_empty();
            let goes_on = (self.more)(&mut self.follow, notes, is_idle)?;
            match self.stage {
                Stage::Follows if !goes_on => {
                    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                    self.stage = Stage::Ends(i64::try_from(now.as_nanos()).unwrap_or(i64::MAX));
                }
                Stage::Ends(_) if is_idle => self.stage = Stage::Over,
                _ => {}
            }
        }
    }

    fn record(&self) -> Option<Record<'_>> {
        let taken = self.current.as_ref()?;
        let (head, context) = (taken.head.as_ref()?, taken.context.as_deref());
        let trace = self.follow.trace();
        let session = &trace.sessions[head.process];
        let process = (session.name.as_str(), session.pid);
        head.record(&trace.sites, process, self.input, &taken.args, &taken.thread, context)
    }

    /// A living trace has no known end: 0.
    fn position(&self) -> u64 {
        0
    }
}

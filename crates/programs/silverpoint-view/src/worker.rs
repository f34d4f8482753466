//! The thread that has the readers: it answers, and reads on between two answers.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use silverpoint_read::{ReadError, Reader};

use crate::params::{Params, Wrong};
use crate::scan::{Question, Scan};
use crate::slice::{Slice, Waiting};
use crate::source::Source;
use crate::view::View;

/// How long is read at most before the next look for questions, which end it, too. Tests of this crate take one step after the other.
const SLICE: Duration = if cfg!(test) { Duration::ZERO } else { Duration::from_millis(8) };
/// The same of what no question waits for: to begin costs a time that grows with the streams.
const LONG_SLICE: Duration = if cfg!(test) { Duration::ZERO } else { Duration::from_millis(40) };
/// So long after a question about something new others of its kind are likely: nothing is read that nobody has asked for.
const PAUSE: Duration = Duration::from_millis(100);
/// So long after it the next picture may follow: this one gets no details, which would take processor time from the browser.
const MOVING: Duration = Duration::from_millis(40);
/// Between two looks at what is alive.
const LOOK: Duration = Duration::from_millis(50);
/// Filters whose records are kept.
const VIEWS_MAX: usize = 3;

/// Questions about ranges whose results are kept.
const SCANS_MAX: usize = 4;

/// Makes an answer.
pub type Handler = fn(&mut Views, Params) -> Result<Vec<u8>, Wrong>;
/// What the thread is given.
pub type Job = Box<dyn FnOnce(&mut Views) + Send>;

/// The filters that are at hand.
pub struct Views {
    source: Source,
    views: Vec<View>,
    scans: Vec<Scan>,
    /// Of living sessions: a second reader from the beginning, so that a filter concerns all records since then.
    spare: Option<Reader>,
    clock: u64,
    /// Where to go on reading.
    next: usize,
    /// Counts slices.
    turn: u8,
    /// When somebody has moved a picture last.
    moved: Option<(Instant, (i64, i64))>,
    /// Questions end what is being read on.
    waiting: Waiting,
    /// The page may switch sites.
    pub has_switches: bool,
}

impl Views {
    /// Opens a source.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn open(source: Source) -> Result<Self, ReadError> {
        let reader = source.open()?;
        let spare = match source {
            Source::Processes { .. } => Some(source.open()?),
            Source::Files { .. } => None,
        };
        let view = View::new(reader, "").map_err(|wrong| ReadError::Failed(wrong.text))?;
        Ok(Self {
            source,
            views: vec![view],
            scans: Vec::new(),
            spare,
            clock: 0,
            next: 0,
            turn: 0,
            moved: None,
            waiting: Waiting::default(),
            has_switches: false,
        })
    }

    /// What is shown.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The records of a filter; begins with them if need be.
    ///
    /// # Errors
    /// What is wrong with the filter, or the source cannot be opened again.
    pub fn get(&mut self, filter: &str) -> Result<&mut View, Wrong> {
        self.clock += 1;
        let filter = filter.trim();
        let known = self.views.iter().position(|view| view.filter == filter);
        let at = match known {
            Some(at) => at,
            None => self.begin(filter)?,
        };
        let view = &mut self.views[at];
        view.used = self.clock;
        if view.counts.records == 0 {
            // Small sources are answered at once.
            view.work(&Slice::of(SLICE));
        }
        Ok(view)
    }

    fn begin(&mut self, filter: &str) -> Result<usize, Wrong> {
        Reader::check_filter(filter).map_err(Wrong::filter)?;
        if let Some(spare) = self.spare.take() {
            self.views.push(View::new(spare, filter)?);
            return Ok(self.views.len() - 1);
        }
        if matches!(self.source, Source::Processes { .. }) {
            self.views[1].refilter(filter)?;
            return Ok(1);
        }
        let view = View::new(self.source.open().map_err(Wrong::failed)?, filter)?;
        if self.views.len() >= VIEWS_MAX {
            // All records stay: they are what is shown first, and after each filter.
            let others = self.views.iter().enumerate().skip(1);
            let oldest = others.min_by_key(|(_, view)| view.used).map(|(at, _)| at);
            oldest.map(|at| self.views.remove(at));
        }
        self.views.push(view);
        Ok(self.views.len() - 1)
    }

    /// What has been made of a range so far; begins with it if need be.
    ///
    /// # Errors
    /// As of [`Views::get`].
    pub fn scan(&mut self, question: &Question) -> Result<(&Scan, &View), Wrong> {
        self.get(&question.filter)?;
        let at = match self.scans.iter().position(|scan| scan.question == *question) {
            Some(at) => at,
            None => {
                if self.scans.len() >= SCANS_MAX {
                    let oldest = self.scans.iter().enumerate().min_by_key(|(_, scan)| scan.interest.asked());
                    oldest.map(|(at, _)| at).map(|at| self.scans.swap_remove(at));
                }
                self.scans.push(Scan::new(question.clone()));
                self.scans.len() - 1
            }
        };
        self.scans[at].interest.renew();
        if self.scans[at].is_wanted() {
            // Small ranges are answered at once.
            self.work_scan(at, &Slice::of(SLICE));
        }
        let view = self.views.iter().find(|view| view.filter == question.filter);
        let view = view.ok_or_else(|| Wrong::failed("the filter is not known any more"))?;
        Ok((&self.scans[at], view))
    }

    fn work_scan(&mut self, at: usize, slice: &Slice) -> bool {
        let Self { scans, views, .. } = self;
        let scan = &mut scans[at];
        let view = views.iter_mut().find(|view| view.filter == scan.question.filter);
        view.is_some_and(|view| scan.work(view, slice))
    }

    /// Somebody looks at this range.
    pub fn look_at(&mut self, range: (i64, i64)) {
        if self.moved.is_none_or(|(_, last)| last != range) {
            self.moved = Some((Instant::now(), range));
        }
    }

    /// What is left of a time since somebody has moved a picture.
    fn rest(&self, of: Duration) -> Duration {
        self.moved.map_or(Duration::ZERO, |(at, _)| of.saturating_sub(at.elapsed()))
    }

    /// How long nothing is to be read.
    fn pause(&self) -> Duration {
        let is_refining = self.views.iter().any(View::is_refining);
        self.rest(if is_refining { MOVING } else { PAUSE })
    }

    fn answer(&mut self, job: Job) {
        self.waiting.take();
        job(self);
    }

    /// Reads on; whether there is more at once.
    fn work(&mut self) -> bool {
        // What somebody looks at comes first, but not alone, unless it moves.
        self.turn = self.turn.wrapping_add(1);
        let slice = Slice::until_asked(SLICE, &self.waiting);
        let is_moving = self.rest(PAUSE) > Duration::ZERO;
        if self.rest(MOVING) > Duration::ZERO {
            return true;
        }
        if is_moving || !self.turn.is_multiple_of(4) {
            let has_refined = self.views.iter_mut().any(|view| view.refine(&slice));
            if has_refined || is_moving {
                return true;
            }
        }
        // When a filter comes back, its records are numbered again.
        self.scans.retain(|scan| self.views.iter().any(|view| view.filter == scan.question.filter));
        let (views, count) = (self.views.len(), self.views.len() + self.scans.len());
        for step in 0..count {
            let at = (self.next + step) % count;
            let has_more = match at.checked_sub(views) {
                None if self.views[at].has_more() => {
                    self.views[at].work(&Slice::until_asked(LONG_SLICE, &self.waiting));
                    true
                }
                None => false,
                Some(scan) => self.scans[scan].is_wanted() && self.work_scan(scan, &slice),
            };
            if has_more {
                self.next = at + 1;
                return true;
            }
        }
        self.views.iter_mut().any(|view| view.refine(&slice))
    }

    /// Looks whether what is alive has brought something.
    fn look(&mut self) {
        for view in &mut self.views {
            if !view.is_over() {
                view.work(&Slice::until_asked(SLICE, &self.waiting));
            }
        }
        if let Some(spare) = &mut self.spare {
            // It only copies: nobody has asked for its records.
            let _ = spare.grow(Duration::ZERO);
        }
    }
}

/// Where jobs go.
#[derive(Clone)]
pub struct Worker {
    jobs: Sender<Job>,
    waiting: Waiting,
}

impl Worker {
    /// Starts the thread; it ends when the last worker is dropped.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn start(views: Views) -> std::io::Result<(Self, std::thread::JoinHandle<()>)> {
        let ((jobs, receiver), waiting) = (channel(), views.waiting.clone());
        let thread =
            std::thread::Builder::new().name("view-reader".into()).spawn(move || run(views, &receiver))?;
        Ok((Self { jobs, waiting }, thread))
    }

    /// Gives it a job. A job that is dropped will not be done.
    pub fn send(&self, job: Job) {
        self.waiting.add();
        let _ = self.jobs.send(job);
    }
}

fn run(mut views: Views, jobs: &Receiver<Job>) {
    let mut has_more = true;
    loop {
        let wait = match (has_more, views.views.iter().all(View::is_over)) {
            (true, _) => views.pause(),
            (false, false) => LOOK,
            (false, true) => Duration::from_secs(3600),
        };
        match jobs.recv_timeout(wait) {
            Ok(job) => {
                views.answer(job);
                while let Ok(job) = jobs.try_recv() {
                    views.answer(job);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        has_more = views.work();
        if !has_more {
            views.look();
        }
    }
}

//! The records of living sessions as a reader of `convert`: the present ones, or all until the processes end
//! or a stop is requested.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::thread;

use silverpoint_convert::silver::FollowReader;
use silverpoint_query::filter::Filter;
use silverpoint_trace::{Follow, Note, Verdict, worst};

use super::following::{LOOK, tell_missed};
use super::{Live, Targets};
use crate::exit::{Failed, failure, note};
use crate::input::tell;
use crate::tail::stop_at_signals;

/// The worst verdict on the files so far.
pub type Found = Rc<Cell<Verdict>>;

/// Begins to read the processes of these names. With `follow` it goes on until a signal asks it to stop. Also
/// gives the verdict on the files.
pub fn reader(
    names: &[String],
    mut filter: Filter,
    input: u32,
    follow: bool,
    is_quiet: bool,
) -> Result<(FollowReader<'static>, Found), Failed> {
    let targets = Targets::parse(names)?;
    let stop = if follow { Some(stop_at_signals()?) } else { None };
    filter.processes.extend(targets.patterns());
    let mut live = Live::new(targets);
    let files = live.look()?;
    live.expect_some()?;
    // What lies in rings is copied whole by the second look.
    live.look()?;
    let mut follow = Follow::nothing();
    for file in files {
        follow.add_regular(&file).map_err(failure)?;
    }
    follow.set_filter(&filter);
    let found = Found::new(Cell::new(Verdict::Intact));
    let so_far = Rc::clone(&found);
    let mut missed = 0;
    let more = move |follow: &mut Follow, notes: Vec<Note>, is_idle: bool| {
        live.forget_read();
        so_far.set(so_far.get().max(worst(&notes)));
        if !is_quiet {
            tell(notes.iter());
            tell_missed(live.missed_bytes(), &mut missed);
        }
        let is_wanted = stop.as_ref().is_some_and(|stop| !stop.load(Ordering::Relaxed));
        if !is_wanted || is_idle && live.is_over() && follow.is_drained() {
            return Ok(false);
        }
        if is_idle {
            thread::sleep(LOOK);
        }
        match live.look() {
            Ok(files) => {
                for file in files {
                    // A collector's file may be inaccessible: the others are read all the same.
                    if let Err(error) = follow.add_regular(&file) {
                        note(error);
                    }
                }
                Ok(true)
            }
            // What has been read is complete as far as it goes.
            Err(error) => {
                note(error);
                Ok(false)
            }
        }
    };
    Ok((FollowReader::new(follow, input, Box::new(more)), found))
}

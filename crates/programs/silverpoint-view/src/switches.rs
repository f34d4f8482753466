//! Sites of the processes that are shown, switched as `silverpoint ctl` does.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use silverpoint_read::sessions::Place;
use silverpoint_read::{ReadError, Targets};
use silverpoint_wire::site::SiteDescription;
use silverpoint_wire::{directive, process};

use crate::params::Wrong;
use crate::source::Source;

/// Processes that are listed and switched.
const PROCESSES_MAX: usize = 64;
/// Sites of an answer.
const SITES_MAX: usize = 5000;
/// Bytes of a text of a site.
const TEXT_MAX: usize = 300;
/// The same of its file.
const FILE_MAX: usize = 1000;

/// See the module.
pub struct Switches(Targets);

/// A session whose process lives, and the process's name.
struct Living {
    place: Place,
    name: String,
}

/// A site as people see it; the same line may be compiled several times.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    category: String,
    file: String,
    line: u32,
    name: String,
    level: u8,
    process: usize,
}

impl Switches {
    /// Of processes; of files there is nothing to switch.
    pub fn of(source: &Source) -> Option<Self> {
        match source {
            Source::Processes { targets, .. } => Targets::parse(targets).ok().map(Self),
            Source::Files { .. } => None,
        }
    }

    /// The processes with their directives, and their sites: all, or those of a place.
    ///
    /// # Errors
    /// The directory of sessions cannot be read.
    pub fn list(&self, at: Option<(&str, u32)>) -> Result<Value, Wrong> {
        let (mut processes, mut sites, mut more) = (Vec::new(), BTreeMap::new(), 0u64);
        for (number, living) in self.living()?.iter().enumerate() {
            let found = sites_of(living, at, number, &mut sites, &mut more);
            let (directives, problem) = match found {
                Ok(directives) => (directives, None),
                // One that ends this moment does not hide the others.
                Err(error) => (String::new(), Some(error.to_string())),
            };
            processes.push(json!({
                "pid": living.place.name.pid, "name": cut(&living.name), "directives": directives, "problem": problem,
            }));
        }
        let row = |(site, is_on): (&Key, &bool)| {
            json!({
                "process": site.process, "category": site.category, "file": site.file, "line": site.line,
                "name": site.name, "level": site.level, "on": is_on,
            })
        };
        let sites: Vec<Value> = sites.iter().map(row).collect();
        Ok(json!({"processes": processes, "sites": sites, "more": more}))
    }

    /// Changes the directives of one process, or of all.
    ///
    /// # Errors
    /// Malformed directives, no such process, or a session cannot be written.
    pub fn direct(&self, pid: Option<u32>, text: &str) -> Result<Value, Wrong> {
        directive::check(text.strip_prefix('+').unwrap_or(text)).map_err(Wrong::directives)?;
        let mut processes = Vec::new();
        for Living { place, name } in self.living()? {
            if pid.is_some_and(|pid| pid != place.name.pid) {
                continue;
            }
            let on = place.open().and_then(|session| {
                session.restore_abandoned_mode().map_err(|error| place.failed(error))?;
                place.direct(&session, text)
            });
            processes
                .push(json!({"pid": place.name.pid, "name": cut(&name), "on": on.map_err(Wrong::failed)?}));
        }
        if processes.is_empty() {
            return Err(Wrong::gone("no such process lives; `silverpoint ls` lists what there is"));
        }
        Ok(json!({"processes": processes}))
    }

    fn living(&self) -> Result<Vec<Living>, Wrong> {
        let mut found = Vec::new();
        for place in self.0.places().map_err(Wrong::failed)? {
            // One that goes this moment, or is no session, is not there.
            let Ok(session) = place.open() else { continue };
            let text = process::lines(&session.process_text().unwrap_or_default());
            let exe = process::value(&text, "exe").unwrap_or_default();
            let name = exe.rsplit('/').next().unwrap_or_default().to_owned();
            if session.is_alive().unwrap_or(false) && self.0.takes(place.name.pid, || name.clone()) {
                found.push(Living { place, name });
            }
            if found.len() >= PROCESSES_MAX {
                break;
            }
        }
        Ok(found)
    }
}

/// Adds the sites of a session; gives its directives.
fn sites_of(
    living: &Living,
    at: Option<(&str, u32)>,
    process: usize,
    sites: &mut BTreeMap<Key, bool>,
    more: &mut u64,
) -> Result<String, ReadError> {
    let failed = |error| living.place.failed(error);
    let session = living.place.open()?;
    let sites_next = session.counters().map_err(failed)?.sites_next;
    let states = session.states(session.site_count(sites_next)).map_err(failed)?;
    session
        .sites_since(
            0,
            sites_next,
            |_| true,
            |entry| {
                let Some(Ok((site, _))) = entry.description.map(SiteDescription::decode) else { return };
                if at.is_some_and(|(file, line)| site.line != line || site.file != file) {
                    return;
                }
                let is_on = states.get(entry.entry as usize).is_some_and(|state| state.is_on());
                let key = Key {
                    category: cut(&site.category).to_owned(),
                    // It is sent back in directives: whole, or not at all.
                    file: if site.file.len() <= FILE_MAX { site.file } else { String::new() },
                    line: site.line,
                    name: cut(&site.template).to_owned(),
                    level: site.level as u8,
                    process,
                };
                let has_room = sites.len() < SITES_MAX;
                match sites.get_mut(&key) {
                    Some(any) => *any |= is_on,
                    None if has_room => {
                        sites.insert(key, is_on);
                    }
                    None => *more += 1,
                }
            },
        )
        .map_err(failed)?;
    let directives = session.directives().map_err(failed)?;
    Ok(String::from_utf8_lossy(&directives).into_owned())
}

fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(TEXT_MAX)]
}

//! The sites of a process that lives.

use silverpoint_shm::observer::TableSite;
use silverpoint_trace::Site;
use silverpoint_wire::process;
use silverpoint_wire::site::SiteDescription;

use crate::exit::Failed;
use crate::sessions;

/// Numbers of sites, and whether they are on.
type Sites = Vec<(u32, Site, bool)>;

/// The name of each session of the process, with its sites.
pub fn sites(pid: u32) -> Result<Vec<(String, Sites)>, Failed> {
    let of_session = |place: sessions::Place| {
        let session = place.open()?;
        let text = process::lines(&session.process_text().map_err(|error| place.failed(error))?);
        let exe = process::value(&text, "exe").unwrap_or("?");
        let name = process::name_of_program(exe).to_owned();
        let counters = session.counters().map_err(|error| place.failed(error))?;
        let count = session.site_count(counters.sites_next);
        let states = session.states(count).map_err(|error| place.failed(error))?;
        let mut sites = Vec::new();
        let visit = |entry: TableSite<'_>| {
            let Some(Ok((description, _))) = entry.description.map(SiteDescription::decode) else { return };
            let is_on = states.get(entry.entry as usize).is_some_and(|state| state.is_on());
            sites.push((entry.id(), Site::new(description), is_on));
        };
        session.sites_since(0, counters.sites_next, |_| true, visit).map_err(|error| place.failed(error))?;
        Ok((name, sites))
    };
    sessions::living(pid)?.into_iter().map(of_session).collect()
}

//! What each route answers: `API.md` states it.

mod complete;
mod counts;
mod flame;
mod lanes;
mod records;
mod scans;
mod shared;
mod trace;

use crate::worker::Handler;

/// The answer to a `GET` of a path that concerns records.
pub fn of(path: &str) -> Option<Handler> {
    Some(match path {
        "/api/trace" => trace::trace,
        "/api/tracks" => trace::tracks,
        "/api/sites" => trace::sites,
        "/api/lanes" => lanes::lanes,
        "/api/histogram" => lanes::histogram,
        "/api/records" => records::records,
        "/api/record" => records::record,
        "/api/facets" => counts::facets,
        "/api/stats" => counts::stats,
        "/api/flame" => flame::flame,
        "/api/values" => scans::values,
        "/api/search" => scans::search,
        "/api/complete" => complete::complete,
        _ => return None,
    })
}

//! The tree of the spans of a range.

use serde_json::{Map, Value, json};

use super::shared::body;
use crate::flame::Node;
use crate::params::{Params, Wrong};
use crate::scan::{Kind, Made, Question};
use crate::timeline::NO_SITE;
use crate::worker::Views;

pub(super) fn flame(views: &mut Views, mut params: Params) -> Result<Vec<u8>, Wrong> {
    let filter = params.filter()?.trim().to_owned();
    let range = params.range()?;
    params.end()?;
    let (scan, view) = views.scan(&Question { filter, range, file: None, kind: Kind::Flame })?;
    let Made::Flame(flame) = &scan.made else { return Err(Wrong::failed("no tree was made")) };
    let column = |value: fn(&Node) -> Value| flame.nodes().iter().map(value).collect::<Value>();
    let mut processes = Map::new();
    for node in flame.nodes().iter().filter(|node| node.parent == 0) {
        if let Some(session) = view.reader.trace().sessions.get(node.process) {
            processes.insert(node.process.to_string(), json!(format!("{} {}", session.name, session.pid)));
        }
    }
    body(&json!({
        "parent": column(|node| json!(node.parent)),
        "site": column(|node| if node.site == NO_SITE { json!(-1) } else { json!(node.site) }),
        "process": column(|node| json!(node.process)),
        "count": column(|node| json!(node.count)),
        "time": column(|node| json!(node.time)),
        "processes": processes,
        "left_out": flame.left_out(),
        "progress": scan.progress(),
    }))
}

//! Records of ATrace whose name is an argument, for writers whose events have names.
//!
//! A name has a site of its own, unless there are too many of them or it is too long. All others share sites
//! called `atrace`, and are their last argument, `atrace.name` ([the guide](../../../../docs/guide/atrace.md)).

use silverpoint_render::json::{Stack, push_plain};
use silverpoint_trace::Site;
use silverpoint_wire::level::Kind;

/// Begin of the categories of ATrace's tags.
const CATEGORY: &str = "atrace::";
/// Template of the sites that names share, and the argument that is the name.
const SHARED: &str = "atrace";
const NAME: &str = "atrace.name";

/// Whether it is a call of ATrace.
pub(crate) fn is_call(site: &Site) -> bool {
    site.description.category.starts_with(CATEGORY)
}

/// Whether names share this site.
pub(crate) fn is_shared(site: &Site) -> bool {
    is_call(site)
        && site.description.template == SHARED
        && site.names.last().is_some_and(|last| last == NAME)
        && site.description.signature.ends_with('s')
}

/// The site as it were if the record's name had one of its own, and the record's arguments without the name. `None`: it has one, or its name cannot be read.
pub(crate) fn named<'a>(site: &Site, args: &'a [u8], stack: &mut Stack) -> Option<(Site, &'a [u8])> {
    if !is_shared(site) {
        return None;
    }
    let (name_type, before) = site.types.split_last()?;
    let mut text = String::new();
    let mut at = 0;
    for ty in before {
        text.clear();
        at = push_plain(&mut text, stack, ty, args, at)?;
    }
    text.clear();
    push_plain(&mut text, stack, name_type, args, at)?;
    let mut description = site.description.clone();
    description.template = text;
    description.signature.pop();
    description.names =
        site.names.iter().take(before.len()).fold(String::new(), |all, name| all + name + "\n");
    Some((Site::new(description), args.get(..at)?))
}

/// What a stretch of time on a track is called: the site's name is the track's. `None`: it is none.
pub(crate) fn on_track(site: &Site, args: &[u8], stack: &mut Stack) -> Option<String> {
    let [id, name] = site.types.as_slice() else { return None };
    if site.kind() != Kind::AsyncBegin || !is_call(site) || site.names.last()? != "name" {
        return None;
    }
    let mut text = String::new();
    let at = push_plain(&mut text, stack, id, args, 0)?;
    text.clear();
    push_plain(&mut text, stack, name, args, at)?;
    Some(text)
}

//! How records of async spans make one tree with the spans of threads (spec/wire.md, section 7).
//! `silverpoint-tracing` records them for spans that are entered more than once, or elsewhere than they were
//! made.

use silverpoint_trace::Site;
use silverpoint_wire::level::Kind;

/// Names of the arguments that state it.
const ID: &str = "span.id";
const BEGUN: &str = "span.begun";
const PARENT: &str = "span.parent";
/// Name of the links to parents.
const PARENT_LINK: &str = "parent";

/// The place of a record in the tree, besides its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A span of a thread: a part of the async span of its category and name that has this id.
    Stretch(u64),
    /// The begin of an async span that was a span of a thread until now; that span is its first part. Same
    /// category and name, begun at these ticks.
    Late(u64),
    /// A link: `to` lies in `from`; in nothing, if that is 0.
    Parent {
        /// Id of the outer span.
        from: u64,
        /// Id of the inner one.
        to: u64,
    },
    /// Any other link: `to` came from `from`.
    CameFrom {
        /// Id of the earlier span.
        from: u64,
        /// Id of the later one.
        to: u64,
    },
    /// The arguments but the first are fields that the async span with this id got after it had begun; of equal names the last counts.
    Fields(u64),
    /// A message or an event of the span with this id, even if another span is open in its thread. Of none,
    /// if that is 0.
    Of(u64),
}

/// The place of a record in the tree.
pub fn part(site: &Site, args: &[u8]) -> Option<Part> {
    let signature = site.description.signature.as_str();
    let named = |number: usize, name: &str| site.names.get(number).is_some_and(|known| known == name);
    let word = |number: usize| {
        let bytes = args.get(8 * number..)?.first_chunk()?;
        signature.get(..=number)?.bytes().all(|code| code == b'L').then(|| u64::from_le_bytes(*bytes))
    };
    match site.kind() {
        Kind::Span if signature == "L" && named(0, ID) => Some(Part::Stretch(word(0)?)),
        Kind::AsyncBegin if named(0, ID) && named(1, BEGUN) => Some(Part::Late(word(1)?)),
        Kind::AsyncInstant if named(0, ID) => Some(Part::Fields(word(0)?)),
        Kind::Link => {
            let (from, to) = (word(0)?, word(1)?);
            Some(match site.description.template.as_str() {
                PARENT_LINK => Part::Parent { from, to },
                _ => Part::CameFrom { from, to },
            })
        }
        Kind::Log | Kind::Event if named(0, PARENT) => Some(Part::Of(word(0)?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use silverpoint_wire::level::Level;
    use silverpoint_wire::site::SiteDescription;

    use super::*;

    fn said(kind: Kind, template: &str, names: &str, signature: &str, args: &[u8]) -> Option<Part> {
        let site = Site::new(SiteDescription {
            kind,
            level: Level::Info,
            flags: 0,
            line: 3,
            language: 2,
            category: "net".into(),
            file: "a.rs".into(),
            function: String::new(),
            names: names.into(),
            template: template.into(),
            signature: signature.into(),
        });
        part(&site, args)
    }

    #[test]
    fn names_types_and_kinds_say_it_together() {
        let args = [7_u64.to_le_bytes(), 8_u64.to_le_bytes()].concat();
        let link = |name| said(Kind::Link, name, "from\nto\n", "LL", &args);
        assert_eq!(said(Kind::Span, "s", "span.id\n", "L", &args), Some(Part::Stretch(7)));
        assert_eq!(said(Kind::AsyncBegin, "s", "span.id\nspan.begun\n", "LL", &args), Some(Part::Late(8)));
        assert_eq!(link("parent"), Some(Part::Parent { from: 7, to: 8 }));
        assert_eq!(link("link"), Some(Part::CameFrom { from: 7, to: 8 }));
        assert_eq!(said(Kind::Log, "{1}", "span.parent\n\n", "Ls", &args), Some(Part::Of(7)));
        // Others, or too little.
        for (kind, names, signature, len) in [
            (Kind::Span, "id\n", "L", 8),
            (Kind::Span, "span.id\nmore\n", "LL", 16),
            (Kind::Span, "span.id\n", "l", 8),
            (Kind::Span, "span.id\n", "L", 7),
            (Kind::Event, "span.id\n", "L", 8),
            (Kind::AsyncBegin, "span.id\nbegun\n", "LL", 16),
            (Kind::AsyncBegin, "span.id\nspan.begun\n", "LT", 16),
            (Kind::Link, "from\nto\n", "LL", 15),
            (Kind::Event, "parent\n", "L", 8),
            (Kind::Event, "span.parent\n", "s", 8),
        ] {
            assert_eq!(said(kind, "parent", names, signature, &args[..len]), None, "{kind:?} {names:?}");
        }
    }
}

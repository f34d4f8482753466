//! Values as a tree: nodes in the order in which a reader meets them, each before what is within it. Texts lie in one place that all nodes of a batch share.

use silverpoint_render::{Quoting, Stack, TextVisitor, format::Spec};
use silverpoint_trace::cbor;
use silverpoint_wire::leaf::{Container, Leaf, Pieces};
use silverpoint_wire::signature::Type;
use silverpoint_wire::value::{Sequence, Visitor, walk};

/// Most nodes of one record; [`Node::missing`] reports the rest.
pub const NODES_MAX: usize = 1 << 16;
/// Bytes of text that the nodes of one record have at most, besides [`TEXT_FACTOR`] for each of its own bytes. A signature's names stand at each node, and a record of a few bytes may
/// have very many.
const TEXT_MAX: usize = 16 << 20;
/// Bytes are kept as they are and as text, which takes four times as much at most; and once more in what they are within.
const TEXT_FACTOR: usize = 8;
/// Bytes of a container's text.
const PREVIEW: usize = 160;
/// Instead of the number of a node.
const HIDDEN: usize = usize::MAX;
/// What stands in the place of a secret.
const SECRET: &[u8] = b"<secret>";

/// Bytes in the texts of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The first.
    pub begin: usize,
    /// How many.
    pub size: usize,
}

/// What a value is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum NodeKind {
    /// Nothing: null, an optional without value, or bytes that contradict the signature.
    #[default]
    Null = 0,
    /// A truth value: `bits` is 0 or 1.
    Bool = 1,
    /// A signed integer: `bits` are those of an `i64`.
    Int = 2,
    /// An unsigned integer.
    Uint = 3,
    /// An integer beyond 64 bits: `text` alone.
    Big = 4,
    /// A number: `bits` are those of an `f64`.
    Float = 5,
    /// A character: `bits` is its code point.
    Char = 6,
    /// An address.
    Pointer = 7,
    /// Text, in UTF-8.
    Text = 8,
    /// Bytes: `raw` has them.
    Bytes = 9,
    /// A UUID: `raw` has its 16 bytes.
    Uuid = 10,
    /// A moment: nanoseconds since 1970, as an `i64`.
    Time = 11,
    /// Nanoseconds, as an `i64`.
    Duration = 12,
    /// A number (an `i64`) with a name, which is `text`.
    Enumeration = 13,
    /// Values one after the other.
    List = 14,
    /// Values in no order.
    Set = 15,
    /// Values, each of its own type.
    Tuple = 16,
    /// Values whose names are their keys as text.
    Map = 17,
    /// Named fields; `type_name` is the structure's.
    Struct = 18,
}

impl NodeKind {
    /// Whether it has children.
    pub fn is_container(self) -> bool {
        matches!(self, Self::List | Self::Set | Self::Tuple | Self::Map | Self::Struct)
    }
}

/// One value.
#[derive(Clone, Copy, Debug, Default)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// Of an argument, a field, a map's entry; else empty.
    pub name: Span,
    /// As people read it: of a text the text itself, of a container its beginning.
    pub text: Span,
    /// The bytes of bytes and UUIDs.
    pub raw: Span,
    /// Of a structure or an enumeration; may be empty.
    pub type_name: Span,
    /// `ms`, `bytes` …; mostly empty.
    pub unit: Span,
    /// By kind.
    pub bits: u64,
    /// Values within it, without those within these.
    pub children: u32,
    /// Nodes up to the next one that is not within it, itself included.
    pub size: u32,
    /// Elements, or bytes of a text, that were cut.
    pub missing: u32,
}

/// Where the nodes of a record and their texts end at the latest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    nodes: usize,
    text: usize,
}

/// Where nodes are made.
#[derive(Debug, Default)]
pub(crate) struct Room {
    pub(crate) nodes: Vec<Node>,
    pub(crate) text: Vec<u8>,
    shown: String,
    stack: Stack,
}

impl Room {
    pub(crate) fn clear(&mut self) {
        self.nodes.clear();
        self.text.clear();
    }

    /// How far a record of so many bytes may go.
    pub(crate) fn end(&self, bytes: usize) -> End {
        let text = bytes.saturating_mul(TEXT_FACTOR).saturating_add(TEXT_MAX);
        End { nodes: self.nodes.len() + NODES_MAX, text: self.text.len().saturating_add(text) }
    }

    /// Keeps bytes.
    pub(crate) fn keep(&mut self, bytes: &[u8]) -> Span {
        let begin = self.text.len();
        self.text.extend_from_slice(bytes);
        Span { begin, size: bytes.len() }
    }

    fn slice(&self, span: Span) -> &[u8] {
        &self.text[span.begin..span.begin + span.size]
    }

    /// Adds an argument; gives where the next one begins, unless the bytes contradict the type.
    pub(crate) fn argument(
        &mut self,
        name: &str,
        ty: &Type,
        bytes: &[u8],
        at: Option<usize>,
        end: End,
    ) -> Option<usize> {
        let (first, name) = (self.nodes.len(), self.keep(name.as_bytes()));
        let mut builder = Builder::new(self, name, end);
        let walked = at.map(|at| walk(ty, bytes, at, &mut builder));
        builder.finish();
        let next = match walked {
            Some(Ok(next)) => Some(next),
            // What was left out is left out here alone.
            Some(Err(silverpoint_wire::value::WalkError::Visitor(Full))) => {
                at.and_then(|at| silverpoint_wire::value::skip(ty, bytes, at).ok())
            }
            Some(Err(silverpoint_wire::value::WalkError::Decode(_))) | None => None,
        };
        if self.nodes.len() == first {
            let text = self.keep(if next.is_some() { "…".as_bytes() } else { b"<damaged>" });
            self.nodes.push(Node { name, text, size: 1, ..Node::default() });
        }
        next
    }

    /// Adds an item of CBOR.
    pub(crate) fn item(&mut self, name: &str, item: &[u8], end: End) {
        let (first, name) = (self.nodes.len(), self.keep(name.as_bytes()));
        let mut builder = Builder::new(self, name, end);
        let _ = builder.leaf(Leaf::Any(item));
        builder.finish();
        if self.nodes.len() == first {
            let text = self.keep("…".as_bytes());
            self.nodes.push(Node { name, text, size: 1, ..Node::default() });
        }
    }
}

/// There are as many nodes, or as much text, as there may be.
pub(crate) struct Full;

/// A container that is not complete.
struct Open {
    node: usize,
    /// Elements that are still to come.
    left: u32,
    /// Of a map: the key that has been read.
    key: Option<Span>,
}

struct Builder<'r> {
    room: &'r mut Room,
    /// Of the next value.
    name: Span,
    open: Vec<Open>,
    metas: Vec<(String, String)>,
    end: End,
}

type Done = Result<(), Full>;

impl<'r> Builder<'r> {
    fn new(room: &'r mut Room, name: Span, end: End) -> Self {
        Self { room, name, open: Vec::new(), metas: Vec::new(), end }
    }

    /// Closes what a mistake has left open.
    fn finish(mut self) {
        while self.end_innermost() {}
    }

    /// A value without parts, with its text.
    fn show(&mut self, node: Node, leaf: Leaf<'_>) -> Done {
        if self.is_secret() {
            return self.put(Node::default(), SECRET);
        }
        self.room.shown.clear();
        let mut visitor =
            TextVisitor::new(&mut self.room.shown, &mut self.room.stack, Spec::default(), Quoting::Never);
        for (key, text) in &self.metas {
            let _ = visitor.meta(key, text);
        }
        let _ = leaf.visit(&mut visitor);
        let shown = std::mem::take(&mut self.room.shown);
        let done = self.put(node, shown.as_bytes());
        self.room.shown = shown;
        done
    }

    /// A value with its text; of a map's key only that text is kept.
    fn put(&mut self, mut node: Node, text: &[u8]) -> Done {
        let unit = self.metas.iter().find(|(key, _)| key == "unit");
        let unit = unit.map_or_else(Span::default, |(_, unit)| self.room.keep(unit.as_bytes()));
        self.metas.clear();
        if self.is_key() {
            let key = self.room.keep(text);
            self.have_key(key);
            return Ok(());
        }
        self.begin_value()?;
        node.text = self.room.keep(text);
        node.name = std::mem::take(&mut self.name);
        (node.unit, node.size) = (unit, 1);
        self.room.nodes.push(node);
        Ok(())
    }

    /// Whether the next value is the key of a map's entry.
    fn is_key(&self) -> bool {
        let of_map = |open: &&Open| self.room.nodes[open.node].kind == NodeKind::Map && open.key.is_none();
        self.open.last().filter(of_map).is_some()
    }

    fn have_key(&mut self, key: Span) {
        if let Some(open) = self.open.last_mut() {
            open.key = Some(key);
        }
    }

    /// Counts a value in what it is within.
    fn begin_value(&mut self) -> Done {
        if self.room.nodes.len() >= self.end.nodes || self.room.text.len() >= self.end.text {
            return Err(Full);
        }
        if let Some(open) = self.open.last_mut() {
            open.left = open.left.saturating_sub(1);
            self.room.nodes[open.node].children += 1;
            if let Some(key) = open.key.take() {
                self.name = key;
            }
        }
        Ok(())
    }

    fn open(&mut self, kind: NodeKind, type_name: &str, len: u32, missing: u32) -> Done {
        self.metas.clear();
        if self.is_key() {
            // A key with parts is only indicated.
            let key = self.room.keep("…".as_bytes());
            self.have_key(key);
            return self.hide();
        }
        self.begin_value()?;
        let (type_name, name) = (self.room.keep(type_name.as_bytes()), std::mem::take(&mut self.name));
        self.room.nodes.push(Node { kind, name, type_name, missing, ..Node::default() });
        self.open.push(Open { node: self.room.nodes.len() - 1, left: len, key: None });
        Ok(())
    }

    fn close(&mut self, open: Open) {
        let size = self.room.nodes.len() - open.node;
        let node = &mut self.room.nodes[open.node];
        node.size = u32::try_from(size).unwrap_or(u32::MAX);
        // What could not be kept is missing, too.
        node.missing = node.missing.saturating_add(open.left);
        let preview = self.preview(open.node);
        self.room.nodes[open.node].text = self.room.keep(preview.as_bytes());
    }

    /// The beginning of a container, on one line.
    fn preview(&self, at: usize) -> String {
        let (room, node) = (&*self.room, &self.room.nodes[at]);
        let text = |span: Span| String::from_utf8_lossy(room.slice(span)).into_owned();
        let (begin, end) = match node.kind {
            NodeKind::List => ("[", "]"),
            NodeKind::Tuple => ("(", ")"),
            _ => ("{", "}"),
        };
        let mut out = text(node.type_name) + begin;
        let mut child = at + 1;
        for number in 0..node.children {
            if number > 0 {
                out.push_str(", ");
            }
            if out.len() > PREVIEW {
                out.push('…');
                break;
            }
            let value = &room.nodes[child];
            if value.name.size > 0 {
                out.push_str(&text(value.name));
                out.push_str(": ");
            }
            match value.kind {
                NodeKind::Text => out.push_str(&format!("\"{}\"", text(value.text))),
                _ => out.push_str(&text(value.text)),
            }
            child += value.size as usize;
        }
        if node.missing > 0 {
            out.push_str(&format!("…(+{})", node.missing));
        }
        if out.len() > 2 * PREVIEW {
            out.truncate(out.floor_char_boundary(2 * PREVIEW));
            out.push('…');
        }
        out + end
    }

    /// The innermost container is complete, if any is open.
    fn end_innermost(&mut self) -> bool {
        let Some(open) = self.open.pop() else { return false };
        if open.node != HIDDEN {
            self.close(open);
        }
        true
    }

    /// What is within a container that is not shown.
    fn hide(&mut self) -> Done {
        self.open.push(Open { node: HIDDEN, left: 0, key: None });
        Ok(())
    }

    /// Whether the next value must not be shown; a mark stands for it then.
    fn is_secret(&self) -> bool {
        self.metas.iter().any(|(key, _)| key == "secret")
    }

    /// Within a secret, or a key that has parts.
    fn is_hidden(&self) -> bool {
        self.open.last().is_some_and(|open| open.node == HIDDEN)
    }
}

fn of(kind: NodeKind, bits: u64) -> Node {
    Node { kind, bits, ..Node::default() }
}

/// Integers of more bits, where they are small.
fn wide(negative: bool, magnitude: u128) -> Node {
    match (negative, i64::try_from(magnitude), u64::try_from(magnitude)) {
        (false, _, Ok(value)) => of(NodeKind::Uint, value),
        (true, Ok(value), _) => of(NodeKind::Int, value.wrapping_neg().cast_unsigned()),
        _ => of(NodeKind::Big, 0),
    }
}

/// What a value without parts is; its text comes from [`TextVisitor`].
fn node(leaf: Leaf<'_>) -> Node {
    match leaf {
        Leaf::Null | Leaf::None | Leaf::Any(_) => Node::default(),
        Leaf::Bool(value) => of(NodeKind::Bool, u64::from(value)),
        Leaf::I64(value) => of(NodeKind::Int, value.cast_unsigned()),
        Leaf::U64(value) => of(NodeKind::Uint, value),
        Leaf::I128(value) => wide(value < 0, value.unsigned_abs()),
        Leaf::U128(value) => wide(false, value),
        Leaf::F32(value) => of(NodeKind::Float, f64::from(value).to_bits()),
        Leaf::F64(value) => of(NodeKind::Float, value.to_bits()),
        Leaf::Char(value) => of(NodeKind::Char, u64::from(u32::from(value))),
        Leaf::Pointer(value) => of(NodeKind::Pointer, value),
        Leaf::Text(_, missing) => Node { kind: NodeKind::Text, missing, ..Node::default() },
        Leaf::Bytes(_, missing) => Node { kind: NodeKind::Bytes, missing, ..Node::default() },
        Leaf::Uuid(_) => of(NodeKind::Uuid, 0),
        Leaf::Time(unix_ns) => of(NodeKind::Time, unix_ns.cast_unsigned()),
        Leaf::Duration(ns) => of(NodeKind::Duration, ns.cast_unsigned()),
        Leaf::Enumeration { value, .. } => of(NodeKind::Enumeration, value.cast_unsigned()),
    }
}

impl Pieces for Builder<'_> {
    type Error = Full;

    fn leaf(&mut self, leaf: Leaf<'_>) -> Done {
        if self.is_hidden() {
            return Ok(());
        }
        let mut node = node(leaf);
        match leaf {
            // The text itself, unless metadata decides what is shown.
            Leaf::Text(text, _) if !self.metas.iter().any(|(key, _)| key == "secret" || key == "look") => {
                return self.put(node, text.to_string_lossy().as_bytes());
            }
            Leaf::Any(item) if cbor::check(item).is_err() => return self.leaf(Leaf::Bytes(item, 0)),
            Leaf::Any(item) => {
                return match cbor::visit(item, self) {
                    Err(cbor::Error::Visitor(full)) => Err(full),
                    Ok(()) | Err(cbor::Error::Malformed(_)) => Ok(()),
                };
            }
            Leaf::Bytes(bytes, _) if !self.is_secret() => node.raw = self.room.keep(bytes),
            Leaf::Uuid(uuid) if !self.is_secret() => node.raw = self.room.keep(&uuid),
            Leaf::Enumeration { name, .. } => node.type_name = self.room.keep(name.as_bytes()),
            _ => {}
        }
        self.show(node, leaf)
    }

    fn begin(&mut self, container: Container<'_>) -> Done {
        if self.is_hidden() {
            return self.hide();
        }
        if self.is_secret() {
            self.put(Node::default(), SECRET)?;
            return self.hide();
        }
        match container {
            Container::Sequence { kind, len, missing } => {
                let kind = match kind {
                    Sequence::List => NodeKind::List,
                    Sequence::Set => NodeKind::Set,
                    Sequence::Tuple => NodeKind::Tuple,
                };
                self.open(kind, "", len, missing)
            }
            Container::Map(len) => self.open(NodeKind::Map, "", len, 0),
            Container::Record { name, fields } => {
                self.open(NodeKind::Struct, name, u32::try_from(fields).unwrap_or(u32::MAX), 0)
            }
        }
    }

    fn field(&mut self, name: &str) -> Done {
        if !self.is_hidden() {
            self.name = self.room.keep(name.as_bytes());
        }
        Ok(())
    }

    fn end(&mut self) -> Done {
        self.end_innermost();
        Ok(())
    }

    fn meta(&mut self, key: &str, text: &str) -> Done {
        if !self.is_hidden() {
            self.metas.push((key.to_owned(), text.to_owned()));
        }
        Ok(())
    }
}

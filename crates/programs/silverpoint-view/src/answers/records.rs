//! Rows of the table, and one record with its values.

use serde_json::{Value, json};
use silverpoint_read::{Batch, Node, NodeKind, Row};

use super::shared::{body, cut, kind_name};
use crate::params::{Params, Wrong};
use crate::worker::Views;

/// Bytes of a message in a row, and of other texts of it.
const MESSAGE_MAX: usize = 2000;
const TEXT_MAX: usize = 1000;
/// The same of one record that is shown alone.
const WHOLE_MESSAGE_MAX: usize = 1 << 20;
const VALUE_MAX: usize = 65_536;
const BYTES_MAX: usize = 4096;
/// Values of a record, and bytes of their texts.
const NODES_MAX: usize = 5000;
const TEXTS_MAX: usize = 2 << 20;
/// Bytes of the values of several records, and about how many one takes besides its text.
const ANSWER_MAX: usize = 4 << 20;
const NODE_BYTES: usize = 120;
/// Containers within one another.
const DEPTH_MAX: usize = 64;

pub(super) fn records(views: &mut Views, mut params: Params) -> Result<Vec<u8>, Wrong> {
    let filter = params.filter()?;
    let count = params.number("count", 1..=500usize, 100)?;
    let from = params.optional("from", 0..=u64::MAX)?;
    let at = params.optional("at", i64::MIN..=i64::MAX)?;
    let last = params.optional("last", 1..=1u8)?;
    let with_values = params.optional("values", 1..=1u8)?.is_some();
    params.end()?;
    if usize::from(from.is_some()) + usize::from(at.is_some()) + usize::from(last.is_some()) != 1 {
        return Err(Wrong::usage("exactly one of from, at and last must be given"));
    }
    let view = views.get(&filter)?;
    let total = view.counts.records;
    let from = match (from, at) {
        (Some(from), _) => from,
        (_, Some(at)) => view.number_at(at),
        _ => total.saturating_sub(count as u64),
    };
    let mut batch = Batch::default();
    let most = usize::try_from(total.saturating_sub(from)).unwrap_or(usize::MAX).min(count);
    view.reader.read(from, most, &mut batch).map_err(|error| Wrong::gone(error.to_string()))?;
    let mut room = ANSWER_MAX;
    let whole = |row: &Row| {
        let (value, bytes) = record_json(&batch, row);
        // The first is there in any case.
        let has_room = room > 0;
        room = room.saturating_sub(bytes);
        has_room.then_some(value)
    };
    let rows: Vec<Value> = match with_values {
        true => batch.rows().iter().map_while(whole).collect(),
        false => batch.rows().iter().map(|row| row_json(&batch, row, MESSAGE_MAX)).collect(),
    };
    body(&json!({
        "from": from.to_string(), "total": total.to_string(), "rows": rows, "progress": view.progress(),
    }))
}

fn row_json(batch: &Batch, row: &Row, most: usize) -> Value {
    let text = |span| cut(batch.text(span), TEXT_MAX).0;
    let (message, missing) = cut(batch.text(row.message), most);
    json!({
        "number": row.number.to_string(),
        "time": row.wall_ns.to_string(),
        "level": row.level,
        "kind": kind_name(row.kind),
        "duration": row.duration_ns.map(|ns| ns.to_string()),
        "pid": row.pid,
        "process": text(row.process),
        "tid": row.tid,
        "thread": text(row.thread),
        "category": text(row.category),
        "file": text(row.file),
        "line": row.line,
        "function": text(row.function),
        "message": message,
        "cut": missing > 0,
        "backtrace": row.is_backtrace,
    })
}

pub(super) fn record(views: &mut Views, mut params: Params) -> Result<Vec<u8>, Wrong> {
    let filter = params.filter()?;
    let number = params.needed("number", 0..=u64::MAX)?;
    params.end()?;
    let view = views.get(&filter)?;
    let mut batch = Batch::default();
    view.reader.read(number, 1, &mut batch).map_err(|error| Wrong::gone(error.to_string()))?;
    let Some(row) = batch.rows().first().filter(|_| number < view.counts.records) else {
        return Err(Wrong::gone(format!("there is no record {number}: {} are known", view.counts.records)));
    };
    let mut value = record_json(&batch, row).0;
    value["progress"] = view.progress();
    body(&value)
}

/// A record with its values, and about how many bytes that takes.
fn record_json(batch: &Batch, row: &Row) -> (Value, usize) {
    let mut tree = Tree { batch, nodes: 0, bytes: 0, left_out: 0 };
    let mut at = row.nodes;
    let mut list = |count: u32| {
        let mut values = Vec::new();
        for _ in 0..count {
            at = tree.push(at, &mut values, 0);
        }
        values
    };
    let (arguments, fields) = (list(row.arguments), list(row.fields));
    let value = json!({
        "row": row_json(batch, row, WHOLE_MESSAGE_MAX),
        "template": cut(batch.text(row.template), VALUE_MAX).0,
        "truncated": row.is_truncated,
        "arguments": arguments,
        "fields": fields,
        "nodes_left_out": tree.left_out,
    });
    let message = batch.text(row.message).len().min(WHOLE_MESSAGE_MAX);
    (value, message + tree.bytes + NODE_BYTES * (tree.nodes + 3))
}

/// Values of one record, as far as there is room.
struct Tree<'b> {
    batch: &'b Batch,
    nodes: usize,
    bytes: usize,
    left_out: usize,
}

impl Tree<'_> {
    /// Adds a value; gives the place of the next one that is not within it.
    fn push(&mut self, at: usize, out: &mut Vec<Value>, depth: usize) -> usize {
        let Some(node) = self.batch.nodes().get(at) else { return at };
        let next = at + (node.size as usize).max(1);
        if self.nodes >= NODES_MAX || self.bytes >= TEXTS_MAX || depth > DEPTH_MAX {
            self.left_out += next - at;
            return next;
        }
        self.nodes += 1;
        let (text, missing) = cut(self.batch.text(node.text), VALUE_MAX);
        self.bytes += text.len();
        let mut value = json!({
            "name": cut(self.batch.text(node.name), TEXT_MAX).0,
            "kind": node_kind(node.kind),
            "text": text,
            "type": cut(self.batch.text(node.type_name), TEXT_MAX).0,
            "unit": cut(self.batch.text(node.unit), TEXT_MAX).0,
            "missing": node.missing,
        });
        if missing > 0 {
            value["cut"] = json!(missing);
        }
        if let Some(exact) = exact_value(self.batch, node) {
            value["value"] = json!(exact);
        }
        if node.kind.is_container() {
            let (mut children, mut child) = (Vec::new(), at + 1);
            for _ in 0..node.children {
                child = self.push(child, &mut children, depth + 1);
            }
            value["children"] = Value::Array(children);
        }
        out.push(value);
        next
    }
}

fn exact_value(batch: &Batch, node: &Node) -> Option<String> {
    Some(match node.kind {
        NodeKind::Bool => (node.bits != 0).to_string(),
        NodeKind::Int | NodeKind::Time | NodeKind::Duration | NodeKind::Enumeration => {
            node.bits.cast_signed().to_string()
        }
        NodeKind::Uint | NodeKind::Char => node.bits.to_string(),
        NodeKind::Pointer => format!("{:#x}", node.bits),
        NodeKind::Float => f64::from_bits(node.bits).to_string(),
        NodeKind::Bytes | NodeKind::Uuid => {
            batch.bytes(node.raw).iter().take(BYTES_MAX).map(|byte| format!("{byte:02x}")).collect()
        }
        _ => return None,
    })
}

fn node_kind(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Null => "null",
        NodeKind::Bool => "bool",
        NodeKind::Int => "int",
        NodeKind::Uint => "uint",
        NodeKind::Big => "big",
        NodeKind::Float => "float",
        NodeKind::Char => "char",
        NodeKind::Pointer => "pointer",
        NodeKind::Text => "text",
        NodeKind::Bytes => "bytes",
        NodeKind::Uuid => "uuid",
        NodeKind::Time => "time",
        NodeKind::Duration => "duration",
        NodeKind::Enumeration => "enumeration",
        NodeKind::List => "list",
        NodeKind::Set => "set",
        NodeKind::Tuple => "tuple",
        NodeKind::Map => "map",
        NodeKind::Struct => "struct",
    }
}

//! Documents that hold many records: requests of OTLP, and envelopes of cloud services. One record is made at a time.

use minicbor::data::Type as Item;

use super::is_time;
use crate::own::{Member, at, item_at, members};
use crate::pack::goes_on;
use crate::scratch::Scratch;

/// Arrays of records: AWS, Azure, Google.
const ENVELOPES: [&str; 5] = ["Records", "records", "entries", "logEvents", "events"];

/// See the module.
pub(crate) struct Expanded {
    document: Scratch,
    records: Vec<Element>,
    next: usize,
}

/// One record: where it stands, and the members around it.
struct Element {
    at: usize,
    around: Around,
}

enum Around {
    /// Where the envelope and the array in it stand.
    Envelope(usize),
    /// OTLP: where `resource` and `scope` and their neighbours stand.
    Otlp { resource: usize, scope: usize },
}

/// Takes the document over if it holds many records.
pub(crate) fn expand(scratch: &mut Scratch) -> Option<Expanded> {
    let bytes = scratch.bytes();
    let top = members(bytes, 0).ok()?;
    let mut records = Vec::new();
    let is_otlp = top.iter().any(|(name, _)| matches!(*name, "resourceLogs" | "resourceSpans"));
    if is_otlp {
        for (outer, scopes, inner) in [
            ("resourceLogs", ["scopeLogs", "instrumentationLibraryLogs"], "logRecords"),
            ("resourceSpans", ["scopeSpans", "instrumentationLibrarySpans"], "spans"),
        ] {
            for resource in maps_of(bytes, &top, &[outer])? {
                let within = members(bytes, resource).ok()?;
                for scope in maps_of(bytes, &within, &scopes)? {
                    let found = maps_of(bytes, &members(bytes, scope).ok()?, &[inner])?;
                    records.extend(
                        found.into_iter().map(|at| Element { at, around: Around::Otlp { resource, scope } }),
                    );
                }
            }
        }
    } else {
        let envelope = top.iter().find(|(name, _)| ENVELOPES.contains(name))?;
        if top.iter().any(|(name, _)| is_time(name)) {
            return None;
        }
        let found = maps_of(bytes, &[*envelope], &ENVELOPES)?;
        if found.is_empty() {
            return None;
        }
        let array = envelope.1;
        records.extend(found.into_iter().map(|at| Element { at, around: Around::Envelope(array) }));
    }
    Some(Expanded { document: std::mem::take(scratch), records, next: 0 })
}

/// The maps of arrays of these names; none where something else stands in one.
fn maps_of(bytes: &[u8], within: &[Member<'_>], names: &[&str]) -> Option<Vec<usize>> {
    let mut found = Vec::new();
    for (_, begin) in within.iter().filter(|(name, _)| names.contains(name)) {
        let mut items = at(bytes, *begin);
        let stated = items.array().ok()?;
        let mut seen = 0;
        while goes_on(&mut items, stated, seen) {
            seen += 1;
            if !matches!(items.datatype(), Ok(Item::Map | Item::MapIndef)) {
                return None;
            }
            found.push(items.position());
            crate::pack::skip(&mut items)?;
        }
    }
    Some(found)
}

impl Expanded {
    /// Puts the next record into the scratch; false after the last one.
    pub fn next(&mut self, scratch: &mut Scratch) -> bool {
        scratch.clear();
        let Some(element) = self.records.get(self.next) else { return false };
        self.next += 1;
        let mut copy = Copy { from: &self.document, to: scratch };
        copy.to.place(copy.from.place_of(element.at));
        copy.to.begin_map();
        match element.around {
            Around::Envelope(array) => copy.enveloped(element.at, array),
            Around::Otlp { resource, scope } => copy.otlp(element.at, resource, scope),
        }
        copy.to.end();
        true
    }
}

/// Copies values, each with its place.
struct Copy<'f, 't> {
    from: &'f Scratch,
    to: &'t mut Scratch,
}

impl<'f> Copy<'f, '_> {
    fn members(&self, begin: usize) -> Vec<Member<'f>> {
        members(self.from.bytes(), begin).unwrap_or_default()
    }

    fn name(&mut self, name: &str, value: usize) {
        self.to.text(name);
        self.to.place(self.from.place_of(value));
    }

    fn item(&mut self, begin: usize) {
        if let Some(text) = self.from.decimal_at(begin) {
            self.to.decimal(text);
        }
        self.to.item(item_at(self.from.bytes(), begin).unwrap_or(&[0xF6]));
    }

    fn member(&mut self, (name, begin): Member<'_>) {
        self.name(name, begin);
        self.item(begin);
    }

    fn enveloped(&mut self, record: usize, array: usize) {
        for member in self.members(record) {
            self.member(member);
        }
        // Of equal names the record's own come first: the others get a number when they become arguments.
        for member in self.members(0).into_iter().filter(|(_, begin)| *begin != array) {
            self.member(member);
        }
    }

    fn otlp(&mut self, record: usize, resource: usize, scope: usize) {
        for (name, begin) in self.members(record) {
            self.name(name, begin);
            match name {
                "body" => self.any(begin),
                "attributes" => self.key_values(begin),
                _ => self.item(begin),
            }
        }
        self.around("resource", resource);
        self.around("scope", scope);
    }

    /// What a resource or scope says of its records: its attributes by their names, and what stands beside it.
    fn around(&mut self, name: &str, begin: usize) {
        let mut flat = Vec::new();
        for (other, begin) in self.members(begin) {
            if other == name || other == "instrumentationLibrary" {
                flat.extend(self.members(begin));
            } else if !matches!(
                other,
                "scopeLogs"
                    | "scopeSpans"
                    | "instrumentationLibraryLogs"
                    | "instrumentationLibrarySpans"
                    | "logRecords"
                    | "spans"
            ) {
                flat.push((other, begin));
            }
        }
        if flat.is_empty() {
            return;
        }
        self.name(name, begin);
        self.to.begin_map();
        for (name, begin) in flat {
            if name == "attributes" {
                self.pairs(begin);
            } else {
                self.member((name, begin));
            }
        }
        self.to.end();
    }

    /// A list of `{key, value}` as a map; what is none as it stands there.
    fn key_values(&mut self, begin: usize) {
        if pairs(self.from.bytes(), begin).is_none() {
            return self.item(begin);
        }
        self.to.begin_map();
        self.pairs(begin);
        self.to.end();
    }

    fn pairs(&mut self, begin: usize) {
        let Some(pairs) = pairs(self.from.bytes(), begin) else {
            return self.member(("attributes", begin));
        };
        for (key, value) in pairs {
            match value {
                Some(value) => {
                    self.name(key, value);
                    self.any(value);
                }
                None => {
                    self.to.text(key);
                    self.to.null();
                }
            }
        }
    }

    /// A value of OTLP, `{"intValue":"7"}`, as what it is.
    fn any(&mut self, begin: usize) {
        let bytes = self.from.bytes();
        let inner = members(bytes, begin).ok().filter(|members| members.len() == 1);
        let Some((sort, value)) = inner.map(|members| members[0]) else {
            return if members(bytes, begin).is_ok_and(|members| members.is_empty()) {
                self.to.null();
            } else {
                self.item(begin);
            };
        };
        let text = at(bytes, value).str().ok();
        match (sort, text) {
            ("intValue", Some(text)) if text.parse::<i64>().is_ok() => {
                self.to.signed(text.parse::<i64>().unwrap_or(0).into());
            }
            ("doubleValue", Some(text)) if text.parse::<f64>().is_ok() => {
                self.to.float(text.parse().unwrap_or(0.0));
            }
            ("bytesValue", Some(text)) => match unbase64(text) {
                Some(octets) => self.to.octets(&octets),
                None => self.item(begin),
            },
            ("stringValue" | "boolValue" | "intValue" | "doubleValue", _) => self.item(value),
            ("arrayValue", _) => match values(bytes, value) {
                Some(values) => {
                    self.to.begin_sequence();
                    values.into_iter().for_each(|value| self.any(value));
                    self.to.end();
                }
                None => self.item(begin),
            },
            ("kvlistValue", _) => match values_at(bytes, value).filter(|at| pairs(bytes, *at).is_some()) {
                Some(at) => self.key_values(at),
                None => self.item(begin),
            },
            _ => self.item(begin),
        }
    }
}

/// Where the `values` of a list stand; `None` where anything stands beside them.
fn values_at(bytes: &[u8], begin: usize) -> Option<usize> {
    match members(bytes, begin).ok()?.as_slice() {
        [("values", at)] => Some(*at),
        _ => None,
    }
}

fn values(bytes: &[u8], begin: usize) -> Option<Vec<usize>> {
    let mut items = at(bytes, values_at(bytes, begin)?);
    let stated = items.array().ok()?;
    let mut found = Vec::new();
    while goes_on(&mut items, stated, found.len() as u64) {
        found.push(items.position());
        crate::pack::skip(&mut items)?;
    }
    Some(found)
}

/// Keys and values of a list of `{key, value}`; `None` where something else stands in it.
fn pairs(bytes: &[u8], begin: usize) -> Option<Vec<(&str, Option<usize>)>> {
    let mut items = at(bytes, begin);
    let stated = items.array().ok()?;
    let mut found = Vec::new();
    while goes_on(&mut items, stated, found.len() as u64) {
        let (mut key, mut value) = (None, None);
        for (name, begin) in members(bytes, items.position()).ok()? {
            match name {
                "key" => key = Some(at(bytes, begin).str().ok()?),
                "value" => value = Some(begin),
                _ => return None,
            }
        }
        found.push((key?, value));
        crate::pack::skip(&mut items)?;
    }
    Some(found)
}

/// Bytes of the usual alphabet or that of URLs, with or without padding.
fn unbase64(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches('=');
    let (mut out, mut bits, mut have) = (Vec::new(), 0_u32, 0);
    for digit in text.bytes() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        have += 6;
        if have >= 8 {
            have -= 8;
            out.push((bits >> have) as u8);
        }
    }
    Some(out)
}

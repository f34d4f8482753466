//! Contexts as text and as JSON. Both are made on the first request, and kept with the context.

use std::convert::Infallible;
use std::sync::OnceLock;

use silverpoint_trace::{Context, Keepsake, cbor, escape};

use crate::format::Spec;
use crate::json;
use crate::render::{Quoting, Stack, TextVisitor};

/// What a context looks like.
pub trait ShowContext {
    /// As lines of text show it: `request=7 user="ada b"`. One line, control characters escaped.
    fn text(&self) -> &str;
    /// The value of a field as text; `None` when there is no such field.
    fn text_of_field(&self, name: &str) -> Option<String>;
    /// As a JSON object: `{"request":7,"user":"ada b"}`.
    fn json(&self) -> &str;
}

/// What has been made of a context.
#[derive(Default)]
struct Shown {
    text: OnceLock<String>,
    json: OnceLock<String>,
}

impl Keepsake for Shown {
    fn bytes(&self) -> usize {
        [&self.text, &self.json].into_iter().filter_map(OnceLock::get).map(String::len).sum()
    }
}

impl ShowContext for Context {
    fn text(&self) -> &str {
        self.made().get_or_make(Shown::default).text.get_or_init(|| {
            let (mut out, mut stack) = (String::new(), Stack::default());
            for (name, value) in self.fields() {
                if !out.is_empty() {
                    out.push(' ');
                }
                escape::push_escaped(&mut out, name);
                out.push('=');
                push_value(&mut out, &mut stack, value);
            }
            out
        })
    }

    fn text_of_field(&self, name: &str) -> Option<String> {
        let (mut out, mut stack) = (String::new(), Stack::default());
        push_value(&mut out, &mut stack, self.get(name)?);
        Some(out)
    }

    fn json(&self) -> &str {
        self.made().get_or_make(Shown::default).json.get_or_init(|| {
            let (mut out, mut stack) = (String::from("{"), json::Stack::default());
            for (at, (name, value)) in self.fields().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                json::push_string(&mut out, name);
                out.push(':');
                let mut visitor = json::JsonVisitor::new(&mut out, &mut stack);
                // It was read before: it is well-formed.
                let _: Result<(), cbor::Error<Infallible>> = cbor::visit(value, &mut visitor);
            }
            out.push('}');
            out
        })
    }
}

fn push_value(out: &mut String, stack: &mut Stack, value: &[u8]) {
    let mut visitor = TextVisitor::new(out, stack, Spec::default(), Quoting::WhenAmbiguous);
    // It was read before: it is well-formed.
    let _: Result<(), cbor::Error<Infallible>> = cbor::visit(value, &mut visitor);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(item: &[u8]) -> Vec<u8> {
        [&(item.len() as u32).to_le_bytes()[..], item, &[0; 5]].concat()
    }

    #[test]
    fn fields_are_shown_as_text_and_json_and_inner_ones_count() {
        // {_ "a": 1, "user": "ada b", "a": [2]}
        let item = b"\xBF\x61a\x01\x64user\x65ada b\x61a\x81\x02\xFF";
        let context = Context::read(&args(item)).unwrap();
        assert_eq!(context.text(), "a=[2] user=\"ada b\"");
        assert_eq!(context.json(), r#"{"a":[2],"user":"ada b"}"#);
        assert_eq!(context.get("a"), Some(&b"\x81\x02"[..]));
        assert_eq!(context.text_of("user"), Some("ada b"));
        assert_eq!((context.text_of("a"), context.get("b")), (None, None));
        // With its length in front it is the same.
        let context = Context::read(&args(b"\xA1\x61a\x01")).unwrap();
        assert_eq!(context.json(), r#"{"a":1}"#);
    }

    #[test]
    fn what_is_no_context_is_none() {
        let whole = args(b"\xBF\x61a\x01\x64user\x65ada b\x61a\x81\x02\xFF");
        let len = whole.len() - 5;
        for cut in 0..len {
            assert!(Context::read(&whole[..cut]).is_none(), "{cut}");
        }
        for (at, bit) in (0..len).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << bit;
            // No panic; and what is read is whole.
            if let Some(context) = Context::read(&flipped) {
                assert!(!context.text().is_empty() && context.json().ends_with('}'));
            }
        }
        for bad in
            [&b"\xBF\xFF"[..], b"\xA0", b"\x01", b"\xBF\x01\x02\xFF", b"\xA1\x61a\x01\x00", b"\xBF\x61a"]
        {
            assert!(Context::read(&args(bad)).is_none(), "{bad:x?}");
        }
        let deep = [&b"\xA1\x61a"[..], &[0x81; 200], &[1]].concat();
        assert!(Context::read(&args(&deep)).is_none());
    }
}

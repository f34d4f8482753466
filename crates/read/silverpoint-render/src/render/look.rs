//! The metadata `look`: a pattern that replaces a value's own notation (`spec/templates.md`).
//!
//! | pattern | shows |
//! |---|---|
//! | `{}` | the next part of the value: an element, a key or its value, a field's value. Of a value without parts the value itself, text without quotes |
//! | `{?}` | the same; text in quotes |
//! | `{*, }` | all parts that are left, with `, ` between them; entries of a map as `(key, value)` |
//! | `{{` `}}` | braces |
//!
//! Parts that no placeholder shows are left out.

use std::ops::Range;

use silverpoint_trace::escape;

/// A placeholder of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Placeholder {
    /// The pattern has ended.
    End,
    /// One part.
    One {
        /// Text stands in quotes, when it is the whole value.
        is_quoted: bool,
    },
    /// All parts that are left, and where in the pattern the text between them stands.
    Rest(Range<usize>),
}

/// Appends the text of a pattern from an offset to the next placeholder; that, and the offset behind it.
pub(super) fn next(pattern: &str, from: usize, out: &mut String) -> (Placeholder, usize) {
    let mut at = from;
    loop {
        let rest = pattern.get(at..).unwrap_or("");
        let literal = rest.find(['{', '}']).unwrap_or(rest.len());
        escape::push_escaped(out, &rest[..literal]);
        at += literal;
        let rest = &rest[literal..];
        if rest.is_empty() {
            return (Placeholder::End, pattern.len());
        }
        let is_placeholder = rest.starts_with('{') && !rest.starts_with("{{");
        if let Some(close) = is_placeholder.then(|| rest.find('}')).flatten() {
            let end = at + close + 1;
            return match &rest[1..close] {
                "" => (Placeholder::One { is_quoted: false }, end),
                "?" => (Placeholder::One { is_quoted: true }, end),
                what if what.starts_with('*') => (Placeholder::Rest(at + 2..end - 1), end),
                // Of another version: shows nothing.
                _ => {
                    at = end;
                    continue;
                }
            };
        }
        out.push_str(&rest[..1]);
        at += if rest.starts_with("{{") || rest.starts_with("}}") { 2 } else { 1 };
    }
}

/// A container that is shown by a pattern.
#[derive(Clone, Debug)]
pub(super) struct Look {
    /// What of the marks' texts is left of the pattern.
    pub(super) pattern: Range<usize>,
    /// The parts of a `{*}` are being written: what stands between them, within the marks' texts.
    pub(super) between: Option<Range<usize>>,
    /// Parts that are shown nowhere begin here in the output.
    pub(super) hidden: Option<usize>,
}

#[cfg(test)]
mod tests {
    use silverpoint_wire::signature::parse;
    use silverpoint_wire::value::walk;

    use super::super::{Dialect, Quoting, Stack, TextVisitor};
    use super::*;
    use crate::format::Spec;

    /// A value of a type by its signature.
    fn shown(signature: &str, args: &[u8], dialect: Dialect) -> String {
        let types = parse(signature).expect("a signature");
        let (mut out, mut stack) = (String::from("<"), Stack::default());
        let mut at = 0;
        for ty in &types {
            let mut visitor =
                TextVisitor::new(&mut out, &mut stack, Spec::default(), Quoting::Never).dialect(dialect);
            at = walk(ty, args, at, &mut visitor).expect("arguments of these types");
        }
        out + ">"
    }
    fn plain(signature: &str, args: &[u8]) -> String {
        shown(signature, args, Dialect::Plain)
    }

    #[test]
    fn patterns_are_read_piece_by_piece() {
        let pieces = |pattern: &str| {
            let (mut out, mut at, mut found) = (String::new(), 0, Vec::new());
            loop {
                let (placeholder, end) = next(pattern, at, &mut out);
                at = end;
                out.push('^');
                if placeholder == Placeholder::End {
                    return (out, found);
                }
                found.push(placeholder);
            }
        };
        let one = Placeholder::One { is_quoted: false };
        assert_eq!(
            pieces("a{}b{?}c"),
            ("a^b^c^".into(), vec![one.clone(), Placeholder::One { is_quoted: true }])
        );
        assert_eq!(pieces("{*, }"), ("^^".into(), vec![Placeholder::Rest(2..4)]));
        assert_eq!(pieces("{{}}{}{"), ("{}^{^".into(), vec![one.clone()]));
        assert_eq!(pieces("}x{é{}"), ("}x^".into(), vec![]), "of no meaning, left out");
        assert_eq!(pieces("a\n{}"), ("a\\n^^".into(), vec![one]));
        assert_eq!(pieces(""), ("^".into(), vec![]));
    }

    #[test]
    fn containers_are_shown_by_their_look() {
        let two = [2, 0, 0, 0, 7, 8];
        assert_eq!(plain("@look=QList({*%2C });[a", &two), "<QList(7, 8)>");
        assert_eq!(plain("@look=QList({*%2C });[a", &[0; 4]), "<QList()>");
        assert_eq!(plain("@look={}+{};(aa)", &[1, 2]), "<1+2>");
        assert_eq!(plain("@look={};(aa)", &[1, 2]), "<1>", "the second is not shown");
        assert_eq!(plain("@look=none;(aa)", &[1, 2]), "<none>");
        assert_eq!(plain("@look=P({}%7C{})!;<P|x:a,y:a,>", &[1, 2]), "<P(1|2)!>");
        assert_eq!(plain("@look=M({*});{aa", &[2, 0, 0, 0, 1, 2, 3, 4]), "<M((1, 2)(3, 4))>");
        assert_eq!(plain("@look=M({*});{aa", &[0; 4]), "<M()>");
        assert_eq!(
            plain("@look=L({*%2C });[@look=P({} {});(aa)", &[2, 0, 0, 0, 1, 2, 3, 4]),
            "<L(P(1 2), P(3 4))>",
            "however deep"
        );
        assert_eq!(
            plain("@look=M({*});{a@look=L({*%2C });[a", &[1, 0, 0, 0, 1, 2, 0, 0, 0, 3, 4]),
            "<M((1, L(3, 4)))>"
        );
        assert_eq!(plain("@look=L({*-});[aa", &[2, 0, 0, 128, 5, 0, 0, 0, 7, 8, 9]), "<L(7-8-…(+5))9>");
    }

    #[test]
    fn values_without_parts_are_shown_by_their_look() {
        let text = [3, 0, 0, 0, b'a', b'"', b'b'];
        assert_eq!(plain("@look={};s", &text), "<a\"b>");
        assert_eq!(plain("@look=U({?})!;s", &text), "<U(\"a\\\"b\")!>");
        assert_eq!(plain("@look=fixed;s", &text), "<fixed>");
        assert_eq!(plain("[@look={};s", &[1, 0, 0, 0, 1, 0, 0, 0, b'x']), "<[x]>");
        assert_eq!(plain("@look=({});i", &[5, 0, 0, 0]), "<(5)>");
        assert_eq!(plain("@look={};y", &text), "<a\"b>");
        assert_eq!(shown("@look={};c", b"x", Dialect::QDebug), "<x>");
        assert_eq!(plain("@look={};@unit=m;a", &[1]), "<1 m>");
    }

    #[test]
    fn a_notation_may_be_asked_for() {
        let number = 1_234_567f64.to_le_bytes();
        assert_eq!(plain("@notation=qdebug;d", &number), "<1.23457e+06>");
        assert_eq!(plain("d", &number), "<1234567>");
        assert_eq!(plain("@notation=other;d", &number), "<1234567>");
        assert_eq!(plain("@notation=qdebug;s", &[2, 0, 0, 0, b'\n', 7]), "<\"\\n\\u0007\">");
        assert_eq!(plain("@notation=qdebug;w", &[0xE4, 0]), "<'\\u00e4'>");
        let lone = [3, 0, 0, 0, b'a', 0, 0x3D, 0xD8, b'b', 0];
        assert_eq!(plain("@notation=qdebug;S", &lone), "<\"a\\uD83Db\">");
    }
}

//! Templates (spec/templates.md): text with placeholders.

use std::fmt;

/// A piece of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text as it is; doubled braces are single here.
    Literal(String),
    /// A value.
    Placeholder {
        /// Which argument.
        argument: Argument,
        /// How it is rendered.
        spec: Spec,
    },
}

/// Which argument a placeholder shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// By number, from 0; automatic numbers are filled in.
    Index(usize),
    /// By name.
    Name(String),
}

/// Where a value stands in its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Align {
    Left,
    Right,
    Center,
}

/// What stands before a number that is not negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Sign {
    Plus,
    Minus,
    Space,
}

/// A format specification; all parts absent by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spec {
    /// Fills the width; a space when absent.
    pub fill: Option<char>,
    /// Alignment; by type when absent.
    pub align: Option<Align>,
    /// Sign of numbers.
    pub sign: Option<Sign>,
    /// `#`.
    pub alternate: bool,
    /// `0` before the width.
    pub zero: bool,
    /// Least width in characters.
    pub width: Option<u16>,
    /// Precision.
    pub precision: Option<u16>,
    /// Presentation, one of `bBcdoxXaAeEfFgGsp?`.
    pub ty: Option<char>,
}

/// Width and precision are at most this.
pub const NUMBER_MAX: u16 = 1000;

/// A mistake in a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TemplateError {
    /// Byte offset.
    pub at: usize,
    /// What is wrong.
    pub what: &'static str,
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "template, byte {}: {}", self.at, self.what)
    }
}

impl std::error::Error for TemplateError {}

/// Parses a template.
pub fn parse(template: &str) -> Result<Vec<Piece>, TemplateError> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut numbering = Numbering { next: 0, automatic: false, explicit: false };
    let mut rest = template;
    while let Some(brace) = rest.find(['{', '}']) {
        literal.push_str(&rest[..brace]);
        let at = template.len() - rest.len() + brace;
        let open = rest.as_bytes()[brace] == b'{';
        let after = &rest[brace + 1..];
        if after.starts_with(if open { '{' } else { '}' }) {
            literal.push(if open { '{' } else { '}' });
            rest = &after[1..];
            continue;
        }
        if !open {
            return Err(TemplateError { at, what: "'}' stands alone; write '}}' for the character" });
        }
        if !literal.is_empty() {
            pieces.push(Piece::Literal(std::mem::take(&mut literal)));
        }
        let end = placeholder_end(after)
            .ok_or(TemplateError { at, what: "'{' without '}'; write '{{' for the character" })?;
        pieces.push(placeholder(&after[..end], at + 1, &mut numbering)?);
        rest = &after[end + 1..];
    }
    literal.push_str(rest);
    if !literal.is_empty() {
        pieces.push(Piece::Literal(literal));
    }
    Ok(pieces)
}

/// The offset of the closing brace; a fill character may be a brace itself (`{:}<5}`).
fn placeholder_end(text: &str) -> Option<usize> {
    let colon = text.find([':', '}'])?;
    if text.as_bytes()[colon] == b'}' {
        return Some(colon);
    }
    let spec = &text[colon + 1..];
    let mut chars = spec.char_indices();
    let skip = match (chars.next(), chars.next()) {
        (Some((_, '}')), Some((at, '<' | '>' | '^'))) => at,
        _ => 0,
    };
    spec[skip..].find('}').map(|end| colon + 1 + skip + end)
}

struct Numbering {
    next: usize,
    automatic: bool,
    explicit: bool,
}

fn placeholder(text: &str, at: usize, numbering: &mut Numbering) -> Result<Piece, TemplateError> {
    let (argument, spec) = text.split_once(':').unwrap_or((text, ""));
    let error = |what| TemplateError { at, what };
    let argument = if argument.is_empty() {
        numbering.automatic = true;
        numbering.next += 1;
        Argument::Index(numbering.next - 1)
    } else if argument.bytes().all(|byte| byte.is_ascii_digit()) {
        numbering.explicit = true;
        let index = argument.parse().ok().filter(|index| *index < crate::layout::signature::ARGS_MAX);
        Argument::Index(index.ok_or(error("an argument's number is at most 254"))?)
    } else {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        if !argument.chars().all(word) {
            return Err(error("an argument is a number or a name"));
        }
        Argument::Name(argument.to_owned())
    };
    if numbering.automatic && numbering.explicit {
        return Err(error("automatic and explicit numbers do not mix"));
    }
    let spec = parse_spec(spec)
        .map_err(|(offset, what)| TemplateError { at: at + text.len() - spec.len() + offset, what })?;
    Ok(Piece::Placeholder { argument, spec })
}

/// Parses what follows the colon; an error is an offset and its reason.
pub fn parse_spec(text: &str) -> Result<Spec, (usize, &'static str)> {
    let mut spec = Spec::default();
    let align = |c| match c {
        '<' => Some(Align::Left),
        '>' => Some(Align::Right),
        '^' => Some(Align::Center),
        _ => None,
    };
    let mut rest = text;
    let mut chars = text.chars();
    let (first, second) = (chars.next(), chars.next());
    if let (Some(fill), Some(known)) = (first, second.and_then(align)) {
        spec.fill = Some(fill);
        spec.align = Some(known);
        rest = &text[fill.len_utf8() + 1..];
    } else if let Some(known) = first.and_then(align) {
        spec.align = Some(known);
        rest = &text[1..];
    }
    let sign = |c| match c {
        '+' => Some(Sign::Plus),
        '-' => Some(Sign::Minus),
        ' ' => Some(Sign::Space),
        _ => None,
    };
    if let Some(known) = rest.chars().next().and_then(sign) {
        spec.sign = Some(known);
        rest = &rest[1..];
    }
    if let Some(after) = rest.strip_prefix('#') {
        spec.alternate = true;
        rest = after;
    }
    if let Some(after) = rest.strip_prefix('0') {
        spec.zero = true;
        rest = after;
    }
    (spec.width, rest) = number(text, rest)?;
    if let Some(after) = rest.strip_prefix('.') {
        (spec.precision, rest) = number(text, after)?;
        if spec.precision.is_none() {
            return Err((text.len() - rest.len(), "a precision follows the point"));
        }
    }
    let mut chars = rest.chars();
    if let Some(ty) = chars.next() {
        if !"bBcdoxXaAeEfFgGsp?".contains(ty) {
            return Err((text.len() - rest.len(), "no presentation has this character"));
        }
        spec.ty = Some(ty);
        rest = chars.as_str();
    }
    if rest.is_empty() {
        Ok(spec)
    } else {
        Err((text.len() - rest.len(), "nothing may follow the presentation"))
    }
}

type Number<'a> = Result<(Option<u16>, &'a str), (usize, &'static str)>;

fn number<'a>(text: &str, rest: &'a str) -> Number<'a> {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        return Ok((None, rest));
    }
    let value = rest[..digits].parse().ok().filter(|number| *number <= NUMBER_MAX);
    let value = value.ok_or((text.len() - rest.len(), "width and precision are at most 1000"))?;
    Ok((Some(value), &rest[digits..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn well_formed_templates() {
        let pieces = parse("order {} at {:>+8.2f}{{}}").unwrap();
        assert_eq!(pieces.len(), 5);
        let Piece::Placeholder { argument, spec } = &pieces[3] else { panic!("{pieces:?}") };
        assert_eq!(*argument, Argument::Index(1));
        let expected = Spec {
            align: Some(Align::Right),
            sign: Some(Sign::Plus),
            width: Some(8),
            precision: Some(2),
            ty: Some('f'),
            ..Spec::default()
        };
        assert_eq!(*spec, expected);
        assert_eq!(pieces[4], Piece::Literal("{}".into()));
        let named = parse("{name:}<5}").unwrap();
        let Piece::Placeholder { argument, spec } = &named[0] else { panic!("{named:?}") };
        assert_eq!((argument, spec.fill), (&Argument::Name("name".into()), Some('}')));
    }

    #[test]
    fn mistakes_tell_where() {
        for (template, at) in [
            ("a }", 2),
            ("a {", 2),
            ("{} {0}", 4),
            ("{:q}", 2),
            ("{:1001}", 2),
            ("{:.f}", 3),
            ("{a b}", 1),
            ("{:dd}", 3),
            ("{ }", 1),
        ] {
            assert_eq!(parse(template).unwrap_err().at, at, "{template}");
        }
    }
}

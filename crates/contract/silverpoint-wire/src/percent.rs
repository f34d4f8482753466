//! Templates with `%` conversions, as of printf (spec/templates.md).

use crate::template::TemplateError;

/// A piece of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text as it is; `%%` is a single sign here.
    Literal(String),
    /// One argument, after those of `*`.
    Conversion(Conversion),
}

/// Width or precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// Written in the template; at most 65,535.
    Fixed(u16),
    /// `*`: the next argument.
    Argument,
}

/// One conversion: `%[flags][width][.precision][length]type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conversion {
    /// `-`
    pub left: bool,
    /// `+`
    pub plus: bool,
    /// A space.
    pub space: bool,
    /// `#`
    pub alternate: bool,
    /// `0`
    pub zero: bool,
    /// Least bytes.
    pub width: Option<Amount>,
    /// Digits, or most bytes of a text.
    pub precision: Option<Amount>,
    /// Bits of an integer by the length modifier: 8 `hh`, 16 `h`, 32 none, 64 `l` `ll` `j` `z` `t`.
    pub bits: u8,
    /// One of `diouxXcspaAeEfFgG`.
    pub ty: u8,
}

/// Parses a template.
///
/// # Errors
/// Where a `%` begins no conversion of the grammar.
pub fn parse(template: &str) -> Result<Vec<Piece>, TemplateError> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut rest = template;
    while let Some(sign) = rest.find('%') {
        literal.push_str(&rest[..sign]);
        let at = template.len() - rest.len() + sign;
        rest = &rest[sign + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            literal.push('%');
            rest = after;
            continue;
        }
        if !literal.is_empty() {
            pieces.push(Piece::Literal(std::mem::take(&mut literal)));
        }
        let (conversion, len) = conversion(rest.as_bytes()).map_err(|what| TemplateError { at, what })?;
        pieces.push(Piece::Conversion(conversion));
        // Everything of a conversion is ASCII.
        rest = &rest[len..];
    }
    literal.push_str(rest);
    if !literal.is_empty() {
        pieces.push(Piece::Literal(literal));
    }
    Ok(pieces)
}

/// What stands behind the `%`, and its length.
fn conversion(text: &[u8]) -> Result<(Conversion, usize), &'static str> {
    let mut c = Conversion {
        left: false,
        plus: false,
        space: false,
        alternate: false,
        zero: false,
        width: None,
        precision: None,
        bits: 32,
        ty: 0,
    };
    let mut at = 0;
    loop {
        match text.get(at) {
            Some(b'-') => c.left = true,
            Some(b'+') => c.plus = true,
            Some(b' ') => c.space = true,
            Some(b'#') => c.alternate = true,
            Some(b'0') => c.zero = true,
            _ => break,
        }
        at += 1;
    }
    c.width = amount(text, &mut at);
    if text.get(at) == Some(&b'.') {
        at += 1;
        c.precision = Some(amount(text, &mut at).unwrap_or(Amount::Fixed(0)));
    }
    let modifier = at;
    while matches!(text.get(at), Some(b'h' | b'l' | b'j' | b'z' | b't' | b'L')) {
        at += 1;
    }
    c.bits = match &text[modifier..at] {
        b"hh" => 8,
        b"h" => 16,
        b"" => 32,
        b"l" | b"ll" | b"j" | b"z" | b"t" | b"L" => 64,
        _ => return Err("an unknown length modifier"),
    };
    match text.get(at) {
        Some(
            ty @ (b'd' | b'i' | b'o' | b'u' | b'x' | b'X' | b'c' | b's' | b'p' | b'a' | b'A' | b'e' | b'E'
            | b'f' | b'F' | b'g' | b'G'),
        ) => c.ty = *ty,
        Some(_) => return Err("an unknown conversion"),
        None => return Err("'%' ends the text; write '%%' for the character"),
    }
    Ok((c, at + 1))
}

fn amount(text: &[u8], at: &mut usize) -> Option<Amount> {
    if text.get(*at) == Some(&b'*') {
        *at += 1;
        return Some(Amount::Argument);
    }
    let mut value = None;
    while let Some(digit) = text.get(*at).filter(|byte| byte.is_ascii_digit()) {
        value = Some(value.unwrap_or(0u16).saturating_mul(10).saturating_add(u16::from(digit - b'0')));
        *at += 1;
    }
    value.map(Amount::Fixed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_grammar() {
        let pieces = parse("a%% %-+ #012.34lldb%*.*f%.s").unwrap();
        let [
            Piece::Literal(text),
            Piece::Conversion(d),
            Piece::Literal(b),
            Piece::Conversion(f),
            Piece::Conversion(s),
        ] = &pieces[..]
        else {
            panic!("{pieces:?}")
        };
        assert_eq!((text.as_str(), b.as_str()), ("a% ", "b"));
        assert!(d.left && d.plus && d.space && d.alternate && d.zero);
        assert_eq!((d.width, d.precision), (Some(Amount::Fixed(12)), Some(Amount::Fixed(34))));
        assert_eq!((d.bits, d.ty), (64, b'd'));
        assert_eq!((f.width, f.precision), (Some(Amount::Argument), Some(Amount::Argument)));
        assert_eq!(s.precision, Some(Amount::Fixed(0)));
    }

    #[test]
    fn what_is_refused() {
        for wrong in ["%", "%5", "%q", "%n", "%m", "%hhhd", "%1$d", "%lld%\u{e9}", "%l"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse("ab%q").unwrap_err().at, 2);
        assert!(parse("%99999999999999999999d").is_ok());
    }
}

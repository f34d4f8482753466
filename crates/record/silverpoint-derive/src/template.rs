//! Placeholders in a log site's text, read when the program is compiled (spec/templates.md).
//!
//! `silverpoint-wire` has the parser of readers. This one reads more: a text as a program says it, whose widths and precisions may be
//! arguments. It gives less: a specification stays as it is written. Sharing one would make every user's build compile `silverpoint-wire`
//! once more, for the compiler. The same vectors judge both.

/// A placeholder and the literal before it.
#[derive(Debug, PartialEq, Eq)]
pub struct Placeholder {
    /// Literal text, braces doubled as they are stored.
    pub before: String,
    pub argument: Argument,
    /// What stands after `:`, as written.
    pub spec: String,
    pub parts: Parts,
    /// Of a width or precision that is an argument: the value is formatted at the call, and its text recorded.
    pub formatted: Option<Formatted>,
}

/// A format as of the standard library, for one value and the arguments behind it.
#[derive(Debug, PartialEq, Eq)]
pub struct Formatted {
    /// `{0:>1$}`
    pub format: String,
    /// Of width and precision; `*` is the next argument, and comes before the value.
    pub arguments: Vec<Argument>,
    pub is_star: bool,
}

/// Which argument a placeholder means.
#[derive(Debug, PartialEq, Eq)]
pub enum Argument {
    /// `{}`
    Next,
    /// `{2}`
    Index(usize),
    /// `{name}`
    Name(String),
}

/// What a specification asks for, as far as it depends on the argument's type.
#[derive(Debug, Default, PartialEq, Eq, Clone, Copy)]
pub struct Parts {
    pub sign: bool,
    pub alternate: bool,
    pub zero: bool,
    pub precision: bool,
    /// The type's letter.
    pub kind: Option<char>,
}

/// The placeholders, and the literal after the last one, of a text as it is stored.
#[cfg(test)]
pub fn parse(text: &str) -> Result<(Vec<Placeholder>, String), String> {
    parse_with(text, &|spec| Ok((parts_of(spec)?, None)))
}

/// The same of a text as a program says it: there widths and precisions may be arguments.
pub fn parse_source(text: &str) -> Result<(Vec<Placeholder>, String), String> {
    parse_with(text, &|spec| match formatted(spec)? {
        Some(formatted) => Ok((Parts::default(), Some(formatted))),
        None => Ok((parts_of(spec)?, None)),
    })
}

type Specified = Result<(Parts, Option<Formatted>), String>;

fn parse_with(
    text: &str,
    specified: &dyn Fn(&str) -> Specified,
) -> Result<(Vec<Placeholder>, String), String> {
    let mut placeholders = Vec::new();
    let mut literal = String::new();
    let chars: Vec<char> = text.chars().collect();
    let mut at = 0;
    while let Some(c) = chars.get(at).copied() {
        at += 1;
        match c {
            '{' | '}' if chars.get(at) == Some(&c) => {
                at += 1;
                literal.extend([c, c]);
            }
            '{' => {
                let inside = inside(&chars[at..])?;
                at += inside.chars().count() + 1;
                let (argument, spec) = inside.split_once(':').unwrap_or((&inside, ""));
                let (parts, formatted) = specified(spec)?;
                // The text is recorded as it is to be shown.
                let spec = if formatted.is_some() { "" } else { spec };
                placeholders.push(Placeholder {
                    before: std::mem::take(&mut literal),
                    argument: argument_of(argument)?,
                    spec: spec.to_owned(),
                    parts,
                    formatted,
                });
            }
            '}' => {
                return Err("a closing brace without an opening one; as text it is written `}}`".to_owned());
            }
            c => literal.push(c),
        }
    }
    let automatic = placeholders.iter().any(|p| p.argument == Argument::Next);
    let numbered = placeholders.iter().any(|p| matches!(p.argument, Argument::Index(_)));
    if automatic && numbered {
        return Err("`{}` and `{0}` cannot be mixed".to_owned());
    }
    Ok((placeholders, literal))
}

/// What stands before the placeholder's closing brace. A brace may be a fill character.
fn inside(chars: &[char]) -> Result<String, String> {
    let colon = chars.iter().position(|c| matches!(c, ':' | '{' | '}')).filter(|at| chars[*at] == ':');
    let filled = colon.is_some_and(|at| matches!(chars.get(at + 2), Some('<' | '>' | '^')));
    let from = colon.map_or(0, |at| if filled { at + 3 } else { at + 1 });
    match chars[from..].iter().position(|c| matches!(c, '{' | '}')) {
        Some(end) if chars[from + end] == '}' => Ok(chars[..from + end].iter().collect()),
        end => {
            let text: String = chars[..end.map_or(chars.len(), |end| from + end)].iter().collect();
            Err(format!("the placeholder `{{{text}` has no closing brace; a brace as text is written `{{{{`"))
        }
    }
}

fn argument_of(text: &str) -> Result<Argument, String> {
    if text.is_empty() {
        return Ok(Argument::Next);
    }
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        // A tracepoint has at most 255 arguments.
        let index = text.parse().ok().filter(|index| *index < 255);
        return index.map(Argument::Index).ok_or_else(|| format!("argument {text} is out of range"));
    }
    let is_name = text
        .chars()
        .enumerate()
        .all(|(i, c)| c == '_' || c.is_alphabetic() || (i > 0 && c.is_alphanumeric()));
    if is_name && text != "_" {
        return Ok(Argument::Name(text.to_owned()));
    }
    Err(format!("`{text}` is neither a number nor a name; give an expression as an argument after the text"))
}

/// `[[fill]align][sign]["#"]["0"][width]["." precision][type] | "?"`
fn parts_of(spec: &str) -> Result<Parts, String> {
    let mut parts = Parts::default();
    let chars: Vec<char> = spec.chars().collect();
    let is_align = |c: Option<&char>| matches!(c, Some('<' | '>' | '^'));
    let mut at = 0;
    if is_align(chars.get(1)) {
        at = 2;
    } else if is_align(chars.first()) {
        at = 1;
    }
    let mut eat = |wanted: &[char]| {
        let found = chars.get(at).copied().filter(|c| wanted.contains(c));
        at += usize::from(found.is_some());
        found
    };
    parts.sign = eat(&['+', '-', ' ']).is_some();
    parts.alternate = eat(&['#']).is_some();
    parts.zero = eat(&['0']).is_some();
    number(&chars, &mut at, "width")?;
    if chars.get(at) == Some(&'.') {
        at += 1;
        if !number(&chars, &mut at, "precision")? {
            return Err(format!(
                "`{spec}`: a number must follow the point (as an argument it is written `.name$`, `.0$` or `.*`)"
            ));
        }
        parts.precision = true;
    }
    if let Some(c) = chars.get(at).copied() {
        if !"bBcdoxXaAeEfFgGsp?".contains(c) {
            return Err(format!(
                "`{spec}`: unexpected `{c}`; a type is one of b B c d o x X a A e E f F g G s p ?"
            ));
        }
        parts.kind = Some(c);
        at += 1;
    }
    if at < chars.len() {
        let rest: String = chars[at..].iter().collect();
        return Err(format!("`{spec}`: unexpected `{rest}` after the type"));
    }
    Ok(parts)
}

/// A specification whose width or precision is an argument (`>w$`, `.1$`, `.*`); `None`: none is.
fn formatted(spec: &str) -> Result<Option<Formatted>, String> {
    let chars: Vec<char> = spec.chars().collect();
    let is_align = |at: usize| matches!(chars.get(at), Some('<' | '>' | '^'));
    // A fill character may be any.
    let mut at = if is_align(1) { 2 } else { usize::from(is_align(0)) };
    if !chars[at.min(chars.len())..].iter().any(|c| matches!(c, '$' | '*')) {
        return Ok(None);
    }
    while matches!(chars.get(at), Some('+' | '-' | ' ' | '#')) {
        at += 1;
    }
    if chars.get(at) == Some(&'0') && chars.get(at + 1) != Some(&'$') {
        at += 1;
    }
    let mut format = format!("{{0:{}", chars[..at].iter().collect::<String>());
    let (mut arguments, mut is_star) = (Vec::new(), false);
    let mut count = |format: &mut String, at: &mut usize| -> Result<(), String> {
        let word: String = chars[*at..].iter().take_while(|c| **c == '_' || c.is_alphanumeric()).collect();
        let end = *at + word.chars().count();
        if chars.get(end) == Some(&'$') && !word.is_empty() {
            arguments.push(argument_of(&word)?);
            format.push_str(&format!("{}$", arguments.len()));
            *at = end + 1;
        } else {
            let digits = word.chars().take_while(char::is_ascii_digit).count();
            format.extend(&chars[*at..*at + digits]);
            *at += digits;
        }
        Ok(())
    };
    count(&mut format, &mut at)?;
    if chars.get(at) == Some(&'.') {
        at += 1;
        format.push('.');
        if chars.get(at) == Some(&'*') {
            at += 1;
            is_star = true;
        } else {
            count(&mut format, &mut at)?;
        }
    }
    if is_star {
        arguments.push(Argument::Next);
        format.push_str(&format!("{}$", arguments.len()));
    }
    let kind: String = chars[at..].iter().collect();
    if !["", "?", "x", "X", "o", "b", "e", "E", "p", "x?", "X?"].contains(&kind.as_str()) {
        return Err(format!(
            "`{spec}`: unexpected `{kind}`; behind a width or a precision that is an argument stands a type of `format!`"
        ));
    }
    format.push_str(&kind);
    format.push('}');
    Ok(Some(Formatted { format, arguments, is_star }))
}

/// Passes over a decimal number of at most 1000; false when there is none.
fn number(chars: &[char], at: &mut usize, what: &str) -> Result<bool, String> {
    let digits: String = chars[*at..].iter().take_while(|c| c.is_ascii_digit()).collect();
    *at += digits.len();
    match digits.parse::<u32>() {
        _ if digits.is_empty() => Ok(false),
        Ok(n) if n <= 1000 => Ok(true),
        _ => Err(format!("the {what} {digits} is more than 1000")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(text: &str) -> Result<Parts, String> {
        parts_of(text)
    }

    #[test]
    fn literals_and_placeholders() {
        let (found, tail) = parse("a {{b}} {} c {:>8.2f}, {name:?}!").unwrap();
        assert_eq!(tail, "!");
        assert_eq!(found.len(), 3);
        assert_eq!((found[0].before.as_str(), &found[0].argument), ("a {{b}} ", &Argument::Next));
        assert_eq!((found[1].before.as_str(), found[1].spec.as_str()), (" c ", ">8.2f"));
        assert_eq!(found[2].argument, Argument::Name("name".to_owned()));
        assert_eq!(found[2].parts.kind, Some('?'));
    }

    #[test]
    fn specifications() {
        let all = spec("*^+#012.3f").unwrap();
        assert_eq!(all, Parts { sign: true, alternate: true, zero: true, precision: true, kind: Some('f') });
        assert_eq!(spec("").unwrap(), Parts::default());
        assert_eq!(spec("<").unwrap(), Parts::default());
        assert_eq!(spec("ä>5").unwrap(), Parts::default());
        for bad in ["x?", "5$", "width$", ".*", ".", "1001", ".1001", "z", "dd", "99999999999"] {
            assert!(spec(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn widths_and_precisions_may_be_arguments() {
        let named = |name: &str| Argument::Name(name.to_owned());
        let all: [(&str, &str, Vec<Argument>, bool); 7] = [
            (">w$", "{0:>1$}", vec![named("w")], false),
            ("1$", "{0:1$}", vec![Argument::Index(1)], false),
            ("*^+#0w$.p$", "{0:*^+#01$.2$}", vec![named("w"), named("p")], false),
            (".*", "{0:.1$}", vec![Argument::Next], true),
            ("8.p$e", "{0:8.1$e}", vec![named("p")], false),
            ("w$?", "{0:1$?}", vec![named("w")], false),
            ("0$", "{0:1$}", vec![Argument::Index(0)], false),
        ];
        for (spec, format, arguments, is_star) in all {
            let found = formatted(spec).unwrap().unwrap();
            assert_eq!(found, Formatted { format: format.to_owned(), arguments, is_star }, "{spec}");
        }
        // A fill is no argument.
        for plain in ["", ">8", "$>8", "*^8", ".3f"] {
            assert_eq!(formatted(plain), Ok(None), "{plain}");
        }
        assert!(formatted("w$f").is_err() && formatted("9w$").is_err() && formatted("$").is_err());
    }

    #[test]
    fn mistakes_are_told() {
        for (text, part) in [
            ("{", "closing brace"),
            ("a } b", "written `}}`"),
            ("{} {0}", "cannot be mixed"),
            ("{a.b}", "neither a number nor a name"),
            ("{a+1}", "neither"),
            ("{99999999999999999999999}", "out of range"),
            ("{{}", "written `}}`"),
            ("{ {}", "closing brace"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    /// The vectors of templates (`spec/vectors/templates.json`): the same texts are well-formed here and for readers.
    #[test]
    fn vectors_are_judged_alike() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../spec/vectors/templates.json");
        let all: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        for vector in all.as_array().unwrap() {
            let text = vector["text"].as_str().unwrap();
            let outcome = parse(text);
            assert_eq!(outcome.is_ok(), vector["verdict"] == "ok", "{text}: {outcome:?}");
            if let Ok((found, tail)) = outcome {
                let placeholders = vector["placeholders"].as_array().unwrap();
                assert_eq!(found.len(), placeholders.len(), "{text}");
                let literal: String =
                    found.iter().map(|p| p.before.as_str()).chain([tail.as_str()]).collect();
                let literal = literal.replace("{{", "{").replace("}}", "}");
                assert_eq!(literal, vector["literal"].as_str().unwrap(), "{text}");
            }
        }
    }
}

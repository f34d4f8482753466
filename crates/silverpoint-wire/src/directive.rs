//! Directives (spec/directives.md): which sites are on.
//!
//! [`decide`] works on the text itself and allocates nothing, for frontends; [`check`] finds the first mistake, for whoever writes a text.

use std::fmt;

use crate::function::function_name;
use crate::level::Level;

/// What directives look at.
#[derive(Clone, Copy, Debug)]
pub struct SiteFacts<'a> {
    /// The site's level.
    pub level: Level,
    /// Its category, may be empty.
    pub category: &'a str,
    /// Its file, as the compiler had it.
    pub file: &'a str,
    /// Its line.
    pub line: u32,
    /// Its function, as the language gives it.
    pub function: &'a str,
}

/// A mistake in a text of directives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectiveError {
    /// Column of the mistake, in characters from 1.
    pub column: usize,
    /// What stands there.
    pub found: String,
    /// What was expected.
    pub expected: &'static str,
}

impl fmt::Display for DirectiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: found '{}', expected {}", self.column, self.found.escape_debug(), self.expected)
    }
}

impl std::error::Error for DirectiveError {}

const A_LEVEL: &str = "a level: trace, debug, info, warn, error, fatal, on or off";

/// Whether the site is on. Malformed directives are passed over. Allocates nothing; time is linear in the text for each site.
pub fn decide(text: &str, site: &SiteFacts<'_>) -> bool {
    let mut best: Option<((u8, usize), Threshold)> = None;
    for piece in text.split(',') {
        let Ok(Some((target, threshold))) = parse_piece(piece) else { continue };
        if target.matches(site) {
            let rank = target.rank();
            // Among equals the last decides.
            if best.as_ref().is_none_or(|(known, _)| rank >= *known) {
                best = Some((rank, threshold));
            }
        }
    }
    best.is_some_and(|(_, threshold)| threshold.admits(site.level))
}

/// The first mistake of a text, if any.
pub fn check(text: &str) -> Result<(), DirectiveError> {
    let mut offset = 0;
    for piece in text.split(',') {
        if let Err((at, expected)) = parse_piece(piece) {
            let found = piece.get(at..).unwrap_or("").trim();
            let column =
                text[..offset].chars().count() + piece.get(..at).unwrap_or(piece).chars().count() + 1;
            return Err(DirectiveError { column, found: found.to_owned(), expected });
        }
        offset += piece.len() + 1;
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Threshold {
    Off,
    From(Level),
}

impl Threshold {
    fn parse(text: &str) -> Option<Threshold> {
        if text.eq_ignore_ascii_case("off") {
            Some(Threshold::Off)
        } else if text.eq_ignore_ascii_case("on") {
            Some(Threshold::From(Level::Trace))
        } else {
            text.parse().ok().map(Threshold::From)
        }
    }

    fn admits(self, level: Level) -> bool {
        matches!(self, Threshold::From(least) if level >= least)
    }
}

#[derive(Clone, Copy)]
enum Target<'a> {
    Everything,
    Category(&'a str),
    File(&'a str),
    Function(&'a str),
    Line(&'a str, u32),
}

type Parsed<'a> = Result<Option<(Target<'a>, Threshold)>, (usize, &'static str)>;

/// One directive; `None` for an empty one. An error is a byte offset in the piece and what was expected.
fn parse_piece(piece: &str) -> Parsed<'_> {
    let start = piece.len() - piece.trim_start().len();
    let text = piece.trim();
    if text.is_empty() {
        return Ok(None);
    }
    if let Some(threshold) = Threshold::parse(text) {
        return Ok(Some((Target::Everything, threshold)));
    }
    let (target, level) = text.split_once('=').map_or((text, None), |(target, level)| (target, Some(level)));
    let after_target = start + target.len() + 1;
    let target = target.trim_end();
    // From left to right: the first mistake is the one that is told.
    if target.is_empty() {
        return Err((start, "a target: category, file, file:line or function()"));
    }
    if let Some(bad) = target.find(|c: char| c.is_whitespace() || c.is_control()) {
        return Err((start + bad, "no space within a target"));
    }
    let threshold = match level {
        None => Threshold::From(Level::Trace),
        Some(level) => Threshold::parse(level.trim()).ok_or((after_target, A_LEVEL))?,
    };
    if let Some(function) = target.strip_suffix("()") {
        if function.is_empty() {
            return Err((start, "a function's name before ()"));
        }
        return Ok(Some((Target::Function(function), threshold)));
    }
    if let Some((file, line)) = target.rsplit_once(':').filter(|(file, _)| is_file(file)) {
        let at = start + file.len() + 1;
        let line = line
            .parse()
            .ok()
            .filter(|_| !line.starts_with('+'))
            .ok_or((at, "a line number after the file"))?;
        return Ok(Some((Target::Line(file, line), threshold)));
    }
    let target = if is_file(target) { Target::File(target) } else { Target::Category(target) };
    Ok(Some((target, threshold)))
}

/// Endings that make a target a file.
const ENDINGS: [&str; 16] =
    ["c", "cc", "cpp", "cxx", "c++", "h", "hh", "hpp", "hxx", "ipp", "inl", "rs", "cs", "m", "mm", "qml"];

fn is_file(target: &str) -> bool {
    let name = target.rsplit('/').next().unwrap_or(target);
    name.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending))
}

impl Target<'_> {
    /// Kind before number of literal characters.
    fn rank(&self) -> (u8, usize) {
        let literal = |pattern: &str| pattern.bytes().filter(|byte| !matches!(byte, b'*' | b'?')).count();
        match self {
            Target::Everything => (0, 0),
            Target::Category(pattern) => (1, literal(pattern)),
            Target::File(pattern) => (2, literal(pattern)),
            Target::Function(pattern) => (3, literal(pattern)),
            Target::Line(pattern, _) => (4, literal(pattern)),
        }
    }

    fn matches(&self, site: &SiteFacts<'_>) -> bool {
        match self {
            Target::Everything => true,
            Target::Category(pattern) => matches_category(pattern, site.category),
            Target::File(pattern) => matches_file(pattern, site.file),
            Target::Line(pattern, line) => *line == site.line && matches_file(pattern, site.file),
            Target::Function(pattern) => {
                let name = function_name(site.function);
                glob(pattern.as_bytes(), name.as_bytes())
                    || name
                        .match_indices("::")
                        .any(|(at, _)| glob(pattern.as_bytes(), &name.as_bytes()[at + 2..]))
            }
        }
    }
}

/// The category itself, or one below it.
pub fn matches_category(pattern: &str, category: &str) -> bool {
    let pattern = pattern.as_bytes();
    let name = category.as_bytes();
    glob(pattern, name)
        || (0..name.len()).any(|at| {
            (matches!(name[at], b'.' | b'/') || name[at..].starts_with(b"::")) && glob(pattern, &name[..at])
        })
}

/// The end of the path at a `/`.
pub fn matches_file(pattern: &str, file: &str) -> bool {
    let file = file.as_bytes();
    glob(pattern.as_bytes(), file)
        || (0..file.len()).any(|at| file[at] == b'/' && glob(pattern.as_bytes(), &file[at + 1..]))
}

/// Whether the pattern (`*` any bytes, `?` one) matches the whole name. Time at most |pattern| × |name|.
pub fn glob(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    // Where to go on when what follows the last star does not match.
    let mut retry: Option<(usize, usize)> = None;
    while n < name.len() {
        if pattern.get(p) == Some(&b'*') {
            retry = Some((p + 1, n));
            p += 1;
        } else if pattern.get(p).is_some_and(|byte| *byte == b'?' || *byte == name[n]) {
            p += 1;
            n += 1;
        } else if let Some((after_star, from)) = retry {
            retry = Some((after_star, from + 1));
            p = after_star;
            n = from + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(level: Level) -> SiteFacts<'static> {
        let function = "void net::Pump::start(int)";
        SiteFacts { level, category: "net::tcp", file: "/src/io/pump.cpp", line: 88, function }
    }

    #[test]
    fn the_most_specific_decides() {
        for (text, debug, error) in [
            ("", false, false),
            ("info", false, true),
            ("trace", true, true),
            ("info,net=debug", true, true),
            ("net=debug,info", true, true),
            ("net=off,trace", false, false),
            ("network=off,debug", true, true),
            ("net::tcp=off,net=trace", false, false),
            ("net::*=error", false, true),
            ("off,pump.cpp:88=on", true, true),
            ("off,pump.cpp:89=on", false, false),
            ("off,io/pump.cpp", true, true),
            ("off,o/pump.cpp", false, false),
            ("off,Pump::start()", true, true),
            ("off,*::start()=error", false, true),
            ("pump.cpp=off,Pump::start()=on", true, true),
            ("net=debug,net=error", false, true),
            ("bad level=,error", false, true),
            ("*=debug", true, true),
        ] {
            assert_eq!(decide(text, &site(Level::Debug)), debug, "{text} at debug");
            assert_eq!(decide(text, &site(Level::Error)), error, "{text} at error");
        }
    }

    #[test]
    fn mistakes_have_a_column() {
        for (text, column) in [
            ("net=loud", 5),
            ("info, net=", 11),
            ("=debug", 1),
            ("a b", 2),
            ("x,()", 3),
            ("x.cpp:zwei=on", 7),
        ] {
            assert_eq!(check(text).unwrap_err().column, column, "{text}");
        }
        for text in ["", "info", "net=debug,io::*=off,pump.cpp:88=on", " a = warn , b"] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }
}

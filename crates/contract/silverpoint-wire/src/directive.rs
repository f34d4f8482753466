//! Directives (spec/directives.md): which sites are on.
//!
//! [`decide`] works on the text itself, allocates nothing and ignores malformed parts, for frontends.
//! [`Directives::parse`] refuses the whole text with the place of its first mistake, for programs that write
//! one. On a text without mistakes both give the same result.

use std::fmt;

use crate::function::function_name;
use crate::glob;
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
const A_LEVEL_OR_TARGET: &str = "a level: trace, debug, info, warn, error, fatal, on or off (a category needs one behind it, as in net=debug)";
const NO_BRACKETS: &str = "no bracket in a category: directives select categories, files and functions, not spans or fields (`?` matches a bracket)";

/// Directives, parsed once for many sites.
#[derive(Clone, Debug)]
pub struct Directives<'a> {
    /// The most specific first, among equals the last: the first that matches decides.
    ranked: Vec<(Target<'a>, Threshold)>,
}

impl<'a> Directives<'a> {
    /// Parses a text; the first mistake refuses it.
    pub fn parse(text: &'a str) -> Result<Directives<'a>, DirectiveError> {
        let mut ranked = Vec::new();
        let mut offset = 0;
        for piece in text.split(',') {
            match parse_piece(piece) {
                Ok(directive) => ranked.extend(directive),
                Err((at, expected)) => {
                    let found = trim(piece.get(at..).unwrap_or("")).to_owned();
                    let before = text.get(..offset + at).unwrap_or(text);
                    return Err(DirectiveError { column: before.chars().count() + 1, found, expected });
                }
            }
            offset += piece.len() + 1;
        }
        ranked.reverse();
        ranked.sort_by_key(|(target, _)| std::cmp::Reverse(target.rank()));
        Ok(Directives { ranked })
    }

    /// Whether the site is on.
    pub fn matches(&self, site: &SiteFacts<'_>) -> bool {
        let deciding = self.ranked.iter().find(|(target, _)| target.matches(site));
        deciding.is_some_and(|(_, threshold)| threshold.admits(site.level))
    }
}

/// Whether the site is on. Malformed directives are passed over. Allocates nothing; time is at most |text| × |names of the site|.
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

/// The most verbose level that any site may be on at; `None`: none is. Malformed directives are passed over. Allocates nothing.
pub fn most_verbose(text: &str) -> Option<Level> {
    let levels = text.split(',').filter_map(|piece| match parse_piece(piece) {
        Ok(Some((_, Threshold::From(level)))) => Some(level),
        _ => None,
    });
    levels.min()
}

/// Each malformed directive of a text, without the spaces around it. Allocates nothing.
pub fn malformed(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').filter(|piece| parse_piece(piece).is_err()).map(trim)
}

/// Adds directives to the present ones: they override earlier ones for the same target.
pub fn added(present: &str, more: &str) -> String {
    let key = |piece: &str| {
        let text = trim(piece);
        let is_bare = Threshold::parse(text).is_some();
        let target = text.split_once('=').map_or(text, |(target, _)| trim(target));
        if is_bare { String::new() } else { target.to_owned() }
    };
    let pieces = |text: &str| -> Vec<String> {
        text.split(',').map(trim).filter(|piece| !piece.is_empty()).map(str::to_owned).collect()
    };
    let new = pieces(more);
    let mut all = pieces(present);
    all.retain(|piece| new.iter().all(|new| key(new) != key(piece)));
    all.extend(new);
    all.join(",")
}

/// Directives that have a target, each with whether it matches one of these sites.
pub fn matched<'t>(text: &'t str, sites: &[SiteFacts<'_>]) -> Vec<(&'t str, bool)> {
    let targets = text.split(',').filter_map(|piece| match parse_piece(piece) {
        Ok(Some((target, _))) if !matches!(target, Target::Everything) => Some((trim(piece), target)),
        _ => None,
    });
    targets.map(|(piece, target)| (piece, sites.iter().any(|site| target.matches(site)))).collect()
}

/// The first mistake of a text, if any.
pub fn check(text: &str) -> Result<(), DirectiveError> {
    Directives::parse(text).map(drop)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

#[derive(Clone, Copy, Debug)]
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
    let start = piece.len() - piece.trim_start_matches(is_space).len();
    let text = trim(piece);
    if text.is_empty() {
        return Ok(None);
    }
    if let Some(threshold) = Threshold::parse(text) {
        return Ok(Some((Target::Everything, threshold)));
    }
    let (target, level) = text.split_once('=').map_or((text, None), |(target, level)| (target, Some(level)));
    let after_target = start + target.len() + 1;
    let target = target.trim_end_matches(is_space);
    // From left to right: the first mistake is the one that is reported.
    if target.is_empty() {
        return Err((start, "a target: category, file, file:line or function()"));
    }
    if let Some(bad) = target.find(|c: char| c == ' ' || c.is_ascii_control()) {
        return Err((start + bad, "no space within a target"));
    }
    let line = target.rsplit_once(':').filter(|(file, _)| is_file(file));
    let is_category = !target.ends_with("()") && line.is_none() && !is_file(target);
    if let Some(bad) = target.find(['[', ']', '{', '}']).filter(|_| is_category) {
        return Err((start + bad, NO_BRACKETS));
    }
    let threshold = match level {
        // A single word is as likely a mistyped level as a category.
        None if is_category && !has_structure(target) => return Err((start, A_LEVEL_OR_TARGET)),
        None => Threshold::From(Level::Trace),
        Some(level) => Threshold::parse(trim(level)).ok_or((after_target, A_LEVEL))?,
    };
    if let Some(function) = target.strip_suffix("()") {
        if function.is_empty() {
            return Err((start, "a function's name before ()"));
        }
        return Ok(Some((Target::Function(function), threshold)));
    }
    if let Some((file, line)) = line {
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

/// Whether a target is known for one without a level behind it: no level looks like it.
fn has_structure(target: &str) -> bool {
    target.contains(['.', '/', '*', '?']) || target.contains("::")
}

/// Space, tab, line feed, vertical tab, form feed, carriage return: the same in every language that reads directives.
fn is_space(c: char) -> bool {
    c == ' ' || ('\t'..='\r').contains(&c)
}

fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
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
            Target::Category(pattern) => glob::matches_category(pattern.as_bytes(), site.category.as_bytes()),
            Target::File(pattern) => is_file_of(pattern, site),
            Target::Line(pattern, line) => *line == site.line && is_file_of(pattern, site),
            Target::Function(pattern) => {
                glob::matches_end(pattern.as_bytes(), function_name(site.function).as_bytes(), "::")
            }
        }
    }
}

/// The end of the path at a `/`.
fn is_file_of(pattern: &str, site: &SiteFacts<'_>) -> bool {
    glob::matches_end(pattern.as_bytes(), site.file.as_bytes(), "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_verbose_level_of_a_text() {
        assert_eq!(most_verbose(""), None);
        assert_eq!(most_verbose("off,net=off"), None);
        assert_eq!(most_verbose("warn,net=debug,quiet=error"), Some(Level::Debug));
        assert_eq!(most_verbose("error, =x, pump.rs:88"), Some(Level::Trace));
    }

    #[test]
    fn what_is_added_replaces_the_same_target() {
        assert_eq!(added("info,net=debug", "pump.cpp:8=off"), "info,net=debug,pump.cpp:8=off");
        assert_eq!(added("info,net=debug", "net=off , warn"), "net=off,warn");
        assert_eq!(added("", "net=debug"), "net=debug");
        assert_eq!(added("net::*, a=on", "net::*=off"), "a=on,net::*=off");
    }

    #[test]
    fn targets_are_looked_for_among_sites() {
        let text = "info,net=debug,my-crate=info,pump.cpp:88=on,other.rs";
        let found = matched(text, &[site(Level::Debug)]);
        assert_eq!(
            found,
            [("net=debug", true), ("my-crate=info", false), ("pump.cpp:88=on", true), ("other.rs", false)]
        );
    }

    use proptest::prelude::*;

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
            ("net,error", false, true),
            ("net::*,error", true, true),
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
            ("x=on,()", 6),
            ("x.cpp:zwei=on", 7),
            ("inof", 1),
            ("info,warning", 6),
            ("debug, net", 8),
            ("c[span]=debug", 2),
            ("c{id=7}=debug", 2),
            ("a::b[c]", 5),
        ] {
            assert_eq!(check(text).unwrap_err().column, column, "{text}");
        }
        for text in ["", "info", "net=debug,io::*=off,pump.cpp:88=on", " a = warn , b=on"] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }

    /// Few letters, so that patterns and names meet.
    const NAME: &str = "[ab:./]{0,12}";
    const TEXT: &str = "(( ?[ab*?:./]{0,4}(\\.c|\\.c:1|\\(\\))?(=(debug|off|on|error|x))? ?|info|off|TRACE),){0,4}(ab|info|)";

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 256 }))]

        #[test]
        fn both_ways_to_decide_agree(
            text in TEXT, category in NAME, file in "[ab/]{0,4}\\.c", function in "[ab:]{0,5}", line in 0_u32..3,
        ) {
            for level in Level::ALL {
                let facts = SiteFacts { level, category: &category, file: &file, line, function: &function };
                if let Ok(directives) = Directives::parse(&text) {
                    prop_assert_eq!(directives.matches(&facts), decide(&text, &facts));
                }
                // What remains without the malformed ones decides the same.
                let kept: Vec<&str> = text.split(',').filter(|piece| check(piece).is_ok()).collect();
                let kept = kept.join(",");
                prop_assert_eq!(Directives::parse(&kept).unwrap().matches(&facts), decide(&text, &facts));
            }
        }

        #[test]
        fn any_text_is_judged(text in any::<String>(), name in any::<String>()) {
            let facts = SiteFacts { level: Level::Warn, category: &name, file: &name, line: 1, function: &name };
            decide(&text, &facts);
            if let Err(error) = check(&text) {
                prop_assert!(error.column <= text.chars().count() + 1);
            }
        }
    }
}

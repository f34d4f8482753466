//! Directives decided again, slowly, by the sentences of spec/directives.md.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use serde_json::Value;
use silverpoint_wire::directive::{SiteFacts, decide};
use silverpoint_wire::function::function_name;
use silverpoint_wire::level::Level;

use crate::vectors::{load, refusal, text};

/// What a directive is about, most specific last.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    Level,
    Category(String),
    File(String),
    Function(String),
    Line(String, u32),
}

const LEVELS: [&str; 8] = ["trace", "debug", "info", "warn", "error", "fatal", "off", "on"];
const ENDINGS: &str = ".c .cc .cpp .cxx .c++ .h .hh .hpp .hxx .ipp .inl .rs .cs .m .mm .qml";

/// The least level that is on, from 0; 6 is off.
fn level(text: &str) -> Option<usize> {
    let at = LEVELS.iter().position(|name| *name == text.to_ascii_lowercase())?;
    Some(if at == 7 { 0 } else { at })
}

fn is_file(target: &str) -> bool {
    let name = target.split('/').next_back().unwrap_or_default();
    let ending = name.split('.').next_back().unwrap_or_default();
    name.contains('.') && ENDINGS.split(' ').any(|known| known[1..] == *ending)
}

fn parse(directive: &str) -> Option<(Target, usize)> {
    let text = directive.trim();
    if let Some(level) = level(text) {
        return Some((Target::Level, level));
    }
    let parts: Vec<&str> = text.splitn(2, '=').map(str::trim).collect();
    let (target, least) = match parts[..] {
        [target] => (target, 0),
        [target, name] => (target, level(name)?),
        _ => return None,
    };
    if target.is_empty() || target.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return None;
    }
    let target = if let Some(function) = target.strip_suffix("()") {
        if function.is_empty() {
            return None;
        }
        Target::Function(function.into())
    } else if let Some((file, line)) = target.rsplit_once(':').filter(|(file, _)| is_file(file)) {
        if !line.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        Target::Line(file.into(), line.parse().ok()?)
    } else if is_file(target) {
        Target::File(target.into())
    } else {
        let is_alone = parts.len() == 1;
        let is_word = !["::", ".", "/", "*", "?"].iter().any(|mark| target.contains(mark));
        if target.contains(['[', ']', '{', '}']) || (is_alone && is_word) {
            return None;
        }
        Target::Category(target.into())
    };
    Some((target, least))
}

/// `*` any bytes, `?` one: by trying everything.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern, name) {
        ([], []) => true,
        ([b'*', rest @ ..], _) => (0..=name.len()).any(|at| matches(rest, &name[at..])),
        ([b'?', rest @ ..], [_, after @ ..]) => matches(rest, after),
        ([byte, rest @ ..], [other, after @ ..]) => byte == other && matches(rest, after),
        _ => false,
    }
}

/// The whole name, or its end after a separator.
fn matches_end(pattern: &str, name: &str, separator: &str) -> bool {
    let ends = name.match_indices(separator).map(|(at, _)| &name[at + separator.len()..]);
    std::iter::once(name).chain(ends).any(|end| matches(pattern.as_bytes(), end.as_bytes()))
}

fn applies(target: &Target, site: &SiteFacts<'_>) -> bool {
    match target {
        Target::Level => true,
        Target::Category(pattern) => {
            let category = site.category;
            let separators = ["::", ".", "/"];
            let is_separator = |at: &usize| separators.iter().any(|mark| category[*at..].starts_with(mark));
            let starts = category.char_indices().map(|(at, _)| at).filter(is_separator);
            let mut above = starts.map(|at| &category[..at]).chain([category]);
            above.any(|above| matches(pattern.as_bytes(), above.as_bytes()))
        }
        Target::File(pattern) => matches_end(pattern, site.file, "/"),
        Target::Line(pattern, line) => *line == site.line && matches_end(pattern, site.file, "/"),
        Target::Function(pattern) => matches_end(pattern, function_name(site.function), "::"),
    }
}

/// Kind, literal characters, place in the text: the greatest decides.
fn weight(target: &Target, place: usize) -> (usize, usize, usize) {
    let (kind, pattern) = match target {
        Target::Level => (0, ""),
        Target::Category(pattern) => (1, pattern.as_str()),
        Target::File(pattern) => (2, pattern.as_str()),
        Target::Function(pattern) => (3, pattern.as_str()),
        Target::Line(pattern, _) => (4, pattern.as_str()),
    };
    (kind, pattern.replace(['*', '?'], "").len(), place)
}

fn reference(directives: &str, site: &SiteFacts<'_>) -> bool {
    let parsed = directives.split(',').enumerate().filter_map(|(place, text)| Some((place, parse(text)?)));
    let candidates = parsed.filter(|(_, (target, _))| applies(target, site));
    let decider = candidates.max_by_key(|(place, (target, _))| weight(target, *place));
    decider.is_some_and(|(_, (_, least))| site.level as usize >= least)
}

fn any_site() -> impl Strategy<Value = (Level, String, String, u32, String)> {
    let category = "(net|io)?((::|\\.|/)(tcp|udp|t?)){0,2}";
    let file = "/?(src/|a/){0,2}(pump|main|m)\\.(cpp|rs|c|txt)";
    let function = "(void )?(ns::|Pump::){0,2}(start|run)(\\(int\\))?";
    (prop::sample::select(Level::ALL.to_vec()), category, file, 86_u32..90, function)
}

fn any_directives() -> impl Strategy<Value = String> {
    let target = prop_oneof![
        "(net|io|n\\*|n\\?t|\\*|tcp|\\*p|i?)((::|\\.|/)(tcp|t\\*|\\*|t\\?p)){0,2}",
        "(src/|a/|/|\\*/){0,2}(pump|main|\\*|p\\*)\\.(cpp|rs|\\*|c)",
        "(src/)?(pump|main|\\*)\\.(cpp|rs):(8[6-9]|x)?",
        "(ns::|Pump::|\\*::|\\*){0,2}(start|run|st\\*|\\?\\?n)?\\(\\)",
    ];
    let level =
        prop::sample::select(vec!["", "=on", "=off", "=info", "=ERROR", " = debug", "=", "=loud", "=fatal"]);
    let directive = prop_oneof![
        4 => (target, level).prop_map(|(target, level)| target + level),
        1 => prop::sample::select(LEVELS.to_vec()).prop_map(String::from),
        1 => "[ a=*:.()]{0,4}",
    ];
    prop::collection::vec(directive, 0..6).prop_map(|directives| directives.join(","))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn never_decides_otherwise_than_slowly(
        directives in any_directives(), (level, category, file, line, function) in any_site(),
    ) {
        let site = SiteFacts { level, category: &category, file: &file, line, function: &function };
        prop_assert_eq!(decide(&directives, &site), reference(&directives, &site), "{} {:?}", directives, site);
    }
}

#[test]
fn the_slow_way_agrees_with_the_vectors() {
    for vector in load("directives.json").iter().filter(|vector| refusal(vector).is_none()) {
        let on = reference(text(vector, "directives"), &crate::texts::facts(vector));
        assert_eq!(Value::from(on), vector["on"], "{}", text(vector, "name"));
    }
}

#[test]
fn the_generated_sites_and_directives_meet() {
    // A comparison of two that always say the same would show nothing: both answers must be frequent.
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut on, rounds) = (0, 1000);
    for _ in 0..rounds {
        let directives = any_directives().new_tree(&mut runner).unwrap().current();
        let (level, category, file, line, function) = any_site().new_tree(&mut runner).unwrap().current();
        let site = SiteFacts { level, category: &category, file: &file, line, function: &function };
        on += usize::from(reference(&directives, &site));
    }
    assert!((rounds / 10..rounds * 9 / 10).contains(&on), "{on} of {rounds}");
}

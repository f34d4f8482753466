//! Names of arguments from their source in C++, as the frontend makes them (cpp/include/silverpoint/detail/front.hpp).

use silverpoint_wire::level::Kind;

/// What macros of values expand to begins with this, and is named after what stands in its brackets.
const WRAPPER: &str = "::silverpoint::detail::wrap_";
/// Longest list of names that is kept, in bytes; as that of the frontend.
const MOST: usize = 2047;

/// The names, each ended by a line end.
///
/// An angle bracket is an operator, unless what it opens is closed only behind a comma: how many arguments there are is not known here.
pub fn of_source(source: &str) -> String {
    let names = split(source, false);
    let mut balances = names.iter().map(|name| balance(name));
    let is_torn = balances.any(|balance| balance > 0) && balances.any(|balance| balance < 0);
    let names = if is_torn { split(source, true) } else { names };
    let mut text = String::new();
    for name in names {
        text.push_str(unwrapped(&name));
        text.push('\n');
    }
    let end = text.floor_char_boundary(MOST);
    text.truncate(end);
    text
}

/// Selects the arguments among the names of all that stood in a macro's brackets. The site's own name comes
/// first and is removed. An id is `id`; what follows a counter's value is its unit.
pub fn of_arguments(names: &str, kind: Kind) -> String {
    let mut arguments: Vec<&str> = names.split_inclusive('\n').skip(1).collect();
    let has_id = (Kind::AsyncBegin as u8..=Kind::FlowEnd as u8).contains(&(kind as u8));
    if let (true, Some(first)) = (has_id, arguments.first_mut()) {
        *first = "id\n";
    }
    if kind == Kind::Counter {
        arguments.truncate(1);
    }
    arguments.concat()
}

/// At commas outside of brackets and quotes.
fn split(source: &str, angles: bool) -> Vec<String> {
    let mut names = Vec::new();
    if source.is_empty() {
        return names;
    }
    let mut name = String::new();
    let (mut depth, mut quote, mut before) = (0i32, None, ' ');
    let mut rest = source.chars();
    while let Some(c) = rest.next() {
        match quote {
            Some(_) if c == '\\' => {
                name.push(c);
                name.extend(rest.next());
                before = ' ';
                continue;
            }
            Some(end) if c == end => quote = None,
            Some(_) => {}
            // 1'000'000 holds no characters.
            None if c == '"' || c == '\'' && !before.is_ascii_hexdigit() => quote = Some(c),
            None if matches!(c, '(' | '[' | '{') || angles && c == '<' => depth += 1,
            None if matches!(c, ')' | ']' | '}') || angles && c == '>' && depth > 0 => depth -= 1,
            None if c == ',' && depth == 0 => {
                names.push(name.trim_end_matches(' ').to_owned());
                name.clear();
                before = ' ';
                continue;
            }
            None if c == ' ' && name.is_empty() => continue,
            None => {}
        }
        before = c;
        name.push(if c == '\n' { ' ' } else { c });
    }
    names.push(name.trim_end_matches(' ').to_owned());
    names
}

/// Angle brackets that open, less those that close; `->`, `<<` and comparisons are none.
fn balance(name: &str) -> i32 {
    let name = name.replace("->", "").replace("<<", "").replace("<=", "").replace(">=", "");
    let count = |sign: char| name.matches(sign).count() as i32;
    count('<') - count('>')
}

/// What stands in the brackets of wrappers.
fn unwrapped(mut name: &str) -> &str {
    while let Some(inner) = name.strip_prefix(WRAPPER).and_then(|rest| rest.strip_suffix(')')) {
        let (mut is_quoted, mut before, mut open) = (false, ' ', None);
        for (at, c) in inner.char_indices() {
            match c {
                '(' if !is_quoted => {
                    open = Some(at);
                    break;
                }
                '"' if before != '\\' => is_quoted = !is_quoted,
                _ => {}
            }
            before = c;
        }
        let Some(at) = open else { break };
        name = &inner[at + 1..];
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_frontend() {
        for (source, names) in [
            ("", ""),
            ("id", "id\n"),
            ("id, px * 2,  f(a, b)", "id\npx * 2\nf(a, b)\n"),
            ("\"id\", x", "\"id\"\nx\n"),
            ("\"a,\\\"b\", ',', 1'000, x", "\"a,\\\"b\"\n','\n1'000\nx\n"),
            ("f<a, b>(c), d", "f<a, b>(c)\nd\n"),
            ("a < b, c", "a < b\nc\n"),
            ("p->x, a << 1, q", "p->x\na << 1\nq\n"),
            ("::silverpoint::detail::wrap_hex(a + f(b)), c", "a + f(b)\nc\n"),
            ("::silverpoint::detail::wrap_unit<\"(\">(::silverpoint::detail::wrap_hex(a))", "a\n"),
            ("::silverpoint::detail::wrap_hex)", "::silverpoint::detail::wrap_hex)\n"),
            (")))(((<", ")))(((<\n"),
        ] {
            assert_eq!(of_source(source), names, "{source}");
        }
        assert!(of_source(&"ä,".repeat(5000)).len() <= MOST);
    }

    #[test]
    fn the_names_of_c_begin_with_the_sites_own() {
        for (kind, source, names) in [
            (Kind::Event, "\"order, filled\", id, px", "id\npx\n"),
            (Kind::Event, "NAME", ""),
            (Kind::Counter, "\"latency\", ms * 2, \"ms\"", "ms * 2\n"),
            (Kind::AsyncBegin, "\"fetch\", next(), url", "id\nurl\n"),
            (Kind::FlowEnd, "\"\", 7", "id\n"),
            (Kind::Link, "\"\", from, to", "from\nto\n"),
            (Kind::Event, "", ""),
        ] {
            assert_eq!(of_arguments(&of_source(source), kind), names, "{source}");
        }
    }
}

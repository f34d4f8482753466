//! Plain function names from what compilers give (`__PRETTY_FUNCTION__`, `type_name_of_val`).

/// The qualified name in a function's text: `ns::Pump::start` of `void ns::Pump::start(int) [with T = int]`. Texts without arguments
/// (Rust paths, plain names) are returned whole. Allocation-free.
pub fn function_name(text: &str) -> &str {
    // GCC's and clang's note of template arguments.
    let text = text.split(" [with ").next().unwrap_or(text);
    let bytes = text.as_bytes();
    // The name ends before the first '(' at depth 0 of <> that is not an "operator()" and not "(anonymous namespace)".
    let mut depth = 0_u32;
    let mut end = bytes.len();
    let mut i = 0;
    while i < bytes.len() {
        match bytes[i] {
            b'<' if !ends_with_operator(&bytes[..i]) => depth += 1,
            b'>' if depth > 0 => depth -= 1,
            b'(' if depth == 0 => {
                if bytes[i..].starts_with(b"(anonymous namespace)") {
                    i += "(anonymous namespace)".len();
                    continue;
                }
                if bytes[..i].ends_with(b"operator") && bytes[i..].starts_with(b"()") {
                    i += 2;
                    continue;
                }
                end = i;
                break;
            }
            _ => {}
        }
        i += 1;
    }
    if end == bytes.len() {
        return text.trim();
    }
    // It begins after the last space at depth 0 before its end, unless that space belongs to "operator " or a named namespace.
    let mut depth = 0_u32;
    let mut begin = 0;
    let mut j = 0;
    while j < end {
        match bytes[j] {
            b'<' => depth += 1,
            b'>' if depth > 0 => depth -= 1,
            b'(' => depth += 1,
            b')' if depth > 0 => depth -= 1,
            b' ' if depth == 0 && !bytes[..j].ends_with(b"operator") => begin = j + 1,
            _ => {}
        }
        j += 1;
    }
    text.get(begin..end).unwrap_or(text).trim_start_matches(['*', '&']).trim()
}

fn ends_with_operator(bytes: &[u8]) -> bool {
    bytes.ends_with(b"operator") || bytes.ends_with(b"operator<")
}

#[cfg(test)]
mod tests {
    use super::function_name;

    #[test]
    fn names_are_found() {
        for (text, name) in [
            ("void ns::Pump::start(int) [with T = int]", "ns::Pump::start"),
            ("int main(int, char**)", "main"),
            ("main", "main"),
            ("demo_rust::worker::run", "demo_rust::worker::run"),
            ("static std::map<int, long> ns::A<B<C> >::f(const D&)", "ns::A<B<C> >::f"),
            ("constexpr auto lib::g() [with auto X = 3]", "lib::g"),
            ("bool ns::F::operator()(int) const", "ns::F::operator()"),
            ("void (anonymous namespace)::helper(int)", "(anonymous namespace)::helper"),
            ("const char* name()", "name"),
            ("top level", "top level"),
            ("", ""),
        ] {
            assert_eq!(function_name(text), name, "{text}");
        }
    }
}

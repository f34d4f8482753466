//! Fields that a span got after it had begun, added to those that it began with: objects as this module writes them.

/// The members of both objects: of equal names the value of the second, at the place of the first. `None` when one is no object.
pub fn join_objects(first: &str, second: &str) -> Option<String> {
    let mut all = members(first)?;
    for (key, member) in members(second)? {
        match all.iter_mut().find(|(known, _)| *known == key) {
            Some((_, known)) => *known = member,
            None => all.push((key, member)),
        }
    }
    let members: Vec<&str> = all.iter().map(|(_, member)| *member).collect();
    Some(format!("{{{}}}", members.join(",")))
}

/// Removes the first member of an object.
pub fn without_first(object: &mut String) {
    let rest = members(object).and_then(|all| {
        let members: Vec<&str> = all.get(1..)?.iter().map(|(_, member)| *member).collect();
        Some(format!("{{{}}}", members.join(",")))
    });
    if let Some(rest) = rest {
        *object = rest;
    }
}

/// Each member with its key, quotes included.
fn members(object: &str) -> Option<Vec<(&str, &str)>> {
    let inner = object.strip_prefix('{')?.strip_suffix('}')?;
    let (mut all, mut start, mut depth, mut key_end) = (Vec::new(), 0, 0_usize, None);
    let (mut is_text, mut is_escaped) = (false, false);
    for (at, byte) in inner.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            _ if is_text => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            b':' if depth == 0 && key_end.is_none() => key_end = Some(at),
            b',' if depth == 0 => {
                all.push((inner.get(start..key_end.take()?)?, inner.get(start..at)?));
                start = at + 1;
            }
            _ => {}
        }
    }
    if start < inner.len() {
        all.push((inner.get(start..key_end?)?, inner.get(start..)?));
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_equal_names_the_last_counts_and_others_stay_where_they_are() {
        let join = |first, second| join_objects(first, second).unwrap();
        assert_eq!(join("{}", "{}"), "{}");
        assert_eq!(join("{}", r#"{"a":1}"#), r#"{"a":1}"#);
        assert_eq!(
            join(r#"{"a":1,"b":[1,{"a":2}]}"#, r#"{"c":3,"a":"x"}"#),
            r#"{"a":"x","b":[1,{"a":2}],"c":3}"#
        );
        assert_eq!(join(r#"{"a\",:{":"}{,","b":1}"#, r#"{"b":","}"#), r#"{"a\",:{":"}{,","b":","}"#);
        for bad in ["", "[1]", "{1}", "{]}", r#"{"a"}"#] {
            assert_eq!(join_objects(bad, "{}"), None, "{bad}");
        }
    }

    #[test]
    fn the_first_member_goes() {
        for (object, rest) in
            [(r#"{"id":7,"a":[1,2]}"#, r#"{"a":[1,2]}"#), (r#"{"id":7}"#, "{}"), ("{}", "{}"), ("[1]", "[1]")]
        {
            let mut text = object.to_owned();
            without_first(&mut text);
            assert_eq!(text, rest);
        }
    }
}

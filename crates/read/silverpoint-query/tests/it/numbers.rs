//! Numbers, text and pointers by specification, against what `printf` and `std::to_chars` write (`data/floats.tsv`) and a table.

use silverpoint_render::format::{self, Align, Sign, Spec};

/// Parses the specifications of this file's tables.
pub fn spec(text: &str) -> Spec {
    let mut spec = Spec::default();
    let mut rest = text;
    let chars: Vec<char> = text.chars().take(2).collect();
    let align = |c: char| match c {
        '<' => Some(Align::Left),
        '>' => Some(Align::Right),
        '^' => Some(Align::Centre),
        _ => None,
    };
    if chars.len() == 2 && align(chars[1]).is_some() {
        spec.fill = chars[0];
        spec.align = align(chars[1]);
        rest = &rest[chars[0].len_utf8() + 1..];
    } else if let Some(found) = chars.first().copied().and_then(align) {
        spec.align = Some(found);
        rest = &rest[1..];
    }
    for (mark, sign) in [("+", Sign::Plus), ("-", Sign::Minus), (" ", Sign::Space)] {
        if let Some(after) = rest.strip_prefix(mark) {
            spec.sign = sign;
            rest = after;
            break;
        }
    }
    for (mark, flag) in [("#", &mut spec.alternate), ("0", &mut spec.zero)] {
        if let Some(after) = rest.strip_prefix(mark) {
            *flag = true;
            rest = after;
        }
    }
    let digits = |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let n = digits(rest);
    spec.width = rest[..n].parse().unwrap_or(0);
    rest = &rest[n..];
    if let Some(after) = rest.strip_prefix('.') {
        let n = digits(after);
        spec.precision = after[..n].parse().ok();
        rest = &after[n..];
    }
    spec.ty = rest.bytes().next().unwrap_or(0);
    spec
}

#[test]
fn floats_as_printf_and_to_chars() {
    let table = include_str!("../data/floats.tsv");
    let mut lines = 0;
    let mut wrong = Vec::new();
    for line in table.lines() {
        let mut fields = line.split('\t');
        let (ty, bits) = (fields.next().unwrap(), u64::from_str_radix(fields.next().unwrap(), 16).unwrap());
        let (text, expected) = (fields.next().unwrap(), fields.next().unwrap());
        let mut out = String::new();
        match ty {
            "d" => format::float64(&mut out, f64::from_bits(bits), &spec(text)),
            _ => format::float32(&mut out, f32::from_bits(bits as u32), &spec(text)),
        }
        lines += 1;
        if out != expected {
            wrong.push(format!("{ty} {bits:x} {{:{text}}}: {out} instead of {expected}"));
        }
    }
    assert!(lines > 5000, "the table is there");
    assert!(
        wrong.is_empty(),
        "{} of {lines} differ:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(30)].join("\n")
    );
}

#[test]
fn integers_in_every_base() {
    let table: &[(i64, &str, &str)] = &[
        (0, "", "0"),
        (-1, "", "-1"),
        (i64::MIN, "", "-9223372036854775808"),
        (42, "d", "42"),
        (42, "x", "2a"),
        (42, "X", "2A"),
        (42, "#x", "0x2a"),
        (42, "#X", "0X2A"),
        (42, "#o", "052"),
        (0, "#o", "0"),
        (5, "#b", "0b101"),
        (5, "#B", "0B101"),
        (-255, "x", "-ff"),
        (-255, "#010x", "-0x00000ff"),
        (255, "#06x", "0x00ff"),
        (42, "+", "+42"),
        (42, " ", " 42"),
        (-42, "+", "-42"),
        (42, "6", "    42"),
        (42, "06", "000042"),
        (-42, "06", "-00042"),
        (42, "<06", "42    "),
        (42, "*^7", "**42***"),
        (42, "é>4", "éé42"),
        (65, "c", "A"),
        (65, "3c", "A  "),
        (-1, "c", "\u{fffd}"),
        (42, ".1f", "42.0"),
        (7, "s", "7"),
    ];
    for (value, text, expected) in table {
        let mut out = String::from("|");
        format::signed(&mut out, *value, &spec(text));
        assert_eq!(out[1..], **expected, "{value} {{:{text}}}");
    }
    let mut out = String::new();
    format::unsigned(&mut out, u64::MAX, &spec("#x"));
    format::integer(&mut out, true, 1 << 127, &spec(""));
    format::integer(&mut out, false, u128::MAX, &spec("b"));
    assert_eq!(out, format!("0x{:x}{}{:b}", u64::MAX, i128::MIN, u128::MAX));
}

#[test]
fn text_by_columns() {
    let table: &[(&str, &str, &str)] = &[
        ("abc", "", "abc"),
        ("abc", "s", "abc"),
        ("abc", "5", "abc  "),
        ("abc", ">5", "  abc"),
        ("abc", "-^6", "-abc--"),
        ("abc", ".2", "ab"),
        ("abc", "5.2", "ab   "),
        ("äöü", ".2", "äö"),
        ("äöü", "4", "äöü "),
        ("日本語", ".3", "日"),
        ("日本", "6", "日本  "),
        ("e\u{301}x", ".1", "e\u{301}"),
        ("a\nb", "", "a\\nb"),
        ("a\"b", "?", "\"a\\\"b\""),
        ("a", "?", "\"a\""),
        ("a", "5?", "\"a\"  "),
    ];
    for (value, text, expected) in table {
        let mut out = String::from("|");
        format::text(&mut out, value, &spec(text));
        assert_eq!(out[1..], **expected, "{value:?} {{:{text}}}");
    }
}

#[test]
fn bool_characters_pointers_specials() {
    type Write<'a> = &'a dyn Fn(&mut String, &Spec);
    let table: &[(Write<'_>, &str, &str)] = &[
        (&|o, s| format::boolean(o, true, s), "", "true"),
        (&|o, s| format::boolean(o, false, s), "7", "false  "),
        (&|o, s| format::boolean(o, true, s), "d", "1"),
        (&|o, s| format::boolean(o, true, s), "#x", "0x1"),
        (&|o, s| format::character(o, 'x', s), "", "x"),
        (&|o, s| format::character(o, 'x', s), "^3", " x "),
        (&|o, s| format::character(o, 'x', s), "d", "120"),
        (&|o, s| format::character(o, '\n', s), "", "\\n"),
        (&|o, s| format::character(o, 'x', s), "?", "'x'"),
        (&|o, s| format::character(o, '\'', s), "?", "'\\''"),
        (&|o, s| format::pointer(o, 0xBEEF, s), "", "0xbeef"),
        (&|o, s| format::pointer(o, 0xBEEF, s), "10p", "    0xbeef"),
        (&|o, s| format::pointer(o, 0, s), "p", "0x0"),
        (&|o, s| format::float64(o, f64::NAN, s), "06", "   nan"),
        (&|o, s| format::float64(o, f64::NEG_INFINITY, s), "F", "-INF"),
        (&|o, s| format::float64(o, f64::INFINITY, s), "<+6", "+inf  "),
        (&|o, s| format::float64(o, 1.0, s), "#", "1."),
        (&|o, s| format::float64(o, 0.1, s), "x", "0.1"),
    ];
    for (write, text, expected) in table {
        let mut out = String::from("|");
        write(&mut out, &spec(text));
        assert_eq!(out[1..], **expected, "{{:{text}}}");
    }
}

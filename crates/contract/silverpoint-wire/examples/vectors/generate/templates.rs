//! templates.json: texts with placeholders, and refused ones with the byte where the mistake stands.

use super::json::Json;

/// The vectors: `placeholders` lists the argument of each placeholder in turn, a number or a name; `literal` is all literal text.
pub fn vectors() -> Vec<Json> {
    let mut all = Vec::new();
    for (text, literal, placeholders) in GOOD {
        let placeholder =
            |argument: &&str| argument.parse().map_or(Json::text(*argument), |i: u8| Json::int(i));
        all.push(Json::Object(vec![
            ("name", Json::text(*text)),
            ("text", Json::text(*text)),
            ("literal", Json::text(*literal)),
            ("placeholders", Json::Array(placeholders.iter().map(placeholder).collect())),
            ("verdict", Json::text("ok")),
        ]));
    }
    for (text, at) in REFUSED {
        all.push(Json::Object(vec![
            ("name", Json::text(*text)),
            ("text", Json::text(*text)),
            ("verdict", Json::text("refused")),
            ("at", Json::int(at)),
        ]));
    }
    all
}

/// Text, its literal parts joined, the arguments shown.
const GOOD: &[(&str, &str, &[&str])] = &[
    ("", "", &[]),
    ("ready", "ready", &[]),
    ("{}", "", &["0"]),
    ("{} of {}", " of ", &["0", "1"]),
    ("{{}}", "{}", &[]),
    ("{{{}}}", "{}", &["0"]),
    ("}}{{", "}{", &[]),
    ("a {{{{ b", "a {{ b", &[]),
    ("{1} {0} {1}", "  ", &["1", "0", "1"]),
    ("{254}", "", &["254"]),
    ("{name}={value}", "=", &["name", "value"]),
    ("{_a1}", "", &["_a1"]),
    ("{größe}", "", &["größe"]),
    ("Grüße, {}", "Grüße, ", &["0"]),
    ("{:d}{:x}{:X}{:o}{:b}{:B}{:c}", "", &["0", "1", "2", "3", "4", "5", "6"]),
    ("{:a}{:A}{:e}{:E}{:f}{:F}{:g}{:G}", "", &["0", "1", "2", "3", "4", "5", "6", "7"]),
    ("{:s}{:p}{:?}", "", &["0", "1", "2"]),
    ("{:<}{:>}{:^}", "", &["0", "1", "2"]),
    ("{:*<8}{:->8}{:ü^8}", "", &["0", "1", "2"]),
    ("{:<<8}{:>>8}", "", &["0", "1"]),
    ("{:}<8}{:{>8}", "", &["0", "1"]),
    ("{:+}{:-}{: }", "", &["0", "1", "2"]),
    ("{:#x}{:#010x}{:08}", "", &["0", "1", "2"]),
    ("{:.3}{:10.3f}{:.0}", "", &["0", "1", "2"]),
    ("{:1000}{:.1000}", "", &["0", "1"]),
    ("{:*^+#012.5g}", "", &["0"]),
    ("{0:x}{0:d}", "", &["0", "0"]),
    ("{name:>8}", "", &["name"]),
    ("{:0}{:00}", "", &["0", "1"]),
    ("{:>8?}", "", &["0"]),
];

/// Text, byte of the mistake.
const REFUSED: &[(&str, usize)] = &[
    ("{", 0),
    ("}", 0),
    ("a }", 2),
    ("a {", 2),
    ("ü}", 2),
    ("{}}", 2),
    ("{{}", 2),
    ("{:5", 0),
    ("{} {0}", 4),
    ("{0} {}", 5),
    ("{255}", 1),
    ("{99999999999999999999}", 1),
    ("{a b}", 1),
    ("{a-b}", 1),
    ("{:q}", 2),
    ("{:ü}", 2),
    ("{:dd}", 3),
    ("{:d5}", 3),
    ("{:55<}", 4),
    ("{:1001}", 2),
    ("{:99999999999}", 2),
    ("{:.1001}", 3),
    ("{:.}", 3),
    ("{:.f}", 3),
    ("{:+#08.3q}", 8),
    ("{:++}", 3),
    ("{:##}", 3),
    ("{:#+}", 3),
    ("{:.-3}", 3),
    ("{ }", 1),
    ("{:{}}", 2),
    ("{} {} {:z}", 8),
];

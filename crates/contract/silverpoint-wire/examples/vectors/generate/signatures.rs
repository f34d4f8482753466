//! signatures.json: texts of types, canonical ones, others with the same meaning, and refused ones with the byte where the mistake stands.

use super::json::Json;

/// The vectors: `canonical` is how the types are printed; `args` their number.
pub fn vectors() -> Vec<Json> {
    let mut all = Vec::new();
    for (i, text) in CANONICAL.iter().enumerate() {
        all.push(good(format!("canonical {i}"), text, text, arguments(text)));
    }
    for (name, text, canonical, args) in OTHER {
        all.push(good((*name).into(), text, canonical, *args));
    }
    let deepest = format!("{}i", "[".repeat(31));
    all.push(good("nested 32 deep".into(), &deepest, &deepest, 1));
    let most = "b".repeat(255);
    all.push(good("255 arguments".into(), &most, &most, 255));
    for (name, text, at) in REFUSED {
        all.push(refused(name, text, *at));
    }
    all.push(refused("nested 33 deep", &format!("{}i", "[".repeat(32)), 32));
    all.push(refused("nested 33 deep in tuples", &format!("i{}", "(".repeat(33)), 33));
    all.push(refused("256 arguments", &"b".repeat(256), 255));
    all
}

/// Every code alone and in containers, names with every character that is escaped.
const CANONICAL: &[&str] = &[
    "",
    "n",
    "b",
    "a",
    "h",
    "i",
    "l",
    "o",
    "A",
    "H",
    "I",
    "L",
    "O",
    "f",
    "d",
    "c",
    "w",
    "W",
    "p",
    "s",
    "S",
    "Z",
    "y",
    "u",
    "t",
    "T",
    "v",
    "idL",
    "?i",
    "??s",
    "[i",
    "[[s",
    "$A",
    "$(is)",
    "#0:s",
    "#3:H",
    "#4294967295:b",
    "{si",
    "{s{i[b",
    "{{ssi",
    "()",
    "(i)",
    "(i(sb)())",
    "<Unit|>",
    "<Point|x:i,y:i,>",
    "<|:n,>",
    "<L|a:<P|x:f,>,b:?<P|x:f,>,>",
    "<a b~!\"#$&'()*+-./?@[]^_`{}|x:b,>",
    "<%25%7C%3A%2C%3B%3D%3E%3C|%C3%BC%0A:n,>",
    "eE|i|;",
    "eSide|A|0=Buy,1=Sell,;",
    "eE|l|-9223372036854775808=Min,9223372036854775807=Max,;",
    "eYes|b|0=No,1=Yes,;",
    "eC|c|97=a,;",
    "eC|w|8364=Euro,;",
    "eC|W|128512=Smile,;",
    "eE|h|-1=%2C,;",
    "e|A|;",
    "/|",
    "/is|",
    "/(is)/b||",
    "@unit=ms;l",
    "@hex=;@unit=B;I",
    "[@x-private=%3B;s",
    "@=;n",
    "isdb[(is)?eE|A|0=a,;/n<P|>|",
];

/// Name, text, how it is printed, arguments.
const OTHER: &[(&str, &str, &str, usize)] = &[
    ("escape in lower case", "<%c3%bc|>", "<%C3%BC|>", 1),
    ("escape that is not needed", "<%61b|>", "<ab|>", 1),
    ("zeros before a number", "#007:b", "#7:b", 1),
    ("zeros before a value", "eE|A|001=a,;", "eE|A|1=a,;", 1),
    ("minus zero", "eE|a|-0=a,;", "eE|a|0=a,;", 1),
    ("values in any order", "eE|A|2=b,1=a,;", "eE|A|1=a,2=b,;", 1),
    ("equal values keep their order", "eE|A|2=x,1=b,1=a,;", "eE|A|1=b,1=a,2=x,;", 1),
    ("value of 64 bits, unsigned", "eE|L|18446744073709551615=All,;", "eE|L|-1=All,;", 1),
];

/// Name, text, byte of the mistake.
const REFUSED: &[(&str, &str, usize)] = &[
    ("unknown code", "q", 0),
    ("unknown code behind others", "is q", 2),
    ("private code is not for everybody", "x", 0),
    ("not ASCII", "i\u{e9}", 1),
    ("closing parenthesis alone", ")", 0),
    ("optional of nothing", "?", 1),
    ("sequence of nothing", "[", 1),
    ("set of nothing", "$", 1),
    ("map without a value", "{s", 2),
    ("map without anything", "{", 1),
    ("array without a number", "#:i", 1),
    ("array with a sign", "#-1:i", 1),
    ("array without a colon", "#3i", 2),
    ("array without a type", "#3:", 3),
    ("array beyond 32 bits", "#4294967296:b", 11),
    ("array beyond 64 bits", "#18446744073709551616:b", 20),
    ("tuple that does not end", "(is", 3),
    ("tuple with an unknown type", "(iq)", 2),
    ("variant that does not end", "/is", 3),
    ("record without a name's end", "<Point", 6),
    ("record that does not end", "<Point|x:i,", 11),
    ("field without a type", "<P|x:,>", 5),
    ("field without its comma", "<P|x:i>", 6),
    ("field without a colon", "<P|x>", 4),
    ("enumeration without a type", "eE|", 3),
    ("enumeration over text", "eE|s|;", 3),
    ("enumeration over a float", "eE|d|;", 3),
    ("enumeration over 128 bits", "eE|o|;", 3),
    ("enumeration over an enumeration", "eE|eF|A|;|;", 3),
    ("enumeration without the second bar", "eE|A;", 4),
    ("value that is no number", "eE|A|x=a,;", 5),
    ("value without a label", "eE|A|1,;", 6),
    ("label without its comma", "eE|A|1=a;", 8),
    ("value beyond 64 bits", "eE|L|18446744073709551616=a,;", 24),
    ("enumeration that does not end", "eE|A|1=a,", 9),
    ("metadata without a text", "@unit;i", 5),
    ("metadata without its end", "@unit=ms", 8),
    ("metadata without a type", "@unit=ms;", 9),
    ("character that must be escaped", "<a=b|>", 2),
    ("control character in a name", "<a\nb|>", 2),
    ("DEL in a name", "<a\u{7f}|>", 2),
    ("escape without digits", "<a%|>", 2),
    ("escape with one digit", "<a%4|>", 2),
    ("escape with a sign", "<a%+1|>", 2),
    ("escape at the end", "<a%4", 2),
    ("name that is not UTF-8", "<%FF|>", 1),
    ("field that is not UTF-8", "<P|%C3:i,>", 3),
];

/// The arguments of a canonical text: by parsing alone one would judge the parser by itself.
fn arguments(text: &str) -> usize {
    match text {
        "" => 0,
        "idL" => 3,
        "isdb[(is)?eE|A|0=a,;/n<P|>|" => 7,
        _ => 1,
    }
}

fn good(name: String, text: &str, canonical: &str, args: usize) -> Json {
    Json::Object(vec![
        ("name", Json::text(name)),
        ("text", Json::text(text)),
        ("canonical", Json::text(canonical)),
        ("args", Json::int(args)),
        ("verdict", Json::text("ok")),
    ])
}

fn refused(name: &str, text: &str, at: usize) -> Json {
    Json::Object(vec![
        ("name", Json::text(name)),
        ("text", Json::text(text)),
        ("verdict", Json::text("refused")),
        ("at", Json::int(at)),
    ])
}

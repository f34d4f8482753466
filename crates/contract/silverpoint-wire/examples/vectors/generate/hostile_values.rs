//! The refused part of values.json: bytes that are no value of their type, with what is wrong and where.

use super::json::{Json, hex};

/// The vectors: `at` is the offset of the length, mark or index that is wrong, or of what is not there.
pub fn vectors() -> Vec<Json> {
    let nulls = "n".repeat(100);
    let bomb_of_tuples = format!("#65535:({nulls})");
    let bomb_behind_bytes = format!("[(A{nulls})");
    let mut thousand = 1000_u32.to_le_bytes().to_vec();
    thousand.resize(1004, 7);
    let cases: Vec<(&str, &str, String, &str, usize)> = vec![
        ("bool is 2", "b", "02".into(), "mark", 0),
        ("bool is 255, second argument", "Ab", "00ff".into(), "mark", 1),
        ("optional's mark is 2", "?i", "0200000000".into(), "mark", 0),
        ("mark of a second element", "[?A", "0200000000ff".into(), "mark", 5),
        ("mark behind a value", "[?A", "02000000010780".into(), "mark", 6),
        ("enumeration over a bool is 2", "AeYes|b|0=No,1=Yes,;", "0002".into(), "mark", 1),
        ("mark within a record", "<P|x:A,y:b,>", "0105".into(), "mark", 1),
        ("text is longer than what remains", "s", "0500000061626364".into(), "length", 0),
        ("text of 2 GiB", "s", "ffffff7f61".into(), "length", 0),
        ("UTF-16 text, length in bytes", "S", "040000006100620063".into(), "length", 0),
        ("UTF-32 text of 2 GiB units", "Z", "ffffff7f".into(), "length", 0),
        ("bytes are longer than what remains", "y", "01000000".into(), "length", 0),
        ("CBOR item is longer than what remains", "v", "02000000f6".into(), "length", 0),
        ("sequence is longer than what remains", "[l", "020000000100000000000000".into(), "length", 0),
        ("sequence of texts is longer than what remains", "[s", "ffffff0000000000".into(), "length", 0),
        ("inner length", "[s", "02000000000000000900000061".into(), "length", 8),
        ("map is longer than what remains", "{AA", "02000000010203".into(), "length", 0),
        ("map of texts is longer than what remains", "{ss", "ffffff7f0000000000000000".into(), "length", 0),
        ("array is longer than what remains", "#3:i", "0000000000000000".into(), "truncated", 0),
        ("array of 4 Gi texts", "#4294967295:s", "0000000000000000".into(), "truncated", 0),
        ("nested arrays overflow", "#4294967295:#4294967295:#4294967295:l", "00".into(), "truncated", 0),
        ("length is not all there", "s", "050000".into(), "truncated", 0),
        ("what is missing is not all there", "s", "01000080ff".into(), "truncated", 4),
        ("no alternative 2", "/is|", "0200000000".into(), "alternative", 0),
        ("no alternative 254", "/is|", "fe".into(), "alternative", 0),
        ("variant of nothing", "/|", "00".into(), "alternative", 0),
        ("sequence of texts cannot be cut", "[s", "010000800100000000000000".into(), "cut", 0),
        ("sequence of optionals cannot be cut", "[?i", "00000080ffffffff".into(), "cut", 0),
        ("set of texts cannot be cut", "$s", "0000008001000000".into(), "cut", 0),
        ("map cannot be cut", "{AA", "01000080010000000102".into(), "cut", 0),
        ("map cannot be cut, although nothing is missing", "{AA", "01000080000000000102".into(), "cut", 0),
        ("map of texts cannot be cut", "{ss", "0000008001000000".into(), "cut", 0),
        ("CBOR item cannot be cut", "v", "0100008005000000f6".into(), "cut", 0),
        ("65,537 nulls", "[n", "01000100".into(), "zero_sized", 0),
        ("2 Gi nulls", "[n", "ffffff7f".into(), "zero_sized", 0),
        ("2 Gi empty tuples", "[()", "ffffff7f".into(), "zero_sized", 0),
        ("2 Gi empty arrays", "[#0:s", "ffffff7f".into(), "zero_sized", 0),
        ("2 Gi pairs of nothing", "{nn", "ffffff7f".into(), "zero_sized", 0),
        ("4 Gi nulls by signature", "#4294967295:n", String::new(), "zero_sized", 0),
        ("arrays of arrays of nulls", "#65535:#65535:n", String::new(), "zero_sized", 0),
        ("tuples of nulls", &bomb_of_tuples, String::new(), "zero_sized", 0),
        ("nulls behind a byte each", &bomb_behind_bytes, hex(&thousand), "zero_sized", 660),
        ("sets of nulls in a sequence", "[$n", "02000000ffff0000ffff0000".into(), "zero_sized", 8),
    ];
    cases
        .into_iter()
        .map(|(name, signature, bytes, verdict, at)| {
            Json::Object(vec![
                ("name", Json::text(name)),
                ("signature", Json::text(signature)),
                ("hex", Json::text(bytes)),
                ("verdict", Json::text(verdict)),
                ("at", Json::int(at)),
            ])
        })
        .collect()
}

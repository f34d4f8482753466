//! How much of a value failure messages show.

/// Characters of one value that a message shows.
const MOST_OF_A_VALUE: usize = 300;

/// A value as a message shows it: not all of it, when it is long.
pub(crate) fn brief(mut text: String) -> String {
    if let Some((cut, _)) = text.char_indices().nth(MOST_OF_A_VALUE) {
        let missing = text[cut..].chars().count();
        text.truncate(cut);
        text.push_str(&format!("…(+{missing})"));
    }
    text
}

/// ` (from character 512 on)`, when two texts differ where [`brief`] does not show it.
pub(crate) fn where_they_part(a: &str, b: &str) -> String {
    let (a, b) = (a.strip_prefix('"').unwrap_or(a), b.strip_prefix('"').unwrap_or(b));
    let same = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    if same < MOST_OF_A_VALUE { String::new() } else { format!(" (from character {same} on)") }
}

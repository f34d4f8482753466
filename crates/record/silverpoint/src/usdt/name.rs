//! Names of probes, made of categories, templates and names by the compiler (spec/usdt.md, Names).

use crate::site::{Kind, Meta};

/// How the name of a site's probe ends.
pub(super) const fn suffix(kind: Kind) -> &'static str {
    match kind {
        Kind::Span | Kind::Scope => "_entry",
        Kind::AsyncBegin | Kind::AsyncSpan | Kind::FlowBegin => "_begin",
        Kind::AsyncEnd | Kind::FlowEnd => "_end",
        Kind::FlowStep => "_step",
        _ => "",
    }
}

/// Provider and name, as the assembler gets them: eight characters a word, the first lowest.
pub(super) struct Names {
    pub(super) provider: [u64; 4],
    pub(super) name: [u64; 7],
}

impl Names {
    pub(super) const fn of<M: Meta>(suffix: &str) -> Self {
        let mut provider = Identifier::<32>::EMPTY;
        provider.put(M::CATEGORY.as_bytes());
        if provider.len == 0 {
            provider.put(b"silverpoint");
        }
        let mut name = Identifier::<56>::EMPTY;
        let mut i = 0;
        while i < M::PIECES.len() {
            name.put(M::PIECES[i].before.as_bytes());
            name.put(b" ");
            i += 1;
        }
        name.put(M::TAIL.as_bytes());
        if name.len == 0 {
            name.put(base_name(M::FILE.as_bytes()));
            name.put(b" ");
            name.put(crate::sig::decimal(M::LINE as i128).text());
        }
        Self { provider: provider.words(), name: name.with(suffix.as_bytes()).words() }
    }

    /// Of a probe that stands for many places.
    pub(super) const fn given(of_provider: &str, of_name: &str) -> Self {
        let (mut provider, mut name) = (Identifier::<32>::EMPTY, Identifier::<56>::EMPTY);
        provider.put(of_provider.as_bytes());
        name.put(of_name.as_bytes());
        Self { provider: provider.words(), name: name.words() }
    }
}

const fn base_name(path: &[u8]) -> &[u8] {
    let mut begin = path.len();
    while begin > 0 && path[begin - 1] != b'/' {
        begin -= 1;
    }
    path.split_at(begin).1
}

/// A text as an identifier of C: each run of other characters is one underscore, and none at the ends.
struct Identifier<const MOST: usize> {
    text: [u8; MOST],
    len: usize,
    is_gap: bool,
}

impl<const MOST: usize> Identifier<MOST> {
    const EMPTY: Self = Self { text: [0; MOST], len: 0, is_gap: false };

    const fn put(&mut self, text: &[u8]) {
        let mut i = 0;
        while i < text.len() {
            let byte = text[i];
            if byte.is_ascii_alphanumeric() || byte == b'_' {
                if self.is_gap || (self.len == 0 && byte.is_ascii_digit()) {
                    self.add(b'_');
                }
                self.is_gap = false;
                self.add(byte);
            } else {
                self.is_gap = self.len > 0;
            }
            i += 1;
        }
    }

    const fn add(&mut self, byte: u8) {
        if self.len < MOST {
            self.text[self.len] = byte;
            self.len += 1;
        }
    }

    /// Cut, so that the whole suffix is there.
    const fn with(mut self, suffix: &[u8]) -> Self {
        while self.len > MOST - suffix.len() {
            self.len -= 1;
            self.text[self.len] = 0;
        }
        let mut i = 0;
        while i < suffix.len() {
            self.add(suffix[i]);
            i += 1;
        }
        self
    }

    const fn words<const WORDS: usize>(&self) -> [u64; WORDS] {
        let mut words = [0; WORDS];
        let mut i = 0;
        while i < self.len {
            words[i / 8] |= (self.text[i] as u64) << (8 * (i % 8));
            i += 1;
        }
        words
    }
}

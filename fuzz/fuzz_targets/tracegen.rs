//! Definitions of tracepoints, and C++ sources with them. Each ends in a model, which can be written, or in mistakes with their places.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use silverpoint_tracegen::{Headers, Input, cpp, read, rust};

/// The input itself is what it includes: definitions of enumerations are searched in it.
struct Itself<'t>(&'t str);
impl Headers for Itself<'_> {
    fn each(&mut self, look: &mut dyn FnMut(&str) -> bool) {
        look(self.0);
    }
}

fuzz_target!(|text: &str| {
    for path in ["a.tracepoints", "a.cpp"] {
        let input = Input { path: Path::new(path), text };
        match read(&[input], None, &mut Itself(text)) {
            Ok(model) => {
                let _ = cpp::header(&model, "a.h");
                let _ = rust::module(&model);
            }
            Err(mistakes) => {
                let lines = text.split('\n').count() as u32 + 1;
                assert!(mistakes.iter().all(|one| one.place.line <= lines && one.place.column > 0));
                assert!(!mistakes.is_empty());
            }
        }
    }
});

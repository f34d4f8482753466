//! Texts that people write: directives and templates. What checks, decides; a template's pieces are bounded by it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use silverpoint_wire::directive::{SiteFacts, check, decide};
use silverpoint_wire::level::Level;
use silverpoint_wire::{function, process, site, template};

fuzz_target!(|input: (&str, &str, &str)| {
    let (text, category, function) = input;
    let facts = SiteFacts { level: Level::Info, category, file: "src/a.rs", line: 3, function };
    let _ = decide(text, &facts);
    if let Err(error) = check(text) {
        assert!(error.column <= text.chars().count() + 1);
    }
    if let Ok(pieces) = template::parse(text) {
        assert!(pieces.len() <= text.len());
    }
    let _ = function::function_name(function);
    let _ = process::lines(text.as_bytes());
    if let Ok((site, size)) = site::SiteDescription::decode(text.as_bytes()) {
        let mut again = Vec::new();
        site.encode(&mut again);
        assert_eq!(again.len(), size);
    }
});

//! The message of arguments that are not a record: for a sink of the program before a record, or without one.

use std::cell::RefCell;
use std::collections::HashMap;

use silverpoint_render::Renderer;
use silverpoint_trace::Site;
use silverpoint_wire::level::{Kind, Level};
use silverpoint_wire::site::SiteDescription;

/// Templates that a thread keeps parsed.
const MOST: usize = 256;

thread_local! {
    static SITES: RefCell<HashMap<(String, String), Site>> = RefCell::new(HashMap::new());
}

/// The text of a template with packed arguments (`spec/templates.md`, `spec/wire.md` section 10), control characters escaped. What contradicts the signature is marked `<damaged>`.
///
/// ```
/// assert_eq!(silverpoint_logger::message("order {} at {:.1f}", "id", &[7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 64]), "order 7 at 2.5");
/// ```
pub fn message(template: &str, signature: &str, args: &[u8]) -> String {
    SITES.with_borrow_mut(|sites| {
        if sites.len() > MOST {
            sites.clear();
        }
        let key = (template.to_owned(), signature.to_owned());
        let site = sites.entry(key).or_insert_with(|| {
            Site::new(SiteDescription {
                kind: Kind::Log,
                level: Level::Info,
                flags: 0,
                line: 0,
                language: 1,
                category: String::new(),
                file: String::new(),
                function: String::new(),
                names: String::new(),
                template: template.to_owned(),
                signature: signature.to_owned(),
            })
        });
        let mut text = String::new();
        // What could not be read is marked in the text.
        let _ = Renderer::new().message(&mut text, site, args);
        text
    })
}

//! The page: files that are part of the program. Nothing is read from the disk.

/// Leads to the page, as a step of this server's own.
pub const TO_PAGE: &[u8] = b"<!doctype html><title>Silverpoint</title><link rel=\"icon\" href=\"data:,\">\
    <meta http-equiv=\"refresh\" content=\"0; url=/\">";

/// Type and bytes of a file of the page.
pub fn file(path: &str) -> Option<(&'static str, &'static [u8])> {
    Some(match path {
        "/" => ("text/html; charset=utf-8", include_bytes!("../assets/index.html")),
        "/app.js" => ("text/javascript; charset=utf-8", include_bytes!("../assets/app.js")),
        "/app.css" => ("text/css; charset=utf-8", include_bytes!("../assets/app.css")),
        _ => return None,
    })
}

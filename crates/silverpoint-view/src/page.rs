//! The page: files that are part of the program. Nothing is read from the disk.

/// Type and bytes of a file of the page.
pub fn file(path: &str) -> Option<(&'static str, &'static [u8])> {
    Some(match path {
        "/" => ("text/html; charset=utf-8", include_bytes!("../assets/index.html")),
        "/app.js" => ("text/javascript; charset=utf-8", include_bytes!("../assets/app.js")),
        "/app.css" => ("text/css; charset=utf-8", include_bytes!("../assets/app.css")),
        _ => return None,
    })
}

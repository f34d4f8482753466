//! Who may ask.

use silverpoint_wire::level::Level;

use crate::builder::{Builder, log};
use crate::client::Server;

fn small() -> Vec<u8> {
    let mut b = Builder::new();
    b.session(1, "/bin/p", 7);
    b.stream(1, 1, 9, "pump");
    b.site(1, 16, &log(Level::Info, "net", 1, "one", ""));
    b.record(1, 1, 16, 1000, &[]);
    b.flush(1, 1, false);
    b.end();
    b.bytes
}

/// Status of a request with these headers besides the cookie.
fn status(server: &Server, method: &str, target: &str, headers: &[(&str, &str)]) -> u16 {
    let cookie = [("cookie", server.cookie.as_str())];
    server.send(method, target, &[&cookie[..], headers].concat(), "").status
}

#[test]
fn only_the_page_of_this_server_is_answered() {
    let server = Server::open(&small());
    let own = server.address.to_string();
    let origin = format!("http://{own}");
    assert_eq!(status(&server, "GET", "/api/trace", &[]), 200);
    assert_eq!(status(&server, "GET", "/api/trace", &[("origin", &origin)]), 200);
    let port = server.address.port();
    for host in [format!("evil.example:{port}"), "evil.example".into(), "127.0.0.1".into(), String::new()] {
        assert_eq!(status(&server, "GET", "/api/trace", &[("host", &host)]), 403, "{host}");
        assert_eq!(status(&server, "GET", &server.opening, &[("host", &host)]), 403, "{host}");
    }
    for foreign in ["http://evil.example", "null", "https://127.0.0.1", "file://"] {
        assert_eq!(status(&server, "GET", "/api/trace", &[("origin", foreign)]), 403, "{foreign}");
    }
    for (site, expected) in [("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)] {
        assert_eq!(status(&server, "GET", "/api/trace", &[("sec-fetch-site", site)]), expected, "{site}");
    }
}

#[test]
fn the_token_opens_one_browser_and_the_cookie_belongs_to_its_server() {
    let mut server = Server::of(&small(), false);
    let without = |target: &str| server.send("GET", target, &[], "").status;
    for target in ["/", "/app.js", "/app.css", "/api/trace", "/api/nothing", "/?token=", "/?token=0", "/?x=1"]
    {
        assert_eq!(without(target), 403, "{target}");
    }
    let wrong = format!("{}0", server.opening);
    assert_eq!(without(&wrong), 403);
    server.exchange();
    let again = server.send("GET", &server.opening, &[], "");
    assert_eq!(again.status, 403);
    assert!(String::from_utf8_lossy(&again.body).contains("has been used"));
    // The browser that has the cookie may open the address again.
    assert_eq!(status(&server, "GET", &server.opening, &[]), 200);
    // The token is no cookie, and that of another server is none here.
    let other = Server::open(&small());
    let (name, _) = server.cookie.split_once('=').unwrap();
    let token = server.opening.split_once('=').unwrap().1;
    let (_, others) = other.cookie.split_once('=').unwrap();
    for value in [token, others] {
        let cookie = format!("{name}={value}");
        assert_eq!(server.send("GET", "/api/trace", &[("cookie", &cookie)], "").status, 403);
    }
    assert_eq!(server.send("GET", "/api/trace", &[("cookie", &other.cookie)], "").status, 403);
}

#[test]
fn the_page_is_a_part_of_the_program_and_every_answer_is_strict() {
    let server = Server::open(&small());
    for (target, kind) in [
        ("/", "text/html; charset=utf-8"),
        ("/app.js", "text/javascript; charset=utf-8"),
        ("/app.css", "text/css; charset=utf-8"),
        ("/api/trace", "application/json"),
        ("/api/nothing", "application/json"),
    ] {
        let answer = server.get(target);
        assert_eq!(answer.header("content-type"), Some(kind), "{target}");
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'") && policy.contains("frame-ancestors 'none'"));
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
    }
    let page = String::from_utf8(server.get("/").body).unwrap();
    assert!(!page.contains("onclick=") && !page.contains("style=\""), "inline code does not run");
    for path in ["/../../etc/passwd", "/%2e%2e/etc/passwd", "/etc/passwd", "/assets/app.js", "/app.js/", "//"]
    {
        assert_eq!(server.get(path).status, 404, "{path}");
    }
}

#[test]
fn what_changes_something_comes_from_the_page() {
    let server = Server::open(&small());
    let post = |headers: &[(&str, &str)]| status(&server, "POST", "/api/sql/cancel", headers);
    let origin = format!("http://{}", server.address);
    assert_eq!(post(&[]), 403);
    assert_eq!(post(&[("origin", "http://evil.example")]), 403);
    assert_eq!(post(&[("origin", &origin)]), 200);
    for (method, target) in [
        ("GET", "/api/sql/cancel"),
        ("PUT", "/api/switches"),
        ("PUT", "/api/sql"),
        ("HEAD", "/api/sql"),
        ("DELETE", "/api/sql"),
    ] {
        assert_eq!(status(&server, method, target, &[]), 405, "{method} {target}");
    }
    assert_eq!(status(&server, "POST", "/api/trace", &[("origin", &origin)]), 405);
}

#[test]
fn files_have_nothing_to_switch() {
    let server = Server::open(&small());
    assert_eq!(server.ask("/api/trace")["can"], serde_json::json!(["records", "sql"]));
    for answer in [server.get("/api/switches"), server.post("/api/switches", "off")] {
        assert_eq!((answer.status, &answer.json()["code"]), (403, &serde_json::json!("refused")));
    }
    assert_eq!(status(&server, "POST", "/api/switches", &[]), 403);
    assert_eq!(server.post("/api/switches?pid=x", "off").status, 400);
}

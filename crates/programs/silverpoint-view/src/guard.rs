//! Who may ask: every check of a request that does not need a trace.
//!
//! Other programs of the machine and pages of the browser can reach the port. A request is answered only if
//! it names this server exactly (no DNS rebinding), comes from its own page, and has the cookie.

use hyper::header::{COOKIE, HOST, HeaderMap, ORIGIN};
use std::net::SocketAddr;

/// Bytes of randomness in a token and in a cookie.
const SECRET_BYTES: usize = 24;

/// The secrets and names of one server.
#[derive(Debug)]
pub struct Guard {
    /// Its address as browsers write it: `127.0.0.1:40123`, `localhost:40123`.
    hosts: Vec<String>,
    /// It listens at all addresses: each may be written. A name that somebody lets point here is none.
    any_address: Option<u16>,
    cookie_name: String,
    cookie: String,
    token: String,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It names another host.
    Host,
    /// Another page sent it.
    Origin,
    /// It has no cookie, or a wrong one.
    Cookie,
}

impl Refusal {
    /// What the browser shows.
    pub fn text(self) -> &'static str {
        match self {
            Self::Host => "This server answers under its own address only.",
            Self::Origin => "This server answers its own page only.",
            Self::Cookie => "Open the address that `silverpoint view` printed: it contains the token.",
        }
    }
}

impl Guard {
    /// With fresh secrets.
    ///
    /// # Errors
    /// The system gives no random bytes.
    pub fn new(address: SocketAddr) -> std::io::Result<Self> {
        let port = address.port();
        let mut hosts = vec![address.to_string()];
        if address.ip().is_loopback() || address.ip().is_unspecified() {
            hosts.extend([format!("127.0.0.1:{port}"), format!("localhost:{port}"), format!("[::1]:{port}")]);
        }
        let any_address = address.ip().is_unspecified().then_some(port);
        Ok(Self {
            hosts,
            any_address,
            cookie_name: format!("silverpoint-{port}"),
            cookie: secret()?,
            token: secret()?,
        })
    }

    /// What the address of the page contains.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Whether this is the token.
    pub fn takes(&self, token: &str) -> bool {
        is_same(token.as_bytes(), self.token.as_bytes())
    }

    /// The header that gives the cookie in exchange for the token.
    pub fn set_cookie(&self) -> String {
        format!("{}={}; HttpOnly; SameSite=Strict; Path=/", self.cookie_name, self.cookie)
    }

    /// Checks the host, and gives it.
    ///
    /// # Errors
    /// It is another one.
    pub fn check_host<'h>(&self, headers: &'h HeaderMap) -> Result<&'h str, Refusal> {
        let mut hosts = headers.get_all(HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok()).ok_or(Refusal::Host)?;
        let is_own = hosts.next().is_none() && self.is_host(host);
        if is_own { Ok(host) } else { Err(Refusal::Host) }
    }

    /// Checks host and origin.
    ///
    /// # Errors
    /// The first check that fails.
    pub fn check_place(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let host = self.check_host(headers)?;
        for origin in headers.get_all(ORIGIN) {
            let is_own = origin.to_str().is_ok_and(|origin| origin.strip_prefix("http://") == Some(host));
            if !is_own {
                return Err(Refusal::Origin);
            }
        }
        // Browsers say who asks. Addresses that a person typed or clicked in a terminal have `none`.
        match headers.get("sec-fetch-site").map(|site| site.as_bytes()) {
            None | Some(b"same-origin" | b"none") => Ok(()),
            Some(_) => Err(Refusal::Origin),
        }
    }

    fn is_host(&self, host: &str) -> bool {
        let is_address = |port: u16| host.parse::<SocketAddr>().is_ok_and(|address| address.port() == port);
        self.hosts.iter().any(|known| known == host) || self.any_address.is_some_and(is_address)
    }

    /// Checks the cookie.
    ///
    /// # Errors
    /// There is none, or it is wrong.
    pub fn check_cookie(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let cookies = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
        let mut pairs =
            cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let is_ours = |(name, value): (&str, &str)| {
            name == self.cookie_name && is_same(value.as_bytes(), self.cookie.as_bytes())
        };
        if pairs.any(is_ours) { Ok(()) } else { Err(Refusal::Cookie) }
    }
}

/// Compares without revealing by its duration where two texts differ.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |sum, (one, other)| sum | (one ^ other)) == 0
}

fn secret() -> std::io::Result<String> {
    let mut bytes = [0u8; SECRET_BYTES];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    fn guard() -> Guard {
        Guard::new("127.0.0.1:40123".parse().unwrap()).unwrap()
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in pairs {
            map.append(*name, HeaderValue::from_str(value).unwrap());
        }
        map
    }

    #[test]
    fn only_the_exact_host_is_answered() {
        for host in ["127.0.0.1:40123", "localhost:40123"] {
            assert_eq!(guard().check_place(&headers(&[("host", host)])), Ok(()), "{host}");
        }
        for host in ["127.0.0.1", "evil.example:40123", "127.0.0.1:40124", "localhost:40123.evil.example", ""]
        {
            assert_eq!(guard().check_place(&headers(&[("host", host)])), Err(Refusal::Host), "{host}");
        }
        assert_eq!(guard().check_place(&headers(&[])), Err(Refusal::Host));
        let twice = headers(&[("host", "127.0.0.1:40123"), ("host", "127.0.0.1:40123")]);
        assert_eq!(guard().check_place(&twice), Err(Refusal::Host));
    }

    #[test]
    fn a_server_at_all_addresses_answers_under_each_and_under_no_name() {
        let guard = Guard::new("0.0.0.0:40123".parse().unwrap()).unwrap();
        for host in ["192.168.1.7:40123", "[2001:db8::1]:40123", "localhost:40123"] {
            assert_eq!(guard.check_place(&headers(&[("host", host)])), Ok(()), "{host}");
        }
        for host in ["evil.example:40123", "192.168.1.7:40124", "192.168.1.7"] {
            assert_eq!(guard.check_place(&headers(&[("host", host)])), Err(Refusal::Host), "{host}");
        }
    }

    #[test]
    fn only_the_own_page_is_answered() {
        let own = ("host", "127.0.0.1:40123");
        assert_eq!(guard().check_place(&headers(&[own, ("origin", "http://127.0.0.1:40123")])), Ok(()));
        for origin in ["null", "http://evil.example", "https://127.0.0.1:40123", "http://localhost:40123"] {
            let found = guard().check_place(&headers(&[own, ("origin", origin)]));
            assert_eq!(found, Err(Refusal::Origin), "{origin}");
        }
        for (site, is_own) in
            [("same-origin", true), ("none", true), ("cross-site", false), ("same-site", false)]
        {
            let found = guard().check_place(&headers(&[own, ("sec-fetch-site", site)]));
            assert_eq!(found.is_ok(), is_own, "{site}");
        }
    }

    #[test]
    fn the_cookie_is_not_the_token_and_each_server_has_its_own() {
        let (one, other) = (guard(), guard());
        let given = one.set_cookie();
        assert!(given.contains("HttpOnly") && given.contains("SameSite=Strict"));
        let pair = given.split(';').next().unwrap();
        let both = format!("a=b; {pair}");
        assert_eq!(one.check_cookie(&headers(&[("cookie", &both)])), Ok(()));
        assert_eq!(other.check_cookie(&headers(&[("cookie", pair)])), Err(Refusal::Cookie));
        let token = format!("silverpoint-40123={}", one.token());
        assert_eq!(one.check_cookie(&headers(&[("cookie", &token)])), Err(Refusal::Cookie));
        assert_eq!(one.check_cookie(&headers(&[])), Err(Refusal::Cookie));
        assert!(one.takes(one.token()) && !one.takes(other.token()) && !one.takes(""));
    }
}

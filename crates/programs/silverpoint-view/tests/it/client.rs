//! A server of a file that the test has written, and a client that sends exactly the given headers.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

use serde_json::Value;
use silverpoint_read::OpenOptions;
use silverpoint_view::{Options, Source, Views, serve};
use tempfile::{Builder, TempPath};

/// How long is waited for what must come.
const PATIENCE: Duration = Duration::from_secs(300);

pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let line = self.head.lines().find_map(|line| line.split_once(':').filter(|(key, _)| *key == name));
        line.map(|(_, value)| value.trim())
    }
}

pub struct Server {
    pub path: TempPath,
    pub address: SocketAddr,
    /// As it was printed: `/?token=…`.
    pub opening: String,
    pub cookie: String,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// A file for one test, removed with its name.
pub fn written(bytes: &[u8]) -> TempPath {
    let mut file = Builder::new().prefix("silverpoint-view-").suffix(".silver").tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.into_temp_path()
}

impl Server {
    /// Serves a file; the cookie is not fetched yet.
    pub fn of(bytes: &[u8], follow: bool) -> Self {
        let path = written(bytes);
        let options = OpenOptions { only: true, follow, utc: true };
        let views = Views::open(Source::Files { paths: vec![path.to_path_buf()], options }).unwrap();
        let (sender, receiver) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let listen = "127.0.0.1:0".parse().unwrap();
            let ready = |url: &str| sender.send(url.to_owned()).unwrap();
            serve(views, Options { listen, idle: None }, &flag, ready).unwrap();
        });
        let url = receiver.recv_timeout(PATIENCE).unwrap();
        let (address, opening) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
        let (address, opening) = (address.parse().unwrap(), format!("/{opening}"));
        Self { path, address, opening, cookie: String::new(), stop, thread: Some(thread) }
    }

    /// The same, and the token has been exchanged.
    pub fn open(bytes: &[u8]) -> Self {
        let mut server = Self::of(bytes, false);
        server.exchange();
        server
    }

    pub fn exchange(&mut self) {
        let answer = self.send("GET", &self.opening, &[], "");
        assert_eq!((answer.status, answer.header("content-type")), (200, Some("text/html; charset=utf-8")));
        let cookie = answer.header("set-cookie").unwrap();
        self.cookie = cookie.split(';').next().unwrap().to_owned();
    }

    /// Sends a request with exactly these headers, besides `connection`, and `host` unless it is among them.
    pub fn send(&self, method: &str, target: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut request = format!("{method} {target} HTTP/1.1\r\nconnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "host") {
            request += &format!("host: {}\r\n", self.address);
        }
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        if !body.is_empty() {
            request += &format!("content-length: {}\r\n", body.len());
        }
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(format!("{request}\r\n{body}").as_bytes()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let at = bytes.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
        let head = String::from_utf8(bytes[..at].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head, body: bytes[at + 4..].to_vec() }
    }

    pub fn get(&self, target: &str) -> Answer {
        self.send("GET", target, &[("cookie", &self.cookie)], "")
    }

    pub fn post(&self, target: &str, body: &str) -> Answer {
        let origin = format!("http://{}", self.address);
        self.send("POST", target, &[("cookie", &self.cookie), ("origin", &origin)], body)
    }

    /// The JSON of a route.
    pub fn ask(&self, target: &str) -> Value {
        let answer = self.get(target);
        assert_eq!(answer.status, 200, "{target}: {}", String::from_utf8_lossy(&answer.body));
        answer.json()
    }

    /// The same when all has been read.
    pub fn ask_finished(&self, target: &str) -> Value {
        self.wait_for(target, |answer| answer["progress"]["state"] == "finished")
    }

    pub fn wait_for(&self, target: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let answer = self.ask(target);
            if is_it(&answer) {
                return answer;
            }
            assert!(Instant::now() < until, "{answer}");
            sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let ended = self.thread.take().map(JoinHandle::join);
        if !std::thread::panicking() {
            ended.unwrap().unwrap();
        }
    }
}

/// A text as a part of an address.
pub fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

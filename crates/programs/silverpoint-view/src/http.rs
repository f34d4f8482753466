//! Requests and answers: who may ask, which route, and the headers that every answer has.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::answers;
use crate::guard::Guard;
use crate::page;
use crate::params::{Params, Wrong};
use crate::sql::{QUERY_MAX, Sql};
use crate::switches::Switches;
use crate::worker::{Handler, Worker};

/// What scripts and styles of the page may do.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/// How long an answer waits for tables to be opened, and between two looks.
const TABLES_WAIT: Duration = Duration::from_secs(20);
const TABLES_PAUSE: Duration = Duration::from_millis(10);

/// What all connections share.
pub struct Server {
    /// Who may ask.
    pub guard: Guard,
    /// The token has been exchanged.
    pub is_token_used: AtomicBool,
    /// Where records are asked for.
    pub worker: Worker,
    /// Where queries are.
    pub sql: Sql,
    /// Sites that can be switched, if any.
    pub switches: Option<Arc<Switches>>,
    /// When the server began.
    pub begun: Instant,
    /// Milliseconds after that, of the last request.
    pub asked: AtomicU64,
}

/// A body that is complete.
pub struct Whole(Option<Bytes>);

impl Body for Whole {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}

/// Answers one request.
pub async fn answer(server: Arc<Server>, request: Request<Incoming>) -> Result<Response<Whole>, Infallible> {
    server.asked.store(server.begun.elapsed().as_millis() as u64, Ordering::Relaxed);
    Ok(respond(&server, request).await)
}

async fn respond(server: &Server, request: Request<Incoming>) -> Response<Whole> {
    let (path, query) = (request.uri().path().to_owned(), request.uri().query().unwrap_or("").to_owned());
    let is_exchange = path == "/" && request.method() == Method::GET && !query.is_empty();
    // A file may lead here, or a mail: who has the token may come from anywhere.
    let place = match is_exchange {
        true => server.guard.check_host(request.headers()).map(|_| ()),
        false => server.guard.check_place(request.headers()),
    };
    if let Err(refusal) = place {
        return text(StatusCode::FORBIDDEN, refusal.text());
    }
    let has_cookie = server.guard.check_cookie(request.headers());
    if is_exchange {
        return exchange(server, &query, has_cookie.is_ok());
    }
    if let Err(refusal) = has_cookie {
        return text(StatusCode::FORBIDDEN, refusal.text());
    }
    if request.method() == Method::GET
        && let Some((kind, bytes)) = page::file(&path)
    {
        return whole(StatusCode::OK, kind, Bytes::from_static(bytes));
    }
    let found = match (request.method(), answers::of(&path)) {
        (&Method::GET, Some(handler)) => ask(server, handler, &query).await,
        (_, Some(_)) => Err(method()),
        (_, None) => others(server, &path, &query, request).await,
    };
    match found {
        Ok(body) => whole(StatusCode::OK, "application/json", body.into()),
        Err(wrong) => {
            let status = StatusCode::from_u16(wrong.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            let body = json!({"error": wrong.text, "code": wrong.code}).to_string();
            whole(status, "application/json", body.into())
        }
    }
}

fn method() -> Wrong {
    Wrong { status: 405, code: "method", text: "this route takes another method".to_owned() }
}

/// Gives the cookie for the token, once.
fn exchange(server: &Server, query: &str, has_cookie: bool) -> Response<Whole> {
    let token = Params::parse(query).ok().and_then(|mut params| {
        let token = params.text("token").ok()??;
        params.end().is_ok().then_some(token)
    });
    let is_right = token.is_some_and(|token| server.guard.takes(&token));
    if !is_right {
        return text(StatusCode::FORBIDDEN, "This address has no valid token.");
    }
    if server.is_token_used.swap(true, Ordering::SeqCst) && !has_cookie {
        return text(
            StatusCode::FORBIDDEN,
            "This address has been used: it opens one browser, once. Start `silverpoint view` again.",
        );
    }
    // A redirection would count as a request of the page that led here, and would have no cookie.
    let mut response = whole(StatusCode::OK, "text/html; charset=utf-8", Bytes::from_static(page::TO_PAGE));
    if let Ok(cookie) = HeaderValue::from_str(&server.guard.set_cookie()) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// Has the thread of the readers answer.
async fn ask(server: &Server, handler: Handler, query: &str) -> Result<Vec<u8>, Wrong> {
    let params = Params::parse(query)?;
    let (sender, receiver) = oneshot::channel();
    server.worker.send(Box::new(move |views| {
        // A browser that has gone gets no answer.
        if !sender.is_closed() {
            let _ = sender.send(handler(views, params));
        }
    }));
    receiver.await.unwrap_or_else(|_| Err(Wrong::failed("the thread that reads has ended")))
}

/// Routes that do not concern records.
async fn others(
    server: &Server,
    path: &str,
    query: &str,
    request: Request<Incoming>,
) -> Result<Vec<u8>, Wrong> {
    let mut params = Params::parse(query)?;
    let is_post = request.method() == Method::POST;
    if is_post && !request.headers().contains_key(header::ORIGIN) {
        let text = "a POST must come from the page: it has no Origin".to_owned();
        return Err(Wrong { status: 403, code: "refused", text });
    }
    let is_known = matches!(path, "/api/sql" | "/api/sql/cancel" | "/api/sql/tables" | "/api/switches");
    let value: Value = match (path, request.method()) {
        ("/api/sql", &Method::GET) => {
            let (job, from) =
                (params.needed("job", 0..=u64::MAX)?, params.number("from", 0..=usize::MAX, 0)?);
            params.end()?;
            server.sql.rows(job, from)?
        }
        ("/api/sql", &Method::POST) => {
            params.end()?;
            server.sql.begin(collect(request.into_body()).await?)?
        }
        ("/api/sql/cancel", &Method::POST) => {
            params.end()?;
            server.sql.cancel()
        }
        ("/api/sql/tables", &Method::GET) => {
            params.end()?;
            tables(server).await?
        }
        ("/api/switches", &Method::GET) => {
            let file = params.text("file")?;
            let line = params.number("line", 0..=u32::MAX, 0)?;
            params.end()?;
            switches(server, move |switches| switches.list(file.as_deref().map(|file| (file, line)))).await?
        }
        ("/api/switches", &Method::POST) => {
            let pid = params.optional("pid", 0..=u32::MAX)?;
            params.end()?;
            let text = collect(request.into_body()).await?;
            switches(server, move |switches| switches.direct(pid, &text)).await?
        }
        _ if is_known => return Err(method()),
        _ => {
            return Err(Wrong { status: 404, code: "not_found", text: "there is nothing here".to_owned() });
        }
    };
    Ok(value.to_string().into_bytes())
}

/// Names of tables. To open them takes a moment, for which the page need not ask again and again.
async fn tables(server: &Server) -> Result<Value, Wrong> {
    let begun = Instant::now();
    loop {
        match server.sql.tables() {
            Err(wrong) if wrong.code == "busy" && begun.elapsed() < TABLES_WAIT => {
                tokio::time::sleep(TABLES_PAUSE).await;
            }
            found => return found,
        }
    }
}

/// Looks into sessions on a thread of its own: a busy session is waited for.
async fn switches(
    server: &Server,
    look: impl FnOnce(&Switches) -> Result<Value, Wrong> + Send + 'static,
) -> Result<Value, Wrong> {
    let Some(switches) = server.switches.clone() else {
        let text = "sites are switched only of processes, by a server that listens at a loopback address";
        return Err(Wrong { status: 403, code: "refused", text: text.to_owned() });
    };
    tokio::task::spawn_blocking(move || look(&switches)).await.map_err(Wrong::failed)?
}

/// A query, or directives.
async fn collect(mut body: Incoming) -> Result<String, Wrong> {
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let frame = frame.map_err(Wrong::failed)?;
        bytes.extend_from_slice(frame.data_ref().map_or(&[], |data| data.as_ref()));
        if bytes.len() > QUERY_MAX {
            let text = format!("the body is longer than {QUERY_MAX} bytes");
            return Err(Wrong { status: 413, code: "too_large", text });
        }
    }
    String::from_utf8(bytes).map_err(|_| Wrong::usage("the body is no text in UTF-8"))
}

fn text(status: StatusCode, message: &'static str) -> Response<Whole> {
    whole(status, "text/plain; charset=utf-8", Bytes::from_static(message.as_bytes()))
}

fn whole(status: StatusCode, kind: &'static str, body: Bytes) -> Response<Whole> {
    let mut response = Response::new(Whole(Some(body)));
    *response.status_mut() = status;
    for (name, value) in [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::CACHE_CONTROL, "no-store"),
        (header::HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (header::HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

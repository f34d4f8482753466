//! Forms that programs of `tracing`, `log` and `async_trait` are written in.

use std::fmt;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use silverpoint::{error, info, instrument, warn};

use crate::{Role, Scene, Test, reader};

pub const TESTS: &[Test] = &[
    ("functions_that_give_futures_were_beside_them", functions_that_give_futures_were_beside_them),
    (
        "attributes_and_texts_of_other_crates_did_not_compile",
        attributes_and_texts_of_other_crates_did_not_compile,
    ),
];
pub const ROLES: &[Role] = &[("futures", futures), ("other_forms", other_forms)];

/// Neither the attribute nor the text knows its type.
#[derive(Debug)]
struct Failed(u8);

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "failed with {}", self.0)
    }
}

impl std::error::Error for Failed {}

type Pinned<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
type BoxFuture<'a, T> = Pinned<'a, T>;

async fn wait() {
    let mut polls = 0;
    std::future::poll_fn(|context| {
        polls += 1;
        context.waker().wake_by_ref();
        if polls == 2 { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

struct Service;

impl Service {
    /// As `async_trait` makes it of an `async fn`.
    #[instrument(skip(self), err)]
    fn of_trait<'a, 'async_trait>(
        &'a self,
        id: u64,
    ) -> Pin<Box<dyn Future<Output = Result<u64, Failed>> + Send + 'async_trait>>
    where
        'a: 'async_trait,
        Self: 'async_trait,
    {
        Box::pin(async move {
            if let Some(__ret) = None::<Result<u64, Failed>> {
                #[allow(unreachable_code)]
                return __ret;
            }
            let __self = self;
            let id = id;
            let __ret: Result<u64, Failed> = {
                info!("of_trait before");
                wait().await;
                info!("of_trait after");
                let _ = __self;
                if id > 1 { Err(Failed(7)) } else { Ok(id) }
            };
            #[allow(unreachable_code)]
            __ret
        })
    }

    #[instrument(skip_all)]
    fn named_type<'a>(&'a self, name: &'a str) -> BoxFuture<'a, usize> {
        info!("named_type at once");
        let future = async move {
            wait().await;
            info!("named_type later");
            name.len()
        };
        Box::pin(future)
    }

    /// The type's name says nothing, what it gives does.
    #[instrument(skip_all)]
    fn other_name(&self) -> Pinned<'_, ()> {
        Box::pin(async move {
            wait().await;
            info!("other_name later");
        })
    }

    #[instrument(skip(self), ret)]
    fn hidden(&self, n: u8) -> impl Future<Output = u8> + use<> {
        async move {
            wait().await;
            info!("hidden later");
            n
        }
    }

    /// No future.
    #[instrument(skip(self))]
    fn plain(&self) -> Box<dyn Fn() -> u8> {
        info!("plain at once");
        Box::new(|| 1)
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return value;
        }
    }
}

fn futures() {
    assert_eq!(block_on(Service.of_trait(1)).unwrap(), 1);
    assert!(block_on(Service.of_trait(2)).is_err());
    assert_eq!(block_on(Service.named_type("four")), 4);
    block_on(Service.other_name());
    assert_eq!(block_on(Service.hidden(3)), 3);
    assert_eq!(Service.plain()(), 1);
    info!("outside");
}

fn functions_that_give_futures_were_beside_them() {
    let scene = Scene::new();
    scene.run("futures", &[("SILVERPOINT_FILTER", "debug")]);
    let session = reader::only_session(scene.root());
    let (mut open, mut told) = (Vec::new(), Vec::new());
    for record in session.records() {
        if record.what == "end" {
            open.pop();
            continue;
        }
        match session.sites[&record.site].kind as u8 {
            3 => open.push(record.what.clone()),
            0 | 2 => told.push(format!("{} in {:?}", record.what, open.last().map_or("", String::as_str))),
            _ => {}
        }
    }
    let expected = [
        "of_trait before in \"of_trait\"",
        "of_trait after in \"of_trait\"",
        "of_trait before in \"of_trait\"",
        "of_trait after in \"of_trait\"",
        "of_trait.error in \"of_trait\"",
        "named_type at once in \"named_type\"",
        "named_type later in \"named_type\"",
        "other_name later in \"other_name\"",
        "hidden later in \"hidden\"",
        "hidden.return in \"hidden\"",
        "plain at once in \"plain\"",
        "outside in \"\"",
    ];
    assert_eq!(told, expected);
}

/// As `tracing` has them.
#[allow(dead_code)]
struct Level;

#[instrument("renamed", level = Level::DEBUG)]
fn by_constant() {}

#[instrument(level = 2)]
fn by_number() {}

#[instrument(err(Debug, level = "warn"), ret(level = Level::INFO), level = "debug")]
fn with_levels(n: u8) -> Result<u8, Failed> {
    if n > 1 { Err(Failed(n)) } else { Ok(n) }
}

fn generic<T: fmt::Display>(value: T) {
    info!("generic {}", value);
}

fn other_forms() {
    by_constant();
    by_number();
    let _ = (with_levels(1), with_levels(2));
    let (failed, w, p) = (Failed(3), 8_usize, 1_usize);
    // Errors of any type, and what has a text alone.
    error!("{}", failed);
    error!("{failed}, {failed:?}, {}", Failed(4));
    let boxed: Box<dyn std::error::Error> = Box::new(Failed(5));
    error!("{}", boxed);
    generic(Failed(6));
    generic(7);
    // Numbers stay numbers.
    info!("typed {} {:>4}", 1_u8, 2_u16);
    info!("[{:>w$}] [{:<1$}] [{:.*}] [{:*^+w$.p$}]", "a", 4, 2, 1.0, 2.25);
    info!("[{text:>width$}]", text = "b", width = 3);
    info!("[{0:>w$}] {0}", 5);
    // Keys as `log` has them.
    let k = Failed(8);
    warn!(k:?; "debug");
    warn!(k:%, n = 1; "display {}", 2);
    warn!(other:? = Failed(9), k:err; "both");
    warn!(target: "net", k:debug; "with a target");
}

fn attributes_and_texts_of_other_crates_did_not_compile() {
    let scene = Scene::new();
    scene.run("other_forms", &[("SILVERPOINT_FILTER", "trace")]);
    let session = reader::only_session(scene.root());
    let level = |what: &str| session.site(what).level as u8;
    assert_eq!((level("renamed"), level("by_number")), (1, 1));
    assert_eq!((level("with_levels"), level("with_levels.error"), level("with_levels.return")), (1, 3, 2));
    let records = session.records().into_iter().filter(|record| record.what != "end");
    let logs = records.filter(|record| session.sites[&record.site].kind as u8 == 0);
    let told: Vec<String> = logs.map(|record| format!("{} <- {}", record.what, record.args)).collect();
    let expected = [
        r#"{} <- "failed with 3""#,
        r#"{0}, {2:?}, {1} <- "failed with 3", "failed with 4", "Failed(3)""#,
        r#"{} <- ["failed with 5"]"#,
        r#"generic {} <- "failed with 6""#,
        r#"generic {} <- "7""#,
        r#"typed {} {:>4} <- 1, 2"#,
        r#"[{}] [{}] [{}] [{}] <- "       a", "4   ", "1.00", "**+2.2**""#,
        r#"[{}] <- "  b""#,
        r#"[{}] {} <- "       5", 5"#,
        r#"debug <- "Failed(8)""#,
        r#"display {} <- 2, "failed with 8", 1"#,
        r#"both <- "Failed(9)", "failed with 8""#,
        r#"with a target <- "Failed(8)""#,
    ];
    assert_eq!(told, expected);
}

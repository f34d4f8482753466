//! Nothing is allocated in a tracepoint.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::BTreeMap;

use silverpoint::{Trace, event, info, span, warn};

use crate::{Role, Scene, Test, reader};

pub struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: by the caller.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: by the caller.
        unsafe { System.dealloc(at, layout) }
    }
}

fn allocations(f: impl FnOnce()) -> u64 {
    let before = COUNT.get();
    f();
    COUNT.get() - before
}

pub const TESTS: &[Test] = &[("nothing_is_allocated", nothing_is_allocated)];
pub const ROLES: &[Role] = &[("allocate_nothing", allocate_nothing)];

fn nothing_is_allocated() {
    let scene = Scene::new();
    scene.run("allocate_nothing", &[("SILVERPOINT_FILTER", "trace")]);
    let session = reader::only_session(scene.root());
    assert_eq!(session.losses(), [0; 8]);
    assert!(session.counters.streams_next > 2, "the ring grew");
}

#[derive(Trace)]
struct Point {
    x: f64,
    tags: Vec<String>,
}

#[derive(Trace)]
#[trace(recursive)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
struct Tree {
    name: String,
    number: f32,
    below: Vec<Tree>,
}

fn allocate_nothing() {
    let leaf = || Tree { name: "leaf".into(), number: 0.5, below: Vec::new() };
    let tree = Tree { name: "root".into(), number: 1.5, below: vec![leaf(), leaf()] };
    let point = Point { x: 1.0, tags: vec!["a".into(), "b".into()] };
    let map = BTreeMap::from([("k", 1)]);
    let (lock, cell) = (std::sync::Mutex::new(String::from("locked")), std::cell::RefCell::new(vec![1u8, 2]));
    let error = std::fmt::Error;
    // Everything is included: the session, the first registration of each site, the thread's first ring, growth.
    let count = allocations(|| {
        for n in 0..20_000u32 {
            let _span = span!("load", n);
            info!("order {} at {:.2}", n, f64::from(n));
            event!("all", point, map, text = "some text", n);
            event!(
                "busy",
                lock,
                cell,
                error = silverpoint::Causes(&error),
                secret = silverpoint::Secret(&map)
            );
            event!("tree", tree, n);
            #[cfg(feature = "serde")]
            event!("serialized", tree = silverpoint::Serde(&tree), n);
            warn!(?map, %n, "formatted: {}", format_args!("{n:?} {}", point.x));
        }
    });
    assert_eq!(count, 0, "allocations");
    // The count counts.
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))), 1);
}

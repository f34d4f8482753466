//! The tracepoints.

/// Makes the macro of a level.
macro_rules! log_macros {
    ($d:tt $($name:ident $level:ident $text:literal;)*) => {$(
        #[doc = $text]
        ///
        /// First `target: "category",` unless the module is the category. Then a limit if there is one
        /// (`every: 100,` `first: 3,` `per: Duration::from_secs(1),` counted in executions while the site is
        /// on). Then fields, a text with placeholders, its arguments, and more fields. See the [crate's
        /// page](crate) for all forms. Arguments are not evaluated when the site is off.
        #[macro_export]
        macro_rules! $name {
            ($d($d tokens:tt)*) => {
                $d crate::__private::site!($d crate log $level [$d($d tokens)*])
            };
        }
    )*};
}

log_macros! { $
    trace Trace "Records at level trace: the finest steps.";
    debug Debug "Records at level debug: for finding a fault.";
    info Info "Records at level info: normal events of note.";
    warn Warn "Records at level warn: unexpected, handled.";
    error Error "Records at level error: something failed.";
    fatal Fatal "Records at level fatal: the program cannot go on.";
}

/// Records a text as debug output: what Windows programs give to OutputDebugString. The record has category
/// `debug_output` and level debug; `silverpoint debug` shows it.
///
/// ```
/// # let path = "a.txt";
/// silverpoint::debug_output!("loaded\n");
/// silverpoint::debug_output!(format!("loaded {path}\n"));
/// ```
#[macro_export]
macro_rules! debug_output {
    ($text:expr $(,)?) => {
        $crate::debug!(target: "debug_output", "{}", ::core::convert::AsRef::<str>::as_ref(&$text))
    };
}

/// Records a named event with values, at level info: `event!("order.filled", id, px, venue = name)`; `event!(level: warn, "order.late", id)`. A value without a name has that of its source.
#[macro_export]
macro_rules! event {
    ($($tokens:tt)*) => {
        $crate::__private::site!($crate event Info [$($tokens)*])
    };
}

/// Begins a span, at level debug, that ends when the guard it gives is dropped: `let _load = span!("load", path);`
///
/// `level: info,` first for another level, as in all macros of this page whose name is no level.
#[macro_export]
macro_rules! span {
    ($($tokens:tt)*) => {
        $crate::__private::site!($crate span Debug [$($tokens)*])
    };
}

/// Records the value of a counter, at level debug: `counter!("queue", len)`.
#[macro_export]
macro_rules! counter {
    ($($tokens:tt)*) => {
        $crate::__private::site!($crate counter Debug [$($tokens)*])
    };
}

/// Records a point in time with a name, and values if there are any, at level debug: `instant!("frame")`.
#[macro_export]
macro_rules! instant {
    ($($tokens:tt)*) => {
        $crate::__private::site!($crate instant Debug [$($tokens)*])
    };
}

/// Macros whose first value is an id.
macro_rules! id_macros {
    ($d:tt $($name:ident $text:literal;)*) => {$(
        #[doc = $text]
        #[macro_export]
        macro_rules! $name {
            ($d($d tokens:tt)*) => {
                $d crate::__private::site!($d crate $name Debug [$d($d tokens)*])
            };
        }
    )*};
}

id_macros! { $
    async_begin "Begins, at level debug, a stretch of time that may end in another thread: `async_begin!(\"fetch\", id, url)`. Begin and end belong together by category, name and id.";
    async_end "Ends what [`async_begin!`](crate::async_begin) has begun: `async_end!(\"fetch\", id, bytes)`.";
    async_instant "Records a point within it: `async_instant!(\"fetch\", id, status)`.";
    flow_begin "Begins a way through threads: `flow_begin!(\"order\", id)`.";
    flow_step "Records a station of that way: `flow_step!(\"order\", id)`.";
    flow_end "Ends that way: `flow_end!(\"order\", id)`.";
}

/// Records, at level debug, that what has the second id came from what has the first: `link!(request, job)`.
#[macro_export]
macro_rules! link {
    (level: $level:expr, $from:expr, $to:expr $(,)?) => {
        $crate::__private::site!($crate link Debug [level: $level, "link", from = $crate::Id::number($from), to = $crate::Id::number($to)])
    };
    ($from:expr, $to:expr $(,)?) => {
        $crate::__private::site!($crate link Debug ["link", from = $crate::Id::number($from), to = $crate::Id::number($to)])
    };
}

/// Begins a span, at level debug, that ends when its value is dropped, in any thread: `let fetch =
/// async_span!("fetch", url);`
#[macro_export]
macro_rules! async_span {
    ($($tokens:tt)*) => {
        $crate::__private::site!($crate async_span Debug [$($tokens)*])
    };
}

/// Begins a span, at level debug, that has the name of the function and ends when the guard it gives is dropped: `let _scope = scope!();`,
/// `scope!(level: info)`.
#[macro_export]
macro_rules! scope {
    ($($tokens:tt)*) => {
        $crate::__private::site!($crate scope Debug [$($tokens)*])
    };
}

/// Whether a tracepoint of a level at this place would record: `if enabled!(Debug) { … }`, `enabled!(target: "net", Debug)`.
#[macro_export]
macro_rules! enabled {
    (target: $target:expr, $level:ident) => {
        $crate::__private::site!($crate enabled $level [target: $target])
    };
    ($level:ident) => {
        $crate::__private::site!($crate enabled $level [])
    };
}

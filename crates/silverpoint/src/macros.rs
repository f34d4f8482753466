//! The tracepoints.

/// Makes the macro of a level.
macro_rules! log_macros {
    ($d:tt $($name:ident $level:ident $text:literal;)*) => {$(
        #[doc = $text]
        ///
        /// `target: "category",` first if it is not to be the module; then fields, a text with placeholders, its arguments, and more fields. See the
        /// [crate's page](crate) for all forms. Arguments are not evaluated when the site is off.
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
    debug Debug "Records at level debug: for whoever looks for a fault.";
    info Info "Records at level info: normal events of note.";
    warn Warn "Records at level warn: unexpected, handled.";
    error Error "Records at level error: something failed.";
    fatal Fatal "Records at level fatal: the program cannot go on.";
}

/// Records a named event with values, at level info: `event!("order.filled", id, px, venue = name)`. A value without a name has that of its source.
#[macro_export]
macro_rules! event {
    ($($tokens:tt)*) => {
        $crate::__private::site!($crate event Info [$($tokens)*])
    };
}

/// Begins a span, at level info, that ends when the guard it gives is dropped: `let _load = span!("load", path);`
#[macro_export]
macro_rules! span {
    ($($tokens:tt)*) => {
        $crate::__private::site!($crate span Info [$($tokens)*])
    };
}

/// Records the value of a counter, at level info: `counter!("queue", len)`.
#[macro_export]
macro_rules! counter {
    ($($tokens:tt)*) => {
        $crate::__private::site!($crate counter Info [$($tokens)*])
    };
}

/// Records a point in time with a name, and values if there are any, at level info: `instant!("frame")`.
#[macro_export]
macro_rules! instant {
    ($($tokens:tt)*) => {
        $crate::__private::site!($crate instant Info [$($tokens)*])
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

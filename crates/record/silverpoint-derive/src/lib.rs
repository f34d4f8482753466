//! Procedural macros of the crate `silverpoint`: `#[derive(Trace)]`, and the one behind `info!`, `event!`, `span!` and their like.
//!
//! **The invariant.** The code they make names only public items of `silverpoint`, which documents them.
//!
//! ```
//! #[derive(silverpoint::Trace)]
//! struct Order { id: u64, price: f64 }
//!
//! #[silverpoint::instrument]
//! fn place(order: &Order) {
//!     silverpoint::info!("order {} at {:.2}", order.id, order.price);
//! }
//!
//! let capture = silverpoint_testing::Capture::start();
//! place(&Order { id: 7, price: 101.25 });
//! capture.expect_message("order 7 at 101.25").within("place").once();
//! ```
//!
//! ```text
//!  site       a tracepoint's tokens: target, fields, template, arguments ─▶ the code at the call
//!  template   placeholders: syntax, and which argument each one means
//!  instrument a function in a span: the same code, made of its name and arguments
//!  atrace     a function as a stretch of time of ATrace, for `silverpoint-atrace`
//!  derive     own types: signature, size and encoding from fields and variants
//!  bind       own types: from and to JSON and CBOR, for `silverpoint-bind`
//! ```
//!
//! Use them through `silverpoint`.

mod atrace;
mod bind;
mod contains;
mod derive;
mod instrument;
mod item;
mod site;
mod template;

use proc_macro::TokenStream;

/// Makes a type's values recordable, with the names of its fields and variants.
///
/// A struct becomes a record; its tuple fields are named `0`, `1` …. An enum without data becomes an enumeration with labels, one with
/// data a variant of records. `#[trace(skip)]` leaves a field out; `#[trace(rename = "name")]` gives a
/// field, a variant or the type another name. `#[trace(recursive)]` is for a type that contains itself (a
/// tree, a list of nodes), whose signature would have no end. Its value is recorded as one item that carries
/// its types itself, down to a depth of 8. Of types that contain each other, one must have it. `#[trace(crate
/// = path)]` on the type gives the path of the crate `silverpoint`, when it has been renamed.
#[proc_macro_derive(Trace, attributes(trace))]
pub fn derive_trace(input: TokenStream) -> TokenStream {
    derive::expand(syn::parse_macro_input!(input as syn::DeriveInput))
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Makes a type's values readable from and writable to JSON and CBOR, by its names in traces: for `silverpoint-bind`, which documents it.
///
/// A struct is an object; one with one unnamed field is that field's value, one with several is an array. An
/// enum without data is its name; with data it is an object of the variant's name and its value
/// (`spec/bind.md`). `#[trace(rename = "name")]` and `#[trace(skip)]` apply here, too.
///
/// | attribute | effect |
/// |---|---|
/// | `#[bind(rename = "name")]` on a field or variant | another name |
/// | `#[bind(default)]`, `#[bind(default = expr)]` on a field | it may be missing |
/// | `#[bind(skip)]` on a field | it is not written, and has its default when read |
/// | `#[bind(rest)]` on a field of the type `silverpoint_bind::Rest` | it keeps the members that the type does not know |
/// | `#[bind(refuse_unknown)]` on the type | members that it does not know are errors, not passed over |
/// | `#[bind(crate = path)]` on the type | where the crate `silverpoint_bind` is, when it has been renamed |
#[proc_macro_derive(Bind, attributes(bind, trace))]
pub fn derive_bind(input: TokenStream) -> TokenStream {
    bind::expand(syn::parse_macro_input!(input as syn::DeriveInput))
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// A span around a function, with its arguments as fields.
///
/// ```text
/// #[silverpoint::instrument(level = "info", skip(pool), err)]
/// fn load(id: u64, pool: &Pool) -> Result<Order, Error> { … }
/// ```
///
/// The span has the name of the function and begins before its body; what the arguments' patterns bind is recorded, typed; `self` is not. An `async fn` gets an
/// async span, from its first poll until it is done or dropped, in all its threads. Arguments are not read
/// while the span is off.
///
/// | option | effect |
/// |---|---|
/// | `name = "…"` | another name |
/// | `level = "info"` | another level than debug |
/// | `target = "…"` | another category than the module |
/// | `skip(a, b)`, `skip_all` | these arguments are not recorded |
/// | `fields(n = a.len(), ?b, %c, id = self.id)` | more fields, as tracepoints have them; one with the name of an argument replaces it |
/// | `ret`, `ret(Debug)`, `ret(Display)` | an event `name.return` with the `value`, typed or as text, at the span's level |
/// | `err`, `err(Debug)`, `err(Causes)` | an event `name.error` at level error, when an `Err` is returned: its text, or the texts of it and its sources. With `ret`, that tells what is in an `Ok` |
/// | `crate = path` | where the crate `silverpoint` is, when it has been renamed |
#[proc_macro_attribute]
pub fn instrument(options: TokenStream, function: TokenStream) -> TokenStream {
    or_as_it_is(instrument::expand(options.into(), function.clone().into()), function)
}

/// A stretch of time of ATrace around a function: for `silverpoint-atrace`, which documents it.
#[proc_macro_attribute]
pub fn traced(options: TokenStream, function: TokenStream) -> TokenStream {
    or_as_it_is(atrace::expand(options.into(), function.clone().into()), function)
}

/// What was made of a function; or the error, with the function as it is, so that nothing else is found to be missing.
fn or_as_it_is(made: syn::Result<proc_macro2::TokenStream>, function: TokenStream) -> TokenStream {
    made.map_or_else(
        |error| {
            let mut both = TokenStream::from(error.into_compile_error());
            both.extend(function);
            both
        },
        TokenStream::from,
    )
}

/// The code of one tracepoint. Called by the macros of `silverpoint` alone: `site!($crate kind Level [tokens])`.
#[doc(hidden)]
#[proc_macro]
pub fn site(input: TokenStream) -> TokenStream {
    match syn::parse::<site::Site>(input) {
        Ok(site) => site.expand(),
        Err(error) => error.into_compile_error(),
    }
    .into()
}

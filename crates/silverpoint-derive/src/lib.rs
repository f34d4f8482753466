//! Procedural macros of the crate `silverpoint`: `#[derive(Trace)]`, and the one behind `info!`, `event!`, `span!` and their like.
//!
//! ```text
//!  site       a tracepoint's tokens: target, fields, template, arguments ─▶ the code at the call
//!  template   placeholders: syntax, and which argument each one means
//!  derive     own types: signature, size and encoding from fields and variants
//! ```
//!
//! Use them through `silverpoint`, which documents them; the code they make names only its public items.

mod contains;
mod derive;
mod site;
mod template;

use proc_macro::TokenStream;

/// Makes a type's values recordable, with the names of its fields and variants.
///
/// A struct becomes a record; its tuple fields are named `0`, `1` …. An enum without data becomes an enumeration with labels, one with
/// data a variant of records. `#[trace(skip)]` leaves a field out; `#[trace(rename = "name")]` gives a
/// field, a variant or the type another name. `#[trace(recursive)]` on a type that contains itself (a tree, a list of nodes): its signature would have no end,
/// so a value is recorded as one item that carries its types itself, down to a depth of 8. `#[trace(crate = path)]` on the type says where the crate `silverpoint` is, when it has been renamed.
#[proc_macro_derive(Trace, attributes(trace))]
pub fn derive_trace(input: TokenStream) -> TokenStream {
    derive::expand(syn::parse_macro_input!(input as syn::DeriveInput))
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
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

//! `#[traced]` of `silverpoint-atrace`: a stretch of time around a function.
//!
//! ```text
//!  #[traced(Tag::VIEW, "draw")]                           fn draw_all() {
//!  fn draw_all() { … }                                ─▶      let __traced = ::silverpoint_atrace::scope(Tag::VIEW, "draw");
//!                                                             …
//!                                                         }
//! ```
//!
//! An `async fn` has an asynchronous one, from its first poll to its end, for it may go on in another thread each time it waits.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Error, Expr, LitStr, Path, Result, Token};

use crate::instrument::Function;

/// The function with its stretch of time.
pub fn expand(options: TokenStream, function: TokenStream) -> Result<TokenStream> {
    let Options { home, tag, name } = syn::parse2(options)?;
    let function: Function = syn::parse2(function)?;
    function.must_run_in_programs()?;
    let Function { outer, visibility, signature, inner, body } = &function;
    let ident = &signature.ident;
    let name = name.unwrap_or_else(|| LitStr::new(&ident.unraw().to_string(), ident.span()));
    let tag = tag.map_or_else(|| quote!(#home::Tag::APP), ToTokens::into_token_stream);
    let guard = Ident::new("__traced", Span::mixed_site());
    let scope = if signature.asyncness.is_some() { quote!(async_scope) } else { quote!(scope) };
    Ok(quote! {
        #(#outer)*
        #visibility #signature {
            #(#inner)*
            let #guard = #home::#scope(#tag, #name);
            #body
        }
    })
}

/// What stands between the parentheses: a tag, a name, where the crate is; each may be missing.
struct Options {
    home: TokenStream,
    tag: Option<Expr>,
    name: Option<LitStr>,
}

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut options = Self { home: quote!(::silverpoint_atrace), tag: None, name: None };
        while !input.is_empty() {
            let start = input.span();
            let is_twice = if input.peek(Token![crate]) && input.peek2(Token![=]) {
                input.parse::<Token![crate]>()?;
                input.parse::<Token![=]>()?;
                options.home = input.parse::<Path>()?.into_token_stream();
                false
            } else if input.peek(LitStr) {
                options.name.replace(input.parse()?).is_some()
            } else {
                options.tag.replace(input.parse()?).is_some()
            };
            if is_twice {
                return Err(Error::new(start, "expected one tag and one name: `Tag::VIEW, \"draw\"`"));
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(options)
    }
}

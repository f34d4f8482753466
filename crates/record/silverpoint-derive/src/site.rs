//! A tracepoint's tokens and the code they become.
//!
//! ```text
//!  info!(target: "net", user = id, ?state, "order {} at {:.2}, {note}", id, px, total = t)
//!        └─ category    └─ fields ───────┘ └─ template ────────────┘  └──────┘ └─ field (or named, when the text means it)
//!                                                                     positional
//! ```
//!
//! Arguments are recorded in the order in which the template first means them, then the fields. So a text with each argument once, in order, is stored
//! with `{}`; any other with numbers.

use proc_macro2::{Delimiter, Ident, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Error, Expr, LitStr, Result, Token};

use crate::instrument;
use crate::item::{How, Item, item, key_of_log, plain_name, source};
use crate::template::{self, Argument, Formatted, Parts};

/// A tracepoint as it was written.
pub struct Site {
    /// Where the crate `silverpoint` is: `$crate`, or a path.
    home: TokenStream,
    kind: Ident,
    level: Ident,
    target: Option<Expr>,
    /// `every`, `first` or `per`, and how many or how long.
    limit: Option<(Ident, Expr)>,
    /// Template or name.
    text: Option<LitStr>,
    /// In the order in which they are recorded.
    arguments: Vec<Value>,
    pieces: Vec<Piece>,
    tail: String,
}

/// An argument.
struct Value {
    name: String,
    /// What is recorded: the value, or its text.
    how: How,
    expr: Expr,
}

/// A placeholder with its argument resolved.
struct Piece {
    before: String,
    argument: usize,
    spec: String,
    parts: Parts,
}

impl Parse for Site {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let home: TokenTree = input.parse()?;
        let kind: Ident = input.call(Ident::parse_any)?;
        let level: Ident = input.parse()?;
        let body: proc_macro2::Group = input.parse()?;
        debug_assert_eq!(body.delimiter(), Delimiter::Bracket);
        Self::of(home.into(), kind, level, body.stream())
    }
}

impl Site {
    /// What stands between the parentheses of a tracepoint.
    pub fn of(home: TokenStream, kind: Ident, level: Ident, body: TokenStream) -> Result<Self> {
        let parser = |input: ParseStream<'_>| Self::parse_body(input, home, kind, level);
        syn::parse::Parser::parse2(parser, body)
    }

    fn parse_body(input: ParseStream<'_>, home: TokenStream, kind: Ident, level: Ident) -> Result<Self> {
        let mut site = Self {
            home,
            kind,
            level,
            target: None,
            limit: None,
            text: None,
            arguments: Vec::new(),
            pieces: Vec::new(),
            tail: String::new(),
        };
        let mut has_level = false;
        while input.peek(syn::Ident)
            && input.peek2(Token![:])
            && !input.peek2(Token![::])
            && (is_level(input, &site.kind) || key_of_log(&input.fork()).is_none())
        {
            let word: Ident = input.parse()?;
            input.parse::<Token![:]>()?;
            let value: Expr = input.parse()?;
            if word == "target" && site.target.is_none() {
                site.target = Some(value);
            } else if word == "level" && !has_level {
                if site.kind == "log" || site.kind == "enabled" {
                    let message = "the level of this macro is fixed: `event!(level: …)` takes one";
                    return Err(Error::new(word.span(), message));
                }
                site.level = instrument::level(value)?;
                has_level = true;
            } else if ["every", "first", "per"].iter().any(|limit| word == limit) && site.limit.is_none() {
                site.limit = Some((word, value));
            } else {
                let message = "expected `target: \"category\"`, `level: debug`, a limit (`every: 100`, `first: 3`, `per: duration`), a field, or a text";
                return Err(Error::new(word.span(), message));
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        let mut before = Vec::new();
        let mut after = Vec::new();
        while !input.is_empty() {
            if site.text.is_none() && input.peek(LitStr) && (input.peek2(Token![,]) || is_last(input)) {
                site.text = Some(input.parse()?);
            } else if site.text.is_none() {
                before.push(item(input)?);
            } else {
                after.push(item(input)?);
            }
            if input.is_empty() {
                break;
            }
            // As in the macros of `log`, a semicolon may stand between the fields and the text.
            if site.text.is_none() && input.peek(Token![;]) {
                input.parse::<Token![;]>()?;
            } else {
                input.parse::<Token![,]>()?;
            }
        }
        if site.kind == "scope" {
            if let Some(at) =
                before.first().map(|item| item.expr.span()).or(site.text.as_ref().map(Spanned::span))
            {
                return Err(Error::new(
                    at,
                    "a scope has the name of its function, and no values: `span!` takes them",
                ));
            }
            site.text = Some(LitStr::new("", Span::call_site()));
        }
        if site.kind == "log" {
            site.resolve_log(before, after)?
        } else {
            site.resolve_named(before, after)?
        }
        if site.arguments.len() > 255 {
            return Err(Error::new(site.level.span(), "a tracepoint has at most 255 arguments"));
        }
        Ok(site)
    }

    /// `event!("name", value, name = value, ?value, %value)` and its like.
    fn resolve_named(&mut self, before: Vec<Item>, after: Vec<Item>) -> Result<()> {
        let Some(text) = &self.text else {
            if self.kind == "enabled" && before.is_empty() {
                return Ok(());
            }
            let at = before.first().map_or(self.level.span(), |item| item.expr.span());
            return Err(Error::new(at, "expected a name as a string literal"));
        };
        if let Some(item) = before.first() {
            return Err(Error::new(item.expr.span(), "the name comes first"));
        }
        self.tail = text.value();
        if self.kind == "counter" && after.len() != 1 {
            return Err(Error::new(text.span(), "a counter has one value"));
        }
        self.arguments = after
            .into_iter()
            .map(|item| Value {
                name: item.name.unwrap_or_else(|| source(&item.expr)),
                how: item.how,
                expr: item.expr,
            })
            .collect();
        if self.kind == "async_span" {
            let id = syn::parse_str("__id")?;
            self.arguments.insert(0, Value { name: "id".to_owned(), how: How::Typed, expr: id });
        }
        if self.kind.to_string().starts_with("async_") || self.kind.to_string().starts_with("flow_") {
            let home = &self.home;
            let Some(id) = self.arguments.first_mut() else {
                return Err(Error::new(text.span(), "expected an id after the name"));
            };
            if id.how != How::Typed {
                return Err(Error::new(id.expr.span(), "an id is a whole number or a pointer"));
            }
            let expr = &id.expr;
            id.expr = Expr::Verbatim(quote_spanned!(expr.span()=> #home::Id::number(#expr)));
            id.name = "id".to_owned();
        }
        Ok(())
    }

    fn resolve_log(&mut self, before: Vec<Item>, after: Vec<Item>) -> Result<()> {
        let (placeholders, tail) = match &self.text {
            Some(text) => {
                template::parse_source(&text.value()).map_err(|message| Error::new(text.span(), message))?
            }
            None => (Vec::new(), String::new()),
        };
        let at = self.text.as_ref().map_or(self.level.span(), Spanned::span);
        let mut fields: Vec<Option<Item>> = before.into_iter().map(Some).collect();
        let mut positional = Vec::new();
        let mut last_name = None;
        for item in after {
            if let Some(name) = &item.name {
                last_name = Some(name.clone());
                fields.push(Some(item));
            } else if let Some(name) = &last_name {
                let message = format!("an argument without a name cannot follow one with a name (`{name}`)");
                return Err(Error::new(item.expr.span(), message));
            } else {
                positional.push(Some(item));
            }
        }
        let count = positional.len();
        // Where each argument that the text means has gone, by what it was: number or name.
        let mut numbered: Vec<Option<usize>> = vec![None; count];
        let mut named: Vec<(String, usize)> = Vec::new();
        let mut next = 0;
        let originals: Vec<Expr> = positional.iter().flatten().map(|item: &Item| item.expr.clone()).collect();
        // Named arguments of formatted placeholders.
        let mut given: Vec<(String, Expr)> = Vec::new();
        for placeholder in placeholders {
            let argument = match placeholder.argument {
                argument if placeholder.formatted.is_some() => {
                    let Formatted { format, arguments, is_star } =
                        placeholder.formatted.expect("it is there");
                    let mut expr_of = |argument: &Argument| -> Result<(String, Expr)> {
                        let number = match argument {
                            Argument::Name(name) => {
                                if let Some((_, expr)) = given.iter().find(|(known, _)| known == name) {
                                    return Ok((name.clone(), Expr::clone(expr)));
                                }
                                // It has a placeholder: it is no field.
                                let is_it = |f: &&mut Option<Item>| {
                                    f.as_ref().is_some_and(|f| f.name.as_ref() == Some(name))
                                };
                                let expr = match fields.iter_mut().find(is_it).and_then(Option::take) {
                                    Some(item) => item.expr,
                                    None => variable(name, at)?,
                                };
                                given.push((name.clone(), expr.clone()));
                                return Ok((name.clone(), expr));
                            }
                            Argument::Index(number) => *number,
                            Argument::Next => {
                                next += 1;
                                next - 1
                            }
                        };
                        let Some(expr) = originals.get(number) else {
                            return Err(no_argument(at, number + 1, count));
                        };
                        // It has a placeholder.
                        positional[number] = None;
                        Ok((plain_name(expr), expr.clone()))
                    };
                    let star = is_star.then(|| expr_of(&Argument::Next)).transpose()?;
                    let (name, value) = expr_of(&argument)?;
                    let mut counts = Vec::new();
                    for argument in &arguments[..arguments.len() - usize::from(is_star)] {
                        counts.push(expr_of(argument)?.1);
                    }
                    counts.extend(star.map(|(_, expr)| expr));
                    let format = LitStr::new(&format, at);
                    let text = quote_spanned!(at=> ::core::format_args!(#format, #value, #(#counts),*));
                    self.push(name, How::Display, Expr::Verbatim(text))
                }
                Argument::Next | Argument::Index(_) => {
                    let number =
                        if let Argument::Index(number) = placeholder.argument { number } else { next };
                    next += 1;
                    if number >= count {
                        return Err(no_argument(at, next, count));
                    }
                    match numbered[number] {
                        Some(argument) => argument,
                        None => {
                            // (One that was a width, too, is not there any more.)
                            let item = positional[number].take().unwrap_or_else(|| Item {
                                name: None,
                                how: How::Typed,
                                expr: originals[number].clone(),
                            });
                            let name = plain_name(&item.expr);
                            numbered[number] =
                                Some(self.push(item.name.unwrap_or(name), item.how, item.expr));
                            self.arguments.len() - 1
                        }
                    }
                }
                Argument::Name(name) => match named.iter().find(|(known, _)| *known == name) {
                    Some((_, argument)) => *argument,
                    None => {
                        let field = fields
                            .iter_mut()
                            .find(|f| f.as_ref().is_some_and(|f| f.name.as_ref() == Some(&name)));
                        let argument = match field.and_then(Option::take) {
                            Some(item) => self.push(name.clone(), item.how, item.expr),
                            None => {
                                let known = given.iter().find(|(known, _)| *known == name);
                                let expr =
                                    known.map_or_else(|| variable(&name, at), |(_, expr)| Ok(expr.clone()));
                                self.push(name.clone(), How::Typed, expr?)
                            }
                        };
                        named.push((name, argument));
                        argument
                    }
                },
            };
            self.pieces.push(Piece {
                before: placeholder.before,
                argument,
                spec: placeholder.spec,
                parts: placeholder.parts,
            });
        }
        self.part_texts();
        for piece in &self.pieces {
            let argument = &mut self.arguments[piece.argument];
            match argument.how {
                How::Typed if piece.parts.kind == Some('?') => argument.how = How::ShownDebug,
                How::Typed | How::ShownDebug if piece.parts.kind != Some('?') => argument.how = How::Shown,
                _ => {}
            }
        }
        // `?value` and `%value` have the name of what they show, so that they can be fields.
        let (shown, rest): (Vec<_>, Vec<_>) =
            positional.into_iter().flatten().partition(|item| item.how != How::Typed);
        if let Some(item) = rest.first() {
            return Err(Error::new(
                item.expr.span(),
                "the text has no placeholder for this argument (a field has a name: `name = value`)",
            ));
        }
        for item in fields.into_iter().flatten().chain(shown) {
            let name = item.name.unwrap_or_else(|| source(&item.expr));
            self.push(name, item.how, item.expr);
        }
        self.tail = tail;
        Ok(())
    }

    /// A variable that is shown by both `{}` and `{:?}` is recorded for each: where its type cannot be recorded, these are two texts.
    fn part_texts(&mut self) {
        let is_debug = |piece: &Piece| piece.parts.kind == Some('?');
        for at in 0..self.arguments.len() {
            let uses: Vec<bool> =
                self.pieces.iter().filter(|piece| piece.argument == at).map(is_debug).collect();
            let Value { name, how, expr } = &self.arguments[at];
            let is_variable = *how == How::Typed && !plain_name(expr).is_empty();
            if !is_variable || !uses.contains(&true) || !uses.contains(&false) {
                continue;
            }
            let (name, expr) = (name.clone(), expr.clone());
            let second = self.push(name, How::Typed, expr);
            for piece in self.pieces.iter_mut().filter(|piece| piece.argument == at && is_debug(piece)) {
                piece.argument = second;
            }
        }
    }

    fn push(&mut self, name: String, how: How, expr: Expr) -> usize {
        self.arguments.push(Value { name, how, expr });
        self.arguments.len() - 1
    }

    /// The code at the call.
    pub fn expand(&self) -> TokenStream {
        let Self { home, kind, level, .. } = self;
        let private = quote!(#home::__private);
        let category = match &self.target {
            Some(target) => quote!(#target),
            None => quote!(::core::module_path!()),
        };
        let kind_name = Ident::new(&capitalised(&kind.to_string()), Span::mixed_site());
        let names: String = if self.arguments.iter().all(|value| value.name.is_empty()) {
            String::new()
        } else {
            self.arguments.iter().map(|value| value.name.replace('\n', " ") + "\n").collect()
        };
        let in_order = self.pieces.iter().enumerate().all(|(i, piece)| piece.argument == i);
        let pieces = self.pieces.iter().map(|piece| {
            let Piece { before, argument, spec, parts: Parts { sign, alternate, zero, precision, kind } } =
                piece;
            let kind = Literal::u8_unsuffixed(kind.map_or(0, |c| c as u8));
            quote!(#private::Piece {
                before: #before, argument: #argument, spec: #spec,
                sign: #sign, alternate: #alternate, zero: #zero, precision: #precision, kind: #kind,
            })
        });
        let tail = &self.tail;
        // `(&a, (&b, ()))`: one type for any number of arguments.
        let arguments = self.arguments.iter().rev().fold(quote!(()), |rest, value| {
            let expr = &value.expr;
            let wrapped = match value.how {
                How::Typed => quote_spanned!(expr.span()=> #private::is_trace(&(#expr))),
                How::Shown => quote_spanned!(expr.span()=> (&&&#private::Placed(&(#expr))).__placed()),
                How::ShownDebug => {
                    quote_spanned!(expr.span()=> (&&&#private::PlacedDebug(&(#expr))).__placed())
                }
                How::Debug => quote_spanned!(expr.span()=> &#private::Debugged(&(#expr))),
                How::Display => quote_spanned!(expr.span()=> &#private::Displayed(&(#expr))),
            };
            quote!((#wrapped, #rest))
        });
        // Spans and questions have a value when they are off, too.
        let (then, otherwise) = match kind.to_string().as_str() {
            "async_span" => {
                let target = self.target.as_ref().map(|target| quote!(target: #target,));
                let site = |kind: &str, body: TokenStream| {
                    let kind = Ident::new(kind, self.kind.span());
                    Self::of(home.clone(), kind, level.clone(), quote!(#target #body))
                        .map_or_else(Error::into_compile_error, |site| site.expand())
                };
                let end = site("async_end", quote!(#tail, id));
                // By this name readers know that what lies in it lies in the async span (spec/wire.md, section 7).
                let stretch = site("span", quote!(#tail, "span.id" = id));
                (
                    quote!({
                        fn __end(id: u64) {
                            #end
                        }
                        fn __stretch(id: u64) -> #private::Span {
                            #stretch
                        }
                        static __SITES: #private::AsyncSites =
                            #private::AsyncSites { end: __end, stretch: __stretch };
                        #private::record::<__Here, #private::#level, _>(&__SITE, __state, &__arguments);
                        #private::AsyncSpan::begun(__id, &__SITES)
                    }),
                    quote!(else { #private::AsyncSpan::none() }),
                )
            }
            "span" | "scope" => (
                quote!(#private::Span::begin::<__Here, #private::#level, _>(&__SITE, __state, &__arguments)),
                quote!(else { #private::Span::none() }),
            ),
            "enabled" => (
                quote!({
                    let () = __arguments;
                    true
                }),
                quote!(else { false }),
            ),
            _ => (
                quote!(#private::record::<__Here, #private::#level, _>(&__SITE, __state, &__arguments);),
                quote!(),
            ),
        };
        let fresh_id = (kind == "async_span").then(|| quote!(let __id = #home::new_id();));
        let limited = self.limit.as_ref().map(|(limit, value)| {
            let bound = if limit == "per" { quote!(#value) } else { quote!((#value) as u64) };
            quote!(&& {
                static __LIMIT: #private::Limit = #private::Limit::new();
                __LIMIT.#limit(#bound)
            })
        });
        let gives_nothing = !matches!(&*kind.to_string(), "async_span" | "span" | "scope" | "enabled");
        let is_alone = gives_nothing && self.limit.is_none() && self.arguments.is_empty();
        let is_placed = |value: &Value| matches!(value.how, How::Shown | How::ShownDebug);
        let in_scope = self.arguments.iter().any(is_placed).then(|| {
            quote! {
                #[allow(unused_imports)]
                use #private::{ByFormat as _, ByNothing as _, ByTrace as _};
            }
        });
        quote! {{
            // A type of this place: it carries the site's constants, and its path names the function.
            enum __Here {}
            impl #private::Meta for __Here {
                const KIND: #private::Kind = #private::Kind::#kind_name;
                const LEVEL: u8 = <#private::#level as #private::AtLevel>::LEVEL;
                const CATEGORY: &'static str = #category;
                const FILE: &'static str = ::core::file!();
                const LINE: u32 = ::core::line!();
                const PIECES: &'static [#private::Piece] = &[#(#pieces),*];
                const TAIL: &'static str = #tail;
                const NAMES: &'static str = #names;
                const IN_ORDER: bool = #in_order;
                const IS_ALONE: bool = #is_alone;
                fn site() -> &'static #private::Site {
                    &__SITE
                }
            }
            static __SITE: #private::Site = #private::Site::new();
            #in_scope
            if <#private::#level as #private::AtLevel>::COMPILED {
                let __state = #private::state(&__SITE);
                if __state != 0 {
                    let __types = #private::Types::new();
                    if #private::is_on::<__Here, _>(&__SITE, __state, &__types) #limited {
                        #fresh_id
                        match #arguments {
                            __arguments => {
                                __types.are(&__arguments);
                                #then
                            }
                        }
                    } #otherwise
                } #otherwise
            } #otherwise
        }}
    }
}

/// An implicit capture: the variable is looked up where the text stands.
fn variable(name: &str, at: Span) -> Result<Expr> {
    let ident = syn::parse_str::<Ident>(name)
        .map_err(|_| Error::new(at, format!("`{name}` is a keyword, no variable")))?;
    let ident = Ident::new(&ident.to_string(), at);
    Ok(Expr::Verbatim(ident.into_token_stream()))
}

/// A placeholder of this number means one beyond the last.
fn no_argument(at: Span, placeholder: usize, count: usize) -> Error {
    let those = if count == 1 { "is 1 argument".to_owned() } else { format!("are {count} arguments") };
    Error::new(at, format!("placeholder {placeholder} has no argument: there {those} after the text"))
}

/// Whether the literal that comes next is the last token.
fn is_last(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    ahead.parse::<LitStr>().is_ok() && ahead.is_empty()
}

/// Whether `level: debug` comes next. In the macros of a level it is a field of `log`, by name and format.
fn is_level(input: ParseStream<'_>, kind: &Ident) -> bool {
    kind != "log" && input.fork().parse::<Ident>().is_ok_and(|word| word == "level")
}

/// `async_begin` becomes `AsyncBegin`; the begin of an async span is that of any.
fn capitalised(word: &str) -> String {
    word.split('_')
        .map(|part| {
            let mut chars = part.chars();
            chars
                .next()
                .map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + chars.as_str())
        })
        .collect()
}

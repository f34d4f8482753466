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

use crate::template::{self, Argument, Parts};

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

#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Typed,
    Debug,
    Display,
}

/// A placeholder with its argument resolved.
struct Piece {
    before: String,
    argument: usize,
    spec: String,
    parts: Parts,
}

/// What stands between two commas.
pub struct Item {
    name: Option<String>,
    how: How,
    expr: Expr,
}

impl Item {
    /// Its name, or what it is.
    pub fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| source(&self.expr))
    }
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
        while input.peek(syn::Ident) && input.peek2(Token![:]) && !input.peek2(Token![::]) {
            let word: Ident = input.parse()?;
            input.parse::<Token![:]>()?;
            let value: Expr = input.parse()?;
            if word == "target" && site.target.is_none() {
                site.target = Some(value);
            } else if ["every", "first", "per"].iter().any(|limit| word == limit) && site.limit.is_none() {
                site.limit = Some((word, value));
            } else {
                let message = "expected `target: \"category\"`, a limit (`every: 100`, `first: 3`, `per: duration`), a field, or a text";
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
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
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
                template::parse(&text.value()).map_err(|message| Error::new(text.span(), message))?
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
        for placeholder in placeholders {
            let argument = match placeholder.argument {
                Argument::Next | Argument::Index(_) => {
                    let number =
                        if let Argument::Index(number) = placeholder.argument { number } else { next };
                    next += 1;
                    if number >= count {
                        let those = if count == 1 {
                            "is 1 argument".to_owned()
                        } else {
                            format!("are {count} arguments")
                        };
                        return Err(Error::new(
                            at,
                            format!("placeholder {next} has no argument: there {those} after the text"),
                        ));
                    }
                    match numbered[number] {
                        Some(argument) => argument,
                        None => {
                            let item = positional[number].take().expect("taken once, when it is numbered");
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
                                // An implicit capture: the variable is looked up where the text stands.
                                let ident = syn::parse_str::<Ident>(&name).map_err(|_| {
                                    Error::new(at, format!("`{name}` is a keyword, no variable"))
                                })?;
                                let ident = Ident::new(&ident.to_string(), at);
                                self.push(name.clone(), How::Typed, Expr::Verbatim(ident.into_token_stream()))
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
                How::Typed => quote_spanned!(expr.span()=> &(#expr)),
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
                        #private::record::<__Here, #private::#level, _>(&__SITE, &__arguments);
                        #private::AsyncSpan::begun(__id, &__SITES)
                    }),
                    quote!(else { #private::AsyncSpan::none() }),
                )
            }
            "span" | "scope" => (
                quote!(#private::Span::begin::<__Here, #private::#level, _>(&__SITE, &__arguments)),
                quote!(else { #private::Span::none() }),
            ),
            "enabled" => (
                quote!({
                    let () = __arguments;
                    true
                }),
                quote!(else { false }),
            ),
            _ => (quote!(#private::record::<__Here, #private::#level, _>(&__SITE, &__arguments);), quote!()),
        };
        let fresh_id = (kind == "async_span").then(|| quote!(let __id = #home::new_id();));
        let limited = self.limit.as_ref().map(|(limit, value)| {
            let bound = if limit == "per" { quote!(#value) } else { quote!((#value) as u64) };
            quote!(&& {
                static __LIMIT: #private::Limit = #private::Limit::new();
                __LIMIT.#limit(#bound)
            })
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
                fn site() -> &'static #private::Site {
                    &__SITE
                }
            }
            static __SITE: #private::Site = #private::Site::new();
            if <#private::#level as #private::AtLevel>::COMPILED {
                let __state = __SITE.state();
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

/// Whether the literal that comes next is the last token.
fn is_last(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    ahead.parse::<LitStr>().is_ok() && ahead.is_empty()
}

/// A field as tracepoints have them.
pub fn item(input: ParseStream<'_>) -> Result<Item> {
    let mut name = None;
    if let Some(found) = field_name(input) {
        name = Some(found?);
    }
    let how = if input.peek(Token![?]) {
        input.parse::<Token![?]>()?;
        How::Debug
    } else if input.peek(Token![%]) {
        input.parse::<Token![%]>()?;
        How::Display
    } else {
        How::Typed
    };
    let expr: Expr = input.parse()?;
    Ok(Item { name, how, expr })
}

/// `name =`, `a.b =` or `"any name" =`, when that is what comes next.
fn field_name(input: ParseStream<'_>) -> Option<Result<String>> {
    let ahead = input.fork();
    let mut name = String::new();
    if ahead.peek(LitStr) {
        name = ahead.parse::<LitStr>().ok()?.value();
    } else {
        loop {
            name += &ahead.call(Ident::parse_any).ok()?.unraw().to_string();
            if !ahead.peek(Token![.]) || ahead.peek(Token![..]) {
                break;
            }
            ahead.parse::<Token![.]>().ok()?;
            name.push('.');
        }
    }
    if !ahead.peek(Token![=]) || ahead.peek(Token![==]) || ahead.peek(Token![=>]) {
        return None;
    }
    ahead.parse::<Token![=]>().ok()?;
    use syn::parse::discouraged::Speculative;
    input.advance_to(&ahead);
    Some(Ok(name))
}

/// A variable's own name; nothing for any other expression.
fn plain_name(expr: &Expr) -> String {
    let text = source(expr);
    if syn::parse_str::<Ident>(&text).is_ok() { text } else { String::new() }
}

/// An expression as it was written, near enough: `files.len()`.
fn source(expr: &Expr) -> String {
    fn write(tokens: TokenStream, text: &mut String) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        Delimiter::Parenthesis => ("(", ")"),
                        Delimiter::Brace => ("{", "}"),
                        Delimiter::Bracket => ("[", "]"),
                        Delimiter::None => ("", ""),
                    };
                    text.push_str(open);
                    write(group.stream(), text);
                    text.push_str(close);
                }
                TokenTree::Punct(punct) => {
                    text.push(punct.as_char());
                    if punct.as_char() == ',' {
                        text.push(' ');
                    }
                }
                word => {
                    // Two words need a space between them.
                    if text.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '"') {
                        text.push(' ');
                    }
                    text.push_str(&word.to_string());
                }
            }
        }
    }
    let mut text = String::new();
    write(expr.to_token_stream(), &mut text);
    text
}

/// `async_begin` becomes `AsyncBegin`; the begin of an async span is that of any.
fn capitalised(word: &str) -> String {
    let word = if word == "async_span" { "async_begin" } else { word };
    word.split('_')
        .map(|part| {
            let mut chars = part.chars();
            chars
                .next()
                .map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + chars.as_str())
        })
        .collect()
}

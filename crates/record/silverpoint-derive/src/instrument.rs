//! `#[instrument]`: a span around a function.
//!
//! ```text
//!  #[instrument(level = "info", skip(pool), err)]         fn load(id: u64, pool: &Pool) -> Result<…> {
//!  fn load(id: u64, pool: &Pool) -> Result<…> { … }   ─▶      let span = span("load", id = id);          the first tracepoint
//!                                                             let result = once(move || { … });          only with `ret` or `err`
//!                                                             if let Err(error) = &result { event("load.error", error = %error) }
//!                                                             result
//!                                                         }
//! ```
//!
//! An `async fn` gets an async span, from its first poll to its end, because it may continue in another
//! thread each time it waits. Each poll is a part of that span: what the function records lies in it. A
//! function that gives a boxed future or an `impl Future` gets one, too, from its call to the future's end.
//! (`async_trait` makes such functions.)

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Error, Expr, FnArg, LitInt, LitStr, Pat, Path, Result, ReturnType, Signature, Token, Type,
    Visibility,
};

use crate::item::{Item, item};
use crate::site::Site;

const LEVELS: [&str; 6] = ["Trace", "Debug", "Info", "Warn", "Error", "Fatal"];

/// The function with its span.
pub fn expand(options: TokenStream, function: TokenStream) -> Result<TokenStream> {
    let options: Options = syn::parse2(options)?;
    syn::parse2::<Function>(function)?.traced(&options)
}

/// What stands between the parentheses of the attribute.
struct Options {
    /// Where the crate `silverpoint` is.
    home: TokenStream,
    name: Option<LitStr>,
    level: Ident,
    target: Option<Expr>,
    skip: Vec<Ident>,
    skip_all: bool,
    fields: TokenStream,
    /// Their names: they stand for the arguments that have the same.
    named: Vec<String>,
    returned: Option<Told>,
    error: Option<Told>,
}

/// What is recorded of a function's result.
struct Told {
    shown: Shown,
    /// None: that of the function; of an error, error.
    level: Option<Ident>,
}

/// What a function without `async` gives that is a future.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Given {
    /// `Pin<Box<dyn Future>>`, by any name.
    Boxed,
    /// `impl Future`.
    Plain,
}

/// How a value is recorded.
#[derive(Clone, Copy)]
enum Shown {
    Typed,
    Debug,
    Display,
    Causes,
}

impl Shown {
    /// `value`, `?value`, `%value`.
    fn of(self, home: &TokenStream, value: &Ident) -> TokenStream {
        match self {
            Self::Typed => quote!(#value),
            Self::Debug => quote!(?#value),
            Self::Display => quote!(%#value),
            Self::Causes => quote!(#home::Causes(#value)),
        }
    }
}

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut options = Self {
            home: quote!(::silverpoint),
            name: None,
            level: Ident::new("Debug", Span::mixed_site()),
            target: None,
            skip: Vec::new(),
            skip_all: false,
            fields: TokenStream::new(),
            named: Vec::new(),
            returned: None,
            error: None,
        };
        let mut seen: Vec<Ident> = Vec::new();
        if input.peek(LitStr) {
            options.name = Some(input.parse()?);
            seen.push(Ident::new("name", Span::call_site()));
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        while !input.is_empty() {
            let word = input.call(Ident::parse_any)?;
            if seen.contains(&word) {
                return Err(Error::new(word.span(), format!("`{word}` is given twice")));
            }
            match word.to_string().as_str() {
                "name" => options.name = Some(value(input)?),
                "level" => options.level = level(value(input)?)?,
                "target" => options.target = Some(value(input)?),
                "crate" => options.home = value::<Path>(input)?.into_token_stream(),
                "skip" => {
                    let content;
                    syn::parenthesized!(content in input);
                    let names =
                        Punctuated::<Ident, Token![,]>::parse_terminated_with(&content, Ident::parse_any)?;
                    options.skip = names.into_iter().collect();
                }
                "skip_all" => options.skip_all = true,
                "fields" => {
                    let content;
                    syn::parenthesized!(content in input);
                    let ahead = content.fork();
                    options.named = Punctuated::<Item, Token![,]>::parse_terminated_with(&ahead, item)?
                        .iter()
                        .map(Item::name)
                        .collect();
                    options.fields = content.parse()?;
                }
                "ret" => options.returned = Some(told(input, Shown::Typed, "Debug, Display")?),
                "err" => options.error = Some(told(input, Shown::Display, "Debug, Display, Causes")?),
                _ => {
                    return Err(Error::new(
                        word.span(),
                        "expected a name (`\"…\"`), `name = \"…\"`, `level = \"…\"`, `target = \"…\"`, `skip(…)`, `skip_all`, `fields(…)`, `ret`, `err` or `crate = path`",
                    ));
                }
            }
            seen.push(word);
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(options)
    }
}

/// `= value`
fn value<T: Parse>(input: ParseStream<'_>) -> Result<T> {
    input.parse::<Token![=]>()?;
    input.parse()
}

/// `"debug"`, `debug`, `Debug`, `Level::DEBUG`, and `tracing`'s numbers from 1 (trace) to 5 (error).
pub fn level(expr: Expr) -> Result<Ident> {
    // What a macro has passed on.
    if let Expr::Group(group) = expr {
        return level(*group.expr);
    }
    let tokens = expr.to_token_stream();
    let text = match (&expr, syn::parse2::<LitStr>(tokens.clone()), syn::parse2::<LitInt>(tokens.clone())) {
        (_, Ok(text), _) => text.value(),
        (_, _, Ok(number)) => {
            let number = number.base10_parse::<usize>()?;
            let known = number.checked_sub(1).and_then(|number| LEVELS[..5].get(number));
            known.map_or_else(String::new, |level| (*level).to_owned())
        }
        (Expr::Path(path), ..) => {
            path.path.segments.last().map_or_else(String::new, |last| last.ident.to_string())
        }
        _ => tokens.to_string(),
    };
    let known = LEVELS.iter().find(|level| level.eq_ignore_ascii_case(&text));
    known.map(|level| Ident::new(level, Span::mixed_site())).ok_or_else(|| {
        let message = "expected a level: \"trace\", \"debug\", \"info\", \"warn\", \"error\" or \"fatal\"";
        Error::new_spanned(expr, message)
    })
}

/// `(Debug)`, `(level = "warn")`, `(Debug, level = "warn")` and their like, if there are parentheses.
fn told(input: ParseStream<'_>, otherwise: Shown, known: &str) -> Result<Told> {
    let mut told = Told { shown: otherwise, level: None };
    if !input.peek(syn::token::Paren) {
        return Ok(told);
    }
    let content;
    syn::parenthesized!(content in input);
    while !content.is_empty() {
        let word: Ident = content.parse()?;
        match word.to_string().as_str() {
            "level" => told.level = Some(level(value(&content)?)?),
            "Debug" => told.shown = Shown::Debug,
            "Display" => told.shown = Shown::Display,
            "Causes" if known.contains("Causes") => told.shown = Shown::Causes,
            _ => return Err(Error::new(word.span(), format!("expected one of {known}, or `level = \"…\"`"))),
        }
        if !content.is_empty() {
            content.parse::<Token![,]>()?;
        }
    }
    Ok(told)
}

/// A function whose body is only its tokens.
pub(crate) struct Function {
    pub(crate) outer: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) signature: Signature,
    pub(crate) inner: Vec<Attribute>,
    pub(crate) body: TokenStream,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let outer = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let signature: Signature = match input.parse() {
            Ok(signature) => signature,
            Err(error) => return Err(Error::new(error.span(), "this attribute stands before a function")),
        };
        if input.peek(Token![;]) {
            let message = "this function has no body to trace: the attribute stands before an implementation";
            return Err(Error::new_spanned(&signature.ident, message));
        }
        let content;
        syn::braced!(content in input);
        let inner = content.call(Attribute::parse_inner)?;
        Ok(Self { outer, visibility, signature, inner, body: content.parse()? })
    }
}

impl Function {
    /// An error of a function that the compiler may run.
    pub(crate) fn must_run_in_programs(&self) -> Result<()> {
        let Some(word) = &self.signature.constness else { return Ok(()) };
        Err(Error::new_spanned(word, "a `const fn` may run in the compiler, where nothing is traced"))
    }

    fn traced(&self, options: &Options) -> Result<TokenStream> {
        let Self { outer, visibility, signature, inner, body } = self;
        self.must_run_in_programs()?;
        let name = match &options.name {
            Some(name) => name.clone(),
            None => LitStr::new(&signature.ident.unraw().to_string(), signature.ident.span()),
        };
        let arguments = self.arguments(options)?.into_iter().map(|ident| {
            let name = LitStr::new(&ident.unraw().to_string(), ident.span());
            quote!(#name = #ident)
        });
        let fields = (!options.fields.is_empty()).then_some(&options.fields);
        let fields: Vec<TokenStream> = arguments.chain(fields.map(ToTokens::to_token_stream)).collect();
        let is_async = signature.asyncness.is_some();
        let given = if is_async { None } else { self.given() };
        let kind = if is_async || given.is_some() { "async_span" } else { "span" };
        let span = options.site(kind, &options.level, quote!(#name, #(#fields),*))?;
        let guard = Ident::new("__span", Span::mixed_site());
        let is_told = options.returned.is_some() || options.error.is_some();
        let body = match given {
            Some(given) => self.future(options, given, &guard, is_told.then(|| name.value()))?,
            None if is_told => self.told(options, &name.value())?,
            None => body.clone(),
        };
        let body = if is_async { self.polled(&options.home, &guard, &body) } else { body };
        Ok(quote! {
            #(#outer)*
            #visibility #signature {
                #(#inner)*
                let #guard = #span;
                #body
            }
        })
    }

    /// Whether it gives a future that is to be within the span: `async_trait` makes such functions of `async` ones.
    fn given(&self) -> Option<Given> {
        let ReturnType::Type(_, kind) = &self.signature.output else { return None };
        let mut words = Vec::new();
        words_of(kind.to_token_stream(), &mut words);
        let has = |wanted: &str| words.iter().any(|word| word == wanted);
        // A function that gives one within something else (an option, a list) gives no future.
        let outer = match &**kind {
            Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
            _ => None,
        };
        match outer.as_deref() {
            Some("Pin") if has("Box") && has("Future") => return Some(Given::Boxed),
            Some("BoxFuture" | "LocalBoxFuture") => return Some(Given::Boxed),
            _ => {}
        }
        if matches!(**kind, Type::ImplTrait(_)) && words.get(1..).is_some_and(names_future) {
            return Some(Given::Plain);
        }
        // The type may have another name: what it gives says what it is.
        is_pinned_block(self.body.clone()).then_some(Given::Boxed)
    }

    /// The body of a function that gives a future: what it does itself is a stretch of the span, and so is each poll.
    fn future(
        &self,
        options: &Options,
        given: Given,
        guard: &Ident,
        told: Option<String>,
    ) -> Result<TokenStream> {
        let Self { signature, body, .. } = self;
        let home = &options.home;
        let here = Span::mixed_site();
        let future = Ident::new("__future", here);
        let result = Ident::new("__result", here);
        let arrow = match (given, &signature.output) {
            (Given::Boxed, ReturnType::Type(arrow, kind)) => quote!(#arrow #kind),
            _ => quote!(),
        };
        let around = match told {
            None => quote_spanned!(here=> #guard.with(#future)),
            Some(name) => {
                let tell = self.tell(options, &name, &result)?;
                quote_spanned! {here=>
                    #guard.with(async move {
                        let #result = #future.await;
                        #tell
                        #result
                    })
                }
            }
        };
        let around = match given {
            Given::Boxed => quote_spanned!(here=> ::std::boxed::Box::pin(#around)),
            Given::Plain => around,
        };
        // A body that only makes the future does nothing itself.
        let inside = (!is_pinned_block(body.clone()))
            .then(|| quote_spanned!(here=> let _inside = #home::__private::inside(&#guard);));
        Ok(quote_spanned! {here=>
            let #future = {
                #inside
                #home::__private::once(move || #arrow { #body })
            };
            #around
        })
    }

    /// The body of an `async fn`, in whose polls its span is entered. The block has all arguments that have names, those that the body does not mention too: they are dropped within the span.
    fn polled(&self, home: &TokenStream, guard: &Ident, body: &TokenStream) -> TokenStream {
        let typed = self.typed();
        let mentioned = self.signature.inputs.iter().rev().map(|argument| {
            let mut names = Vec::new();
            let attributes = match argument {
                FnArg::Typed(argument) => {
                    bound(&argument.pat, &mut names);
                    &argument.attrs
                }
                FnArg::Receiver(receiver) => {
                    names.push(Ident::new("self", receiver.self_token.span));
                    &receiver.attrs
                }
            };
            // (One that is left out is left out here, too.)
            let conditions = attributes.iter().filter(|one| one.path().is_ident("cfg"));
            let conditions = quote!(#(#conditions)*);
            quote_spanned!(Span::mixed_site()=> #(#conditions #home::__private::mention(&#names);)*)
        });
        quote_spanned! {Span::mixed_site()=>
            #guard.with(async move {
                #(#mentioned)*
                #typed
                #body
            }).await
        }
    }

    /// The begin of an async block. It states the type of the block's result before the body is read, so that
    /// the body's values become that type (`Ok(Box::new(file))` a `Box<dyn Read>`).
    fn typed(&self) -> Option<TokenStream> {
        let given = Ident::new("__given", Span::mixed_site());
        self.output().map(|kind| {
            quote_spanned! {Span::mixed_site()=>
                #[allow(unknown_lints, unreachable_code, clippy::all)]
                if false {
                    let #given: #kind = loop {};
                    return #given;
                }
            }
        })
    }

    /// The type of what it gives, where that can be written: so that `?` in the body knows what to make of errors.
    fn output(&self) -> Option<TokenStream> {
        match &self.signature.output {
            ReturnType::Default => Some(quote!(())),
            // Not to be written there.
            ReturnType::Type(_, kind) if matches!(**kind, Type::Never(_)) => None,
            ReturnType::Type(_, kind) => {
                let tokens = kind.to_token_stream();
                (!has_impl(tokens.clone())).then_some(tokens)
            }
        }
    }

    /// The body, and the recording of its result.
    fn told(&self, options: &Options, name: &str) -> Result<TokenStream> {
        let Self { signature, body, .. } = self;
        let home = &options.home;
        let result = Ident::new("__result", Span::mixed_site());
        let tell = self.tell(options, name, &result)?;
        let kind = self.output();
        let here = Span::mixed_site();
        let made = if signature.asyncness.is_some() {
            let typed = self.typed();
            quote_spanned!(here=> async move { #typed #body }.await)
        } else {
            let arrow = kind.as_ref().map(|kind| quote!(-> #kind));
            quote_spanned!(here=> #home::__private::once(move || #arrow { #body }))
        };
        let annotation = kind.as_ref().map(|kind| quote!(: #kind));
        Ok(quote_spanned! {here=>
            let #result #annotation = #made;
            #tell
            #result
        })
    }

    /// What a result comes to, as events.
    fn tell(&self, options: &Options, name: &str, result: &Ident) -> Result<TokenStream> {
        let home = &options.home;
        let value = Ident::new("__value", Span::mixed_site());
        let returned = options.returned.as_ref().map(|told| {
            let shown = told.shown.of(home, &value);
            let name = format!("{name}.return");
            let level = told.level.as_ref().unwrap_or(&options.level);
            options.site("event", level, quote!(#name, value = #shown))
        });
        let error = options.error.as_ref().map(|told| {
            let shown = told.shown.of(home, &value);
            let name = format!("{name}.error");
            let error = Ident::new("Error", Span::mixed_site());
            let level = told.level.as_ref().unwrap_or(&error);
            options.site("event", level, quote!(#name, error = #shown))
        });
        let (returned, error) = (returned.transpose()?, error.transpose()?);
        Ok(match (returned, error) {
            (Some(returned), Some(error)) => quote! {
                match &#result {
                    ::core::result::Result::Ok(#value) => #returned,
                    ::core::result::Result::Err(#value) => #error,
                }
            },
            (None, Some(error)) => quote! {
                if let ::core::result::Result::Err(#value) = &#result #error
            },
            (returned, None) => quote! {{
                let #value = &#result;
                #returned
            }},
        })
    }

    /// The names that are bound by the arguments and are to be recorded.
    fn arguments(&self, options: &Options) -> Result<Vec<Ident>> {
        let mut found = Vec::new();
        for argument in &self.signature.inputs {
            if let FnArg::Typed(argument) = argument {
                bound(&argument.pat, &mut found);
            }
        }
        let unknown = options.skip.iter().find(|name| **name != "self" && !found.contains(name));
        if let Some(name) = unknown {
            return Err(Error::new(name.span(), format!("there is no argument `{name}`")));
        }
        found.retain(|name| {
            let plain = name.unraw().to_string();
            !options.skip_all && !options.skip.contains(name) && !options.named.contains(&plain)
        });
        Ok(found)
    }
}

impl Options {
    /// The code of a tracepoint.
    fn site(&self, kind: &str, level: &Ident, body: TokenStream) -> Result<TokenStream> {
        let target = self.target.as_ref().map(|target| quote!(target: #target,));
        let kind = Ident::new(kind, Span::mixed_site());
        Ok(Site::of(self.home.clone(), kind, level.clone(), quote!(#target #body))?.expand())
    }
}

/// The variables that a pattern binds.
fn bound(pattern: &Pat, found: &mut Vec<Ident>) {
    match pattern {
        Pat::Ident(pattern) => {
            found.push(pattern.ident.clone());
            if let Some((_, inner)) = &pattern.subpat {
                bound(inner, found);
            }
        }
        Pat::Paren(pattern) => bound(&pattern.pat, found),
        Pat::Reference(pattern) => bound(&pattern.pat, found),
        Pat::Slice(pattern) => pattern.elems.iter().for_each(|pattern| bound(pattern, found)),
        Pat::Struct(pattern) => pattern.fields.iter().for_each(|field| bound(&field.pat, found)),
        Pat::Tuple(pattern) => pattern.elems.iter().for_each(|pattern| bound(pattern, found)),
        Pat::TupleStruct(pattern) => pattern.elems.iter().for_each(|pattern| bound(pattern, found)),
        // An alternative binds what the others do.
        Pat::Or(pattern) => pattern.cases.iter().take(1).for_each(|pattern| bound(pattern, found)),
        _ => {}
    }
}

/// Whether a type says `impl` somewhere: then it cannot be repeated.
fn has_impl(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == "impl",
        TokenTree::Group(group) => has_impl(group.stream()),
        _ => false,
    })
}

/// All words of a type.
fn words_of(tokens: TokenStream, words: &mut Vec<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => words.push(ident.to_string()),
            TokenTree::Group(group) => words_of(group.stream(), words),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// Whether the first bound of `impl …` is `Future`, by any path.
fn names_future(words: &[String]) -> bool {
    let path = ["std", "core", "futures", "future"];
    words.iter().find(|word| !path.contains(&word.as_str())).is_some_and(|word| word == "Future")
}

/// Whether a body is `Box::pin(async move { … })` and nothing else, by any path.
fn is_pinned_block(body: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = body.into_iter().collect();
    let [path @ .., TokenTree::Group(group)] = &tokens[..] else { return false };
    let mut words = Vec::new();
    words_of(path.iter().cloned().collect(), &mut words);
    let is_path = path.iter().all(|token| match token {
        TokenTree::Ident(_) => true,
        TokenTree::Punct(punct) => punct.as_char() == ':',
        TokenTree::Group(_) | TokenTree::Literal(_) => false,
    });
    let mut inside = group.stream().into_iter();
    let begins_async = matches!(inside.next(), Some(TokenTree::Ident(word)) if word == "async");
    is_path && begins_async && words.ends_with(&["Box".to_owned(), "pin".to_owned()])
}

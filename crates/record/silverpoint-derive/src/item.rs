//! What stands between two commas of a tracepoint: `name = value`, `?value`, `key:debug = value`.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::parse::discouraged::Speculative;
use syn::{Expr, LitStr, Result, Token};

/// What is recorded of an argument.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    Typed,
    /// As a placeholder shows it: with its type where it can be recorded, else its text.
    Shown,
    ShownDebug,
    Debug,
    Display,
}

/// What stands between two commas.
pub(crate) struct Item {
    pub(crate) name: Option<String>,
    pub(crate) how: How,
    pub(crate) expr: Expr,
}

impl Item {
    /// Its name, or what it is.
    pub(crate) fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| source(&self.expr))
    }
}

/// A field as tracepoints have them.
pub(crate) fn item(input: ParseStream<'_>) -> Result<Item> {
    let mut name = None;
    let ahead = input.fork();
    if let Some((name, variable, how)) = key_of_log(&ahead) {
        input.advance_to(&ahead);
        let expr = match variable {
            Some(variable) if !input.peek(Token![=]) => Expr::Verbatim(variable.into_token_stream()),
            _ => {
                input.parse::<Token![=]>()?;
                input.parse()?
            }
        };
        return Ok(Item { name: Some(name), how, expr });
    }
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

/// `key:?`, `key:%`, `key:debug`, `key:display`, `key:err` as in the macros of `log`, when that is what comes next, before `=` or the end of the field.
pub(crate) fn key_of_log(input: ParseStream<'_>) -> Option<(String, Option<Ident>, How)> {
    let (name, variable) = match input.peek(LitStr) {
        true => (input.parse::<LitStr>().ok()?.value(), None),
        false => {
            let ident = input.parse::<Ident>().ok()?;
            (ident.to_string(), Some(ident))
        }
    };
    if ["target", "every", "first", "per"].contains(&name.as_str()) {
        return None;
    }
    input.parse::<Token![:]>().ok()?;
    let how = if input.peek(Token![?]) {
        input.parse::<Token![?]>().ok()?;
        How::Debug
    } else if input.peek(Token![%]) {
        input.parse::<Token![%]>().ok()?;
        How::Display
    } else {
        match input.parse::<Ident>().ok()?.to_string().as_str() {
            "debug" => How::Debug,
            "display" | "err" | "error" => How::Display,
            _ => return None,
        }
    };
    let is_end = input.is_empty() || input.peek(Token![,]) || input.peek(Token![;]);
    let is_value = input.peek(Token![=]) && !input.peek(Token![==]);
    (is_value || is_end && variable.is_some()).then_some((name, variable, how))
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
    input.advance_to(&ahead);
    Some(Ok(name))
}

/// A variable's own name; nothing for any other expression.
pub(crate) fn plain_name(expr: &Expr) -> String {
    let text = source(expr);
    if syn::parse_str::<Ident>(&text).is_ok() { text } else { String::new() }
}

/// An expression as it was written, near enough: `files.len()`.
pub(crate) fn source(expr: &Expr) -> String {
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

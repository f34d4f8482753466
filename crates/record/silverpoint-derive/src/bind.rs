//! `#[derive(Bind)]`: own types from and to JSON and CBOR.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Attribute, Data, DeriveInput, Error, Expr, Fields, Index, LitStr, Member, Path, Result, Variant};

pub fn expand(input: DeriveInput) -> Result<TokenStream> {
    let Owner { home, refuses } = owner(&input)?;
    let (put, take) = match &input.data {
        Data::Struct(data) => structure(&home, &data.fields, refuses)?,
        Data::Enum(data) if data.variants.is_empty() => {
            return Err(Error::new_spanned(&input.ident, "an enum without variants has no values"));
        }
        Data::Enum(data) => variants(&home, &data.variants.iter().collect::<Vec<_>>(), refuses)?,
        Data::Union(data) => {
            return Err(Error::new_spanned(data.union_token, "a union does not say what it holds"));
        }
    };
    let generics = |bound: TokenStream| {
        let mut generics = input.generics.clone();
        for parameter in generics.type_params_mut() {
            parameter.bounds.push(syn::parse_quote!(#home::#bound));
        }
        generics
    };
    let (puts, takes) = (generics(quote!(Put)), generics(quote!(Take)));
    let (put_parameters, arguments, put_bounds) = puts.split_for_impl();
    let (take_parameters, _, take_bounds) = takes.split_for_impl();
    let ident = &input.ident;
    Ok(quote! {
        #[automatically_derived]
        impl #put_parameters #home::Put for #ident #arguments #put_bounds {
            fn put<__S: #home::Sink>(&self, __sink: &mut __S) { #put }
        }
        #[automatically_derived]
        impl #take_parameters #home::Take for #ident #arguments #take_bounds {
            fn take<__S: #home::Source>(__source: &mut __S) -> ::core::result::Result<Self, #home::Error> { #take }
        }
    })
}

/// What a type's attributes say.
struct Owner {
    home: TokenStream,
    refuses: bool,
}

fn owner(input: &DeriveInput) -> Result<Owner> {
    let mut owner = Owner { home: quote!(::silverpoint_bind), refuses: false };
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("bind")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("crate") {
                owner.home = meta.value()?.parse::<Path>()?.into_token_stream();
                Ok(())
            } else if meta.path.is_ident("refuse_unknown") {
                owner.refuses = true;
                Ok(())
            } else {
                Err(meta.error("expected `refuse_unknown` or `crate = path`"))
            }
        })?;
    }
    Ok(owner)
}

/// What a member is when it is missing.
enum Missing {
    /// An error, or none.
    Refused,
    Default(TokenStream),
}

struct Field<'a> {
    member: Member,
    name: String,
    kind: &'a syn::Type,
    missing: Missing,
    skip: bool,
    rest: bool,
}

/// The name that the attributes of tracing give, and whether they leave it out.
fn traced(attributes: &[Attribute], name: &mut String) -> Result<bool> {
    let mut skip = false;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("trace")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("rename") {
                *name = meta.value()?.parse::<LitStr>()?.value();
            } else if meta.path.is_ident("skip") {
                skip = true;
            }
            Ok(())
        })?;
    }
    Ok(skip)
}

fn fields(fields: &Fields) -> Result<Vec<Field<'_>>> {
    let mut found = Vec::new();
    for (at, field) in fields.iter().enumerate() {
        let member = match &field.ident {
            Some(ident) => Member::Named(ident.clone()),
            None => Member::Unnamed(Index::from(at)),
        };
        let mut name = match &field.ident {
            Some(ident) => syn::ext::IdentExt::unraw(ident).to_string(),
            None => at.to_string(),
        };
        let mut skip = traced(&field.attrs, &mut name)?;
        let (mut missing, mut rest) = (Missing::Refused, false);
        for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("bind")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("skip") {
                    skip = true;
                } else if meta.path.is_ident("rest") {
                    rest = true;
                } else if meta.path.is_ident("rename") {
                    name = meta.value()?.parse::<LitStr>()?.value();
                } else if meta.path.is_ident("default") {
                    missing = Missing::Default(match meta.input.peek(syn::Token![=]) {
                        true => {
                            let value = meta.value()?.parse::<Expr>()?;
                            match &value {
                                Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => {
                                    quote!(::core::convert::From::from(#text))
                                }
                                value => value.to_token_stream(),
                            }
                        }
                        false => quote!(::core::default::Default::default()),
                    });
                } else {
                    let expected =
                        "expected `rename = \"name\"`, `default`, `default = value`, `skip` or `rest`";
                    return Err(meta.error(expected));
                }
                Ok(())
            })?;
        }
        if rest && field.ident.is_none() {
            return Err(Error::new_spanned(&field.ty, "members that are kept have names, and this has none"));
        }
        found.push(Field { member, name, kind: &field.ty, missing, skip, rest });
    }
    Ok(found)
}

/// A name as a JSON string and a colon.
fn json(name: &str) -> String {
    let mut json = String::from("\"");
    for c in name.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            '\n' => json.push_str("\\n"),
            '\r' => json.push_str("\\r"),
            '\t' => json.push_str("\\t"),
            '\u{8}' => json.push_str("\\b"),
            '\u{C}' => json.push_str("\\f"),
            '\0'..=' ' if c != ' ' => json.push_str(&format!("\\u{:04x}", u32::from(c))),
            '\u{7F}' => json.push_str("\\u007f"),
            c => json.push(c),
        }
    }
    json.push_str("\":");
    json
}

fn structure(home: &TokenStream, fields_of: &Fields, refuses: bool) -> Result<(TokenStream, TokenStream)> {
    let fields = fields(fields_of)?;
    let values: Vec<TokenStream> = fields
        .iter()
        .map(|field| {
            let member = &field.member;
            quote!(&self.#member)
        })
        .collect();
    let put = put_fields(home, fields_of, &fields, &values);
    let take = take_fields(home, fields_of, &fields, &quote!(Self), refuses)?;
    Ok((put, take))
}

/// Writes the value that fields make together.
fn put_fields(
    home: &TokenStream,
    shape: &Fields,
    fields: &[Field<'_>],
    values: &[TokenStream],
) -> TokenStream {
    let written: Vec<(&Field<'_>, &TokenStream)> =
        fields.iter().zip(values).filter(|(field, _)| !field.skip && !field.rest).collect();
    let puts = written.iter().map(|(_, value)| quote!(#home::Put::put(#value, __sink);));
    let count = written.len();
    match shape {
        Fields::Named(_) => {
            let keys = written.iter().map(|(field, _)| {
                let (name, json) = (&field.name, json(&field.name));
                quote!(#home::Sink::field(__sink, #home::Key { name: #name, json: #json });)
            });
            let rests: Vec<&TokenStream> =
                fields.iter().zip(values).filter(|(field, _)| field.rest).map(|(_, value)| value).collect();
            quote! {
                #home::Sink::begin_object(__sink, ::core::option::Option::Some(#count #(+ #home::Rest::len(#rests))*));
                #(#keys #puts)*
                #(#home::Rest::put_members(#rests, __sink);)*
                #home::Sink::end_object(__sink);
            }
        }
        Fields::Unnamed(_) if count == 1 => quote!(#(#puts)*),
        Fields::Unnamed(_) => quote! {
            #home::Sink::begin_array(__sink, ::core::option::Option::Some(#count));
            #(#home::Sink::element(__sink); #puts)*
            #home::Sink::end_array(__sink);
        },
        Fields::Unit => quote!(#home::Sink::null(__sink);),
    }
}

/// Reads what [`put_fields`] writes, as `constructor`.
fn take_fields(
    home: &TokenStream,
    shape: &Fields,
    fields: &[Field<'_>],
    constructor: &TokenStream,
    refuses: bool,
) -> Result<TokenStream> {
    let members: Vec<&Member> = fields.iter().map(|field| &field.member).collect();
    if let Fields::Unit = shape {
        return Ok(quote! {
            <() as #home::Take>::take(__source)?;
            ::core::result::Result::Ok(#constructor)
        });
    }
    if let Fields::Unnamed(_) = shape {
        let read: Vec<&Field<'_>> = fields.iter().filter(|field| !field.skip).collect();
        let names: Vec<Ident> = (0..read.len()).map(|at| format_ident!("__{at}")).collect();
        let kinds = read.iter().map(|field| field.kind);
        let mut next = names.iter();
        let values = fields.iter().map(|field| match (field.skip, &field.missing) {
            (false, _) => next.next().to_token_stream(),
            (true, Missing::Default(value)) => value.clone(),
            (true, Missing::Refused) => quote!(::core::default::Default::default()),
        });
        let pattern = if names.len() == 1 { quote!(#(#names)*) } else { quote!((#(#names,)*)) };
        let kind = if names.len() == 1 { quote!(#(#kinds)*) } else { quote!((#(#kinds,)*)) };
        return Ok(quote! {
            let #pattern = <#kind as #home::Take>::take(__source)?;
            ::core::result::Result::Ok(#constructor { #(#members: #values),* })
        });
    }
    let read: Vec<(usize, &Field<'_>)> =
        fields.iter().enumerate().filter(|(_, field)| !field.skip && !field.rest).collect();
    let slots: Vec<Ident> = read.iter().map(|(at, _)| format_ident!("__{at}")).collect();
    let kinds = read.iter().map(|(_, field)| field.kind);
    let names: Vec<&String> = read.iter().map(|(_, field)| &field.name).collect();
    if let Some(twice) =
        names.iter().enumerate().find_map(|(at, name)| names[..at].contains(name).then_some(name))
    {
        return Err(Error::new_spanned(constructor, format!("two members have the name `{twice}`")));
    }
    let numbers: Vec<usize> = (0..read.len()).collect();
    let rests: Vec<&Field<'_>> = fields.iter().filter(|field| field.rest).collect();
    if rests.len() > 1 {
        return Err(Error::new_spanned(rests[1].kind, "one member keeps all that is unknown"));
    }
    let values = fields.iter().enumerate().map(|(at, field)| {
        let slot = format_ident!("__{at}");
        let (name, kind) = (&field.name, field.kind);
        match (&field.missing, field.skip, field.rest) {
            (_, _, true) => quote!(__rest),
            (Missing::Default(value), true, _) => value.clone(),
            (_, true, _) => quote!(::core::default::Default::default()),
            (Missing::Default(value), ..) => quote!(match #slot {
                ::core::option::Option::Some(__value) => __value,
                ::core::option::Option::None => #value,
            }),
            _ => quote!(match #slot.or_else(<#kind as #home::Take>::absent) {
                ::core::option::Option::Some(__value) => __value,
                ::core::option::Option::None => {
                    return ::core::result::Result::Err(#home::Source::missing(__source, #name));
                }
            }),
        }
    });
    let keeps = !rests.is_empty();
    let (declare, no_name, name, check) = match keeps {
        true => (
            quote!(let mut __rest = #home::Rest::default();),
            quote!(::std::string::String::new()),
            quote!(::std::borrow::ToOwned::to_owned(__other)),
            quote!(#home::Rest::check(&__rest, __source)?;),
        ),
        false if refuses => (
            quote!(),
            quote!(::std::string::String::new()),
            quote!(::std::borrow::ToOwned::to_owned(__other)),
            quote!(),
        ),
        false => (
            quote!(),
            quote!(()),
            quote!({
                let _ = __other;
            }),
            quote!(),
        ),
    };
    let unknown = match keeps {
        true => quote!(#home::Rest::take_member(&mut __rest, __unknown, __source)?),
        false if refuses => quote! {
            return ::core::result::Result::Err(#home::Source::unknown(__source, &__unknown, &[#(#names),*]))
        },
        false => quote!({
            let () = __unknown;
            #home::Source::skip_member(__source)?
        }),
    };
    Ok(quote! {
        #home::Source::begin_object(__source)?;
        #(let mut #slots: ::core::option::Option<#kinds> = ::core::option::Option::None;)*
        #declare
        while let ::core::option::Option::Some(__name) = #home::Source::next_member(__source)? {
            let (__field, __unknown) = match __name {
                #(#names => (#numbers, #no_name),)*
                __other => (usize::MAX, #name),
            };
            match __field {
                #(#numbers => {
                    if #slots.is_some() {
                        return ::core::result::Result::Err(#home::Source::repeated(__source, #names));
                    }
                    match #home::Take::take(__source) {
                        ::core::result::Result::Ok(__value) => #slots = ::core::option::Option::Some(__value),
                        ::core::result::Result::Err(__error) => {
                            return ::core::result::Result::Err(#home::Error::in_member(__error, #names));
                        }
                    }
                })*
                _ => #unknown,
            }
        }
        #check
        ::core::result::Result::Ok(#constructor { #(#members: #values),* })
    })
}

fn variants(home: &TokenStream, variants: &[&Variant], refuses: bool) -> Result<(TokenStream, TokenStream)> {
    let (mut puts, mut plain, mut whole, mut names) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for variant in variants {
        let mut name = syn::ext::IdentExt::unraw(&variant.ident).to_string();
        traced(&variant.attrs, &mut name)?;
        for attribute in variant.attrs.iter().filter(|attribute| attribute.path().is_ident("bind")) {
            attribute.parse_nested_meta(|meta| {
                if !meta.path.is_ident("rename") {
                    return Err(meta.error("expected `rename = \"name\"`"));
                }
                name = meta.value()?.parse::<LitStr>()?.value();
                Ok(())
            })?;
        }
        let ident = &variant.ident;
        if let Fields::Unit = variant.fields {
            puts.push(quote!(Self::#ident => #home::Sink::text(__sink, #name),));
            plain.push(quote!(#name => ::core::option::Option::Some(Self::#ident),));
        } else {
            let fields = fields(&variant.fields)?;
            let bindings: Vec<Ident> = (0..fields.len()).map(|at| format_ident!("__{at}")).collect();
            let members = fields.iter().map(|field| &field.member);
            let values: Vec<TokenStream> = bindings.iter().map(|binding| quote!(#binding)).collect();
            let put = put_fields(home, &variant.fields, &fields, &values);
            let take = take_fields(home, &variant.fields, &fields, &quote!(Self::#ident), refuses)?;
            let key = json(&name);
            puts.push(quote!(Self::#ident { #(#members: #bindings),* } => {
                let _ = (#(#bindings,)*);
                #home::Sink::begin_object(__sink, ::core::option::Option::Some(1));
                #home::Sink::field(__sink, #home::Key { name: #name, json: #key });
                #put
                #home::Sink::end_object(__sink);
            }));
            let number = whole.len();
            whole.push((name.clone(), number, quote!(#number => (|| { #take })(),)));
        }
        names.push(name);
    }
    let put = quote!(match self { #(#puts)* });
    let take_plain = match plain.is_empty() {
        true => quote!(),
        false => quote! {
            if #home::Source::kind(__source)? == #home::Kind::Text {
                let __found = match #home::Source::text(__source)? {
                    #(#plain)*
                    _ => ::core::option::Option::None,
                };
                return __found.ok_or_else(|| {
                    #home::Source::unexpected(__source, __from, &#home::__private::one_of(&[#(#names),*]))
                });
            }
        },
    };
    let take_whole = match whole.is_empty() {
        true => quote! {
            ::core::result::Result::Err(#home::Source::unexpected(__source, __from, &#home::__private::one_of(&[#(#names),*])))
        },
        false => {
            let (labels, numbers): (Vec<&String>, Vec<usize>) =
                whole.iter().map(|(name, number, _)| (name, *number)).unzip();
            let arms = whole.iter().map(|(.., arm)| arm);
            quote! {
                if #home::Source::kind(__source)? != #home::Kind::Object {
                    return ::core::result::Result::Err(
                        #home::Source::unexpected(__source, __from, &#home::__private::one_of(&[#(#names),*])),
                    );
                }
                #home::Source::begin_object(__source)?;
                let __which = match #home::Source::next_member(__source)? {
                    #(::core::option::Option::Some(#labels) => #numbers,)*
                    ::core::option::Option::Some(__other) => {
                        let __other = ::std::borrow::ToOwned::to_owned(__other);
                        return ::core::result::Result::Err(#home::Source::unknown(__source, &__other, &[#(#labels),*]));
                    }
                    ::core::option::Option::None => return ::core::result::Result::Err(
                        #home::Source::error(__source, __from, "an object of none".into(), "an object of one member".into()),
                    ),
                };
                let __value: ::core::result::Result<Self, #home::Error> = match __which {
                    #(#arms)*
                    _ => ::core::unreachable!(),
                };
                let __value = __value.map_err(|__error| #home::Error::in_member(__error, [#(#labels),*][__which]))?;
                if #home::Source::next_member(__source)?.is_some() {
                    return ::core::result::Result::Err(
                        #home::Source::error(__source, __from, "an object of more than one member".into(), "an object of one member".into()),
                    );
                }
                ::core::result::Result::Ok(__value)
            }
        }
    };
    let take = quote! {
        let __from = #home::Source::position(__source)?;
        #take_plain
        #take_whole
    };
    Ok((put, take))
}

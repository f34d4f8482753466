//! `#[derive(Trace)]`: signature, size and encoding of own types.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Data, DeriveInput, Error, Expr, Fields, Index, Lit, LitStr, Member, Path, Result, Variant};

use crate::contains::contains;

pub fn expand(input: DeriveInput) -> Result<TokenStream> {
    let Named { home, name, recursive } = named(&input)?;
    let owner = Owner { ident: &input.ident, recursive };
    let body = match &input.data {
        Data::Struct(data) => structure(&home, &name, &data.fields, &owner)?,
        Data::Enum(data) if data.variants.is_empty() => {
            return Err(Error::new_spanned(&input.ident, "an enum without variants has no values to record"));
        }
        Data::Enum(data) if data.variants.iter().all(|v| matches!(v.fields, Fields::Unit)) => {
            if recursive {
                return Err(Error::new_spanned(&input.ident, "an enum without data does not contain itself"));
            }
            enumeration(&home, &name, &input, &data.variants.iter().collect::<Vec<_>>())?
        }
        Data::Enum(data) => variants(&home, &owner, &data.variants.iter().collect::<Vec<_>>())?,
        Data::Union(data) => {
            return Err(Error::new_spanned(data.union_token, "a union does not say what it holds"));
        }
    };
    let mut generics = input.generics.clone();
    for parameter in generics.type_params_mut() {
        parameter.bounds.push(syn::parse_quote!(#home::Trace));
    }
    let (parameters, arguments, bounds) = generics.split_for_impl();
    let ident = &input.ident;
    Ok(quote! {
        #[automatically_derived]
        impl #parameters #home::Trace for #ident #arguments #bounds {
            #body
        }
    })
}

/// The type that the code is for.
struct Owner<'a> {
    ident: &'a Ident,
    /// It is recorded as an item that carries its types itself.
    recursive: bool,
}

impl Owner<'_> {
    /// Refuses fields of the type itself, for which the compiler would speak of a cycle in constants that nobody wrote.
    fn check(&self, fields: &[Field<'_>]) -> Result<()> {
        match fields.iter().find(|field| !self.recursive && contains(field.kind, self.ident)) {
            Some(field) => Err(Error::new_spanned(
                field.kind,
                format!(
                    "`{0}` contains itself: its signature would have no end. `#[trace(recursive)]` on `{0}` records its values as items that carry their types, down to a depth of 8",
                    self.ident
                ),
            )),
            None => Ok(()),
        }
    }

    /// All but `trace_item`, for a type that contains itself.
    fn methods(home: &TokenStream) -> TokenStream {
        let sig = quote!(#home::__private::Sig);
        quote! {
            const SIGNATURE: #sig = #sig::Text("v");
            const FIXED: ::core::option::Option<usize> = ::core::option::Option::None;
            const DEAR: bool = true;
            fn trace_size(&self) -> usize { #home::__private::item::size(self) }
            fn trace_least(&self) -> usize { #home::__private::item::least() }
            fn trace_write(&self, __writer: &mut #home::Writer) { #home::__private::item::write(self, __writer) }
        }
    }

    /// `trace_item`, made of what puts the value.
    fn item(&self, home: &TokenStream, put: TokenStream) -> TokenStream {
        let put = if self.recursive { quote!(__item.deeper(|__item| { #put });) } else { put };
        quote! {
            #[inline]
            fn trace_item(&self, __item: &mut #home::Item) { #put }
        }
    }
}

/// What is recorded of a field.
struct Field<'a> {
    member: Member,
    name: String,
    kind: &'a syn::Type,
}

fn recorded(fields: &Fields) -> Result<Vec<Field<'_>>> {
    let mut found = Vec::new();
    for (i, field) in fields.iter().enumerate() {
        let member = match &field.ident {
            Some(ident) => Member::Named(ident.clone()),
            None => Member::Unnamed(Index::from(i)),
        };
        let mut name = match &field.ident {
            Some(ident) => syn::ext::IdentExt::unraw(ident).to_string(),
            None => i.to_string(),
        };
        let mut skip = false;
        for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("trace")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("skip") {
                    skip = true;
                    Ok(())
                } else if meta.path.is_ident("rename") {
                    name = meta.value()?.parse::<LitStr>()?.value();
                    Ok(())
                } else {
                    Err(meta.error("expected `skip` or `rename = \"name\"`"))
                }
            })?;
        }
        if !skip {
            found.push(Field { member, name, kind: &field.ty });
        }
    }
    Ok(found)
}

/// `<Name|field:T,…>`
fn record_signature(home: &TokenStream, name: &str, fields: &[Field<'_>]) -> TokenStream {
    let sig = quote!(#home::__private::Sig);
    let parts = fields.iter().map(|Field { name, kind, .. }| {
        quote!(#sig::Name(#name), #sig::Text(":"), <#kind as #home::Trace>::SIGNATURE, #sig::Text(","))
    });
    quote!(#sig::List(&[#sig::Text("<"), #sig::Name(#name), #sig::Text("|"), #(#parts,)* #sig::Text(">")]))
}

fn structure(home: &TokenStream, name: &str, fields: &Fields, owner: &Owner<'_>) -> Result<TokenStream> {
    let fields = recorded(fields)?;
    owner.check(&fields)?;
    let (names, puts) = (fields.iter().map(|field| &field.name), fields.iter().map(|field| &field.member));
    let item = owner.item(
        home,
        quote! {
            let mut __nest = __item.begin_map();
            #(__item.field(&mut __nest, #names, &self.#puts);)*
            __item.end(__nest);
        },
    );
    if owner.recursive {
        let methods = Owner::methods(home);
        return Ok(quote!(#methods #item));
    }
    let signature = record_signature(home, name, &fields);
    let members: Vec<_> = fields.iter().map(|field| &field.member).collect();
    let kinds: Vec<_> = fields.iter().map(|field| field.kind).collect();
    Ok(quote! {
        const SIGNATURE: #home::__private::Sig = #signature;
        const FIXED: ::core::option::Option<usize> =
            #home::__private::fixed_sum(&[#(<#kinds as #home::Trace>::FIXED),*]);
        const ONCE: bool = false #(|| <#kinds as #home::Trace>::ONCE)*;
        #[inline]
        fn trace_size(&self) -> usize { 0 #(+ #home::Trace::trace_size(&self.#members))* }
        #[inline]
        fn trace_least(&self) -> usize { 0 #(+ #home::Trace::trace_least(&self.#members))* }
        #[inline(always)]
        fn trace_write(&self, __writer: &mut #home::Writer) { #(#home::Trace::trace_write(&self.#members, __writer);)* }
        #item
    })
}

/// `eName|T|value=label,…;`
fn enumeration(
    home: &TokenStream,
    name: &str,
    input: &DeriveInput,
    variants: &[&Variant],
) -> Result<TokenStream> {
    let repr = representation(input, variants)?;
    let code = quote!(<#repr as #home::Trace>::SIGNATURE);
    let sig = quote!(#home::__private::Sig);
    let idents: Vec<_> = variants.iter().map(|variant| &variant.ident).collect();
    let names = variants.iter().map(|variant| label(variant)).collect::<Result<Vec<_>>>()?;
    let labels = idents.iter().zip(&names).map(|(ident, label)| {
        quote!(#sig::Number(Self::#ident as i128), #sig::Text("="), #sig::Name(#label), #sig::Text(","))
    });
    Ok(quote! {
        const SIGNATURE: #home::__private::Sig =
            #sig::List(&[#sig::Text("e"), #sig::Name(#name), #sig::Text("|"), #code, #sig::Text("|"), #(#labels,)* #sig::Text(";")]);
        const FIXED: ::core::option::Option<usize> = <#repr as #home::Trace>::FIXED;
        const CLASS: #home::__private::Class = #home::__private::Class::Enumeration;
        const ONCE: bool = false;
        #[inline(always)]
        fn trace_size(&self) -> usize { ::core::mem::size_of::<#repr>() }
        #[inline(always)]
        fn trace_write(&self, __writer: &mut #home::Writer) {
            let __value: #repr = match self { #(Self::#idents => Self::#idents as #repr,)* };
            #home::Trace::trace_write(&__value, __writer);
        }
        #[inline]
        fn trace_item(&self, __item: &mut #home::Item) {
            __item.text(match self { #(Self::#idents => #names,)* });
        }
    })
}

/// `/T…|`, each T the record of a variant.
fn variants(home: &TokenStream, owner: &Owner<'_>, variants: &[&Variant]) -> Result<TokenStream> {
    if variants.len() > 255 {
        return Err(Error::new_spanned(
            owner.ident,
            "an enum with data can be recorded when it has at most 255 variants",
        ));
    }
    let sig = quote!(#home::__private::Sig);
    let mut signatures = Vec::new();
    let (mut sizes, mut leasts, mut writes, mut puts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut kinds = Vec::new();
    for (i, variant) in variants.iter().enumerate() {
        let fields = recorded(&variant.fields)?;
        owner.check(&fields)?;
        let label = label(variant)?;
        signatures.push(record_signature(home, &label, &fields));
        kinds.extend(fields.iter().map(|field| field.kind));
        let bindings: Vec<Ident> = (0..fields.len()).map(|n| format_ident!("__{n}")).collect();
        let members = fields.iter().map(|field| &field.member);
        let ident = &variant.ident;
        let pattern = quote!(Self::#ident { #(#members: #bindings,)* .. });
        let index = Literal::u8_suffixed(i as u8);
        sizes.push(quote!(#pattern => 1 #(+ #home::Trace::trace_size(#bindings))*));
        leasts.push(quote!(#pattern => 1 #(+ #home::Trace::trace_least(#bindings))*));
        writes.push(quote!(#pattern => {
            #home::Trace::trace_write(&#index, __writer);
            #(#home::Trace::trace_write(#bindings, __writer);)*
        }));
        let names = fields.iter().map(|field| &field.name);
        puts.push(match &variant.fields {
            Fields::Unit => quote!(#pattern => __item.text(#label),),
            _ => quote!(#pattern => {
                let mut __outer = __item.begin_map();
                if __item.next(&mut __outer) {
                    __item.text(#label);
                    let mut __nest = __item.begin_map();
                    #(__item.field(&mut __nest, #names, #bindings);)*
                    __item.end(__nest);
                }
                __item.end(__outer);
            }),
        });
    }
    let item = owner.item(home, quote!(match self { #(#puts)* }));
    if owner.recursive {
        let methods = Owner::methods(home);
        return Ok(quote!(#methods #item));
    }
    Ok(quote! {
        const SIGNATURE: #home::__private::Sig = #sig::List(&[#sig::Text("/"), #(#signatures,)* #sig::Text("|")]);
        const FIXED: ::core::option::Option<usize> = ::core::option::Option::None;
        const ONCE: bool = false #(|| <#kinds as #home::Trace>::ONCE)*;
        fn trace_size(&self) -> usize { match self { #(#sizes,)* } }
        fn trace_least(&self) -> usize { match self { #(#leasts,)* } }
        fn trace_write(&self, __writer: &mut #home::Writer) { match self { #(#writes)* } }
        #item
    })
}

/// The integer that an enum without data is recorded as: its `repr`. Otherwise it is the smallest that holds
/// all discriminants, or `i64` where those are not literal.
fn representation(input: &DeriveInput, variants: &[&Variant]) -> Result<Ident> {
    const INTEGERS: [&str; 12] =
        ["u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize"];
    let mut found = None;
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        attribute.parse_nested_meta(|meta| {
            if let Some(name) = INTEGERS.iter().find(|name| meta.path.is_ident(name)) {
                found = Some(Ident::new(name, Span::mixed_site()));
            } else if meta.input.peek(syn::token::Paren) {
                meta.input.parse::<proc_macro2::Group>()?;
            }
            Ok(())
        })?;
    }
    if let Some(repr) = found {
        return Ok(repr);
    }
    let (mut least, mut greatest, mut value) = (0i128, 0i128, -1i128);
    for variant in variants {
        value = match &variant.discriminant {
            None => value + 1,
            Some((_, expr)) => match literal(expr) {
                Some(value) => value,
                None => return Ok(Ident::new("i64", Span::mixed_site())),
            },
        };
        least = least.min(value);
        greatest = greatest.max(value);
    }
    let fits = |low: i128, high: i128| least >= low && greatest <= high;
    let name = match () {
        () if fits(0, u8::MAX.into()) => "u8",
        () if fits(i8::MIN.into(), i8::MAX.into()) => "i8",
        () if fits(0, u16::MAX.into()) => "u16",
        () if fits(i16::MIN.into(), i16::MAX.into()) => "i16",
        () if fits(0, u32::MAX.into()) => "u32",
        () if fits(i32::MIN.into(), i32::MAX.into()) => "i32",
        () => "i64",
    };
    Ok(Ident::new(name, Span::mixed_site()))
}

fn literal(expr: &Expr) -> Option<i128> {
    match expr {
        Expr::Lit(lit) => match &lit.lit {
            Lit::Int(int) => int.base10_parse().ok(),
            _ => None,
        },
        Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Neg(_)) => {
            literal(&unary.expr).map(|value| -value)
        }
        _ => None,
    }
}

/// A variant's name in traces.
fn label(variant: &Variant) -> Result<String> {
    let mut label = syn::ext::IdentExt::unraw(&variant.ident).to_string();
    for attribute in variant.attrs.iter().filter(|attribute| attribute.path().is_ident("trace")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("rename") {
                label = meta.value()?.parse::<LitStr>()?.value();
                Ok(())
            } else {
                Err(meta.error("expected `rename = \"name\"`"))
            }
        })?;
    }
    Ok(label)
}

/// What a type's attributes say.
struct Named {
    /// Where the crate `silverpoint` is.
    home: TokenStream,
    /// The type's name in traces.
    name: String,
    recursive: bool,
}

fn named(input: &DeriveInput) -> Result<Named> {
    let name = syn::ext::IdentExt::unraw(&input.ident).to_string();
    let mut named = Named { home: quote!(::silverpoint), name, recursive: false };
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("trace")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("crate") {
                named.home = meta.value()?.parse::<Path>()?.into_token_stream();
                Ok(())
            } else if meta.path.is_ident("rename") {
                named.name = meta.value()?.parse::<LitStr>()?.value();
                Ok(())
            } else if meta.path.is_ident("recursive") {
                named.recursive = true;
                Ok(())
            } else {
                Err(meta.error("expected `rename = \"name\"`, `recursive` or `crate = path`"))
            }
        })?;
    }
    Ok(named)
}

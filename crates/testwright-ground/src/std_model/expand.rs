//! From text to items: modules flattened, `#[for_each]` and `#[tuples]` written out.

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Error, GenericParam, Item, ItemImpl, Result, Token};

/// An item with the canonical path of its module.
pub(super) struct Found {
    pub file: &'static str,
    pub module: String,
    pub item: Item,
}

/// Lists that texts call by name.
const LISTS: &[(&str, &str)] = &[
    ("SIGNED", "i8, i16, i32, i64, i128, isize"),
    ("UNSIGNED", "u8, u16, u32, u64, u128, usize"),
    ("INTS", "i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize"),
    ("FLOATS", "f32, f64"),
    ("NUMBERS", "i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize, f32, f64"),
    ("PRIMS", "bool, char, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize, f32, f64"),
    ("ORDERED", "bool, char, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize"),
    (
        "RANGES",
        "Range<usize>, RangeFrom<usize>, RangeTo<usize>, RangeInclusive<usize>, RangeToInclusive<usize>, RangeFull",
    ),
    ("LENGTHS", "0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 32"),
];

const LONGEST_TUPLE: usize = 6;

pub(super) fn items(file: &'static str, source: &str) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    for item in syn::parse_file(source)?.items {
        flatten(file, "std", item, &mut found)?;
    }
    Ok(found)
}

fn flatten(file: &'static str, module: &str, item: Item, found: &mut Vec<Found>) -> Result<()> {
    if let Item::Mod(inner) = item {
        let module = format!("{module}::{}", inner.ident);
        for item in inner.content.map(|(_, items)| items).unwrap_or_default() {
            flatten(file, &module, item, found)?;
        }
        return Ok(());
    }
    let mut add = |item| found.push(Found { file, module: module.to_owned(), item });
    let Item::Impl(block) = item else {
        add(item);
        return Ok(());
    };
    for block in for_each(block)? {
        for block in tuples(block)? {
            add(Item::Impl(block));
        }
    }
    Ok(())
}

/// Takes the attribute called `name` out of `attrs`.
pub(super) fn take_attr(attrs: &mut Vec<Attribute>, name: &str) -> Option<Attribute> {
    let at = attrs.iter().position(|attr| attr.path().is_ident(name))?;
    Some(attrs.remove(at))
}

/// The impl once for every choice of its `#[for_each]` attributes.
fn for_each(mut block: ItemImpl) -> Result<Vec<ItemImpl>> {
    let mut choices: Vec<Choices> = Vec::new();
    while let Some(attr) = take_attr(&mut block.attrs, "for_each") {
        choices.push(attr.parse_args()?);
    }
    if choices.is_empty() {
        return Ok(vec![block]);
    }
    let mut texts = vec![block.into_token_stream()];
    for Choices { name, values } in choices {
        texts = texts
            .iter()
            .flat_map(|text| values.iter().map(|value| replaced(text.clone(), &name, value)))
            .collect();
    }
    texts.into_iter().map(syn::parse2).collect()
}

/// `Int: u8, u16` or `Int: UNSIGNED`.
struct Choices {
    name: Ident,
    values: Vec<TokenStream>,
}

impl Parse for Choices {
    fn parse(input: ParseStream<'_>) -> Result<Choices> {
        let name: Ident = input.parse()?;
        input.parse::<Token![:]>()?;
        let written = Punctuated::<syn::Type, Token![,]>::parse_terminated(input)?;
        let mut values = Vec::new();
        for value in written {
            let text = value.to_token_stream().to_string();
            match LISTS.iter().find(|(list, _)| *list == text) {
                Some((_, list)) => {
                    for value in list.split(", ") {
                        values.push(
                            value.parse::<TokenStream>().map_err(|error| Error::new(name.span(), error))?,
                        );
                    }
                }
                None => values.push(value.into_token_stream()),
            }
        }
        Ok(Choices { name, values })
    }
}

fn replaced(tokens: TokenStream, name: &Ident, by: &TokenStream) -> TokenStream {
    let mut result = TokenStream::new();
    for token in tokens {
        match token {
            TokenTree::Ident(ident) if ident == *name => {
                result.extend(by.clone().into_iter().map(|mut token| {
                    token.set_span(ident.span());
                    token
                }));
            }
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), replaced(group.stream(), name, by));
                inner.set_span(group.span());
                result.extend([TokenTree::Group(inner)]);
            }
            other => result.extend([other]),
        }
    }
    result
}

/// `#[tuples] impl<T: B> Trait for (T,) {}` for one to six elements.
fn tuples(mut block: ItemImpl) -> Result<Vec<ItemImpl>> {
    if take_attr(&mut block.attrs, "tuples").is_none() {
        return Ok(vec![block]);
    }
    let Some(GenericParam::Type(param)) = block.generics.params.first().cloned() else {
        return Err(Error::new_spanned(&block.generics, "a tuple impl has one type parameter"));
    };
    (1..=LONGEST_TUPLE)
        .map(|length| {
            let names: Vec<Ident> = (0..length).map(|n| format_ident!("{}{n}", param.ident)).collect();
            let params = names
                .iter()
                .map(|name| replaced(param.to_token_stream(), &param.ident, &name.to_token_stream()));
            let mut block = block.clone();
            block.generics.params =
                syn::parse::Parser::parse2(Punctuated::parse_terminated, quote!(#(#params),*))?;
            block.self_ty = syn::parse2(quote!((#(#names,)*)))?;
            Ok(block)
        })
        .collect()
}

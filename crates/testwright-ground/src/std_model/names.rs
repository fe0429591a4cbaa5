//! Which item a name in a text means: every declared type, trait and alias by its canonical path.

use std::collections::BTreeMap;

use syn::spanned::Spanned;
use syn::{Error, Generics, Item, Result, TypeParamBound};

use super::expand::Found;

/// What these words mean outside the modules that have an item of that name.
const PRELUDE: &[&str] =
    &["std::result::Result", "std::ops::Range", "std::fmt::Display", "std::cmp::Ordering"];

pub(super) struct Names<'a> {
    declared: BTreeMap<String, Declared<'a>>,
    /// Last word of a path to the paths that end in it.
    by_word: BTreeMap<String, Vec<String>>,
}

pub(super) struct Declared<'a> {
    pub path: String,
    pub module: &'a str,
    pub generics: &'a Generics,
    pub kind: Kind<'a>,
}

pub(super) enum Kind<'a> {
    Type,
    Alias(&'a syn::Type),
    Trait { assoc_types: Vec<String>, supertraits: Vec<&'a syn::Path> },
}

impl<'a> Names<'a> {
    pub fn new(items: &'a [Found]) -> std::result::Result<Names<'a>, (&'static str, Error)> {
        let mut names = Names { declared: BTreeMap::new(), by_word: BTreeMap::new() };
        for Found { file, module, item } in items {
            let (word, generics, kind) = match item {
                Item::Struct(item) => (&item.ident, &item.generics, Kind::Type),
                Item::Enum(item) => (&item.ident, &item.generics, Kind::Type),
                Item::Type(item) => (&item.ident, &item.generics, Kind::Alias(&item.ty)),
                Item::Trait(item) => (&item.ident, &item.generics, trait_kind(item)),
                _ => continue,
            };
            let path = format!("{module}::{word}");
            let declared = Declared { path: path.clone(), module, generics, kind };
            if names.declared.insert(path.clone(), declared).is_some() {
                return Err((file, Error::new_spanned(word, format!("{path} is declared twice"))));
            }
            names.by_word.entry(word.to_string()).or_default().push(path);
        }
        Ok(names)
    }

    /// The item that `path` means in `module`.
    pub fn find(&self, module: &str, path: &syn::Path) -> Result<&Declared<'a>> {
        let words: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let written = words.join("::");
        let ending = format!("::{written}");
        let candidates: Vec<&String> = words
            .last()
            .and_then(|word| self.by_word.get(word))
            .into_iter()
            .flatten()
            .filter(|candidate| **candidate == written || candidate.ends_with(&ending))
            .collect();
        let near = format!("{module}::{written}");
        let found = match candidates.as_slice() {
            [] => return Err(Error::new(path.span(), format!("unknown name {written}"))),
            [only] => *only,
            many => many
                .iter()
                .find(|candidate| ***candidate == near)
                .or_else(|| many.iter().find(|candidate| PRELUDE.contains(&candidate.as_str())))
                .ok_or_else(|| {
                    let paths: Vec<&str> = many.iter().map(|candidate| candidate.as_str()).collect();
                    Error::new(path.span(), format!("{written} may be {}", paths.join(" or ")))
                })?,
        };
        Ok(&self.declared[found])
    }

    pub fn get(&self, path: &str) -> Option<&Declared<'a>> {
        self.declared.get(path)
    }

    /// The trait that has the associated type `name`: this one or one of its supertraits.
    pub fn trait_with_assoc(&self, trait_path: &str, name: &str) -> Option<String> {
        let declared = self.get(trait_path)?;
        let Kind::Trait { assoc_types, supertraits } = &declared.kind else { return None };
        if assoc_types.iter().any(|assoc| assoc == name) {
            return Some(trait_path.to_owned());
        }
        supertraits
            .iter()
            .find_map(|path| self.trait_with_assoc(&self.find(declared.module, path).ok()?.path, name))
    }
}

fn trait_kind(item: &syn::ItemTrait) -> Kind<'_> {
    let assoc_types = item.items.iter().filter_map(|item| match item {
        syn::TraitItem::Type(assoc) => Some(assoc.ident.to_string()),
        _ => None,
    });
    let supertraits = item.supertraits.iter().filter_map(|bound| match bound {
        TypeParamBound::Trait(bound) => Some(&bound.path),
        _ => None,
    });
    Kind::Trait { assoc_types: assoc_types.collect(), supertraits: supertraits.collect() }
}

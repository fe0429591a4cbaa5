//! The crate with its names and constants looked up: what every translation step asks for ids and paths.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use testwright_model::api::{Foreign, Span};

use crate::format::{self, Crate, Generics, Id, Inner, Item};
use crate::names::Names;
use crate::stand_ins::StandIn;
use crate::{Options, std_paths};

#[derive(Debug)]
pub struct Reader<'a> {
    /// Name of the library.
    pub lib: &'a str,
    pub krate: &'a Crate,
    pub names: &'a Names,
    pub options: &'a Options,
    pub stand_ins: Vec<StandIn>,
    /// Values of the crate's constants by name; `None` where a name stands for several values.
    values: HashMap<&'a str, Option<&'a str>>,
    /// Paths of other crates met so far, by crate.
    foreign: RefCell<BTreeMap<String, BTreeSet<String>>>,
}

impl<'a> Reader<'a> {
    pub fn new(krate: &'a Crate, names: &'a Names, options: &'a Options) -> Reader<'a> {
        let mut values: HashMap<&str, Option<&str>> = HashMap::new();
        for item in krate.index.values().filter(|item| item.crate_id == 0) {
            if let Inner::Constant(constant) = &item.inner {
                let value = constant.const_.value.as_deref();
                values.entry(item.name()).and_modify(|known| *known = None).or_insert(value);
            }
        }
        let lib = krate.local(krate.root).map_or("", Item::name);
        Reader { lib, krate, names, options, stand_ins: Vec::new(), values, foreign: RefCell::default() }
    }

    /// The value of the crate's constant `name`, where there is one of that name and the compiler evaluated it.
    pub fn constant_value(&self, name: &str) -> Option<&'a str> {
        self.values.get(name).copied().flatten()
    }

    pub fn is_local(&self, id: Id) -> bool {
        self.krate.local(id).is_some()
            || self.krate.paths.get(&id).is_some_and(|summary| summary.crate_id == 0)
    }

    /// The canonical path of an item; `written` is the last resort.
    pub fn path(&self, id: Id, written: &str) -> String {
        if let Some(name) = self.names.get(id) {
            return name.path.clone();
        }
        let summary = self.krate.paths.get(&id);
        // What rustdoc says nothing about is a private item of this crate.
        let Some((summary, crate_name)) = summary.and_then(|summary| Some((summary, summary.path.first()?)))
        else {
            return format!("{}::{written}", self.lib);
        };
        if std_paths::is_std(crate_name) {
            return std_paths::public(&summary.path);
        }
        if summary.crate_id == 0 {
            return summary.path.join("::");
        }
        let path = self.foreign_path(&summary.path);
        self.foreign.borrow_mut().entry(crate_name.clone()).or_default().insert(path.clone());
        path
    }

    /// The path of another crate's item: one that users can write where it is known, else that of its definition.
    fn foreign_path(&self, segments: &[String]) -> String {
        let defined = segments.join("::");
        self.options.public.get(&defined).cloned().unwrap_or(defined)
    }

    /// Whether a foreign item's path was met so far.
    pub fn has_met(&self, id: Id) -> bool {
        self.krate.paths.get(&id).is_some_and(|summary| {
            let foreign = self.foreign.borrow();
            summary
                .path
                .first()
                .and_then(|name| foreign.get(name))
                .is_some_and(|paths| paths.contains(&self.foreign_path(&summary.path)))
        })
    }

    pub fn is_alias(&self, id: Id) -> bool {
        self.krate.paths.get(&id).is_some_and(|summary| summary.kind == "type_alias")
    }

    pub fn is_std(&self, id: Id) -> bool {
        let summary = self.krate.paths.get(&id);
        summary.and_then(|summary| summary.path.first()).is_some_and(|name| std_paths::is_std(name))
    }

    /// Generic parameters of a local type or trait.
    pub fn generics_of(&self, id: Id) -> Option<&'a Generics> {
        match &self.krate.local(id)?.inner {
            Inner::Struct(item) => Some(&item.generics),
            Inner::Enum(item) => Some(&item.generics),
            Inner::Union(item) => Some(&item.generics),
            Inner::Trait(item) => Some(&item.generics),
            _ => None,
        }
    }

    /// A local item that is out of the documentation and not asked for.
    pub fn is_left_out(&self, id: Id) -> bool {
        let hidden = match self.names.get(id) {
            Some(name) => name.hidden,
            None => self.krate.local(id).is_some_and(Item::is_doc_hidden),
        };
        hidden && !self.options.include_hidden
    }

    pub fn into_foreign(self) -> BTreeMap<String, Foreign> {
        let foreign = self.foreign.into_inner();
        foreign
            .into_iter()
            .map(|(name, paths)| (name.clone(), Foreign { name, paths: paths.into_iter().collect() }))
            .collect()
    }
}

pub fn span(item: &Item) -> Option<Span> {
    let format::Span { filename, begin, end } = item.span.as_ref()?;
    Some(Span { file: filename.clone(), line: begin.0, end_line: end.0 })
}

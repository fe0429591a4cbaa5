//! The path by which a user names each public item: receives the crate, walks its modules and re-exports from the root.
//!
//! The walk settles paths from the best to the worst (visible before hidden, short before long, then by the alphabet), so
//! the first path that reaches an item is its canonical one, and cycles of re-exports end by themselves.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet};

use testwright_model::api::Skipped;

use crate::format::{Crate, Id, Inner, Item};

#[derive(Debug, Default)]
pub struct Names {
    named: HashMap<Id, Name>,
    /// What the walk met and does not hand on.
    pub skipped: Vec<Skipped>,
}

#[derive(Clone, Debug)]
pub struct Name {
    /// `lib::module::Item`.
    pub path: String,
    /// No path reaches it without something marked `doc(hidden)`.
    pub hidden: bool,
}

impl Names {
    pub fn of(krate: &Crate) -> Names {
        Walk::new(krate).run()
    }

    pub fn get(&self, id: Id) -> Option<&Name> {
        self.named.get(&id)
    }

    /// Every named item in the order of its path.
    pub fn all(&self) -> Vec<(Id, &Name)> {
        let mut all: Vec<_> = self.named.iter().map(|(id, name)| (*id, name)).collect();
        all.sort_by(|(a, left), (b, right)| (&left.path, a).cmp(&(&right.path, b)));
        all
    }
}

/// Rank of a path: the order of the fields is the order of preference.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    hidden: bool,
    length: usize,
    segments: Vec<String>,
}

impl Rank {
    fn child(&self, name: &str, hidden: bool) -> Rank {
        let mut segments = self.segments.clone();
        segments.push(name.to_owned());
        Rank { hidden: self.hidden || hidden, length: segments.len(), segments }
    }

    fn path(&self) -> String {
        self.segments.join("::")
    }
}

/// What a path leads to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    Item(Id),
    /// The contents of `module` by a glob that stands in `into`.
    Glob {
        module: Id,
        into: Id,
    },
}

struct Walk<'a> {
    krate: &'a Crate,
    queue: BinaryHeap<Reverse<(Rank, Target)>>,
    globs: HashSet<(Id, Id)>,
    names: Names,
    /// By path and kind: an item in several re-exports is skipped once per path.
    skipped: BTreeMap<(String, String), String>,
    /// Names that each module spells out, which hide the same names from its globs.
    explicit: HashMap<Id, BTreeSet<String>>,
}

impl<'a> Walk<'a> {
    fn new(krate: &'a Crate) -> Walk<'a> {
        Walk {
            krate,
            queue: BinaryHeap::new(),
            globs: HashSet::new(),
            names: Names::default(),
            skipped: BTreeMap::new(),
            explicit: HashMap::new(),
        }
    }

    fn run(mut self) -> Names {
        if let Some(root) = self.krate.local(self.krate.root) {
            let rank = Rank { hidden: false, length: 1, segments: vec![root.name().to_owned()] };
            self.queue.push(Reverse((rank, Target::Item(self.krate.root))));
        }
        while let Some(Reverse((rank, target))) = self.queue.pop() {
            match target {
                Target::Item(id) => self.settle(id, &rank),
                Target::Glob { module, into } => {
                    if self.globs.insert((module, into)) {
                        self.open(module, into, &rank);
                    }
                }
            }
        }
        self.names.skipped =
            self.skipped.into_iter().map(|((path, kind), reason)| Skipped { path, kind, reason }).collect();
        self.names
    }

    fn settle(&mut self, id: Id, rank: &Rank) {
        if self.names.named.contains_key(&id) {
            return;
        }
        self.names.named.insert(id, Name { path: rank.path(), hidden: rank.hidden });
        if self.krate.local(id).is_some_and(|item| matches!(item.inner, Inner::Module(_))) {
            self.open(id, id, rank);
        }
    }

    /// Queues what `module` shows; its items get paths under `rank`, the path of the module `into`.
    fn open(&mut self, module: Id, into: Id, rank: &Rank) {
        let krate = self.krate;
        let Some(Inner::Module(contents)) = krate.local(module).map(|item| &item.inner) else { return };
        for id in &contents.items {
            let Some(item) = krate.local(*id) else { continue };
            if !item.is_public() {
                continue;
            }
            if module != into && shown_name(item).is_some_and(|name| self.explicit(into).contains(name)) {
                continue;
            }
            self.show(*id, item, into, rank);
        }
    }

    fn show(&mut self, id: Id, item: &'a Item, into: Id, rank: &Rank) {
        let hidden = item.is_doc_hidden();
        match &item.inner {
            Inner::Use(import) => match self.final_target(import.id) {
                Some(module) if import.is_glob => {
                    let rank = Rank { hidden: rank.hidden || hidden, ..rank.clone() };
                    self.queue.push(Reverse((rank, Target::Glob { module, into })));
                }
                Some(target) => {
                    let hidden = hidden || self.krate.index[&target].is_doc_hidden();
                    self.queue.push(Reverse((rank.child(&import.name, hidden), Target::Item(target))));
                }
                None => self.skip_foreign(import.id, &import.source, &import.name, import.is_glob, rank),
            },
            Inner::ExternCrate(import) => {
                let path = rank.child(&import.name, hidden).path();
                self.skipped.insert((path, "extern crate".into()), "re-export of another crate".into());
            }
            Inner::Impl(_) | Inner::Primitive(_) => {}
            Inner::Macro(_) | Inner::ProcMacro(_) => {
                self.skipped.insert((rank.child(item.name(), hidden).path(), "macro".into()), "macro".into());
            }
            _ => self.queue.push(Reverse((rank.child(item.name(), hidden), Target::Item(id)))),
        }
    }

    /// Follows re-exports of re-exports to the item itself, if that is local.
    fn final_target(&self, id: Option<Id>) -> Option<Id> {
        let mut target = id?;
        for _ in 0..self.krate.index.len() {
            match self.krate.local(target)?.inner {
                Inner::Use(ref import) if !import.is_glob => target = import.id?,
                _ => return Some(target),
            }
        }
        None
    }

    fn skip_foreign(&mut self, id: Option<Id>, source: &str, name: &str, is_glob: bool, rank: &Rank) {
        let summary = id.and_then(|id| self.krate.paths.get(&id));
        let kind = summary.map_or("re-export", |summary| summary.kind.as_str()).replace('_', " ");
        let defined = summary.map_or_else(|| source.to_owned(), |summary| summary.path.join("::"));
        let name = if is_glob { "*" } else { name };
        let reason = match summary {
            Some(summary) if summary.crate_id == 0 => {
                format!("re-export of {defined}, which is not documented")
            }
            _ => format!("re-export of another crate's {defined}"),
        };
        self.skipped.insert((rank.child(name, false).path(), kind), reason);
    }

    fn explicit(&mut self, module: Id) -> &BTreeSet<String> {
        let krate = self.krate;
        self.explicit.entry(module).or_insert_with(|| {
            let Some(Inner::Module(contents)) = krate.local(module).map(|item| &item.inner) else {
                return BTreeSet::new();
            };
            let items = contents.items.iter().filter_map(|id| krate.local(*id));
            items.filter(|item| item.is_public()).filter_map(shown_name).map(str::to_owned).collect()
        })
    }
}

/// The name that an item has in its module; none for globs and impls.
fn shown_name(item: &Item) -> Option<&str> {
    match &item.inner {
        Inner::Use(import) if import.is_glob => None,
        Inner::Use(import) => Some(&import.name),
        _ => item.name.as_deref(),
    }
}

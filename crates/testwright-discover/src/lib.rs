//! Reads what a crate offers: rustdoc's JSON in, an [`Api`] out. No type of rustdoc leaves this crate.
//!
//! `format` parses, `names` finds the path by which users name each item, and the other modules translate, each its kind
//! of thing, as methods of a `Reader`. Every public item is taken, or skipped with a reason.
//!
//! The JSON comes from the user's stable compiler, for the library `my_lib` of the package `my-package`:
//!
//! ```text
//! RUSTC_BOOTSTRAP=my_lib cargo rustdoc -p my-package --lib -- -Z unstable-options --output-format json --document-hidden-items --cap-lints allow
//! ```

mod definitions;
mod docs;
mod error;
mod format;
mod functions;
mod generics;
mod impls;
mod inherit;
mod names;
mod reader;
mod scope;
mod stand_ins;
mod std_paths;
mod substitution;
mod types;

use std::collections::BTreeMap;

use testwright_model::Api;
use testwright_model::api::Skipped;
use testwright_model::ty::last_segment;

pub use error::DiscoverError;

use format::Inner;
use impls::HIDDEN;
use names::Names;
use reader::Reader;
use scope::Scope;

#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Of the package; rustdoc's own record of it may be absent.
    pub version: String,
    /// Take items marked `doc(hidden)` too.
    pub include_hidden: bool,
    /// Items of other crates by the path of their definition, which is all that rustdoc tells, with one that users can write.
    pub public: BTreeMap<String, String>,
}

/// Turns the JSON that `rustdoc --output-format json` wrote for one crate into its [`Api`].
///
/// ```
/// let error = testwright_discover::read("{}", &testwright_discover::Options::default()).unwrap_err();
/// assert!(matches!(error, testwright_discover::DiscoverError::NotJson(_)));
/// ```
pub fn read(json: &str, options: &Options) -> Result<Api, DiscoverError> {
    let krate = format::parse(json)?;
    let root = krate.local(krate.root).ok_or(DiscoverError::NoRoot)?;
    let mut names = Names::of(&krate);
    let skipped = std::mem::take(&mut names.skipped);
    let reader = Reader::new(&krate, &names, options).with_stand_ins();

    let mut api =
        Api { lib: root.name().to_owned(), version: options.version.clone(), skipped, ..Api::default() };
    reader.named_items(&mut api);
    api.impls = reader.impls(&mut api.skipped);
    inherit::panics(&mut api);
    api.foreign = reader.into_foreign();
    api.skipped.sort_by(|a, b| (&a.path, &a.kind).cmp(&(&b.path, &b.kind)));
    Ok(api)
}

/// Whether documentation announces a panic, as that of a function is read.
pub fn announces_panics(text: &str) -> bool {
    docs::docs(Some(text)).panics.is_some()
}

impl Reader<'_> {
    /// Takes everything that has a public path.
    fn named_items(&self, api: &mut Api) {
        for (id, name) in self.names.all() {
            let Some(item) = self.krate.local(id) else { continue };
            let path = name.path.clone();
            // Hidden traits stay: other items are bounded by them, and their flag says that they are hidden.
            if name.hidden && !self.options.include_hidden && !matches!(item.inner, Inner::Trait(_)) {
                if !matches!(item.inner, Inner::Variant(_)) {
                    api.skipped.push(Skipped {
                        path,
                        kind: item.kind().to_owned(),
                        reason: HIDDEN.to_owned(),
                    });
                }
                continue;
            }
            match &item.inner {
                Inner::Struct(_) | Inner::Enum(_) | Inner::Union(_) => {
                    api.types.extend(self.type_def(id, item, &path).map(|def| (path, def)));
                }
                Inner::Trait(trait_) => {
                    let def = self.trait_def(id, item, trait_, &path);
                    api.traits.insert(path, def);
                }
                Inner::Function(function) => {
                    let mut function = self.function(item, function, path, &Scope::default());
                    last_segment(&function.path).clone_into(&mut function.name);
                    function.has_body = true;
                    function.doc_hidden |= name.hidden;
                    api.functions.push(function);
                }
                Inner::Constant(_) | Inner::Static(_) => api.constants.extend(self.free_constant(item, path)),
                // Other aliases are expanded where they stand.
                Inner::TypeAlias(_) => api.types.extend(self.stand_in_def(id, &path).map(|def| (path, def))),
                // Modules are walked, variants belong to their enum.
                Inner::Module(_) | Inner::Variant(_) => {}
                _ => {
                    let kind = item.kind().to_owned();
                    let reason = format!("{kind} is not supported");
                    api.skipped.push(Skipped { path, kind, reason });
                }
            }
        }
    }
}

//! What a method's documentation leaves to others: its trait's method, or the type, may announce its panics.

use testwright_model::api::{Docs, TraitDef};
use testwright_model::{Api, Ty};

/// Fills in the panics that are documented elsewhere; what a method says itself stays.
pub fn panics(api: &mut Api) {
    let Api { impls, traits, types, .. } = api;
    for imp in impls {
        let of_trait = imp.trait_.as_ref().and_then(|trait_| traits.get(&trait_.path));
        let of_type = match &imp.for_ {
            Ty::Adt { path, .. } => types.get(path).and_then(|def| section(&def.docs)),
            _ => None,
        };
        for method in &mut imp.methods {
            if method.docs.panics.is_none() {
                method.docs.panics =
                    of_trait.and_then(|def| of_method(def, &method.name)).or_else(|| of_type.clone());
            }
        }
    }
}

fn of_method(def: &TraitDef, name: &str) -> Option<String> {
    def.methods.iter().find(|method| method.name == name)?.docs.panics.clone()
}

/// A type's documentation speaks for its methods only under a heading; a sentence may be about one of them.
fn section(docs: &Docs) -> Option<String> {
    let heading = docs.text.lines().any(|line| {
        line.trim_start()
            .strip_prefix('#')
            .is_some_and(|title| title.trim_matches(['#', ' ', ':']).eq_ignore_ascii_case("panics"))
    });
    docs.panics.clone().filter(|_| heading)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_heading_of_the_type_speaks_for_its_methods() {
        let docs =
            |text: &str| Docs { text: text.to_owned(), panics: Some("x".to_owned()), ..Docs::default() };
        assert_eq!(section(&docs("A ring.\n\n# Panics\n\nOn overflow.")), Some("x".to_owned()));
        assert_eq!(section(&docs("A ring. `push` panics if full.")), None);
    }
}

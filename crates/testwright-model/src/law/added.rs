//! Laws that a crate's author adds, as Rust expressions over one, two or three values of a type.

use super::{Law, ONE, THREE, TWO};

/// A law as it is written down: `holds` is true for all values `a`, `b` and `c` of the type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Added {
    /// The type's name, or its path in the crate.
    pub ty: String,
    /// Letters, digits and underscores.
    pub name: String,
    pub holds: String,
    /// The file and line that it stands in.
    pub place: String,
}

impl Added {
    /// The law for the whole run of the program: there are few, and findings refer to them by name.
    pub fn law(&self) -> &'static Law {
        let leak = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
        let (holds, values) = with_holes(&self.holds);
        let says = leak(format!("{}: {}", self.name, self.holds.replace(['"', '\\', '{', '}'], "'")));
        let name = self.ty.rsplit("::").next().unwrap_or(&self.ty);
        Box::leak(Box::new(Law {
            class: leak(format!("law:{name}.{}", self.name)),
            title: leak(format!("keeps_{}", self.name)),
            blames: ("", leak(self.name.clone())),
            takes: match values {
                0 | 1 => ONE,
                2 => TWO,
                _ => THREE,
            },
            code: leak(format!("assert!({holds}, \"{says}\")")),
            says,
            source: leak(self.place.clone()),
            ..Law::NONE
        }))
    }
}

/// The expression with the values' places in the stead of their names, and how many values there are.
fn with_holes(holds: &str) -> (String, usize) {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let (mut text, mut values) = (String::new(), 0);
    let mut rest = holds;
    while let Some(start) = rest.find(is_part) {
        let (before, word) = rest.split_at(start);
        let end = word.find(|c| !is_part(c)).unwrap_or(word.len());
        text.push_str(before);
        let field = text.trim_end().ends_with('.') && !text.trim_end().ends_with("..");
        match ["a", "b", "c"].iter().position(|name| *name == &word[..end]).filter(|_| !field) {
            Some(value) => {
                text.push_str(&format!("{{*{value}}}"));
                values = values.max(value + 1);
            }
            None => text.push_str(&word[..end]),
        }
        rest = &word[end..];
    }
    text.push_str(rest);
    (text, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_holes() {
        assert_eq!(with_holes("a.len() <= a.capacity()"), ("{*0}.len() <= {*0}.capacity()".to_owned(), 1));
        assert_eq!(with_holes("abc.a != b || (0..a.c).any(|x| x == c)").1, 3);
        assert_eq!(with_holes("x.a"), ("x.a".to_owned(), 0));
    }

    #[test]
    fn a_law_panics_with_its_own_words() {
        let added = Added {
            ty: "my::Slab".to_owned(),
            name: "fits".to_owned(),
            holds: "a.len() <= a.capacity()".to_owned(),
            place: "testwright.toml:3".to_owned(),
        };
        let law = added.law();
        assert!(law.code.contains(law.says) && law.takes.len() == 1);
        assert_eq!(law.class, "law:Slab.fits");
    }
}

//! Reads a value's `Debug` text by its type and writes it as Rust source.
//!
//! Gives up wherever the text could mean something else: a caller then compares the text itself.

use testwright_model::operation::Operations;
use testwright_model::ty::last_segment;
use testwright_model::{GenericArg, Prim, Ty};

use crate::literal;

/// What the literal is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Against {
    /// The value itself: std compares a `Vec` with an array, a `String` with a `&str`.
    Value,
    /// A part of an `Option`, a tuple or the like, which is compared with its own type only.
    Same,
}

/// The source of a literal that equals the value with this text.
pub fn source(operations: &Operations, ty: &Ty, text: &str, against: Against) -> Option<String> {
    let mut reader = Reader { operations, rest: text };
    let source = reader.value(ty, against)?;
    if reader.rest.is_empty() { Some(source) } else { None }
}

struct Reader<'a> {
    operations: &'a Operations,
    rest: &'a str,
}

impl Reader<'_> {
    fn value(&mut self, ty: &Ty, against: Against) -> Option<String> {
        match ty {
            Ty::Prim(Prim::Bool) => self.one_of(&["true", "false"]),
            Ty::Prim(Prim::Char) => self.quoted('\''),
            Ty::Prim(prim) if prim.is_float() => self.float(*prim),
            Ty::Prim(prim) => self.int(*prim),
            Ty::Ref { mutable, to, .. } => self.reference(*mutable, to, against),
            Ty::Array(of, _) => {
                let items = self.list(of, against)?;
                // `[]` does not say of what, unless only one type fits.
                if items.is_empty() && against == Against::Value { None } else { Some(bracketed(&items)) }
            }
            Ty::Tuple(parts) => self.tuple(parts),
            Ty::Adt { path, args } => self.adt(ty, path, args, against),
            _ => None,
        }
    }

    fn reference(&mut self, mutable: bool, to: &Ty, against: Against) -> Option<String> {
        let sigil = if mutable { "&mut " } else { "&" };
        match to {
            Ty::Str if !mutable || against == Against::Value => self.quoted('"'),
            Ty::Adt { path, .. } if path == "std::string::String" && against == Against::Value => {
                self.quoted('"')
            }
            Ty::Slice(of) => {
                let items = self.list(of, against)?;
                match against {
                    Against::Value if items.is_empty() => None,
                    Against::Value => Some(bracketed(&items)),
                    Against::Same => Some(format!("{sigil}{}[..]", bracketed(&items))),
                }
            }
            _ => {
                let before = self.rest;
                let source = self.value(to, against)?;
                let read = &before[..before.len() - self.rest.len()];
                // `&mut i32::MAX` looks as if the constant could change.
                let is_constant = matches!(to, Ty::Prim(_)) && source.contains("::");
                Some(format!("{sigil}{}", if mutable && is_constant { read } else { &source }))
                    .filter(|_| !mutable || !read.ends_with("inf"))
            }
        }
    }

    fn adt(&mut self, ty: &Ty, path: &str, args: &[GenericArg], against: Against) -> Option<String> {
        let mut types = args.iter().filter_map(|arg| match arg {
            GenericArg::Ty(ty) => Some(ty),
            _ => None,
        });
        match (path, against) {
            ("std::option::Option", _) if self.eat("None") => Some("None".to_owned()),
            ("std::option::Option", _) => self.wrapped("Some", types.next()?),
            ("std::result::Result", _) => {
                let (ok, err) = (types.next()?, types.next()?);
                if self.rest.starts_with("Ok(") { self.wrapped("Ok", ok) } else { self.wrapped("Err", err) }
            }
            ("std::string::String", Against::Same) => Some(match self.quoted('"')?.as_str() {
                "\"\"" => "String::new()".to_owned(),
                text => format!("String::from({text})"),
            }),
            ("std::string::String", Against::Value) => self.quoted('"'),
            ("std::borrow::Cow", Against::Value) if types.next() == Some(&Ty::Str) => self.quoted('"'),
            ("std::vec::Vec" | "std::collections::VecDeque", Against::Value) => {
                let items = self.list(types.next()?, against)?;
                if items.is_empty() { None } else { Some(bracketed(&items)) }
            }
            ("std::vec::Vec", Against::Same) => {
                let items = self.list(types.next()?, against)?;
                Some(format!("vec!{}", bracketed(&items)))
            }
            ("std::boxed::Box", _) => {
                let inner = self.value(types.next()?, Against::Same)?;
                Some(format!("Box::new({inner})"))
            }
            ("std::cmp::Ordering", _) => {
                let name = self.one_of(&["Less", "Equal", "Greater"])?;
                Some(format!("std::cmp::Ordering::{name}"))
            }
            ("testwright::Tracked", _) => {
                self.expect("Tracked(")?;
                let number = self.int(Prim::I32)?;
                self.expect(")")?;
                Some(format!("testwright::Tracked::new({number})"))
            }
            _ => self.unit_like(ty),
        }
    }

    /// A variant or struct without fields, if the crate lets callers write it.
    fn unit_like(&mut self, ty: &Ty) -> Option<String> {
        let end = self.rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        let id = self.operations.find_type(ty)?;
        let operation = self.operations.operations.iter().find(|operation| {
            operation.result == id
                && operation.params.is_empty()
                && last_segment(&operation.path) == name
                && last_segment(&operation.form.full) == name
        })?;
        self.rest = rest;
        Some(operation.form.full.clone())
    }

    fn wrapped(&mut self, name: &str, of: &Ty) -> Option<String> {
        self.expect(name)?;
        self.expect("(")?;
        let inner = self.value(of, Against::Same)?;
        self.expect(")")?;
        Some(format!("{name}({inner})"))
    }

    fn tuple(&mut self, parts: &[Ty]) -> Option<String> {
        self.expect("(")?;
        let mut sources = Vec::new();
        for (i, part) in parts.iter().enumerate() {
            if i > 0 {
                self.expect(", ")?;
            }
            sources.push(self.value(part, Against::Same)?);
        }
        let comma = if parts.len() == 1 { "," } else { "" };
        self.expect(comma)?;
        self.expect(")")?;
        Some(format!("({}{comma})", sources.join(", ")))
    }

    fn list(&mut self, of: &Ty, against: Against) -> Option<Vec<String>> {
        self.expect("[")?;
        let mut items = Vec::new();
        while !self.eat("]") {
            if !items.is_empty() {
                self.expect(", ")?;
            }
            items.push(self.value(of, against)?);
        }
        Some(items)
    }

    fn int(&mut self, prim: Prim) -> Option<String> {
        let end = self.rest.find(|c: char| !(c.is_ascii_digit() || c == '-')).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        let bits = prim.bits();
        let value = if prim.is_signed() {
            let value: i128 = digits.parse().ok()?;
            if value != (value << (128 - bits)) >> (128 - bits) {
                return None;
            }
            value
        } else {
            let value: u128 = digits.parse().ok()?;
            if value > u128::MAX >> (128 - bits) {
                return None;
            }
            value.cast_signed()
        };
        self.rest = rest;
        Some(literal::int(prim, value, false))
    }

    /// Numbers as `Debug` writes them are literals; a NaN equals nothing.
    fn float(&mut self, prim: Prim) -> Option<String> {
        let name = prim.name();
        if self.eat("inf") {
            return Some(format!("{name}::INFINITY"));
        }
        if self.eat("-inf") {
            return Some(format!("{name}::NEG_INFINITY"));
        }
        let end = self
            .rest
            .find(|c: char| !(c.is_ascii_digit() || matches!(c, '-' | '.' | 'e')))
            .unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        digits.parse::<f64>().ok()?;
        if !digits.contains(['.', 'e']) {
            return None;
        }
        self.rest = rest;
        Some(digits.to_owned())
    }

    /// A string or character: the escapes of `Debug` are those of the language.
    fn quoted(&mut self, quote: char) -> Option<String> {
        let mut chars = self.rest.char_indices();
        if chars.next()?.1 != quote {
            return None;
        }
        let mut escaped = false;
        for (at, c) in chars {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                _ if c == quote => {
                    let (text, rest) = self.rest.split_at(at + 1);
                    self.rest = rest;
                    return Some(text.to_owned());
                }
                '\n' | '\r' => return None,
                _ => {}
            }
        }
        None
    }

    fn one_of(&mut self, words: &[&str]) -> Option<String> {
        words.iter().find(|word| self.eat(word)).map(|word| (*word).to_owned())
    }

    fn expect(&mut self, text: &str) -> Option<()> {
        if self.eat(text) { Some(()) } else { None }
    }

    fn eat(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }
}

fn bracketed(items: &[String]) -> String {
    format!("[{}]", items.join(", "))
}

#[cfg(test)]
mod tests {
    use testwright_model::operation::Operations;
    use testwright_model::{Const, Prim, Ty};

    use super::{Against, source};

    fn check(ty: &Ty, text: &str, value: Option<&str>, same: Option<&str>) {
        let operations = Operations::default();
        assert_eq!(source(&operations, ty, text, Against::Value).as_deref(), value, "{text}");
        assert_eq!(source(&operations, ty, text, Against::Same).as_deref(), same, "{text}");
    }

    fn option(of: Ty) -> Ty {
        Ty::adt("std::option::Option", vec![of])
    }

    fn vec(of: Ty) -> Ty {
        Ty::adt("std::vec::Vec", vec![of])
    }

    #[test]
    fn numbers() {
        let both = |prim, text, expected| check(&Ty::Prim(prim), text, expected, expected);
        both(Prim::I32, "-7", Some("-7"));
        both(Prim::I32, "2147483648", None);
        both(Prim::Usize, "18446744073709551615", Some("usize::MAX"));
        both(Prim::U8, "256", None);
        both(Prim::U128, "340282366920938463463374607431768211455", Some("u128::MAX"));
        both(Prim::F64, "1.5", Some("1.5"));
        both(Prim::F64, "1e-7", Some("1e-7"));
        both(Prim::F32, "-inf", Some("f32::NEG_INFINITY"));
        both(Prim::F64, "NaN", None);
        both(Prim::Char, "'\\''", Some("'\\''"));
        both(Prim::Bool, "true", Some("true"));
        both(Prim::Bool, "truest", None);
    }

    #[test]
    fn nests() {
        let int = Ty::Prim(Prim::I32);
        let string = Ty::adt("std::string::String", Vec::new());
        check(&option(Ty::reference(int.clone())), "Some(3)", Some("Some(&3)"), Some("Some(&3)"));
        check(&vec(int.clone()), "[1, 2]", Some("[1, 2]"), Some("vec![1, 2]"));
        check(&vec(int.clone()), "[]", None, Some("vec![]"));
        check(&string, "\"a\\\"b\"", Some("\"a\\\"b\""), Some("String::from(\"a\\\"b\")"));
        check(
            &option(string.clone()),
            "Some(\"\")",
            Some("Some(String::new())"),
            Some("Some(String::new())"),
        );
        check(&Ty::reference(string.clone()), "\"a\"", Some("\"a\""), Some("&String::from(\"a\")"));
        check(
            &Ty::reference_mut(int.clone()),
            "2147483647",
            Some("&mut 2147483647"),
            Some("&mut 2147483647"),
        );
        let slice = Ty::reference(Ty::Slice(Box::new(int.clone())));
        check(&slice, "[1]", Some("[1]"), Some("&[1][..]"));
        let pair = Ty::Tuple(vec![int.clone(), option(int.clone())]);
        check(&pair, "(1, None)", Some("(1, None)"), Some("(1, None)"));
        check(&Ty::Tuple(vec![int.clone()]), "(1,)", Some("(1,)"), Some("(1,)"));
        let array = Ty::Array(Box::new(string), Const::Value("1".to_owned()));
        check(&array, "[\"a\"]", Some("[\"a\"]"), Some("[String::from(\"a\")]"));
        let result = Ty::adt("std::result::Result", vec![Ty::unit(), int]);
        check(&result, "Ok(())", Some("Ok(())"), Some("Ok(())"));
        check(&result, "Err(4)", Some("Err(4)"), Some("Err(4)"));
        check(&result, "Err(4", None, None);
    }

    #[test]
    fn types_with_fields_are_not_read() {
        check(&Ty::adt("lib::Point", Vec::new()), "Point", None, None);
        check(&Ty::adt("std::collections::HashMap", Vec::new()), "{}", None, None);
    }
}

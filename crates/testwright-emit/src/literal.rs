//! Literals as Rust source.

use testwright_model::{Literal, Prim, Ty};

/// The literal as an expression of the type; `typed` asks for a form whose type needs no context.
pub fn text(ty: &Ty, value: &Literal, typed: bool) -> String {
    match value {
        Literal::Bool(value) => value.to_string(),
        Literal::Char(value) => format!("{value:?}"),
        Literal::Int(value) => {
            let Ty::Prim(prim) = ty else { return value.to_string() };
            int(*prim, *value, typed)
        }
        Literal::Float(bits) => {
            let double = *ty == Ty::Prim(Prim::F64);
            let value = if double {
                f64::from_bits(*bits)
            } else {
                f64::from(f32::from_bits(u32::try_from(*bits).unwrap_or(0)))
            };
            let name = if double { "f64" } else { "f32" };
            let constant = if value.is_nan() {
                Some("NAN")
            } else if value == f64::INFINITY {
                Some("INFINITY")
            } else if value == f64::NEG_INFINITY {
                Some("NEG_INFINITY")
            } else {
                None
            };
            if let Some(constant) = constant {
                format!("{name}::{constant}")
            } else {
                let digits = if double {
                    format!("{value:?}")
                } else {
                    format!("{:?}", f32::from_bits(u32::try_from(*bits).unwrap_or(0)))
                };
                if typed { format!("{digits}_{name}") } else { digits }
            }
        }
        Literal::Str(value) => match repetition(value) {
            // Leaked, because whatever is made from a literal may keep it.
            Some((unit, times)) => {
                let made = format!("{unit:?}.repeat({times}).leak()");
                if typed { format!("&*{made}") } else { made }
            }
            None => format!("{value:?}"),
        },
        Literal::Bytes(value) => {
            let text =
                if value.is_empty() { "b\"\"".to_owned() } else { format!("b\"{}\"", value.escape_ascii()) };
            if typed { format!("&{text}[..]") } else { text }
        }
    }
}

/// Where texts and byte strings of a test lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placing {
    /// Among the program's constants.
    Constant,
    /// In a block of its own on the heap, of which a sanitizer knows where it ends.
    Heap,
    /// There, one byte past its beginning, so that it is aligned to nothing.
    Unaligned,
}

impl Placing {
    /// What owns the text or byte string, and what is passed if the owner has this name; `None` if it is to be written as always.
    pub fn owner(self, ty: &Ty, value: &Literal, name: &str) -> Option<(String, String)> {
        if self == Placing::Constant || matches!(value, Literal::Str(long) if repetition(long).is_some()) {
            return None;
        }
        let shifted = match value {
            Literal::Str(value) if self == Placing::Unaligned => Literal::Str(format!("\0{value}")),
            Literal::Bytes(value) if self == Placing::Unaligned => {
                Literal::Bytes([b"\0", &value[..]].concat())
            }
            other => other.clone(),
        };
        let text = text(ty, &shifted, false);
        let owner = match value {
            Literal::Str(_) => format!("String::from({text})"),
            Literal::Bytes(_) => format!("{text}.to_vec()"),
            _ => return None,
        };
        Some((owner, format!("&{name}[{}..]", if self == Placing::Unaligned { "1" } else { "" })))
    }
}

/// A long text as a short one that is repeated, if it is.
fn repetition(text: &str) -> Option<(&str, usize)> {
    const LONG: usize = 300;
    const UNIT: usize = 16;
    let unit = (1..=UNIT).filter(|length| text.is_char_boundary(*length)).find(|length| {
        text.len() > LONG
            && text.len().is_multiple_of(*length)
            && text.as_bytes()[*length..] == text.as_bytes()[..text.len() - length]
    })?;
    Some((&text[..unit], text.len() / unit))
}

pub fn int(prim: Prim, value: i128, typed: bool) -> String {
    let name = prim.name();
    let bits = prim.bits();
    if prim.is_signed() {
        let min = i128::MIN >> (128 - bits);
        let max = i128::MAX >> (128 - bits);
        if value == min {
            return format!("{name}::MIN");
        }
        if value == max && bits > 8 {
            return format!("{name}::MAX");
        }
        return if typed { format!("{value}_{name}") } else { value.to_string() };
    }
    let unsigned = value.cast_unsigned() & (u128::MAX >> (128 - bits));
    if unsigned == u128::MAX >> (128 - bits) && bits > 8 {
        return format!("{name}::MAX");
    }
    if typed { format!("{unsigned}_{name}") } else { unsigned.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_for_a_sanitizer_lie_on_the_heap() {
        let bytes = Ty::reference(Ty::Slice(Box::new(Ty::Prim(Prim::U8))));
        let owner = |placing: Placing, ty: &Ty, value| placing.owner(ty, &value, "it");
        let pair = |owner: &str, passed: &str| Some((owner.to_owned(), passed.to_owned()));
        let elf = Literal::Bytes(b"\x7fELF".to_vec());
        assert_eq!(owner(Placing::Heap, &bytes, elf), pair("b\"\\x7fELF\".to_vec()", "&it[..]"));
        let text = Ty::reference(Ty::Str);
        let a = Literal::Str("a".to_owned());
        assert_eq!(owner(Placing::Heap, &text, a), pair("String::from(\"a\")", "&it[..]"));
        let ab = Literal::Bytes(b"ab".to_vec());
        assert_eq!(owner(Placing::Unaligned, &bytes, ab), pair("b\"\\x00ab\".to_vec()", "&it[1..]"));
        assert_eq!(owner(Placing::Heap, &Ty::Prim(Prim::I32), Literal::Int(1)), None);
    }

    #[test]
    fn a_long_repetition_is_written_as_one() {
        let written = |value: &str, typed| text(&Ty::Str, &Literal::Str(value.to_owned()), typed);
        assert_eq!(written(&"<a>".repeat(20_000), false), r#""<a>".repeat(20000).leak()"#);
        assert_eq!(written(&"<a>".repeat(20_000), true), r#"&*"<a>".repeat(20000).leak()"#);
        assert_eq!(written("aaaa", false), r#""aaaa""#);
        assert_eq!(written(&"é".repeat(400), false), r#""é".repeat(400).leak()"#);
        let uneven = "ab".repeat(200) + "a";
        assert_eq!(written(&uneven, false), format!("{uneven:?}"));
    }
}

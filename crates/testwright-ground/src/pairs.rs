//! Conversions of a type that undo each other by their names: receives a concrete type, hands on the texts of each pair.

use testwright_model::law::SHAPES;
use testwright_model::{GenericArg, Prim, Ty};

use crate::companions::{Companion, Method};
use crate::grounder::Grounder;
use crate::menu;

/// How a conversion's name begins that gives the other form.
const GIVING: [&str; 3] = ["to_", "as_", "into_"];
/// And one that takes it back.
const TAKING: [&str; 2] = ["from_", "try_from_"];

impl Grounder<'_, '_, '_, '_> {
    pub(crate) fn pairs(&self, ty: &Ty) -> Vec<Companion> {
        let functions =
            self.own_functions(ty, &|name| shape(name, &GIVING).or(shape(name, &TAKING)).is_some());
        let mut all = Vec::new();
        for to in functions.iter().filter(|to| to.params.is_empty() && !to.receiver.contains("mut")) {
            let Some(shared) = shape(&to.function.name, &GIVING) else { continue };
            let back = |from: &&Method<'_>| {
                from.receiver.is_empty() && shape(&from.function.name, &TAKING) == Some(shared)
            };
            for from in functions.iter().filter(back) {
                all.extend(self.pair(ty, to, from));
            }
        }
        all
    }

    fn pair(&self, ty: &Ty, to: &Method<'_>, from: &Method<'_>) -> Option<Companion> {
        let [(_, taken)] = &from.params[..] else { return None };
        let ty = ty.erased();
        let value = match to.receiver {
            "&self" => "{0}",
            "self" if self.can(&ty, "std::clone::Clone", &[]) => "Clone::clone({0})",
            _ => return None,
        };
        Some(Companion {
            names: vec![
                ("{to}", format!("<{ty}>::{}({value})", to.function.name)),
                ("{from}", format!("<{ty}>::{}({})", from.function.name, passed(&to.result, taken)?)),
                ("{kept}", kept(&from.result, &ty)?.to_owned()),
                ("{name}", from.function.name.clone()),
            ],
            params: Vec::new(),
        })
    }
}

/// What a name says of the other form.
fn shape<'n>(name: &'n str, beginnings: &[&str]) -> Option<&'n str> {
    let shape = beginnings.iter().find_map(|beginning| name.strip_prefix(beginning))?;
    SHAPES.contains(&shape).then_some(shape)
}

/// How what one function gives is passed to another one.
fn passed(given: &Ty, taken: &Ty) -> Option<&'static str> {
    let items = |ty: &Ty| match ty {
        Ty::Slice(item) | Ty::Array(item, _) => Some((**item).clone()),
        Ty::Adt { args, .. } => match &args[..] {
            [GenericArg::Ty(item)] if *ty == menu::vec_of(item.clone()) => Some(item.clone()),
            _ => None,
        },
        _ => None,
    };
    let is_float = |ty: &Ty| matches!(ty, Ty::Prim(Prim::F32 | Prim::F64));
    match (given, taken) {
        (given, _) if is_float(given) => None,
        (given, taken) if given == taken => Some("converted"),
        (Ty::Ref { to: given, .. }, taken) if **given == Ty::Str && *taken == menu::string() => {
            Some("converted.to_owned()")
        }
        (Ty::Ref { to: given, .. }, taken) if **given == *taken => Some("Clone::clone(converted)"),
        (Ty::Ref { to: given, .. }, Ty::Adt { .. }) if matches!(**given, Ty::Slice(_)) => {
            (items(given)? == items(taken)?).then_some("converted.to_vec()")
        }
        (given, Ty::Ref { to: taken, mutable: false, .. }) if *given == **taken => Some("&converted"),
        (given, Ty::Ref { to: taken, mutable: false, .. })
            if **taken == Ty::Str && *given == menu::string() =>
        {
            Some("&converted")
        }
        (given, Ty::Ref { to: taken, mutable: false, .. }) if matches!(**taken, Ty::Slice(_)) => {
            (items(given)? == items(taken)?).then_some("&converted[..]")
        }
        _ => None,
    }
}

/// What must be true of the result, alone or in an `Option` or `Result`.
fn kept(result: &Ty, ty: &Ty) -> Option<&'static str> {
    match result {
        result if result == ty => Some("back == {*0}"),
        Ty::Adt { path, args } if args.first() == Some(&GenericArg::Ty(ty.clone())) => match path.as_str() {
            "std::option::Option" => Some("back.is_some_and(|back| back == {*0})"),
            "std::result::Result" => Some("back.is_ok_and(|back| back == {*0})"),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use testwright_model::Const;

    use super::*;

    #[test]
    fn names_have_a_shape_that_loses_nothing() {
        assert_eq!(shape("to_be_bytes", &GIVING), Some("be_bytes"));
        assert_eq!(shape("try_from_bits", &TAKING), Some("bits"));
        assert_eq!((shape("as_secs", &GIVING), shape("to_bytes", &TAKING)), (None, None));
    }

    #[test]
    fn what_is_given_is_passed_as_it_is_taken() {
        let byte = || Ty::Prim(Prim::U8);
        let bytes = || Ty::reference(Ty::Slice(Box::new(byte())));
        let array = Ty::Array(Box::new(byte()), Const::Value("4".to_owned()));
        let cases = [
            (byte(), byte(), Some("converted")),
            (array.clone(), bytes(), Some("&converted[..]")),
            (Ty::reference(array.clone()), array, Some("Clone::clone(converted)")),
            (menu::vec_of(byte()), bytes(), Some("&converted[..]")),
            (bytes(), menu::vec_of(byte()), Some("converted.to_vec()")),
            (menu::string(), Ty::reference(Ty::Str), Some("&converted")),
            (Ty::reference(Ty::Str), menu::string(), Some("converted.to_owned()")),
            (Ty::Prim(Prim::F64), Ty::Prim(Prim::F64), None),
            (menu::vec_of(Ty::Prim(Prim::U16)), bytes(), None),
        ];
        for (given, taken, how) in cases {
            assert_eq!(passed(&given, &taken), how, "{given} to {taken}");
        }
    }

    #[test]
    fn a_result_may_be_wrapped() {
        let ty = Ty::adt("lib::Id", Vec::new());
        let option = Ty::adt("std::option::Option", vec![ty.clone()]);
        assert_eq!(kept(&ty, &ty), Some("back == {*0}"));
        assert!(kept(&option, &ty).is_some_and(|text| text.contains("is_some_and")));
        assert_eq!(kept(&menu::string(), &ty), None);
    }
}

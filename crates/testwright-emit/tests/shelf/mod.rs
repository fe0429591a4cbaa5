//! The operations of `shelf.rs`, and sequences over them.

use testwright_emit::{Imports, Pin, RegressionTest};
use testwright_model::operation::{Abilities, Flow, Form, Operations, Origin, Param, Take, TypeId};
use testwright_model::sequence::{Arg, How, Step, ValueId};
use testwright_model::{Literal, OpId, Operation, Prim, Ty};

pub const SOURCE: &str = include_str!("shelf.rs");

pub struct Shelf {
    pub operations: Operations,
}

fn adt(name: &str) -> Ty {
    Ty::adt(&format!("shelf::{name}"), Vec::new())
}

impl Shelf {
    pub fn new() -> Self {
        let mut shelf = Shelf { operations: Operations::default() };
        let int = Ty::Prim(Prim::I32);
        let size = Ty::Prim(Prim::Usize);
        let flag = Ty::Prim(Prim::Bool);
        let string = Ty::adt("std::string::String", Vec::new());
        let option = |of: Ty| Ty::adt("std::option::Option", vec![of]);
        let result = Ty::adt("std::result::Result", vec![Ty::unit(), adt("Full")]);
        let slice = Ty::reference(Ty::Slice(Box::new(int.clone())));
        let own = Abilities { needs_drop: true, eq: true, debug: true, ..Abilities::default() };
        shelf.able(&adt("Shelf"), own);
        shelf.able(&adt("Size"), Abilities { eq: true, debug: true, ..Abilities::default() });
        for plain in [&int, &size, &flag, &Ty::unit(), &Ty::Prim(Prim::F64), &Ty::Prim(Prim::U32)] {
            shelf.able(plain, Abilities { copy: true, eq: true, debug: true, ..Abilities::default() });
        }
        for other in [&option(Ty::reference(int.clone())), &option(adt("Side")), &slice, &adt("Side")] {
            shelf.able(other, Abilities { eq: true, debug: true, ..Abilities::default() });
        }
        shelf.able(&string, own);
        shelf.able(&result, Abilities { debug: true, ..Abilities::default() });

        let (see, change) = ((Take::Shared, "self", adt("Shelf")), (Take::Mut, "self", adt("Shelf")));
        let item = (Take::Value, "item", int.clone());
        let key = (Take::Value, "key", size.clone());
        shelf.add("Shelf::new", &[], &adt("Shelf"), "shelf::Shelf::new()");
        shelf.add("Shelf::insert", &[change.clone(), item.clone()], &size, "{self}.insert({1})");
        let found = option(Ty::reference(int.clone()));
        shelf.add("Shelf::get", &[see.clone(), key.clone()], &found, "{self}.get({1})");
        shelf.add("Shelf::remove", &[change.clone(), key], &int, "{self}.remove({1})");
        shelf.add("Shelf::len", std::slice::from_ref(&see), &size, "{self}.len()");
        shelf.add("Shelf::is_empty", std::slice::from_ref(&see), &flag, "{self}.is_empty()");
        shelf.add("Shelf::label", std::slice::from_ref(&see), &string, "{self}.label()");
        shelf.add("Shelf::items", std::slice::from_ref(&see), &slice, "{self}.items()");
        shelf.add("Shelf::side", std::slice::from_ref(&see), &option(adt("Side")), "{self}.side()");
        shelf.add("Shelf::try_insert", &[change.clone(), item], &result, "{self}.try_insert({1})");
        shelf.add("Shelf::clear", std::slice::from_ref(&change), &Ty::unit(), "{self}.clear()");
        shelf.add("Shelf::mean", std::slice::from_ref(&see), &Ty::Prim(Prim::F64), "{self}.mean()");
        shelf.add("Shelf::size", std::slice::from_ref(&see), &adt("Size"), "{self}.size()");
        shelf.add("<Shelf as Shake>::shake", &[change], &flag, "{self}.shake()");
        shelf.last().form.traits = vec!["shelf::Shake".to_owned()];
        let other = (Take::Shared, "other", adt("Shelf"));
        shelf.add("<Shelf as PartialEq>::eq", &[see, other], &flag, "{*0} == {*1}");
        shelf.last().form.full = String::from("<shelf::Shelf as std::cmp::PartialEq>::eq({0}, {1})");
        let number = (Take::Value, "number", Ty::Prim(Prim::U8));
        shelf.able(
            &Ty::Prim(Prim::U8),
            Abilities { copy: true, eq: true, debug: true, ..Abilities::default() },
        );
        shelf.add("shelf::count::twice", &[number], &Ty::Prim(Prim::U8), "shelf::count::twice({0})");
        shelf.add("Side::Left", &[], &adt("Side"), "shelf::Side::Left");
        shelf.last().origin = Origin::Made;
        shelf.add("Side::Right", &[], &adt("Side"), "shelf::Side::Right");
        shelf.last().origin = Origin::Made;
        let width = (Take::Value, "width", Ty::Prim(Prim::U32));
        let height = (Take::Value, "height", Ty::Prim(Prim::U32));
        shelf.add("Size", &[width, height], &adt("Size"), "shelf::Size { width: {0}, height: {1} }");
        shelf.last().origin = Origin::Made;
        shelf.add("Size.width", &[(Take::Shared, "value", adt("Size"))], &Ty::Prim(Prim::U32), "{*0}.width");
        shelf.last().origin = Origin::Made;
        shelf
    }

    fn able(&mut self, ty: &Ty, abilities: Abilities) {
        let id = self.operations.type_id(ty);
        self.operations.abilities[id.0 as usize] = abilities;
    }

    fn last(&mut self) -> &mut Operation {
        self.operations.operations.last_mut().expect("one was added")
    }

    fn add(&mut self, path: &str, params: &[(Take, &str, Ty)], result: &Ty, form: &str) {
        let params = params
            .iter()
            .map(|(take, name, ty)| Param {
                name: (*name).to_owned(),
                take: *take,
                ty: self.operations.type_id(ty),
                needs_static: false,
                open: false,
            })
            .collect();
        let is_method = form.contains("{self}") || form.contains("{*1}");
        let form = if is_method {
            Form { short: form.to_owned(), ..Form::default() }
        } else {
            Form { full: form.to_owned(), ..Form::default() }
        };
        let result = self.operations.type_id(result);
        self.operations.operations.push(Operation {
            path: path.to_owned(),
            origin: Origin::Subject(0),
            params,
            result,
            flow: Flow::default(),
            form,
            panics: None,
            grounding: String::new(),
        });
    }

    fn find(&self, path: &str) -> OpId {
        let is_it = |id: &OpId| self.operations.get(*id).path == path;
        self.operations.ids().find(is_it).expect("a known operation")
    }

    /// A test of these lines: a call of `path` with values by the numbers of their lines, and the text to pin.
    pub fn test(&self, lines: &[Line<'_>]) -> RegressionTest {
        let mut test = RegressionTest::default();
        for line in lines {
            let step = match line {
                Line::Int(value, prim) => Step::Literal { ty: self.ty(*prim), value: Literal::Int(*value) },
                Line::Call(path, args, _) => Step::Call {
                    op: self.find(path),
                    args: args.iter().enumerate().map(|(i, value)| self.arg(path, i, *value)).collect(),
                },
                Line::Drop(value) => Step::Drop(ValueId(*value)),
            };
            let value = test.sequence.push(step);
            if let Line::Call(_, _, text) = line {
                if !text.is_empty() {
                    test.pins.push(Pin { value, text: (*text).to_owned(), left: false });
                }
            }
        }
        test
    }

    fn arg(&self, path: &str, index: usize, value: u32) -> Arg {
        let how = match self.operations.get(self.find(path)).params[index].take {
            Take::Value => How::Copy,
            Take::Shared => How::Ref,
            Take::Mut => How::RefMut,
        };
        Arg { value: ValueId(value), how }
    }

    fn ty(&self, prim: Prim) -> TypeId {
        self.operations.find_type(&Ty::Prim(prim)).expect("a known type")
    }
}

/// One step.
pub enum Line<'a> {
    Int(i128, Prim),
    /// Path, arguments, and the result's `Debug` text if it is to be pinned.
    Call(&'a str, &'a [u32], &'a str),
    Drop(u32),
}

pub fn imports() -> Imports {
    Imports { lib: "shelf".to_owned(), foreign: Vec::new() }
}

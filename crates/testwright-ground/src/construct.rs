//! Operations that the signatures do not list: literals of structs, variants, tuples and arrays, fields, constants, trait objects.

use testwright_model::api::{Constant, ConstantKind, ImplDef, Shape, TypeDef, TypeKind};
use testwright_model::operation::{Form, Origin};
use testwright_model::{Const, GenericArg, Region, Ty};

use crate::form::{raw, with_arguments};
use crate::grounder::{Draft, Grounder};
use crate::sign::Signature;
use crate::solve::Answer;
use crate::world::Bindings;

/// Longer arrays are made by repeating one element.
const ELEMENTS: usize = 8;
/// Arrays past this length are not made: they would fill the stack of a test.
const LONGEST: usize = 1024;

impl Grounder<'_, '_, '_, '_> {
    /// Everything that makes or takes apart a value of the type without a function.
    pub fn construct(&mut self, ty: &Ty, generation: u8) {
        match ty {
            Ty::Adt { path, args } => {
                if let Some(def) = self.world.type_def(path).filter(|_| !self.world.is_unsized(ty)) {
                    self.adt(def, args, generation);
                }
                if path == crate::menu::TRACKED {
                    let params = vec![("number".to_owned(), crate::menu::int())];
                    let full = format!("{}::new({{0}})", crate::menu::TRACKED);
                    self.made("Tracked::new", params, ty, full, generation);
                }
                if path == "std::boxed::Box" {
                    if let Some(GenericArg::Ty(object @ Ty::Dyn { .. })) = args.first() {
                        self.objects(object, &Pointer::Box, generation);
                    }
                }
            }
            Ty::Tuple(parts) => self.tuple(parts, generation),
            Ty::Array(of, Const::Value(len)) => {
                if let Ok(len) = len.parse::<usize>() {
                    self.array(of, len, generation);
                }
            }
            Ty::Ref { mutable, to, .. } if matches!(**to, Ty::Dyn { .. }) => {
                self.objects(to, &Pointer::Ref { mutable: *mutable }, generation);
            }
            _ => {}
        }
    }

    fn adt(&mut self, def: &TypeDef, args: &[GenericArg], generation: u8) {
        let Ty::Adt { args, .. } =
            self.chooser.name_regions(&Ty::Adt { path: def.path.clone(), args: args.to_vec() })
        else {
            return;
        };
        let bindings: Bindings =
            def.generics.params.iter().map(|param| param.name.clone()).zip(args.iter().cloned()).collect();
        let ty = Ty::Adt { path: def.path.clone(), args: args.clone() };
        let written = with_arguments(&def.path, &args);
        match &def.kind {
            TypeKind::Struct(shape) => {
                if !def.non_exhaustive || !self.world.is_subject_path(&def.path) {
                    self.literal(def, &def.path, &written, shape, &ty, &bindings, generation);
                }
                self.fields(def, shape, &ty, &bindings, generation);
            }
            TypeKind::Enum(variants) => {
                for variant in
                    variants.iter().filter(|variant| !variant.non_exhaustive && !variant.doc_hidden)
                {
                    let path = format!("{}::{}", def.path, variant.name);
                    let text = format!("{written}::{}", variant.name);
                    self.literal(def, &path, &text, &variant.shape, &ty, &bindings, generation);
                }
            }
            TypeKind::Union => {}
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one literal, all that its printing needs")]
    fn literal(
        &mut self,
        def: &TypeDef,
        path: &str,
        text: &str,
        shape: &Shape,
        ty: &Ty,
        bindings: &Bindings,
        generation: u8,
    ) {
        let (params, full) = match shape {
            Shape::Unit => (Vec::new(), text.to_owned()),
            Shape::Tuple(parts) => {
                let Some(parts) = parts.iter().cloned().collect::<Option<Vec<Ty>>>() else { return };
                let holes: Vec<String> = (0..parts.len()).map(|index| format!("{{{index}}}")).collect();
                let params = parts
                    .into_iter()
                    .enumerate()
                    .map(|(index, part)| (format!("part{index}"), part))
                    .collect();
                (params, format!("{text}({})", holes.join(", ")))
            }
            Shape::Named { has_private: true, .. } => return,
            Shape::Named { fields, .. } => {
                let holes: Vec<String> = fields
                    .iter()
                    .enumerate()
                    .map(|(index, (name, _))| format!("{}: {{{index}}}", raw(name)))
                    .collect();
                (fields.clone(), format!("{text} {{ {} }}", holes.join(", ")))
            }
        };
        let params = params
            .into_iter()
            .map(|(name, part)| (name, self.chooser.solver.normalise(&part, bindings)))
            .collect();
        let types = text
            .split_once("::<")
            .and_then(|(_, rest)| rest.rsplit_once(">::"))
            .map_or("", |(types, _)| types);
        let short = match path {
            "std::option::Option::Some" => "Some({0})".to_owned(),
            "std::option::Option::None" => format!("None::<{types}>"),
            "std::result::Result::Ok" => format!("Ok::<{types}>({{0}})"),
            "std::result::Result::Err" => format!("Err::<{types}>({{0}})"),
            _ => String::new(),
        };
        self.make(def, path, params, ty, full, short, generation);
    }

    /// Reading and writing public fields.
    fn fields(&mut self, def: &TypeDef, shape: &Shape, ty: &Ty, bindings: &Bindings, generation: u8) {
        let fields: Vec<(String, Ty)> = match shape {
            Shape::Unit => Vec::new(),
            Shape::Tuple(parts) => parts
                .iter()
                .enumerate()
                .filter_map(|(index, part)| Some((index.to_string(), part.clone()?)))
                .collect(),
            Shape::Named { fields, .. } => fields.clone(),
        };
        if !self.world.is_subject_path(&def.path) {
            return;
        }
        for (name, field) in fields {
            let field = self.chooser.solver.normalise(&field, bindings);
            let path = format!("{}.{name}", testwright_model::ty::last_segment(&def.path));
            let name = raw(&name);
            let borrow = |mutable| Ty::Ref { region: Region::Elided, mutable, to: Box::new(ty.clone()) };
            let whole = vec![("value".to_owned(), borrow(false))];
            if self.is_copy(&field) {
                self.make(def, &path, whole, &field, format!("{{*0}}.{name}"), String::new(), generation);
            } else {
                let result = Ty::Ref { region: Region::Elided, mutable: false, to: Box::new(field.clone()) };
                self.make(def, &path, whole, &result, format!("&{{*0}}.{name}"), String::new(), generation);
            }
            let both = vec![("value".to_owned(), borrow(true)), ("field".to_owned(), field)];
            self.make(
                def,
                &format!("{path}="),
                both,
                &Ty::unit(),
                format!("{{*0}}.{name} = {{1}}"),
                String::new(),
                generation,
            );
        }
    }

    fn is_copy(&self, ty: &Ty) -> bool {
        let copy = testwright_model::TraitRef::new("std::marker::Copy");
        self.chooser.solver.prove(ty, &copy, &mut Bindings::new()) == Answer::Yes
    }

    fn tuple(&mut self, parts: &[Ty], generation: u8) {
        if parts.is_empty() {
            return self.made("()", Vec::new(), &Ty::unit(), "()".to_owned(), generation);
        }
        if parts.len() > 12 || parts.iter().any(|part| self.world.is_unsized(part)) {
            return;
        }
        let named = self.chooser.name_regions(&Ty::Tuple(parts.to_vec()));
        let Ty::Tuple(parts) = &named else { return };
        let params: Vec<(String, Ty)> =
            parts.iter().enumerate().map(|(index, part)| (format!("part{index}"), part.clone())).collect();
        let holes: Vec<String> = (0..parts.len()).map(|index| format!("{{{index}}}")).collect();
        let comma = if parts.len() == 1 { "," } else { "" };
        self.made("(…)", params, &named, format!("({}{comma})", holes.join(", ")), generation);
        for (index, part) in parts.iter().enumerate() {
            let whole = |mutable| {
                vec![(
                    "pair".to_owned(),
                    Ty::Ref { region: Region::Elided, mutable, to: Box::new(named.clone()) },
                )]
            };
            if self.is_copy(part) {
                self.made("tuple field", whole(false), part, format!("{{*0}}.{index}"), generation);
            } else {
                let result = Ty::Ref { region: Region::Elided, mutable: false, to: Box::new(part.clone()) };
                self.made("tuple field", whole(false), &result, format!("&{{*0}}.{index}"), generation);
                let result = Ty::Ref { region: Region::Elided, mutable: true, to: Box::new(part.clone()) };
                self.made("tuple field", whole(true), &result, format!("&mut {{*0}}.{index}"), generation);
            }
        }
    }

    fn array(&mut self, of: &Ty, len: usize, generation: u8) {
        let of = self.chooser.name_regions(of);
        let ty = Ty::Array(Box::new(of.clone()), Const::Value(len.to_string()));
        if len == 0 {
            // `[]` alone does not say of what.
            self.made("[…]", Vec::new(), &ty, format!("<[{}; 0]>::default()", of.erased()), generation);
        } else if len <= ELEMENTS {
            let params = (0..len).map(|index| (format!("item{index}"), of.clone())).collect();
            let holes: Vec<String> = (0..len).map(|index| format!("{{{index}}}")).collect();
            self.made("[…]", params, &ty, format!("[{}]", holes.join(", ")), generation);
        } else if len <= LONGEST && self.is_copy(&of) {
            let params = vec![("item".to_owned(), of)];
            self.made("[…]", params, &ty, format!("[{{0}}; {len}]"), generation);
        }
    }

    /// Coercions to a trait object from the types that implement its trait.
    fn objects(&mut self, object: &Ty, pointer: &Pointer, generation: u8) {
        let Ty::Dyn { bounds, .. } = object else { return };
        let Some(main) = bounds.first() else { return };
        let mut sources: Vec<Ty> = Vec::new();
        if main.path.starts_with("std::") {
            if let crate::menu::Structural::Types(types) = crate::menu::structural(main, 0) {
                sources.extend(types);
            }
            if sources.is_empty() {
                sources.extend(crate::menu::plain(0));
            }
        }
        for instances in self.chooser.instances.borrow().values() {
            sources.extend(instances.iter().take(2).cloned());
        }
        let mut made = 0;
        for source in sources {
            if made >= 3 || self.world.is_unsized(&source) || source.depth() > 3 {
                continue;
            }
            if self.chooser.solver.prove(&source, main, &mut Bindings::new()) != Answer::Yes {
                continue;
            }
            made += 1;
            let source = self.chooser.name_regions(&source);
            let text = object.erased();
            match pointer {
                Pointer::Box => {
                    let result = Ty::adt("std::boxed::Box", vec![object.clone()]);
                    self.made(
                        "Box<dyn _>",
                        vec![("value".to_owned(), source)],
                        &result,
                        format!("std::boxed::Box::new({{0}}) as std::boxed::Box<{text}>"),
                        generation,
                    );
                }
                Pointer::Ref { mutable } => {
                    let of = |to: Ty| Ty::Ref { region: Region::Elided, mutable: *mutable, to: Box::new(to) };
                    let star = if *mutable { "mut " } else { "" };
                    self.made(
                        "&dyn _",
                        vec![("value".to_owned(), of(source))],
                        &of(object.clone()),
                        format!("{{0}} as &{star}({text})"),
                        generation,
                    );
                }
            }
        }
    }

    pub fn constant(&mut self, constant: &Constant) {
        let (result, full) = match constant.kind {
            ConstantKind::Const => (constant.ty.clone(), constant.path.clone()),
            ConstantKind::Static => (
                Ty::Ref { region: Region::Static, mutable: false, to: Box::new(constant.ty.clone()) },
                format!("&{}", constant.path),
            ),
            ConstantKind::StaticMut => return,
        };
        let result = statics(&self.chooser.solver.normalise(&result, &Bindings::new()));
        let signature = Signature { params: Vec::new(), result, outlives: Vec::new(), open: Vec::new() };
        let _ = self.add(Draft {
            path: constant.path.clone(),
            origin: Origin::Made,
            callable: None,
            signature,
            form: Form { full, ..Form::default() },
            panics: None,
            generation: 0,
        });
    }

    pub fn assoc_constant(
        &mut self,
        constant: &Constant,
        self_ty: &Ty,
        def: &ImplDef,
        bindings: &Bindings,
        own: bool,
        generation: u8,
    ) {
        let full = match &def.trait_ {
            None => format!("<{}>::{}", self_ty.erased(), constant.name),
            Some(trait_) => {
                let trait_ = crate::world::apply_trait(trait_, bindings);
                format!("<{} as {}>::{}", self_ty.erased(), trait_.path, constant.name)
            }
        };
        let short = match (&def.trait_, self_ty) {
            (None, Ty::Adt { path, args }) => format!("{}::{}", with_arguments(path, args), constant.name),
            _ => String::new(),
        };
        let result = statics(&self.chooser.solver.normalise(&constant.ty, bindings));
        let signature = Signature { params: Vec::new(), result, outlives: Vec::new(), open: Vec::new() };
        let _ = self.add(Draft {
            path: constant.path.clone(),
            origin: if own { Origin::Made } else { Origin::Std },
            callable: None,
            signature,
            form: Form { full, short, ..Form::default() },
            panics: None,
            generation: if own { generation } else { generation + 1 },
        });
    }

    #[expect(clippy::too_many_arguments, reason = "one literal, all that its printing needs")]
    fn make(
        &mut self,
        def: &TypeDef,
        path: &str,
        params: Vec<(String, Ty)>,
        result: &Ty,
        full: String,
        short: String,
        generation: u8,
    ) {
        let own = self.world.is_subject_path(&def.path);
        let lib = format!("{}::", self.world.subject.lib);
        let mut signature = Signature::new(params, result, &[&def.generics]);
        signature.open.fill(short.starts_with("Some"));
        let _ = self.add(Draft {
            path: path.strip_prefix(&lib).unwrap_or(path).to_owned(),
            origin: if own { Origin::Made } else { Origin::Std },
            callable: None,
            signature,
            form: Form { full, short, ..Form::default() },
            panics: None,
            generation: if own { 0 } else { generation + 1 },
        });
    }

    fn made(&mut self, path: &str, params: Vec<(String, Ty)>, result: &Ty, full: String, generation: u8) {
        let mut signature = Signature::new(params, result, &[]);
        signature.open.fill(true);
        let _ = self.add(Draft {
            path: path.to_owned(),
            origin: Origin::Made,
            callable: None,
            signature,
            form: Form { full, ..Form::default() },
            panics: None,
            generation: generation + 1,
        });
    }
}

enum Pointer {
    Box,
    Ref { mutable: bool },
}

/// Elided lifetimes of constants are `'static`.
fn statics(ty: &Ty) -> Ty {
    crate::sign::map_regions(ty, &mut |_| Region::Static)
}

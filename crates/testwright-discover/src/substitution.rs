//! Arguments in place of parameters: how aliases and default arguments are expanded.

use std::collections::BTreeMap;

use testwright_model::ty::{Const, Folder, GenericArg, Region, Ty};

#[derive(Debug, Default)]
pub struct Substitution {
    types: BTreeMap<String, Ty>,
    regions: BTreeMap<String, Region>,
    consts: BTreeMap<String, Const>,
}

impl Substitution {
    pub fn bind(&mut self, name: &str, arg: &GenericArg) {
        match arg {
            GenericArg::Region(region) => drop(self.regions.insert(name.to_owned(), region.clone())),
            GenericArg::Ty(ty) => drop(self.types.insert(name.to_owned(), ty.clone())),
            GenericArg::Const(constant) => drop(self.consts.insert(name.to_owned(), constant.clone())),
        }
    }
}

impl Folder for Substitution {
    fn ty(&mut self, ty: &Ty) -> Ty {
        match ty {
            Ty::Param(name) => self.types.get(name).unwrap_or(ty).clone(),
            _ => self.descend(ty),
        }
    }

    fn region(&mut self, region: &Region) -> Region {
        match region {
            Region::Named(name) => self.regions.get(name).unwrap_or(region).clone(),
            _ => region.clone(),
        }
    }

    fn constant(&mut self, constant: &Const) -> Const {
        match constant {
            Const::Param(name) => self.consts.get(name).unwrap_or(constant).clone(),
            _ => constant.clone(),
        }
    }
}

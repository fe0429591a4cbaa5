//! The coverage map of a binary, and of the library that it was linked from.
//!
//! The library is read as well because the linker takes only those of its objects that something refers to: functions that
//! nothing instantiates would be missing from the totals.

use std::fs;
use std::ops::Range;
use std::path::Path;

use object::read::archive::ArchiveFile;
use object::{File, Object as _, ObjectSection as _};

use crate::CoverError;
use crate::counters::{CounterPlaces, Names, counter_places, names};
use crate::mapping::{FileLists, Record, file_lists, records};

/// Functions with their regions, and where their counters lie.
#[derive(Debug, Default)]
pub struct Map {
    pub(crate) records: Vec<Record>,
    pub(crate) files: FileLists,
    pub(crate) names: Names,
    pub(crate) places: CounterPlaces,
    pub(crate) counters: usize,
}

impl Map {
    /// Reads the map of a linked program; one without instrumentation has an empty map.
    pub fn of_binary(path: &Path) -> Result<Map, CoverError> {
        let bytes = read(path)?;
        let file = parse(path, &bytes)?;
        let mut map = Map::default();
        map.add(path, &file)?;
        let section = |name| file.section_by_name(name);
        if let (Some(data), Some(counters)) = (section("__llvm_prf_data"), section("__llvm_prf_cnts")) {
            let range = Range { start: counters.address(), end: counters.address() + counters.size() };
            let unknown = || unknown(path, "__llvm_prf_data");
            let content = data.data().map_err(|_| unknown())?;
            map.places = counter_places(content, data.address(), range).ok_or_else(unknown)?;
            map.counters = usize::try_from(counters.size() / 8).map_err(|_| unknown())?;
        }
        Ok(map)
    }

    /// Adds the functions of a library (`.rlib`), none of which counts as executed by that.
    pub fn add_library(&mut self, path: &Path) -> Result<(), CoverError> {
        let bytes = read(path)?;
        let fail = |source| CoverError::Object { path: path.to_owned(), source };
        let archive = ArchiveFile::parse(&*bytes).map_err(fail)?;
        for member in archive.members() {
            let content = member.map_err(fail)?.data(&*bytes).map_err(fail)?;
            // The compiler's metadata lies there too, and is an object file itself on some platforms.
            if let Ok(file) = File::parse(content) {
                self.add(path, &file)?;
            }
        }
        Ok(())
    }

    /// How many counters the program has.
    pub fn counters(&self) -> usize {
        self.counters
    }

    fn add(&mut self, path: &Path, file: &File<'_>) -> Result<(), CoverError> {
        // In objects, each function may have a section of its own, all with the same name.
        for section in file.sections() {
            let Ok(name) = section.name() else { continue };
            let content = || section.data().unwrap_or_default();
            let (understood, section) = match name {
                "__llvm_covmap" => (file_lists(content(), &mut self.files), "__llvm_covmap"),
                "__llvm_covfun" => (records(content(), &mut self.records), "__llvm_covfun"),
                "__llvm_prf_names" => {
                    names(content(), &mut self.names);
                    continue;
                }
                _ => continue,
            };
            understood.ok_or_else(|| unknown(path, section))?;
        }
        Ok(())
    }
}

fn read(path: &Path) -> Result<Vec<u8>, CoverError> {
    fs::read(path).map_err(|source| CoverError::Read { path: path.to_owned(), source })
}

fn parse<'a>(path: &Path, bytes: &'a [u8]) -> Result<File<'a>, CoverError> {
    File::parse(bytes).map_err(|source| CoverError::Object { path: path.to_owned(), source })
}

fn unknown(path: &Path, section: &'static str) -> CoverError {
    CoverError::Unknown { path: path.to_owned(), section }
}

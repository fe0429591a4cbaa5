//! Reads the same in every edition.

pub trait Speak {
    fn say(&self, times: u8) -> String;
}

pub struct Dog<'a> {
    pub name: &'a str,
}

impl<'a> Speak for Dog<'a> {
    fn say(&self, times: u8) -> String {
        self.name.repeat(times as usize)
    }
}

pub fn speaker(name: &str) -> Box<dyn Speak + '_> {
    Box::new(Dog { name: name })
}

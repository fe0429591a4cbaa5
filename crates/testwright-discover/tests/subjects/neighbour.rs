pub struct Neighbour;
pub mod inside {
    pub struct Far;
}
pub trait Everywhere {}
impl<T> Everywhere for T {}

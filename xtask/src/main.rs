//! Campaigns and measurements on real crates.
fn main() {}

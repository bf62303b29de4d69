//! zbound
fn main() {}

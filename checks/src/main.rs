//! cc
fn main() {}

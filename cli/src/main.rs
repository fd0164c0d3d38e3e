//! The program `tenon`.

fn main() {}

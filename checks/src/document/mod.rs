//! What stands in a course file: its lessons, output blocks, paragraphs, table rows and the numerals in them, each
//! with its place; and how the numerals found are laid beside the expected ones.

pub mod align;
pub mod course;
pub mod numeral;
pub mod words;

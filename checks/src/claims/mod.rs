//! A lesson's statements, and what the models say of them.

pub mod comparison;
pub mod expression;
pub mod statement;
pub mod verdict;

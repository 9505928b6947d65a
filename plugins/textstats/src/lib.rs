//! x
pub mod count;

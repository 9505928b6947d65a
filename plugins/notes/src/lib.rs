//! x
pub mod error;
pub mod folder;
pub mod name;
pub mod note;
pub mod search;

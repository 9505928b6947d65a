//! x
pub mod aggregate;
pub mod cell;
pub mod condition;
pub mod error;
pub mod model;
pub mod query;
pub mod read;
pub mod write;

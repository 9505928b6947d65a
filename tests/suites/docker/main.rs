//! The Docker adapter against a real engine.

mod ends;
mod engine_dies;
mod engines;
mod images;
mod isolation;
mod limits;
mod own;
mod ready;
mod streams;
mod sweep;
mod workspace;

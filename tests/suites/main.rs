//! The end-to-end suites, one program: linking the engine once is enough.

mod fixtures;
mod guests;

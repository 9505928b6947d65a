use prx_skill::prelude::*;

struct Counter;

impl Counter {
    /// Count.
    #[tool]
    fn count(&self) -> String {
        String::new()
    }
}

fn main() {}

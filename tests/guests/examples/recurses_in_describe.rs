//! Calls itself without end when asked what it offers.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

static DEPTH: AtomicU64 = AtomicU64::new(0);

#[inline(never)]
fn deeper(bottom: u64) -> u64 {
    let depth = DEPTH.fetch_add(1, Relaxed);
    if depth == bottom {
        return depth;
    }
    deeper(bottom).wrapping_mul(31) ^ depth
}

prx_guests::describes!({
    assert_ne!(deeper(black_box(u64::MAX)), 1);
    Vec::new()
});

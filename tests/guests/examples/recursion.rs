//! Calls itself without end: on the engine's stack, and on the guest's own stack in
//! linear memory.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use prx_guests::{Tool, guest, text};

static DEPTH: AtomicU64 = AtomicU64::new(0);

/// Keeps its values in locals, so that the engine's stack is the one that ends. The
/// bottom is out of reach but not for the compiler, which could else make a loop of it.
#[inline(never)]
fn deeper(bottom: u64) -> u64 {
    let depth = DEPTH.fetch_add(1, Relaxed);
    if depth == bottom {
        return depth;
    }
    deeper(bottom).wrapping_mul(31) ^ depth
}

/// Keeps 64 KB per frame in linear memory, so that the guest's own stack ends first.
#[inline(never)]
#[allow(clippy::large_stack_arrays, reason = "a large frame is the point")]
fn wider(bottom: u64) -> u64 {
    let frame = black_box([DEPTH.fetch_add(1, Relaxed); 8192]);
    if frame[0] == bottom {
        return bottom;
    }
    wider(bottom) ^ black_box(frame)[1]
}

guest![
    Tool::new("calls", "Exhausts the engine's stack.", |_| {
        text(deeper(black_box(u64::MAX)).to_string())
    }),
    Tool::new(
        "frames",
        "Exhausts the guest's own stack in memory.",
        |_| { text(wider(black_box(u64::MAX)).to_string()) }
    ),
    Tool::new(
        "some",
        "Calls itself that many times, then answers.",
        |arguments| {
            let depth = arguments.number("depth")?;
            deeper(depth);
            text(format!("came back from a depth of {depth}"))
        }
    )
    .takes("depth", "integer"),
];

//! Takes memory: bit by bit, at once, and within bounds.

use prx_guests::{Tool, guest, text};

const MEGABYTE: usize = 1 << 20;

/// Takes touched memory in steps of a megabyte, up to `most` of them.
fn take(most: usize) -> Vec<Vec<u8>> {
    let mut held = Vec::new();
    while held.len() < most {
        let mut piece = Vec::new();
        if piece.try_reserve_exact(MEGABYTE).is_err() {
            break;
        }
        piece.resize(MEGABYTE, 7);
        held.push(std::hint::black_box(piece));
    }
    held
}

guest![
    Tool::new(
        "grow",
        "Takes memory until there is none, then panics.",
        |_| {
            let held = take(usize::MAX);
            panic!("no more memory after {} MB", held.len());
        }
    ),
    Tool::new(
        "grow_gently",
        "Takes memory until there is none, then answers.",
        |_| {
            let held = take(usize::MAX).len();
            text(format!("held {held} MB, then went on without"))
        }
    ),
    Tool::new(
        "huge",
        "Asks for that many megabytes at once.",
        |arguments| {
            let huge = vec![1_u8; arguments.size("megabytes")?.saturating_mul(MEGABYTE)];
            text(format!("held {} bytes", std::hint::black_box(huge).len()))
        }
    )
    .takes("megabytes", "integer"),
    Tool::new(
        "hold",
        "Takes that many megabytes bit by bit.",
        |arguments| {
            let held = take(arguments.size("megabytes")?);
            text(format!("held {} MB", held.len()))
        }
    )
    .takes("megabytes", "integer"),
];

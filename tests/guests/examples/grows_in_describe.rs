//! Takes memory without end when asked what it offers.

prx_guests::describes!({
    let mut held = Vec::new();
    loop {
        held.push(std::hint::black_box(vec![1_u8; 1 << 20]));
    }
});

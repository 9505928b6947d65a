//! Panics when asked what it offers.

prx_guests::describes!(panic!("nothing to say for myself"));

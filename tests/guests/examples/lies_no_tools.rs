//! Describes no tool at all.

prx_guests::describes!(Vec::new());

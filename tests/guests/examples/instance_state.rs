//! Well behaved: counts its own calls in memory, which each call must see fresh.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use prx_guests::{Tool, guest, structured};
use serde_json::json;

static CALLS: AtomicU64 = AtomicU64::new(0);

guest![Tool::new(
    "count",
    "Counts the calls of this instance.",
    |_| { structured(json!({ "calls": CALLS.fetch_add(1, Relaxed) + 1 })) }
)];

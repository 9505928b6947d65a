//! What this build is: its version, its features, its engine.

/// The version of the program.
pub const SHORT: &str = env!("CARGO_PKG_VERSION");

/// What `--version` says.
pub fn long() -> String {
    let features = if cfg!(feature = "wasm-runtime") { "wasm-runtime" } else { "none" };
    let mut text = format!("{SHORT}\nfeatures: {features}\n");
    match prx_host::engine_version() {
        Some(version) => text.push_str(&format!("wasmtime: {version}")),
        None => text.push_str("wasmtime: not built in"),
    }
    if let Some(missing) = missing() {
        text.push_str(&format!("\nnote: {missing}"));
    }
    text
}

/// What this build lacks and how to get it.
pub fn missing() -> Option<&'static str> {
    if cfg!(feature = "wasm-runtime") {
        return None;
    }
    Some(
        "this prx-host was built without WebAssembly and can run no skills; \
         build it with `cargo build --release --features wasm-runtime`",
    )
}

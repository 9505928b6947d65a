//! What this build is: its version, its features, its engine.

/// The version of the program.
pub const SHORT: &str = env!("CARGO_PKG_VERSION");

/// What `--version` says.
pub fn long() -> String {
    let features = if cfg!(feature = "wasm-runtime") {
        "wasm-runtime"
    } else {
        "none"
    };
    let engine = prx_host::engine_version().unwrap_or("not built in");
    let mut lines = vec![
        SHORT.to_owned(),
        format!("features: {features}"),
        format!("wasmtime: {engine}"),
    ];
    lines.extend(missing().map(|missing| format!("note: {missing}")));
    lines.join("\n")
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

/// Why this build can not do something with modules.
#[cfg(not(feature = "wasm-runtime"))]
pub fn without_modules(what: impl Into<String>) -> super::render::Failure {
    super::render::Failure::new(super::Exit::Unavailable, what).cause(missing().unwrap_or_default())
}

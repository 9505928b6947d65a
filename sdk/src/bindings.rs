//! What wit-bindgen makes of `wit/`. The world leaves WASI out: the toolchain brings
//! the part of it that a program uses.

#![allow(missing_docs, clippy::all, clippy::pedantic, reason = "generated")]

wit_bindgen::generate!({
    inline: "
        package prx:sdk;
        world guest {
            include prx:skill/host@0.1.0;
            export prx:skill/tools@0.1.0;
        }
    ",
    path: "wit",
    world: "prx:sdk/guest",
    pub_export_macro: true,
    export_macro_name: "export_component",
    default_bindings_module: "::prx_skill::plumbing::bindings",
    runtime_path: "::prx_skill::plumbing::wit_bindgen::rt",
    generate_all,
});

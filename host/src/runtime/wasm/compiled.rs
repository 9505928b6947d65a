//! A module as the engine compiled it, in either encoding.
//! Invariant: what is loaded from serialised bytes is of the encoding that was asked for.

use std::path::Path;

use wasmtime::Module;
use wasmtime::component::Component;

use super::engine::Engine;
use super::shape::WasmEncoding;

/// Compiled code, not linked yet.
pub enum Compiled {
    /// Of a component.
    Component(Component),
    /// Of a core module.
    Core(Module),
}

impl Compiled {
    /// Compiles. Takes from milliseconds to minutes; never call it on an async worker.
    pub fn new(engine: &Engine, encoding: WasmEncoding, bytes: &[u8]) -> wasmtime::Result<Self> {
        Ok(match encoding {
            WasmEncoding::Component => Self::Component(engine.compile(bytes)?),
            WasmEncoding::Core => Self::Core(Module::from_binary(engine.wasmtime(), bytes)?),
        })
    }

    /// Loads what [`serialize`](Self::serialize) gave.
    ///
    /// # Safety
    ///
    /// The file must hold what an engine of this fingerprint serialised, unchanged, and
    /// must not change while the code is in use: it is as powerful as native code.
    pub unsafe fn load(
        engine: &Engine,
        encoding: WasmEncoding,
        file: &Path,
    ) -> wasmtime::Result<Self> {
        let engine = engine.wasmtime();
        Ok(match encoding {
            // SAFETY: as the caller promises.
            WasmEncoding::Component => {
                Self::Component(unsafe { Component::deserialize_file(engine, file) }?)
            }
            // SAFETY: as the caller promises.
            WasmEncoding::Core => Self::Core(unsafe { Module::deserialize_file(engine, file) }?),
        })
    }

    /// As [`load`](Self::load), from memory.
    ///
    /// # Safety
    ///
    /// The bytes must be what an engine of this fingerprint serialised.
    pub unsafe fn of_bytes(
        engine: &Engine,
        encoding: WasmEncoding,
        bytes: &[u8],
    ) -> wasmtime::Result<Self> {
        let engine = engine.wasmtime();
        Ok(match encoding {
            // SAFETY: as the caller promises.
            WasmEncoding::Component => {
                Self::Component(unsafe { Component::deserialize(engine, bytes) }?)
            }
            // SAFETY: as the caller promises.
            WasmEncoding::Core => Self::Core(unsafe { Module::deserialize(engine, bytes) }?),
        })
    }

    /// The code in a form that can be kept.
    pub fn serialize(&self) -> wasmtime::Result<Vec<u8>> {
        match self {
            Self::Component(component) => component.serialize(),
            Self::Core(module) => module.serialize(),
        }
    }

    /// The component that it is, for kinds that recognise nothing else.
    pub fn component(&self) -> wasmtime::Result<&Component> {
        match self {
            Self::Component(component) => Ok(component),
            Self::Core(_) => Err(wasmtime::format_err!("this is a core module")),
        }
    }

    /// The core module that it is, for kinds that recognise nothing else.
    pub fn core_module(&self) -> wasmtime::Result<&Module> {
        match self {
            Self::Core(module) => Ok(module),
            Self::Component(_) => Err(wasmtime::format_err!("this is a component")),
        }
    }
}

//! Kinds of modules. Each kind is one folder behind [`Abi`]; nothing outside of this
//! folder knows how a kind is described or called.

pub mod skill;

use std::sync::Arc;

use async_trait::async_trait;
use wasmtime::Store;
use wasmtime::component::Component;

use super::call_state::CallState;
use super::engine::Engine;
use super::fault::ModuleFault;
use super::shape::Shape;
use crate::model::{ToolError, ToolOutput, ToolSpec};

/// A kind of module: how to recognise it, and how to make it callable.
pub trait Abi: Send + Sync {
    /// What the kind is called in `list` and `inspect`.
    fn name(&self) -> &'static str;

    /// Looks at exports and imports only: nothing was compiled or run.
    fn recognise(&self, shape: &Shape) -> Recognised;

    /// Links a compiled module, once for all its calls.
    fn prepare(
        &self,
        engine: &Engine,
        component: &Component,
    ) -> wasmtime::Result<Arc<dyn Prepared>>;
}

/// Whether a module is of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recognised {
    /// It is, in this version of the interface.
    Yes {
        /// For instance `0.1.0`.
        version: String,
    },
    /// It means to be, but this host can not serve it.
    Refused(ModuleFault),
    /// It is something else.
    No,
}

/// A module that is ready to be called. Each function instantiates it afresh in the
/// store it is given.
#[async_trait]
pub trait Prepared: Send + Sync {
    /// Asks the module for its tools and checks what it says.
    async fn describe(
        &self,
        store: &mut Store<CallState>,
    ) -> wasmtime::Result<Result<Vec<ToolSpec>, ModuleFault>>;

    /// Calls one tool. `arguments` is JSON text that fits the tool's schema. The outer
    /// error is a breakdown of the guest, the inner one what the tool said.
    async fn call(
        &self,
        store: &mut Store<CallState>,
        tool: &str,
        arguments: &str,
    ) -> wasmtime::Result<Result<ToolOutput, ToolError>>;
}

/// All kinds that this host runs, in the order in which they are tried.
pub const KINDS: &[&dyn Abi] = &[&skill::SkillAbi];

/// The kind of that name, as a descriptor remembers it.
pub fn kind_named(name: &str) -> Option<&'static dyn Abi> {
    KINDS.iter().copied().find(|kind| kind.name() == name)
}

//! Kinds of modules. Each kind is one folder behind [`Abi`]; nothing outside of this
//! folder knows how a kind is described or called.

pub mod command;
pub mod skill;

use std::sync::Arc;

use async_trait::async_trait;
use wasmtime::Store;

use super::call_state::CallState;
use super::compiled::Compiled;
use super::engine::Engine;
use super::fault::ModuleFault;
use super::shape::Shape;
use crate::model::{ToolError, ToolOutput, ToolSpec};

/// A kind of module: how to recognise it, and how to make it callable.
pub trait Abi: Send + Sync {
    /// What the kind is called in `list` and `inspect`.
    fn name(&self) -> &'static str;

    /// Whether its modules are run as commands, rather than asked for tools.
    fn is_command(&self) -> bool;

    /// Looks at exports and imports only: nothing was compiled or run.
    fn recognise(&self, shape: &Shape) -> Recognised;

    /// Links a compiled module, once for all its calls.
    fn prepare(&self, engine: &Engine, code: &Compiled) -> wasmtime::Result<Prepared>;
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

/// A module that is ready, in one of the two ways in which modules are used. Each of
/// their functions instantiates it afresh in the store it is given.
#[derive(Clone)]
pub enum Prepared {
    /// It offers tools.
    Skill(Arc<dyn Skill>),
    /// It is a program.
    Command(Arc<dyn Command>),
}

/// A skill that is ready to be called.
#[async_trait]
pub trait Skill: Send + Sync {
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

/// A command that is ready to be run.
#[async_trait]
pub trait Command: Send + Sync {
    /// Runs it to its end and gives its exit code. An error is a breakdown of the guest.
    async fn run(&self, store: &mut Store<CallState>) -> wasmtime::Result<i32>;
}

/// All kinds that this host runs, in the order in which they are tried.
pub const KINDS: &[&dyn Abi] = &[
    &skill::SkillAbi,
    &command::ComponentCommandAbi,
    &command::CoreCommandAbi,
];

/// The kind of that name, as a descriptor remembers it.
pub fn kind_named(name: &str) -> Option<&'static dyn Abi> {
    KINDS.iter().copied().find(|kind| kind.name() == name)
}

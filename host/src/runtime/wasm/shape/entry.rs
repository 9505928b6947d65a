//! What a core module must be like to be run: its `_start` and its memory, read without
//! compiling. Invariant: a module of any size costs two lists of small numbers.

use serde::{Deserialize, Serialize};
use wasmparser::{CompositeInnerType, ExternalKind, FuncType, Payload, TypeRef, ValType};

/// What a core module exports as `_start`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// A function without parameters and results, as WASI 0.1 asks for.
    Plain,
    /// A function of another type, for instance `(i32) -> (i32)`.
    Typed(String),
    /// No function at all.
    NotAFunction,
}

/// Follows an export to its type, section by section.
#[derive(Default)]
pub(super) struct EntryReader {
    /// Function types, with other types between them.
    types: Vec<Option<FuncType>>,
    /// The type of each function, imported ones first.
    functions: Vec<u32>,
    /// What was found.
    pub entry: Option<Entry>,
    /// Whether a memory was found that threads share.
    pub shared_memory: bool,
}

impl EntryReader {
    /// Looks at a section of the module itself.
    pub fn read(&mut self, payload: &Payload<'_>) -> wasmparser::Result<()> {
        match payload {
            Payload::TypeSection(section) => {
                for group in section.clone() {
                    for defined in group?.into_types() {
                        self.types.push(match defined.composite_type.inner {
                            CompositeInnerType::Func(function) => Some(function),
                            _ => None,
                        });
                    }
                }
            }
            Payload::ImportSection(section) => {
                for import in section.clone().into_imports() {
                    if let TypeRef::Func(of_type) | TypeRef::FuncExact(of_type) = import?.ty {
                        self.functions.push(of_type);
                    }
                }
            }
            Payload::FunctionSection(section) => {
                for of_type in section.clone() {
                    self.functions.push(of_type?);
                }
            }
            Payload::MemorySection(section) => {
                for memory in section.clone() {
                    self.shared_memory |= memory?.shared;
                }
            }
            Payload::ExportSection(section) => {
                for export in section.clone() {
                    let export = export?;
                    if export.name == "_start" {
                        self.entry = Some(self.entry(export.kind, export.index));
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn entry(&self, kind: ExternalKind, index: u32) -> Entry {
        if !matches!(kind, ExternalKind::Func | ExternalKind::FuncExact) {
            return Entry::NotAFunction;
        }
        let function = self.functions.get(index as usize);
        let function = function.and_then(|of_type| self.types.get(*of_type as usize)?.as_ref());
        match function {
            Some(function) if function.params().is_empty() && function.results().is_empty() => {
                Entry::Plain
            }
            Some(function) => Entry::Typed(format!(
                "({}) -> ({})",
                listed(function.params()),
                listed(function.results())
            )),
            None => Entry::NotAFunction,
        }
    }
}

fn listed(types: &[ValType]) -> String {
    let names: Vec<String> = types.iter().map(ToString::to_string).collect();
    names.join(", ")
}

//! Skills: components that export `prx:skill/tools`.

mod convert;
mod describe;

use std::sync::Arc;

use async_trait::async_trait;
use semver::Version;
use wasmtime::Store;
use wasmtime::component::{ComponentExportIndex, InstancePre, TypedFunc};

use self::bindings::tools;
use super::{Abi, Prepared, Recognised, Skill};
use crate::model::{ToolError, ToolOutput, ToolSpec};
use crate::runtime::wasm::call_state::CallState;
use crate::runtime::wasm::compiled::Compiled;
use crate::runtime::wasm::engine::Engine;
use crate::runtime::wasm::fault::ModuleFault;
use crate::runtime::wasm::shape::Shape;

/// Bindings of `prx:skill@0.1.0`, without the WASI that the linker has of its own.
#[allow(
    missing_docs,
    clippy::pedantic,
    reason = "generated; documented in wit/"
)]
pub(crate) mod bindings {
    wasmtime::component::bindgen!({
        path: "wit",
        inline: "
            package prx:bindings;
            world skill {
                include prx:skill/host@0.1.0;
                export prx:skill/tools@0.1.0;
            }
        ",
        world: "prx:bindings/skill",
        imports: {
            default: trappable,
            "prx:skill/state@0.1.0": async | trappable,
        },
        exports: { default: async },
        require_store_data_send: true,
    });

    pub use exports::prx::skill::tools;
    pub use prx::skill::{config, log, progress, state};
}

/// The interface that makes a component a skill.
const INTERFACE: &str = "prx:skill/tools";
/// The version of it that this host serves.
const VERSION: Version = Version::new(0, 1, 0);

/// The kind of skills.
pub struct SkillAbi;

impl Abi for SkillAbi {
    fn name(&self) -> &'static str {
        "skill"
    }

    fn is_command(&self) -> bool {
        false
    }

    fn recognise(&self, shape: &Shape) -> Recognised {
        let offered: Vec<&str> = shape.exported_versions(INTERFACE).collect();
        if offered.is_empty() {
            return Recognised::No;
        }
        let served = offered.iter().find(|version| {
            // Patch releases of 0.1 only clarify; a newer one than ours is unknown.
            // Before a release anything may differ.
            version.parse::<Version>().is_ok_and(|version| {
                version.pre.is_empty()
                    && version.major == VERSION.major
                    && version.minor == VERSION.minor
                    && version <= VERSION
            })
        });
        match served {
            Some(version) => Recognised::Yes {
                version: (*version).to_owned(),
            },
            None => Recognised::Refused(ModuleFault::UnknownVersion {
                interface: INTERFACE.to_owned(),
                asked: offered.join(", "),
                served: VERSION.to_string(),
            }),
        }
    }

    fn prepare(&self, engine: &Engine, code: &Compiled) -> wasmtime::Result<Prepared> {
        let component = code.component()?;
        let linked = bindings::SkillPre::new(engine.link(component)?)?;
        let interface = format!("{INTERFACE}@{VERSION}");
        let interface = component.get_export_index(None, &interface);
        let index = |name| {
            component
                .get_export_index(interface.as_ref(), name)
                .ok_or_else(|| wasmtime::format_err!("`{INTERFACE}` has no function `{name}`"))
        };
        Ok(Prepared::Skill(Arc::new(PreparedSkill {
            describe: index("describe")?,
            call: index("call")?,
            linked: linked.instance_pre().clone(),
        })))
    }
}

/// A linked skill, and where its functions are. A call looks for no function but its own:
/// to look for both, as the bindings do, takes a thirtieth of it.
struct PreparedSkill {
    linked: InstancePre<CallState>,
    describe: ComponentExportIndex,
    call: ComponentExportIndex,
}

type Describe = TypedFunc<(), (Vec<tools::ToolSpec>,)>;
type Call<'a> = TypedFunc<(&'a str, &'a str), (Result<tools::Output, tools::Error>,)>;

#[async_trait]
impl Skill for PreparedSkill {
    async fn describe(
        &self,
        store: &mut Store<CallState>,
    ) -> wasmtime::Result<Result<Vec<ToolSpec>, ModuleFault>> {
        let skill = self.linked.instantiate_async(&mut *store).await?;
        let describe: Describe = skill.get_typed_func(&mut *store, self.describe)?;
        let (specs,) = describe.call_async(&mut *store, ()).await?;
        Ok(describe::check(specs))
    }

    async fn call(
        &self,
        store: &mut Store<CallState>,
        tool: &str,
        arguments: &str,
    ) -> wasmtime::Result<Result<ToolOutput, ToolError>> {
        let skill = self.linked.instantiate_async(&mut *store).await?;
        let call: Call<'_> = skill.get_typed_func(&mut *store, self.call)?;
        let (answer,) = call.call_async(&mut *store, (tool, arguments)).await?;
        Ok(match answer {
            Ok(output) => convert::output(output),
            Err(error) => Err(convert::error(error)),
        })
    }
}

//! What a skill needs: `use prx_skill::prelude::*;`

pub use crate::error::{Context, ErrorKind, ToolError};
pub use crate::output::{Content, IntoOutput, Output, Resource, Structured};
pub use crate::{config, data, log, progress, state, tool};
pub use schemars::JsonSchema;
pub use serde::{Deserialize, Serialize};

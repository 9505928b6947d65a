//! What clients are offered at one moment: the tools of a snapshot, and resources and
//! prompts of a configuration.
//!
//! Invariant: made of one snapshot and one configuration, and never changed; a request
//! that comes after either changed gets new ones.

pub(super) mod arguments;
mod completion;
mod files;
pub(super) mod kept;
mod media;
mod prompts;
mod resources;

use std::sync::Arc;

use rmcp::model::ServerCapabilities;

use files::File;
pub(super) use files::{Files, FolderError};
pub(super) use media::contents;
pub(super) use prompts::{Making, Prompts};
pub(super) use resources::{Found, ListedFile, Resources};

use super::listing::Listing;
use super::options::ServeOptions;
use crate::config::Config;
use crate::registry::Snapshot;

/// What clients are offered at one moment.
pub(super) struct Offers {
    /// How much at a time.
    pub options: ServeOptions,
    /// The tools.
    pub listing: Listing,
    pub resources: Arc<Resources>,
    pub prompts: Prompts,
    config: Arc<Config>,
}

impl Offers {
    pub fn new(snapshot: &Arc<Snapshot>, config: &Arc<Config>, options: &ServeOptions) -> Self {
        let options = options.under(config);
        Self {
            listing: Listing::new(snapshot, &options.filter),
            resources: Arc::new(Resources::new(&options.resources)),
            prompts: Prompts::new(&options.prompts, snapshot),
            config: Arc::clone(config),
            options,
        }
    }

    /// Whether they are made of these.
    pub fn are_of(&self, snapshot: &Arc<Snapshot>, config: &Arc<Config>) -> bool {
        Arc::ptr_eq(&self.listing.snapshot, snapshot)
            && (self.options.follows.is_none() || Arc::ptr_eq(&self.config, config))
    }

    /// What a server can do for its clients. One that follows a configuration can have
    /// prompts later that it does not have now, and tells so. Lists change also where no
    /// files are followed: modules become ready, and a program may ask for a look.
    pub fn capabilities(&self, follows_files: bool) -> ServerCapabilities {
        let mut capabilities = ServerCapabilities::builder()
            .enable_logging()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_completions()
            .build();
        if !follows_files && let Some(resources) = &mut capabilities.resources {
            resources.subscribe = None;
        }
        let is_fixed = self.options.follows.is_none();
        if is_fixed && self.options.prompts.is_empty() {
            capabilities.prompts = None;
            if self.options.resources.is_empty() {
                capabilities.completions = None;
            }
        }
        capabilities
    }
}

//! Whether a name is free: two modules that claim one name leave one of them out.

use std::path::Path;

use cap_std::fs::Dir;

use super::InstallError;
use super::name::ModuleName;
use super::naming_entries::described;
use super::preview::Served;
use crate::config::Config;
use crate::model::Shown as _;
use crate::registry::{Entry, SHELL, Snapshot};
use crate::runtime::IN_FOLDER;

/// Refuses a module if something else has the name of one of its entries or tools.
///
/// `snapshot` is what there is now, `file` the path that the module will have.
pub(super) fn check(
    config: &Config,
    file: &Path,
    served: &[Served],
    snapshot: &Snapshot,
) -> Result<(), InstallError> {
    let claims = Claims { served };
    for entry in claims.own_entries() {
        // The configuration comes first, and the module would be left out.
        let configured = config.tools.get(entry);
        if let Some(other) = configured.filter(|other| other.enabled.value) {
            let by = format!("`[tools.custom.{entry}]` ({})", other.place);
            return Err(claims.taken(entry, by));
        }
        // It has the name whether its sandbox works or not.
        if entry == SHELL && config.shell.enabled.value {
            return Err(claims.taken(entry, "the tool of `[tools.shell]`".into()));
        }
    }
    for tool in snapshot.tools() {
        let entry = tool.entry();
        let module = entry.module().map(|module| module.path());
        if module == Some(file) || claims.is_configured(entry.name()) {
            continue;
        }
        if claims.has_tool(tool.name()) || claims.own_entries().any(|own| own == entry.name()) {
            return Err(claims.taken(tool.name(), in_words(config, entry)));
        }
    }
    for broken in snapshot.broken() {
        let is_own = || claims.own_entries().any(|own| own == broken.name);
        if let Some(module) = &broken.module
            && module != file
            && is_own()
        {
            let by = format!("the module `{}`, which is broken", module.shown());
            return Err(claims.taken(&broken.name, by));
        }
    }
    Ok(())
}

/// What a module would be called by.
struct Claims<'a> {
    served: &'a [Served],
}

impl Claims<'_> {
    /// Entries that exist because of the module alone.
    fn own_entries(&self) -> impl Iterator<Item = &str> {
        let own = self.served.iter().filter(|one| one.place.is_none());
        own.map(|one| one.entry.as_str())
    }

    /// Whether the configuration has given that entry to the module.
    fn is_configured(&self, entry: &str) -> bool {
        self.served
            .iter()
            .any(|one| one.place.is_some() && one.entry == entry)
    }

    fn has_tool(&self, name: &str) -> bool {
        let mut tools = self.served.iter().flat_map(|one| &one.tools);
        tools.any(|(tool, _)| tool == name)
    }

    fn taken(&self, name: &str, by: String) -> InstallError {
        InstallError::Taken {
            name: name.to_owned(),
            by,
            // The names of entries do not depend on that of the file.
            rename: self.served.iter().all(|one| one.place.is_none()),
        }
    }
}

fn in_words(config: &Config, entry: &Entry) -> String {
    match (entry.module(), described(config, entry)) {
        (Some(module), _) => format!("the module `{}`", module.path().shown()),
        (None, Some(tool)) => {
            format!(
                "the command of `[tools.custom.{}]` ({})",
                tool.name, tool.place
            )
        }
        (None, None) => "the tool of `[tools.shell]`".to_owned(),
    }
}

/// Refuses a name that a module in a folder of its own has.
pub(super) fn check_folder(
    folder: &Dir,
    folder_path: &Path,
    name: &ModuleName,
) -> Result<(), InstallError> {
    let other = Path::new(name.as_str()).join(IN_FOLDER);
    if folder.symlink_metadata(&other).is_err() {
        return Ok(());
    }
    Err(InstallError::Taken {
        name: name.to_string(),
        by: format!("the module `{}`", folder_path.join(other).shown()),
        rename: true,
    })
}

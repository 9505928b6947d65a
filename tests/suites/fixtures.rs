//! The modules made by hand are what their names say, so that a suite which expects
//! the host to refuse one knows why it does.

use anyhow::Result;
use prx_tests::{Parts, fixtures};

const TOOLS: &str = "prx:skill/tools@0.1.0";

#[test]
fn a_skill_of_another_version_exports_that_version_only() -> Result<()> {
    for version in ["9.9.0", "0.2.0", "0.1.7"] {
        let parts = Parts::read(&fixtures::skill_of_version(version)?)?;
        assert_eq!(parts.exports, [format!("prx:skill/tools@{version}")]);
    }
    let both = Parts::read(&fixtures::skill_of_two_versions("0.2.0")?)?;
    assert_eq!(both.exports.len(), 2);
    Ok(())
}

#[test]
fn each_world_of_each_version_has_a_component() -> Result<()> {
    let worlds = fixtures::every_world()?;
    let names: Vec<&str> = worlds.iter().map(|(name, _)| name.as_str()).collect();
    assert!(
        names.contains(&"skill@0.1.0") && names.contains(&"host@0.1.0"),
        "{names:?}"
    );
    for (name, component) in &worlds {
        let parts = Parts::read(component)?;
        assert!(
            parts.imports.contains(&"prx:skill/log@0.1.0".to_owned()),
            "{name}"
        );
        assert_eq!(
            parts.exports.contains(&TOOLS.to_owned()),
            name.starts_with("skill@"),
            "{name}"
        );
    }
    Ok(())
}

#[test]
fn skills_with_strange_imports_import_them_and_export_tools() -> Result<()> {
    let unknown = Parts::read(&fixtures::importing_unknown_interface()?)?;
    assert!(unknown.imports.contains(&"acme:db/query@1.0.0".to_owned()));
    assert_eq!(unknown.exports, [TOOLS]);
    let newer = Parts::read(&fixtures::importing_newer_log()?)?;
    assert!(newer.imports.contains(&"prx:skill/log@0.9.0".to_owned()));
    assert_eq!(newer.exports, [TOOLS]);
    Ok(())
}

#[test]
fn handwritten_skills_are_valid_and_export_tools() -> Result<()> {
    for component in [
        fixtures::Handwritten::default().build()?,
        fixtures::initial_memory(16_384)?,
        fixtures::initial_table(50_000_000)?,
        fixtures::growing_table()?,
        fixtures::several_memories(3, 1024)?,
        fixtures::growing_memories(3)?,
        fixtures::spinning_start()?,
        fixtures::trapping_start()?,
        fixtures::wild_answer()?,
        fixtures::wild_realloc()?,
        fixtures::many_instances(100)?,
    ] {
        let parts = Parts::read(&component)?;
        assert!(parts.component);
        assert_eq!(parts.exports, [TOOLS]);
    }
    Ok(())
}

#[test]
fn no_file_that_is_no_skill_exports_tools() -> Result<()> {
    for file in fixtures::not_skills()? {
        if let Ok(parts) = Parts::read(&file.bytes) {
            let tools = parts
                .exports
                .iter()
                .any(|name| name.starts_with("prx:skill/tools@"));
            // A package of WIT exports its interfaces as types: that is what makes it
            // a trap for a host that goes by names alone.
            assert!(!tools || file.name == "wit_package", "{}", file.name);
        }
    }
    Ok(())
}

#[test]
fn a_truncated_skill_is_cut_on_borders_where_it_is_still_valid() -> Result<()> {
    let whole = fixtures::Handwritten::default().build()?;
    let cuts = fixtures::truncations(&whole)?;
    assert!(cuts.iter().all(|(_, cut)| cut.len() < whole.len()));
    let valid = cuts
        .iter()
        .filter(|(_, cut)| Parts::read(cut).is_ok())
        .count();
    assert!(valid > 1 && valid < cuts.len(), "{valid} of {}", cuts.len());
    Ok(())
}

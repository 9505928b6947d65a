//! What a sandboxed command must not be able to do to the whole machine: change its
//! settings, or fill its memory with files.

use anyhow::Result;

use crate::fixture::Stage;
use crate::native::Native;
use crate::sandbox::{SANDBOXES, shell};

#[tokio::test]
async fn settings_of_the_machine_can_not_be_opened_for_writing() -> Result<()> {
    // Opened only: nothing is written, so that the test harms nobody where it fails.
    let line = "for file in $(find /proc/sys /proc/sysrq-trigger -type f 2>/dev/null); do \
                (exec 3>>\"$file\") 2>/dev/null && echo \"$file\"; done; :";
    for sandbox in SANDBOXES {
        let stage = Stage::plain(&Native::new(sandbox)).await?;
        let opened = shell(&stage, line).await?;
        assert_eq!(opened.stdout.text(), "", "{sandbox}");
    }
    Ok(())
}

#[tokio::test]
async fn files_in_memory_are_bounded() -> Result<()> {
    let fixture = Native::new("bubblewrap").with("[security.resources]\nmax_memory_mb = 64");
    let stage = Stage::plain(&fixture).await?;
    for folder in ["/tmp", "/dev/shm", "/dev"] {
        let line = format!("head -c 100000000 /dev/zero > {folder}/big");
        let filled = shell(&stage, &line).await?;
        assert!(!filled.is_success(), "{folder}: {filled:?}");
    }
    Ok(())
}

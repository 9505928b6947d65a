//! `wasi:filesystem` where it could block a thread of the host for ever: opening a pipe
//! waits for somebody at its other end, and no deadline ends that wait.
//!
//! Invariant: a guest opens no pipe that was there when it asked. One that somebody
//! outside puts there a moment later is no way out of a limit for the guest.

use wasmtime::component::{Linker, Resource};
use wasmtime_wasi::filesystem::{Descriptor, WasiFilesystemCtxView, WasiFilesystemView as _};
use wasmtime_wasi::p2::bindings::filesystem::types::{
    DescriptorFlags, DescriptorType, ErrorCode, HostDescriptor, OpenFlags, PathFlags,
};

use crate::runtime::wasm::call_state::CallState;

/// The instance in which the function is replaced, as WASI's own linking calls it.
const TYPES: &str = "wasi:filesystem/types@0.2.12";

/// What a guest hands over to open a file.
type Opening = (
    Resource<Descriptor>,
    PathFlags,
    String,
    OpenFlags,
    DescriptorFlags,
);
type Opened = Result<Resource<Descriptor>, ErrorCode>;

/// Puts the guarded function in the place of WASI's own.
pub(super) fn replace_in_linker(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    linker.allow_shadowing(true);
    linker.instance(TYPES)?.func_wrap_async(
        "[method]descriptor.open-at",
        |mut store, opening: Opening| {
            Box::new(async move {
                let mut files = store.data_mut().filesystem();
                Ok((open_at(&mut files, opening).await?,))
            })
        },
    )?;
    linker.allow_shadowing(false);
    Ok(())
}

async fn open_at(
    files: &mut WasiFilesystemCtxView<'_>,
    (folder, path_flags, path, open_flags, flags): Opening,
) -> wasmtime::Result<Opened> {
    let looked_at = Resource::new_borrow(folder.rep());
    let found = files.stat_at(looked_at, path_flags, path.clone()).await;
    // WASI has no better word for a pipe. What can not be looked at, can not be opened
    // either, or is yet to be created: the opening says so in its own words.
    if found.is_ok_and(|found| found.type_ == DescriptorType::Unknown) {
        return Ok(Err(ErrorCode::Unsupported));
    }
    match files
        .open_at(folder, path_flags, path, open_flags, flags)
        .await
    {
        Ok(opened) => Ok(Ok(opened)),
        Err(error) => error.downcast().map(Err),
    }
}

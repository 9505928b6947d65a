//! What core modules may import: WASI 0.1 as `wasi_snapshot_preview1`, and the same
//! under its older name `wasi_unstable`.
//!
//! Invariant: as for components, a guest opens no pipe, since nothing ends that waiting.

use wasmtime::{AsContextMut as _, Caller, Extern, Linker};
use wasmtime_wasi::p1::types::{Errno, Fd, Filetype, Lookupflags};
use wasmtime_wasi::p1::wasi_snapshot_preview1::{self, WasiSnapshotPreview1 as _};
use wasmtime_wasi::{I32Exit, p0, p1};
use wiggle::{GuestMemory, GuestPtr};

use crate::runtime::wasm::call_state::CallState;
use crate::runtime::wasm::shape::ExternName;

/// WASI 0.1, as modules import it.
const SNAPSHOT: &str = "wasi_snapshot_preview1";
/// Its forerunner, which compilers of 2019 used.
pub(in crate::runtime::wasm) const UNSTABLE: &str = "wasi_unstable";

/// The functions of WASI 0.1. A test links a module that imports all of them.
const FUNCTIONS: &[&str] = &[
    "args_get",
    "args_sizes_get",
    "clock_res_get",
    "clock_time_get",
    "environ_get",
    "environ_sizes_get",
    "fd_advise",
    "fd_allocate",
    "fd_close",
    "fd_datasync",
    "fd_fdstat_get",
    "fd_fdstat_set_flags",
    "fd_fdstat_set_rights",
    "fd_filestat_get",
    "fd_filestat_set_size",
    "fd_filestat_set_times",
    "fd_pread",
    "fd_prestat_dir_name",
    "fd_prestat_get",
    "fd_pwrite",
    "fd_read",
    "fd_readdir",
    "fd_renumber",
    "fd_seek",
    "fd_sync",
    "fd_tell",
    "fd_write",
    "path_create_directory",
    "path_filestat_get",
    "path_filestat_set_times",
    "path_link",
    "path_open",
    "path_readlink",
    "path_remove_directory",
    "path_rename",
    "path_symlink",
    "path_unlink_file",
    "poll_oneoff",
    "proc_exit",
    "proc_raise",
    "random_get",
    "sched_yield",
    SINCE_SNAPSHOT,
    "sock_recv",
    "sock_send",
    "sock_shutdown",
];
/// The one function that `wasi_unstable` lacks.
const SINCE_SNAPSHOT: &str = "sock_accept";

/// The version of WASI that has an import of a core module; `None`: no version has.
pub(in crate::runtime::wasm) fn offered(import: &ExternName) -> Option<&'static str> {
    let (module, function) = import.name.split_once(' ')?;
    let is_known = FUNCTIONS.contains(&function);
    match module {
        SNAPSHOT if is_known => Some("0.1"),
        UNSTABLE if is_known && function != SINCE_SNAPSHOT => Some("0.0"),
        _ => None,
    }
}

/// Links everything that a core module may import.
pub(in crate::runtime::wasm) fn add_to_linker(
    linker: &mut Linker<CallState>,
) -> wasmtime::Result<()> {
    p1::add_to_linker_async(linker, |state| state.wasi.get(&state.policy))?;
    p0::add_to_linker_async(linker, |state| state.wasi.get(&state.policy))?;
    linker.allow_shadowing(true);
    for module in [SNAPSHOT, UNSTABLE] {
        linker.func_wrap(module, "proc_exit", proc_exit)?;
        linker.func_wrap_async(module, "path_open", |caller, opening| {
            Box::new(path_open(caller, opening))
        })?;
    }
    linker.allow_shadowing(false);
    Ok(())
}

/// WASI's own refuses codes above 125.
fn proc_exit(code: i32) -> wasmtime::Result<()> {
    Err(I32Exit(code).into())
}

/// The parameters of `path_open`: folder, lookup flags, path and its length, open flags,
/// rights, inherited rights, file flags, and where the new descriptor goes.
type Opening = (i32, i32, i32, i32, i32, i64, i64, i32, i32);

async fn path_open(mut caller: Caller<'_, CallState>, opening: Opening) -> wasmtime::Result<i32> {
    let (folder, lookup, path, length, open, rights, inherited, flags, opened) = opening;
    let fuel = caller.as_context_mut().hostcall_fuel();
    let Some(Extern::Memory(memory)) = caller.get_export("memory") else {
        return Err(wasmtime::format_err!("the module exports no `memory`"));
    };
    let (bytes, state) = memory.data_and_store_mut(&mut caller);
    let mut memory = GuestMemory::Unshared(bytes);
    let wasi = state.wasi.get(&state.policy);
    wasi.set_hostcall_fuel(fuel);
    if let Ok(how) = Lookupflags::try_from(lookup) {
        let path = GuestPtr::<str>::new((path.cast_unsigned(), length.cast_unsigned()));
        let found = wasi
            .path_filestat_get(&mut memory, Fd::from(folder), how, path)
            .await;
        // WASI has no word for a pipe. What can not be looked at is not opened either,
        // or is yet to be created: the opening says so in its own words.
        if found.is_ok_and(|found| found.filetype == Filetype::Unknown) {
            return Ok(Errno::Notsup as i32);
        }
    }
    wasi_snapshot_preview1::path_open(
        wasi,
        &mut memory,
        folder,
        lookup,
        path,
        length,
        open,
        rights,
        inherited,
        flags,
        opened,
    )
    .await
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::runtime::wasm::access::Access;
    use crate::runtime::wasm::engine::{Allocation, Engine};
    use crate::runtime::wasm::session::{Session, SessionLimits, World};

    #[test]
    fn what_is_offered_is_what_is_linked() {
        let engine = Engine::new(Allocation::OnDemand).unwrap();
        let limits = SessionLimits {
            max_memory: 0,
            max_output: 0,
        };
        let access = Access::none();
        let world = World {
            access: &access,
            limits: &limits,
            events: None,
            process: None,
            place: None,
            waited: std::time::Duration::ZERO,
        };
        let mut session = Session::start(&engine, world).unwrap();
        let linked: BTreeSet<String> = engine
            .core_linker()
            .unwrap()
            .iter(&mut session.store)
            .map(|(module, name, _)| format!("{module} {name}"))
            .collect();
        let listed = [SNAPSHOT, UNSTABLE].into_iter().flat_map(|module| {
            FUNCTIONS
                .iter()
                .map(move |function| ExternName::of_core(module, function))
        });
        let offered: BTreeSet<String> = listed
            .filter(|import| offered(import).is_some())
            .map(|import| import.name)
            .collect();
        assert_eq!(offered, linked);
    }
}

//! The stack of a process that is being started, in the memory of this one.
//!
//! Invariant: below it lies a page that nobody may touch.

use std::ffi::c_void;
use std::io;
use std::ptr::NonNull;

/// For everything but the list of arguments, which may be copied once.
const BYTES: usize = 64 << 10;

/// More than a page of any system.
const GUARD: usize = 64 << 10;

/// A mapping of its own.
pub(super) struct Stack {
    bottom: NonNull<c_void>,
    bytes: usize,
}

impl Stack {
    /// For a program with so many arguments.
    pub(super) fn for_arguments(count: usize) -> io::Result<Self> {
        let list = count.saturating_mul(size_of::<usize>());
        let bytes = (GUARD + BYTES + list).next_multiple_of(GUARD);
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK;
        // SAFETY: a new mapping wherever there is room; its lowest part, which nobody has
        // used yet, is then closed.
        let bottom = unsafe {
            let bottom = libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0);
            if bottom == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
            libc::mprotect(bottom, GUARD, libc::PROT_NONE);
            bottom
        };
        let bottom = NonNull::new(bottom).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { bottom, bytes })
    }

    /// One past its highest byte: stacks grow downwards.
    pub(super) fn top(&self) -> *mut c_void {
        self.bottom.as_ptr().wrapping_byte_add(self.bytes)
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: the whole of a mapping that only this value knows.
        unsafe { libc::munmap(self.bottom.as_ptr(), self.bytes) };
    }
}

//! A process to be started, and its start.
//!
//! The start borrows this process's memory until the new program runs, as `vfork` does: to
//! copy what describes that memory, as `fork` does, takes longer than a short command.
//!
//! Invariants: between the clone and the new program only system calls are made, nothing
//! is allocated or freed, and no signal handler of this process runs. A started process
//! inherits no descriptor but its three streams and what a step lets through.

use std::ffi::{CString, OsStr, OsString, c_char, c_int, c_void};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;
use std::ptr::null;
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::Pid;

use super::leader::Leader;
use super::stack::Stack;

/// Something that the new process does before it becomes the new program.
type Step = Box<dyn Fn() -> io::Result<()> + Send>;

/// What to start.
pub(super) struct Launch {
    file: OsString,
    argv: Vec<OsString>,
    variables: Vec<OsString>,
    folder: Option<OsString>,
    has_stdin: bool,
    steps: Vec<Step>,
}

/// A process, and the ends of its pipes on this side.
pub(super) struct Started {
    pub(super) leader: Leader,
    /// Readable once it has ended.
    pub(super) exit: OwnedFd,
    pub(super) stdin: Option<OwnedFd>,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

impl Launch {
    /// A program by its path, without arguments or variables, that reads nothing.
    pub(super) fn new(file: &Path) -> Self {
        Self {
            file: file.into(),
            argv: vec![file.into()],
            variables: Vec::new(),
            folder: None,
            has_stdin: false,
            steps: Vec::new(),
        }
    }

    /// Everything from the program's own name on, in place of what there is.
    pub(super) fn argv(&mut self, argv: Vec<OsString>) -> &mut Self {
        self.argv = argv;
        self
    }

    pub(super) fn arg(&mut self, argument: impl Into<OsString>) -> &mut Self {
        self.argv.push(argument.into());
        self
    }

    pub(super) fn variable(&mut self, name: &OsStr, value: &OsStr) -> &mut Self {
        let mut pair = name.to_owned();
        pair.push("=");
        pair.push(value);
        self.variables.push(pair);
        self
    }

    pub(super) fn folder(&mut self, folder: &Path) -> &mut Self {
        self.folder = Some(folder.into());
        self
    }

    pub(super) fn with_stdin(&mut self, has_stdin: bool) -> &mut Self {
        self.has_stdin = has_stdin;
        self
    }

    /// Adds a step, which comes after those before it and after streams and folder.
    ///
    /// # Safety
    /// It runs in the memory of this process beside its other threads, which may hold any
    /// lock: it only makes system calls, and neither allocates, frees, locks nor panics.
    pub(super) unsafe fn step(
        &mut self,
        step: impl Fn() -> io::Result<()> + Send + 'static,
    ) -> &mut Self {
        self.steps.push(Box::new(step));
        self
    }

    /// Starts it. The thread waits until the new program runs.
    pub(super) fn start(self) -> io::Result<Started> {
        let (input, stdin) = if self.has_stdin {
            let (theirs, ours) = io::pipe()?;
            (theirs.into(), Some(ours.into()))
        } else {
            (File::open("/dev/null")?.into(), None)
        };
        let (stdout, output) = io::pipe()?;
        let (stderr, errors) = io::pipe()?;
        let streams = [apart(input)?, apart(output.into())?, apart(errors.into())?];
        let text = |text: OsString| CString::new(text.into_vec());
        let texts = |all: Vec<OsString>| all.into_iter().map(text).collect::<Result<Vec<_>, _>>();
        let (argv, variables) = (texts(self.argv)?, texts(self.variables)?);
        let child = Child {
            file: text(self.file)?,
            argv: list(&argv),
            variables: list(&variables),
            folder: self.folder.map(text).transpose()?,
            streams: streams.each_ref().map(AsRawFd::as_raw_fd),
            steps: self.steps,
            error: AtomicI32::new(0),
        };
        let (leader, exit) = child.clone_from_here()?;
        Ok(Started {
            leader,
            exit,
            stdin,
            stdout: stdout.into(),
            stderr: stderr.into(),
        })
    }
}

/// A descriptor that is not among the three that streams are put in.
fn apart(stream: OwnedFd) -> io::Result<OwnedFd> {
    if stream.as_raw_fd() > 2 {
        return Ok(stream);
    }
    Ok(fcntl_dupfd_cloexec(&stream, 3)?)
}

/// Pointers to texts, ended by a null. They are good as long as the texts are.
fn list(texts: &[CString]) -> Vec<*const c_char> {
    let pointers = texts.iter().map(|text| text.as_ptr());
    pointers.chain([null()]).collect()
}

/// Everything that the new process needs, made beforehand.
struct Child {
    file: CString,
    argv: Vec<*const c_char>,
    variables: Vec<*const c_char>,
    folder: Option<CString>,
    streams: [c_int; 3],
    steps: Vec<Step>,
    /// Why the new program does not run; written by the new process.
    error: AtomicI32,
}

impl Child {
    fn clone_from_here(&self) -> io::Result<(Leader, OwnedFd)> {
        let stack = Stack::for_arguments(self.argv.len())?;
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD | libc::SIGCHLD;
        let mut exit: c_int = -1;
        let all = all_signals();
        let mut before = all;
        // SAFETY: both sets are initialised. The stack is as large as `execvpe` needs it and
        // lives until the new process has left it: until then this thread is suspended, and
        // with it `self` and `exit` stay where they are. With every signal blocked, no
        // handler runs on either side.
        let id = unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
            let this = std::ptr::from_ref(self).cast_mut().cast();
            let id = libc::clone(become_program, stack.top(), flags, this, &raw mut exit);
            let error = io::Error::last_os_error();
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
            if id < 0 { Err(error) } else { Ok(id) }
        }?;
        let id = Pid::from_raw(id).ok_or_else(|| io::Error::other("a process without a number"))?;
        let mut leader = Leader::new(id);
        if exit < 0 {
            return Err(io::ErrorKind::Unsupported.into());
        }
        // SAFETY: the kernel has just opened it for this call.
        let exit = unsafe { OwnedFd::from_raw_fd(exit) };
        match self.error.load(Ordering::Acquire) {
            0 => Ok((leader, exit)),
            error => {
                leader.reap();
                Err(io::Error::from_raw_os_error(error))
            }
        }
    }

    /// In the new process: what is to be done before the program. Only returns an error.
    fn prepare(&self) -> io::Result<()> {
        for signal in 1..=libc::SIGRTMAX() {
            forget_handler(signal);
        }
        let told = |answer: c_int| match answer {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        };
        for (place, stream) in (0..).zip(self.streams) {
            // SAFETY: no pointer.
            told(unsafe { libc::dup2(stream, place) })?;
        }
        if let Some(folder) = &self.folder {
            // SAFETY: the text ends with a NUL.
            told(unsafe { libc::chdir(folder.as_ptr()) })?;
        }
        self.steps.iter().try_for_each(|step| step())?;
        let none = no_signals();
        // SAFETY: the set is initialised; both lists end with a null, and their texts live.
        unsafe {
            libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
            let (argv, variables) = (self.argv.as_ptr(), self.variables.as_ptr());
            // It also runs a script that does not say by what, as a shell does.
            libc::execvpe(self.file.as_ptr(), argv, variables);
        }
        Err(io::Error::last_os_error())
    }
}

/// The new process, on its own stack in the memory of this one.
extern "C" fn become_program(child: *mut c_void) -> c_int {
    // SAFETY: what `clone_from_here` passed on, which is alive while its thread waits.
    let child = unsafe { &*child.cast::<Child>() };
    if let Err(error) = child.prepare() {
        let code = error.raw_os_error().unwrap_or(libc::EINVAL);
        child.error.store(code, Ordering::Release);
    }
    // SAFETY: no pointer; nothing of the shared memory is torn down.
    unsafe { libc::_exit(127) }
}

/// Handlers live in the memory that is shared, and must not run for the new process. What
/// is ignored stays so, but for SIGPIPE, which this language's own start has ignored.
fn forget_handler(signal: c_int) {
    // SAFETY: an all-zero `sigaction` is a valid one: the default action. Both pointers are
    // to one. A signal that can not be changed is an error without consequence.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(signal, std::ptr::null(), &raw mut action) == 0
            && (signal == libc::SIGPIPE
                || ![libc::SIG_DFL, libc::SIG_IGN].contains(&action.sa_sigaction))
        {
            let default: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, &raw const default, std::ptr::null_mut());
        }
    }
}

fn all_signals() -> libc::sigset_t {
    let mut set = no_signals();
    // SAFETY: the set is initialised.
    unsafe { libc::sigfillset(&raw mut set) };
    set
}

fn no_signals() -> libc::sigset_t {
    // SAFETY: an all-zero set is a valid one, which is then made the empty one.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        set
    }
}

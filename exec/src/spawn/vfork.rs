//! Starting a program without a copy of this process.
//!
//! `fork` copies the tables of all of a process's memory, and later every page that either side touches. The C library's
//! `posix_spawn` does without, and so does this, for which that offers too little (a terminal, the parent-death signal,
//! the fences): the child runs in our memory, on a stack of its own, while the thread that has started it stands still
//! until the child executes its program or ends.
//!
//! So between its start and its program the child
//!
//! * makes system calls and nothing else: it allocates nothing, takes no lock, and unwinds from nowhere;
//! * owns descriptors, folder and signal actions of its own, which are copies, and leaves nothing in our memory that
//!   means one of them;
//! * runs no signal handler of ours: all signals are blocked before it starts, and let through only when nothing is
//!   handled any more.

use std::ffi::{CString, OsStr};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

use libc::{c_char, c_int, c_void};
use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, waitpid};

use super::launch::Launch;

/// Bytes of the child's stack. The fences take a few KiB of it.
const STACK_BYTES: usize = 256 * 1024;

/// Bytes below the stack that may not be touched: at least a page, whatever its size is.
const GUARD_BYTES: usize = 64 * 1024;

/// The last of the signals of the system.
const LAST_SIGNAL: c_int = 64;

/// What runs what is executable and no program, as `execvp` has it.
const SCRIPT_SHELL: &std::ffi::CStr = c"/bin/sh";

/// Where programs are looked up without a PATH.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// What is to be executed, in the shape that the system takes.
struct Program {
    /// Where it may be, in the order of looking.
    places: Vec<CString>,
    arguments: Pointers,
    /// The same, after a shell and a place for a script's name.
    script_arguments: Pointers,
    environment: Pointers,
    folder: CString,
}

/// Strings, and pointers to them with a null at the end.
struct Pointers {
    /// Never changed: the pointers lead here.
    _strings: Vec<CString>,
    pointers: Vec<*const c_char>,
}

/// What the child is given, and what it leaves.
struct Task<'a> {
    program: &'a mut Program,
    streams: [RawFd; 3],
    set_up: &'a mut dyn FnMut() -> io::Result<()>,
    /// The number of the error that it has ended with; 0 when it has become the program.
    failure: c_int,
}

/// Starts the program of `launch` on these streams. `set_up` is called in the child, in its folder, before the program
/// is executed, and must keep to the rules of this module.
///
/// # Errors
/// What the system says, of whatever step it was; invalid input for a NUL byte.
///
/// # Safety
/// `set_up` makes system calls only: no allocation, no lock, no panic; and it leaves no descriptor that it has opened
/// in what it has captured.
#[allow(unsafe_code)]
pub(super) unsafe fn start(
    launch: &Launch,
    streams: [OwnedFd; 3],
    set_up: &mut dyn FnMut() -> io::Result<()>,
) -> io::Result<Pid> {
    let mut program = Program::new(launch)?;
    let streams = beyond_the_standard_ones(streams)?;
    let mut task = Task {
        program: &mut program,
        streams: [streams[0].as_raw_fd(), streams[1].as_raw_fd(), streams[2].as_raw_fd()],
        set_up,
        failure: 0,
    };
    let stack = Stack::new()?;
    let blocked = BlockedSignals::new();
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: the stack, the task and all that it leads to outlive the child's time in our memory, since this thread
    // stands still for as long; `child` keeps to the rules of this module, and `set_up` does by the caller's word.
    let pid = unsafe { libc::clone(child, stack.top(), flags, (&raw mut task).cast()) };
    let error = io::Error::last_os_error();
    drop(blocked);
    // SAFETY: the task is ours and initialized. Read so, for the child has written it behind the compiler's back.
    let failure = unsafe { ptr::read_volatile(&raw const task.failure) };
    let Some(pid) = Pid::from_raw(pid.max(0)) else { return Err(error) };
    if failure == 0 {
        return Ok(pid);
    }
    // It ends, and nobody else knows of it.
    while matches!(waitpid(Some(pid), WaitOptions::empty()), Err(Errno::INTR)) {}
    Err(io::Error::from_raw_os_error(failure))
}

/// The child, from its start to its program.
#[allow(unsafe_code)]
extern "C" fn child(task: *mut c_void) -> c_int {
    let task: *mut Task<'_> = task.cast();
    // SAFETY: it is the task of `start`, which stands still.
    let error = unsafe { (*task).become_program() };
    let number = error.raw_os_error().unwrap_or(libc::EINVAL);
    // SAFETY: as above; and the process ends here, so that nothing of what is shared is dropped twice.
    unsafe {
        ptr::write_volatile(&raw mut (*task).failure, number);
        libc::_exit(127)
    }
}

impl Task<'_> {
    /// Does not return when all goes well.
    fn become_program(&mut self) -> io::Error {
        match self.prepare() {
            Ok(()) => self.program.execute(),
            Err(error) => error,
        }
    }

    #[allow(unsafe_code)]
    fn prepare(&mut self) -> io::Result<()> {
        for (standard, stream) in (0..).zip(self.streams) {
            // SAFETY: the call takes numbers. The streams are open, and none of them is a standard one.
            if unsafe { libc::dup2(stream, standard) } < 0 {
                return Err(io::Error::last_os_error());
            }
        }
        rustix::process::chdir(&*self.program.folder)?;
        (self.set_up)()?;
        handle_no_signal();
        // SAFETY: the set is initialized by the first call and outlives the second. No handler of ours is left.
        unsafe {
            let mut none = MaybeUninit::uninit();
            libc::sigemptyset(none.as_mut_ptr());
            libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), ptr::null_mut());
        }
        Ok(())
    }
}

/// Signals that are handled have their default effect from now on, and so has SIGPIPE, which the Rust runtime ignores;
/// what else is ignored stays so.
#[allow(unsafe_code)]
fn handle_no_signal() {
    for signal in 1..=LAST_SIGNAL {
        // SAFETY: the action is plain data, for which zeros are valid; both calls get pointers to it or null.
        unsafe {
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            // It fails for those that the C library keeps for itself, which it sends to threads only.
            if libc::sigaction(signal, ptr::null(), &raw mut action) < 0 {
                continue;
            }
            let handled = action.sa_sigaction != libc::SIG_DFL && action.sa_sigaction != libc::SIG_IGN;
            if handled || signal == libc::SIGPIPE {
                action = MaybeUninit::zeroed().assume_init();
                action.sa_sigaction = libc::SIG_DFL;
                libc::sigaction(signal, &raw const action, ptr::null_mut());
            }
        }
    }
}

impl Program {
    fn new(launch: &Launch) -> io::Result<Self> {
        let program = c_string(launch.program.as_os_str())?;
        let arguments = launch.arguments.iter().map(|argument| c_string(argument));
        let arguments: Vec<CString> = arguments.collect::<io::Result<_>>()?;
        let variable = |(name, value): (&_, &_)| {
            let (name, value): (&std::ffi::OsString, &std::ffi::OsString) = (name, value);
            Ok(CString::new([name.as_bytes(), b"=", value.as_bytes()].concat())?)
        };
        let environment = launch.environment.iter().map(variable).collect::<io::Result<_>>()?;
        let after = |first: &[CString]| [first, &arguments[..]].concat();
        Ok(Self {
            places: places(launch)?,
            script_arguments: Pointers::new(after(&[SCRIPT_SHELL.to_owned(), program.clone()])),
            arguments: Pointers::new(after(&[program])),
            environment: Pointers::new(environment),
            folder: c_string(launch.folder.as_os_str())?,
        })
    }

    /// Executes the first of the places that can be, as `execvp` does. Does not return when all goes well.
    #[allow(unsafe_code)]
    fn execute(&mut self) -> io::Error {
        let (arguments, environment) = (self.arguments.pointers.as_ptr(), self.environment.pointers.as_ptr());
        let mut forbidden = false;
        let mut last = Errno::NOENT;
        for place in &self.places {
            // SAFETY: all strings end with a NUL, both lists with a null, and they outlive the call.
            unsafe { libc::execve(place.as_ptr(), arguments, environment) };
            last = Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::INVAL);
            match last {
                Errno::NOEXEC => {
                    if let Some(script) = self.script_arguments.pointers.get_mut(1) {
                        *script = place.as_ptr();
                    }
                    let arguments = self.script_arguments.pointers.as_ptr();
                    // SAFETY: as above.
                    unsafe { libc::execve(SCRIPT_SHELL.as_ptr(), arguments, environment) };
                    return last.into();
                }
                Errno::ACCESS => forbidden = true,
                Errno::NOENT | Errno::NOTDIR | Errno::STALE | Errno::NODEV | Errno::TIMEDOUT => {}
                _ => return last.into(),
            }
        }
        if forbidden { Errno::ACCESS.into() } else { last.into() }
    }
}

/// Where the program may be: a path is one, a name is looked up in the PATH that the program gets.
fn places(launch: &Launch) -> io::Result<Vec<CString>> {
    let program = launch.program.as_os_str();
    if program.as_bytes().contains(&b'/') || program.is_empty() {
        return Ok(vec![c_string(program)?]);
    }
    let path = launch.environment.get(OsStr::new("PATH")).map_or(OsStr::new(DEFAULT_PATH), |path| path);
    let folders =
        path.as_bytes().split(|byte| *byte == b':').map(|folder| Path::new(OsStr::from_bytes(folder)));
    folders.map(|folder| c_string(folder.join(program).as_os_str())).collect()
}

impl Pointers {
    fn new(strings: Vec<CString>) -> Self {
        let pointers = strings.iter().map(|string| string.as_ptr()).chain([ptr::null()]).collect();
        Self { _strings: strings, pointers }
    }
}

/// Descriptors that take nobody's place when they are made the standard ones one after the other.
fn beyond_the_standard_ones(streams: [OwnedFd; 3]) -> io::Result<[OwnedFd; 3]> {
    // A clone is never one of them.
    let beyond = |stream: OwnedFd| if stream.as_raw_fd() > 2 { Ok(stream) } else { stream.try_clone() };
    let [input, output, errors] = streams;
    Ok([beyond(input)?, beyond(output)?, beyond(errors)?])
}

fn c_string(text: &OsStr) -> io::Result<CString> {
    Ok(CString::new(text.as_bytes())?)
}

/// Memory for a stack, with some below it that ends the child, should the stack be too small.
struct Stack(*mut c_void);

#[allow(unsafe_code)]
impl Stack {
    fn new() -> io::Result<Self> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK | libc::MAP_NORESERVE;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: new memory is asked for, at no given place; and the second call is about its lower part.
        unsafe {
            let base = libc::mmap(ptr::null_mut(), GUARD_BYTES + STACK_BYTES, access, flags, -1, 0);
            if base == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
            let stack = Self(base);
            if libc::mprotect(base, GUARD_BYTES, libc::PROT_NONE) < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(stack)
        }
    }

    /// Its upper end, from which it grows down; aligned as pages are.
    fn top(&self) -> *mut c_void {
        self.0.wrapping_byte_add(GUARD_BYTES + STACK_BYTES)
    }
}

#[allow(unsafe_code)]
impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: it is what was mapped, and nobody runs on it any more.
        unsafe { libc::munmap(self.0, GUARD_BYTES + STACK_BYTES) };
    }
}

/// Blocks all signals of this thread until it is dropped.
struct BlockedSignals(MaybeUninit<libc::sigset_t>);

#[allow(unsafe_code)]
impl BlockedSignals {
    fn new() -> Self {
        let (mut all, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        // SAFETY: the first call initializes the set that the second one reads; that one initializes the other.
        unsafe {
            libc::sigfillset(all.as_mut_ptr());
            libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
        }
        Self(before)
    }
}

#[allow(unsafe_code)]
impl Drop for BlockedSignals {
    fn drop(&mut self) {
        // SAFETY: the set was initialized when the signals were blocked.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, self.0.as_ptr(), ptr::null_mut()) };
    }
}

#[cfg(test)]
#[path = "vfork_tests.rs"]
mod tests;

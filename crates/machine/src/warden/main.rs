//! The warden: a tiny process between us and a program we run, so that nothing of the program is
//! left when it has to end, and so that its peak memory is its own.
//!
//! ```text
//!   fathom ──starts──▶ warden REPORT PATH NAME ARGUMENT… ──forks──▶ PATH, leader of a group of its own
//!      ◀──── records over a pipe ──┘   every orphan below becomes the warden's child ──▶ …
//! ```
//!
//! The kernel hands the high-water mark of memory of whoever forks to the program it then runs. Ours
//! has many megabytes, the warden's 25 pages or so; therefore it uses no library at all, not even the
//! standard one, and is embedded into the program that starts it. It decides nothing: it reports the
//! program's start and end, waits until everything below it is gone, and ends all of that when it is
//! sent a signal, which the kernel does for us if we die first.
#![no_std]
#![no_main]
// The compiler would make calls of their own names out of the two loops at the end.
#![no_builtins]

use core::arch::{asm, global_asm};
use core::ffi::c_char;
use core::panic::PanicInfo;

#[cfg(target_arch = "x86_64")]
mod number {
    pub const READ: usize = 0;
    pub const WRITE: usize = 1;
    pub const CLOSE: usize = 3;
    pub const SIGNAL_MASK: usize = 14;
    pub const CLONE: usize = 56;
    pub const EXECVE: usize = 59;
    pub const WAIT4: usize = 61;
    pub const KILL: usize = 62;
    pub const SET_GROUP: usize = 109;
    pub const SIGNAL_WAIT: usize = 128;
    pub const PRCTL: usize = 157;
    pub const LIST: usize = 217;
    pub const CLOCK: usize = 228;
    pub const EXIT: usize = 231;
    pub const OPEN_AT: usize = 257;
    pub const GET_PID: usize = 39;
    pub const GET_PARENT: usize = 110;
}

#[cfg(target_arch = "aarch64")]
mod number {
    pub const OPEN_AT: usize = 56;
    pub const CLOSE: usize = 57;
    pub const LIST: usize = 61;
    pub const READ: usize = 63;
    pub const WRITE: usize = 64;
    pub const EXIT: usize = 94;
    pub const CLOCK: usize = 113;
    pub const KILL: usize = 129;
    pub const SIGNAL_MASK: usize = 135;
    pub const SIGNAL_WAIT: usize = 137;
    pub const SET_GROUP: usize = 154;
    pub const PRCTL: usize = 167;
    pub const GET_PID: usize = 172;
    pub const GET_PARENT: usize = 173;
    pub const CLONE: usize = 220;
    pub const EXECVE: usize = 221;
    pub const WAIT4: usize = 260;
}

// Both begin with the stack pointer at argc, argv, 0, envp, 0: the only argument of `begin`.
#[cfg(target_arch = "x86_64")]
global_asm!(".globl _start", "_start:", "mov rdi, rsp", "and rsp, -16", "call {0}", "ud2", sym begin);
#[cfg(target_arch = "aarch64")]
global_asm!(".globl _start", "_start:", "mov x0, sp", "bl {0}", "brk #1", sym begin);

#[cfg(target_arch = "x86_64")]
fn call(number: usize, a: [usize; 5]) -> isize {
    let answer: isize;
    // SAFETY: every caller passes what its system call asks for; the clobbers are the kernel's.
    unsafe {
        asm!("syscall", inlateout("rax") number => answer, in("rdi") a[0], in("rsi") a[1],
            in("rdx") a[2], in("r10") a[3], in("r8") a[4], lateout("rcx") _, lateout("r11") _);
    }
    answer
}

#[cfg(target_arch = "aarch64")]
fn call(number: usize, a: [usize; 5]) -> isize {
    let answer: isize;
    // SAFETY: every caller passes what its system call asks for; the kernel keeps other registers.
    unsafe {
        asm!("svc 0", in("x8") number, inlateout("x0") a[0] => answer, in("x1") a[1],
            in("x2") a[2], in("x3") a[3], in("x4") a[4]);
    }
    answer
}

const TERMINATE: usize = 15;
const KILL: usize = 9;
const CHILD: isize = 17;
const CHILD_EXISTS_NO_MORE: isize = -10;
/// SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGCHLD: waited for or, the pipe's, of no interest.
static SIGNALS: u64 = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 12 | 1 << 14 | 1 << 16;
static AWAITED: u64 = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 16;

/// What is reported: `STARTED pid`, `REFUSED errno` by the program's process, or `ENDED status
/// wall_ns` and the fourteen fields of rusage behind its two times. `ENDED` with the status of one
/// that is stopped says that it wants the terminal: it is not in the foreground, so the kernel
/// stops it, and nobody will make it go on.
type Record = [u64; 21];
const STARTED: u64 = 1;
const REFUSED: u64 = 2;
const ENDED: u64 = 3;
/// The statuses of a program stopped by SIGTTIN and by SIGTTOU.
const WANTS_TERMINAL: [i32; 2] = [21 << 8 | 0x7f, 22 << 8 | 0x7f];

/// # Safety
/// `stack` is what the kernel left for a new program.
unsafe extern "C" fn begin(stack: *const usize) -> ! {
    // SAFETY: argc words of argv follow the first, then a null, then the environment.
    let (argv, count) = unsafe { (stack.add(1).cast::<*const c_char>(), *stack) };
    if count < 4 {
        exit(2);
    }
    // SAFETY: as above; count arguments and a null are there.
    let (report, path, names, environment) =
        unsafe { (*argv.add(1), *argv.add(2), argv.add(3), argv.add(count + 1)) };
    const SUBREAPER: usize = 36;
    call(number::PRCTL, [SUBREAPER, 1, 0, 0, 0]);
    end_with_parent(TERMINATE);
    let mut mask = 0_u64;
    set_mask(&SIGNALS, &mut mask);
    const WRITE_ONLY_CLOSED_BY_EXEC: usize = 1 | 0o2_000_000;
    let report = open(report, WRITE_ONLY_CLOSED_BY_EXEC);
    if report < 0 {
        // Who would have read it is gone.
        exit(3);
    }
    let report = report as usize;
    let own = call(number::GET_PID, [0; 5]);
    let begin_ns = now_ns();
    let child = call(number::CLONE, [CHILD as usize, 0, 0, 0, 0]);
    if child == 0 {
        call(number::SET_GROUP, [0; 5]);
        end_with_parent(KILL);
        if call(number::GET_PARENT, [0; 5]) != own {
            // We were killed before the kernel was told.
            exit(127);
        }
        set_mask(&mask, &mut 0);
        let error = call(number::EXECVE, [to(path), to(names), to(environment), 0, 0]);
        send(report, &[REFUSED, error.unsigned_abs() as u64]);
        exit(127);
    }
    if child < 0 {
        send(report, &[REFUSED, child.unsigned_abs() as u64]);
        exit(3);
    }
    // Its streams are the program's alone, so that their other ends see when it closes them.
    for stream in 0..3 {
        call(number::CLOSE, [stream, 0, 0, 0, 0]);
    }
    send(report, &[STARTED, child as u64]);
    guard(report, child, begin_ns)
}

/// Waits until nobody is left below, or a signal says that nobody may be left.
fn guard(report: usize, mut child: isize, begin_ns: u64) -> ! {
    loop {
        let signal = wait_for_signal(None);
        if !reap(report, &mut child, begin_ns).is_left {
            exit(0);
        }
        if signal > 0 && signal != CHILD {
            break;
        }
    }
    // The group first: most programs are no more than that. Then whatever made itself a group or a
    // session of its own, generation by generation, as each orphan becomes our child. One that is
    // another user's or stuck in the kernel cannot be ended, and some start others faster than they are
    // ended: the bounds are for these.
    const IDLE_NS: u64 = 1_000_000_000;
    const MOST_NS: u64 = 10_000_000_000;
    let asked_ns = now_ns();
    let (mut now, mut ended_ns) = (asked_ns, asked_ns);
    if child > 0 {
        call(number::KILL, [child.wrapping_neg() as usize, KILL, 0, 0, 0]);
    }
    while now.wrapping_sub(ended_ns) < IDLE_NS && now.wrapping_sub(asked_ns) < MOST_NS {
        wait_for_signal(Some(5_000_000));
        let found = reap(report, &mut child, begin_ns);
        if !found.is_left {
            break;
        }
        now = now_ns();
        if found.has_ended {
            ended_ns = now;
        }
        kill_children();
    }
    exit(0)
}

/// What became of those below.
struct Found {
    has_ended: bool,
    is_left: bool,
}

/// Takes note of everybody who ended; `child` becomes 0 with its end: its number may then be another's.
fn reap(report: usize, child: &mut isize, begin_ns: u64) -> Found {
    let mut has_ended = false;
    loop {
        let mut status = 0_i32;
        let mut usage = [0_u64; 18];
        const NO_HANG_AND_STOPPED: usize = 1 | 2;
        let everybody = usize::MAX;
        let place = to(&raw mut status);
        let usage_place = to(&raw mut usage);
        let ended =
            call(number::WAIT4, [everybody, place, NO_HANG_AND_STOPPED, usage_place, 0]);
        let is_stopped = status & 0xff == 0x7f;
        let wants_terminal = status == WANTS_TERMINAL[0] || status == WANTS_TERMINAL[1];
        if ended > 0 && ended == *child && (wants_terminal || !is_stopped) {
            if !is_stopped {
                *child = 0;
            }
            let mut record: Record = [0; 21];
            record[0] = ENDED;
            record[1] = u64::from(status.cast_unsigned());
            record[2] = now_ns().wrapping_sub(begin_ns);
            let mut at = 0;
            while at < usage.len() {
                record[at + 3] = usage[at];
                at += 1;
            }
            send(report, &record);
        }
        if ended <= 0 {
            return Found { has_ended, is_left: ended != CHILD_EXISTS_NO_MORE };
        }
        has_ended |= !is_stopped;
    }
}

/// Ends every process whose parent we are.
fn kill_children() {
    if !kill_listed() {
        kill_found();
    }
}

/// Ends those that the kernel lists; false where it has no such list (`CONFIG_PROC_CHILDREN`), or none to be read.
fn kill_listed() -> bool {
    let list = open(c"/proc/thread-self/children".as_ptr(), 0);
    if list < 0 {
        return false;
    }
    let mut text = [0_u8; 256];
    let (mut pid, size) = (0, text.len());
    loop {
        let count = call(number::READ, [list as usize, to(&raw mut text), size, 0, 0]);
        let read = text.get(..count.max(0) as usize).unwrap_or_default();
        let mut at = 0;
        // Numbers, each with a blank behind it.
        while let Some(&byte) = read.get(at) {
            at += 1;
            if byte.is_ascii_digit() {
                pid = 10 * pid + usize::from(byte - b'0');
                continue;
            }
            if pid > 0 {
                call(number::KILL, [pid, KILL, 0, 0, 0]);
            }
            pid = 0;
        }
        if count <= 0 {
            call(number::CLOSE, [list as usize, 0, 0, 0, 0]);
            return count == 0;
        }
    }
}

/// Looks through all processes: `/proc/PID/stat` says whose child each is.
fn kill_found() {
    let own = call(number::GET_PID, [0; 5]) as u64;
    // Nothing but reading: what says "a directory" here says "past the cache" on AArch64.
    let folder = open(c"/proc".as_ptr(), 0);
    let mut entries = [0_u64; 256];
    loop {
        let bytes = size_of_val(&entries);
        let count = call(number::LIST, [folder as usize, to(&raw mut entries), bytes, 0, 0]);
        if count <= 0 {
            break;
        }
        // SAFETY: the kernel wrote that many bytes; any bytes are bytes.
        let bytes = unsafe {
            core::slice::from_raw_parts((&raw const entries).cast::<u8>(), count as usize)
        };
        // d_ino and d_off of 8 bytes, d_reclen of 2, d_type of 1, then the name.
        let mut rest = bytes;
        while let [_, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, low, high, _, name @ ..] = rest {
            let pid = decimal(name);
            if pid > 0 && parent(pid) == own {
                call(number::KILL, [pid as usize, KILL, 0, 0, 0]);
            }
            let length = usize::from(*low) | usize::from(*high) << 8;
            rest = rest.get(length..).unwrap_or_default();
        }
    }
    call(number::CLOSE, [folder as usize, 0, 0, 0, 0]);
}

/// The parent of a process: the second field behind the name, which is in brackets and may contain
/// some.
fn parent(pid: u64) -> u64 {
    let mut path = *b"/proc/\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    let (mut digits, mut left) = (1, pid / 10);
    while left > 0 {
        (digits, left) = (digits + 1, left / 10);
    }
    left = pid;
    let mut at = digits;
    while at > 0 {
        at -= 1;
        set(&mut path, 6 + at, b'0' + (left % 10) as u8);
        left /= 10;
    }
    let mut at = 0;
    while at < 5 {
        set(&mut path, 6 + digits + at, b"/stat"[at]);
        at += 1;
    }
    let file = open(path.as_ptr().cast(), 0);
    let mut text = [0_u8; 256];
    let size = text.len() - 1;
    let count = call(number::READ, [file as usize, to(&raw mut text), size, 0, 0]);
    call(number::CLOSE, [file as usize, 0, 0, 0, 0]);
    let text = text.get(..count.max(0) as usize).unwrap_or_default();
    let mut bracket = 0;
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        if *byte == b')' {
            bracket = at;
        }
        at += 1;
    }
    // ") S 123 …"
    text.get(bracket + 4..).map_or(0, decimal)
}

fn set(bytes: &mut [u8], at: usize, byte: u8) {
    if let Some(place) = bytes.get_mut(at) {
        *place = byte;
    }
}

/// The number a text begins with; 0 without one.
fn decimal(text: &[u8]) -> u64 {
    let mut number = 0_u64;
    let mut at = 0;
    while let Some(digit @ b'0'..=b'9') = text.get(at) {
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
        at += 1;
    }
    number
}

fn end_with_parent(signal: usize) {
    const PARENT_DEATH_SIGNAL: usize = 1;
    call(number::PRCTL, [PARENT_DEATH_SIGNAL, signal, 0, 0, 0]);
}

fn set_mask(new: &u64, old: &mut u64) {
    const REPLACE: usize = 2;
    call(number::SIGNAL_MASK, [REPLACE, to(&raw const *new), to(&raw mut *old), 8, 0]);
}

/// The signal that came, or something negative after `limit_ns`.
fn wait_for_signal(limit_ns: Option<u64>) -> isize {
    let limit = [0, limit_ns.unwrap_or(0)];
    let place = if limit_ns.is_some() { to(&raw const limit) } else { 0 };
    call(number::SIGNAL_WAIT, [to(&raw const AWAITED), 0, place, 8, 0])
}

fn now_ns() -> u64 {
    const MONOTONIC: usize = 1;
    let mut time = [0_u64; 2];
    call(number::CLOCK, [MONOTONIC, to(&raw mut time), 0, 0, 0]);
    time[0] * 1_000_000_000 + time[1]
}

fn open(path: *const c_char, flags: usize) -> isize {
    const HERE: isize = -100;
    call(number::OPEN_AT, [HERE as usize, to(path), flags, 0, 0])
}

/// Writes a record: whole, since it is shorter than what a pipe takes at once.
fn send(report: usize, words: &[u64]) {
    let mut record: Record = [0; 21];
    let mut at = 0;
    while let (Some(place), Some(word)) = (record.get_mut(at), words.get(at)) {
        *place = *word;
        at += 1;
    }
    call(number::WRITE, [report, to(&raw const record), size_of_val(&record), 0, 0]);
}

/// An address that the kernel reads or writes behind.
fn to<T>(place: *const T) -> usize {
    place.expose_provenance()
}

fn exit(code: usize) -> ! {
    loop {
        call(number::EXIT, [code, 0, 0, 0, 0]);
    }
}

/// What the compiler calls to fill and to copy.
///
/// # Safety
/// As in C.
#[unsafe(no_mangle)]
unsafe extern "C" fn memset(to: *mut u8, byte: i32, count: usize) -> *mut u8 {
    for at in 0..count {
        // SAFETY: the caller owns count bytes there.
        unsafe { *to.add(at) = byte as u8 }
    }
    to
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    for at in 0..count {
        // SAFETY: the caller owns count bytes at both places.
        unsafe { *to.add(at) = *from.add(at) }
    }
    to
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    exit(101)
}

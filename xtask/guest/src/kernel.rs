//! The loop whose instructions are counted beforehand, and the few system calls of a first program.

#![allow(unsafe_code)]

use std::ffi::CStr;

/// `rounds` times four instructions, one of them the branch back; `rounds` is at least 1.
#[inline(never)]
pub(crate) fn four_instructions(rounds: u64) {
    #[cfg(target_arch = "aarch64")]
    // SAFETY: registers only.
    unsafe {
        std::arch::asm!(
            "2:",
            "nop",
            "nop",
            "subs {n}, {n}, #1",
            "b.ne 2b",
            n = inout(reg) rounds => _,
            options(nomem, nostack),
        );
    }
    #[cfg(target_arch = "x86_64")]
    // SAFETY: registers only.
    unsafe {
        std::arch::asm!(
            "2:",
            "nop",
            "nop",
            "dec {n}",
            "jnz 2b",
            n = inout(reg) rounds => _,
            options(nomem, nostack),
        );
    }
    #[cfg(not(any(target_arch = "aarch64", target_arch = "x86_64")))]
    compile_error!("the loop is written for aarch64 and x86_64");
}

/// Where the loop's code lies: from its start, to a little past its end.
pub(crate) fn four_instructions_addresses() -> (u64, u64) {
    let start = four_instructions as fn(u64) as usize as u64;
    (start, start + 64)
}

/// Mounts what programs expect: `/proc`, `/sys`, and `/dev` for its `null`.
pub(crate) fn mount_all() {
    mount(c"proc", c"/proc");
    mount(c"sysfs", c"/sys");
    mount(c"devtmpfs", c"/dev");
}

fn mount(kind: &CStr, at: &CStr) {
    // SAFETY: three C strings that outlive the call, no flags, no data.
    let answer =
        unsafe { libc::mount(kind.as_ptr(), at.as_ptr(), kind.as_ptr(), 0, std::ptr::null()) };
    if answer != 0 {
        println!("mount {kind:?} failed: {}", std::io::Error::last_os_error());
    }
}

/// Switches the machine off; for its first program only.
pub(crate) fn power_off() -> ! {
    // SAFETY: no pointers. Nothing is mounted that could lose data.
    unsafe {
        libc::sync();
        libc::reboot(libc::RB_POWER_OFF);
    }
    // The kernel does not come back; if it does, ending the first program stops the machine too.
    std::process::exit(1)
}

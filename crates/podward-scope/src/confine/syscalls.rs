//! System calls that reach other processes and that neither mounts nor Landlock hold back.
//!
//! Whoever may write the resource limits of a process can end it, and without a signal:
//! `prlimit64(2)` asks only for the same user. So a child sets its own limits and nobody else's.

use rustix::io::Errno;
use seccompiler::sock_filter;

use crate::confine::ruleset::Failure;

/// `AUDIT_ARCH_*` of <linux/audit.h> with the number of `prlimit64`: each machine's own and those
/// of the older one whose programs it runs.
const PRLIMIT: [(u32, u32); 5] = [
    (0xC000_003E, 302), // x86_64, also x32
    (0x4000_0003, 340), // i386
    (0xC000_00B7, 261), // aarch64
    (0x4000_0028, 369), // arm
    (0xC000_00F3, 261), // riscv64
];

/// Set in the number of an x32 call.
const X32: u32 = 0x4000_0000;

// Offsets in `struct seccomp_data` on a little-endian machine, as all of these are.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const PROCESS: u32 = 16;
const NEW_LIMIT: u32 = 32;
const NEW_LIMIT_HIGH: u32 = 36;

// <linux/bpf_common.h>
const LOAD: u16 = 0x20;
const AND: u16 = 0x54;
const JUMP_IF_EQUAL: u16 = 0x15;
const RETURN: u16 = 0x06;

// <linux/seccomp.h>
const ALLOW: u32 = 0x7FFF_0000;
const ERRNO: u32 = 0x0005_0000;

/// Instructions for one machine.
const N_EACH: u8 = 4;

/// Keeps the calling thread, and all it will start, from other processes' limits.
pub(crate) fn filter() -> Result<(), Failure> {
    seccompiler::apply_filter(&program()).map_err(|error| {
        Failure::Failed(format!(
            "the limits of other processes cannot be protected: {error}"
        ))
    })
}

fn program() -> Vec<sock_filter> {
    let refuse = ERRNO | Errno::PERM.raw_os_error().unsigned_abs();
    let mut program = vec![then(LOAD, ARCHITECTURE)];
    let mut n_left = u8::try_from(PRLIMIT.len()).unwrap_or(u8::MAX);
    for (architecture, number) in PRLIMIT {
        n_left -= 1;
        // Past the other machines' instructions: there any call is let through, and then this one
        // is looked at.
        let let_through = n_left * N_EACH;
        program.extend([
            if_equal(architecture, 0, N_EACH - 1),
            then(LOAD, NUMBER),
            then(AND, !X32),
            if_equal(number, let_through + 1, let_through),
        ]);
    }
    program.extend([
        then(RETURN, ALLOW),
        then(LOAD, PROCESS),
        if_equal(0, 5, 0),
        // Reading is free.
        then(LOAD, NEW_LIMIT),
        if_equal(0, 0, 2),
        then(LOAD, NEW_LIMIT_HIGH),
        if_equal(0, 1, 0),
        then(RETURN, refuse),
        then(RETURN, ALLOW),
    ]);
    program
}

const fn then(code: u16, k: u32) -> sock_filter {
    sock_filter {
        code,
        jt: 0,
        jf: 0,
        k,
    }
}

/// Jumps over `yes` instructions if the loaded value is `k`, else over `no`.
const fn if_equal(k: u32, yes: u8, no: u8) -> sock_filter {
    sock_filter {
        code: JUMP_IF_EQUAL,
        jt: yes,
        jf: no,
        k,
    }
}

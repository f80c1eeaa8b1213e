//! What `/proc` says about one process.

use std::io;

use super::MARK;

/// What does not change while a process has its parent, and whether it waits to be reaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProcessStat {
    /// Whether it has called [`super::adopt_orphans`].
    pub(super) is_marked: bool,
    pub(super) parent: i32,
    /// In hundredths of a second since the machine started.
    pub(super) start: u64,
}

pub(super) fn stat_of(pid: i32) -> io::Result<ProcessStat> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).or_else(|_| {
        std::fs::read(format!("/proc/{pid}/stat"))
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    })?;
    parse(&stat).ok_or_else(|| io::Error::other(format!("/proc/{pid}/stat is not understood")))
}

/// Fields 2, 4 and 22 of `proc_pid_stat(5)`. The name, in parentheses, is the process's own choice: what
/// follows begins at the last one.
fn parse(stat: &str) -> Option<ProcessStat> {
    let (before, fields) = stat.rsplit_once(')')?;
    let (_, name) = before.split_once('(')?;
    let mut fields = fields.split_ascii_whitespace().skip(1);
    Some(ProcessStat {
        is_marked: name == MARK,
        parent: fields.next()?.parse().ok()?,
        start: fields.nth(17)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests;

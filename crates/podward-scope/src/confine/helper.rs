//! The helper's `main`.

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use rustix::process::Pid;

use crate::confine::namespace;
use crate::confine::plan::{MARK, Plan, Restrict, Task};
use crate::confine::report::Report;
use crate::confine::ruleset::{Failure, restrict};
use crate::confine::supervise::supervise;
use crate::confine::syscalls;
use crate::harden::harden_process;
use crate::level::Subtraction;

/// Does a helper's work if this process was started as one; `None`: it was not.
///
/// Must be the first thing `main` does: no thread may have been started yet.
#[must_use]
pub fn confine_main(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut arguments = arguments.into_iter().skip(1);
    if arguments.next()? != MARK {
        return None;
    }
    close_inherited();
    let Ok(control) = rustix::stdio::stdin()
        .try_clone_to_owned()
        .map(UnixStream::from)
    else {
        return Some(ExitCode::FAILURE);
    };
    let report = match run(arguments, &control) {
        Ok(Some(report)) => report,
        Ok(None) => return Some(ExitCode::SUCCESS),
        Err(Failure::Unsupported(why)) => Report::Unsupported(why),
        Err(Failure::Failed(why)) => Report::Failed(why),
    };
    say(&control, &report);
    Some(ExitCode::SUCCESS)
}

/// Returns the last report, if one is due.
fn run(
    arguments: impl Iterator<Item = OsString>,
    control: &UnixStream,
) -> Result<Option<Report>, Failure> {
    let (plan, task) = Plan::from_arguments(arguments).map_err(Failure::Failed)?;
    // A session of its own: no terminal, and the terminal's signals are podward's alone.
    let _ = rustix::process::setsid();
    if plan.subtraction == Subtraction::Mounts {
        namespace::enter(&plan).map_err(Failure::Failed)?;
    }
    // Only now: what is not dumpable may not write its own user map.
    protect_process()?;
    let watched = control
        .try_clone()
        .map_err(|error| Failure::Failed(error.to_string()))?;
    let (abi, child) = start(&plan, &task)?;
    say(control, &Report::Ready { abi });
    // INVARIANT: from here on nothing returns before the child has ended.
    let (Some(child), Task::Run { grace, .. }) = (child, task) else {
        return Ok(None);
    };
    // Podward must see the end of the output when the child's own ends close.
    if let Ok(null) = std::fs::File::options().write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
    let pid = child.as_raw_pid().unsigned_abs();
    say(control, &Report::Started { pid });
    Ok(Some(supervise(child, watched, grace)))
}

/// Restricts a thread and lets it start the task: the helper itself stays outside, where the
/// child can neither signal nor trace it.
fn start(plan: &Plan, task: &Task) -> Result<(u32, Option<Pid>), Failure> {
    let work = || {
        let abi = match plan.restrict {
            Restrict::Landlock => {
                let abi = restrict(plan)?;
                syscalls::filter()?;
                abi
            }
            Restrict::Nothing => 0,
        };
        let child = match task {
            Task::Probe => None,
            Task::Run {
                program,
                arguments,
                directory,
                ..
            } => Some(spawn(program, arguments, directory)?),
        };
        Ok((abi, child))
    };
    std::thread::scope(|threads| threads.spawn(work).join())
        .unwrap_or_else(|_| Err(Failure::Failed("the restricted thread failed".to_owned())))
}

fn spawn(program: &Path, arguments: &[OsString], directory: &PathBuf) -> Result<Pid, Failure> {
    // By its full path, anew: the directory it had before may lead past the mounts.
    std::env::set_current_dir(directory).map_err(|error| {
        Failure::Failed(format!(
            "the directory `{}` cannot be entered: {error}",
            directory.display()
        ))
    })?;
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(|error| {
            Failure::Failed(format!("`{}` cannot be run: {error}", program.display()))
        })?;
    i32::try_from(child.id())
        .ok()
        .and_then(Pid::from_raw)
        .ok_or_else(|| Failure::Failed("the child has no process id".to_owned()))
}

fn protect_process() -> Result<(), Failure> {
    harden_process().map_err(|error| Failure::Failed(error.to_string()))?;
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|errno| Failure::Failed(format!("orphans cannot be adopted: {errno}")))
}

fn say(mut control: &UnixStream, report: &Report) {
    // If podward is gone there is nobody to tell, and the watched end says so too.
    let _ = writeln!(control, "{report}");
}

/// Closes what podward inherited itself and so could not keep from its children.
fn close_inherited() {
    let open: Vec<i32> = std::fs::read_dir("/proc/self/fd")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|number| *number > 2)
        .collect();
    for number in open {
        // One of them was the listing itself.
        let _ = nix::unistd::close(number);
    }
}

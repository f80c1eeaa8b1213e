//! Child processes: the same boundary, held by the kernel.
//!
//! A child is not started by podward but by a helper: this very program, started anew with a plan
//! in its arguments ([`confine_main`]). The helper is young and single-threaded, so it can make
//! namespaces of its own; it lays out the mounts, restricts a thread with Landlock, lets that
//! thread start the child, and then stays as the parent of whatever the child leaves behind. Its
//! standard input is a socket: on it the helper reports, and when podward closes its end, or
//! dies, the helper ends every process below it.

mod helper;
mod mountinfo;
mod namespace;
mod plan;
mod report;
mod ruleset;
mod supervise;
mod syscalls;
mod terminals;

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::decl::{Access, Shield};
use crate::error::{DenySource, ScopeError};
use crate::level::{Level, Means, Subtraction};
use crate::roots::{Denial, Roots};

pub use helper::confine_main;
use plan::{MARK, Plan, Reads, Task};
pub use report::{Ending, Report};

/// The first Landlock interface that keeps files outside from being emptied (Linux 6.2).
const ABI_TRUNCATE: u32 = 3;
/// The first Landlock interface that keeps signals inside (Linux 6.12).
const ABI_SIGNALS: u32 = 6;

/// The program that starts children: one whose `main` begins with [`confine_main`].
#[derive(Debug, Clone)]
pub struct Helper {
    program: PathBuf,
}

impl Helper {
    /// This very program, also when its file was replaced or removed since it started.
    #[must_use]
    pub fn this_program() -> Self {
        Self {
            program: PathBuf::from("/proc/self/exe"),
        }
    }
}

/// What to start as a confined child.
#[derive(Debug, Clone)]
pub struct Launch<'a> {
    /// The program; absolute.
    pub program: &'a Path,
    /// Its arguments, without its name.
    pub arguments: Vec<OsString>,
    /// Its working directory; absolute.
    pub directory: &'a Path,
    /// The time between SIGTERM and SIGKILL when it has to end.
    pub grace: Duration,
}

/// A child ready to be started.
///
/// Standard output, standard error and the environment (empty) are the caller's to set. Once the
/// command is spawned it must be dropped, for it holds the helper's end of the socket.
#[derive(Debug)]
pub struct Confined {
    /// Starts the helper, which starts the child.
    pub command: Command,
    /// Carries [`Report`]s, one a line. When it is shut down for writing, or closed, the helper
    /// ends the child and everything the child started.
    pub control: UnixStream,
}

/// How children are confined, and how well.
#[derive(Debug)]
pub(crate) struct Confinement {
    helper: Helper,
    plan: Plan,
    pub(crate) level: Level,
}

impl Confinement {
    /// Finds out, by trying, what the kernel enforces.
    pub(crate) fn probe(helper: &Helper, roots: &Roots) -> Result<Self, ScopeError> {
        let mut gaps = make_protected(roots);
        let mut plan = plan_for(roots, Subtraction::Mounts);
        let reached = match attempt(helper, &plan)? {
            Attempt::Failed(no_mounts) => {
                plan.subtraction = if plan.shields.is_empty() {
                    Subtraction::NotNeeded
                } else {
                    Subtraction::Entries
                };
                gaps.extend(plan.gaps());
                gaps.push(format!(
                    "modes, owners and times of the user's files outside the roots and memory \
                     that processes share (System V) can be changed, and services that take orders on a socket (systemd, docker, tmux) \
                     be asked to act: {no_mounts}"
                ));
                attempt(helper, &plan)?
            }
            reached => reached,
        };
        let level = match reached {
            Attempt::Reached { abi } => level(abi, plan.subtraction, gaps),
            Attempt::Unsupported(why) => {
                plan = Plan::unrestricted();
                Level::None { why }
            }
            Attempt::Failed(reason) => return Err(ScopeError::Confinement { reason }),
        };
        Ok(Self {
            helper: helper.clone(),
            plan,
            level,
        })
    }

    pub(crate) fn command(&self, launch: Launch<'_>) -> Result<Confined, ScopeError> {
        confined(
            &self.helper,
            &self.plan,
            &Task::Run {
                program: launch.program.to_owned(),
                arguments: launch.arguments,
                directory: launch.directory.to_owned(),
                grace: launch.grace,
            },
        )
    }
}

/// Makes what is podward's own where bash could make it; returns what stays unprotected.
fn make_protected(roots: &Roots) -> Vec<String> {
    let mut gaps = Vec::new();
    for denial in &roots.denials {
        let path = &denial.rule.path;
        let reach = match denial.rule.shield {
            Shield::ReadOnly => Access::Write,
            Shield::Hidden => Access::Read,
        };
        let is_within = within(roots, path, Access::Write);
        // Podward itself follows the link again, wherever it leads.
        if (is_within || denial.rule.source == DenySource::Podward)
            && let Some(link) = link_within(roots, denial)
        {
            gaps.push(format!(
                "`{}` is a symbolic link that can be replaced",
                link.display()
            ));
        }
        if !is_within {
            continue;
        }
        let made = match denial.rule.source {
            DenySource::Podward => std::fs::create_dir_all(path).or_else(|error| {
                // Where podward cannot make anything, its children cannot either.
                let read_only = error.kind() == std::io::ErrorKind::ReadOnlyFilesystem;
                if path.exists() || read_only {
                    Ok(())
                } else {
                    Err(error.to_string())
                }
            }),
            DenySource::Declared(_) if path.exists() => Ok(()),
            DenySource::Declared(_) => Err("it does not exist yet".to_owned()),
        };
        if let Err(reason) = made {
            gaps.push(format!("`{}` can be made: {reason}", path.display()));
        }
        if has_other_names(path) {
            gaps.push(format!(
                "`{}` has another name (hard link) under which it can be {}",
                path.display(),
                match reach {
                    Access::Read => "read and written",
                    Access::Write => "written",
                }
            ));
        }
    }
    gaps
}

fn within(roots: &Roots, path: &Path, access: Access) -> bool {
    roots
        .grants
        .iter()
        .any(|grant| grant.access >= access && path.starts_with(&grant.path))
}

/// The first symbolic link on the way to a denied path that a child could put something else at.
fn link_within(roots: &Roots, denial: &Denial) -> Option<PathBuf> {
    let mut way: Vec<_> = denial.named.ancestors().collect();
    way.reverse();
    way.into_iter()
        .find(|step| {
            step.is_symlink()
                && step
                    .parent()
                    .and_then(|parent| std::fs::canonicalize(parent).ok())
                    .is_some_and(|parent| {
                        within(roots, &parent, Access::Write) && !is_shielded(roots, &parent)
                    })
        })
        .map(Path::to_owned)
}

/// Whether nothing can be put into a directory although a root that may be written holds it.
fn is_shielded(roots: &Roots, directory: &Path) -> bool {
    let mut denials = roots.denials.iter();
    denials.any(|denial| directory.starts_with(&denial.rule.path))
}

fn has_other_names(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.nlink() > 1)
}

fn plan_for(roots: &Roots, subtraction: Subtraction) -> Plan {
    let granted = |access: Access| {
        let mut paths: Vec<_> = roots
            .grants
            .iter()
            .filter(|grant| grant.access >= access)
            .filter(|grant| {
                // A denied root grants nothing.
                !roots.denials.iter().any(|denial| {
                    denial.rule.shield.leaves() < Some(access)
                        && grant.path.starts_with(&denial.rule.path)
                })
            })
            .map(|grant| grant.path.clone())
            .collect();
        paths.sort();
        paths.dedup();
        // A root below another one adds nothing.
        let all = paths.clone();
        paths.retain(|path| {
            !all.iter()
                .any(|other| path != other && path.starts_with(other))
        });
        paths
    };
    let reads = granted(Access::Read);
    let reads = if reads.iter().any(|path| path == Path::new("/")) {
        Reads::Everything
    } else {
        Reads::Only(reads)
    };
    let mut shields: Vec<_> = roots
        .denials
        .iter()
        .filter(|denial| match denial.rule.shield {
            Shield::ReadOnly => within(roots, &denial.rule.path, Access::Write),
            // What a child reads beyond the declared roots (programs, libraries) counts too.
            Shield::Hidden => true,
        })
        .map(|denial| (denial.rule.path.clone(), denial.rule.shield))
        .collect();
    let writes = granted(Access::Write);
    // Who declares that devices may be written gets them.
    let is_open = |path: &PathBuf| writes.iter().any(|root| path.starts_with(root));
    let terminals = terminals::all().filter(|terminal| !is_open(terminal));
    shields.extend(terminals.map(|terminal| (terminal, Shield::Hidden)));
    shields.sort();
    shields.dedup();
    Plan {
        writes,
        reads,
        shields,
        subtraction,
        restrict: plan::Restrict::Landlock,
    }
}

fn level(abi: u32, subtraction: Subtraction, mut gaps: Vec<String>) -> Level {
    let mut remarks = Vec::new();
    if abi < ABI_TRUNCATE {
        gaps.push(format!(
            "files outside the roots can be emptied (Landlock {abi}; needs Linux 6.2)"
        ));
    }
    if abi < ABI_SIGNALS {
        remarks.push(format!(
            "processes outside can be signalled (Landlock {abi}; needs Linux 6.12)"
        ));
    }
    let means = Means {
        landlock_abi: abi,
        subtraction,
    };
    if gaps.is_empty() {
        Level::Kernel { means, remarks }
    } else {
        Level::Partial {
            means,
            gaps,
            remarks,
        }
    }
}

enum Attempt {
    Reached { abi: u32 },
    Unsupported(String),
    Failed(String),
}

fn attempt(helper: &Helper, plan: &Plan) -> Result<Attempt, ScopeError> {
    let failed = |reason: String| ScopeError::Confinement { reason };
    let mut confined = confined(helper, plan, &Task::Probe)?;
    let mut child = confined
        .command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| failed(format!("the helper does not start: {error}")))?;
    drop(confined.command);
    let mut line = String::new();
    let read = BufReader::new(&confined.control).read_line(&mut line);
    drop(confined.control);
    let ended = child.wait();
    read.map_err(|error| failed(format!("the helper cannot be heard: {error}")))?;
    match Report::parse(&line) {
        Some(Report::Ready { abi }) => Ok(Attempt::Reached { abi }),
        Some(Report::Unsupported(why)) => Ok(Attempt::Unsupported(why)),
        Some(Report::Failed(why)) => Ok(Attempt::Failed(why)),
        Some(Report::Started { .. } | Report::Ended { .. }) | None => {
            let how = ended.map_or_else(|error| error.to_string(), |status| status.to_string());
            Err(failed(format!("the helper said nothing ({how})")))
        }
    }
}

fn confined(helper: &Helper, plan: &Plan, task: &Task) -> Result<Confined, ScopeError> {
    let (control, theirs) = UnixStream::pair().map_err(|error| ScopeError::Confinement {
        reason: format!("no socket for the helper: {error}"),
    })?;
    let mut command = Command::new(&helper.program);
    command
        .arg0("podward")
        .arg(MARK)
        .args(plan.to_arguments(task))
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::from(OwnedFd::from(theirs)));
    Ok(Confined { command, control })
}

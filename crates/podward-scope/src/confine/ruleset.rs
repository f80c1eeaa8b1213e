//! The Landlock rules of a plan, and the powers of root that would get round them.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, LandlockStatus, PathBeneath, RestrictionStatus, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};
use rustix::thread::CapabilitySet;

use crate::confine::namespace::SHARED_MEMORY;
use crate::confine::plan::{Plan, Reads};
use crate::confine::terminals::{PSEUDO, PSEUDO_OPENER};
use crate::decl::Shield;
use crate::level::Subtraction;
use crate::walk::open_physical;

/// The interface whose rights are asked for; what an older kernel lacks is left out and shown.
const KNOWN: ABI = ABI::V7;

/// Devices that hold nothing.
const DEVICES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];

/// What programs need to read to run at all, where reading is restricted.
const SYSTEM: [&str; 13] = [
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu",
    "/proc", "/sys",
];

/// Why nothing was restricted.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The kernel has no Landlock.
    Unsupported(String),
    /// Something else.
    Failed(String),
}

/// Restricts the calling thread and all it will start; returns the interface's version.
pub(crate) fn restrict(plan: &Plan) -> Result<u32, Failure> {
    drop_capabilities();
    let handled = handled(plan);
    let ruleset = Ruleset::default()
        .handle_access(handled)
        .and_then(|ruleset| ruleset.scope(Scope::from_all(KNOWN)))
        .and_then(Ruleset::create)
        .map_err(failed)?;
    let ruleset = add_rules(ruleset, plan, handled)?;
    let RestrictionStatus {
        landlock,
        no_new_privs,
        ..
    } = ruleset.restrict_self().map_err(failed)?;
    match landlock {
        LandlockStatus::NotImplemented => Err(Failure::Unsupported(
            "the kernel has no Landlock (it needs Linux 5.13)".to_owned(),
        )),
        LandlockStatus::NotEnabled => Err(Failure::Unsupported(
            "Landlock is switched off (the kernel's `lsm=` parameter)".to_owned(),
        )),
        LandlockStatus::Available { .. } if !no_new_privs => {
            Err(Failure::Failed("privileges can still be gained".to_owned()))
        }
        LandlockStatus::Available { effective_abi, .. } => Ok(effective_abi as u32),
    }
}

/// Root keeps what it needs for work on files, not what reaches round mounts and Landlock.
fn drop_capabilities() {
    // Not named by `rustix`: PERFMON, BPF, CHECKPOINT_RESTORE.
    let unnamed = (38..=40).map(|number| CapabilitySet::from_bits_retain(1 << number));
    let named = [
        CapabilitySet::DAC_READ_SEARCH,
        CapabilitySet::LINUX_IMMUTABLE,
        CapabilitySet::SYS_MODULE,
        CapabilitySet::SYS_RAWIO,
        CapabilitySet::SYS_PTRACE,
        CapabilitySet::SYS_ADMIN,
        CapabilitySet::SYS_BOOT,
        CapabilitySet::MKNOD,
        CapabilitySet::MAC_OVERRIDE,
        CapabilitySet::MAC_ADMIN,
        CapabilitySet::SYSLOG,
    ];
    for capability in named.into_iter().chain(unnamed) {
        // Fails for all who do not have it.
        let _ = rustix::thread::remove_capability_from_bounding_set(capability);
    }
    let _ = rustix::thread::clear_ambient_capability_set();
}

fn reads_restricted(plan: &Plan) -> bool {
    // Mounts hide better: without them, what is hidden is left out of what may be read.
    let left_out = plan.subtraction == Subtraction::Entries
        && plan
            .shields
            .iter()
            .any(|(_, shield)| *shield == Shield::Hidden);
    left_out || matches!(plan.reads, Reads::Only(_))
}

fn handled(plan: &Plan) -> BitFlags<AccessFs> {
    if reads_restricted(plan) {
        AccessFs::from_all(KNOWN)
    } else {
        AccessFs::from_write(KNOWN)
    }
}

fn add_rules(
    mut ruleset: RulesetCreated,
    plan: &Plan,
    handled: BitFlags<AccessFs>,
) -> Result<RulesetCreated, Failure> {
    let (all, read) = (AccessFs::from_all(KNOWN), AccessFs::from_read(KNOWN));
    for root in &plan.writes {
        if plan.subtraction != Subtraction::Entries {
            ruleset = allow(ruleset, root, all & handled)?;
            continue;
        }
        open_unchanged(root)?;
        for entry in entries(root, plan, Purpose::Write) {
            ruleset = allow(ruleset, &entry, all & handled)?;
        }
    }
    if plan.subtraction == Subtraction::Mounts {
        // What is mounted there is the child's own, or hides what is not.
        for own in [SHARED_MEMORY, PSEUDO, PSEUDO_OPENER] {
            ruleset = allow_if_there(ruleset, Path::new(own), all & handled)?;
        }
    }
    for device in DEVICES {
        ruleset = allow_if_there(ruleset, Path::new(device), all & handled)?;
    }
    if !reads_restricted(plan) {
        return Ok(ruleset);
    }
    let readable: Vec<PathBuf> = match &plan.reads {
        Reads::Everything => vec![PathBuf::from("/")],
        Reads::Only(roots) => {
            // Where `/bin` is a link, what it leads to counts.
            let system = SYSTEM
                .iter()
                .filter_map(|path| std::fs::canonicalize(path).ok());
            roots.iter().cloned().chain(system).collect()
        }
    };
    for root in readable {
        if plan.subtraction != Subtraction::Entries {
            ruleset = allow_if_there(ruleset, &root, read)?;
            continue;
        }
        // A right over a directory is a right over everything below it: names can be listed.
        ruleset = allow_if_there(ruleset, &root, AccessFs::ReadDir.into())?;
        for entry in entries(&root, plan, Purpose::Read) {
            ruleset = allow_if_there(ruleset, &entry, read)?;
        }
    }
    Ok(ruleset)
}

/// Allows `access` at a path that must be there.
fn allow(
    ruleset: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, Failure> {
    ruleset
        .add_rule(PathBeneath::new(open_unchanged(path)?, access))
        .map_err(failed)
}

/// Opens a path that must be there, and in which nothing has become a link.
fn open_unchanged(path: &Path) -> Result<OwnedFd, Failure> {
    open_physical(path).map_err(|errno| {
        let why = std::io::Error::from(errno);
        Failure::Failed(format!(
            "`{}` is no longer what it was: {why}",
            path.display()
        ))
    })
}

fn allow_if_there(
    ruleset: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, Failure> {
    match open_physical(path) {
        Ok(fd) => ruleset
            .add_rule(PathBeneath::new(fd, access))
            .map_err(failed),
        Err(_) => Ok(ruleset),
    }
}

fn failed(error: RulesetError) -> Failure {
    Failure::Failed(format!("Landlock: {error}"))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Read,
    Write,
}

/// What to grant in place of `root`, so that no shielded path is granted with it.
fn entries(root: &Path, plan: &Plan, purpose: Purpose) -> Vec<PathBuf> {
    let shielded = |path: &Path| {
        plan.shields.iter().any(|(shielded, shield)| {
            shielded == path && (purpose == Purpose::Write || *shield == Shield::Hidden)
        })
    };
    let holds_shielded = |path: &Path| {
        plan.shields.iter().any(|(shielded, shield)| {
            shielded != path
                && shielded.starts_with(path)
                && (purpose == Purpose::Write || *shield == Shield::Hidden)
        })
    };
    let mut granted = Vec::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(path) = waiting.pop() {
        if shielded(&path) || path.is_symlink() {
            continue;
        }
        if !holds_shielded(&path) {
            granted.push(path);
            continue;
        }
        // What cannot be listed grants nothing.
        for entry in std::fs::read_dir(&path).into_iter().flatten().flatten() {
            waiting.push(entry.path());
        }
    }
    granted.sort();
    granted
}

#[cfg(test)]
mod tests;

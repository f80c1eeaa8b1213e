//! The declared roots, resolved: which rights hold at a place.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::decl::{Access, Protected, Root, ScopeDecl, Shield};
use crate::error::{DenyRule, DenySource, ScopeError};

/// Which file it is, under whatever name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    pub(crate) fn of(stat: &Stat) -> Self {
        Self {
            device: stat.st_dev,
            inode: stat.st_ino,
        }
    }
}

/// The declared roots, resolved.
#[derive(Debug)]
pub(crate) struct Roots {
    pub(crate) grants: Vec<Grant>,
    pub(crate) denials: Vec<Denial>,
}

/// A root that gives a right.
#[derive(Debug)]
pub(crate) struct Grant {
    /// Absolute, without symbolic links.
    pub(crate) path: PathBuf,
    pub(crate) access: Access,
}

/// A root that takes a right away.
///
/// It holds for the path, whatever comes to stand there, and for the file that stood there when
/// the pod started, wherever it is moved.
#[derive(Debug)]
pub(crate) struct Denial {
    /// Its path is absolute and without symbolic links.
    pub(crate) rule: DenyRule,
    /// The path as it was named, absolute.
    pub(crate) named: PathBuf,
    identity: Option<Identity>,
    /// Keeps the file's identity from being given to another file.
    _held: Option<OwnedFd>,
}

/// What the roots say of one place: made while walking there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Standing {
    granted: Option<Access>,
    /// An index of [`Roots::denials`].
    denial: Option<usize>,
}

impl Roots {
    /// `within`: nothing else is granted, whatever is declared, but for the temporary directory.
    pub(crate) fn resolve(
        decl: &ScopeDecl,
        within: Option<&[Root]>,
        workspace: &Path,
        temp: &Path,
        protected: &[Protected],
    ) -> Result<Self, ScopeError> {
        let mut declared = decl.allow.clone();
        if declared.is_empty() {
            declared.push(Root::read("/"));
            declared.push(Root::write(workspace));
        }
        let grants_of = |roots: &[Root]| {
            let grants = roots.iter().map(|root| grant(root, workspace));
            grants.collect::<Result<Vec<_>, _>>()
        };
        let mut grants = grants_of(&declared)?;
        if let Some(within) = within {
            grants = of_both(&grants, &grants_of(within)?);
        }
        grants.push(grant(&Root::write(temp), workspace)?);
        let denied = decl.deny.iter().map(|root| {
            let shield = match root.access {
                Access::Read => Shield::Hidden,
                Access::Write => Shield::ReadOnly,
            };
            let source = DenySource::Declared(root.declared.clone());
            denial(&workspace.join(&root.path), shield, source)
        });
        let own = protected.iter().map(|protected| {
            let path = workspace.join(&protected.path);
            denial(&path, protected.shield, DenySource::Podward)
        });
        let denials = denied.chain(own).collect::<Result<Vec<_>, _>>()?;
        let roots = Self { grants, denials };
        roots.check_temp(temp)?;
        Ok(roots)
    }

    /// A session that cannot use its temporary directory would fail at every turn.
    fn check_temp(&self, temp: &Path) -> Result<(), ScopeError> {
        let Some(grant) = self.grants.last() else {
            return Ok(());
        };
        match self
            .denials
            .iter()
            .find(|denial| grant.path.starts_with(&denial.rule.path))
        {
            Some(denial) => {
                let reason = format!("{}, and so the session's temporary directory", denial.rule);
                Err(unusable(temp, None, reason))
            }
            None => Ok(()),
        }
    }

    /// What holds at `physical`, one name below a place where `above` holds.
    pub(crate) fn enter(
        &self,
        above: Standing,
        physical: &Path,
        identity: Option<Identity>,
    ) -> Standing {
        let granted = self
            .grants
            .iter()
            .filter(|grant| grant.path == physical)
            .map(|grant| grant.access)
            .max();
        let here = self.denials.iter().enumerate().filter(|(_, denial)| {
            denial.rule.path == physical || (identity.is_some() && denial.identity == identity)
        });
        let denial = here
            .map(|(idx, _)| idx)
            .chain(above.denial)
            .max_by_key(|idx| self.denial(*idx).map(|denial| denial.rule.shield));
        Standing {
            granted: above.granted.max(granted),
            denial,
        }
    }

    /// Whether a walk may go on: not through what is hidden.
    pub(crate) fn check_passing(&self, standing: Standing, path: &Path) -> Result<(), ScopeError> {
        self.check_denials(standing, Access::Read, path)
    }

    /// Whether `wanted` holds.
    pub(crate) fn check(
        &self,
        standing: Standing,
        wanted: Access,
        path: &Path,
    ) -> Result<(), ScopeError> {
        self.check_denials(standing, wanted, path)?;
        if standing.granted >= Some(wanted) {
            return Ok(());
        }
        let roots: BTreeSet<_> = self
            .grants
            .iter()
            .filter(|grant| grant.access >= wanted)
            .map(|grant| grant.path.clone())
            .collect();
        Err(ScopeError::Outside {
            path: path.to_owned(),
            wanted,
            roots: roots.into_iter().collect(),
        })
    }

    fn check_denials(
        &self,
        standing: Standing,
        wanted: Access,
        path: &Path,
    ) -> Result<(), ScopeError> {
        match standing.denial.and_then(|idx| self.denial(idx)) {
            Some(denial) if denial.rule.shield.leaves() < Some(wanted) => Err(ScopeError::Denied {
                path: path.to_owned(),
                wanted,
                rule: denial.rule.clone(),
            }),
            Some(_) | None => Ok(()),
        }
    }

    fn denial(&self, idx: usize) -> Option<&Denial> {
        self.denials.get(idx)
    }
}

/// What both give: of two roots, one of which holds the other, the inner one with the lesser right.
fn of_both(ones: &[Grant], others: &[Grant]) -> Vec<Grant> {
    let pairs = ones
        .iter()
        .flat_map(|one| others.iter().map(move |other| (one, other)));
    let both = pairs.filter_map(|(one, other)| {
        let inner = if one.path.starts_with(&other.path) {
            one
        } else if other.path.starts_with(&one.path) {
            other
        } else {
            return None;
        };
        Some(Grant {
            path: inner.path.clone(),
            access: one.access.min(other.access),
        })
    });
    let mut all: Vec<Grant> = Vec::new();
    for grant in both {
        match all.iter_mut().find(|known| known.path == grant.path) {
            Some(known) => known.access = known.access.max(grant.access),
            None => all.push(grant),
        }
    }
    all
}

fn grant(root: &Root, workspace: &Path) -> Result<Grant, ScopeError> {
    let named = workspace.join(&root.path);
    let unusable = |reason: String| unusable(&named, root.declared.clone(), reason);
    let path = std::fs::canonicalize(&named).map_err(|error| unusable(error.to_string()))?;
    if !path.is_dir() {
        return Err(unusable("it is not a directory".to_owned()));
    }
    Ok(Grant {
        path,
        access: root.access,
    })
}

fn denial(named: &Path, shield: Shield, source: DenySource) -> Result<Denial, ScopeError> {
    let declared = match &source {
        DenySource::Declared(declared) => declared.clone(),
        DenySource::Podward => None,
    };
    let path = physical(named).map_err(|reason| unusable(named, declared.clone(), reason))?;
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = match rustix::fs::open(&path, flags, Mode::empty()) {
        Ok(fd) => {
            let stat = rustix::fs::fstat(&fd)
                .map_err(|errno| unusable(named, declared, errno.to_string()))?;
            Some((Identity::of(&stat), fd))
        }
        // What cannot be looked at is known by its path alone.
        Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => None,
        Err(errno) => return Err(unusable(named, declared, errno.to_string())),
    };
    let (identity, held) = opened.unzip();
    Ok(Denial {
        rule: DenyRule {
            path,
            shield,
            source,
        },
        named: named.to_owned(),
        identity,
        _held: held,
    })
}

/// The path without symbolic links; where a part does not exist or cannot be looked at, the part
/// before it.
fn physical(named: &Path) -> Result<PathBuf, String> {
    let mut missing: Vec<OsString> = Vec::new();
    let mut existing = named;
    loop {
        match std::fs::canonicalize(existing) {
            Ok(mut path) => {
                path.extend(missing.into_iter().rev());
                return Ok(path);
            }
            Err(error)
                if matches!(
                    error.kind(),
                    std::io::ErrorKind::NotFound
                        | std::io::ErrorKind::NotADirectory
                        | std::io::ErrorKind::PermissionDenied
                ) => {}
            Err(error) => return Err(error.to_string()),
        }
        if existing.is_symlink() {
            return Err("it is a symbolic link that leads nowhere".to_owned());
        }
        match (existing.components().next_back(), existing.parent()) {
            (Some(Component::Normal(name)), Some(parent)) => {
                missing.push(name.to_owned());
                existing = parent;
            }
            _ => return Err("it goes up from a directory that does not exist".to_owned()),
        }
    }
}

fn unusable(path: &Path, declared: Option<Arc<str>>, reason: String) -> ScopeError {
    ScopeError::UnusableRoot {
        path: path.to_owned(),
        declared,
        reason,
    }
}

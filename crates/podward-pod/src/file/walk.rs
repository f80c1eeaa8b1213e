//! The way from the root to a file, symlinks followed one by one.

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use super::{FileError, FileErrorKind};

/// As many symlinks as the kernel follows.
const MAX_LINKS: usize = 40;

/// What lies on the way to a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Way {
    /// The file itself, no symlink on the way to it.
    pub(super) target: PathBuf,
    /// Every directory gone through, without repetition.
    pub(super) directories: Vec<PathBuf>,
    /// Every symlink followed.
    pub(super) links: Vec<Link>,
}

/// A symlink.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) path: PathBuf,
    pub(super) owner: u32,
}

/// A part of the way that is still to be gone.
struct Step {
    name: OsString,
    /// The symlink whose target this part belongs to.
    link: Option<PathBuf>,
}

/// Finds the way to a file; `None` if there is no such file.
pub(super) fn walk(path: &Path) -> Result<Option<Way>, FileError> {
    let path = std::path::absolute(path).map_err(|error| FileError::unreadable(path, error))?;
    let mut way = Way {
        target: PathBuf::from("/"),
        directories: vec![PathBuf::from("/")],
        links: Vec::new(),
    };
    let mut steps = Vec::new();
    push_steps(&mut steps, &path, None);
    while let Some(step) = steps.pop() {
        if step.name == ".." {
            // INVARIANT: `target` holds no symlink, so its parent is where `..` leads.
            way.target.pop();
            continue;
        }
        let next = way.target.join(&step.name);
        let metadata = match next.symlink_metadata() {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return step.link.map_or(Ok(None), |link| {
                    Err(FileError::new(&link, FileErrorKind::DanglingLink))
                });
            }
            Err(error) => return Err(FileError::unreadable(&next, error)),
        };
        if metadata.is_symlink() {
            if way.links.len() == MAX_LINKS {
                return Err(FileError::new(&next, FileErrorKind::LinkLoop));
            }
            follow(&mut way, &mut steps, next, metadata.uid())?;
            continue;
        }
        if metadata.is_dir() {
            if !steps.is_empty() && !way.directories.contains(&next) {
                way.directories.push(next.clone());
            }
        } else if !steps.is_empty() {
            return Err(FileError::unreadable(&next, io::ErrorKind::NotADirectory));
        }
        way.target = next;
    }
    Ok(Some(way))
}

fn follow(
    way: &mut Way,
    steps: &mut Vec<Step>,
    path: PathBuf,
    owner: u32,
) -> Result<(), FileError> {
    let to = path
        .read_link()
        .map_err(|error| FileError::unreadable(&path, error))?;
    if to.is_absolute() {
        way.target = PathBuf::from("/");
    }
    push_steps(steps, &to, Some(&path));
    way.links.push(Link { path, owner });
    Ok(())
}

fn push_steps(steps: &mut Vec<Step>, path: &Path, link: Option<&Path>) {
    for component in path.components().rev() {
        let name = match component {
            Component::Normal(name) => name.into(),
            Component::ParentDir => "..".into(),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => continue,
        };
        steps.push(Step {
            name,
            link: link.map(Path::to_path_buf),
        });
    }
}

//! Names as the kernel knows them: bytes, which need not be text.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bytes that are written as text where they are text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(Vec<u8>);

impl Bytes {
    pub(crate) fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(&self.0))
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Raw(Vec<u8>),
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match String::from_utf8(self.0.clone()) {
            Ok(text) => Written::Text(text),
            Err(_) => Written::Raw(self.0.clone()),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Written::deserialize(deserializer)? {
            Written::Text(text) => Self(text.into_bytes()),
            Written::Raw(bytes) => Self(bytes),
        })
    }
}

/// A path below the workspace: names joined by `/`, none of which is empty, `.` or `..`.
///
/// The order is that of the names, so a directory comes before what it holds, and all of that
/// before anything else.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct TreePath(Bytes);

impl TreePath {
    /// Checks a path.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let is_name =
            |name: &[u8]| !name.is_empty() && name != b"." && name != b".." && !name.contains(&0);
        bytes
            .split(|byte| *byte == b'/')
            .all(is_name)
            .then(|| Self(Bytes::new(bytes)))
    }

    /// The path of `path` below `root`; `None` if it is not below, or not normalised.
    #[must_use]
    pub fn below(root: &Path, path: &Path) -> Option<Self> {
        Self::new(path.strip_prefix(root).ok()?.as_os_str().as_bytes())
    }

    /// The name in a directory; `None` is the workspace itself.
    pub(crate) fn child(directory: Option<&Self>, name: &[u8]) -> Self {
        let mut bytes = directory.map_or_else(Vec::new, |directory| {
            let mut bytes = directory.as_bytes().to_vec();
            bytes.push(b'/');
            bytes
        });
        bytes.extend_from_slice(name);
        Self(Bytes(bytes))
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0.0
    }

    /// The directory that holds it; `None` is the workspace itself.
    pub(crate) fn parent(&self) -> Option<Self> {
        let at = self.as_bytes().iter().rposition(|byte| *byte == b'/')?;
        self.as_bytes()
            .get(..at)
            .map(|bytes| Self(Bytes::new(bytes)))
    }

    /// The directories above it, the nearest one first, the workspace left out.
    pub(crate) fn ancestors(&self) -> impl Iterator<Item = Self> {
        std::iter::successors(self.parent(), Self::parent)
    }

    /// Its name.
    pub(crate) fn name(&self) -> &OsStr {
        OsStr::from_bytes(self.names().next_back().unwrap_or_default())
    }

    /// Its names, outermost first.
    pub(crate) fn names(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        self.as_bytes().split(|byte| *byte == b'/')
    }

    /// Whether it is `other` or lies below it.
    pub(crate) fn is_in(&self, other: &Self) -> bool {
        self.as_bytes()
            .strip_prefix(other.as_bytes())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    }

    pub(crate) fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(self.as_bytes()))
    }
}

impl Ord for TreePath {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        // `/` sorts before every other byte, so that nothing comes between a directory and what
        // it holds.
        let key = |byte: &u8| if *byte == b'/' { 0 } else { *byte };
        self.as_bytes()
            .iter()
            .map(key)
            .cmp(other.as_bytes().iter().map(key))
    }
}

impl PartialOrd for TreePath {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(self.as_bytes()))
    }
}

impl fmt::Debug for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for TreePath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for TreePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = Bytes::deserialize(deserializer)?;
        Self::new(bytes.as_bytes())
            .ok_or_else(|| serde::de::Error::custom("it is no path below a workspace"))
    }
}

#[cfg(test)]
mod tests;

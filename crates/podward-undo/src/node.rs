//! What stands under one name.

use std::fmt;
use std::str::FromStr;

use rustix::fs::{FileType, Stat};
use serde::{Deserialize, Serialize};

use crate::bytes::Bytes;

/// The SHA-256 of a file's content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest([u8; 32]);

impl Digest {
    pub(crate) const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub(crate) const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}

impl FromStr for Digest {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = "it is no SHA-256 in hexadecimal";
        if text.len() != 64 || !text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(bad);
        }
        let mut bytes = [0; 32];
        for (at, byte) in bytes.iter_mut().enumerate() {
            let pair = text.get(2 * at..2 * at + 2).ok_or(bad)?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| bad)?;
        }
        Ok(Self(bytes))
    }
}

impl TryFrom<String> for Digest {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

/// Who may do what with a file or directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rights {
    /// The permission bits, set-id and sticky bits included.
    pub mode: u32,
    /// The owner.
    pub uid: u32,
    /// The group.
    pub gid: u32,
}

impl Rights {
    pub(crate) fn of(stat: &Stat) -> Self {
        Self {
            mode: stat.st_mode & 0o7777,
            uid: stat.st_uid,
            gid: stat.st_gid,
        }
    }
}

/// What stands under one name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Node {
    /// A file whose content is in the store, or was known when it was looked at.
    File {
        /// Its content.
        digest: Digest,
        /// Bytes.
        len: u64,
        /// Its rights.
        rights: Rights,
    },
    /// A directory.
    Directory {
        /// Its rights.
        rights: Rights,
    },
    /// A symbolic link.
    Link {
        /// What it holds.
        target: Bytes,
    },
    /// Something whose content was not kept.
    Unkept {
        /// Why not.
        why: Unkept,
        /// What it was.
        what: What,
        /// Which one it was, so that a change shows.
        mark: Mark,
    },
}

/// What an unkept name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A pipe, a socket or a device.
    Special,
}

/// Why something was not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unkept {
    /// It is larger than `max_file`.
    TooLarge,
    /// The store has reached `max_size`.
    NoRoom,
    /// It lies in a directory that git ignores, and these have used up their share.
    Derived,
    /// It cannot be read.
    Unreadable,
    /// There are more files than are looked at.
    TooMany,
    /// It is a pipe, a socket or a device.
    Special,
    /// Another file system is mounted there.
    OtherMount,
}

impl Unkept {
    /// All of them, in the order of their numbers in a snapshot.
    pub(crate) const ALL: [Self; 7] = [
        Self::TooLarge,
        Self::NoRoom,
        Self::Derived,
        Self::Unreadable,
        Self::TooMany,
        Self::Special,
        Self::OtherMount,
    ];

    /// The reason in a few words.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::TooLarge => "larger than `max_file`",
            Self::NoRoom => "no room within `max_size`",
            Self::Derived => "in a directory that git ignores, beyond the share of these",
            Self::Unreadable => "it cannot be read",
            Self::TooMany => "too many files",
            Self::Special => "a pipe, a socket or a device",
            Self::OtherMount => "another file system is mounted there",
        }
    }
}

/// Which file it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// The inode.
    pub inode: u64,
    /// Bytes; 0 for what is no file.
    pub len: u64,
    /// The time of the last change of its content, in nanoseconds; 0 for what is no file.
    pub modified: i64,
    /// Its rights.
    pub rights: Rights,
}

impl Node {
    pub(crate) fn unkept(why: Unkept, stat: &Stat) -> Self {
        let what = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => What::File,
            FileType::Directory => What::Directory,
            // Symbolic links are always kept.
            _ => What::Special,
        };
        let is_file = what == What::File;
        Self::Unkept {
            why,
            what,
            mark: Mark {
                inode: stat.st_ino,
                len: if is_file { len_of(stat) } else { 0 },
                modified: if is_file { modified_of(stat) } else { 0 },
                rights: Rights::of(stat),
            },
        }
    }

    /// Whether it is a directory.
    #[must_use]
    pub const fn is_directory(&self) -> bool {
        matches!(
            self,
            Self::Directory { .. }
                | Self::Unkept {
                    what: What::Directory,
                    ..
                }
        )
    }

    /// Whether both stand for the same thing, for whatever reason one of them was not kept.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Unkept { what, mark, .. },
                Self::Unkept {
                    what: other_what,
                    mark: other_mark,
                    ..
                },
            ) => what == other_what && mark == other_mark,
            _ => self == other,
        }
    }

    /// The content, if it is in the store.
    pub(crate) const fn object(&self) -> Option<(Digest, u64)> {
        match self {
            Self::File { digest, len, .. } => Some((*digest, *len)),
            Self::Directory { .. } | Self::Link { .. } | Self::Unkept { .. } => None,
        }
    }

    /// Bytes of a file.
    #[must_use]
    pub const fn size(&self) -> Option<u64> {
        match self {
            Self::File { len, .. } => Some(*len),
            Self::Unkept {
                what: What::File,
                mark,
                ..
            } => Some(mark.len),
            Self::Directory { .. } | Self::Link { .. } | Self::Unkept { .. } => None,
        }
    }
}

pub(crate) fn len_of(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

pub(crate) fn modified_of(stat: &Stat) -> i64 {
    nanoseconds(
        stat.st_mtime,
        i64::try_from(stat.st_mtime_nsec).unwrap_or(0),
    )
}

pub(crate) fn changed_of(stat: &Stat) -> i64 {
    nanoseconds(
        stat.st_ctime,
        i64::try_from(stat.st_ctime_nsec).unwrap_or(0),
    )
}

pub(crate) fn nanoseconds(seconds: i64, nanoseconds: i64) -> i64 {
    seconds
        .saturating_mul(1_000_000_000)
        .saturating_add(nanoseconds)
}

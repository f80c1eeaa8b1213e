//! A snapshot as bytes: written whole, checked by its digest.

use crate::bytes::{Bytes, TreePath};
use crate::node::{Digest, Mark, Node, Rights, Unkept, What};
use crate::objects::digest_of;
use crate::snapshot::{Item, Snapshot, Stamp};

/// What a snapshot begins with; the number is that of the format.
const MAGIC: &[u8] = b"podward snapshot 1\n";

const WHAT: [What; 3] = [What::File, What::Directory, What::Special];

/// The bytes of a snapshot.
pub(crate) fn encode(snapshot: &Snapshot) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    for (path, item) in &snapshot.items {
        text(&mut out, path.as_bytes());
        match &item.node {
            Node::File {
                digest,
                len,
                rights,
            } => {
                out.push(0);
                out.extend_from_slice(digest.as_bytes());
                out.extend_from_slice(&len.to_le_bytes());
                put_rights(&mut out, rights);
            }
            Node::Directory { rights } => {
                out.push(1);
                put_rights(&mut out, rights);
            }
            Node::Link { target } => {
                out.push(2);
                text(&mut out, target.as_bytes());
            }
            Node::Unkept { why, what, mark } => {
                out.push(3);
                out.push(number(&Unkept::ALL, why));
                out.push(number(&WHAT, what));
                out.extend_from_slice(&mark.inode.to_le_bytes());
                out.extend_from_slice(&mark.len.to_le_bytes());
                out.extend_from_slice(&mark.modified.to_le_bytes());
                put_rights(&mut out, &mark.rights);
            }
        }
        match &item.stamp {
            Some(stamp) => {
                out.push(1);
                out.extend_from_slice(&stamp.inode.to_le_bytes());
                out.extend_from_slice(&stamp.len.to_le_bytes());
                out.extend_from_slice(&stamp.modified.to_le_bytes());
                out.extend_from_slice(&stamp.changed.to_le_bytes());
                out.extend_from_slice(&stamp.read.to_le_bytes());
            }
            None => out.push(0),
        }
    }
    let digest = digest_of(&out);
    out.extend_from_slice(digest.as_bytes());
    out
}

fn text(out: &mut Vec<u8>, bytes: &[u8]) {
    // A name has at most some thousand bytes.
    let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    out.extend_from_slice(&len.to_le_bytes());
    out.extend_from_slice(bytes);
}

fn put_rights(out: &mut Vec<u8>, rights: &Rights) {
    for value in [rights.mode, rights.uid, rights.gid] {
        out.extend_from_slice(&value.to_le_bytes());
    }
}

fn number<T: PartialEq>(all: &[T], one: &T) -> u8 {
    let at = all.iter().position(|other| other == one);
    at.and_then(|at| u8::try_from(at).ok()).unwrap_or(u8::MAX)
}

/// The snapshot that was written; `None` if it is not whole.
pub(crate) fn decode(bytes: &[u8]) -> Option<Snapshot> {
    let (body, digest) = bytes.split_at_checked(bytes.len().checked_sub(32)?)?;
    if digest_of(body).as_bytes() != digest {
        return None;
    }
    let mut reader = Reader {
        rest: body.strip_prefix(MAGIC)?,
    };
    let mut snapshot = Snapshot::default();
    while !reader.rest.is_empty() {
        let path = TreePath::new(reader.text()?)?;
        let node = reader.node()?;
        let stamp = match reader.byte()? {
            0 => None,
            _ => Some(Stamp {
                inode: reader.u64()?,
                len: reader.u64()?,
                modified: reader.i64()?,
                changed: reader.i64()?,
                read: reader.i64()?,
            }),
        };
        snapshot.items.insert(path, Item { node, stamp });
    }
    Some(snapshot)
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(n)?;
        self.rest = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn byte(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn i64(&mut self) -> Option<i64> {
        self.array().map(i64::from_le_bytes)
    }

    fn text(&mut self) -> Option<&'a [u8]> {
        let len = self.u32()?;
        self.take(usize::try_from(len).ok()?)
    }

    fn rights(&mut self) -> Option<Rights> {
        Some(Rights {
            mode: self.u32()?,
            uid: self.u32()?,
            gid: self.u32()?,
        })
    }

    fn node(&mut self) -> Option<Node> {
        Some(match self.byte()? {
            0 => Node::File {
                digest: Digest::from_bytes(self.array()?),
                len: self.u64()?,
                rights: self.rights()?,
            },
            1 => Node::Directory {
                rights: self.rights()?,
            },
            2 => Node::Link {
                target: Bytes::new(self.text()?),
            },
            3 => Node::Unkept {
                why: *Unkept::ALL.get(usize::from(self.byte()?))?,
                what: *WHAT.get(usize::from(self.byte()?))?,
                mark: Mark {
                    inode: self.u64()?,
                    len: self.u64()?,
                    modified: self.i64()?,
                    rights: self.rights()?,
                },
            },
            _ => return None,
        })
    }
}

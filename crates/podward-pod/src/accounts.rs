//! The machine's users and groups, as its account files list them.

use std::path::Path;

/// What `/etc/passwd` and `/etc/group` say.
///
/// Accounts of a directory service are not seen: a group of one is never private.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Accounts {
    users: Vec<User>,
    groups: Vec<Group>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct User {
    name: Box<str>,
    uid: u32,
    gid: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Group {
    name: Box<str>,
    gid: u32,
    members: Vec<Box<str>>,
}

impl Accounts {
    /// Reads the account files of this machine; one that cannot be read lists nobody, and then no
    /// group is private.
    #[must_use]
    pub fn of_this_machine() -> Self {
        let read = |path: &str| {
            let bytes = std::fs::read(Path::new(path)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        Self::parse(&read("/etc/passwd"), &read("/etc/group"))
    }

    /// Reads the texts of the two files; a line that does not fit is passed over.
    #[must_use]
    pub fn parse(passwd: &str, group: &str) -> Self {
        Self {
            users: passwd.lines().filter_map(parse_user).collect(),
            groups: group.lines().filter_map(parse_group).collect(),
        }
    }

    /// Whether nobody but the user is in the group: it bears the user's name, lists no other
    /// member, and is the first group of no other user.
    #[must_use]
    pub fn is_private_group(&self, uid: u32, gid: u32) -> bool {
        let is_owner = |name: &str| {
            let mut named = self
                .users
                .iter()
                .filter(|user| &*user.name == name)
                .peekable();
            named.peek().is_some() && named.all(|user| user.uid == uid)
        };
        let mut groups = self
            .groups
            .iter()
            .filter(|group| group.gid == gid)
            .peekable();
        groups.peek().is_some()
            && groups.all(|group| {
                is_owner(&group.name) && group.members.iter().all(|member| is_owner(member))
            })
            && self
                .users
                .iter()
                .all(|user| user.gid != gid || user.uid == uid)
    }
}

/// `name:password:uid:gid:…`
fn parse_user(line: &str) -> Option<User> {
    let mut fields = line.split(':');
    let name = fields.next().filter(|name| !name.is_empty())?.into();
    let uid = fields.nth(1)?.parse().ok()?;
    let gid = fields.next()?.parse().ok()?;
    Some(User { name, uid, gid })
}

/// `name:password:gid:member,member`
fn parse_group(line: &str) -> Option<Group> {
    let mut fields = line.split(':');
    let name = fields.next().filter(|name| !name.is_empty())?.into();
    let gid = fields.nth(1)?.parse().ok()?;
    let members = fields
        .next()?
        .split(',')
        .map(str::trim)
        .filter(|member| !member.is_empty())
        .map(Into::into)
        .collect();
    Some(Group { name, gid, members })
}

#[cfg(test)]
mod tests;

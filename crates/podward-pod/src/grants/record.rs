//! The lines of a file of grants.

use podward_policy::GrantRule;
use podward_protocol::{Grant, GrantFor, SessionId, Time};
use serde::{Deserialize, Serialize};

use crate::digest::digest;
use crate::grants::convert;

/// The version of the format of a line.
pub const GRANT_FORMAT: u32 = 1;

/// The longest line that is read or written, in bytes.
const MAX_LINE: usize = 256 * 1024;

/// The most rules of one grant: the parts of a call that were asked about.
const MAX_RULES: usize = 256;

/// How long a grant stays whose last use was taken, in milliseconds: so long the use can be given back.
const USED_UP_KEPT: i64 = 60 * 60 * 1000;

/// One grant as it is written down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    format: u32,
    /// The workspace.
    pub(super) project: String,
    /// The session that it was given in.
    pub(super) session: SessionId,
    /// When its last use was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    used_up_at: Option<Time>,
    #[serde(flatten)]
    pub(super) grant: Grant,
}

/// A line: a grant, and the digest of the line without it.
#[derive(Debug, Serialize, Deserialize)]
struct Sealed {
    #[serde(flatten)]
    record: Record,
    digest: String,
}

/// The version of a line, whatever else it says.
#[derive(Debug, Deserialize)]
struct Version {
    format: u32,
}

/// What a line holds.
#[derive(Debug)]
pub(super) enum LineContent {
    Grant(Box<Record>),
    /// A line of another version: none of our business.
    Foreign {
        format: u32,
    },
    /// Lower case, no full stop.
    Broken {
        why: String,
    },
}

impl Record {
    pub(super) const fn new(project: String, session: SessionId, grant: Grant) -> Self {
        Self {
            format: GRANT_FORMAT,
            project,
            session,
            used_up_at: None,
            grant,
        }
    }

    /// The line, without its newline.
    pub(super) fn line(&self) -> Result<String, String> {
        let text = |error: serde_json::Error| error.to_string();
        let body = serde_json::to_string(self).map_err(text)?;
        let sealed = Sealed {
            record: self.clone(),
            digest: digest(body.as_bytes()),
        };
        let line = serde_json::to_string(&sealed).map_err(text)?;
        if line.len() > MAX_LINE {
            return Err(format!("it has more than {MAX_LINE} bytes"));
        }
        Ok(line)
    }

    /// Whether it counts in a session.
    pub(super) fn is_for(&self, session: &SessionId) -> bool {
        match self.grant.lasts {
            GrantFor::Session => self.session == *session,
            GrantFor::Project | GrantFor::Until { .. } | GrantFor::Uses { .. } => true,
        }
    }

    /// Whether its time is over, or its last use was taken long ago.
    pub(super) fn is_over(&self, now: i64) -> bool {
        let end = self.grant.expires_at.map(|end| end.unix_milliseconds());
        let kept = |at: Time| at.unix_milliseconds().saturating_add(USED_UP_KEPT);
        let end = end.into_iter().chain(self.used_up_at.map(kept)).min();
        end.is_some_and(|end| end <= now)
    }

    /// Whether it has no use left: one may be given back.
    pub(super) fn is_used_up(&self) -> bool {
        self.grant.uses_left == Some(0)
    }

    /// Whether it lets calls run.
    pub(super) fn counts(&self, now: i64) -> bool {
        !self.is_used_up() && !self.is_over(now) && !self.is_early(now)
    }

    /// Takes a use, if it has limited ones. Whether it has.
    pub(super) fn take_use(&mut self, now: Time) -> bool {
        let Some(left) = &mut self.grant.uses_left else {
            return false;
        };
        *left = left.saturating_sub(1);
        self.used_up_at = (*left == 0).then_some(now);
        true
    }

    /// Gives back uses, never more than were given. Whether any.
    pub(super) fn give_back(&mut self, n_uses: usize) -> bool {
        let (GrantFor::Uses { n }, Some(left)) = (&self.grant.lasts, &mut self.grant.uses_left)
        else {
            return false;
        };
        let n_uses = u32::try_from(n_uses).unwrap_or(u32::MAX);
        let before = std::mem::replace(left, left.saturating_add(n_uses).min(*n));
        self.used_up_at = self.used_up_at.filter(|_| *left == 0);
        *left != before
    }

    /// Whether it ends at a time and the clock says that it was not given yet: then the clock was
    /// set back, and nothing is known of its end.
    pub(super) fn is_early(&self, now: i64) -> bool {
        self.grant.expires_at.is_some() && self.grant.at.unix_milliseconds() > now
    }

    /// Whether it fits together.
    pub(super) fn check(&self) -> Result<Vec<GrantRule>, String> {
        let grant = &self.grant;
        convert::grant_id(&grant.id)?;
        if grant.rules.is_empty() || grant.rules.len() > MAX_RULES {
            return Err(format!("it does not have 1 to {MAX_RULES} rules"));
        }
        let ends_so = match &grant.lasts {
            GrantFor::Session | GrantFor::Project => {
                grant.expires_at.is_none() && grant.uses_left.is_none()
            }
            GrantFor::Until { time } => {
                grant.expires_at == Some(*time) && grant.uses_left.is_none()
            }
            GrantFor::Uses { n } => {
                grant.expires_at.is_none() && grant.uses_left.is_some_and(|left| left <= *n)
            }
        };
        if !ends_so || self.used_up_at.is_some() != self.is_used_up() {
            return Err("its end does not fit what it was given for".to_owned());
        }
        grant.rules.iter().map(convert::rule).collect()
    }
}

/// Reads a line of the file of a workspace.
pub(super) fn read(line: &[u8], is_project: impl Fn(&str) -> bool) -> LineContent {
    let broken = |why: String| LineContent::Broken { why };
    if line.len() > MAX_LINE {
        return broken(format!("it has more than {MAX_LINE} bytes"));
    }
    match serde_json::from_slice::<Version>(line) {
        Ok(Version { format }) if format != GRANT_FORMAT => return LineContent::Foreign { format },
        Ok(_) => {}
        Err(error) => return broken(format!("it is no grant: {error}")),
    }
    let sealed: Sealed = match serde_json::from_slice(line) {
        Ok(sealed) => sealed,
        Err(error) => return broken(format!("it is no grant: {error}")),
    };
    let record = sealed.record;
    // What is written again must be what was read: digest, order, no key more.
    if record.line().as_deref().map(str::as_bytes) != Ok(line) {
        return broken("it was changed by something other than podward".to_owned());
    }
    if !is_project(&record.project) {
        return broken("it belongs to another workspace".to_owned());
    }
    match record.check() {
        Ok(_) => LineContent::Grant(Box::new(record)),
        Err(why) => broken(why),
    }
}

#[cfg(test)]
mod tests;

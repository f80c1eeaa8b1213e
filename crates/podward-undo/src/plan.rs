//! What an undo would do, and what stands against it.

use std::collections::{BTreeMap, BTreeSet};

use rustix::process::{getegid, geteuid};

use crate::bytes::TreePath;
use crate::error::UndoError;
use crate::keeper::ending::observe_like;
use crate::node::{Node, Rights, Unkept, What};
use crate::record::Change;
use crate::root::{Root, is_absence, names_in};
use crate::scan::observe;

/// A name whose meaning an undo changes: from what stands there to what stood there.
pub type Step = Change;

/// Whether what stands against an undo is overridden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Force {
    /// Then nothing is done.
    No,
    /// What is overwritten is kept, so that this too can be undone.
    Yes,
}

/// What an undo would do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// What is changed, in order.
    pub steps: Vec<Step>,
    /// What stays as it is.
    pub left: Vec<LeftAlone>,
    /// What stands against it.
    pub conflicts: Vec<Conflict>,
    /// Nobody saw the call end: what others changed since it began would be undone with it.
    pub is_cut_off: bool,
    /// The calls that ran at the same time as the one by which the deed is named, and are undone with it.
    pub others: Vec<String>,
}

/// Something that an undo cannot bring back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftAlone {
    /// The name.
    pub path: TreePath,
    /// Why.
    pub why: WhyLeft,
}

/// Why something stays as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyLeft {
    /// Its content was not kept.
    Unkept(Unkept),
    /// The directory holds something that stays.
    Occupied,
}

impl WhyLeft {
    /// Whether somebody may miss it: what is made again anyway is not missed.
    #[must_use]
    pub const fn is_loss(self) -> bool {
        !matches!(self, Self::Unkept(Unkept::Derived))
    }

    /// The reason in a few words.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Unkept(why) => why.reason(),
            Self::Occupied => "it holds something that stays",
        }
    }
}

/// Something that stands against an undo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The name.
    pub path: TreePath,
    /// What is wrong.
    pub reason: Reason,
    /// Later deeds that changed it: they have to be undone first.
    pub later: Vec<String>,
}

/// What stands against an undo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// It is not as the deed left it.
    Changed,
    /// The directory would have to go and holds this, which the deed did not make.
    Holds(TreePath),
    /// A directory would have to be where something else is.
    InTheWay,
}

impl Plan {
    /// Whether nothing stands against it.
    #[must_use]
    pub fn is_clear(&self) -> bool {
        self.conflicts.is_empty() && !self.is_cut_off
    }

    /// Everything that has to be done for each name to stand for what it stood for before.
    pub(crate) fn to_undo(
        root: &Root,
        changes: &[Change],
        force: Force,
    ) -> Result<Self, UndoError> {
        let mut planner = Planner::new(root, force);
        for change in changes {
            let (from, to) = (&change.after, &change.before);
            let now = observe_like(root, &change.path, from.as_ref())?;
            planner.add(&change.path, from.as_ref(), to.as_ref(), now)?;
        }
        planner.finish()
    }

    /// What is left to do of an undo that was cut off.
    pub(crate) fn to_finish(root: &Root, steps: &[Step], force: Force) -> Result<Self, UndoError> {
        let mut planner = Planner::new(root, force);
        for step in steps {
            let (from, to) = (step.before.as_ref(), step.after.as_ref());
            let now = observe_like(root, &step.path, from)?;
            // Half-way, a name may stand for nothing, and a directory have other rights.
            let is_half_way = now.as_ref().is_none_or(|now| {
                let was_or_will_be = [from, to].iter().flatten().any(|node| node.is_directory());
                now.is_directory() && was_or_will_be
            });
            let from = if is_half_way { now.as_ref() } else { from };
            planner.add(&step.path, from, to, now.clone())?;
        }
        planner.finish()
    }
}

struct Planner<'a> {
    root: &'a Root,
    force: Force,
    steps: BTreeMap<TreePath, (Option<Node>, Option<Node>)>,
    left: BTreeMap<TreePath, WhyLeft>,
    conflicts: Vec<Conflict>,
}

impl<'a> Planner<'a> {
    fn new(root: &'a Root, force: Force) -> Self {
        Self {
            root,
            force,
            steps: BTreeMap::new(),
            left: BTreeMap::new(),
            conflicts: Vec::new(),
        }
    }

    fn add(
        &mut self,
        path: &TreePath,
        from: Option<&Node>,
        to: Option<&Node>,
        now: Option<Node>,
    ) -> Result<(), UndoError> {
        if is_same(now.as_ref(), to) {
            return Ok(());
        }
        if let Some(Node::Unkept { why, .. }) = to {
            if !is_same(observe_like(self.root, path, to)?.as_ref(), to) {
                self.left.insert(path.clone(), WhyLeft::Unkept(*why));
            }
            return Ok(());
        }
        if let Some(Node::Unkept { why, what, .. }) = &now
            && (*what != What::File || *why == Unkept::Unreadable)
        {
            // It could not be brought back again.
            self.left.insert(path.clone(), WhyLeft::Unkept(*why));
            return Ok(());
        }
        if !is_same(now.as_ref(), from) {
            self.against(path, Reason::Changed);
        }
        self.steps.insert(path.clone(), (now, to.cloned()));
        Ok(())
    }

    fn against(&mut self, path: &TreePath, reason: Reason) {
        if self.force == Force::No {
            self.conflicts.push(Conflict {
                path: path.clone(),
                reason,
                later: Vec::new(),
            });
        }
    }

    fn finish(mut self) -> Result<Plan, UndoError> {
        self.check_removed_directories()?;
        self.make_directories_above()?;
        self.open_directories_above()?;
        Ok(Plan {
            steps: self
                .steps
                .into_iter()
                .map(|(path, (before, after))| Step {
                    path,
                    before,
                    after,
                })
                .collect(),
            left: self
                .left
                .into_iter()
                .map(|(path, why)| LeftAlone { path, why })
                .collect(),
            conflicts: self.conflicts,
            is_cut_off: false,
            others: Vec::new(),
        })
    }

    /// A directory goes only if all that it holds goes with it.
    fn check_removed_directories(&mut self) -> Result<(), UndoError> {
        let goes = |(from, to): &(Option<Node>, Option<Node>)| {
            from.as_ref().is_some_and(Node::is_directory)
                && !to.as_ref().is_some_and(Node::is_directory)
        };
        let removed: Vec<TreePath> = self
            .steps
            .iter()
            .rev()
            .filter(|(_, step)| goes(step))
            .map(|(path, _)| path.clone())
            .collect();
        for path in removed {
            let names = match self.root.directory(Some(&path)).and_then(names_in) {
                Ok(names) => names,
                Err(errno) if is_absence(errno) => continue,
                Err(errno) => return Err(UndoError::workspace("list", &path, errno)),
            };
            let held = names.iter().map(|name| TreePath::child(Some(&path), name));
            let stays = held
                .into_iter()
                .find(|child| self.steps.get(child).is_none_or(|(_, to)| to.is_some()));
            let Some(child) = stays else { continue };
            if self.force == Force::No && !self.left.contains_key(&child) {
                self.against(&path, Reason::Holds(child));
            } else {
                self.steps.remove(&path);
                self.left.insert(path, WhyLeft::Occupied);
            }
        }
        Ok(())
    }

    /// What is brought back needs the directories that it was in.
    fn make_directories_above(&mut self) -> Result<(), UndoError> {
        let mut missing = BTreeSet::new();
        for (path, (_, to)) in &self.steps {
            // What is above a step belongs to that step.
            let own = |above: &TreePath| to.is_some() && !self.steps.contains_key(above);
            for above in path.ancestors().take_while(own) {
                if !missing.insert(above) {
                    break;
                }
            }
        }
        for above in missing {
            let now = observe(self.root, &above)?;
            match &now {
                Some(Node::Directory { .. }) => continue,
                Some(_) => self.against(&above, Reason::InTheWay),
                None => {}
            }
            let rights = Rights {
                mode: 0o755,
                uid: geteuid().as_raw(),
                gid: getegid().as_raw(),
            };
            let directory = Node::Directory { rights };
            self.steps.insert(above, (now, Some(directory)));
        }
        Ok(())
    }

    /// A directory that its owner may not write in is opened meanwhile: a step that changes
    /// nothing, so that its rights are put back even if the undo is cut off.
    fn open_directories_above(&mut self) -> Result<(), UndoError> {
        let parents: BTreeSet<TreePath> = self
            .steps
            .keys()
            .filter_map(TreePath::parent)
            .filter(|parent| !self.steps.contains_key(parent))
            .collect();
        for parent in parents {
            let now = observe(self.root, &parent)?;
            if let Some(Node::Directory { rights }) = &now
                && rights.mode & 0o300 != 0o300
            {
                self.steps.insert(parent, (now.clone(), now));
            }
        }
        Ok(())
    }
}

pub(crate) fn is_same(one: Option<&Node>, other: Option<&Node>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one.is_same(other),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

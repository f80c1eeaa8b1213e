//! Reads skills: `SKILL.md` becomes a checked header, and its tool lists a policy that restricts.
//!
//! It must never know where a file lies, who wrote it, whether a skill is running, or what a rule of
//! the manifest says: text in, values out, no I/O. A list of tools never grants anything: it is
//! compiled to one more layer, and the strictest layer decides.
//!
//! [`read()`] takes the bytes of a `SKILL.md`; [`ToolLists::compile`] makes a
//! [`Policy`](podward_policy::Policy) of what it lists.
//!
//! ```
//! use podward_policy::{Action, KnownTools, Operation, Policies, ToolName};
//! use podward_skill::{ListPlace, read};
//!
//! let text = "---\nname: review\ndescription: Reviews a change.\nallowed-tools: Read Skill(lint)\n---\n";
//! let reading = read("review", text.as_bytes());
//! let skill = reading.skill.ok_or("the file has errors")?;
//! let compiled = skill.tools.compile(&ListPlace::new("review/SKILL.md", &KnownTools::built_in()));
//! let policies = Policies::from(compiled.layer.ok_or("nothing is restricted")?);
//!
//! let skill = ToolName::new("skill")?;
//! let judge = |name| policies.judge(&Operation::plain(&skill, name).into()).action;
//! assert_eq!(judge("lint"), Action::Allow);
//! assert_eq!(judge("release"), Action::Deny);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod against;
mod broad;
mod compile;
mod fence;
mod header;
mod name;
mod pattern;
mod problem;
mod read;
mod suggestion;
mod target;
mod tokens;
mod tool_lists;
mod workflow;
mod yaml;

pub use against::{ManifestSays, refused_anyway};
pub use compile::{CompiledEntry, CompiledLists, ListPlace};
pub use name::{SkillName, SkillNameError};
pub use problem::{Gravity, Problem};
pub use read::{MAX_FILE_BYTES, MAX_HEADER_BYTES, Reading, Skill, StartedBy, read};
pub use tool_lists::{Allowed, ListKind, ToolEntry, ToolLists};
pub use workflow::{WorkflowRecord, WorkflowSource};

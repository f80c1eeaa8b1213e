//! Compiles permission rules and judges operations: first match, holes, strictest, with cause.
//!
//! It must never know where a rule's text came from, what a tool does, what a shell is, or what
//! time it is: values in, values out, no I/O, no clock, no threads.
//!
//! A table of rules ([`PolicySpec`]) is compiled to a [`Policy`]; the policies of all layers are
//! [`Policies`]; a tool says what a call would do ([`Lowered`]), and [`Policies::judge`] makes a
//! [`Ruling`] of it: a verdict, and why.
//!
//! ```
//! use podward_policy::{Action, Cause, KnownTools, Operation, Policies, Policy, PolicySpec, ToolName};
//!
//! let rules = PolicySpec::new(Action::Ask).rule("skill", "release*", Action::Deny);
//! let compiled = Policy::compile(&rules, &KnownTools::built_in()).map_err(|_| "a rule is wrong")?;
//! let policies = Policies::from(compiled.policy);
//!
//! let skill = ToolName::new("skill")?;
//! let ruling = policies.judge(&Operation::plain(&skill, "release-notes").into());
//! assert_eq!(ruling.action, Action::Deny);
//! assert!(matches!(ruling.cause, Cause::Rule { .. }));
//! let ruling = policies.judge(&Operation::plain(&skill, "review").into());
//! assert_eq!(ruling.action, Action::Ask);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod action;
mod analysis;
mod asking;
mod circumstances;
mod compile;
mod explanation;
mod grant;
mod index;
mod judge;
mod operation;
mod pattern;
mod policy;
mod rule;
mod skill;
mod source;
mod spec;
mod text;
mod tool;
mod tool_glob;
mod verdict;
mod work;

#[cfg(test)]
mod testing;

pub use action::Action;
pub use analysis::{
    AsWritten, Decided, Effort, LayerAnalysis, Overlap, PatternWord, WordRest, WrittenRule,
};
pub use asking::{AskedBy, Asker, Asking, shortest_ask_timeout};
pub use circumstances::{Circumstances, ExpandedWord, Input, literal_word};
pub use explanation::{Explanation, LayerExplanation, Said, Tried, TriedRule};
pub use grant::{GrantRule, PatternProblem};
pub use operation::{
    CommandPlace, CommandSubject, Directories, Lowered, Need, Operation, OperationIdx, Operations,
    PathForm, PathSubject, Subject, UnknownReason, UrlSubject, WholeText,
};
pub use policy::{Compiled, Policies, Policy, RuleForm};
pub use skill::{SkillFiles, SkillLayer, SkillLists, SkillSays};
pub use source::{ByteSpan, Location};
pub use spec::{Finding, PolicySpec, RuleField, RuleSpec};
pub use text::{Hole, HoleKind, Text, TextBuilder, WrittenWord, written_word, written_words};
pub use tool::{
    BUILT_IN_TOOLS, EXTERNAL_DIRECTORY, KnownTools, ToolName, ToolNameError, ToolOrigin,
};
pub use tool_glob::{ToolGlob, ToolProblem};
pub use verdict::{Cause, Coverage, Judged, LayerKind, LayerName, RuleIdx, Ruling};

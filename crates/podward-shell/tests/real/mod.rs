//! The commands, the allowlists, and what is shown of a call's operations.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use podward_policy::{
    Action, HoleKind, KnownTools, Lowered, Need, Operation, Policies, Policy, PolicySpec, Subject,
    Text,
};

pub(crate) const ALLOWLISTS: &str = include_str!("allowlists.toml");
const COMMANDS: &str = include_str!("commands.jsonl");

/// A command that a public project wrote down, and where.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Command {
    pub(crate) id: String,
    pub(crate) command: String,
    /// `owner/repository:path`; for a thread, its kind and number in place of the path.
    pub(crate) source: String,
}

impl Command {
    pub(crate) fn project(&self) -> &str {
        self.source.split_once(':').unwrap().0
    }

    pub(crate) fn lowered(&self) -> Lowered {
        podward_shell::lower(&self.command, &crate::lexical::place())
    }
}

pub(crate) fn commands() -> Vec<Command> {
    COMMANDS
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

pub(crate) fn operations(lowered: &Lowered) -> Vec<&Operation> {
    match lowered {
        Lowered::NothingToRun => Vec::new(),
        Lowered::Operations(operations) => operations.iter().collect(),
    }
}

/// What a project's maintainer allows.
#[derive(Clone, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Allowlist {
    pub(crate) bash: Vec<String>,
    #[serde(default)]
    pub(crate) write: Vec<String>,
}

/// The list of each project, `everywhere` included.
pub(crate) fn allowlists() -> BTreeMap<String, Allowlist> {
    let mut lists: BTreeMap<String, Allowlist> = toml::from_str(ALLOWLISTS).unwrap();
    let everywhere = lists.remove("everywhere").unwrap();
    for list in lists.values_mut() {
        list.bash.splice(0..0, everywhere.bash.iter().cloned());
        list.write.splice(0..0, everywhere.write.iter().cloned());
    }
    lists
}

impl Allowlist {
    /// The list as a policy: whatever it does not allow is asked.
    pub(crate) fn policies(&self) -> Policies {
        let runs = self.bash.iter().map(|pattern| ("bash", pattern));
        let writes = self.write.iter().map(|pattern| ("file_write", pattern));
        let allow = |spec: PolicySpec, (tool, pattern): (&str, &String)| {
            spec.rule(tool, pattern, Action::Allow)
        };
        let spec = runs.chain(writes).fold(PolicySpec::new(Action::Ask), allow);
        let compiled = Policy::compile(&spec, &KnownTools::built_in()).unwrap();
        Policies::from(compiled.policy)
    }
}

/// A text with its holes shown: `‹q›` quoted, `‹u›` unquoted, `‹g›` a file name pattern, `‹a›`
/// anything; newlines and tabs escaped.
pub(crate) fn shown(text: &Text) -> String {
    with_holes(text, |kind| match kind {
        HoleKind::Quoted => "‹q›",
        HoleKind::Unquoted => "‹u›",
        HoleKind::FileGlob => "‹g›",
        HoleKind::Anything => "‹a›",
    })
    .replace('\n', "\\n")
    .replace('\t', "\\t")
}

/// A text with a plain word in each hole.
pub(crate) fn filled(text: &Text) -> String {
    with_holes(text, |_| "x")
}

fn with_holes(text: &Text, hole: impl Fn(HoleKind) -> &'static str) -> String {
    let mut holes = text.holes().iter().peekable();
    let mut shown = String::new();
    for (at, c) in text.known_part().char_indices() {
        while let Some(next) = holes.next_if(|next| next.at <= at) {
            shown.push_str(hole(next.kind));
        }
        shown.push(c);
    }
    shown.extend(holes.map(|next| hole(next.kind)));
    shown
}

/// An operation as `expected.txt` has it: tool, need, text.
pub(crate) fn line(operation: &Operation) -> String {
    let text = match &operation.subject {
        Subject::Command(command) => shown(&command.written),
        Subject::Path(path) | Subject::Tree(path) => shown(&path.lexical.short),
        Subject::Url(url) => shown(&url.text),
        Subject::Plain(text) => shown(text),
        // The reason is for people and may be worded anew.
        Subject::Unknown(_) => "?".to_owned(),
    };
    let need = match operation.need {
        Need::Full => "full".to_owned(),
        Need::Restrictive => "restrictive".to_owned(),
        Need::Named => "named".to_owned(),
        Need::Free => "free".to_owned(),
        Need::DerivedFrom(from) => format!("derived-from-{}", from.0),
        Need::RunBy { wrapper, .. } => format!("run-by-{}", wrapper.0),
    };
    let mut line = String::new();
    write!(line, "{} {need} | {text}", operation.tool.as_str()).unwrap();
    line
}

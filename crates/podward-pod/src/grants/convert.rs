//! Grants between the policy's words and those that are written down and sent.

use podward_gate::GrantId;
use podward_policy::{
    AskedBy, Asker, Circumstances, Directories, ExpandedWord, GrantRule, Input, ToolName,
};
use podward_protocol as wire;
use podward_tools::check_pattern;

use crate::layers::layer_kind;

/// A rule as it is written down.
#[must_use]
pub(crate) fn wire_rule(rule: &GrantRule) -> wire::GrantRule {
    wire::GrantRule {
        tool: rule.tool().as_str().to_owned(),
        pattern: rule.pattern().to_owned(),
        askers: rule.askers().iter().map(wire_asker).collect(),
        given: wire_given(rule.given()),
    }
}

/// What a pattern was given for, as it is written down.
#[must_use]
pub(crate) fn wire_given(given: &Circumstances) -> wire::Circumstances {
    // INVARIANT: what is not known of a command is in none of them: a pattern that was given for it would
    // not match its own call.
    let spelled = given.expanded.iter().filter_map(|word| {
        Some(wire::ExpandedWord {
            word: word.idx,
            spelled: word.spelled.as_deref()?.to_owned(),
        })
    });
    wire::Circumstances {
        directories: match &given.directories {
            Directories::Own | Directories::Unknown => Vec::new(),
            Directories::OneOf(names) => names.iter().map(|name| name.to_string()).collect(),
        },
        expanded: spelled.collect(),
        input: match &given.input {
            Input::Nothing | Input::Unknown => None,
            Input::Text(text) => Some(wire::Input::Text {
                text: text.to_string(),
            }),
            Input::File(path) => Some(wire::Input::File {
                path: path.to_string(),
            }),
        },
    }
}

fn given(written: &wire::Circumstances) -> Circumstances {
    let directories = written.directories.iter().map(|name| name.as_str().into());
    let expanded = written.expanded.iter().map(|word| ExpandedWord {
        idx: word.word,
        spelled: Some(word.spelled.as_str().into()),
    });
    Circumstances {
        directories: Directories::of(directories.collect()),
        expanded: expanded.collect(),
        input: match &written.input {
            None => Input::Nothing,
            Some(wire::Input::Text { text }) => Input::Text(text.as_str().into()),
            Some(wire::Input::File { path }) => Input::File(path.as_str().into()),
        },
    }
}

/// What asks, as it is written down.
#[must_use]
pub(crate) fn wire_asker(asker: &Asker) -> wire::Asker {
    wire::Asker {
        layer: asker.layer.as_str().to_owned(),
        by: match &asker.by {
            AskedBy::Rule { tool, pattern } => wire::AskedBy::Rule {
                tool: tool.to_string(),
                pattern: pattern.to_string(),
            },
            AskedBy::Default => wire::AskedBy::Default,
            AskedBy::Unresolved => wire::AskedBy::Unresolved,
            AskedBy::Unnamed => wire::AskedBy::Unnamed,
        },
    }
}

/// The id of a grant as the gate has it.
pub(super) fn grant_id(id: &wire::GrantId) -> Result<GrantId, String> {
    GrantId::new(id.as_str()).map_err(|error| error.to_string())
}

/// A rule that was written down.
pub(super) fn rule(rule: &wire::GrantRule) -> Result<GrantRule, String> {
    let tool = ToolName::new(&rule.tool).map_err(|error| error.to_string())?;
    if rule.askers.is_empty() {
        return Err("a rule of it answers nothing".to_owned());
    }
    check_pattern(&tool, &rule.pattern, &Default::default())
        .map_err(|problem| problem.to_string())?;
    let askers = rule.askers.iter().map(asker).collect::<Result<_, _>>()?;
    let compiled = GrantRule::compile(&tool, &rule.pattern, askers);
    compiled
        .map(|compiled| compiled.given_in(&given(&rule.given)))
        .map_err(|problem| problem.to_string())
}

fn asker(asker: &wire::Asker) -> Result<Asker, String> {
    let layer = layer_kind(&asker.layer)
        .ok_or_else(|| format!("there is no layer `{}`", asker.layer.escape_debug()))?;
    Ok(Asker {
        layer,
        by: match &asker.by {
            wire::AskedBy::Rule { tool, pattern } => AskedBy::Rule {
                tool: tool.as_str().into(),
                pattern: pattern.as_str().into(),
            },
            wire::AskedBy::Default => AskedBy::Default,
            wire::AskedBy::Unresolved => {
                return Err("what may be denied is never remembered".to_owned());
            }
            wire::AskedBy::Unnamed => AskedBy::Unnamed,
        },
    })
}

//! `podward skills list`.

use podward_pod::{Purpose, SkillFile};
use podward_skill::{Allowed, ListKind, Skill, StartedBy, ToolLists};
use podward_view::one_line;
use serde::Serialize;

use crate::arguments::{Format, SkillsList};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::{Look, Screen};

/// How much of a description is listed.
const MOST_CHARS: usize = 100;

/// A skill as it is printed for programs.
#[derive(Debug, Serialize)]
pub(super) struct Line<'a> {
    name: &'a str,
    file: &'a str,
    digest: &'a str,
    description: &'a str,
    started_by: &'static str,
    /// Absent: no restriction. Empty: nothing is allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed_tools: Option<Vec<&'a str>>,
    disallowed_tools: Vec<&'a str>,
}

impl<'a> Line<'a> {
    pub(super) fn new(file: &'a SkillFile, skill: &'a Skill) -> Self {
        let written = |list| {
            skill
                .tools
                .entries(list)
                .iter()
                .map(|entry| &*entry.written)
        };
        Self {
            name: skill.name.as_str(),
            file: &file.file,
            digest: &file.digest,
            description: &skill.description,
            started_by: started_by(skill.started_by),
            allowed_tools: match &skill.tools.allowed {
                Allowed::NotRestricted => None,
                Allowed::Only(_) => Some(written(ListKind::Allowed).collect()),
            },
            disallowed_tools: written(ListKind::Disallowed).collect(),
        }
    }
}

pub(super) fn run(arguments: &SkillsList, screen: Screen) -> Result<Exit, Failure> {
    let (loaded, found) = super::discover(&arguments.manifest)?;
    for problem in &found.problems {
        super::say(problem, Look::Warning, "warning", screen);
    }
    if loaded.resolved.skill_directories.is_empty() {
        screen.say(
            Look::Strong,
            "skills",
            "no layer has `[skills] directories`: name them, or a manifest with --manifest",
        );
    } else if found.files.is_empty() && found.problems.is_empty() {
        let what = "there are none: a skill is a directory with a `SKILL.md` in it";
        screen.say(Look::Strong, "skills", what);
    }
    let mut text = String::new();
    for file in &found.files {
        for diagnostic in super::diagnostics(file, &loaded, Purpose::Load) {
            screen.write_talk(&format!("{diagnostic}\n"));
        }
        if let Some(skill) = &file.reading.skill {
            text.push_str(&show(file, skill, arguments.format));
        }
    }
    super::super::finish(screen, &text, Exit::Done)
}

fn show(file: &SkillFile, skill: &Skill, format: Format) -> String {
    match format {
        Format::Text => {
            let description = one_line(&skill.description, MOST_CHARS);
            let tools = one_line(&tools(&skill.tools), MOST_CHARS);
            format!("{}\n    {description}\n    {tools}\n", skill.name)
        }
        // Texts have a JSON form.
        Format::Json => {
            podward_protocol::json_line(&Line::new(file, skill)).unwrap_or_default() + "\n"
        }
    }
}

/// What the lists say, in a line.
pub(super) fn tools(tools: &ToolLists) -> String {
    let written = |list| {
        let entries = tools.entries(list).iter();
        entries
            .map(|entry| &*entry.written)
            .collect::<Vec<_>>()
            .join(", ")
    };
    let allowed = match &tools.allowed {
        Allowed::NotRestricted => "every tool".to_owned(),
        Allowed::Only(entries) if entries.is_empty() => "no tool".to_owned(),
        Allowed::Only(_) => format!("only {}", written(ListKind::Allowed)),
    };
    match tools.disallowed.is_empty() {
        true => allowed,
        false => format!("{allowed}; not {}", written(ListKind::Disallowed)),
    }
}

/// Who may start a skill, as programs read it.
pub(super) const fn started_by(who: StartedBy) -> &'static str {
    match who {
        StartedBy::PersonOrModel => "person_or_model",
        StartedBy::Person => "person",
    }
}

//! `podward skills show NAME`.

use std::fmt::Write as _;

use podward_pod::layers::Loaded;
use podward_pod::{Purpose, SkillFile};
use podward_policy::KnownTools;
use podward_skill::{Allowed, CompiledEntry, ListKind, Skill, StartedBy};
use podward_view::{Lines, counted, visible};
use serde::Serialize;

use super::list;
use crate::arguments::{Format, SkillsShow};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;

/// A skill with its rules, for programs.
#[derive(Debug, Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    listed: list::Line<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    license: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compatibility: Option<&'a str>,
    metadata: Vec<(&'a str, &'a str)>,
    rules: Vec<Rule<'a>>,
    body: &'a str,
}

/// One rule that an entry comes to.
#[derive(Debug, Serialize)]
struct Rule<'a> {
    entry: &'a str,
    tool: &'a str,
    pattern: &'a str,
    action: &'static str,
}

pub(super) fn run(arguments: &SkillsShow, screen: Screen) -> Result<Exit, Failure> {
    let (loaded, found) = super::discover(&arguments.manifest)?;
    let Some((file, skill)) = found.find(&arguments.name) else {
        let is_it = |file: &&SkillFile| {
            file.directory.file_name() == Some(arguments.name.as_str().as_ref())
        };
        return match found.files.iter().find(is_it) {
            // It is there, and says itself why it is not.
            Some(file) => {
                for diagnostic in super::diagnostics(file, &loaded, Purpose::Load) {
                    screen.write_talk(&format!("{diagnostic}\n"));
                }
                Ok(Exit::Failed)
            }
            None => Err(Failure::Usage {
                message: format!(
                    "there is no skill `{}`",
                    visible(&arguments.name, Lines::Escape)
                ),
                help: "`podward skills list` shows those that there are",
            }),
        };
    };
    for diagnostic in super::diagnostics(file, &loaded, Purpose::Load) {
        screen.write_talk(&format!("{diagnostic}\n"));
    }
    let text = match arguments.format {
        Format::Text => text(file, skill, &loaded),
        Format::Json => json(file, skill, &loaded),
    };
    super::super::finish(screen, &text, Exit::Done)
}

fn compiled(file: &SkillFile, loaded: &Loaded) -> Vec<CompiledEntry> {
    let known = KnownTools::built_in();
    file.compile(&known, Some(&loaded.workspace)).entries
}

const fn action(list: ListKind) -> &'static str {
    match list {
        ListKind::Allowed => "allow",
        ListKind::Disallowed => "deny",
    }
}

fn json(file: &SkillFile, skill: &Skill, loaded: &Loaded) -> String {
    let entries = compiled(file, loaded);
    let rules = entries.iter().flat_map(|compiled| {
        let entry = skill.tools.entries(compiled.list).get(compiled.place);
        let entry = entry.map_or("", |entry| &entry.written);
        compiled.rules.iter().map(move |(tool, pattern)| Rule {
            entry,
            tool,
            pattern,
            action: action(compiled.list),
        })
    });
    let line = Line {
        listed: list::Line::new(file, skill),
        license: skill.license.as_deref(),
        compatibility: skill.compatibility.as_deref(),
        metadata: skill
            .metadata
            .iter()
            .map(|(key, value)| (&**key, &**value))
            .collect(),
        rules: rules.collect(),
        body: &skill.body,
    };
    // Texts have a JSON form.
    podward_protocol::json_line(&line).unwrap_or_default() + "\n"
}

fn text(file: &SkillFile, skill: &Skill, loaded: &Loaded) -> String {
    let mut shown = String::new();
    let mut field = |name: &str, value: &str| {
        // Writing to a `String` cannot fail.
        let _ = writeln!(
            shown,
            "{name:<14} {}",
            visible(value.trim_end(), Lines::Escape)
        );
    };
    field("name", skill.name.as_str());
    field("description", &skill.description);
    field("file", &file.file);
    field("digest", &file.digest);
    for (name, value) in [
        ("license", &skill.license),
        ("compatibility", &skill.compatibility),
    ] {
        if let Some(value) = value {
            field(name, value);
        }
    }
    for (key, value) in &skill.metadata {
        field("metadata", &format!("{key}: {value}"));
    }
    if skill.started_by == StartedBy::Person {
        field("started by", "a person only");
    }
    field("tools", &list::tools(&skill.tools));
    for compiled in compiled(file, loaded) {
        for (tool, pattern) in &compiled.rules {
            field(
                "  rule",
                &format!("{} {tool} `{pattern}`", action(compiled.list)),
            );
        }
    }
    if let Allowed::Only(_) = skill.tools.allowed {
        field("  rule", "deny everything else");
    }
    let n_lines = skill.body.lines().count();
    field(
        "instructions",
        &format!("{}, {} bytes", counted(n_lines, "line"), skill.body.len()),
    );
    shown
}

//! `podward tools [MANIFEST]`: which tools the model is offered, and why not the others.

use podward_tools::{Registry, Tool, skill_tool, spawn_tool};
use serde::Serialize;
use serde_json::Value;

use crate::arguments::{Format, Tools};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::layers;
use crate::screen::Screen;

/// Whether the model is told of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Offer {
    Offered,
    /// The manifest leaves it out.
    NotListed,
    /// No text of it could get a verdict other than deny.
    NeverAllowed,
    /// There are no children.
    NoChildren,
}

impl Offer {
    const fn text(self) -> &'static str {
        match self {
            Self::Offered => "offered",
            Self::NotListed => "not offered: `[tools] offered` leaves it out",
            Self::NeverAllowed => "not offered: no rule could let it run",
            Self::NoChildren => "not offered: there are no `[children]`",
        }
    }
}

/// A tool as it is printed for programs.
#[derive(Debug, Serialize)]
struct Line<'a> {
    name: &'a str,
    offer: Offer,
    description: &'a str,
    schema: Value,
}

pub(super) fn run(arguments: &Tools, screen: Screen) -> Result<Exit, Failure> {
    let manifest = arguments.manifest.as_deref();
    let loaded = layers::load(&layers::places()?, manifest, &arguments.layers)?;
    if manifest.is_some() {
        // Without a pod there is nothing to warn of: this is a list.
        layers::warn(&loaded, screen);
    }
    let offer = |tool: &dyn Tool| {
        if !loaded.resolved.tools.contains(tool.name()) {
            Offer::NotListed
        } else if tool.name().as_str() == "spawn" && loaded.resolved.children.is_empty() {
            Offer::NoChildren
        } else if loaded.resolved.policies.may_ever_run(tool.name()) {
            Offer::Offered
        } else {
            Offer::NeverAllowed
        }
    };
    let mut tools = Registry::built_in();
    // No built-in tool has their names.
    let _ = tools.register(skill_tool(""));
    let _ = tools.register(spawn_tool(""));
    let text: String = tools
        .iter()
        .map(|tool| show(tool.as_ref(), offer(tool.as_ref()), arguments.format))
        .collect();
    super::finish(screen, &text, Exit::Done)
}

fn show(tool: &dyn Tool, offer: Offer, format: Format) -> String {
    match format {
        Format::Text => {
            let first_sentence = tool.description().split(". ").next().unwrap_or_default();
            let name = tool.name().as_str();
            format!("{name:<12} {}\n{:13}{first_sentence}\n", offer.text(), "")
        }
        Format::Json => {
            let line = Line {
                name: tool.name().as_str(),
                offer,
                description: tool.description(),
                schema: tool.schema(),
            };
            // Texts and a schema have a JSON form.
            podward_protocol::json_line(&line).unwrap_or_default() + "\n"
        }
    }
}

//! The skill that a call would start.

use podward_protocol::AskedSkill;

use super::Question;
use super::entries::View;
use crate::rows::{Look, Row};
use crate::visible::{Lines, visible};

impl Question {
    /// What a call of `skill` would start.
    pub(super) fn skill(&self, view: View) -> Vec<Row> {
        let (file, description, allowed, disallowed) = match self.request.skill.as_deref() {
            None => return Vec::new(),
            Some(AskedSkill::Fails { why }) => {
                let why = format!(" {}", visible(why, Lines::Escape));
                let fails = [(Look::Warning, "it would not start:"), (Look::Plain, &why)];
                return view.entry_of("skill", &fails);
            }
            Some(AskedSkill::Found {
                file,
                digest: _,
                description,
                allowed_tools,
                disallowed_tools,
            }) => (file, description, allowed_tools, disallowed_tools),
        };
        let mut all = view.entry("skill", &visible(file, Lines::Escape));
        all.extend(view.entry("says", &visible(description, Lines::Escape)));
        let tools = tools_text(allowed.as_deref(), disallowed);
        all.extend(view.entry("tools", &visible(&tools, Lines::Escape)));
        all
    }
}

/// Which tools can be called while a skill is active, as far as the rules go.
fn tools_text(allowed: Option<&[String]>, disallowed: &[String]) -> String {
    let allowed = match allowed {
        None => "every tool".to_owned(),
        Some([]) => "no tool".to_owned(),
        Some(entries) => format!("only {}", entries.join(", ")),
    };
    match disallowed {
        [] => allowed,
        entries => format!("{allowed}; not {}", entries.join(", ")),
    }
}

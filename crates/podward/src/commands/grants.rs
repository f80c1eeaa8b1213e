//! `podward grants`: what was approved for more than one call.

mod text;

use std::path::Path;

use podward_pod::{
    GrantNotFound, StoredGrant, StoredGrants, SystemClock, find_grant, revoke_all, revoke_grant,
    stored_grants,
};
use podward_protocol::{Grant, SessionId, json_line};
use serde::Serialize;

use crate::arguments::{Format, Grants, GrantsCommand, GrantsExplain, GrantsList, GrantsRevoke};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::layers;
use crate::screen::{Look, Screen};

pub(super) fn run(arguments: &Grants, screen: Screen) -> Result<Exit, Failure> {
    match &arguments.command {
        GrantsCommand::List(arguments) => list(arguments, screen),
        GrantsCommand::Revoke(arguments) => revoke(arguments, screen),
        GrantsCommand::Explain(arguments) => explain(arguments, screen),
    }
}

/// A grant as it is printed for programs.
#[derive(Debug, Serialize)]
struct Line<'a> {
    workspace: &'a str,
    given_in: &'a SessionId,
    #[serde(flatten)]
    grant: &'a Grant,
}

fn list(arguments: &GrantsList, screen: Screen) -> Result<Exit, Failure> {
    let mut stored =
        stored_grants(&layers::places()?, &SystemClock).map_err(GrantNotFound::from)?;
    if let Some(workspace) = &arguments.workspace {
        let workspace = known(workspace, &stored)?;
        for file in &mut stored {
            file.grants.retain(|grant| grant.workspace == workspace);
        }
    }
    for problem in stored.iter().flat_map(|stored| &stored.problems) {
        screen.say(Look::Warning, "warning", problem);
    }
    let grants = || {
        stored
            .iter()
            .flat_map(|stored: &StoredGrants| &stored.grants)
    };
    if grants().next().is_none() {
        screen.say(
            Look::Strong,
            "grants",
            "nothing is approved for more than one call",
        );
    }
    let text = match arguments.format {
        Format::Text => text::list(&stored),
        Format::Json => grants().map(line).collect::<Result<_, _>>()?,
    };
    super::finish(screen, &text, Exit::Done)
}

fn revoke(arguments: &GrantsRevoke, screen: Screen) -> Result<Exit, Failure> {
    let places = layers::places()?;
    let Some(prefix) = &arguments.grant else {
        let workspace = match &arguments.workspace {
            Some(workspace) => {
                let stored = stored_grants(&places, &SystemClock).map_err(GrantNotFound::from)?;
                Some(known(workspace, &stored)?)
            }
            None => None,
        };
        let revoked = revoke_all(&places, workspace.as_deref()).map_err(GrantNotFound::from)?;
        if revoked.n_others > 0 {
            let n = revoked.n_others;
            let what = format_args!("{n} lines that did not count are gone too");
            screen.say(Look::Strong, "grants", what);
        }
        let ids = revoked.grants.iter().map(|id| format!("revoked {id}\n"));
        return super::finish(screen, &ids.collect::<String>(), Exit::Done);
    };
    let revoked = revoke_grant(&places, &SystemClock, prefix)?;
    let text = format!("revoked {}\n", revoked.grant.id);
    super::finish(screen, &text, Exit::Done)
}

fn explain(arguments: &GrantsExplain, screen: Screen) -> Result<Exit, Failure> {
    let found = find_grant(&layers::places()?, &SystemClock, &arguments.grant)?;
    let text = match arguments.format {
        Format::Text => text::explain(&found),
        Format::Json => line(&found)?,
    };
    super::finish(screen, &text, Exit::Done)
}

fn line(stored: &StoredGrant) -> Result<String, Failure> {
    let line = Line {
        workspace: &stored.workspace,
        given_in: &stored.given_in,
        grant: &stored.grant,
    };
    let line = json_line(&line).map_err(|error| Failure::Stdout(error.into()))?;
    Ok(line + "\n")
}

/// The name of a workspace's grants: its path without symlinks; one that is gone is meant as it is
/// written, if anything is stored for it.
fn known(workspace: &Path, stored: &[StoredGrants]) -> Result<String, Failure> {
    let absolute = std::path::absolute(workspace).unwrap_or_else(|_| workspace.to_owned());
    let path = absolute.canonicalize().unwrap_or(absolute);
    let name = path.to_str().ok_or_else(|| Failure::Usage {
        message: "the workspace's path is not UTF-8".to_owned(),
        help: "nothing can be remembered for such a workspace",
    })?;
    let mut grants = stored.iter().flat_map(|stored| &stored.grants);
    if !path.is_dir() && !grants.any(|grant| grant.workspace == name) {
        return Err(Failure::Usage {
            message: format!("there is no directory `{}`", workspace.display()),
            help: "and nothing is remembered for one that was there: `podward grants list` shows all",
        });
    }
    Ok(name.to_owned())
}

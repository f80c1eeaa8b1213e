//! `podward skills end POD NAME`.

use podward_protocol::SkillEnd;
use podward_view::{Lines, visible};

use crate::arguments::SkillsEnd;
use crate::commands::pods::find;
use crate::connection::{CanApprove, connect};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::{Look, Screen};

/// The name of this client, which the model and the session read.
const NAME: &str = "podward skills end";

pub(super) fn run(arguments: &SkillsEnd, screen: Screen) -> Result<Exit, Failure> {
    let socket = find(&arguments.pod)?;
    crate::commands::runtime()?.block_on(async {
        let (client, _events) = connect(&socket, NAME, CanApprove::No, &["skill_ended"]).await?;
        let name = arguments.name.clone();
        let shown = visible(&name, Lines::Escape);
        let what = match client.ask(SkillEnd { name }).await?.turn {
            None => format!("{shown} ended"),
            Some(turn) => format!(
                "{shown} ends with the next model request of turn {turn}; calls that were made before \
                 are still under it"
            ),
        };
        screen.say(Look::Strong, "skill", what);
        Ok(Exit::Done)
    })
}

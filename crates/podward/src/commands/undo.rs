//! `podward undo SESSION [CALL]`: brings back what a call changed.

mod text;

use podward_pod::{Clock as _, SystemClock, UndoSession};
use podward_undo::{Force, History, Plan, Undone, Wanted};
use podward_view::{Lines, visible};

use crate::arguments::Undo;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::layers;
use crate::screen::{Look, Screen};

pub(super) fn run(arguments: &Undo, screen: Screen) -> Result<Exit, Failure> {
    let places = layers::places()?;
    if arguments.list {
        let session = UndoSession::find(&places, &arguments.session)?;
        let history = History::read(session.base(), session.id().as_str())?;
        let listed = history.list();
        if listed.is_empty() {
            let what = "nothing is kept of this session: no call changed the workspace, it was too \
                        long ago, or nothing was to be kept";
            screen.say(Look::Strong, "undo", what);
        }
        return super::finish(screen, &text::list(&listed), Exit::Done);
    }
    let session = UndoSession::open(&places, &arguments.session)?;
    let wanted = Wanted {
        session: session.id().as_str(),
        call: arguments.call.as_deref(),
        force: if arguments.force {
            Force::Yes
        } else {
            Force::No
        },
        time: SystemClock.now().unix_milliseconds(),
        left_out: session.left_out().to_vec(),
    };
    if arguments.dry_run {
        let (of, plan) = History::plan(session.base(), &wanted)?;
        if !plan.is_clear() {
            return Ok(refuse(&of, &plan, screen));
        }
        let others = text::others(&plan.others);
        let what = format_args!("`{of}` would be undone{others}");
        screen.say(Look::Strong, "undo", what);
        return told(&plan, screen);
    }
    match History::undo(session.base(), &wanted)? {
        Undone::Refused { of, plan } => Ok(refuse(&of, &plan, screen)),
        Undone::Finished { by, plan } => {
            let what = format_args!("`{by}` had been cut off and is finished now");
            screen.say(Look::Good, "undo", what);
            told(&plan, screen)
        }
        Undone::Done {
            of,
            by: Some(by),
            plan,
        } => {
            let others = text::others(&plan.others);
            let what = format_args!("`{of}` is undone{others}; `{by}` can be undone itself");
            screen.say(Look::Good, "undo", what);
            told(&plan, screen)
        }
        Undone::Done { of, by: None, plan } => {
            let what = format_args!("nothing of `{of}` can be brought back");
            screen.say(Look::Bad, "error", what);
            told(&plan, screen)
        }
    }
}

/// Says what was done, or would be.
fn told(plan: &Plan, screen: Screen) -> Result<Exit, Failure> {
    let mut exit = Exit::Done;
    for left in &plan.left {
        let path = visible(&left.path.to_string(), Lines::Escape);
        let reason = left.why.reason();
        let what = format_args!("`{path}` stays as it is: {reason}");
        screen.say(Look::Warning, "warning", what);
        if left.why.is_loss() {
            exit = Exit::Failed;
        }
    }
    super::finish(screen, &text::steps(&plan.steps), exit)
}

/// Says why nothing was done.
fn refuse(of: &str, plan: &Plan, screen: Screen) -> Exit {
    let others = text::others(&plan.others);
    let what = format_args!("`{of}` is not undone{others}, and nothing was changed");
    screen.say(Look::Bad, "error", what);
    for conflict in &plan.conflicts {
        screen.write_talk(&format!("  {}\n", text::conflict(conflict)));
    }
    if plan.is_cut_off {
        screen.write_talk(
            "  the call was cut off: all that has changed in the workspace since it began, by \
             whomever, would be put back:\n",
        );
        screen.write_talk(&text::steps(&plan.steps));
    }
    let has_later = plan
        .conflicts
        .iter()
        .any(|conflict| !conflict.later.is_empty());
    let help = if has_later {
        "undo the later calls first, the last one first, or use --force: what it overwrites is kept"
    } else {
        "use --force to do it all the same: what it overwrites is kept and can be brought back"
    };
    screen.say(Look::Strong, "help", help);
    Exit::Failed
}

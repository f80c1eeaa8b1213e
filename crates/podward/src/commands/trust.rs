//! `podward trust DIR`: lets a project's layer do more than tighten, as its file is now.

use podward_pod::{
    Clock as _, LAYER_FILE, PROJECT_DIR, Places, Standing, SystemClock, TrustError, TrustStore,
    read_guarded,
};
use podward_view::{Lines, visible};

use crate::arguments::Trust;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::layers;
use crate::screen::{Look, Screen};

pub(super) fn run(arguments: &Trust, screen: Screen) -> Result<Exit, Failure> {
    let places = layers::places()?;
    if arguments.revoke {
        let was_trusted = TrustStore::revoke(&places, &arguments.directory)?;
        let what = if was_trusted {
            "is no longer trusted"
        } else {
            "was not trusted"
        };
        let project = arguments.directory.display().to_string();
        screen.say(Look::Strong, "trust", format_args!("`{project}` {what}"));
        return Ok(Exit::Done);
    }
    trust(&places, arguments, screen)
}

fn trust(places: &Places, arguments: &Trust, screen: Screen) -> Result<Exit, Failure> {
    let layer = arguments.directory.join(PROJECT_DIR).join(LAYER_FILE);
    let bytes = read_guarded(&layer, places.accounts())
        .map_err(TrustError::File)?
        .ok_or_else(|| TrustError::NoLayer(layer.clone()))?;
    // It is shown to be read before it is believed: never as the terminal would obey it.
    let text = visible(&String::from_utf8_lossy(&bytes), Lines::Keep);
    let record = TrustStore::trust(places, &arguments.directory, SystemClock.now())?;
    let project = arguments
        .directory
        .canonicalize()
        .unwrap_or_else(|_| arguments.directory.clone());
    if TrustStore::load(places)?.standing(&project, &bytes) != Standing::Trusted {
        // What was shown is not what was recorded.
        TrustStore::revoke(places, &arguments.directory)?;
        return Err(Failure::ChangedMeanwhile(layer));
    }
    let shown = layer.display();
    screen.say(
        Look::Strong,
        "trust",
        format_args!("{} as it is now, {}", shown, record.digest),
    );
    super::finish(screen, &text, Exit::Done)
}

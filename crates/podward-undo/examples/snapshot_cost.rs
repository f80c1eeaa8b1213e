//! What keeping costs: run by hand, `cargo run --release -p podward-undo --example snapshot_cost`.
//!
//! Makes a tree of 50 000 files in a temporary directory and times a deed that may change anything:
//! the first one, which reads every file, and later ones, which read only what changed.

use std::error::Error;
use std::fs;
use std::time::Instant;

use podward_undo::{Deed, DeedName, Force, History, Keeper, Reach, Settings, Wanted};

const DIRECTORIES: usize = 1000;
const FILES: usize = 50;

fn main() -> Result<(), Box<dyn Error>> {
    let dir = tempfile::tempdir()?;
    let (workspace, state) = (dir.path().join("w"), dir.path().join("state"));
    fs::create_dir(&state)?;
    for directory in 0..DIRECTORIES {
        let path = workspace.join(format!("part-{}/directory-{directory}", directory % 10));
        fs::create_dir_all(&path)?;
        for file in 0..FILES {
            let text = format!("{directory} {file}\n").repeat(200);
            fs::write(path.join(format!("file-{file}.txt")), text)?;
        }
    }
    let keeper = || {
        Keeper::new(
            state.join("undo"),
            &workspace,
            "S",
            Settings::default(),
            vec![],
        )
    };
    let deed = |call: &str| Deed {
        name: DeedName {
            call: call.to_owned(),
            tool: "bash".to_owned(),
            summary: String::new(),
        },
        reach: Reach::Workspace(Vec::new()),
        time: 0,
    };
    let report = |what: &str, since: Instant| {
        let line = format!("{what}: {} ms\n", since.elapsed().as_millis());
        std::io::Write::write_all(&mut std::io::stdout(), line.as_bytes())
    };
    for (pod, calls) in [("first pod", 3), ("second pod", 2)] {
        let keeper = keeper();
        for call in 0..calls {
            let start = Instant::now();
            let running = keeper.before(deed(&format!("{pod}-{call}")))?;
            report(&format!("{pod}, call {call}, before"), start)?;
            if call == 1 {
                fs::write(workspace.join("part-0/directory-0/file-0.txt"), pod)?;
            }
            let start = Instant::now();
            running.after();
            report(&format!("{pod}, call {call}, after"), start)?;
        }
    }
    let keeper = keeper();
    let running = keeper.before(deed("disaster"))?;
    fs::remove_dir_all(workspace.join("part-0"))?;
    running.after();
    drop(keeper);
    let start = Instant::now();
    let wanted = Wanted {
        session: "S",
        call: Some("disaster"),
        force: Force::No,
        time: 0,
        left_out: Vec::new(),
    };
    History::undo(&state.join("undo"), &wanted)?;
    report("undo of 5 000 deleted files", start)?;
    Ok(())
}

//! What is kept before which deed.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use podward_policy::Lowered;
use serde_json::json;

use super::reads::only_reads;
use super::{Deed, Keep, Kept, NotKept, Reach, written_paths};
use crate::fixture::World;
use crate::lower::shell::lower_command;

/// Writes down what it is asked to keep.
#[derive(Default)]
struct Keeper {
    log: Arc<Mutex<Vec<String>>>,
    fails: bool,
}

struct Noted {
    log: Arc<Mutex<Vec<String>>>,
    path: PathBuf,
}

impl Keep for Keeper {
    fn before(&self, deed: &Deed<'_>) -> Result<Box<dyn Kept>, NotKept> {
        if self.fails {
            return Err(NotKept::new("the disk is full"));
        }
        let Reach::File(path) = &deed.reach else {
            panic!("{deed:?}");
        };
        let path = path.clone();
        let log = Arc::clone(&self.log);
        log.lock().unwrap().push(state("before", &path));
        Ok(Box::new(Noted { log, path }))
    }
}

impl Kept for Noted {
    fn after(self: Box<Self>) {
        let line = state("after", &self.path);
        self.log.lock().unwrap().push(line);
    }
}

fn state(when: &str, path: &std::path::Path) -> String {
    let name = path.file_name().unwrap().to_str().unwrap();
    let contents = std::fs::read_to_string(path).unwrap_or_else(|_| "-".to_owned());
    format!("{when} {name}: {contents}")
}

#[test]
fn a_file_is_kept_before_it_is_changed_and_looked_at_after() {
    let mut world = World::new().with(&[("f", "old"), ("g", "old")]);
    let keeper = Keeper::default();
    let log = Arc::clone(&keeper.log);
    world.keep = Some(Arc::new(keeper));
    world.text("file_write", json!({"path": "f", "content": "new"}));
    world.text("file_write", json!({"path": "d/n", "content": "new"}));
    let edit = json!({"path": "g", "old_string": "old", "new_string": "new"});
    world.text("file_edit", edit.clone());
    // Nothing is changed by what fails first, so nothing is kept.
    world.failure("file_edit", edit);
    assert_eq!(
        *log.lock().unwrap(),
        [
            "before f: old",
            "after f: new",
            "before n: -",
            "after n: new",
            "before g: old",
            "after g: new",
        ]
    );
}

#[test]
fn what_cannot_be_kept_is_not_changed() {
    let mut world = World::new().with(&[("f", "old")]);
    world.keep = Some(Arc::new(Keeper {
        fails: true,
        ..Keeper::default()
    }));
    for (tool, arguments) in [
        ("file_write", json!({"path": "f", "content": "new"})),
        (
            "file_edit",
            json!({"path": "f", "old_string": "old", "new_string": "new"}),
        ),
    ] {
        let text = world.failure(tool, arguments);
        assert!(
            text.contains("nothing was done")
                && text.contains("the disk is full")
                && text.contains("`keep = false`"),
            "{text}"
        );
    }
    assert_eq!(world.contents("f"), "old");
}

fn lowered(world: &World, command: &str) -> Lowered {
    lower_command(command, &world.place())
}

#[test]
fn only_what_is_known_to_change_nothing_counts_as_a_reader() {
    let world = World::new();
    let ctx = world.context();
    for command in [
        "ls",
        "ls -la src",
        "cat a b 2>/dev/null",
        "cd src && grep -rn x . | head -5 | wc -l",
        "find . -name '*.md' -type f",
        "sort a -u | uniq -c",
        "# nothing",
        "echo done",
    ] {
        assert!(only_reads(&lowered(&world, command), &ctx), "{command}");
    }
    for command in [
        "ls > f",
        "cat $x",
        "cat \"$(rm f)\"",
        "rm f",
        "sort a -o b",
        "sort -ob a",
        "sort --output=b a",
        "uniq a b",
        "find . -delete",
        "find . -exec rm {} +",
        "find . -fprint f",
        "git status",
        "make",
        "./ls",
        "/tmp/ls",
        "LD_PRELOAD=x ls",
        "ls() { rm f; }; ls",
        "eval ls",
        "PATH=. ls",
        "sh -c ls",
        "ls; touch x",
        "python3 -c 'print(1)'",
        "echo x | sh",
        "(",
    ] {
        assert!(!only_reads(&lowered(&world, command), &ctx), "{command}");
    }
}

#[test]
fn a_path_into_the_workspace_makes_no_reader() {
    let world = World::new();
    let mut ctx = world.context();
    let bin = world.path("bin");
    ctx.environment = vec![("PATH".into(), format!("/bin:{}", bin.display()).into())];
    assert!(!only_reads(&lowered(&world, "ls"), &ctx));
}

#[test]
fn what_a_command_names_as_written_is_found() {
    let world = World::new();
    let found = written_paths(&lowered(
        &world,
        "rm -rf src && echo x > out.txt; sed -i s/a/b/ e; mv m n",
    ));
    let names = ["e", "m", "n", "n/m", "out.txt", "src"].map(|name| world.path(name));
    assert_eq!(found, names);
}

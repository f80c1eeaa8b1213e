use std::os::unix::fs::symlink;

use podward_policy::Action;
use podward_scope::{Access, Root};
use serde_json::{Value, json};

use crate::fixture::{World, policies};
use crate::tool::Meanwhile;

fn edit(path: &str, old: &str) -> (&'static str, Value) {
    let arguments = json!({"path": path, "old_string": old, "new_string": "new"});
    ("file_edit", arguments)
}

fn write(path: &str) -> (&'static str, Value) {
    ("file_write", json!({"path": path, "content": "new"}))
}

fn at(tool: &'static str, path: &str) -> (&'static str, Value) {
    let mut arguments = json!({"path": path});
    if ["grep", "glob"].contains(&tool) {
        arguments["pattern"] = "x".into();
    }
    (tool, arguments)
}

/// A world in which the rules ask about everything but what `allowed` names.
fn world(allowed: &[&str]) -> World {
    let mut world = World::new().with(&[("f", "one\ntwo\ntwo\n"), ("dir/", ""), ("shut/a", "a")]);
    world.write("../outside/secret", b"s");
    symlink(world.path("../outside"), world.path("out")).unwrap();
    symlink(world.root(), world.path("../outside/in")).unwrap();
    world.decl.deny.push(Root {
        path: "shut".into(),
        access: Access::Read,
        declared: None,
    });
    let rules: Vec<_> = allowed
        .iter()
        .map(|tool| (*tool, "*", Action::Allow))
        .collect();
    world.policies = policies(Action::Ask, &rules);
    world
}

/// What can only fail, as calls that fail, and calls that may succeed.
fn failing_and_others() -> [Vec<(&'static str, Value)>; 2] {
    [
        vec![
            edit("f", "three"),
            edit("f", "two"),
            edit("gone", "one"),
            edit("dir", "one"),
            edit("f/x", "one"),
            edit("out/secret", "s"),
            edit("../outside/secret", "s"),
            edit("shut/a", "a"),
            write("../outside/new"),
            write("out/new"),
            write("dir"),
            write("f/x"),
            write("shut/b"),
            at("read", "gone"),
            at("read", "dir"),
            at("read", "shut/a"),
            at("grep", "gone"),
            at("grep", "shut"),
            at("glob", "f"),
            at("list", "gone"),
        ],
        vec![
            edit("f", "one"),
            write("f"),
            write("new"),
            write("a/b/c/new"),
            write("../outside/in/new"),
            edit("../outside/in/f", "one"),
            at("read", "f"),
            at("grep", "."),
            at("glob", "dir"),
            at("list", "dir"),
        ],
    ]
}

#[test]
fn what_is_found_before_is_what_the_call_ends_with() {
    let [failing, others] = failing_and_others();
    for (tool, arguments) in failing {
        let world = world(&["read"]);
        let found = world.precheck(tool, arguments.clone(), Meanwhile::NothingChanges);
        let error = world.failure(tool, arguments.clone());
        assert_eq!(found, Some(Err(error)), "{tool} {arguments}");
    }
    for (tool, arguments) in others {
        let world = world(&["read"]);
        let found = world.precheck(tool, arguments.clone(), Meanwhile::NothingChanges);
        assert_eq!(found, Some(Ok(())), "{tool} {arguments}");
        world.text(tool, arguments);
    }
}

/// Where a person decides about reading, or another call may change what is there, only the roots of the
/// scope are told, and nothing of what is on disk: not even where a link leads.
#[test]
fn without_leave_to_read_only_the_scope_speaks() {
    let outside = "lies outside the roots that may be written; may be written: ";
    let told: &[(&str, &str, &str)] = &[
        ("file_edit", "../outside/secret", outside),
        ("file_edit", "../outside/gone", outside),
        ("file_edit", "../outside/secret/x", outside),
        (
            "file_edit",
            "shut/a",
            "may not be written: the scope denies ",
        ),
        ("file_write", "../outside/new", outside),
        (
            "file_write",
            "shut/gone",
            "may not be written: the scope denies ",
        ),
        ("read", "shut/a", "may not be read: the scope denies "),
        ("read", "shut/gone", "may not be read: the scope denies "),
        ("grep", "shut", "may not be read: the scope denies "),
    ];
    let arguments = |tool, path| match tool {
        "file_edit" => edit(path, "s").1,
        "file_write" => write(path).1,
        tool => at(tool, path).1,
    };
    let [failing, others] = failing_and_others();
    for (allowed, meanwhile) in [
        (&["grep", "file_edit"][..], Meanwhile::NothingChanges),
        (&["read"][..], Meanwhile::FilesChange),
    ] {
        let world = world(allowed);
        for (tool, path, words) in told {
            let found = world.precheck(tool, arguments(*tool, path), meanwhile);
            let Some(Err(error)) = found else {
                panic!("{tool} {path}: {found:?}");
            };
            assert!(error.contains(words), "{error}");
            assert!(error.contains(&format!(
                "{}",
                world.path(path).file_name().unwrap().display()
            )));
            assert_eq!(error, world.failure(tool, arguments(*tool, path)));
        }
        for (tool, arguments) in failing.iter().chain(&others) {
            let path = arguments["path"].as_str().unwrap();
            if !told.iter().any(|(of, told, _)| of == tool && *told == path) {
                let found = world.precheck(tool, arguments.clone(), meanwhile);
                let is_scope = path.starts_with("shut") || path.starts_with("../outside/secret");
                assert!(found.is_none() || is_scope, "{tool} {path}: {found:?}");
            }
        }
    }
}

/// A link that leads out: its end is not told, unless that may be read.
#[test]
fn where_a_link_leads_is_not_told() {
    let world = world(&[]);
    let (tool, arguments) = write("out/new");
    assert_eq!(
        world.precheck(tool, arguments, Meanwhile::NothingChanges),
        None
    );
    symlink(world.path("dir"), world.path("../outside/link")).unwrap();
    symlink(world.path("../home"), world.path("../outside/away")).unwrap();
    let (tool, arguments) = write("../outside/link/new");
    assert_eq!(
        world.precheck(tool, arguments, Meanwhile::NothingChanges),
        None
    );
    let (tool, arguments) = write("../outside/away/new");
    let found = world.precheck(tool, arguments, Meanwhile::NothingChanges);
    let Some(Err(error)) = found else {
        panic!("{found:?}");
    };
    assert!(error.contains("outside/away/new"), "{error}");
}

/// Of a place that is judged by its text nobody knows where it leads.
#[test]
fn by_text_alone_nothing_is_found() {
    let world = world(&[]);
    let mut ctx = world.context();
    ctx.place = ctx.place.isolated();
    for (tool, arguments) in failing_and_others().concat() {
        let proposal = crate::Registry::built_in()
            .propose(tool, arguments, &ctx.place)
            .unwrap();
        let look = proposal
            .invocation
            .precheck(&ctx, Meanwhile::NothingChanges);
        assert!(look.is_none(), "{tool}");
    }
}

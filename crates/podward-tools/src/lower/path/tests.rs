use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use podward_policy::{Action, Need, Operation, PathForm, Subject, ToolName};
use proptest::prelude::*;

use super::Target;
use crate::files::may_read;
use crate::fixture::{World, policies, text_place};
use crate::lower::names;
use crate::tool::Place;

fn read() -> ToolName {
    names::built_in(names::READ)
}

fn target(raw: &str, place: &Place) -> Target {
    Target::parse(&read(), "path", raw, place).unwrap()
}

/// `short | absolute | home` of a form.
fn line(form: &PathForm) -> String {
    let home = form.home.as_ref().map_or("-", |home| home.known_part());
    format!(
        "{} | {} | {home}",
        form.short.known_part(),
        form.absolute.known_part()
    )
}

/// Every operation of a call, one a line, with all its forms.
fn operations(raw: &str, place: &Place) -> Vec<String> {
    target(raw, place)
        .operations(&read(), &[])
        .iter()
        .map(|operation| {
            let what = match &operation.subject {
                Subject::Path(path) => {
                    let mut forms = vec![line(&path.lexical)];
                    forms.extend(path.resolved.iter().map(line));
                    forms.extend(path.further.iter().map(line));
                    forms.join(" ; ")
                }
                Subject::Unknown(reason) => format!("unknown: {}", reason.as_str()),
                other => panic!("{other:?}"),
            };
            format!("{}: {what}", operation.tool)
        })
        .collect()
}

#[test]
fn a_path_is_relative_inside_the_workspace_and_absolute_outside() {
    let cases: &[(&str, &[&str])] = &[
        (
            "src/main.rs",
            &["read: src/main.rs | /work/src/main.rs | -"],
        ),
        (
            "./src//main.rs",
            &["read: src/main.rs | /work/src/main.rs | -"],
        ),
        (
            "src/x/../main.rs",
            &["read: src/main.rs | /work/src/main.rs | -"],
        ),
        (
            "/work/src/main.rs",
            &["read: src/main.rs | /work/src/main.rs | -"],
        ),
        ("src/", &["read: src | /work/src | -"]),
        (".", &["read: . | /work | -"]),
        ("/work", &["read: . | /work | -"]),
        ("a/..", &["read: . | /work | -"]),
        (
            "../x",
            &["read: /x | /x | -", "external_directory: /x | /x | -"],
        ),
        (
            "../../../x",
            &["read: /x | /x | -", "external_directory: /x | /x | -"],
        ),
        (
            "/workshop/x",
            &[
                "read: /workshop/x | /workshop/x | -",
                "external_directory: /workshop/x | /workshop/x | -",
            ],
        ),
        (
            "~/.ssh/id",
            &[
                "read: /home/ada/.ssh/id | /home/ada/.ssh/id | ~/.ssh/id",
                "external_directory: /home/ada/.ssh/id | /home/ada/.ssh/id | ~/.ssh/id",
            ],
        ),
        (
            "~/proj/../.ssh/id",
            &[
                "read: /home/ada/.ssh/id | /home/ada/.ssh/id | ~/.ssh/id",
                "external_directory: /home/ada/.ssh/id | /home/ada/.ssh/id | ~/.ssh/id",
            ],
        ),
        (
            "~",
            &[
                "read: /home/ada | /home/ada | ~",
                "external_directory: /home/ada | /home/ada | ~",
            ],
        ),
        ("~x/y", &["read: ~x/y | /work/~x/y | -"]),
        ("src/~/y", &["read: src/~/y | /work/src/~/y | -"]),
        ("/dev/null", &["read: /dev/null | /dev/null | -"]),
        ("a\u{a0}b", &["read: a\u{a0}b | /work/a\u{a0}b | -"]),
    ];
    for (raw, expected) in cases {
        assert_eq!(operations(raw, &text_place()), *expected, "{raw}");
    }
}

#[test]
fn the_kernels_aliases_are_resolved_by_text_or_unknown() {
    let own = [
        ("/proc/self/cwd/a", "a | /work/a | - ; /proc/self/cwd/a"),
        (
            "/proc/thread-self/cwd/./a",
            "a | /work/a | - ; /proc/thread-self/cwd/a",
        ),
        ("/proc/self/cwd/../work/a", "a | /work/a | -"),
        (
            "/proc/self/root/work/a",
            "a | /work/a | - ; /proc/self/root/work/a",
        ),
        ("/proc/self/root/proc/self/cwd/a", "a | /work/a | -"),
    ];
    for (raw, expected) in own {
        let operations = operations(raw, &text_place());
        assert_eq!(operations.len(), 1, "{raw}: {operations:?}");
        assert!(
            operations[0].starts_with(&format!("read: {expected}")),
            "{raw}: {operations:?}"
        );
    }
    let unknown = [
        "/proc/1/cwd/a",
        "/proc/1/root/work/a",
        "/proc/self/fd/3",
        "/proc/self/fd",
        "/proc/12/fd/3",
        "/proc/self/task/12/cwd/a",
        "/proc/self/task/12/fd/0",
        "/proc/self/exe",
        "/proc/self/map_files/x",
        "/dev/fd/3",
        "/dev/stdin",
        "/dev/../dev/fd/3",
        "../proc/self/fd/3",
    ];
    for raw in unknown {
        let operations = operations(raw, &text_place());
        assert!(
            operations
                .iter()
                .any(|line| line.starts_with("read: unknown: ")),
            "{raw}: {operations:?}"
        );
        assert!(
            operations[0].starts_with("read: /"),
            "{raw}: {operations:?}"
        );
    }
    let plain = [
        "/proc/cpuinfo",
        "/proc/self/status",
        "/dev/fdx",
        "proc/self/cwd/a",
        "/proc/selfish/cwd",
    ];
    for raw in plain {
        let operations = operations(raw, &text_place());
        assert!(
            !operations.iter().any(|line| line.contains("unknown")),
            "{raw}: {operations:?}"
        );
    }
}

#[test]
fn what_can_be_no_path_is_a_bad_call() {
    let long = "a/".repeat(2048);
    for (raw, problem) in [
        ("", "`path` is empty"),
        ("a\0b", "NUL"),
        (long.as_str(), "longer than a path can be"),
    ] {
        let error = Target::parse(&read(), "path", raw, &text_place()).unwrap_err();
        assert!(error.to_string().contains(problem), "{error}");
    }
    let mut homeless = text_place();
    homeless.home = None;
    let error = Target::parse(&read(), "path", "~/x", &homeless).unwrap_err();
    assert!(
        error.to_string().contains("no home directory is known"),
        "{error}"
    );
}

#[test]
fn a_link_is_seen_as_it_is_written_and_where_it_leads() {
    let world = World::new().with(&[("secrets/key", "k"), ("src/", "")]);
    symlink("../secrets", world.path("src/s")).unwrap();
    symlink("src/s", world.path("hop")).unwrap();
    symlink(world.path("../outside"), world.path("out")).unwrap();
    let root = world.root().display().to_string();
    let real = world.real().display().to_string();
    let check = |raw: &str, expected: &[String]| {
        assert_eq!(operations(raw, &world.place()), expected, "{raw}");
    };
    check(
        "src/s/key",
        &[format!(
            "read: src/s/key | {root}/src/s/key | - ; secrets/key | {root}/secrets/key | -"
        )],
    );
    // Each hop is a spelling that a rule may name.
    check(
        "hop/key",
        &[format!(
            "read: hop/key | {root}/hop/key | - ; secrets/key | {root}/secrets/key | - ; \
             src/s/key | {root}/src/s/key | -"
        )],
    );
    // What does not exist yet keeps its resolved parent.
    check(
        "src/s/new/file",
        &[format!(
            "read: src/s/new/file | {root}/src/s/new/file | - ; secrets/new/file | \
             {root}/secrets/new/file | -"
        )],
    );
    // A link that leads out is outside, and named so.
    check(
        "out/x",
        &[
            format!("read: out/x | {root}/out/x | - ; {real}/outside/x | {real}/outside/x | -"),
            format!("external_directory: {real}/outside/x | {real}/outside/x | -"),
        ],
    );
    assert_eq!(
        target("hop/key", &world.place()).absolute(),
        world.path("secrets/key")
    );
}

#[test]
fn the_workspace_is_itself_under_each_of_its_names() {
    let world = World::new().with(&[("src/a", "")]);
    let alias = world.real().join("alias");
    symlink(world.root(), &alias).unwrap();
    let real = world.real().display().to_string();
    let place = Place::new(&alias, None);
    for raw in [
        "src/a".to_owned(),
        format!("{real}/alias/src/a"),
        format!("{real}/w/src/a"),
    ] {
        let subjects = target(&raw, &place).operations(&read(), &[]);
        let [
            Operation {
                subject: Subject::Path(path),
                ..
            },
        ] = subjects.as_slice()
        else {
            panic!("{raw}: {subjects:?}");
        };
        assert_eq!(path.lexical.short.known_part(), "src/a", "{raw}");
        // So an allow for either absolute spelling covers it.
        assert_eq!(path.resolved, None, "{raw}");
        let mut absolute: Vec<String> = [Some(&path.lexical), path.resolved.as_ref()]
            .into_iter()
            .flatten()
            .chain(&path.further)
            .map(|form| form.absolute.known_part().to_owned())
            .collect();
        absolute.sort();
        assert_eq!(
            absolute,
            [format!("{real}/alias/src/a"), format!("{real}/w/src/a")],
            "{raw}"
        );
    }
}

#[test]
fn links_in_a_circle_lead_to_nothing_known() {
    let world = World::new();
    symlink("b", world.path("a")).unwrap();
    symlink("a", world.path("b")).unwrap();
    let operations = operations("a/x", &world.place());
    assert!(
        operations.contains(&"read: unknown: too many symlinks".to_owned()),
        "{operations:?}"
    );
}

#[test]
fn a_link_to_a_kernel_alias_is_unknown() {
    let world = World::new();
    symlink("/proc/self/fd/0", world.path("stdin")).unwrap();
    symlink("/dev/fd", world.path("fds")).unwrap();
    for raw in ["stdin", "fds/3"] {
        let operations = operations(raw, &world.place());
        assert!(
            operations
                .iter()
                .any(|line| line.starts_with("read: unknown")),
            "{raw}: {operations:?}"
        );
    }
}

#[test]
fn restrictive_operations_are_of_the_same_path() {
    let other = names::built_in(names::FILE_WRITE);
    let operations = target("a", &text_place()).operations(&read(), std::slice::from_ref(&other));
    let needs: Vec<_> = operations
        .iter()
        .map(|operation| (operation.tool.as_str(), operation.need))
        .collect();
    assert_eq!(
        needs,
        [("read", Need::Full), ("file_write", Need::Restrictive)]
    );
    assert_eq!(operations[0].subject, operations[1].subject);
}

#[test]
fn an_entry_of_a_tree_is_the_target_of_its_path() {
    let world = World::new().with(&[("real/sub/file", "")]);
    symlink("real", world.path("link")).unwrap();
    for (root, below) in [
        (".", "real/sub/file"),
        ("link", "sub/file"),
        ("real/sub", "file"),
        ("../outside", "x/y"),
    ] {
        let place = world.place();
        let root = target(root, &place);
        let tree = super::Tree::new(&root, &place);
        let below_parts: Vec<_> = PathBuf::from(below).iter().map(Into::into).collect();
        let expected = Target::of(&root.lexical().join(below), &place);
        assert_eq!(tree.target(&below_parts), expected, "{below}");
    }
}

/// A way to write the same path.
#[derive(Debug, Clone)]
enum Detour {
    None,
    Dot,
    Slashes,
    AndBack(String),
}

fn detour() -> impl Strategy<Value = Detour> {
    prop_oneof![
        Just(Detour::None),
        Just(Detour::Dot),
        Just(Detour::Slashes),
        "[a-z.]{0,3}[a-z]".prop_map(Detour::AndBack),
    ]
}

fn spelled(parts: &[String], detours: &[Detour]) -> String {
    let mut raw = String::new();
    for (part, detour) in parts.iter().zip(detours) {
        match detour {
            Detour::None => {}
            Detour::Dot => raw.push_str("./"),
            Detour::Slashes if raw.is_empty() => {}
            Detour::Slashes => raw.push_str("//"),
            Detour::AndBack(name) => raw.push_str(&format!("{name}/../")),
        }
        raw.push_str(part);
        raw.push('/');
    }
    raw.pop();
    raw
}

fn swap_case(text: &str, mask: u64) -> String {
    text.chars()
        .enumerate()
        .map(|(idx, char)| {
            if mask >> (idx % 64) & 1 == 1 {
                char.to_ascii_uppercase()
            } else {
                char
            }
        })
        .collect()
}

proptest! {
    #[test]
    fn every_spelling_of_a_path_has_the_same_forms(
        parts in prop::collection::vec("[a-z]{1,4}(\\.[a-z]{1,3})?", 1..5),
        detours in prop::collection::vec(detour(), 5),
        prefix in prop::sample::select(vec!["", "./", "/work/", "/proc/self/cwd/", "/../work/", "~/../../work/", "../work/"]),
    ) {
        let plain = parts.join("/");
        let raw = format!("{prefix}{}", spelled(&parts, &detours));
        let spelled = target(&raw, &text_place());
        let direct = target(&plain, &text_place());
        prop_assert_eq!(&spelled.subject.lexical, &direct.subject.lexical);
        prop_assert_eq!(spelled.absolute(), direct.absolute());
        prop_assert_eq!(spelled.outside, direct.outside);
    }

    #[test]
    fn no_spelling_of_a_path_escapes_a_deny_rule(
        parts in prop::collection::vec("[a-z]{1,4}", 0..4),
        detours in prop::collection::vec(detour(), 6),
        prefix in prop::sample::select(vec!["", "./", "/work/", "/proc/self/cwd/", "../work/"]),
        mask in any::<u64>(),
    ) {
        let denied = policies(Action::Allow, &[("read", "secrets/*", Action::Deny)]);
        let mut path = vec!["secrets".to_owned()];
        path.extend(parts);
        let raw = format!("{prefix}{}", spelled(&path, &detours));
        prop_assert!(!may_read(&denied, &target(&raw, &text_place())), "{}", raw);
        let shouted = format!("{prefix}{}", swap_case(&spelled(&path, &detours), mask));
        prop_assert!(!may_read(&denied, &target(&shouted, &text_place())), "{}", shouted);
    }

    #[test]
    fn a_canonical_path_is_its_own_canonical_path(raw in "[a-z./~\\\\ é]{1,24}") {
        let once = target(&raw, &text_place());
        let again = target(once.absolute().to_str().unwrap(), &text_place());
        prop_assert_eq!(&once.subject.lexical, &again.subject.lexical);
        prop_assert_eq!(once.absolute(), again.absolute());
        let short = once.subject.lexical.short.known_part();
        if !short.starts_with('~') {
            let from_short = target(short, &text_place());
            prop_assert_eq!(from_short.absolute(), once.absolute());
        }
    }

    #[test]
    fn any_text_is_a_path_or_a_bad_call(raw in any::<String>()) {
        let _ = Target::parse(&read(), "path", &raw, &text_place());
    }
}

#[test]
fn a_link_on_disk_does_not_escape_a_deny_rule() {
    let world = World::new().with(&[("secrets/key", "k"), ("src/", "")]);
    symlink("../secrets/key", world.path("src/notes.txt")).unwrap();
    symlink("src/notes.txt", world.path("twice")).unwrap();
    fs::hard_link(world.path("secrets/key"), world.path("src/other")).unwrap();
    let denied = policies(Action::Allow, &[("read", "secrets/*", Action::Deny)]);
    for raw in ["src/notes.txt", "twice", "src/../twice"] {
        assert!(!may_read(&denied, &target(raw, &world.place())), "{raw}");
    }
    // A hard link is another name of the file, and nothing tells that it is one.
    assert!(may_read(&denied, &target("src/other", &world.place())));
}

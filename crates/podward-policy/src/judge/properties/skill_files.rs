//! The own files of active skills: what is asked about reading them is allowed, and nothing else.

use std::sync::Arc;

use super::*;
use crate::asking::Asking;
use crate::skill::{SkillFiles, SkillLayer, SkillLists};

/// `x` of the workspace, by the name in which it is written and by the one that it resolves to.
const DIRECTORIES: [&str; 2] = ["/w/x", "/real/x"];

const PATHS: &[&str] = &[
    "x",
    "x/a",
    "x/b/.env",
    "/real/x",
    "/real/x/a",
    "xy/a",
    ".env",
    "/real/xy",
    "/etc/x",
    ".",
    "x/‹q›",
];

fn lists(name: &str) -> SkillLists {
    SkillLists {
        name: name.into(),
        digest: "sha256:0".into(),
        allowed: None,
    }
}

fn owner() -> SkillLayer {
    SkillLayer::unrestricted(lists("owner")).with_files(SkillFiles::below(DIRECTORIES).unwrap())
}

/// Mostly calls that read paths.
fn a_reading_call() -> impl Strategy<Value = Lowered> {
    let tools = &["read", "grep", "glob", "list", "external_directory"];
    let resolved = prop::option::weighted(0.4, select(PATHS));
    let read = (select(&tools[..]), select(PATHS), resolved).prop_map(|(tool, short, resolved)| {
        let need = match tool {
            "external_directory" => Need::Restrictive,
            _ => Need::Full,
        };
        operation(tool, path(short, resolved), need)
    });
    prop_oneof![
        6 => vec(read.clone(), 1..4).prop_map(|operations| call(&operations)),
        1 => (read, an_operation()).prop_map(|(read, other)| call(&[read, other])),
        1 => a_call(),
    ]
}

/// A table that asks often.
fn an_asking_table() -> impl Strategy<Value = String> {
    let tool = select(
        &[
            "read",
            "grep",
            "external_directory",
            "*",
            "list",
            "file_write",
        ][..],
    );
    let pattern = select(&["*", "x/*", "*.env", "/w/x/*", "/real/*", "x/?", "/etc/*"][..]);
    let action = select(&["allow", "ask", "ask", "deny"][..]);
    let rule = (tool, pattern, action).prop_map(|(t, p, a)| format!("\n{t} | {p} | {a}"));
    let default = select(&["allow", "ask", "ask", "deny"][..]);
    (default, vec(rule, 0..4)).prop_map(|(default, rules)| format!("{default}{}", rules.concat()))
}

/// In the simplest words: whether all that a call does is to read in the directories.
fn only_reads_there(lowered: &Lowered) -> bool {
    let Lowered::Operations(operations) = lowered else {
        return false;
    };
    let mut n_reads = 0;
    for operation in operations.iter() {
        match operation.tool.as_str() {
            "read" | "grep" | "glob" | "list" => n_reads += 1,
            "external_directory" => {}
            _ => return false,
        }
        let Subject::Path(path) = &operation.subject else {
            return false;
        };
        for form in [Some(&path.lexical), path.resolved.as_ref()] {
            let is_there = form.is_none_or(|form| match form.absolute.as_known() {
                Some(path) => DIRECTORIES
                    .iter()
                    .any(|directory| format!("{path}/").starts_with(&format!("{directory}/"))),
                None => false,
            });
            if !is_there {
                return false;
            }
        }
    }
    n_reads > 0
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn an_ask_about_reading_a_skills_own_files_is_allowed_and_nothing_else_is(
        first in an_asking_table(),
        second in an_asking_table(),
        is_grantable in prop::bool::weighted(0.8),
        listed in prop::option::of(a_table()),
        lowered in a_reading_call(),
    ) {
        let compiled = |text: &str| {
            let mut spec = table(text);
            for rule in &mut spec.rules {
                rule.grantable = is_grantable;
            }
            Policy::compile(&spec, &KnownTools::built_in()).unwrap().policy
        };
        let layers = [(LayerKind::User, &first), (LayerKind::Manifest, &second)];
        let layers = layers.map(|(kind, text)| (LayerName { kind }, compiled(text)));
        let rules = Policies::new(layers.into());
        let lists = listed.map(|text| Arc::new(SkillLayer::new(lists("lists"), compiled(&text))));
        let without = rules.under(lists.clone());
        let with = rules.under(lists.into_iter().chain([Arc::new(owner())]));

        let (before, after) = (without.judge(&lowered), with.judge(&lowered));
        let asking = without.asking(&lowered);
        let may_be_left = asking.iter().all(|asking: &Asking| asking.grantable);
        if before.action == Action::Ask && only_reads_there(&lowered) && may_be_left {
            prop_assert_eq!(after.action, Action::Allow);
            prop_assert!(
                matches!(&after.cause, Cause::SkillFiles { name, .. } if **name == *"owner"),
                "{after:?}"
            );
            prop_assert_eq!((after.operation, &after.coverage), (before.operation, &before.coverage));
            prop_assert_eq!(with.asking(&lowered), vec![]);
        } else {
            prop_assert_eq!(&after, &before);
            prop_assert_eq!(with.asking(&lowered), asking);
        }
        prop_assert_eq!(with.explain(&lowered).ruling, after);
    }
}

#[test]
fn own_files_are_below_a_directory_with_a_name() {
    for path in [
        "",
        "/",
        "x",
        "/x/",
        "/x//y",
        "/x/../y",
        "/./x",
        "/x/\u{fffd}",
    ] {
        assert_eq!(SkillFiles::below([path]), None, "{path}");
    }
    let files = SkillFiles::below(["/a/x", "/b"]).unwrap();
    let held = ["/a/x", "/a/x/y", "/b", "/b/c/d"].map(|path| files.hold(path));
    let not_held = ["/a", "/a/xy", "/a/x.txt", "/bc", "/", ""].map(|path| files.hold(path));
    assert_eq!((held, not_held), ([true; 4], [false; 6]));
}

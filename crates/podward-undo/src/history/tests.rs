//! What is undone, what stands against it, and what happens when it is cut off.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use proptest::prelude::*;

use super::undo::undo_with;
use super::{State, Undone};
use crate::error::UndoError;
use crate::keeper::Reach;
use crate::plan::{Force, Plan, Reason};
use crate::testing::{World, acts, run_all};

fn plan_of(undone: Undone) -> Plan {
    match undone {
        Undone::Done { plan, .. }
        | Undone::Finished { plan, .. }
        | Undone::Refused { plan, .. } => plan,
    }
}

#[track_caller]
fn assert_done(undone: &Undone) {
    assert!(
        matches!(undone, Undone::Done { by: Some(_), .. }),
        "{undone:#?}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn an_undo_restores_the_tree_byte_for_byte_and_can_be_undone(
        made in acts(),
        disaster in acts(),
        second in acts(),
    ) {
        let world = World::new();
        world.write(".gitignore", "target/\n.env\n");
        run_all(&world.root(), &made);
        let before = world.tree();
        world.run("one", || run_all(&world.root(), &disaster));
        let between = world.tree();
        world.run("two", || run_all(&world.root(), &second));
        let after = world.tree();
        // Steps back, one call at a time; a call that changed nothing is none.
        if after != between {
            assert_done(&world.undo("two"));
            prop_assert_eq!(&world.tree(), &between);
        }
        if between != before {
            assert_done(&world.undo_last());
            prop_assert_eq!(&world.tree(), &before);
            // And forward again.
            let undos: Vec<_> = world.history().list().into_iter().filter(|one| one.undid.is_some()).collect();
            assert_done(&world.undo(&undos.last().unwrap().id));
            prop_assert_eq!(&world.tree(), &between);
            if let [two, _] = undos.as_slice() {
                assert_done(&world.undo(&two.id));
                prop_assert_eq!(&world.tree(), &after);
            }
        }
    }

    #[test]
    fn an_undo_that_is_cut_off_anywhere_is_finished_by_the_next(
        made in acts(),
        disaster in acts(),
        crash in 0..60_usize,
        second_crash in 0..20_usize,
    ) {
        let world = World::new();
        run_all(&world.root(), &made);
        let before = world.tree();
        world.run("one", || run_all(&world.root(), &disaster));
        let after = world.tree();
        prop_assume!(after != before);
        for crash in [crash, second_crash] {
            let mut n = 0;
            let mut tick = || {
                n += 1;
                if n > crash { Err(UndoError::Busy) } else { Ok(()) }
            };
            // Dies, or is done.
            let _ = undo_with(&world.base(), &world.wanted(Some("one"), Force::No), &mut tick);
        }
        let _ = undo_with(&world.base(), &world.wanted(Some("one"), Force::No), &mut || Ok(()));
        prop_assert_eq!(&world.tree(), &before);
        let list = world.history().list();
        prop_assert_eq!(list.len(), 2, "{:#?}", list);
        assert_done(&world.undo(&list[1].id));
        prop_assert_eq!(&world.tree(), &after);
    }
}

#[test]
fn undo_goes_back_call_by_call_and_never_forward() {
    let world = World::new();
    world.write("f", "0");
    world.write_file("one", "f", "1");
    world.write_file("two", "f", "2");
    world.write_file("three", "g/h", "3");
    assert_done(&world.undo_last());
    assert!(!world.path("g").exists());
    assert_done(&world.undo_last());
    assert_eq!(world.text("f"), "1");
    assert_done(&world.undo_last());
    assert_eq!(world.text("f"), "0");
    assert_eq!(
        world.undo_error(None),
        "nothing in this session is left to undo"
    );
    let ids: Vec<_> = world
        .history()
        .list()
        .into_iter()
        .map(|one| one.id)
        .collect();
    assert_eq!(ids, ["one", "two", "three", "undo:4", "undo:5", "undo:6"]);
    assert_eq!(
        world.undo_error(Some("one")),
        "`one` is undone already, by `undo:6`, which can be undone itself"
    );
    // An undo is undone by its name; then the call can be undone again.
    assert_done(&world.undo("undo:6"));
    assert_eq!(world.text("f"), "1");
    assert_eq!(world.history().list()[0].state, State::Done);
    assert_eq!(
        world.history().list()[1].state,
        State::Undone("undo:5".to_owned())
    );
    assert_done(&world.undo_last());
    assert_eq!(world.text("f"), "0");
}

#[test]
fn what_was_changed_since_is_not_overwritten() {
    let world = World::new();
    world.write("f", "0");
    world.write("g", "0");
    world.run("one", || {
        world.write("f", "1");
        world.write("g", "1");
    });
    world.write("f", "by hand");
    let Undone::Refused { plan, .. } = world.undo_last() else {
        panic!("refused");
    };
    assert_eq!(plan.conflicts.len(), 1);
    assert_eq!(plan.conflicts[0].path.to_string(), "f");
    assert_eq!(plan.conflicts[0].reason, Reason::Changed);
    assert_eq!(world.text("g"), "1");
    // By force it is; and it is kept, so that it can be brought back.
    assert_done(&world.force("one"));
    assert_eq!((world.text("f"), world.text("g")), ("0".into(), "0".into()));
    assert_done(&world.undo("undo:2"));
    assert_eq!(world.text("f"), "by hand");
    assert_eq!(world.text("g"), "1");
}

#[test]
fn later_calls_on_the_same_path_are_named() {
    let world = World::new();
    world.write("f", "0");
    world.write("g", "0");
    world.write_file("one", "f", "1");
    world.write_file("other", "g", "1");
    world.write_file("two", "f", "2");
    world.write_file("three", "f", "3");
    let plan = plan_of(world.undo("one"));
    assert_eq!(plan.conflicts[0].later, ["`three`", "`two`"]);
    assert_done(&world.undo("three"));
    assert_eq!(plan_of(world.undo("one")).conflicts[0].later, ["`two`"]);
    assert_done(&world.undo("two"));
    assert_done(&world.undo("one"));
    assert_eq!((world.text("f"), world.text("g")), ("0".into(), "1".into()));
}

#[test]
fn a_directory_goes_only_with_all_that_it_holds() {
    let world = World::new();
    world.run("one", || world.write("d/e/f", "1"));
    world.write("d/e/mine", "by hand");
    let plan = plan_of(world.undo("one"));
    assert!(
        matches!(plan.conflicts[0].reason, Reason::Holds(_)),
        "{plan:#?}"
    );
    assert!(world.path("d/e/f").exists());
    let plan = plan_of(world.force("one"));
    assert_eq!(plan.left.len(), 2, "{plan:#?}");
    assert_eq!(world.text("d/e/mine"), "by hand");
    assert!(!world.path("d/e/f").exists());
}

#[test]
fn what_is_missing_above_is_made_again() {
    let world = World::new();
    world.write("d/e/f", "0");
    world.run("one", || fs::remove_file(world.path("d/e/f")).unwrap());
    fs::remove_dir_all(world.path("d")).unwrap();
    assert_done(&world.undo("one"));
    assert_eq!(world.text("d/e/f"), "0");
    assert_done(&world.undo("undo:2"));
    assert!(!world.path("d").exists());
}

#[test]
fn a_directory_that_became_a_link_leads_nowhere() {
    for force in [Force::No, Force::Yes] {
        let world = World::new();
        fs::create_dir(world.dir().join("outside")).unwrap();
        world.write("d/f", "0");
        world.write("d/g", "0");
        world.run("one", || {
            fs::remove_file(world.path("d/f")).unwrap();
            world.write("d/g", "1");
        });
        fs::remove_dir_all(world.path("d")).unwrap();
        symlink(world.dir().join("outside"), world.path("d")).unwrap();
        let wanted = world.wanted(Some("one"), force);
        let undone = super::History::undo(&world.base(), &wanted).unwrap();
        assert_eq!(
            fs::read_dir(world.dir().join("outside")).unwrap().count(),
            0
        );
        match force {
            Force::No => assert!(matches!(undone, Undone::Refused { .. }), "{undone:#?}"),
            // The link itself gives way.
            Force::Yes => assert_eq!(world.text("d/f"), "0"),
        }
    }
}

#[test]
fn a_directory_swapped_for_a_link_meanwhile_ends_the_undo() {
    let swap_at = |n_swap: usize| {
        let world = World::new();
        let outside = world.dir().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("f"), "outside").unwrap();
        for name in ["d/f", "d/g", "d/h/i"] {
            world.write(name, "0");
        }
        world.run("one", || {
            world.write("d/f", "1");
            fs::remove_file(world.path("d/g")).unwrap();
            fs::remove_dir_all(world.path("d/h")).unwrap();
            world.write("d/new", "1");
        });
        let mut n = 0;
        let mut tick = || {
            n += 1;
            if n == n_swap {
                fs::rename(world.path("d"), world.path("moved")).unwrap();
                symlink(&outside, world.path("d")).unwrap();
            }
            Ok(())
        };
        let undone = undo_with(&world.base(), &world.wanted(None, Force::No), &mut tick);
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
        assert_eq!(fs::read_to_string(outside.join("f")).unwrap(), "outside");
        (undone, n)
    };
    let (undone, n_ticks) = swap_at(usize::MAX);
    assert_done(&undone.unwrap());
    assert!(n_ticks > 5);
    for n_swap in 1..=n_ticks {
        drop(swap_at(n_swap));
    }
}

#[test]
fn a_link_is_kept_as_a_link() {
    let world = World::new();
    let secret = world.dir().join("secret");
    fs::write(&secret, "outside").unwrap();
    symlink(&secret, world.path("link")).unwrap();
    symlink("nowhere", world.path("dangling")).unwrap();
    let before = world.tree();
    world.run("one", || {
        fs::remove_file(world.path("link")).unwrap();
        world.write("link", "a file now");
        fs::remove_file(world.path("dangling")).unwrap();
    });
    assert_done(&world.undo("one"));
    assert_eq!(world.tree(), before);
    assert_eq!(fs::read_to_string(secret).unwrap(), "outside");
    // What the link leads to is not in the store.
    assert_eq!(world.n_objects(), 1);
}

#[test]
fn a_damaged_content_is_found_before_anything_is_done() {
    let world = World::new();
    world.write("f", "0");
    world.write("g", "0000");
    world.run("one", || {
        world.write("f", "1");
        world.write("g", "1");
    });
    let after = world.tree();
    let store = fs::read_dir(world.base())
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    for (path, seen) in crate::testing::tree(&store.join("objects")) {
        if seen.content == b"0000" {
            fs::write(store.join("objects").join(path), "0x00").unwrap();
        }
    }
    assert!(world.undo_error(Some("one")).contains("is damaged"));
    assert_eq!(world.tree(), after);
    assert_eq!(world.history().list().len(), 1);
}

#[test]
fn a_running_call_stands_against_an_undo() {
    let world = World::new();
    world.write_file("one", "f", "1");
    let running = world.command("two");
    assert!(world.undo_error(Some("one")).contains("a call is running"));
    assert_eq!(world.history().list()[1].state, State::Running);
    running.after();
    assert_done(&world.undo("one"));
}

#[test]
fn a_call_that_was_cut_off_is_undone_by_force_alone() {
    let mut world = World::new();
    world.write("f", "0");
    let running = world.command("one");
    world.write("f", "1");
    drop(running);
    world.restart();
    let plan = plan_of(world.undo("one"));
    assert!(plan.is_cut_off && plan.conflicts.is_empty());
    assert_eq!(world.text("f"), "1");
    assert_eq!(world.history().list()[0].state, State::CutOff);
    assert_done(&world.force("one"));
    assert_eq!(world.text("f"), "0");
}

#[test]
fn the_next_call_ends_what_was_cut_off() {
    let mut world = World::new();
    world.write("f", "0");
    let running = world.command("one");
    world.write("f", "1");
    drop(running);
    let running = world.before("file", Reach::File(world.path("g"))).unwrap();
    world.write("g", "1");
    drop(running);
    world.restart();
    world.run("two", || world.write("f", "2"));
    let states: Vec<_> = world
        .history()
        .list()
        .into_iter()
        .map(|one| (one.id, one.state))
        .collect();
    assert_eq!(
        states,
        [
            ("one".to_owned(), State::CutOff),
            ("file".to_owned(), State::CutOff),
            ("two".to_owned(), State::Done),
        ]
    );
    assert_done(&world.undo("two"));
    assert_done(&world.force("one"));
    assert_eq!(world.text("f"), "0");
}

#[test]
fn a_content_larger_than_the_cap_is_kept_by_the_undo_that_removes_it() {
    let mut world = World::new();
    world.settings.max_file = 10;
    world.restart();
    world.run("one", || world.write("big", "0123456789abc"));
    assert_done(&world.undo("one"));
    assert!(!world.path("big").exists());
    assert_done(&world.undo("undo:2"));
    assert_eq!(world.text("big"), "0123456789abc");
}

#[test]
fn what_was_not_kept_is_named_and_left() {
    let mut world = World::new();
    world.settings.max_file = 10;
    world.restart();
    world.write("big", "0123456789abc");
    world.write("small", "0");
    world.run("one", || {
        world.write("big", "1");
        fs::remove_file(world.path("small")).unwrap();
    });
    let notices = world.keeper.take_notices();
    assert_eq!(notices.len(), 2, "{notices:#?}");
    assert!(
        notices[0].contains("undo does not reach everything"),
        "{notices:#?}"
    );
    assert!(notices[1].contains("`big`"), "{notices:#?}");
    let undone = world.undo("one");
    assert_done(&undone);
    let plan = plan_of(undone);
    assert_eq!(plan.left.len(), 1);
    assert!(plan.left[0].why.is_loss());
    assert_eq!(
        (world.text("big"), world.text("small")),
        ("1".into(), "0".into())
    );
}

#[test]
fn closed_directories_are_opened_meanwhile_and_closed_again() {
    // To root, rights say nothing; the rights themselves are what is looked at here.
    let world = World::new();
    world.write("d/e/f", "0");
    world.write("d/g", "0");
    let close = |name: &str, mode| {
        fs::set_permissions(world.path(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    close("d/e", 0o555);
    close("d", 0o555);
    let before = world.tree();
    world.run("one", || {
        close("d", 0o755);
        close("d/e", 0o755);
        fs::remove_dir_all(world.path("d/e")).unwrap();
        world.write("d/g", "1");
        close("d", 0o555);
    });
    let after = world.tree();
    let mut n_ticks = 0;
    undo_with(&world.base(), &world.wanted(None, Force::No), &mut || {
        n_ticks += 1;
        Ok(())
    })
    .unwrap();
    assert_eq!(world.tree(), before);
    assert_done(&world.undo("undo:2"));
    assert_eq!(world.tree(), after);
    for crash in 0..n_ticks {
        let mut n = 0;
        let died = undo_with(&world.base(), &world.wanted(None, Force::No), &mut || {
            n += 1;
            if n > crash {
                Err(UndoError::Busy)
            } else {
                Ok(())
            }
        });
        assert!(died.is_err());
        assert!(matches!(world.undo_last(), Undone::Finished { .. }));
        assert_eq!(world.tree(), before);
        let last = world.history().list().pop().unwrap().id;
        assert_done(&world.undo(&last));
        assert_eq!(world.tree(), after);
    }
}

#[test]
fn an_undo_that_was_cut_off_is_the_one_that_is_asked_for_by_any_name_of_its_calls() {
    for name in ["one", "two", "tw"] {
        let world = World::new();
        world.write("f", "0");
        let one = world.command("one");
        world.write("f", "1");
        world.write_file("two", "g", "2");
        one.after();
        world.run("three", || world.write("h", "3"));
        let wanted = world.wanted(Some("one"), Force::No);
        let died = undo_with(&world.base(), &wanted, &mut || Err(UndoError::Busy));
        assert!(died.is_err());
        let undone = world.undo(name);
        assert!(
            matches!(undone, Undone::Finished { .. }),
            "{name}: {undone:#?}"
        );
        assert_eq!(world.text("f"), "0");
        assert!(!world.path("g").exists() && world.path("h").exists());
    }
}

#[test]
fn an_undo_names_all_calls_that_ran_at_the_same_time() {
    let world = World::new();
    let one = world.command("one");
    let two = world.command("two");
    world.write("f", "1");
    one.after();
    two.after();
    let Undone::Done { of, plan, .. } = world.undo("two") else {
        panic!("it is undone");
    };
    assert_eq!((of.as_str(), plan.others), ("one", vec!["two".to_owned()]));
}

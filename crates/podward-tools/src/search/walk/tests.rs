use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::symlink;

use tokio_util::sync::CancellationToken;

use super::{Ended, MAX_DEPTH, walk};
use crate::fixture::World;

#[test]
fn a_directory_that_becomes_a_link_during_the_walk_is_not_entered() {
    let world = World::new().with(&[("a/first", ""), ("a/z", ""), ("b/second", ""), ("c", "")]);
    fs::write(world.path("../outside/secret"), "").unwrap();
    let scope = world.context().scope.refusing_links();
    let mut seen = Vec::new();
    let walked = walk(
        &scope,
        &world.root(),
        &[],
        &CancellationToken::new(),
        |found| {
            seen.push(found.path.strip_prefix(world.root()).unwrap().to_owned());
            if found.path.ends_with("a/first") {
                // `b` was listed as a directory already.
                fs::remove_dir_all(world.path("b")).unwrap();
                symlink(world.path("../outside"), world.path("b")).unwrap();
            }
            ControlFlow::Continue(())
        },
    )
    .unwrap();
    assert_eq!(walked.ended, Ended::Whole);
    assert_eq!(walked.n_unreadable, 1);
    let seen: Vec<_> = seen.iter().map(|path| path.to_str().unwrap()).collect();
    assert_eq!(seen, ["a/first", "a/z", "c"]);
}

#[test]
fn a_walk_stops_when_told_and_when_cancelled() {
    let world = World::new().with(&[("a", ""), ("b/c", ""), ("d", "")]);
    let scope = world.context().scope;
    let cancel = CancellationToken::new();
    let mut n_seen = 0;
    let mut run = |stop_at: usize| {
        n_seen = 0;
        let walked = walk(&scope, &world.root(), &[], &cancel, |_| {
            n_seen += 1;
            if n_seen == stop_at {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        (walked.unwrap().ended, n_seen)
    };
    assert_eq!(run(9), (Ended::Whole, 3));
    assert_eq!(run(2), (Ended::Stopped, 2));
    let in_the_middle = walk(&scope, &world.root(), &[], &cancel, |_| {
        cancel.cancel();
        ControlFlow::Continue(())
    });
    assert_eq!(in_the_middle.unwrap().ended, Ended::Cancelled);
}

#[test]
fn a_walk_goes_only_so_deep_and_counts_what_it_leaves_out() {
    let world = World::new();
    let deepest = "d/".repeat(MAX_DEPTH);
    fs::create_dir_all(world.path(&format!("{deepest}d/d"))).unwrap();
    fs::write(world.path(&format!("{deepest}f")), "").unwrap();
    fs::write(world.path(&format!("{deepest}d/g")), "").unwrap();
    fs::write(world.path("z"), "").unwrap();
    let mut seen = Vec::new();
    let walked = walk(
        &world.context().scope,
        &world.root(),
        &[],
        &CancellationToken::new(),
        |found| {
            seen.push(found.below.last().unwrap().clone());
            ControlFlow::Continue(())
        },
    )
    .unwrap();
    assert_eq!(seen, ["f", "z"]);
    assert_eq!((walked.ended, walked.n_unreadable), (Ended::Whole, 1));
}

use std::future::Future as _;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use super::*;

struct Said(&'static str);

impl Lazy for Said {
    fn line(&self) -> Option<Arc<str>> {
        (!self.0.is_empty()).then(|| self.0.into())
    }
}

fn parts(texts: &[&'static str]) -> Vec<Box<dyn Lazy>> {
    texts
        .iter()
        .map(|text| Box::new(Said(text)) as Box<dyn Lazy>)
        .collect()
}

/// What is there at once.
fn next(outbox: &Outbox) -> Poll<Option<Arc<str>>> {
    let mut next = pin!(outbox.next());
    next.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

fn line(text: &str) -> Poll<Option<Arc<str>>> {
    Poll::Ready(Some(text.into()))
}

#[test]
fn what_is_over_the_bounds_is_not_taken() {
    let outbox = Outbox::new(2, 10);
    assert_eq!(outbox.push_event("a line longer than all".into()), Ok(()));
    assert_eq!(outbox.push_event("b".into()), Err(Full));
    assert_eq!(next(&outbox), line("a line longer than all"));
    assert_eq!(outbox.push_event("12345".into()), Ok(()));
    assert_eq!(outbox.push_response("123456".into()), Err(Full));
    assert_eq!(outbox.push_response("12345".into()), Ok(()));
    assert_eq!(outbox.push_event("".into()), Err(Full));
    let both = (next(&outbox), next(&outbox));
    assert_eq!(both, (line("12345"), line("12345")));
    assert_eq!(next(&outbox), Poll::Pending);
}

#[test]
fn a_snapshot_takes_the_place_of_events_and_counts_for_nothing() {
    let outbox = Outbox::new(3, 20);
    outbox.push_event("in the snapshot".into()).unwrap();
    outbox.push_response("answer".into()).unwrap_err();
    assert_eq!(next(&outbox), line("in the snapshot"));
    outbox.push_event("event".into()).unwrap();
    outbox.push_response("answer".into()).unwrap();
    outbox.push_snapshot(parts(&[
        "a long part of the snapshot",
        "",
        "and another one",
    ]));
    outbox.push_event("live".into()).unwrap();
    assert_eq!(next(&outbox), line("answer"));
    assert_eq!(next(&outbox), line("a long part of the snapshot"));
    assert_eq!(next(&outbox), line("and another one"));
    assert_eq!(next(&outbox), line("live"));
    assert_eq!(next(&outbox), Poll::Pending);
}

#[test]
fn whoever_is_cut_off_reads_why_and_no_more() {
    let outbox = Outbox::new(5, 10);
    outbox.push_snapshot(parts(&["part"]));
    outbox.push_event("live".into()).unwrap();
    outbox.cut_off("too slow".into());
    outbox.push_event("later".into()).unwrap();
    assert_eq!(next(&outbox), line("too slow"));
    assert_eq!(next(&outbox), Poll::Ready(None));

    let outbox = Outbox::new(5, 10);
    outbox.push_event("live".into()).unwrap();
    outbox.close_after("stopping".into());
    let both = (next(&outbox), next(&outbox));
    assert_eq!(both, (line("live"), line("stopping")));
    assert_eq!(next(&outbox), Poll::Ready(None));

    let outbox = Outbox::new(5, 10);
    outbox.push_event("live".into()).unwrap();
    outbox.close();
    assert_eq!(next(&outbox), Poll::Ready(None));
}

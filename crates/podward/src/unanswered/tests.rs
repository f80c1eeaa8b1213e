use podward_protocol::{
    Change, DecidedBy, Event, PermissionRequest, RefusalCause, RuleToAdd, Stands, ToolCallVerdict,
};
use podward_view::sample::push;

use super::{CALLS_MAX, Unanswered};
use crate::screen::Stream;

const PIPE: Stream = Stream {
    is_terminal: false,
    is_colored: false,
};

fn verdict(request: &PermissionRequest, allowed_by: Option<Change>) -> ToolCallVerdict {
    ToolCallVerdict {
        call: request.call.clone(),
        part_of: request.part_of.clone(),
        tool: request.tool.clone(),
        operations: request.operations.clone(),
        ruling: request.ruling.clone(),
        refusal: Some(RefusalCause::NoClient),
        by: DecidedBy::Pod,
        allowed_by,
    }
}

/// What is listed for a question that ended so.
fn list(request: PermissionRequest, allowed_by: Option<Change>) -> Option<String> {
    let mut unanswered = Unanswered::default();
    let verdict = verdict(&request, allowed_by);
    unanswered.watch(&Event::PermissionRequest(request), |_| 3);
    unanswered.watch(&Event::ToolCallVerdict(verdict), |_| 3);
    unanswered.take(PIPE)
}

#[test]
fn what_nobody_answered_is_listed_with_what_the_pod_says_would_allow_it() {
    let rule = RuleToAdd {
        layer: "manifest".to_owned(),
        stands: Stands::Anywhere,
        tool: "bash".to_owned(),
        pattern: "git push origin main".to_owned(),
        toml: "[[permissions.rule]]\n\u{1b}".to_owned(),
    };
    assert_eq!(
        list(push("a").request, Some(Change::Rules { rules: vec![rule] })).unwrap(),
        "asked about, and nobody answered; the rule that would allow each:
#3 bash  git fetch && git push origin main
   # it asks: default of manifest (pod.toml:8:1)
   # among the rules of the manifest layer
   [[permissions.rule]]
   \\u{1b}
"
    );
    assert_eq!(list(push("a").request, None), None);
}

#[test]
fn what_no_rule_allows_says_why() {
    let why = "it is unknown code".to_owned();
    let text = list(push("a").request, Some(Change::None { why })).unwrap();
    assert!(
        text.ends_with("   # no rule for this call alone: it is unknown code\n"),
        "{text}"
    );
    let text = list(push("a").request, Some(Change::LeftOut)).unwrap();
    assert!(text.ends_with("are too long to be told\n"), "{text}");
}

/// What is kept of very many questions is what is listed of them.
#[test]
fn of_very_many_that_wait_the_first_are_listed_and_the_others_counted() {
    let mut unanswered = Unanswered::default();
    let ids: Vec<String> = (0..1_000).map(|n| format!("call_{n}")).collect();
    for id in &ids {
        unanswered.watch(&Event::PermissionRequest(push(id).request), |_| 3);
    }
    assert_eq!(unanswered.open.len(), CALLS_MAX);
    for id in ids {
        let request = push(&id).request;
        unanswered.watch(&Event::ToolCallVerdict(refused(&request)), |_| 3);
    }
    let text = unanswered.take(PIPE).unwrap();
    assert_eq!(text.matches("#3 bash").count(), CALLS_MAX);
    assert!(text.ends_with("… and 800 more\n"), "{text}");
    assert_eq!(unanswered.take(PIPE), None);
}

/// A client that comes later is told of what was refused before.
#[test]
fn what_was_asked_before_is_not_listed() {
    let mut unanswered = Unanswered::default();
    let verdict = refused(&push("a").request);
    unanswered.watch(&Event::ToolCallVerdict(verdict), |_| 3);
    assert_eq!(unanswered.take(PIPE), None);
}

fn refused(request: &PermissionRequest) -> ToolCallVerdict {
    verdict(request, Some(Change::LeftOut))
}

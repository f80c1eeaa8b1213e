use podward_protocol::{
    Change, DecidedBy, Event, PermissionRequest, RefusalCause, RuleToAdd, Stands, ToolCallVerdict,
};
use podward_view::sample::push;

use super::Unanswered;
use crate::screen::Stream;

const PIPE: Stream = Stream {
    is_terminal: false,
    is_colored: false,
};

/// What is listed for a question that ended so.
fn list(request: PermissionRequest, allowed_by: Option<Change>) -> Option<String> {
    let mut unanswered = Unanswered::default();
    let verdict = ToolCallVerdict {
        call: request.call.clone(),
        part_of: request.part_of.clone(),
        tool: request.tool.clone(),
        operations: request.operations.clone(),
        ruling: request.ruling.clone(),
        refusal: Some(RefusalCause::NoClient),
        by: DecidedBy::Pod,
        allowed_by,
    };
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

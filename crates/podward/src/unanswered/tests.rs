use podward_protocol::{
    AskReason, DecidedBy, Event, Outcome, PermissionRequest, PermissionSettled,
};

use super::{Unanswered, toml_text};
use crate::question::sample::push;
use crate::screen::Stream;

const PIPE: Stream = Stream {
    is_terminal: false,
    is_colored: false,
};

fn list(request: PermissionRequest, outcome: Outcome) -> Option<String> {
    let mut unanswered = Unanswered::new(None);
    let settled = PermissionSettled {
        id: request.id.clone(),
        outcome,
        by: DecidedBy::Pod,
    };
    unanswered.watch(&Event::PermissionRequest(request), |_| 3);
    unanswered.watch(&Event::PermissionSettled(settled), |_| 3);
    unanswered.take(PIPE)
}

#[test]
fn what_nobody_answered_is_listed_with_the_narrowest_rule() {
    assert_eq!(
        list(push("a").request, Outcome::NoClient).unwrap(),
        "asked about, and nobody answered; the rule that would allow each:
#3 bash  git fetch && git push origin main
   # it asks: default of manifest (pod.toml:8:1)
   [[permissions.rule]]
   tool = \"bash\"
   pattern = \"git push origin main\"
   action = \"allow\"
"
    );
    for answered in [Outcome::Rejected, Outcome::ApprovedOnce, Outcome::Policy] {
        assert_eq!(list(push("a").request, answered), None);
    }
}

#[test]
fn what_no_rule_allows_says_why() {
    let mut request = push("a").request;
    request.choices.clear();
    request.no_always = Some("it is unknown code".to_owned());
    let text = list(request.clone(), Outcome::Expired).unwrap();
    assert!(
        text.ends_with("   # no rule for this call alone: it is unknown code\n"),
        "{text}"
    );
    request.reason = AskReason::Repeated;
    let text = list(request, Outcome::ClientGone).unwrap();
    assert!(text.ends_with("it is not the rules that ask\n"), "{text}");
}

#[test]
fn a_pattern_is_written_so_that_toml_reads_the_same() {
    for pattern in [
        "git *",
        "a\"b\\c\n\t\r",
        "\u{202e}x\u{0}\u{feff}\u{e0001}",
        "ä€ 🦀",
    ] {
        let written = toml_text(pattern);
        let read: toml::Table = format!("x = {written}").parse().unwrap();
        assert_eq!(read["x"].as_str(), Some(pattern), "{written}");
        assert!(!written.chars().any(podward_protocol::is_invisible) || pattern.contains(' '));
    }
}

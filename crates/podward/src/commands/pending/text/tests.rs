use podward_protocol::SessionId;
use podward_view::sample::push;

use super::text;
use crate::screen::Stream;

#[test]
fn a_question_comes_with_the_commands_that_answer_it() {
    let mut request = push("call_3").request;
    request.digest = "5f1c".to_owned();
    request.path = vec!["lead".to_owned()];
    let stream = Stream {
        is_terminal: false,
        is_colored: false,
    };
    let session = SessionId::from_bits(1);
    let by_session = text(request.clone(), session.as_str(), Some(&session), stream);
    assert_eq!(
        text(request, "test", Some(&session), stream),
        "lead/test · call_3 · bash
  | git fetch && git push origin main
                 ^^^^^^^^^^^^^^^^^^^^
  timeout_ms 5
  pod     lead > test
  in      /work
  asks    default of manifest (pod.toml:8:1)
  seen    all that it would do
  width 1 part 2: bash  `git push origin main`  (only this, in this directory)
  width 2 part 2: bash  `git push *`  (this subcommand, whatever follows)
  podward reply test call_3 once --digest 5f1c
  podward reply test call_3 reject --digest 5f1c
  podward reply test call_3 always --digest 5f1c --width 1
  podward explain call_3 --session 00000000000000000000000001
"
    );
    // Of two pods with one name.
    let lines: Vec<&str> = by_session.lines().collect();
    assert_eq!(
        lines[0],
        "lead/test (00000000000000000000000001) · call_3 · bash"
    );
    assert!(
        lines.contains(&"  podward reply 00000000000000000000000001 call_3 once --digest 5f1c"),
        "{by_session}"
    );
}

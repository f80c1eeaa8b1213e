//! Answers that fail: the turn ends with an error that says what to do, and the session goes on.

use podward_test_provider::{Format, Trouble};

use super::{IN_THE_MIDDLE, WORK, long_text, pod, problems, run, session_id, setup, start};
use crate::sandbox::{ALLOW_ALL, Sandbox};
use crate::session_files::{Ending, exchanges};

/// An answer long enough to be cut in its middle, with a call, then others without.
fn long() -> String {
    let text = long_text();
    format!(
        "{text}[[step.call]]\ntool = \"bash\"\ninput = {{ command = \"echo seen\" }}\n{text}{text}"
    )
}

/// A turn that fails on its `n`th request and says so, then is finished without a prompt.
#[track_caller]
fn fails_and_goes_on(format: Format, troubles: Vec<Trouble>, said: &str) {
    let sandbox = Sandbox::new();
    let what = format!("{format:?} {troubles:?}");
    let provider = start(setup(format, &long()).with_troubles(troubles));
    let pod = pod(&sandbox, format, &provider, ALLOW_ALL);
    let pod = pod.to_str().unwrap();
    let ran = run(&sandbox, &[pod, "go"]).exits(1);
    assert!(ran.stderr.contains(said), "{what}: {ran:#?}");
    assert!(ran.stderr.contains("error: "), "{what}: {ran:#?}");
    exchanges(&sandbox.session(), Ending::Written);
    let id = session_id(&sandbox);
    let again = run(&sandbox, &[pod, "go on", "--resume", &id]).exits(0);
    assert!(again.stdout.ends_with("word \n"), "{what}: {again:#?}");
    exchanges(&sandbox.session(), Ending::Written);
    assert_eq!(problems(&provider), [""; 0], "{what}");
}

#[test]
fn an_answer_that_is_cut_in_its_middle_ends_the_turn_and_the_session_goes_on() {
    for format in Format::ALL {
        let said = "the connection to the model failed";
        let cut = Trouble::CutAfter(IN_THE_MIDDLE);
        fails_and_goes_on(format, vec![cut], said);
        let end = Trouble::EndAfter(IN_THE_MIDDLE);
        fails_and_goes_on(format, vec![Trouble::None, end], said);
    }
}

#[test]
fn an_error_in_the_middle_of_an_answer_ends_the_turn_and_the_session_goes_on() {
    for format in Format::ALL {
        fails_and_goes_on(format, vec![Trouble::ErrorAfter(40)], "verloaded");
    }
}

#[test]
fn what_no_retry_can_mend_is_not_tried_again() {
    for (status, said, help) in [
        (
            400,
            "refuses the request",
            "check `provider`, `model` and `base_url`",
        ),
        (
            404,
            "refuses the request",
            "check `provider`, `model` and `base_url`",
        ),
    ] {
        let sandbox = Sandbox::new();
        let trouble = Trouble::Status(status, None);
        let provider = start(setup(Format::OpenAiChat, WORK).with_troubles([trouble]));
        let pod = pod(&sandbox, Format::OpenAiChat, &provider, ALLOW_ALL);
        let ran = run(&sandbox, &[pod.to_str().unwrap(), "go"]).exits(1);
        assert!(ran.stderr.contains(said), "{status}: {ran:#?}");
        assert!(ran.stderr.contains(help), "{status}: {ran:#?}");
        assert_eq!(provider.requests().len(), 1, "{status}");
    }
}

#[test]
fn a_server_of_this_machine_that_is_not_running_is_told_at_once() {
    let sandbox = Sandbox::new();
    let provider = start(setup(Format::OpenAiChat, WORK));
    let pod = pod(&sandbox, Format::OpenAiChat, &provider, ALLOW_ALL);
    let base_url = provider.base_url().to_owned();
    drop(provider);
    let ran = run(&sandbox, &[pod.to_str().unwrap(), "go"]).exits(1);
    for said in [
        "error: no server of a model is running",
        &base_url,
        "Connection refused",
        "start the server",
    ] {
        assert!(ran.stderr.contains(said), "{said}: {ran:#?}");
    }
    assert!(!ran.stderr.contains("attempt"), "{ran:#?}");
}

//! What goes wrong, what is tried again, and what a person is told.

use super::*;

fn retries(events: &[ModelEvent]) -> Vec<u32> {
    let attempts = events.iter().filter_map(|event| match event {
        ModelEvent::Retry { attempt, .. } => Some(*attempt),
        _ => None,
    });
    attempts.collect()
}

/// Asks a provider with these troubles; gives the attempts that were told, the text, and the error.
async fn check(
    format: Format,
    troubles: &[Trouble],
    expected: (&[u32], &str, Option<&str>),
    n_requests: usize,
) {
    let provider = hello(format, troubles.to_vec());
    let (events, error) = events(&model(format, &provider)).await;
    let kind = error.as_ref().map(|error| {
        let shown = format!("{error:?} {error}");
        assert!(!shown.contains(KEY), "{shown}");
        let (kind, _) = shown.split_once(' ').unwrap();
        kind.to_owned()
    });
    let (attempts, text, error_kind) = expected;
    let found = (retries(&events), text_of(&events), kind.as_deref());
    let expected = (attempts.to_vec(), text.to_owned(), error_kind);
    assert_eq!(found, expected, "{format:?} {troubles:?} {error:?}");
    assert_eq!(
        provider.requests().len(),
        n_requests,
        "{format:?} {troubles:?}"
    );
}

#[tokio::test]
async fn what_may_pass_is_tried_again_a_few_times() {
    let status = |status| Trouble::Status(status, None);
    for format in Format::ALL {
        let well = |attempts: &'static [u32]| (attempts, "Hello.", None);
        check(format, &[status(429)], well(&[2]), 2).await;
        check(format, &[status(500), status(529)], well(&[2, 3]), 3).await;
        check(format, &[Trouble::NoAnswer, status(503)], well(&[2, 3]), 3).await;
        check(format, &[Trouble::CutAfter(0)], well(&[2]), 2).await;
        check(format, &[Trouble::ErrorAfter(0)], well(&[2]), 2).await;
        check(
            format,
            &[status(503), status(503), status(503), status(503)],
            (&[2, 3], "", Some("Overloaded")),
            3,
        )
        .await;
        check(
            format,
            &[status(429), status(429), status(429)],
            (&[2, 3], "", Some("RateLimit")),
            3,
        )
        .await;
    }
}

#[tokio::test]
async fn what_will_not_pass_is_not_tried_again() {
    let status = |status| Trouble::Status(status, Some("1".to_owned()));
    for format in Format::ALL {
        for (trouble, kind) in [
            (status(400), "BadRequest"),
            (status(401), "Authentication"),
            (status(403), "Authentication"),
            (status(404), "BadRequest"),
            (status(501), "Provider"),
            (Trouble::ContextTooLong, "ContextTooLong"),
            (Trouble::HugeLine(17 * 1024 * 1024), "Protocol"),
        ] {
            check(format, &[trouble], (&[], "", Some(kind)), 1).await;
        }
    }
}

#[tokio::test]
async fn retry_after_is_honoured_up_to_the_bound() {
    let provider = hello(
        Format::Anthropic,
        [
            Trouble::Status(429, Some("0".to_owned())),
            Trouble::Status(529, Some("3600".to_owned())),
        ],
    );
    let (events, error) = events(&model(Format::Anthropic, &provider)).await;
    assert_eq!(error, None);
    let waits: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            ModelEvent::Retry { after, reason, .. } => {
                assert!(reason.contains("on purpose"), "{reason}");
                Some(*after)
            }
            _ => None,
        })
        .collect();
    assert_eq!(waits, [Duration::ZERO, limits().longest_wait]);
}

/// Wherever an answer breaks: all of it comes, or what was said and an error; never twice.
#[tokio::test]
async fn nothing_is_said_twice_wherever_an_answer_breaks() {
    for format in Format::ALL {
        let whole = {
            let provider = hello(format, []);
            let (events, _) = events(&model(format, &provider)).await;
            events
        };
        for n_bytes in (0..1600).step_by(223) {
            for trouble in [Trouble::CutAfter(n_bytes), Trouble::EndAfter(n_bytes)] {
                let provider = hello(format, [trouble.clone()]);
                let (events, error) = events(&model(format, &provider)).await;
                let n_requests = provider.requests().len();
                let told = text_of(&events);
                match error {
                    None => assert_eq!(told, "Hello.", "{format:?} {trouble:?}"),
                    Some(error) => {
                        assert!(matches!(error, ModelError::Connection { .. }), "{error:?}");
                        assert_eq!((told.as_str(), n_requests), ("Hello.", 1));
                    }
                }
                assert_eq!(retries(&events).len(), n_requests - 1);
            }
        }
        assert_eq!(text_of(&whole), "Hello.");
    }
}

#[tokio::test]
async fn an_error_in_the_middle_comes_after_what_was_said() {
    let text = "[[step]]\nchunk = 1\ntext = \"Hello.\"\n";
    for format in Format::ALL {
        let setup = Setup::new(format, script(text)).with_troubles([Trouble::ErrorAfter(3)]);
        let provider = TestProvider::start(setup).unwrap();
        let (events, error) = events(&model(format, &provider)).await;
        assert_eq!(text_of(&events), "Hel", "{format:?}");
        assert!(
            matches!(error, Some(ModelError::Overloaded { .. })),
            "{error:?}"
        );
        assert_eq!(provider.requests().len(), 1);
    }
}

#[tokio::test]
async fn dropping_the_stream_cancels_the_request() {
    for format in Format::ALL {
        let setup = Setup::new(format, script("[[step]]\ntext = \"Hel\"\nend = \"hang\"\n"));
        let provider = TestProvider::start(setup).unwrap();
        let mut stream = model(format, &provider).stream(request(&[Message::user("go")]));
        while let Some(event) = stream.next().await {
            if matches!(event.unwrap(), ModelEvent::TextDelta(_)) {
                break;
            }
        }
        drop(stream);
        provider.abandoned(1).await;

        let provider = hello(format, [Trouble::Silence]);
        let mut stream = model(format, &provider).stream(request(&[Message::user("go")]));
        tokio::select! {
            event = stream.next() => panic!("{event:?}"),
            () = provider.requested(1) => {}
        }
        drop(stream);
        provider.abandoned(1).await;
    }
}

#[tokio::test]
async fn silence_has_an_end() {
    let limits = RequestLimits {
        first_byte: Duration::from_millis(20),
        idle: Duration::from_millis(20),
        ..limits()
    };
    for format in Format::ALL {
        let provider = hello(format, [Trouble::Silence]);
        let endpoint = endpoint(provider.base_url()).with_limits(limits.clone());
        let (_, error) = events(&model_at(format, endpoint)).await;
        let error = error.unwrap();
        assert!(matches!(error, ModelError::Timeout { .. }), "{error:?}");
        assert!(error.hint().is_some());
    }
    let setup = Setup::new(
        Format::OpenAiChat,
        script("[[step]]\ntext = \"Hel\"\nend = \"hang\"\n"),
    );
    let provider = TestProvider::start(setup).unwrap();
    let limits = RequestLimits {
        idle: Duration::from_millis(20),
        ..RequestLimits::default()
    };
    let endpoint = endpoint(provider.base_url()).with_limits(limits);
    let (events, error) = events(&model_at(Format::OpenAiChat, endpoint)).await;
    assert_eq!(text_of(&events), "Hel");
    assert!(
        matches!(error, Some(ModelError::Timeout { .. })),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_wrong_key_is_not_repeated() {
    for format in Format::ALL {
        let provider = hello(format, []);
        let wrong = ApiKey::new("sk-wrong-987654").unwrap();
        let endpoint = endpoint(provider.base_url()).with_key(wrong);
        let (_, error) = events(&model_at(format, endpoint)).await;
        let shown = format!("{error:?}");
        assert!(
            matches!(error, Some(ModelError::Authentication { .. })),
            "{shown}"
        );
        assert!(
            shown.contains("Incorrect API key") && !shown.contains("987654"),
            "{shown}"
        );
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    for format in Format::ALL {
        let other = hello(format, []);
        let place = format!("http://{}/v1/messages", other.address());
        check(
            format,
            &[Trouble::Redirect(place)],
            (&[], "", Some("BadRequest")),
            1,
        )
        .await;
        assert_eq!(other.requests(), []);
    }
}

#[tokio::test]
async fn a_server_of_this_machine_that_is_not_running_is_told_at_once() {
    // It is held, so that nobody else gets it, and nobody listens on it.
    let held = tokio::net::TcpSocket::new_v4().unwrap();
    held.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let port = held.local_addr().unwrap().port();
    for format in Format::ALL {
        for host in ["127.0.0.1", "localhost", "ollama.localhost"] {
            let base_url = format!("http://{host}:{port}");
            let (events, error) = events(&model_at(format, endpoint(&base_url))).await;
            assert_eq!(retries(&events), [0; 0]);
            let error = error.unwrap();
            assert!(matches!(error, ModelError::NotRunning { .. }), "{error:?}");
            let said = error.to_string();
            assert!(said.contains(&base_url), "{said}");
            assert!(said.contains("Connection refused"), "{said}");
            assert!(error.hint().unwrap().contains("start the server"));
        }
    }
}

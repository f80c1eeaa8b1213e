use super::*;
use crate::endpoint::ApiKey;

#[track_caller]
fn check(status: u16, body: &str, expected: &str) {
    let words = Words::read(body);
    let status = StatusCode::from_u16(status).unwrap();
    let asked = Some(Duration::from_secs(3));
    let failure = of_status(status, asked, &words, words.message.clone());
    let again = match failure.retry {
        Retry::No => "",
        Retry::After(found) => {
            assert_eq!(found, asked);
            ", again"
        }
    };
    let kind = format!("{:?}", failure.error);
    let kind = kind.split(' ').next().unwrap_or_default();
    assert_eq!(format!("{kind}: {}{again}", words.message), expected);
}

#[test]
fn a_status_and_the_providers_words_make_an_error() {
    let openai =
        |code: &str| format!(r#"{{"error": {{"message": "no", "type": "x", "code": "{code}"}}}}"#);
    check(401, &openai("invalid_api_key"), "Authentication: no");
    check(
        403,
        r#"{"error": "forbidden"}"#,
        "Authentication: forbidden",
    );
    check(400, r#"{"message": "bad"}"#, "BadRequest: bad");
    check(404, "no such model", "BadRequest: no such model");
    check(
        400,
        &openai("context_length_exceeded"),
        "ContextTooLong: no",
    );
    check(
        400,
        r#"{"type": "error", "error": {"type": "invalid_request_error",
            "message": "prompt is too long: 9 > 8"}}"#,
        "ContextTooLong: prompt is too long: 9 > 8",
    );
    check(
        500,
        r#"{"error": {"code": 500, "message": "the request exceeds the available context size"}}"#,
        "ContextTooLong: the request exceeds the available context size",
    );
    check(413, "", "ContextTooLong: ");
    check(429, &openai("rate_limit_exceeded"), "RateLimit: no, again");
    check(429, &openai("insufficient_quota"), "RateLimit: no");
    check(500, "<html>", "Overloaded: , again");
    check(503, "", "Overloaded: , again");
    check(529, r#"{"detail": "busy"}"#, "Overloaded: busy, again");
    check(501, "", "Provider: ");
    check(307, "", "BadRequest: ");
}

#[test]
fn words_of_a_provider_are_short_and_hold_no_key() {
    let endpoint = Endpoint::new("http://127.0.0.1/", "m")
        .unwrap()
        .with_key(ApiKey::new("sk-secret").unwrap());
    let clean = |text: &str| clean(text, &endpoint);
    assert_eq!(clean("wrong key: sk-secret!"), "wrong key: …!");
    assert_eq!(clean(" a\n\tb\x1b[31m\u{9b}c "), "a b [31m c");
    assert_eq!(clean(&"x".repeat(10_000)).chars().count(), 501);
    assert_eq!(
        clean(&"x ".repeat(10_000))
            .chars()
            .filter(|c| *c == 'x')
            .count(),
        500
    );
}

use podward_policy::{Action, Need, Subject, ToolName};
use proptest::prelude::*;

use super::Address;
use crate::fixture::{policies, text_place};
use crate::lower::{lowered, names};

fn tool() -> ToolName {
    names::built_in(names::WEB_FETCH)
}

/// Every operation of a fetch, one a line: need, tool, text, and the host where there is one.
fn operations(raw: &str) -> Result<Vec<String>, String> {
    let address = Address::parse(&tool(), "url", raw, &text_place()).map_err(|e| e.to_string())?;
    let lines = address.operations(&tool()).into_iter().map(|operation| {
        let need = match operation.need {
            Need::Full => "",
            Need::Restrictive => "restrictive ",
            other => panic!("{other:?}"),
        };
        let tool = operation.tool;
        match operation.subject {
            Subject::Url(url) => {
                let text = url.text.known_part();
                let host = text.get(url.host.range()).unwrap();
                let user = if url.has_user_info { " with user" } else { "" };
                format!("{need}{tool} {text} [{host}]{user}")
            }
            Subject::Path(path) => {
                format!("{need}{tool} {}", path.lexical.short.known_part())
            }
            other => panic!("{other:?}"),
        }
    });
    Ok(lines.collect())
}

fn text(raw: &str) -> String {
    let address = Address::parse(&tool(), "url", raw, &text_place()).unwrap();
    address.url.to_string()
}

#[test]
fn every_spelling_of_a_url_is_one_text() {
    let cases = [
        ("https://EVIL.example/p", "https://evil.example/p"),
        ("HTTPS://evil.example/p", "https://evil.example/p"),
        ("https://evil.example:443/p", "https://evil.example/p"),
        ("https://evil.example:0443/p", "https://evil.example/p"),
        ("http://evil.example:80", "http://evil.example/"),
        ("https://evil.example:8443/p", "https://evil.example:8443/p"),
        ("https://evil.example./p", "https://evil.example/p"),
        ("https://evil.example.:443/p", "https://evil.example/p"),
        ("https://evil.example/p#part", "https://evil.example/p"),
        ("https://evil.example/a/../p", "https://evil.example/p"),
        ("https://evil.example/a/%2e%2e/p", "https://evil.example/p"),
        ("https://evil.example/a/.%2E/p", "https://evil.example/p"),
        ("https://evil.example/%70", "https://evil.example/p"),
        ("https://evil.example/%7Euser", "https://evil.example/~user"),
        ("https://evil.example/a%2fb", "https://evil.example/a%2Fb"),
        (
            "https://evil.example/?%71=%2f",
            "https://evil.example/?q=%2F",
        ),
        ("https:\\\\evil.example\\p", "https://evil.example/p"),
        ("https:evil.example/p", "https://evil.example/p"),
        ("  https://evil.example/p ", "https://evil.example/p"),
        ("https://ev\til.example/p\n", "https://evil.example/p"),
        ("https://%65vil.example/p", "https://evil.example/p"),
        ("https://ｅｖｉｌ.example/p", "https://evil.example/p"),
        ("https://evil。example/p", "https://evil.example/p"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("http://127.0.0.1/x", "http://127.0.0.1/x"),
        ("http://2130706433/x", "http://127.0.0.1/x"),
        ("http://0x7f000001/x", "http://127.0.0.1/x"),
        ("http://0x7f.1/x", "http://127.0.0.1/x"),
        ("http://0177.0.0.1/x", "http://127.0.0.1/x"),
        ("http://127.1/x", "http://127.0.0.1/x"),
        ("http://127.0.0.1./x", "http://127.0.0.1/x"),
        ("http://１２７.0.0.1/x", "http://127.0.0.1/x"),
        ("http://[::ffff:127.0.0.1]/x", "http://127.0.0.1/x"),
        ("http://[::ffff:7f00:1]/x", "http://127.0.0.1/x"),
        (
            "http://[0:0:0:0:0:ffff:7f00:0001]:80/x",
            "http://127.0.0.1/x",
        ),
        ("http://[::127.0.0.1]/x", "http://127.0.0.1/x"),
        ("http://[::1]/x", "http://[::1]/x"),
        ("http://[::]/x", "http://[::]/x"),
        ("http://[2001:DB8::1]:8080/x", "http://[2001:db8::1]:8080/x"),
        ("file:///etc/hosts", "file:///etc/hosts"),
        ("file:/etc//./hosts", "file:///etc/hosts"),
        ("file://localhost/etc/%68osts", "file:///etc/hosts"),
        ("file:///etc/x/%2e%2e/hosts", "file:///etc/hosts"),
        ("FILE:///proc/self/cwd/a", "file:///work/a"),
    ];
    for (raw, expected) in cases {
        assert_eq!(text(raw), expected, "{raw}");
        assert_eq!(text(expected), expected, "{expected}");
    }
}

#[test]
fn a_fetch_is_an_operation_on_its_url_and_what_it_reads() {
    let check = |raw: &str, expected: &[&str]| {
        assert_eq!(operations(raw).unwrap(), expected, "{raw}");
    };
    check(
        "https://docs.example:8443/a?b",
        &["web_fetch https://docs.example:8443/a?b [docs.example]"],
    );
    check(
        "https://me:pw@docs.example/a",
        &["web_fetch https://docs.example/a [docs.example] with user"],
    );
    check(
        "https://docs.example@evil.example/a",
        &["web_fetch https://evil.example/a [evil.example] with user"],
    );
    check("http://[::1]:1/", &["web_fetch http://[::1]:1/ [[::1]]"]);
    check(
        "file:///work/src/a%20b",
        &[
            "web_fetch file:///work/src/a%20b []",
            "restrictive read src/a b",
        ],
    );
    check(
        "file:///etc/hosts",
        &[
            "web_fetch file:///etc/hosts []",
            "restrictive read /etc/hosts",
            "restrictive external_directory /etc/hosts",
        ],
    );
    // A rule may be written with the letters of the host.
    check(
        "https://xn--bcher-kva.example:8443/a",
        &[
            "web_fetch https://xn--bcher-kva.example:8443/a [xn--bcher-kva.example]",
            "restrictive web_fetch https://bücher.example:8443/a [bücher.example]",
        ],
    );
    check(
        "https://xn--bcher-kva.example/%2f",
        &[
            "web_fetch https://xn--bcher-kva.example/%2F [xn--bcher-kva.example]",
            "restrictive web_fetch https://xn--bcher-kva.example/ [xn--bcher-kva.example]",
            "restrictive web_fetch https://bücher.example/%2F [bücher.example]",
            "restrictive web_fetch https://bücher.example/ [bücher.example]",
        ],
    );
    // What a server may make of the path counts too.
    check(
        "https://docs.example/x/..%2fadmin//a",
        &[
            "web_fetch https://docs.example/x/..%2Fadmin//a [docs.example]",
            "web_fetch https://docs.example/admin/a [docs.example]",
        ],
    );
    check(
        "https://docs.example/x/a%2fb",
        &[
            "web_fetch https://docs.example/x/a%2Fb [docs.example]",
            "restrictive web_fetch https://docs.example/x/a/b [docs.example]",
        ],
    );
}

#[test]
fn an_allow_for_a_directory_is_none_for_what_lies_beside_it() {
    let allowed = policies(
        Action::Deny,
        &[("web_fetch", "https://api.example/me/*", Action::Allow)],
    );
    let judged = |raw: &str| {
        let address = Address::parse(&tool(), "url", raw, &text_place()).unwrap();
        allowed.judge(&lowered(address.operations(&tool()))).action
    };
    for raw in [
        "https://api.example/me/../you",
        "https://api.example/me/%2e%2e/you",
        "https://api.example/me/..%2fyou",
        "https://api.example/me/a/%2e%2e%2F..%2fyou",
        "https://api.example/me/..%5cyou",
    ] {
        assert_eq!(judged(raw), Action::Deny, "{raw}");
    }
    for raw in [
        "https://api.example/me/a%2fb",
        "https://api.example/me//a",
        "https://api.example/me/a/..%2fb",
    ] {
        assert_eq!(judged(raw), Action::Allow, "{raw}");
    }
}

#[test]
fn what_cannot_be_fetched_is_a_bad_call() {
    for (raw, problem) in [
        ("", "is no URL"),
        ("docs.example/x", "is no URL"),
        ("//docs.example/x", "is no URL"),
        ("/etc/hosts", "is no URL"),
        ("https://", "is no URL"),
        ("https:///", "is no URL"),
        ("http://256.1.1.1/", "is no URL"),
        ("http://[::1/", "is no URL"),
        ("https://evil..example/", "no usable host"),
        ("https://.example/", "no usable host"),
        ("ftp://docs.example/", "the scheme `ftp`"),
        ("data:text/plain,x", "the scheme `data`"),
        ("javascript:alert(1)", "the scheme `javascript`"),
        ("file://server/share/x", "names no file of this machine"),
        ("file:///a%00b", "NUL"),
        ("file:///a%ffb", "not UTF-8"),
    ] {
        let error = operations(raw).unwrap_err();
        assert!(error.contains(problem), "{raw}: {error}");
        assert!(
            error.starts_with("bad arguments for `web_fetch`"),
            "{error}"
        );
    }
    let long = format!("https://docs.example/{}", "a".repeat(20_000));
    assert!(operations(&long).unwrap_err().contains("longer than"));
}

/// A way to write one ASCII character of a path.
fn spelled(path: &str, mask: u64) -> String {
    path.bytes()
        .enumerate()
        .map(|(idx, byte)| match mask >> (2 * idx % 64) & 3 {
            1 if byte != b'/' => format!("%{byte:02x}"),
            2 if byte != b'/' => format!("%{byte:02X}"),
            3 if byte == b'/' && idx > 0 => "/./".to_owned(),
            _ => char::from(byte).to_string(),
        })
        .collect()
}

proptest! {
    #[test]
    fn a_canonical_url_is_its_own_canonical_url(
        raw in "(https?|file)://[a-zA-Z0-9.:@%\\[\\]-]{0,16}(/[a-zA-Z0-9.%~/?#&=+ é-]{0,24})?",
    ) {
        if let Ok(address) = Address::parse(&tool(), "url", &raw, &text_place()) {
            let once = address.url.to_string();
            let again = Address::parse(&tool(), "url", &once, &text_place()).unwrap();
            prop_assert_eq!(again.url.as_str(), once.as_str());
            if let Some(decoded) = super::decoded(&address.url) {
                let again = Address::parse(&tool(), "url", decoded.url.as_str(), &text_place()).unwrap();
                prop_assert_eq!(again.url.host_str(), address.url.host_str());
            }
        }
    }

    #[test]
    fn no_spelling_of_a_url_escapes_a_deny_rule(
        tail in "[a-z]{0,4}(/[a-z.]{0,4}[a-z]){0,2}",
        mask in any::<u64>(),
        host in prop::sample::select(vec![
            "evil.example", "EVIL.example", "evil.example.", "evil.example:443", "me@evil.example",
            "%65vil.example",
        ]),
    ) {
        let denied = policies(
            Action::Allow,
            &[("web_fetch", "https://evil.example/admin/*", Action::Deny)],
        );
        let raw = format!("https://{host}{}", spelled(&format!("/admin/{tail}"), mask));
        let address = Address::parse(&tool(), "url", &raw, &text_place()).unwrap();
        let ruling = denied.judge(&lowered(address.operations(&tool())));
        prop_assert_eq!(ruling.action, Action::Deny, "{}", raw);
    }

    #[test]
    fn any_text_is_a_url_or_a_bad_call(raw in any::<String>()) {
        let _ = Address::parse(&tool(), "url", &raw, &text_place());
    }

    #[test]
    fn any_url_like_text_is_a_url_or_a_bad_call(raw in "(https?|file):[/\\\\]{0,4}.{0,40}") {
        let _ = operations(&raw);
    }
}

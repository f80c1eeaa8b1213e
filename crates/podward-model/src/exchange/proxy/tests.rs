use super::*;

/// The variable and the URL that count for a scheme, or the error.
fn found(scheme: &str, environment: &[(&str, &str)]) -> String {
    let variable = |name: &str| {
        let mut set = environment.iter();
        set.find(|(set, _)| *set == name)
            .map(|(_, value)| OsString::from(value))
    };
    match named(scheme, variable) {
        Ok(Some((name, url))) => format!("{name} {url}"),
        Ok(None) => "none".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn each_scheme_has_its_variables() {
    let check = |scheme: &str, environment: &[(&str, &str)], expected: &str| {
        assert_eq!(found(scheme, environment), expected, "{environment:?}");
    };
    check("https", &[], "none");
    check("https", &[("HTTP_PROXY", "http://p:1")], "none");
    check("http", &[("HTTPS_PROXY", "http://p:1")], "none");
    let both = [("https_proxy", "https://s"), ("ALL_PROXY", "http://a")];
    check("https", &both, "https_proxy https://s/");
    check("http", &both, "ALL_PROXY http://a/");
    check(
        "https",
        &[("HTTPS_PROXY", "p:3128")],
        "HTTPS_PROXY http://p:3128/",
    );
    let empty = [("HTTPS_PROXY", ""), ("https_proxy", "http://p")];
    check("https", &empty, "none");
    let of_a_client = [("REQUEST_METHOD", "GET"), ("HTTP_PROXY", "http://evil")];
    check("http", &of_a_client, "none");
}

#[test]
fn a_proxy_that_makes_no_sense_is_an_error_without_its_password() {
    for value in [
        "::::",
        "http://",
        "http://ann:s3cret@",
        "http://ann:s3cret@host:port",
        "socks5://ann:s3cret@host",
        "ftp://ann:s3cret@host",
        "a b",
    ] {
        for name in ["HTTPS_PROXY", "ALL_PROXY"] {
            let error = found("https", &[(name, value)]);
            let begin = format!("the model cannot be used: the proxy in `{name}` ");
            assert!(error.starts_with(&begin), "{value}: {error}");
            assert!(!error.contains("s3cret"), "{value}: {error}");
        }
    }
}

#[test]
fn what_counts_can_be_used() {
    for value in [
        "http://p",
        "https://ann:s3@cret@p:3128/x",
        "p",
        "[::1]:80",
        "10.0.0.1:1",
    ] {
        let url = url("ALL_PROXY", &value.into()).unwrap();
        assert!(Proxy::all(url).is_ok(), "{value}");
    }
}

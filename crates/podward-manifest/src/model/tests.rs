use super::{BaseUrl, BaseUrlError, Exposure, ModelName, ModelPattern, Provider, RemoteModel};

#[test]
fn a_base_url_says_who_could_read_what_is_sent() {
    for (text, shown, exposure) in [
        (
            "https://api.anthropic.com",
            "https://api.anthropic.com",
            Exposure::Encrypted,
        ),
        ("https://host/v1/", "https://host/v1", Exposure::Encrypted),
        (
            "HTTPS://Host:443/v1",
            "https://host/v1",
            Exposure::Encrypted,
        ),
        (
            "http://127.0.0.1:11434/v1",
            "http://127.0.0.1:11434/v1",
            Exposure::Local,
        ),
        ("http://127.9.9.9", "http://127.9.9.9", Exposure::Local),
        (
            "http://0x7f.1:80/v1",
            "http://127.0.0.1/v1",
            Exposure::Local,
        ),
        ("http://[::1]:8080", "http://[::1]:8080", Exposure::Local),
        (
            "http://[::ffff:127.0.0.1]",
            "http://[::ffff:7f00:1]",
            Exposure::Local,
        ),
        (
            "http://localhost:1234/v1",
            "http://localhost:1234/v1",
            Exposure::Local,
        ),
        (
            "http://localhost.example.org",
            "http://localhost.example.org",
            Exposure::Open,
        ),
        (
            "http://127.0.0.1.example.org",
            "http://127.0.0.1.example.org",
            Exposure::Open,
        ),
        (
            "http://192.168.1.5:11434/v1",
            "http://192.168.1.5:11434/v1",
            Exposure::Open,
        ),
        (
            "http://0.0.0.0:11434/v1",
            "http://0.0.0.0:11434/v1",
            Exposure::Open,
        ),
    ] {
        let url = BaseUrl::new(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!((url.as_str(), url.exposure()), (shown, exposure), "{text}");
    }
}

#[test]
fn what_is_no_base_url_is_refused() {
    for text in [
        "",
        "host/v1",
        "localhost:11434",
        "ftp://host",
        "file:///v1",
        "https://host/v1?key=1",
        "https://host/v1#x",
        "https://host/ v1",
        "https://",
        "https://host/v1/chat/completions",
        "https://host/v1/messages/",
        "http://127.0.0.1:99999",
    ] {
        assert!(
            matches!(BaseUrl::new(text), Err(BaseUrlError::Form(_))),
            "{text}"
        );
    }
    for text in [
        "https://me@host",
        "https://:secret@host",
        "https://me:secret@host",
    ] {
        assert_eq!(BaseUrl::new(text), Err(BaseUrlError::Credentials), "{text}");
    }
}

#[test]
fn a_models_name_is_one_word() {
    for name in [
        "claude-sonnet-4-5",
        "qwen3:8b",
        "meta/llama-3.3",
        "x".repeat(256).as_str(),
    ] {
        assert_eq!(
            ModelName::new(name).map(|name| name.to_string()),
            Ok(name.to_owned())
        );
    }
    for name in ["", "a b", "a\n", "a\u{200b}", "x".repeat(257).as_str()] {
        assert!(ModelName::new(name).is_err(), "{name}");
    }
}

#[test]
fn a_pattern_is_over_provider_and_model() {
    let model = |provider, name| RemoteModel {
        provider,
        model: ModelName::new(name).unwrap(),
        base_url: None,
    };
    let (anthropic, openai) = (Provider::Anthropic, Provider::OpenAi);
    for (pattern, provider, name, expected) in [
        ("anthropic/*", anthropic, "claude-x", true),
        ("anthropic/*", openai, "claude-x", false),
        ("anthropic/claude-*", anthropic, "other", false),
        ("openai/*", openai, "meta/llama", true),
        ("openai/*", Provider::OpenAiResponses, "gpt", false),
        ("openai*/gpt-?", Provider::OpenAiResponses, "gpt-5", true),
        ("*/*", openai, "x", true),
        ("openai/GPT-5", openai, "gpt-5", false),
    ] {
        let found = ModelPattern::new(pattern)
            .unwrap()
            .matches(&model(provider, name));
        assert_eq!(found, expected, "{pattern} {name}");
    }
    for pattern in [
        "",
        "*",
        "claude-*",
        "anthropc/*",
        "anthropic/[",
        "scripted/demo",
    ] {
        assert!(ModelPattern::new(pattern).is_err(), "{pattern}");
    }
}

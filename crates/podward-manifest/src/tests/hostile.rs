//! Texts that nobody writes by mistake.

use proptest::prelude::*;

use crate::{
    Diagnostics, LayerKind, LayerSource, Resolved, Surroundings, Trust, decode, isolated, resolve,
    workspace,
};

const KINDS: &[LayerKind] = &[
    LayerKind::Machine,
    LayerKind::User,
    LayerKind::Project,
    LayerKind::Manifest,
    LayerKind::CommandLine,
    LayerKind::Environment,
];

/// Everything that can be asked of a text, in every layer.
fn exercise(text: &str) {
    let surroundings = Surroundings::default();
    for kind in KINDS {
        let layer = LayerSource {
            kind: *kind,
            file: "x.toml".into(),
            directory: "/x".into(),
            text: text.to_owned(),
            trust: Trust::Untrusted,
        };
        let _ = workspace(std::slice::from_ref(&layer), &surroundings);
        check(&resolve(&[layer], &surroundings), text);
    }
    let _ = isolated("x.toml", text, &surroundings.known_tools);
}

/// Every diagnostic can be shown, and its place is in the text.
fn check(result: &Result<Resolved, Diagnostics>, text: &str) {
    let diagnostics: Vec<_> = match result {
        Ok(resolved) => {
            let _ = resolved.effective.to_string();
            resolved.warnings.iter().collect()
        }
        Err(diagnostics) => diagnostics.iter().collect(),
    };
    for diagnostic in diagnostics {
        let shown = diagnostic.to_string();
        assert!(
            shown.chars().all(|char| char == '\n' || !char.is_control()),
            "{shown:?}"
        );
        if let Some(place) = &diagnostic.place {
            let lines = text.matches('\n').count() + 1;
            assert!((1..=lines).contains(&(place.location.line as usize)));
            assert!(place.source_line.get(place.underline.clone()).is_some());
        }
    }
}

#[test]
fn no_shape_of_nesting_is_too_deep() {
    let n = 20_000;
    for text in [
        format!("a = {}", "[".repeat(n)),
        format!("a = {}{}", "[".repeat(n), "]".repeat(n)),
        format!("a = {}", "{a=".repeat(n)),
        format!("{}a = 1", "a.".repeat(n)),
        format!("[{}a]", "a.".repeat(n)),
        format!("[[{}a]]", "permissions.".repeat(n)),
        "[".repeat(n),
        "\"".repeat(n),
    ] {
        exercise(&text);
    }
}

#[test]
fn what_is_wrong_a_hundred_thousand_times_is_counted() {
    let text = "x = 1\n[[permissions.rule]]\nfoo = 1\n".repeat(20_000);
    let layer = LayerSource {
        kind: LayerKind::Manifest,
        file: "x.toml".into(),
        directory: "/x".into(),
        text,
        trust: Trust::Trusted,
    };
    let diagnostics = resolve(&[layer], &Surroundings::default()).unwrap_err();
    assert_eq!(diagnostics.iter().count(), 100);
    assert!(
        diagnostics.left_out() > 40_000,
        "{}",
        diagnostics.left_out()
    );
    assert!(diagnostics.to_string().ends_with(" more"));
}

/// Each rule needs its line and column: counted anew from the line's start, this took hours.
#[test]
fn a_line_of_megabytes_is_read_in_one_pass() {
    let rule = "{ tool = \"bash\", pattern = \"ü *\", action = \"dony\" }, ";
    let text = format!(
        "[permissions]\ndefault_action = \"ask\"\nrule = [{}]",
        rule.repeat(10_000)
    );
    let layer = LayerSource {
        kind: LayerKind::Manifest,
        file: "x.toml".into(),
        directory: "/x".into(),
        text,
        trust: Trust::Trusted,
    };
    let diagnostics = resolve(&[layer], &Surroundings::default()).unwrap_err();
    assert_eq!(diagnostics.left_out(), 9_900);
    let last = diagnostics.iter().last().unwrap();
    let column = last.place.as_ref().unwrap().location.column as usize;
    assert_eq!(
        column,
        9 + 99 * rule.chars().count() + "{ tool = \"bash\", pattern = \"ü *\", action = ".len() - 1
    );
    assert!(last.to_string().len() < 1000);
}

#[test]
fn a_text_beyond_the_limit_is_refused_unread() {
    let text = " ".repeat(crate::source::MOST_BYTES + 1);
    let diagnostics = isolated("x.toml", &text, &Default::default()).unwrap_err();
    assert!(
        diagnostics
            .to_string()
            .contains("the text is larger than 16 MiB")
    );
}

#[test]
fn ten_megabytes_of_text_are_read() {
    let text = format!(
        "[permissions]\ndefault_action = \"ask\"\n{}",
        "# ä\n".repeat(2_500_000)
    );
    assert!(isolated("x.toml", &text, &Default::default()).is_ok());
}

/// Pieces that manifests are made of, whole and broken.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec![
            "[permissions]\n", "[[permissions.rule]]\n", "default_action = \"deny\"\n",
            "tool = \"bash\"\n", "pattern = \"rm *\"\n", "action = \"ask\"\n", "message = '''\nx'''\n",
            "[limits]\n", "max_steps = 3\n", "bash_timeout = \"1m\"\n", "output_size = \"1KiB\"\n",
            "[scope]\n", "deny = [{ path = \"a\", access = \"read\" }]\n", "enforce = \"best\"\n",
            "[machine]\n", "fixed = [\"limits.max_steps\"]\n", "[model]\n", "script = \"demo\"\n",
            "provider = \"scripted\"\n", "provider = \"openai\"\n", "model = \"m\"\n", "base_url = \"http://h\"\n",
            "key_file = \"k\"\n", "key_command = [\"k\"]\n", "allow = [\"*/*\"]\n", "key_env = \"K\"\n", "[environment]\n", "pass = [\"K*\"]\n",
            "[pod]\n", "workspace = \"~/x\"\n", "[tools]\n", "offered = [\"read\"]\n",
            "[[hook]]\n", "event = \"turn_end\"\n", "command = [\"./x\", \"./y\"]\n", "hook = []\n",
            "timeout = \"1s\"\n", "fixed = [\"hook\"]\n",
        ]).prop_map(str::to_owned),
        2 => prop::sample::select(vec![
            "\u{feff}", "\0", "\r\n", "\r", "\t", "\"", "'", "\"\"\"", "'''", "[", "]", "{", "}", "=", ".",
            ",", "#", "\\", "\\u00e9", "\\x", "日本", "\u{200b}", "\u{202e}", "e\u{301}", "1e400", "-0",
            "99999999999999999999999999999999999999999", "0xffffffffffffffffffff", "inf", "1979-05-27",
            "permissions.rule = 3\n", "permissions = []\n", "rule = [[]]\n", "limits.max_steps.x = 1\n",
        ]).prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(pieces in prop::collection::vec(piece(), 0..24)) {
        exercise(&pieces.concat());
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        match decode(&"x.toml".into(), &bytes) {
            Ok(text) => exercise(&text),
            Err(diagnostics) => prop_assert!(diagnostics.to_string().contains("UTF-8")),
        }
    }
}

use crate::isolated;

fn bytes(text: &str) -> String {
    let isolated = isolated("x.toml", text, &Default::default()).unwrap();
    String::from_utf8(isolated.policy_bytes).unwrap()
}

const PLAIN: &str = r#"
[permissions]
default_action = "ask"
[[permissions.rule]]
tool = "bash"
pattern = "rm *"
action = "deny"
message = "no"
"#;

#[test]
fn the_form_is_this() {
    assert_eq!(
        bytes(PLAIN),
        "podward policy 1\nlayer manifest default ask unresolved ask rules 1\ndeny 4:bash 4:rm * 2:no\n"
    );
    assert_eq!(bytes(""), "podward policy 1\n");
}

#[test]
fn how_it_is_written_does_not_count() {
    for text in [
        "# a comment\npermissions.unresolved = 'ask'\npermissions.default_action = 'ask'\n\
         permissions.rule = [{ message = 'no', action = 'deny', pattern = \"r\\u006d *\", tool = 'bash' }]",
        "[limits]\nmax_steps = 3\n[permissions]\ndefault_action = \"ask\"\n[[permissions.rule]]\n\
         tool = 'bash'\npattern = '''rm *'''\naction = 'deny'\nmessage = 'no'",
    ] {
        assert_eq!(bytes(text), bytes(PLAIN), "{text}");
    }
}

#[test]
fn what_it_says_counts() {
    let changes = [
        ("default_action = \"ask\"", "default_action = \"deny\""),
        (
            "default_action = \"ask\"",
            "default_action = \"ask\"\nunresolved = \"deny\"",
        ),
        ("\"bash\"", "\"read\""),
        ("rm *", "rm  *"),
        ("action = \"deny\"", "action = \"allow\""),
        ("message = \"no\"", ""),
        ("message = \"no\"", "message = \"No\""),
        ("message = \"no\"", "message = \"\""),
        ("rm *\"", "rm * 2:no\""),
        ("action = \"deny\"", "action = \"ask\""),
        ("action = \"deny\"", "action = \"ask\"\ngrantable = false"),
        (
            "action = \"deny\"",
            "action = \"ask\"\nask_timeout = \"3s\"",
        ),
        (
            "action = \"deny\"",
            "action = \"ask\"\nask_timeout = \"30s\"",
        ),
    ];
    let mut all: Vec<_> = changes
        .iter()
        .map(|(from, to)| bytes(&PLAIN.replacen(from, to, 1)))
        .collect();
    all.push(bytes(PLAIN));
    let n = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), n);
}

#[test]
fn what_is_left_out_is_what_it_stands_for() {
    let with = |action: &str| PLAIN.replacen("action = \"deny\"", action, 1);
    assert_eq!(
        bytes(&with("action = \"ask\"\ngrantable = true")),
        bytes(&with("action = \"ask\""))
    );
    // A deny for everything that is left says what a default of deny says (D1.6).
    let rest = "[permissions]\ndefault_action = 'ask'\n\
                [[permissions.rule]]\ntool = '*'\npattern = '*'\naction = 'deny'\n";
    let written = rest.replacen("'ask'", "'ask'\nunresolved = 'deny'", 1);
    assert_eq!(bytes(rest), bytes(&written));
}

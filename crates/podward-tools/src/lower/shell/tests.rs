use std::os::unix::fs::symlink;

use podward_policy::{
    Action, HoleKind, Lowered, PathForm, PathSubject, Subject, Text, TextBuilder,
};
use podward_shell::{Forms as _, PathFound, UrlFound};
use proptest::prelude::*;

use super::{CommandPaths, lower_command};
use crate::fixture::{World, policies, text_place};
use crate::tool::Place;

/// `$` is a quoted expansion, `*` a file name pattern, `@` code that is not known.
fn text(written: &str) -> Text {
    let mut text = TextBuilder::new();
    for c in written.chars() {
        text = match c {
            '$' => text.hole(HoleKind::Quoted),
            '*' => text.hole(HoleKind::FileGlob),
            '@' => text.hole(HoleKind::Anything),
            c => text.known(c.encode_utf8(&mut [0; 4])),
        };
    }
    text.build()
}

fn written(text: &Text) -> String {
    let mut holes = text.holes().iter().peekable();
    let mut written = String::new();
    let mark = |kind| match kind {
        HoleKind::Quoted | HoleKind::Unquoted => '$',
        HoleKind::FileGlob => '*',
        HoleKind::Anything => '@',
    };
    for (at, c) in text.known_part().char_indices() {
        while let Some(hole) = holes.next_if(|hole| hole.at <= at) {
            written.push(mark(hole.kind));
        }
        written.push(c);
    }
    written.extend(holes.map(|hole| mark(hole.kind)));
    written
}

fn form(form: &PathForm) -> String {
    let (short, absolute) = (written(&form.short), written(&form.absolute));
    let mut line = short.clone();
    if absolute != short {
        line.push_str(&format!(" {absolute}"));
    }
    if let Some(home) = &form.home {
        line.push_str(&format!(" {}", written(home)));
    }
    line
}

fn subject(path: &PathSubject) -> String {
    let mut forms = vec![form(&path.lexical)];
    forms.extend(path.resolved.iter().map(form));
    forms.extend(path.further.iter().map(form));
    forms.join(" | ")
}

fn find(base: &str, path: &str, place: &Place) -> PathFound {
    CommandPaths::new(place).path(&text(base), &text(path))
}

/// The forms of a path, then `outside` and `unknown` if it is.
fn line(base: &str, path: &str, place: &Place) -> String {
    let found = find(base, path, place);
    let mut line = subject(&found.subject);
    if found.outside.is_some() {
        line.push_str("; outside");
    }
    if found.unknown.is_some() {
        line.push_str("; unknown");
    }
    line
}

#[test]
fn a_path_with_holes_is_normalised_as_far_as_it_is_known() {
    for (base, path, expected) in [
        ("/work", "a/./b//c", "a/b/c /work/a/b/c"),
        ("/work/src", "../a", "a /work/a"),
        ("/work/src/../lib", "a", "lib/a /work/lib/a"),
        ("/work", ".", ". /work"),
        ("/elsewhere", "a", "/elsewhere/a; outside"),
        ("/home/ada", "a", "/home/ada/a ~/a; outside"),
        // What an expansion holds may lead anywhere: what follows it remains.
        ("/work", "src/$/x.rs", "src/$/x.rs /work/src/$/x.rs | @x.rs"),
        ("/work", "src/$.rs", "src/$.rs /work/src/$.rs | @.rs"),
        ("/work", "src/./../$", "$ /work/$ | @"),
        ("/work", "$/.env", "$/.env | @.env"),
        ("/work", "$.env", "$.env | @.env"),
        ("/work", "$/a/../.env", "$/.env | @.env"),
        ("/work", "$/../.env", "@/.env | @.env"),
        ("/work", "$/../../.env", "@/.env | @.env"),
        ("/work", "src/$/../.env", "@/.env | @.env"),
        ("/work", "src/$/..", "@ | @"),
        ("/work", "/etc/$/x", "/etc/$/x | @x; outside"),
        ("/work", "../$", "/$ | @; outside"),
        // A directory that is not known.
        ("@", "a", "@/a | @a"),
        ("@", "../a", "@/a | @a"),
        ("@", "/work/a", "a /work/a"),
        ("@", "/work/$", "$ /work/$ | @"),
        ("/work/$", "a", "$/a /work/$/a | @a"),
        ("/work/$", "../a", "@/a | @a"),
        // A file name pattern is one name.
        ("/work", "src/*/x", "src/*/x /work/src/*/x"),
        ("/work", "src/*/../x", "src/x /work/src/x"),
        ("/work", "*.pem", "*.pem /work/*.pem"),
        (
            "/work",
            "../w*k/.env",
            "/w*k/.env | *.env */work/.env; outside",
        ),
        (
            "/work",
            "/home/*/.ssh/id",
            "/home/*/.ssh/id | */home/ada/.ssh/id *~/.ssh/id; outside",
        ),
        ("/work", "/*/x", "/*/x | *x */work/x; outside"),
        // Some versions of bash let `.*` be `..`.
        (
            "/work",
            ".*/x",
            ".*/x /work/.*/x | */x | *x */work/x; outside",
        ),
        // Other names of the kernel.
        ("/work", "/proc/self/cwd/a", "a /work/a | /proc/self/cwd/a"),
        (
            "/work/src",
            "/proc/self/cwd/a",
            "src/a /work/src/a | /proc/self/cwd/a",
        ),
        (
            "@",
            "/proc/self/cwd/a",
            "/proc/self/cwd/a; outside; unknown",
        ),
        (
            "/work",
            "/proc/$/cwd/a",
            "/proc/$/cwd/a | @cwd/a; outside; unknown",
        ),
        (
            "/work",
            "/proc/$/status",
            "/proc/$/status | @status; outside",
        ),
        (
            "/work",
            "/proc/*/root/a",
            "/proc/*/root/a; outside; unknown",
        ),
        (
            "/work",
            "/proc/self/c*/a",
            "/proc/self/c*/a; outside; unknown",
        ),
        (
            "/work",
            "/proc/self/fd/$",
            "/proc/self/fd/$ | @; outside; unknown",
        ),
        ("/work", "/dev/f*", "/dev/f*; outside; unknown"),
        ("/work", "/dev/sd*", "/dev/sd*; outside"),
    ] {
        assert_eq!(line(base, path, &text_place()), expected, "{base} {path}");
    }
}

#[test]
fn links_are_followed_as_the_kernel_follows_them() {
    let world = World::new().with(&[("secrets/key", ""), ("src/", ""), ("a/b/", "")]);
    symlink("../secrets", world.path("src/s")).unwrap();
    symlink("a/b", world.path("deep")).unwrap();
    symlink(world.path("../outside"), world.path("out")).unwrap();
    let root = world.root().display().to_string();
    let real = world.real().display().to_string();
    let check = |base: &str, path: &str, expected: &str| {
        let base = format!("{root}{base}");
        let found = line(&base, path, &world.place());
        let found = found.replace(&root, "W").replace(&real, "R");
        assert_eq!(found, expected, "{base} {path}");
    };
    check(
        "",
        "src/s/key",
        "src/s/key W/src/s/key | secrets/key W/secrets/key",
    );
    check(
        "/src/s",
        "key",
        "src/s/key W/src/s/key | secrets/key W/secrets/key",
    );
    check(
        "",
        "src/s/$",
        "src/s/$ W/src/s/$ | secrets/$ W/secrets/$ | @",
    );
    check("", "src/s/*", "src/s/* W/src/s/* | secrets/* W/secrets/*");
    check("", "out/$", "out/$ W/out/$ | R/outside/$ | @; outside");
    // `..` is above the target of the link, except where the program goes by the text.
    check("", "deep/../x", "x W/x | a/x W/a/x");
    check("/deep", "../x", "x W/x | a/x W/a/x");
    check("", "out/../x", "x W/x | R/x; outside");
    // `cd` goes by the text.
    check("/deep/..", "x", "x W/x");
    check(
        "",
        "missing/../src/s/key",
        "src/s/key W/src/s/key | secrets/key W/secrets/key",
    );
}

/// `..` behind a link: by the text, and above what the link leads to.
#[test]
fn a_physical_change_of_directory_is_seen_both_ways() {
    let world = World::new().with(&[("check", ""), ("other/check", ""), ("other/dir/", "")]);
    symlink("other/dir", world.path("link")).unwrap();
    let action = |rules: &[(&str, &str, Action)], default_action, command: &str| {
        let lowered = lower_command(command, &world.place());
        policies(default_action, rules).judge(&lowered).action
    };
    let check =
        ["./check", "shopt *", "eval *", "pwd"].map(|pattern| ("bash", pattern, Action::Allow));
    let other = [
        ("bash", "other/check", Action::Deny),
        ("read", "other/*", Action::Deny),
    ];
    for (directory, is_physical) in [
        ("cd link && cd ..", false),
        ("cd link/..", false),
        ("cd -L link/..", false),
        ("cd -P link && cd ..", true),
        ("cd -P link/..", true),
        ("cd -LP link/..", true),
        ("cd link && cd -P ..", true),
        ("cd link && command cd -P ..", true),
        ("set -P; cd link/..", true),
        ("set -eP; cd link/..", true),
        ("set -o physical; cd link && cd ..", true),
        ("shopt -so physical; cd link/..", true),
        ("eval 'set -P'; cd link/..", true),
        ("f() { set -P; }; f; cd link/..", true),
        ("pwd; set -P && cd link/..", true),
    ] {
        let runs = format!("{directory} && ./check");
        let reads = format!("{directory} && cat check");
        let allowed = action(&check, Action::Deny, &runs);
        let others = [&runs, &reads].map(|command| action(&other, Action::Allow, command));
        let expected = match is_physical {
            true => (Action::Deny, [Action::Deny; 2]),
            false => (Action::Allow, [Action::Allow; 2]),
        };
        assert_eq!((allowed, others), expected, "{directory}");
    }
    for command in [
        "bash -P -c 'cd link/.. && ./check'",
        "bash -o physical -c 'cd link/.. && ./check'",
    ] {
        assert_eq!(
            action(&other, Action::Allow, command),
            Action::Deny,
            "{command}"
        );
    }
}

#[test]
fn what_costs_too_many_lookups_is_unknown() {
    let world = World::new();
    let place = world.place();
    let paths = CommandPaths::new(&place);
    let base = Text::known(world.root().to_str().unwrap());
    std::fs::create_dir_all(world.path("d")).unwrap();
    let long = Text::known("d/../".repeat(600) + "x");
    let n_unknown = (0..100)
        .filter(|_| paths.path(&base, &long).unknown.is_some())
        .count();
    assert!((1..99).contains(&n_unknown), "{n_unknown}");
}

fn url(raw: &str) -> String {
    let place = text_place();
    match CommandPaths::new(&place).url(&text(raw)) {
        UrlFound::Url(urls) => {
            let url = &urls[0];
            let host = url.text.known_part().get(url.host.range()).unwrap();
            let user = if url.has_user_info { " with user" } else { "" };
            format!("{} [{host}]{user}", written(&url.text))
        }
        UrlFound::File { path, url } => {
            assert!(url.text.known_part().starts_with("file:///") || !url.text.holes().is_empty());
            format!("file {}", written(&path))
        }
        UrlFound::Unknown(why) => format!("unknown: {}", why.as_str()),
    }
}

#[test]
fn a_url_of_a_command_has_one_spelling() {
    for (raw, expected) in [
        (
            "https://EVIL.example:443/a/../b#c",
            "https://evil.example/b [evil.example]",
        ),
        ("evil.example", "http://evil.example/ [evil.example]"),
        (
            "evil.example:8080/x?y",
            "http://evil.example:8080/x?y [evil.example]",
        ),
        (
            "https:/evil.example/x",
            "https://evil.example/x [evil.example]",
        ),
        ("0x7f.1/x", "http://127.0.0.1/x [127.0.0.1]"),
        ("http://[::1]:8000/x", "http://[::1]:8000/x [[::1]]"),
        (
            "ftp://Evil.example:21/x",
            "ftp://evil.example/x [evil.example]",
        ),
        (
            "ssh://Evil.example:22/x",
            "ssh://evil.example:22/x [evil.example]",
        ),
        (
            "git://evil.example:80/x",
            "git://evil.example:80/x [evil.example]",
        ),
        (
            "https://evil.example/%61%2f?%61",
            "https://evil.example/a%2F?a [evil.example]",
        ),
        // The host is known, what follows is not.
        (
            "https://Evil.example/$",
            "https://evil.example/$ [evil.example]",
        ),
        (
            "https://evil.example/%61/./b/../$",
            "https://evil.example/a/$ [evil.example]",
        ),
        (
            "https://evil.example/a/$/../b",
            "https://evil.example/@/b [evil.example]",
        ),
        (
            "https://evil.example/a/$/b/..",
            "https://evil.example/a/$/ [evil.example]",
        ),
        (
            "https://evil.example?q=$&r=%62#$",
            "https://evil.example/?q=$&r=b [evil.example]",
        ),
        ("evil.example/$", "http://evil.example/$ [evil.example]"),
        // The host is not known.
        (
            "https://$.evil.example/x",
            "https://$.evil.example/x [.evil.example]",
        ),
        ("https://$", "https://$/ []"),
        (
            "https://evil.example$/x",
            "https://evil.example$/x [evil.example]",
        ),
        ("$/x", "$/x []"),
        ("$://evil.example/x", "$://evil.example/x []"),
        ("file:///etc/%68osts", "file /etc/hosts"),
        ("FILE://localhost/etc/$?x", "file /etc/$"),
        ("file:/etc/hosts", "file /etc/hosts"),
        ("file://$/x", "file $/x"),
        ("file://elsewhere/x", "unknown: a file of another machine"),
        ("http://", "unknown: no URL"),
        ("http://a b/", "unknown: no URL"),
        ("", "unknown: no URL"),
    ] {
        assert_eq!(url(raw), expected, "{raw}");
    }
    // `@` stands for a hole above.
    let user = |url: &Text| match CommandPaths::new(&text_place()).url(url) {
        UrlFound::Url(urls) => (written(&urls[0].text), urls[0].has_user_info),
        other => panic!("{other:?}"),
    };
    let secret = TextBuilder::new()
        .known("https://me:")
        .hole(HoleKind::Quoted)
        .known("@evil.example/x")
        .build();
    for url in [secret, Text::known("https://docs.example@evil.example/x")] {
        assert_eq!(user(&url), ("https://evil.example/x".to_owned(), true));
    }
}

/// The verdict over a command with these rules and the default allow.
fn verdict(command: &str, rules: &[(&str, &str, Action)]) -> Action {
    let place = text_place();
    policies(Action::Allow, rules)
        .judge(&lower_command(command, &place))
        .action
}

#[test]
fn a_command_meets_the_rules_for_what_it_reads_and_writes() {
    let secrets = [
        ("read", ".env", Action::Deny),
        ("file_write", "secrets/*", Action::Deny),
        ("read", "~/.ssh/*", Action::Deny),
    ];
    for (command, expected) in [
        ("cat .env", Action::Deny),
        ("cat ./a/../.env", Action::Deny),
        ("cat /proc/self/cwd/.env", Action::Deny),
        ("cd src && cat ../.env", Action::Deny),
        ("cat .e*", Action::Ask),
        ("cat ../w*/.env", Action::Ask),
        ("cat /home/a*/.ssh/id", Action::Ask),
        ("cat ~/.ssh/id", Action::Deny),
        ("echo x > secrets/a", Action::Deny),
        ("echo x > \"secrets/$y\"", Action::Deny),
        ("echo x > \"$y\"", Action::Ask),
        ("echo x > \"out/$y\"", Action::Ask),
        ("echo x > out/y", Action::Allow),
        ("cat README.md \"$y\" \"src/$y.rs\" src/*.rs", Action::Allow),
    ] {
        assert_eq!(verdict(command, &secrets), expected, "{command}");
    }
}

#[test]
fn an_assignment_reaches_programs_where_the_environment_has_its_name() {
    let rules = [("bash", "echo *", Action::Allow)];
    let judge = |place: &Place, command: &str| {
        policies(Action::Deny, &rules)
            .judge(&lower_command(command, place))
            .action
    };
    let usual = text_place();
    assert_eq!(judge(&usual, "X=1; echo a"), Action::Allow);
    assert_eq!(judge(&usual, "TMPDIR=/x; echo a"), Action::Deny);
    let other = usual.with_environment(&[("X".into(), "1".into())]);
    assert_eq!(judge(&other, "X=1; echo a"), Action::Deny);
    assert_eq!(judge(&other, "PATH=/x; echo a"), Action::Deny);
    assert_eq!(judge(&other, "TMPDIR=/x; echo a"), Action::Allow);
}

proptest! {
    #[test]
    fn any_text_is_lowered(command in any::<String>()) {
        lower_command(&command, &text_place());
    }

    #[test]
    fn a_path_with_every_hole_filled_is_its_filling(
        base in "/work(/[a-c.]{1,2}){0,2}", path in "[a-c./]{1,10}",
    ) {
        let place = text_place();
        let known = find(&base, &path, &place);
        let whole = format!("{base}/{path}");
        let direct = find("/", if path.starts_with('/') { &path } else { &whole }, &place);
        prop_assert_eq!(known.subject.lexical, direct.subject.lexical);
        prop_assert_eq!(known.outside.is_some(), direct.outside.is_some());
    }

    /// D3.2: what no rule stands against with holes, none stands against once they are filled.
    #[test]
    fn no_filling_of_a_redirection_escapes_a_deny_rule(
        before in "[a-b./]{0,4}", after in "[a-b./]{0,4}", value in "[a-b./]{0,8}",
        rule in prop::sample::select(vec!["a", "a/*", "b", "*/b", "/work/a*", "/a/b", "/*b"]),
    ) {
        let rules = [("file_write", rule, Action::Deny)];
        let with_hole = format!("echo x > \"{before}$v{after}\"");
        let filled = format!("echo x > \"{before}{value}{after}\"");
        if verdict(&with_hole, &rules) == Action::Allow {
            prop_assert_eq!(verdict(&filled, &rules), Action::Allow, "{}", filled);
        }
    }

    #[test]
    fn any_url_of_a_command_is_read(raw in "(https?|file|ssh)?:?/{0,3}[a-z$*@:./?#%\\[\\]\\\\-]{0,24}") {
        let found = url(&raw);
        if let (Some((text, _)), false) = (found.split_once(" ["), raw.contains(['$', '*', '@'])) {
            let again = url(text);
            prop_assert!(again.starts_with(&format!("{text} [")), "{} {}", found, again);
        }
    }
}

#[test]
fn a_command_line_has_its_whole_text() {
    let Lowered::Operations(operations) = lower_command("git push # now", &text_place()) else {
        panic!("it is a command");
    };
    assert!(matches!(
        &operations.iter().next().unwrap().subject,
        Subject::Command(command) if command.written.as_known() == Some("git push")
    ));
    assert_eq!(&*operations.whole().unwrap().stripped, "git push");
}

#[test]
fn a_host_in_its_own_letters_is_a_further_spelling() {
    let spellings = |raw: &str| match CommandPaths::new(&text_place()).url(&Text::known(raw)) {
        UrlFound::Url(urls) => urls.iter().map(|url| written(&url.text)).collect(),
        UrlFound::File { url, .. } => vec![written(&url.text)],
        UrlFound::Unknown(why) => panic!("{}", why.as_str()),
    };
    for raw in [
        "https://b\u{fc}cher.example/a",
        "https://XN--BCHER-KVA.example/a",
    ] {
        assert_eq!(
            spellings(raw),
            [
                "https://xn--bcher-kva.example/a",
                "https://b\u{fc}cher.example/a"
            ],
            "{raw}"
        );
    }
    assert_eq!(spellings("https://a.example/"), ["https://a.example/"]);
    assert_eq!(spellings("file:/etc/x/../%68osts"), ["file:///etc/hosts"]);
}

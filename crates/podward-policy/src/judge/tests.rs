use crate::action::Action;
use crate::action::Action::{Allow, Ask, Deny};
use crate::operation::{Lowered, Need, Operation, OperationIdx, Subject};
use crate::policy::Policies;
use crate::source::Location;
use crate::testing::{
    bash, call, command, layer, operation, path, policies, tool, unknown, url, whole_call,
    whole_call_with_heads,
};
use crate::verdict::{Cause, Coverage, LayerKind, LayerName, RuleIdx, Ruling};

fn check(table: &str, calls: &[(Lowered, Action)]) {
    let policies = policies(table);
    for (call, expected) in calls {
        let ruling = policies.judge(call);
        assert_eq!(ruling.action, *expected, "{table}: {call:?}: {ruling:?}");
    }
}

fn check_bash(table: &str, commands: &[(&str, Action)]) {
    let calls: Vec<_> = commands
        .iter()
        .map(|(written, expected)| (call(&[bash(written)]), *expected))
        .collect();
    check(table, &calls);
}

fn check_paths(table: &str, paths: &[(&str, Action)]) {
    let calls: Vec<_> = paths
        .iter()
        .map(|(short, expected)| {
            let read = operation("read", path(short, None), Need::Full);
            (call(&[read]), *expected)
        })
        .collect();
    check(table, &calls);
}

fn check_urls(table: &str, urls: &[(&str, Action)]) {
    let calls: Vec<_> = urls
        .iter()
        .map(|(canonical, expected)| {
            let fetch = operation("web_fetch", url(canonical), Need::Full);
            (call(&[fetch]), *expected)
        })
        .collect();
    check(table, &calls);
}

fn bash_with(written: &str, further: &[&str]) -> Operation {
    operation("bash", command(written, further), Need::Full)
}

#[test]
fn d1_2_the_first_rule_that_matches_decides() {
    check_bash(
        "ask
         bash | git push * | deny
         bash | git * | allow
         bash | git log * | deny",
        &[
            ("git push origin", Deny),
            ("git push", Deny),
            ("git log", Allow),
            ("git", Allow),
            ("gitk", Ask),
            ("ls", Ask),
        ],
    );
    check(
        "ask
         read | * | allow",
        &[(call(&[bash("ls")]), Ask)],
    );
}

#[test]
fn d1_1_no_layer_and_nothing_to_run_are_allowed() {
    let ruling = Policies::default().judge(&call(&[bash("rm -rf /")]));
    assert_eq!((ruling.action, ruling.cause), (Allow, Cause::NoPolicy));
    let ruling = policies("deny").judge(&Lowered::NothingToRun);
    assert_eq!((ruling.action, ruling.cause), (Allow, Cause::NothingToRun));
}

#[test]
fn d1_6_a_catch_all_is_a_default() {
    let read = |need| operation("read", path("src/a", None), need);
    for catch_all in ["* | * | deny", "bash | * | deny", "* | ** | ask"] {
        let table = format!(
            "ask
             bash | wc * | allow
             {catch_all}"
        );
        let denied = policies(&table).judge(&call(&[bash("ls")])).action;
        assert_ne!(denied, Allow, "{table}");
        let nice = operation("bash", command("nice wc", &[]), Need::Free);
        let inner = operation("bash", command("php x", &[]), Need::Restrictive);
        check(
            &table,
            &[
                (call(&[nice, bash("wc")]), Allow),
                (call(&[bash("wc"), inner]), Allow),
                (call(&[bash("wc"), read(Need::Restrictive)]), Allow),
            ],
        );
    }
    // A rule that names the other tool is no default.
    check(
        "ask
         bash | cat * | allow
         read | * | deny",
        &[(call(&[bash("cat src/a"), read(Need::Restrictive)]), Deny)],
    );
    check(
        "ask
         bash | cat * | allow
         r* | * | deny",
        &[(call(&[bash("cat src/a"), read(Need::Restrictive)]), Allow)],
    );
}

/// An allowlist may end in a deny for everything.
#[test]
fn d1_6_a_last_rule_for_everything_is_the_same_as_a_default() {
    let rules = "bash | npm run lint * | allow";
    let with_rule = format!("ask\n{rules}\n* | * | deny");
    let with_default = format!("deny\n{rules}");
    for table in [&*with_rule, &*with_default] {
        check_bash(
            table,
            &[
                ("npm run lint x", Allow),
                ("npm run ‹u›", Deny),
                ("ls", Deny),
                ("‹q›", Deny),
            ],
        );
        check(table, &[(call(&[bash("npm run lint"), unknown()]), Deny)]);
    }
}

#[test]
fn d2_2_restrictive_operations_only_tighten() {
    let edit = |short: &str| {
        call(&[
            operation("file_edit", path(short, None), Need::Full),
            operation("file_write", path(short, None), Need::Restrictive),
        ])
    };
    check(
        "ask
         file_write | src/gen/hand/* | allow
         file_write | src/gen/* | deny
         file_edit | src/* | allow",
        &[
            (edit("src/gen/hand/a.rs"), Allow),
            (edit("src/gen/b.rs"), Deny),
            (edit("src/c.rs"), Allow),
            (edit("d.rs"), Ask),
        ],
    );
    // D2.2: first match, with the glob that `cat` reads.
    let cat = |short: &str| {
        let read = operation("read", path(short, None), Need::Restrictive);
        call(&[bash("cat x"), read])
    };
    check(
        "allow
         read | config/sample.* | allow
         read | config/* | deny
         read | *.env | ask",
        &[
            (cat("config/sample.toml"), Allow),
            (cat("config/a.toml"), Deny),
            (cat("a"), Allow),
            (cat("x/.env"), Ask),
        ],
    );
}

#[test]
fn d2_3_derived_writes_need_an_allow_unless_bash_is_allowed_everything() {
    let write = |short: &str| {
        let need = Need::DerivedFrom(OperationIdx(0));
        call(&[
            bash("cargo tree"),
            operation("file_write", path(short, None), need),
        ])
    };
    check(
        "ask
         bash | cargo * | allow
         file_write | build.log | allow",
        &[(write("deps.txt"), Ask), (write("build.log"), Allow)],
    );
    for star in ["bash | * | allow", "* | * | allow"] {
        check(
            &format!(
                "deny
                 file_write | x/* | deny
                 {star}"
            ),
            &[(write("deps.txt"), Allow), (write("x/a"), Deny)],
        );
    }
    check(
        "ask
         bash | * | allow
         file_write | * | deny",
        &[(write("deps.txt"), Deny)],
    );
    check(
        "ask
         bash | * | allow
         * | * | deny",
        &[(write("deps.txt"), Allow)],
    );
    check(
        "ask
         bash | rm * | deny
         bash | * | ask",
        &[(write("deps.txt"), Ask)],
    );
}

#[test]
fn d2_4_operands_known_in_part() {
    let cat = |short: &str| {
        let read = operation("read", path(short, None), Need::Restrictive);
        call(&[bash("cat x"), read])
    };
    check(
        "allow
         read | .env | deny
         read | keys/* | deny
         read | *.pem | ask",
        &[
            (cat("‹q›"), Allow),
            (cat("‹u›"), Allow),
            (cat("‹q›/x.pem"), Ask),
            (cat("‹q›/.env"), Allow),
            (cat("keys/‹q›"), Deny),
            (cat("k‹q›"), Allow),
            // A glob counts where it may match, but names no leading dot and no `/`.
            (cat("‹g›"), Ask),
            (cat("‹g›.rs"), Allow),
            (cat("keys/‹g›"), Deny),
            (cat("src/‹g›.pem"), Ask),
        ],
    );
    check(
        "allow
         read | .env | deny",
        &[(cat("‹g›"), Allow), (cat(".e‹g›"), Ask)],
    );
    check(
        "allow
         unresolved | deny
         read | .env | deny",
        &[(cat(".e‹g›"), Deny)],
    );
    let curl = |canonical: &str| {
        let fetch = operation("web_fetch", url(canonical), Need::Restrictive);
        call(&[bash("curl x"), fetch])
    };
    check(
        "allow
         web_fetch | *secret* | deny",
        &[
            (curl("‹q›"), Allow),
            (curl("https://x.example/‹q›"), Allow),
            (curl("‹q›/secret"), Deny),
        ],
    );
}

#[test]
fn d2_4_the_target_of_a_redirection_that_is_not_known_is_at_least_an_ask() {
    let to = |short: &str| {
        let need = Need::DerivedFrom(OperationIdx(0));
        call(&[
            bash("echo x"),
            operation("file_write", path(short, None), need),
        ])
    };
    for table in [
        "ask
         bash | echo * | allow",
        "allow
         file_write | *.env | deny",
        "ask
         bash | echo * | allow
         file_write | src/* | allow",
    ] {
        check(table, &[(to("‹q›"), Ask), (to("src/‹q›"), Ask)]);
    }
    check("allow", &[(to("‹q›"), Allow)]);
    // `..` may lead anywhere, but not away from how the path ends.
    check(
        "ask
         bash | echo * | allow
         file_write | *.log | allow",
        &[(to("src/‹q›/a.log"), Allow), (to("‹g›.log"), Allow)],
    );
}

#[test]
fn d2_5_external_directory_says_nothing_unless_a_rule_names_it() {
    let outside = |name: &str, need| {
        call(&[
            operation(name, path("/etc/hosts", None), Need::Full),
            operation("external_directory", path("/etc/hosts", None), need),
        ])
    };
    for need in [Need::Full, Need::Restrictive] {
        check(
            "deny
             read | /etc/* | allow",
            &[(outside("read", need), Allow)],
        );
        check(
            "allow
             external_directory | /srv/* | allow
             external_directory | * | deny",
            &[(outside("read", need), Deny)],
        );
        for glob in [
            "* | * | deny",
            "ext* | * | deny",
            "external_director? | /etc/* | deny",
        ] {
            let table = format!(
                "allow
                 read | * | allow
                 {glob}"
            );
            check(&table, &[(outside("read", need), Allow)]);
        }
    }
}

#[test]
fn d3_1_patterns_with_quotes_match_exactly_one_word() {
    check_bash(
        "ask
         bash | git tag -m 'first release' * | allow
         bash | git commit -m \"*\" | allow
         bash | 'git log' | allow
         bash | echo 'plain' | allow
         bash | say 'it'\\''s' | allow",
        &[
            ("git tag -m 'first release' v1", Allow),
            ("git tag -m 'first release'", Allow),
            ("git tag -m first release v1", Ask),
            ("git commit -m x", Allow),
            ("git commit -m 'a b'", Allow),
            ("git commit -m ''", Allow),
            ("git commit -m 'it'\\''s'", Allow),
            ("git commit -m a b", Ask),
            ("git commit -m 'a b' c", Ask),
            ("git commit -m 'a' 'b c'", Ask),
            ("git commit -m", Ask),
            ("'git log'", Allow),
            ("git log", Ask),
            ("echo plain", Allow),
            ("say 'it'\\''s'", Allow),
        ],
    );
    check_bash(
        "allow
         bash | *\"rm -rf\"* | deny
         bash | 'git log' | deny",
        &[
            ("sh -c 'rm -rf x'", Deny),
            ("rm -rf x", Deny),
            ("'git log'", Deny),
            ("git log", Allow),
        ],
    );
}

#[test]
fn d3_2_holes_decide_only_where_all_fillings_agree() {
    check_bash(
        "deny
         bash | npm run lint * | allow
         bash | mkdir * | allow
         bash | tar x?f * | allow",
        &[
            ("npm run ‹u›", Deny),
            ("mkdir -p build/‹q›", Allow),
            ("mkdir ‹u› x", Allow),
            ("mkdir ‹u›", Allow),
            ("tar x‹q›f y", Deny),
            ("mk‹q›", Deny),
        ],
    );
    check_bash(
        "allow
         bash | rm * | deny",
        &[
            ("rm -rf ‹q›", Deny),
            ("rm ‹u›", Deny),
            ("ls ‹u›", Allow),
            ("ls ‹q›", Allow),
            ("‹u› x", Ask),
            ("‹q› x", Ask),
            ("‹u›", Ask),
            ("r‹q› x", Ask),
            ("r‹u›", Ask),
            ("git‹u›", Allow),
        ],
    );
    // A word may come to be written in quotes, and then no longer begins as the pattern does.
    check_bash(
        "ask
         bash | rm build/* | allow
         bash | cat 'a*' | allow",
        &[
            ("rm build/‹q›", Ask),
            ("rm build/x", Allow),
            ("cat a‹q›", Allow),
            ("cat a‹u›", Ask),
        ],
    );
    // The blank beside no word vanishes as well.
    check_bash(
        "allow
         bash | git push | deny
         bash | * clean | deny",
        &[
            ("git ‹u› push", Ask),
            ("git push ‹u›", Ask),
            ("‹u› clean", Ask),
        ],
    );
    for (unresolved, expected) in [("ask", Ask), ("deny", Deny)] {
        check_bash(
            &format!(
                "ask
                 unresolved | {unresolved}
                 bash | rm -i * | allow
                 bash | rm -r * | deny"
            ),
            &[("rm ‹u›", expected), ("ls ‹u›", Ask)],
        );
    }
}

#[test]
fn d3_2_a_quoted_hole_alone_is_no_match_of_a_floating_pattern() {
    let table = "allow
         bash | *mkfs* | deny";
    check_bash(
        table,
        &[
            ("echo ‹q›", Allow),
            ("git commit -m ‹q›", Allow),
            ("echo a-‹q›-b", Allow),
            ("echo ‹u›", Ask),
            ("‹q› x", Ask),
            ("echo mk‹q›", Ask),
            ("echo ‹q› mkfs", Deny),
        ],
    );
    let forms = bash_with("/bin/echo ‹q›", &["echo ‹q›"]);
    check(table, &[(call(&[forms]), Allow)]);
    check_bash(
        "allow
         bash | * --force* | deny",
        &[
            ("git push ‹q›", Allow),
            ("git push ‹u›", Ask),
            ("git push --for‹q›", Ask),
        ],
    );
    // No exception for a pattern that is anchored.
    check_bash(
        "allow
         bash | echo *mkfs* | deny",
        &[("echo ‹q›", Ask)],
    );
}

#[test]
fn d3_3_unknown_code_stands_for_anything() {
    let eval = || call(&[bash("eval x"), unknown()]);
    for (table, expected) in [
        ("allow", Allow),
        ("ask", Ask),
        ("deny", Deny),
        ("allow\nbash | rm * | deny", Ask),
        ("allow\nread | keys/* | deny", Ask),
        ("allow\nfile_write | * | deny", Ask),
        ("allow\nweb_fetch | x | ask", Ask),
        ("allow\nunresolved | deny\nfile_edit | x | ask", Deny),
        ("allow\ngrep | x | deny", Allow),
        ("allow\nexternal_directory | * | deny", Allow),
        ("allow\nmcp__a__b | * | deny", Allow),
        ("ask\nbash | * | allow", Allow),
        ("ask\n* | * | allow", Allow),
        ("ask\nbash | * | allow\nbash | rm * | deny", Allow),
        ("ask\nbash | shutdown * | deny\nbash | * | allow", Ask),
        ("deny\nread | x | ask\nbash | * | allow", Deny),
        ("ask\nbash | e* | allow", Ask),
        ("ask\nread | * | allow\nbash | eval * | allow", Ask),
        ("allow\nbash | * | deny", Deny),
    ] {
        check(table, &[(eval(), expected)]);
    }
    // So does a command whose program is not known.
    for (table, expected) in [
        ("allow", Allow),
        ("allow\nread | keys/* | deny", Ask),
        ("ask\nbash | * | allow", Allow),
        ("ask\nbash | * --version | allow", Ask),
        ("ask\nbash | * * | allow", Ask),
    ] {
        check_bash(table, &[("‹q› --version", expected)]);
    }
    // A text with holes elsewhere does not.
    check_bash("allow\nread | keys/* | deny", &[("echo ‹q›", Allow)]);
}

#[test]
fn d3_3_a_rule_that_is_the_whole_call_covers_all_of_it() {
    let text = "cargo metadata > meta.json";
    let metadata = || {
        let write = operation(
            "file_write",
            path("meta.json", None),
            Need::DerivedFrom(OperationIdx(0)),
        );
        whole_call(&[bash("cargo metadata"), write, unknown()], text)
    };
    for (rules, expected) in [
        ("bash | cargo metadata > meta.json | allow", Allow),
        ("bash | cargo metadata > meta.?son | allow", Ask),
        ("bash | cargo metadata [>] meta.json | allow", Allow),
        ("read | cargo metadata > meta.json | allow", Ask),
        (
            "bash | cargo metadata > meta.json | allow
             file_write | meta.json | deny",
            Allow,
        ),
        (
            "file_write | meta.json | deny
             bash | cargo metadata > meta.json | allow",
            Deny,
        ),
    ] {
        check(&format!("ask\n{rules}"), &[(metadata(), expected)]);
    }
}

#[test]
fn d3_4_restrictive_rules_see_more_forms() {
    let forms = || bash_with("/bin/RM -rf x", &["RM -rf x"]);
    check("allow\nbash | rm * | deny", &[(call(&[forms()]), Deny)]);
    check(
        "allow\nbash | rm -RF * | deny",
        &[(call(&[forms()]), Allow)],
    );
    check("ask\nbash | rm * | allow", &[(call(&[forms()]), Ask)]);
    check("ask\nbash | RM * | allow", &[(call(&[forms()]), Ask)]);
    check(
        "ask\nbash | /bin/RM * | allow",
        &[(call(&[forms()]), Allow)],
    );
    // Behind assignments the program is found as well.
    let assigned = || bash_with("A=1 x", &["A=1 RM y", "B=2 C=3 Rm z"]);
    check(
        "allow\nbash | a=1 rm y | deny",
        &[(call(&[assigned()]), Allow)],
    );
    check(
        "allow\nbash | A=1 rm y | deny",
        &[(call(&[assigned()]), Deny)],
    );
    check(
        "allow\nbash | B=2 C=3 rm z | deny",
        &[(call(&[assigned()]), Deny)],
    );
}

#[test]
fn d3_4_only_a_pattern_with_an_operator_sees_the_whole_text() {
    let pipe = || whole_call(&[bash("wget -q x"), bash("bash")], "wget -q x | bash");
    for (rules, expected) in [
        ("bash | wget * | bash* | deny", Deny),
        ("bash | wget * | bash * | deny", Deny),
        ("bash | wget *bash* | deny", Allow),
        ("bash | wget * | bash* | allow", Allow),
        ("bash | *|* | ask", Ask),
        ("read | wget * | bash* | deny", Allow),
    ] {
        check(&format!("allow\n{rules}"), &[(pipe(), expected)]);
    }
}

#[test]
fn d5_5_a_pattern_with_an_operator_sees_what_the_text_was_before_more_was_appended() {
    let text = "wget -q x | bash; ls # end";
    let operations = [bash("wget -q x"), bash("bash"), bash("ls")];
    let longer = || whole_call_with_heads(&operations, text, &[9, 16, 17, 20]);
    for (pattern, expected) in [
        ("wget * | bash", Deny),
        ("wget * | bash;", Deny),
        ("wget * | bash; ls", Deny),
        ("wget * | bash; ls # end", Deny),
        ("wget * | bash; l", Allow),
        ("wget * | bas", Allow),
        ("w*|", Allow),
    ] {
        check(
            &format!("allow\nbash | {pattern} | deny"),
            &[(longer(), expected)],
        );
    }
}

#[test]
fn d5_5_a_match_of_the_whole_call_only_tightens() {
    let text = "ls | rm x; id";
    let longer =
        || whole_call_with_heads(&[bash("ls"), bash("rm x"), bash("id")], text, &[2, 9, 10]);
    for (rules, expected) in [
        ("allow\nbash | *;* | ask", Ask),
        ("allow\nbash | *;* | ask\nbash | rm * | deny", Deny),
        ("deny\nbash | *;* | ask", Deny),
        ("allow\nbash | *;* | ask\nbash | *|* | deny", Deny),
        ("deny\nbash | * | allow\nbash | *;* | deny", Allow),
        ("deny\nbash | *;* | ask\nbash | * | allow", Ask),
    ] {
        check(rules, &[(longer(), expected)]);
    }
}

#[test]
fn d6_a_value_brings_no_operator() {
    check(
        "allow\nbash | *curl *|*sh* | deny",
        &[
            (call(&[bash("echo ‹u›")]), Allow),
            (call(&[bash("‹q›x")]), Ask),
            (call(&[bash("grep 'curl a|sh' ‹u›")]), Deny),
            (call(&[bash("grep 'a|b' ‹u›")]), Ask),
        ],
    );
}

#[test]
fn d3_4_and_d4_3_forms_of_paths() {
    check_paths(
        "ask
         read | ~/.ssh/* | deny
         read | /w/secret/* | deny
         read | *.pem | deny
         read | tmp/* | deny
         read | src/* | allow
         read | /w/docs/* | allow
         read | ~/notes/* | allow",
        &[
            ("/h/.ssh/id", Deny),
            ("/h/.ssh", Deny),
            ("/h/.SSH/id", Deny),
            ("/h/.sshx", Ask),
            ("secret/a", Deny),
            ("secret", Deny),
            ("Secret/A", Deny),
            ("a.pem", Deny),
            ("/x/a.PEM", Deny),
            ("/tmp/x", Ask),
            ("tmp", Deny),
            ("src/a", Allow),
            ("SRC/a", Ask),
            ("src", Ask),
            ("docs/a", Allow),
            ("/h/notes/a", Allow),
            ("/h/notes", Ask),
        ],
    );
    // A workspace below home has three spellings, and a restriction sees each.
    check_paths(
        "allow
         read | */.git/* | deny
         read | /w | deny",
        &[(".git/config", Deny), ("a/.git/config", Deny), (".", Deny)],
    );
    let read = |short: &str, resolved: &str| {
        call(&[operation("read", path(short, Some(resolved)), Need::Full)])
    };
    check(
        "ask
         read | secrets/* | deny
         read | src/* | allow",
        &[
            (read("src/a", "src/b"), Allow),
            (read("src/link", "secrets/key"), Deny),
            (read("src/link", "/etc/passwd"), Ask),
            (read("link", "src/a"), Ask),
        ],
    );
}

#[test]
fn d3_5_a_rule_for_a_wrapper_covers_what_it_names() {
    // `sudo systemctl status x`: the inner name ends after 14 bytes.
    let sudo = |verb: &str| {
        let need = Need::RunBy {
            wrapper: OperationIdx(0),
            reach: "sudo systemctl".len(),
        };
        call(&[
            bash(&format!("sudo systemctl {verb} x")),
            operation("bash", command(&format!("systemctl {verb} x"), &[]), need),
        ])
    };
    for (rules, expected) in [
        ("bash | sudo systemctl status * | allow", Allow),
        ("bash | sudo systemctl* | allow", Allow),
        ("bash | sudo * | allow", Ask),
        ("bash | sudo systemctl[ ]status x | allow", Allow),
        ("bash | sudo ?ystemctl status * | allow", Ask),
        ("bash | sudo * | allow\nbash | systemctl * | allow", Allow),
        ("bash | systemctl * | allow", Ask),
        ("bash | * | allow", Allow),
        (
            "bash | systemctl status * | deny\nbash | sudo systemctl * | allow",
            Deny,
        ),
        (
            "bash | sudo systemctl * | allow\nbash | systemctl status * | deny",
            Allow,
        ),
    ] {
        check(&format!("ask\n{rules}"), &[(sudo("status"), expected)]);
    }
    check(
        "ask
         bash | sudo systemctl status * | allow",
        &[(sudo("stop"), Ask)],
    );
}

#[test]
fn d3_5_free_commands_need_no_rule() {
    let free = |written: &str| {
        let cd = operation("bash", command(written, &[]), Need::Free);
        call(&[cd, bash("pytest -q")])
    };
    check(
        "deny
         bash | cd vendor* | deny
         bash | nice -n * | ask
         bash | pytest * | allow",
        &[
            (free("cd src"), Allow),
            (free("cd vendor/x"), Deny),
            (free("nice -n 5 pytest -q"), Ask),
        ],
    );
}

#[test]
fn d4_2_a_tail_may_be_missing() {
    check_bash(
        "ask
         bash | git push * | allow
         bash | cargo build *|* | allow
         bash | ls* | allow",
        &[
            ("git push", Allow),
            ("git push x", Allow),
            ("git pushx", Ask),
            ("git push ‹u›", Allow),
            ("cargo build", Ask),
            ("ls", Allow),
            ("lsof", Allow),
        ],
    );
    check_paths("ask\nread | a * | allow", &[("a", Ask), ("a b", Allow)]);
}

#[test]
fn d4_4_an_allow_of_urls_ends_at_the_host() {
    check_urls(
        "ask
         web_fetch | https://docs.rs* | allow
         web_fetch | https://*example.com/* | allow
         web_fetch | https://*.example.org/api/* | allow
         web_fetch | http*://Plain.example:443/* | allow
         web_fetch | https://local.example:*/* | allow
         web_fetch | https://docs.*/x | allow
         web_fetch | https://img*cdn.example.net/* | allow
         web_fetch | https://x*y.co.uk/* | allow
         web_fetch | *free.example/* | allow
         web_fetch | file:///srv/* | allow
         web_fetch | https://q.example/?a=* | allow",
        &[
            ("https://docs.rs/", Allow),
            ("https://docs.rs/serde", Ask),
            ("https://docs.rs.evil.example/", Ask),
            ("https://example.com/a", Allow),
            ("https://a.b.example.com/a", Allow),
            ("https://notexample.com/a", Ask),
            ("https://evil.example/?https://example.com/a", Ask),
            ("https://a.example.org/api/x", Allow),
            ("https://example.org/api/x", Ask),
            ("https://evil.example/.example.org/api/x", Ask),
            ("https://plain.example/a", Ask),
            ("http://plain.example:443/a", Allow),
            ("https://local.example:8080/a", Allow),
            ("https://local.example/a", Ask),
            ("https://docs.evil/x", Ask),
            ("https://img1.cdn.example.net/a", Allow),
            ("https://img-1-cdn.example.net/a", Allow),
            ("https://xevil-y.co.uk/", Ask),
            ("https://xy.co.uk/", Allow),
            ("https://free.example/", Ask),
            ("file:///srv/a", Allow),
            ("file:///etc/a", Ask),
            ("@https://docs.rs/", Ask),
            ("https://q.example/?a=1", Allow),
        ],
    );
    check_urls(
        "ask
         web_fetch | * | allow",
        &[
            ("https://a.example/x", Allow),
            ("@https://a.example/x", Ask),
        ],
    );
    check_urls(
        "allow
         web_fetch | https://EVIL.example:443/* | deny
         web_fetch | https://bare.example | deny
         web_fetch | *secret* | ask",
        &[
            ("https://evil.example/p", Deny),
            ("@https://evil.example/p", Deny),
            ("https://notevil.example/p", Allow),
            ("https://bare.example/", Deny),
            ("https://bare.example/x", Allow),
            ("https://a.example/secret", Ask),
            ("https://a.example/Secret", Allow),
        ],
    );
    check_urls(
        "ask
         web_fetch | https://a.example/* | allow",
        &[
            ("https://a.example/‹q›", Allow),
            ("https://a.example‹q›/", Ask),
        ],
    );
}

#[test]
fn d4_5_tools_are_named_part_by_part() {
    let mcp = |name: &str| {
        let arguments = crate::testing::text("{\"q\":\"x\"}");
        call(&[operation(name, Subject::Plain(arguments), Need::Full)])
    };
    for (rule, name, expected) in [
        ("*read | * | allow", "mcp__fs__read", Ask),
        ("*read | * | deny", "mcp__fs__read", Deny),
        ("* | * | allow", "mcp__fs__read", Allow),
        ("mcp__notes__* | * | allow", "mcp__notes__search", Allow),
        ("mcp__notes__* | * | allow", "mcp__notes2__search", Ask),
        ("mcp__*__search | * | allow", "mcp__notes__search", Allow),
        ("mcp__*__search | * | allow", "mcp__a__b__search", Ask),
        ("mcp__*__search | * | deny", "mcp__a__b__search", Ask),
        ("mcp__no* | * | allow", "mcp__notes__search", Ask),
        ("mcp__no* | * | deny", "mcp__notes__search", Deny),
        ("mcp__*search | * | allow", "mcp__notes__search", Ask),
        ("mcp__*search | * | deny", "mcp__notes__search", Deny),
        ("mcp__* | * | allow", "mcp__notes__search", Allow),
        ("mcp__n__s | * | allow", "mcp__n__s", Allow),
        ("mcp__n__s | *\"q\":\"x\"* | deny", "mcp__n__s", Deny),
        ("mcp__n__s | *\"q\":\"X\"* | deny", "mcp__n__s", Ask),
    ] {
        check(&format!("ask\n{rule}"), &[(mcp(name), expected)]);
    }
}

#[test]
fn d4_6_only_blank_tab_and_newline_separate_words() {
    check_bash(
        "ask
         bash | ls * | allow",
        &[
            ("ls\u{a0}x", Ask),
            ("ls\u{200b} x", Ask),
            ("ls \u{a0}x", Allow),
        ],
    );
}

#[test]
fn d5_1_the_strictest_operation_decides() {
    let table = "allow
         bash | echo * | ask
         bash | rm * | deny";
    let ruling = policies(table).judge(&call(&[bash("echo a"), bash("rm b"), bash("echo c")]));
    assert_eq!(
        ruling,
        Ruling {
            action: Deny,
            cause: Cause::Rule {
                layer: LayerName {
                    kind: LayerKind::Manifest
                },
                rule: RuleIdx(1),
                location: Location {
                    file: "test.toml".into(),
                    line: 2,
                    column: 1
                },
                pattern: "rm *".into(),
                message: None,
            },
            operation: Some(OperationIdx(1)),
            coverage: Coverage::Full,
        }
    );
}

#[test]
fn d5_2_a_layer_can_only_tighten() {
    let both = Policies::new(vec![
        layer(LayerKind::Machine, "allow\nbash | rm * | deny"),
        layer(
            LayerKind::Manifest,
            "ask\nbash | * | allow\nread | x | allow",
        ),
    ]);
    let judge = |operation| both.judge(&call(&[operation]));
    assert_eq!(judge(bash("rm x")).action, Deny);
    assert_eq!(judge(bash("ls")).action, Allow);
    let read = operation("read", path("y", None), Need::Full);
    assert_eq!(judge(read).action, Ask);
    let layer_of = |ruling: Ruling| match ruling.cause {
        Cause::Rule { layer, .. } | Cause::Default { layer, .. } => layer.kind,
        other => panic!("{other:?}"),
    };
    assert_eq!(layer_of(judge(bash("rm x"))), LayerKind::Machine);
    assert_eq!(layer_of(judge(bash("ls"))), LayerKind::Manifest);
}

#[test]
fn d5_4_a_verdict_says_what_was_not_seen() {
    let ruling = policies("ask").judge(&call(&[bash("eval x"), unknown()]));
    assert_eq!(
        ruling.coverage,
        Coverage::Partial(vec!["code from a pipe".into()])
    );
    let mut inline = bash("python3 -c x");
    inline.partial.push("inline code of `python3`".into());
    let ruling = policies("allow").judge(&call(&[inline.clone(), inline]));
    assert_eq!(
        ruling.coverage,
        Coverage::Partial(vec!["inline code of `python3`".into()])
    );
    let read = operation("read", path("‹q›", None), Need::Restrictive);
    let ruling = policies("allow\nread | x | deny").judge(&call(&[bash("cat x"), read]));
    assert_eq!(ruling.action, Allow);
    assert_eq!(
        ruling.coverage,
        Coverage::Partial(vec!["a path is not known before the command runs".into()])
    );
    let ruling = policies("allow\nbash | rm * | deny").judge(&call(&[bash("ls"), unknown()]));
    assert_eq!(
        ruling.cause,
        Cause::Unresolved {
            layer: LayerName {
                kind: LayerKind::Manifest
            },
            rule: Some(RuleIdx(0)),
            location: Some(Location {
                file: "test.toml".into(),
                line: 1,
                column: 1
            }),
            why: "code from a pipe".into(),
        }
    );
}

#[test]
fn item_10_a_tool_that_nothing_can_be_done_with_is_not_offered() {
    for (table, name, expected) in [
        ("deny", "bash", false),
        ("ask", "bash", true),
        ("allow\nbash | * | deny", "bash", false),
        ("allow\n* | * | deny", "bash", false),
        ("allow\nbash | rm * | deny", "bash", true),
        ("deny\nbash | ls * | allow", "bash", true),
        ("deny\nbash | ls * | ask", "bash", true),
        ("deny\nread | * | allow", "bash", false),
        ("deny\nbash | ls | deny\nbash | ls | allow", "bash", false),
        ("deny\nbash | * | deny\nbash | ls | allow", "bash", false),
        ("allow\nfile_edit | * | deny", "file_write", false),
        (
            "allow\nfile_edit | a | allow\nfile_edit | * | deny",
            "file_write",
            true,
        ),
        ("allow\nread | * | deny", "grep", false),
        ("allow\nread | * | deny", "list", true),
        ("deny\n* | * | allow", "mcp__a__b", true),
        ("deny\nmcp__a__* | * | allow", "mcp__b__b", false),
    ] {
        let found = policies(table).may_ever_run(&tool(name));
        assert_eq!(found, expected, "{table}: {name}");
    }
    let layers = Policies::new(vec![
        layer(LayerKind::Machine, "allow\nbash | * | deny"),
        layer(LayerKind::Manifest, "allow"),
    ]);
    assert!(!layers.may_ever_run(&tool("bash")));
    assert!(layers.may_ever_run(&tool("read")));
    assert!(Policies::default().may_ever_run(&tool("bash")));
}

#[test]
fn d3_7_a_limit_never_drops_a_deny() {
    // Far more work than a call may cost.
    let long = format!("x {}", "a".repeat(400_000));
    let slow = format!("*{}b*", "?".repeat(2000));
    for (rules, expected) in [
        (format!("bash | {slow} | deny"), Ask),
        (format!("bash | {slow} | allow\nbash | rm | deny"), Ask),
        (format!("bash | {slow} | deny\nbash | * | allow"), Ask),
    ] {
        check(
            &format!("allow\n{rules}"),
            &[(call(&[bash(&long)]), expected)],
        );
    }
}

#[test]
fn an_address_that_a_name_led_to_needs_a_rule_that_names_it() {
    let at = |host: &str| {
        let url = url(&format!("http://{host}/x"));
        call(&[operation("web_fetch", url, Need::Named)])
    };
    for pattern in ["*", "http://*", "http://*/*", "*://*/*", "http://?*/*"] {
        for (default, expected) in [("allow", Ask), ("ask", Ask), ("deny", Deny)] {
            let table = format!("{default}\n web_fetch | {pattern} | allow");
            check(&table, &[(at("10.0.0.5"), expected)]);
        }
    }
    for pattern in [
        "http://10.0.0.5/*",
        "http://10.*/*",
        "http://10.0.0.?/x",
        "http*://10.0.*/*",
    ] {
        check(
            &format!("deny\n web_fetch | {pattern} | allow"),
            &[
                (at("10.0.0.5"), Allow),
                (at("10.example.com"), Deny),
                (at("10.0.evil.com"), Deny),
                (at("192.168.0.1"), Deny),
            ],
        );
    }
    check(
        "allow
         web_fetch | http://10.0.0.5/* | deny
         web_fetch | http://10.*/* | allow
         * | * | deny",
        &[
            (at("10.0.0.5"), Deny),
            (at("10.0.0.6"), Allow),
            (at("[::1]"), Ask),
        ],
    );
    let unnamed = policies("allow").judge(&at("10.0.0.5"));
    assert!(
        matches!(unnamed.cause, Cause::Unnamed { .. }),
        "{unnamed:?}"
    );
    assert_eq!(
        Policies::default().judge(&at("[::1]")).cause,
        Cause::NoPolicy
    );
}

#[test]

fn d2_2_a_tree_meets_what_is_named_below_it() {
    let trees = |table: &str, trees: &[(&str, Action)]| {
        let calls: Vec<_> = trees
            .iter()
            .map(|(directory, expected)| {
                let Subject::Path(tree) = path(directory, None) else {
                    panic!("a path");
                };
                let write = operation("file_write", Subject::Tree(tree), Need::Restrictive);
                (call(&[write]), *expected)
            })
            .collect();
        check(table, &calls);
    };
    trees(
        "allow
         file_write | src/gen/* | deny
         file_write | Cargo.lock | deny
         file_write | *.env | deny
         file_write | /w/own/* | deny
         file_write | /etc/* | deny",
        &[
            ("src/", Deny),
            ("SRC/", Deny),
            ("./", Deny),
            ("/", Deny),
            ("own/", Deny),
            ("sr/", Allow),
            ("src/gen/", Deny),
            ("src/gen/old/", Allow),
            ("src/genes/", Allow),
            ("target/", Allow),
            ("Cargo.lock/", Allow),
            // A file name pattern may be the directory; the value of a variable is not looked at.
            ("s‹g›/", Ask),
            ("‹g›/", Ask),
            ("t‹g›/", Allow),
            ("‹q›/", Allow),
        ],
    );
    trees(
        "allow
         file_write | src/* | allow
         file_write | src/gen/* | deny",
        &[("src/", Allow), ("./", Deny)],
    );
    trees(
        "allow
         file_write | src/a/* | allow
         file_write | src/gen/* | ask",
        &[("src/", Ask), ("src/gen/", Ask), ("lib/", Allow)],
    );
}

#[test]
fn d3_3_an_exact_rule_covers_a_line_that_only_writes() {
    let table = |action: &str| format!("deny\nbash | > x | allow\n{action}");
    let writes = || operation("file_write", path("x", None), Need::Full);
    let edits = || operation("file_edit", path("x", None), Need::Restrictive);
    let line = whole_call(&[writes(), edits()], "> x");
    for rest in ["file_* | ?* | deny", "* | * | deny"] {
        assert_eq!(policies(&table(rest)).judge(&line).action, Allow);
    }
    // The rule is one for command lines: it says nothing of a call of another tool.
    let other = call(&[writes(), edits()]);
    assert_eq!(policies(&table("")).judge(&other).action, Deny);
    let earlier = "deny\nfile_write | x | deny\nbash | > x | allow";
    assert_eq!(policies(earlier).judge(&line).action, Deny);
}

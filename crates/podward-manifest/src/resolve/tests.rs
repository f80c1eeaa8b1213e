use std::time::Duration;

use podward_scope::{Access, Enforce};

use crate::LayerKind::{CommandLine, Environment, Machine, Manifest, Project, User};
use crate::tests::layers::{errors, layer, resolved, trusted, untrusted};
use crate::{
    HookArgument, HookProgram, LayerSource, Limits, Model, Resolved, Script, Surroundings, Trust,
    Workspace, WorkspaceMode, WorkspacePath, resolve, workspace,
};

const PERMISSIONS: &str = "[permissions]\ndefault_action = \"deny\"\n";

fn ok(layers: &[LayerSource]) -> Resolved {
    resolved(layers).unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

fn limits(resolved: &Resolved) -> (u32, Duration) {
    (resolved.limits.max_steps, resolved.limits.bash_timeout)
}

fn tools(resolved: &Resolved) -> Vec<&str> {
    resolved.tools.iter().map(|tool| tool.as_str()).collect()
}

#[test]
fn nothing_said_is_the_default() {
    let resolved = ok(&[]);
    assert_eq!(resolved.pod.name.as_str(), "pod");
    assert_eq!(resolved.pod.workspace, Workspace::default());
    assert_eq!(resolved.model, Model::Undeclared);
    assert_eq!(resolved.limits, Limits::default());
    assert_eq!(resolved.tools, Surroundings::default().offerable_tools);
    assert_eq!(resolved.scope, podward_scope::ScopeDecl::default());
    let warnings: Vec<_> = resolved
        .warnings
        .iter()
        .map(|warning| &warning.message)
        .collect();
    assert_eq!(
        warnings,
        ["no layer has `[permissions]`: every call is allowed"]
    );
}

#[test]
fn the_nearest_layer_decides() {
    let text = |steps: u32| format!("[limits]\nmax_steps = {steps}\n");
    let all = [
        trusted(Manifest, &text(4)),
        trusted(Project, &text(3)),
        trusted(User, &text(2)),
        trusted(Machine, &text(1)),
    ];
    // Whatever the order in which they are given.
    for (n_outer, expected) in [(4, 4), (3, 3), (2, 2), (1, 1)] {
        let layers: Vec<_> = all.iter().rev().take(n_outer).cloned().collect();
        assert_eq!(ok(&layers).limits.max_steps, expected);
        let layers: Vec<_> = all.iter().skip(4 - n_outer).cloned().collect();
        assert_eq!(ok(&layers).limits.max_steps, expected);
    }
}

#[test]
fn settings_of_one_table_come_from_different_layers() {
    let user = "[model]\nprovider = \"scripted\"\nscript = \"u.toml\"\nkey_env = \"U\"\n";
    let manifest = "[model]\nscript = \"m.toml\"\nsystem = \"be kind\"\n";
    let resolved = ok(&[trusted(User, user), trusted(Manifest, manifest)]);
    assert_eq!(
        resolved.model,
        Model::Scripted(Script::File("/manifest/m.toml".into()))
    );
    let key = resolved.key.as_ref().map(|key| key.location.to_string());
    assert_eq!(key.as_deref(), Some("user.toml:4:1"));
    assert_eq!(resolved.system, "be kind");
}

#[test]
fn an_untrusted_project_only_makes_limits_smaller() {
    let manifest = "[limits]\nmax_steps = 50\nbash_timeout = \"60s\"\n";
    let check = |text: &str, expected, n_warnings| {
        let resolved = ok(&[
            trusted(Manifest, &format!("{PERMISSIONS}{manifest}")),
            untrusted(text),
        ]);
        assert_eq!(limits(&resolved), expected, "{text}");
        assert_eq!(resolved.warnings.len(), n_warnings, "{text}");
    };
    let second = Duration::from_secs;
    check("[limits]\nmax_steps = 10", (10, second(60)), 0);
    check(
        "[limits]\nmax_steps = 51\nbash_timeout = \"1s\"",
        (50, second(1)),
        1,
    );
    check(
        "[limits]\nmax_steps = 50\nbash_timeout = \"1m\"",
        (50, second(60)),
        0,
    );
    // Also against a default.
    let steps = |text: &str| ok(&[untrusted(text)]).limits.max_steps;
    assert_eq!(steps("[limits]\nmax_steps = 101"), 100);
    assert_eq!(steps("[limits]\nmax_steps = 99"), 99);
}

#[test]
fn an_untrusted_project_only_takes_tools_away() {
    let manifest = trusted(
        Manifest,
        &format!("{PERMISSIONS}[tools]\noffered = [\"read\", \"grep\"]\n"),
    );
    let check = |text: &str, expected: &[&str]| {
        assert_eq!(
            tools(&ok(&[manifest.clone(), untrusted(text)])),
            expected,
            "{text}"
        );
    };
    check("[tools]\noffered = [\"read\", \"bash\"]", &["read"]);
    check("[tools]\noffered = [\"bash\"]", &[]);
    check("[tools]\noffered = []", &[]);
    check(
        "[tools]\noffered = [\"bash\", \"read\", \"grep\"]",
        &["grep", "read"],
    );
    assert_eq!(
        tools(&ok(&[untrusted("[tools]\noffered = [\"read\"]")])),
        ["read"]
    );
}

#[test]
fn denied_roots_of_all_layers_count_allowed_ones_of_the_nearest() {
    let text = |name: &str| {
        format!(
            "[scope]\nallow = [{{ path = \"{name}\", access = \"write\" }}]\n\
             deny = [{{ path = \"not-{name}\", access = \"read\" }}]\n"
        )
    };
    let scope = ok(&[
        trusted(User, &format!("{}enforce = \"required\"\n", text("user"))),
        trusted(Manifest, &text("manifest")),
        untrusted("[scope]\ndeny = [{ path = \"secrets\", access = \"write\" }]"),
    ])
    .scope;
    let shown = |roots: &[podward_scope::Root]| -> Vec<_> {
        let one = |root: &podward_scope::Root| {
            format!(
                "{} {} {}",
                root.path.display(),
                root.access.as_str(),
                root.declared.as_ref().unwrap()
            )
        };
        roots.iter().map(one).collect()
    };
    assert_eq!(shown(&scope.allow), ["manifest write manifest.toml:2:10"]);
    assert_eq!(
        shown(&scope.deny),
        [
            "not-user read user.toml:3:9",
            "secrets write project.toml:2:9",
            "not-manifest read manifest.toml:3:9",
        ]
    );
    assert_eq!(scope.enforce, Enforce::Required);
    assert_eq!(scope.deny[0].access, Access::Read);
}

#[test]
fn the_machine_fixes_a_setting_for_all_below() {
    let machine = "[machine]\nfixed = [\"limits.bash_timeout\", \"tools.offered\"]\n\
                   [limits]\nbash_timeout = \"2m\"\nmax_steps = 5\n[tools]\noffered = [\"read\", \"grep\"]\n";
    let check = |nearer: LayerSource, expected: &[&str]| {
        let layers = [trusted(Machine, machine), nearer];
        match expected {
            [] => assert!(resolved(&layers).is_ok()),
            expected => assert_eq!(errors(&layers), expected),
        }
    };
    // The same value, however it is written, and settings that are not fixed.
    check(
        trusted(User, "[limits]\nbash_timeout = \"120s\"\nmax_steps = 7"),
        &[],
    );
    check(
        trusted(User, "[tools]\noffered = [\"grep\", \"read\"]"),
        &[],
    );
    check(
        trusted(Manifest, "[limits]\nbash_timeout = \"3m\""),
        &["manifest.toml:2:1: `limits.bash_timeout` is fixed by machine.toml"],
    );
    check(
        trusted(Project, "[tools]\noffered = [\"read\"]"),
        &["project.toml:2:1: `tools.offered` is fixed by machine.toml"],
    );
    // Fixed is fixed, tightening or not.
    check(
        untrusted("[limits]\nbash_timeout = \"1m\""),
        &["project.toml:2:1: `limits.bash_timeout` is fixed by machine.toml"],
    );
}

#[test]
fn what_is_fixed_is_shown_at_both_places() {
    let machine = "[limits]\nmax_steps = 5\n[machine]\nfixed = [\"limits.max_steps\"]\n";
    let layers = [
        trusted(Machine, machine),
        trusted(Manifest, "[limits]\nmax_steps = 6\n"),
    ];
    assert_eq!(
        resolved(&layers).unwrap_err().to_string(),
        "error: `limits.max_steps` is fixed by machine.toml
 --> manifest.toml:2:1
  |
2 | max_steps = 6
  | ^^^^^^^^^
 ::: machine.toml:2:1: fixed to this value
  |
2 | max_steps = 5
  | ^^^^^^^^^
  = help: leave it out here: it is 5"
    );
}

#[test]
fn a_broken_layer_is_never_skipped() {
    let good = trusted(Manifest, PERMISSIONS);
    for kind in [Machine, User, Project, CommandLine, Environment] {
        let broken = trusted(kind, "[permissions]\ndefault_action = \"dony\"\n");
        assert_eq!(errors(&[broken, good.clone()]).len(), 1);
    }
}

#[test]
fn the_errors_of_all_layers_are_told_at_once_outermost_first() {
    let said = errors(&[
        trusted(Environment, "a = 1"),
        trusted(Manifest, "b = 1\n[limits]\nmax_steps = 0\n"),
        trusted(Machine, "[machine]\nfixed = [\"x\"]\n"),
    ]);
    let files: Vec<_> = said
        .iter()
        .map(|error| error.split(':').next().unwrap())
        .collect();
    assert_eq!(
        files,
        [
            "machine.toml",
            "manifest.toml",
            "manifest.toml",
            "environment.toml",
            "environment.toml"
        ]
    );
}

#[test]
fn the_key_of_the_model_is_not_for_commands() {
    let key = trusted(User, "[model]\nkey_env = \"ACME_KEY\"\n");
    let pass = |name: &str| {
        trusted(
            Manifest,
            &format!("{PERMISSIONS}[environment]\npass = [\"{name}\"]\n"),
        )
    };
    assert!(resolved(&[key.clone(), pass("ACME_URL")]).is_ok());
    for name in ["ACME_KEY", "ACME_*", "A*"] {
        let said = errors(&[key.clone(), pass(name)]);
        assert_eq!(
            said,
            [
                "user.toml:2:1: every command would see `ACME_KEY`, the variable with the model's key"
            ]
        );
    }
    assert_eq!(
        errors(&[trusted(User, "[model]\nkey_env = \"LOGNAME\"\n")]).len(),
        1
    );
}

#[test]
fn commands_see_the_base_and_what_is_passed() {
    let text = format!("{PERMISSIONS}[environment]\npass = [\"CARGO_*\"]\n");
    let environment = ok(&[trusted(Manifest, &text)]).environment;
    let passes = |name| environment.iter().any(|pattern| pattern.matches(name));
    assert!(passes("PATH") && passes("LANG") && passes("CARGO_HOME"));
    assert!(!passes("AWS_SECRET_ACCESS_KEY") && !passes("LD_PRELOAD") && !passes("LC_ALL"));
}

#[test]
fn half_a_model_is_an_error() {
    assert_eq!(
        errors(&[trusted(User, "[model]\nprovider = \"scripted\"\n")]),
        ["user.toml:2:1: the provider `scripted` needs a `script`"]
    );
    assert_eq!(
        errors(&[trusted(User, "[model]\nscript = \"demo\"\n")]),
        ["user.toml:2:1: a `script` needs a `provider`"]
    );
}

#[test]
fn the_workspace_is_found_before_all_else_is_right() {
    let layers = [
        trusted(User, "[pod]\nworkspace = \"a\"\n"),
        trusted(
            Manifest,
            "nonsense = 1\n[pod]\nworkspace = \"../b\"\nworkspace_mode = \"copy\"\n",
        ),
    ];
    let expected = Workspace {
        path: WorkspacePath::At("/manifest/../b".into()),
        mode: WorkspaceMode::Copy,
    };
    assert_eq!(workspace(&layers, &Surroundings::default()), expected);
    assert_eq!(
        workspace(&[], &Surroundings::default()),
        Workspace::default()
    );
}

#[test]
fn the_policies_are_those_of_every_layer_outermost_first() {
    let resolved = ok(&[
        trusted(Environment, PERMISSIONS),
        trusted(Manifest, "[permissions]\ndefault_action = \"allow\"\n"),
        layer(
            Project,
            Trust::Untrusted,
            "[permissions]\ndefault_action = \"ask\"\n",
        ),
        trusted(User, "[limits]\nmax_steps = 3\n"),
    ]);
    assert_eq!(
        String::from_utf8(resolved.policy_bytes).unwrap(),
        "podward policy 1\n\
         layer project default ask unresolved ask rules 0\n\
         layer manifest default allow unresolved ask rules 0\n\
         layer environment default deny unresolved deny rules 0\n"
    );
}

#[test]
fn a_home_that_is_not_known_is_said() {
    let layer = trusted(
        Manifest,
        "[scope]\ndeny = [{ path = \"~/.ssh\", access = \"read\" }]\n",
    );
    let said = resolve(&[layer], &Surroundings::default())
        .unwrap_err()
        .to_string();
    assert!(said.contains("the home directory is not known"), "{said}");
}

fn hook(name: &str) -> String {
    format!("[[hook]]\nname = \"{name}\"\nevent = \"turn_end\"\ncommand = [\"true\"]\n")
}

fn hook_names(resolved: &Resolved) -> Vec<&str> {
    resolved
        .hooks
        .iter()
        .map(|hook| hook.name.as_str())
        .collect()
}

#[test]
fn hooks_of_all_layers_add_up_outermost_first() {
    let layers = [
        trusted(Manifest, &(hook("m1") + &hook("m2"))),
        trusted(Project, &hook("p")),
        trusted(Machine, &hook("x")),
        trusted(User, &hook("u")),
    ];
    assert_eq!(hook_names(&ok(&layers)), ["x", "u", "p", "m1", "m2"]);
    assert_eq!(
        errors(&[untrusted(&hook("p"))]),
        ["project.toml:1:3: `hook` cannot be set in the layer of a project that is not trusted"]
    );
}

#[test]
fn the_machine_can_have_the_only_hooks() {
    let fixed = "[machine]\nfixed = [\"hook\"]\n";
    let machine = trusted(Machine, &(hook("x") + fixed));
    let user = trusted(User, &(hook("a") + &hook("b")));
    assert_eq!(hook_names(&ok(std::slice::from_ref(&machine))), ["x"]);
    assert_eq!(
        errors(&[machine, user.clone()]),
        [
            "user.toml:1:1: `hook` is fixed by machine.toml",
            "user.toml:5:1: `hook` is fixed by machine.toml",
        ]
    );
    let none = trusted(Machine, &format!("hook = []\n{fixed}"));
    assert_eq!(hook_names(&ok(std::slice::from_ref(&none))), [""; 0]);
    assert_eq!(errors(&[none, user]).len(), 2);
    assert_eq!(
        errors(&[trusted(Machine, fixed)]),
        ["machine.toml:2:10: `hook` is fixed but not set here"]
    );
}

#[test]
fn a_hook_starts_at_the_directory_of_its_file() {
    let text = "[[hook]]\nevent = \"post_tool\"\ntool = \"file_*\"\n\
                command = [\"./a/guard.py\", \"./b\", \"../c\", \"~/d\", \"e/f\", \"-x\"]\n\
                [[hook]]\nevent = \"turn_end\"\ncommand = [\"jq\", \".\", \".\"]\ntimeout = \"3s\"\n";
    let resolved = ok(&[trusted(Manifest, text)]);
    let [first, second] = &resolved.hooks[..] else {
        panic!("{:?}", resolved.hooks);
    };
    let path = |path: &str| HookArgument::Path(path.into());
    let text = |text: &str| HookArgument::Text(text.into());
    assert_eq!(first.name.as_str(), "guard.py");
    assert_eq!(
        first.program,
        HookProgram::At("/manifest/a/guard.py".into())
    );
    assert_eq!(
        first.arguments,
        [
            path("/manifest/b"),
            path("/manifest/../c"),
            path("/home/u/d"),
            text("e/f"),
            text("-x"),
        ]
    );
    assert_eq!(first.timeout, Duration::from_secs(10));
    assert_eq!(first.tool.as_ref().unwrap().as_str(), "file_*");
    assert_eq!(first.location.to_string(), "manifest.toml:1:1");
    assert_eq!(second.name.as_str(), "jq");
    assert_eq!(second.program, HookProgram::Named("jq".into()));
    assert_eq!(second.arguments, [text("."), text(".")]);
    assert_eq!(second.timeout, Duration::from_secs(3));
}

#[test]
fn a_hook_for_no_tool_is_a_warning() {
    let text = format!(
        "{PERMISSIONS}[[hook]]\nevent = \"pre_tool_call\"\ntool = \"files_*\"\ncommand = [\"true\"]\n"
    );
    let resolved = ok(&[trusted(Manifest, &text)]);
    let warnings: Vec<_> = resolved
        .warnings
        .iter()
        .map(|warning| (warning.message.as_str(), warning.help.as_deref()))
        .collect();
    assert_eq!(
        warnings,
        [("`files_*` fits no known tool", Some("the hook never runs"))]
    );
}

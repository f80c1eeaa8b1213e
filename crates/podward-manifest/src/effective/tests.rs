use super::Origin;
use crate::LayerKind::{Machine, Manifest, User};
use crate::tests::layers::{resolved, trusted};

const MANIFEST: &str = r#"
[pod]
name = "demo"
[scope]
deny = [{ path = ".git", access = "write" }]
[[hook]]
event = "pre_tool_call"
tool = "bash"
command = ["../guard.sh", "--dir", "~/x", "y"]
[[hook]]
name = "end"
event = "turn_end"
command = ["notify-send", "done"]
timeout = "1m"
[permissions]
default_action = "ask"
[[permissions.rule]]
tool = "bash"
pattern = "rm *"
action = "deny"
message = "say \"why\"\n"
[[permissions.rule]]
tool = "read"
pattern = 'caf\u*'
action = "allow"
"#;

#[test]
fn every_line_has_its_origin() {
    let layers = [
        trusted(
            Machine,
            "[limits]\nmax_steps = 5\n[machine]\nfixed = [\"limits.max_steps\"]",
        ),
        trusted(
            User,
            "[[hook]]\nevent = \"turn_end\"\ncommand = [\"/bin/check.sh\"]\n\
             [permissions]\ndefault_action = \"allow\"\n",
        ),
        trusted(Manifest, MANIFEST),
    ];
    let expected = r#"[pod]
name = "demo"              # manifest, manifest.toml:3:1
workspace_mode = "direct"  # default

[model]
max_tokens = 16384  # default
system = ""         # default

[tools]
offered = ["bash", "file_edit", "file_write", "glob", "grep", "list", "read", "skill", "spawn", "web_fetch"]  # default

[scope]
deny = [
    { path = ".git", access = "write" },  # manifest, manifest.toml:5:9
]
enforce = "best"                          # default

[environment]
pass = []  # default

[skills]
directories = []  # default

[limits]
max_steps = 5          # machine, machine.toml:2:1
message_calls = 64     # default
turn_timeout = "1h"    # default
bash_timeout = "2m"    # default
output_size = "64KiB"  # default
read_size = "64KiB"    # default
read_lines = 2000      # default
line_size = "2000B"    # default
file_size = "32MiB"    # default
max_matches = 200      # default
max_entries = 1000     # default
fetch_size = "5MiB"    # default
fetch_timeout = "30s"  # default
history_size = "2MiB"  # default
children = 8           # default
child_depth = 3        # default

[undo]
keep = true         # default
max_size = "1GiB"   # default
max_file = "32MiB"  # default
max_age = "14d"     # default

[[hook]]
name = "check.sh"            # default
event = "turn_end"           # user, user.toml:2:1
command = ["/bin/check.sh"]  # user, user.toml:3:1
timeout = "10s"              # default

[[hook]]
name = "guard.sh"                                               # default
event = "pre_tool_call"                                         # manifest, manifest.toml:7:1
tool = "bash"                                                   # manifest, manifest.toml:8:1
command = ["/manifest/../guard.sh", "--dir", "/home/u/x", "y"]  # manifest, manifest.toml:9:1
timeout = "10s"                                                 # default

[[hook]]
name = "end"                       # manifest, manifest.toml:11:1
event = "turn_end"                 # manifest, manifest.toml:12:1
command = ["notify-send", "done"]  # manifest, manifest.toml:13:1
timeout = "1m"                     # manifest, manifest.toml:14:1

[machine]
fixed = ["limits.max_steps"]  # machine, machine.toml:4:1

# layer: user
[permissions]
default_action = "allow"  # user, user.toml:5:1
unresolved = "ask"        # user, implied

# layer: manifest
[permissions]
default_action = "ask"                                               # manifest, manifest.toml:16:1
unresolved = "ask"                                                   # manifest, implied
on_ask = "refuse"                                                    # manifest, implied
client_grace = "10s"                                                 # manifest, implied
auto = "allow"                                                       # manifest, implied
rule = [
    { tool = "bash", pattern = "rm *", action = "deny", message = "say \"why\"\n" },  # manifest, manifest.toml:17:1
    { tool = "read", pattern = "caf\\u*", action = "allow" },        # manifest, manifest.toml:22:1
]
"#;
    let shown = resolved(&layers).unwrap().effective.to_string();
    assert_eq!(
        shown.replace("  ", ""),
        expected.replace("  ", ""),
        "{shown}"
    );
}

/// With one layer of permissions the shown text is a manifest that says the same.
#[test]
fn what_is_shown_can_be_read() {
    let first = resolved(&[trusted(Manifest, MANIFEST)]).unwrap();
    let second = resolved(&[trusted(Manifest, &first.effective.to_string())]).unwrap();
    assert_eq!(first.policy_bytes, second.policy_bytes);
    let values = |resolved: &crate::Resolved| -> Vec<_> {
        let lines = resolved.effective.lines().iter();
        lines
            .map(|line| (line.table, line.key.clone(), line.value.clone()))
            .collect()
    };
    assert_eq!(values(&first), values(&second));
}

#[test]
fn an_origin_stays_on_its_line() {
    let location = podward_policy::Location {
        file: "a\nname = 1".into(),
        line: 1,
        column: 2,
    };
    let layer = podward_policy::LayerName { kind: User };
    let origin = Origin::Written { layer, location };
    assert_eq!(origin.to_string(), "user, a\\nname = 1:1:2");
}

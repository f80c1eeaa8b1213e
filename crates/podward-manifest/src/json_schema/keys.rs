//! What an editor may say of each key.

/// What an editor may say of each key: its path, the shape of its value, and a sentence.
///
/// INVARIANT: it has every key of the reader and no other; a test holds that.
pub(super) const KEYS: &[(&str, Shape, &str)] = {
    use Shape::{
        Actions, Age, Any, Child, ChildLimits, Count, Examples, Fixed, Flag, Hook, Roots, Rules,
        Size, Tests, Text, Texts, Time, Words,
    };
    &[
        ("pod.name", Text, "The pod's name."),
        (
            "pod.workspace",
            Text,
            "The directory that it works in; default: the current one.",
        ),
        (
            "pod.workspace_mode",
            Words(&["direct", "copy"]),
            "On the files themselves, or on a temporary copy.",
        ),
        (
            "model.provider",
            Words(&["anthropic", "openai", "openai-responses", "scripted"]),
            "The wire format of the model's provider.",
        ),
        (
            "model.script",
            Text,
            "Instead of a model: an embedded script's name, or a path.",
        ),
        ("model.model", Text, "The model's name at its provider."),
        (
            "model.base_url",
            Text,
            "Where the provider is; default: its own address.",
        ),
        ("model.key_env", Text, "The variable that holds the key."),
        (
            "model.key_file",
            Text,
            "The private file that holds the key.",
        ),
        (
            "model.key_command",
            Texts,
            "The command that prints the key.",
        ),
        ("model.max_tokens", Count, "The most tokens of one answer."),
        ("model.system", Text, "Put before the conversation."),
        (
            "model.allow",
            Texts,
            "Globs over `provider/model` that may be asked; machine's and user's layer only.",
        ),
        (
            "tools.offered",
            Texts,
            "The tools that the model is told of; default: all.",
        ),
        (
            "scope.allow",
            Roots,
            "What can be touched at all; default: everything read, the workspace written.",
        ),
        (
            "scope.deny",
            Roots,
            "What cannot be touched, whatever else is allowed.",
        ),
        (
            "scope.enforce",
            Words(&["required", "best"]),
            "Whether a pod starts where the kernel cannot hold it to its scope.",
        ),
        (
            "environment.pass",
            Texts,
            "Variables that commands see beside the basic ones.",
        ),
        (
            "programs.files",
            Texts,
            "Files with models of your own programs.",
        ),
        ("skills.directories", Texts, "Directories of skills."),
        (
            "limits.max_steps",
            Count,
            "Requests to the model in one turn.",
        ),
        (
            "limits.message_calls",
            Count,
            "Calls in one answer of the model.",
        ),
        ("limits.turn_timeout", Time, "The time of one turn."),
        ("limits.bash_timeout", Time, "The time of one command."),
        ("limits.output_size", Size, "The size of one tool's result."),
        ("limits.read_size", Size, "The size of what `read` returns."),
        ("limits.read_lines", Count, "The lines that `read` returns."),
        (
            "limits.line_size",
            Size,
            "The size of one line of a result.",
        ),
        (
            "limits.file_size",
            Size,
            "The largest file that is edited or searched.",
        ),
        ("limits.max_matches", Count, "Matching lines of `grep`."),
        (
            "limits.max_entries",
            Count,
            "Paths of `glob`, `list`, and `grep` for files.",
        ),
        (
            "limits.fetch_size",
            Size,
            "The largest page that `web_fetch` downloads.",
        ),
        (
            "limits.fetch_timeout",
            Time,
            "The time of one `web_fetch`, redirects included.",
        ),
        (
            "limits.history_size",
            Size,
            "What is sent of the conversation.",
        ),
        (
            "limits.children",
            Count,
            "Children that run at the same time, theirs included.",
        ),
        (
            "limits.child_depth",
            Count,
            "Generations of children below the pod.",
        ),
        ("undo.keep", Flag, "Whether what calls change is kept."),
        ("undo.max_size", Size, "All that is kept of one workspace."),
        ("undo.max_file", Size, "The largest file that is kept."),
        ("undo.max_age", Age, "How long a call can be undone."),
        (
            "machine.fixed",
            Fixed,
            "Settings that no nearer layer may set to another value.",
        ),
        (
            "permissions.default_action",
            Actions,
            "What is said where no rule matches.",
        ),
        (
            "permissions.unresolved",
            Words(&["ask", "deny"]),
            "What is said of text that cannot be known before it runs; default: `deny` where `default_action` is, else `ask`.",
        ),
        (
            "permissions.on_ask",
            Words(&["wait", "refuse", "error"]),
            "What becomes of a question that nobody is there to answer.",
        ),
        (
            "permissions.ask_timeout",
            Time,
            "How long a question stays open, in whole seconds; default: no limit.",
        ),
        (
            "permissions.client_grace",
            Time,
            "How long questions stay open after the last client left.",
        ),
        (
            "permissions.auto",
            Words(&["allow", "forbid"]),
            "Whether `--auto` may answer.",
        ),
        (
            "permissions.rule",
            Rules,
            "Rules, in order: the first that matches decides.",
        ),
        (
            "permissions.test",
            Tests,
            "Calls, and what the rules of this file say of them.",
        ),
        (
            "permissions.rule.tool",
            Text,
            "A tool's name, or a glob over names.",
        ),
        (
            "permissions.rule.pattern",
            Text,
            "A glob over a command, a path or a URL.",
        ),
        ("permissions.rule.action", Actions, "What the rule says."),
        (
            "permissions.rule.message",
            Text,
            "What the model and the person read.",
        ),
        (
            "permissions.rule.ask_timeout",
            Time,
            "How long a question of this rule stays open. Only of a rule that asks.",
        ),
        (
            "permissions.rule.grantable",
            Flag,
            "Whether an answer may be remembered; default: `true`. Only of a rule that asks.",
        ),
        (
            "permissions.rule.examples",
            Examples,
            "Calls of this tool, and what the whole list says of them.",
        ),
        (
            "permissions.rule.examples.allow",
            Texts,
            "Calls that are allowed.",
        ),
        (
            "permissions.rule.examples.ask",
            Texts,
            "Calls that are asked about.",
        ),
        (
            "permissions.rule.examples.deny",
            Texts,
            "Calls that are denied.",
        ),
        ("permissions.test.tool", Text, "The tool that is called."),
        (
            "permissions.test.text",
            Text,
            "A command, a path, a URL or a name.",
        ),
        (
            "permissions.test.input",
            Any,
            "The arguments of the call, instead of `text`.",
        ),
        (
            "permissions.test.cwd",
            Text,
            "Where relative paths start from; default: the workspace.",
        ),
        ("permissions.test.expect", Actions, "The verdict."),
        ("permissions.test.why", Text, "Shown when the test fails."),
        (
            "scope.allow.path",
            Text,
            "A directory; relative ones start at the workspace.",
        ),
        (
            "scope.allow.access",
            Words(&["read", "write"]),
            "What can be done there; `write` includes reading.",
        ),
        ("scope.deny.path", Text, "A directory or a file."),
        (
            "scope.deny.access",
            Words(&["read", "write"]),
            "`write`: it can be read, not changed; `read`: neither.",
        ),
        (
            "hook",
            Hook,
            "Programs that see an event and may refuse it.",
        ),
        ("hook.name", Text, "The hook's name."),
        (
            "hook.event",
            Words(&[
                "pre_tool_call",
                "prompt_submit",
                "post_tool",
                "turn_end",
                "permission_asked",
            ]),
            "The event that it sees.",
        ),
        ("hook.tool", Text, "A tool's name, or a glob over names."),
        (
            "hook.command",
            Texts,
            "The program and its arguments; no shell.",
        ),
        (
            "hook.timeout",
            Time,
            "Then it is killed, and has failed; default: `10s`.",
        ),
        (
            "children",
            Child,
            "Pods that the tool `spawn` can start, by name.",
        ),
        ("children.manifest", Text, "The child's manifest."),
        (
            "children.mode",
            Words(&["ceiling", "independent"]),
            "`ceiling`, the default: the rules of this pod and those of the child; `independent`: without those of this manifest.",
        ),
        (
            "children.limits",
            ChildLimits,
            "The most that the child's own limits can be.",
        ),
        (
            "children.limits.max_steps",
            Count,
            "Requests to the model in its turn.",
        ),
        (
            "children.limits.turn_timeout",
            Time,
            "The time of its turn.",
        ),
    ]
};

/// What a value looks like.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    Text,
    Texts,
    Words(&'static [&'static str]),
    /// `allow`, `ask` or `deny`.
    Actions,
    Count,
    Flag,
    /// A time with its unit.
    Time,
    /// The same, with days.
    Age,
    /// A size with its unit.
    Size,
    /// Settings that can be fixed.
    Fixed,
    Roots,
    Rules,
    Tests,
    Examples,
    Hook,
    /// A table of children.
    Child,
    ChildLimits,
    /// Any table.
    Any,
}

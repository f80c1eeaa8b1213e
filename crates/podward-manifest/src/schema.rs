//! The tables and keys of a manifest.

/// A table of the manifest and its keys.
#[derive(Debug)]
pub(crate) struct TableSchema {
    pub(crate) name: &'static str,
    pub(crate) keys: &'static [&'static str],
}

/// How messages speak of a table that is no table of the manifest's own.
#[derive(Debug)]
pub(crate) struct ItemSchema {
    /// What one of them is called.
    pub(crate) shown: &'static str,
    /// How one is written.
    pub(crate) written: &'static str,
    pub(crate) keys: &'static [&'static str],
}

const fn table(name: &'static str, keys: &'static [&'static str]) -> TableSchema {
    TableSchema { name, keys }
}

/// Every table, in the order in which the effective manifest shows them.
pub(crate) const TABLES: &[TableSchema] = &[
    table("pod", &["name", "workspace", "workspace_mode"]),
    table(
        "model",
        &[
            "provider",
            "script",
            "model",
            "base_url",
            "key_env",
            "key_file",
            "key_command",
            "max_tokens",
            "system",
            "allow",
        ],
    ),
    table("tools", &["offered"]),
    table("scope", &["allow", "deny", "enforce"]),
    table("environment", &["pass"]),
    table("programs", &["files"]),
    table("skills", &["directories"]),
    table(
        "limits",
        &[
            "max_steps",
            "message_calls",
            "turn_timeout",
            "bash_timeout",
            "output_size",
            "read_size",
            "read_lines",
            "line_size",
            "file_size",
            "max_matches",
            "max_entries",
            "fetch_size",
            "fetch_timeout",
            "history_size",
            "children",
            "child_depth",
        ],
    ),
    table("undo", &["keep", "max_size", "max_file", "max_age"]),
    table("machine", &["fixed"]),
    table(
        "permissions",
        &[
            "default_action",
            "unresolved",
            "on_ask",
            "ask_timeout",
            "client_grace",
            "auto",
            "rule",
            "test",
        ],
    ),
];

/// The list of tables that stands in the document itself.
pub(crate) const HOOKS: &str = "hook";

/// One hook.
pub(crate) const HOOK: ItemSchema = ItemSchema {
    shown: "`[[hook]]`",
    written: "`[[hook]]`",
    keys: &["name", "event", "tool", "command", "timeout"],
};

/// The table of tables in which each child has one, by its name.
pub(crate) const CHILDREN: &str = "children";

/// One child.
pub(crate) const CHILD: ItemSchema = ItemSchema {
    shown: "a child's table",
    written: "`[children.NAME]`",
    keys: &["manifest", "mode", "limits"],
};

/// `limits` of a child.
pub(crate) const CHILD_LIMITS: ItemSchema = ItemSchema {
    shown: "`limits` of a child",
    written: "`limits = { max_steps = 20, turn_timeout = \"10m\" }`",
    keys: &["max_steps", "turn_timeout"],
};

/// One rule.
pub(crate) const RULE: ItemSchema = ItemSchema {
    shown: "`[[permissions.rule]]`",
    written: "`[[permissions.rule]]`",
    keys: &[
        "tool",
        "pattern",
        "action",
        "message",
        "ask_timeout",
        "grantable",
        "examples",
    ],
};

/// `examples` of a rule.
pub(crate) const EXAMPLES: ItemSchema = ItemSchema {
    shown: "`examples`",
    written: "`examples = { deny = [\"rm -rf build\"] }`",
    keys: &["allow", "ask", "deny"],
};

/// One test of a layer's rules.
pub(crate) const TEST: ItemSchema = ItemSchema {
    shown: "`[[permissions.test]]`",
    written: "`[[permissions.test]]`",
    keys: &["tool", "text", "input", "cwd", "expect", "why"],
};

/// One entry of `scope.allow`.
pub(crate) const ALLOWED_ROOT: ItemSchema = ItemSchema {
    shown: "an entry of `allow`",
    written: "`allow = [{ path = \"src\", access = \"write\" }]`",
    keys: &["path", "access"],
};

/// One entry of `scope.deny`.
pub(crate) const DENIED_ROOT: ItemSchema = ItemSchema {
    shown: "an entry of `deny`",
    written: "`deny = [{ path = \".git\", access = \"write\" }]`",
    keys: &["path", "access"],
};

/// The keys of a table.
pub(crate) fn keys_of(table: &str) -> &'static [&'static str] {
    TABLES
        .iter()
        .find(|schema| schema.name == table)
        .map_or(&[], |schema| schema.keys)
}

/// The table that has a key of this name.
pub(crate) fn table_with(key: &str) -> Option<&'static str> {
    TABLES
        .iter()
        .find(|schema| schema.keys.contains(&key))
        .map(|schema| schema.name)
}

/// Whether a key that nobody knows has a name as if its value were a secret.
pub(crate) fn may_be_secret(name: &str) -> bool {
    const WORDS: &[&str] = &[
        "apikey", "auth", "key", "passwd", "password", "secret", "token",
    ];
    let name = name.to_lowercase().replace('-', "_");
    name.split('_').any(|word| WORDS.contains(&word))
}

/// Whether the machine's layer can fix the value of a key for the layers below.
pub(crate) fn can_be_fixed(key_path: &str) -> Fixable {
    if key_path == HOOKS {
        return Fixable::Yes;
    }
    match key_path.split_once('.') {
        Some(
            ("permissions", _) | ("scope", "deny") | ("model", "allow") | ("programs", "files"),
        ) => Fixable::AlwaysBinds,
        Some(("machine", _)) => Fixable::Unknown,
        Some((table, key)) if keys_of(table).contains(&key) => Fixable::Yes,
        _ => Fixable::Unknown,
    }
}

/// Whether a setting can be fixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fixable {
    /// It can.
    Yes,
    /// No layer can undo it anyway.
    AlwaysBinds,
    /// There is no such setting.
    Unknown,
}

/// Every setting that can be fixed.
pub(crate) fn fixable() -> impl Iterator<Item = String> {
    TABLES
        .iter()
        .flat_map(|schema| {
            schema
                .keys
                .iter()
                .map(|key| format!("{}.{key}", schema.name))
        })
        .chain([HOOKS.to_owned()])
        .filter(|key_path| can_be_fixed(key_path) == Fixable::Yes)
}

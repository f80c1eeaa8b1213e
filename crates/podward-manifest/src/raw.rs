//! What one layer says, as it says it: every key optional, every value with its place.

mod child;
mod hook;
mod model;
mod path;
mod permissions;
mod undo;

use std::path::PathBuf;
use std::time::Duration;

use podward_policy::ToolName;
use podward_scope::{Access, Enforce, Root};
use toml::de::{DeTable, DeValue};

use crate::environment::VariablePattern;
use crate::layer::Surroundings;
use crate::name::PodName;
use crate::reader::{Reader, Sited, Table, span_of};
use crate::resolved::WorkspaceMode;
use crate::schema::{self, ALLOWED_ROOT, DENIED_ROOT, Fixable, ItemSchema};
use crate::shown::Bytes;
use crate::suggestion::{nearest, one_of, quoted};
pub(crate) use child::RawChild;
pub(crate) use hook::RawHook;
pub(crate) use model::{RawModel, RawProvider};
pub(crate) use path::PathBase;
pub(crate) use permissions::{RawPermissions, RawRule};
pub(crate) use undo::RawUndo;

/// One layer.
#[derive(Debug, Default)]
pub(crate) struct RawManifest {
    /// Every known key that is set, as `table.key`.
    pub(crate) keys: Vec<Sited<String>>,
    pub(crate) pod: RawPod,
    pub(crate) model: RawModel,
    pub(crate) offered: Option<Sited<Vec<Sited<ToolName>>>>,
    pub(crate) scope: RawScope,
    pub(crate) pass: Option<Sited<Vec<Sited<VariablePattern>>>>,
    pub(crate) program_files: Option<Sited<Vec<Sited<PathBuf>>>>,
    pub(crate) skill_directories: Option<Sited<Vec<Sited<PathBuf>>>>,
    pub(crate) limits: RawLimits,
    pub(crate) undo: RawUndo,
    pub(crate) hooks: Vec<RawHook>,
    pub(crate) children: Vec<RawChild>,
    pub(crate) fixed: Option<Sited<Vec<Sited<String>>>>,
    pub(crate) permissions: Option<RawPermissions>,
}

/// `[pod]`.
#[derive(Debug, Default)]
pub(crate) struct RawPod {
    pub(crate) name: Option<Sited<PodName>>,
    pub(crate) workspace: Option<Sited<PathBuf>>,
    pub(crate) workspace_mode: Option<Sited<WorkspaceMode>>,
}

/// `[scope]`.
#[derive(Debug, Default)]
pub(crate) struct RawScope {
    pub(crate) allow: Option<Sited<Vec<Sited<Root>>>>,
    pub(crate) deny: Option<Sited<Vec<Sited<Root>>>>,
    pub(crate) enforce: Option<Sited<Enforce>>,
}

/// `[limits]`.
#[derive(Debug, Default)]
pub(crate) struct RawLimits {
    pub(crate) max_steps: Option<Sited<u32>>,
    pub(crate) message_calls: Option<Sited<u32>>,
    pub(crate) turn_timeout: Option<Sited<Duration>>,
    pub(crate) bash_timeout: Option<Sited<Duration>>,
    pub(crate) output_size: Option<Sited<Bytes>>,
    pub(crate) read_size: Option<Sited<Bytes>>,
    pub(crate) read_lines: Option<Sited<u32>>,
    pub(crate) line_size: Option<Sited<Bytes>>,
    pub(crate) file_size: Option<Sited<Bytes>>,
    pub(crate) max_matches: Option<Sited<u32>>,
    pub(crate) max_entries: Option<Sited<u32>>,
    pub(crate) fetch_size: Option<Sited<Bytes>>,
    pub(crate) fetch_timeout: Option<Sited<Duration>>,
    pub(crate) history_size: Option<Sited<Bytes>>,
    pub(crate) children: Option<Sited<u32>>,
    pub(crate) child_depth: Option<Sited<u32>>,
}

/// Reads a layer and reports what does not fit.
pub(crate) fn read(
    document: &DeTable<'_>,
    reader: &mut Reader<'_>,
    surroundings: &Surroundings,
    directory: &std::path::Path,
) -> RawManifest {
    let root = reader.root(document);
    let base = PathBase {
        directory,
        home: surroundings.home.as_deref(),
    };
    let mut raw = RawManifest {
        keys: keys(document),
        ..RawManifest::default()
    };
    if let Some(table) = reader.table(&root, "pod", "`[pod]`") {
        raw.pod = pod(&table, reader, base);
    }
    if let Some(table) = reader.table(&root, "model", "`[model]`") {
        raw.model = model::model(&table, reader, base);
    }
    if let Some(table) = reader.table(&root, "tools", "`[tools]`") {
        raw.offered = reader.texts(&table, "offered", |name| offered(name, surroundings));
    }
    if let Some(table) = reader.table(&root, "scope", "`[scope]`") {
        raw.scope = scope(&table, reader, base);
    }
    if let Some(table) = reader.table(&root, "environment", "`[environment]`") {
        raw.pass = reader.texts(&table, "pass", pass);
    }
    if let Some(table) = reader.table(&root, "programs", "`[programs]`") {
        raw.program_files = reader.texts(&table, "files", |path| {
            // As people write it elsewhere: without the `.` of `./programs.txt`.
            base.absolute(path)
                .map(|path| path.components().collect())
                .map_err(|why| (bad_item("files", path), why))
        });
    }
    if let Some(table) = reader.table(&root, "skills", "`[skills]`") {
        raw.skill_directories = reader.texts(&table, "directories", |path| {
            base.absolute(path)
                .map_err(|why| (bad_item("directories", path), why))
        });
    }
    if let Some(table) = reader.table(&root, "limits", "`[limits]`") {
        raw.limits = limits(&table, reader);
    }
    if let Some(table) = reader.table(&root, "undo", "`[undo]`") {
        raw.undo = undo::undo(&table, reader);
    }
    raw.hooks = hook::hooks(&root, reader, base, &surroundings.known_tools);
    raw.children = child::children(&root, reader, base);
    if let Some(table) = reader.table(&root, "machine", "`[machine]`") {
        raw.fixed = reader.texts(&table, "fixed", fixed);
    }
    if let Some(table) = reader.table(&root, "permissions", "`[permissions]`") {
        raw.permissions = Some(permissions::permissions(&table, reader));
    }
    raw
}

/// Every known key that is set.
fn keys(document: &DeTable<'_>) -> Vec<Sited<String>> {
    let mut keys = Vec::new();
    for schema in schema::TABLES {
        let Some(DeValue::Table(table)) = document.get(schema.name).map(|value| value.get_ref())
        else {
            continue;
        };
        for name in schema.keys {
            if let Some((key, value)) = table.get_key_value(*name) {
                keys.push(Sited {
                    value: format!("{}.{name}", schema.name),
                    key: span_of(key),
                    span: span_of(value),
                });
            }
        }
    }
    for name in [schema::HOOKS, schema::CHILDREN] {
        if let Some((key, value)) = document.get_key_value(name) {
            keys.push(Sited {
                value: name.to_owned(),
                key: span_of(key),
                span: span_of(value),
            });
        }
    }
    keys
}

fn bad_item(key: &str, item: &str) -> String {
    format!("`{key}` cannot hold {}", quoted(item))
}

fn pod(table: &Table<'_>, reader: &mut Reader<'_>, base: PathBase<'_>) -> RawPod {
    let modes = [
        ("direct", WorkspaceMode::Direct),
        ("copy", WorkspaceMode::Copy),
    ];
    RawPod {
        name: reader.parsed(table, "name", |name| {
            PodName::new(name).map_err(|error| error.to_string())
        }),
        workspace: reader.parsed(table, "workspace", |path| base.absolute(path)),
        workspace_mode: reader.word(table, "workspace_mode", &modes),
    }
}

fn offered(name: &str, surroundings: &Surroundings) -> Result<ToolName, (String, String)> {
    let offerable = || surroundings.offerable_tools.iter();
    if let Some(tool) = offerable().find(|tool| tool.as_str() == name) {
        return Ok(tool.clone());
    }
    let known = surroundings
        .known_tools
        .iter()
        .any(|tool| tool.as_str() == name);
    let names = || offerable().map(ToolName::as_str);
    let message = if known || name.starts_with("mcp__") {
        format!("{} cannot be offered by this version", quoted(name))
    } else {
        format!("there is no tool {}", quoted(name))
    };
    let help = match nearest(name, names()) {
        Some(tool) => format!("did you mean `{tool}`?"),
        None => format!("write {}", one_of(names())),
    };
    Err((message, help))
}

fn scope(table: &Table<'_>, reader: &mut Reader<'_>, base: PathBase<'_>) -> RawScope {
    let words = [("required", Enforce::Required), ("best", Enforce::Best)];
    RawScope {
        allow: roots(table, reader, "allow", &ALLOWED_ROOT, base),
        deny: roots(table, reader, "deny", &DENIED_ROOT, base),
        enforce: reader.word(table, "enforce", &words),
    }
}

fn roots(
    table: &Table<'_>,
    reader: &mut Reader<'_>,
    key: &'static str,
    schema: &ItemSchema,
    base: PathBase<'_>,
) -> Option<Sited<Vec<Sited<Root>>>> {
    let words = [("read", Access::Read), ("write", Access::Write)];
    let list = reader.tables(table, key, schema)?;
    if key == "allow" && table.is_empty_list(key) {
        // Nothing declared means the workspace, which is not what an empty list looks like.
        let help = "name what may be touched, or leave `allow` out for the workspace";
        reader.error(list.span, "`allow` is empty".to_owned(), help);
    }
    let mut roots: Vec<Sited<Root>> = Vec::new();
    for entry in &list.value {
        reader.missing_key(
            entry,
            "path",
            "write `path = \"..\"`: a directory or a file",
        );
        reader.missing_key(
            entry,
            "access",
            "write `access = \"read\"` or `access = \"write\"`",
        );
        let path = reader.parsed(entry, "path", |path| base.in_scope(path));
        let access = reader.word(entry, "access", &words);
        let (Some(path), Some(access)) = (path, access) else {
            continue;
        };
        if let Some(first) = roots.iter().find(|root| root.value.path == path.value) {
            let (text, first) = (path.value.to_string_lossy(), first.span);
            reader.repeated(key, &text, path.span, first);
            continue;
        }
        roots.push(Sited {
            value: Root {
                path: path.value,
                access: access.value,
                declared: Some(
                    reader
                        .source()
                        .location(entry.header.start)
                        .to_string()
                        .into(),
                ),
            },
            key: entry.header,
            span: path.span,
        });
    }
    Some(list.map(|_| roots))
}

fn pass(pattern: &str) -> Result<VariablePattern, (String, String)> {
    VariablePattern::new(pattern).map_err(|error| (bad_item("pass", pattern), error.to_string()))
}

fn fixed(key_path: &str) -> Result<String, (String, String)> {
    let message = format!("{} cannot be fixed", quoted(key_path));
    match schema::can_be_fixed(key_path) {
        Fixable::Yes => Ok(key_path.to_owned()),
        Fixable::AlwaysBinds => Err((
            message,
            "it binds every nearer layer as it is: leave it out here".to_owned(),
        )),
        Fixable::Unknown => {
            let keys: Vec<_> = schema::fixable().collect();
            let help = match nearest(key_path, keys.iter().map(String::as_str)) {
                Some(word) => format!("did you mean `{word}`?"),
                None => "write a table and a key, such as `limits.max_steps`".to_owned(),
            };
            Err((message, help))
        }
    }
}

fn limits(table: &Table<'_>, reader: &mut Reader<'_>) -> RawLimits {
    RawLimits {
        max_steps: reader.count(table, "max_steps", 1..=100_000),
        message_calls: reader.count(table, "message_calls", 1..=16_384),
        turn_timeout: reader.duration(table, "turn_timeout"),
        bash_timeout: reader.duration(table, "bash_timeout"),
        output_size: reader.size(table, "output_size"),
        read_size: reader.size(table, "read_size"),
        read_lines: reader.count(table, "read_lines", 1..=1_000_000),
        line_size: reader.size(table, "line_size"),
        file_size: reader.size(table, "file_size"),
        max_matches: reader.count(table, "max_matches", 1..=1_000_000),
        max_entries: reader.count(table, "max_entries", 1..=1_000_000),
        fetch_size: reader.size(table, "fetch_size"),
        fetch_timeout: reader.duration(table, "fetch_timeout"),
        history_size: reader.size(table, "history_size"),
        children: reader.count(table, "children", 1..=256),
        child_depth: reader.count(table, "child_depth", 1..=16),
    }
}

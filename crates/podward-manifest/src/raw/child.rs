//! `[children.NAME]`, as it is written.

use std::path::PathBuf;
use std::time::Duration;

use podward_policy::ByteSpan;

use super::PathBase;
use crate::child::ChildMode;
use crate::name::PodName;
use crate::reader::{Reader, Sited, Table};
use crate::schema::{CHILD, CHILD_LIMITS, CHILDREN};

/// One child.
#[derive(Debug)]
pub(crate) struct RawChild {
    pub(crate) header: ByteSpan,
    pub(crate) name: PodName,
    pub(crate) manifest: Option<Sited<PathBuf>>,
    pub(crate) mode: Option<Sited<ChildMode>>,
    pub(crate) max_steps: Option<Sited<u32>>,
    pub(crate) turn_timeout: Option<Sited<Duration>>,
}

/// All children of a layer.
pub(super) fn children(
    root: &Table<'_>,
    reader: &mut Reader<'_>,
    base: PathBase<'_>,
) -> Vec<RawChild> {
    let tables = reader.named(root, CHILDREN, &CHILD);
    let mut children = Vec::new();
    for (name, table) in tables {
        match PodName::new(&name.value) {
            Ok(pod) => children.push(child(&name, pod, &table, reader, base)),
            Err(error) => {
                let shown = crate::suggestion::quoted(&name.value);
                let message = format!("{shown} cannot be the name of a child");
                reader.error(name.key, message, error.to_string());
            }
        }
    }
    children
}

fn child(
    written: &Sited<String>,
    name: PodName,
    table: &Table<'_>,
    reader: &mut Reader<'_>,
    base: PathBase<'_>,
) -> RawChild {
    reader.missing_key(
        table,
        "manifest",
        "write the path of its manifest: `manifest = \"./worker.toml\"`",
    );
    let modes = [
        ("ceiling", ChildMode::Ceiling),
        ("independent", ChildMode::Independent),
    ];
    let mut child = RawChild {
        header: written.key,
        name,
        manifest: reader.parsed(table, "manifest", |path| {
            base.absolute(path).map(|path| path.components().collect())
        }),
        mode: reader.word(table, "mode", &modes),
        max_steps: None,
        turn_timeout: None,
    };
    if let Some(limits) = reader.inner(table, "limits", &CHILD_LIMITS) {
        child.max_steps = reader.count(&limits, "max_steps", 1..=100_000);
        child.turn_timeout = reader.duration(&limits, "turn_timeout");
    }
    child
}

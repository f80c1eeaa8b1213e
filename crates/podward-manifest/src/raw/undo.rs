//! `[undo]`.

use crate::reader::{Reader, Sited, Table};
use crate::shown::{Age, Bytes};

/// `[undo]`.
#[derive(Debug, Default)]
pub(crate) struct RawUndo {
    pub(crate) keep: Option<Sited<bool>>,
    pub(crate) max_size: Option<Sited<Bytes>>,
    pub(crate) max_file: Option<Sited<Bytes>>,
    pub(crate) max_age: Option<Sited<Age>>,
}

pub(super) fn undo(table: &Table<'_>, reader: &mut Reader<'_>) -> RawUndo {
    RawUndo {
        keep: reader.flag(table, "keep"),
        max_size: reader.store_size(table, "max_size"),
        max_file: reader.size(table, "max_file"),
        max_age: reader.age(table, "max_age"),
    }
}

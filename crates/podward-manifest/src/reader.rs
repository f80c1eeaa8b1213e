//! Reads values of a TOML document and reports each one that does not fit.

mod value;

use std::collections::BTreeSet;

use podward_policy::ByteSpan;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::diagnostic::{Diagnostic, Place};
use crate::schema::{self, ItemSchema};
use crate::source::Source;
use crate::suggestion::{all_of, nearest, one_of, quoted};

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sited<T> {
    pub(crate) value: T,
    /// The key; of an item of a list, the item.
    pub(crate) key: ByteSpan,
    /// The value.
    pub(crate) span: ByteSpan,
}

impl<T> Sited<T> {
    pub(crate) fn map<U>(self, f: impl FnOnce(T) -> U) -> Sited<U> {
        Sited {
            value: f(self.value),
            key: self.key,
            span: self.span,
        }
    }
}

/// A table whose keys are all known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Table<'t> {
    /// What messages call it, in backticks where it is the author's text.
    pub(crate) shown: &'static str,
    known: &'static [&'static str],
    /// Its header, its key, or all of it if it is written inline.
    pub(crate) header: ByteSpan,
    entries: &'t DeTable<'t>,
}

impl Table<'_> {
    /// Whether a key is written, whatever its value.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// Whether a list is written with nothing in it; one whose entries are wrong is not empty.
    pub(crate) fn is_empty_list(&self, key: &str) -> bool {
        let value = self.entries.get(key).map(Spanned::get_ref);
        matches!(value, Some(DeValue::Array(items)) if items.is_empty())
    }
}

/// A key with its value.
type Entry<'t> = (&'t Spanned<DeString<'t>>, &'t Spanned<DeValue<'t>>);

/// Reads one document.
#[derive(Debug)]
pub(crate) struct Reader<'s> {
    source: &'s Source<'s>,
    diagnostics: Vec<(usize, Diagnostic)>,
    /// The lines that could not be read as TOML.
    broken_lines: BTreeSet<u32>,
}

impl<'s> Reader<'s> {
    /// A reader of a document whose syntax has these errors.
    pub(crate) fn new(source: &'s Source<'s>, syntax_errors: Vec<Diagnostic>) -> Self {
        let broken_lines = syntax_errors
            .iter()
            .filter_map(|error| error.place.as_ref())
            .map(|place| place.location.line)
            .collect();
        Self {
            source,
            diagnostics: syntax_errors.into_iter().map(|error| (0, error)).collect(),
            broken_lines,
        }
    }

    /// Everything that was reported, in the order of the text.
    pub(crate) fn into_diagnostics(self) -> Vec<Diagnostic> {
        let mut diagnostics = self.diagnostics;
        diagnostics.sort_by_key(|(at, diagnostic)| {
            let line_and_column = diagnostic
                .place
                .as_ref()
                .map(|place| (place.location.line, place.location.column));
            (line_and_column, *at)
        });
        diagnostics
            .into_iter()
            .map(|(_, diagnostic)| diagnostic)
            .collect()
    }

    pub(crate) fn place(&self, span: ByteSpan) -> Place {
        self.source.place(span)
    }

    pub(crate) const fn source(&self) -> &'s Source<'s> {
        self.source
    }

    /// Reports an error or a warning; what a syntax error on the same line explains is left out.
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        let line = diagnostic.place.as_ref().map(|place| place.location.line);
        if line.is_some_and(|line| self.broken_lines.contains(&line)) {
            return;
        }
        self.diagnostics.push((self.diagnostics.len(), diagnostic));
    }

    pub(crate) fn error(&mut self, span: ByteSpan, message: String, help: impl Into<String>) {
        let place = self.place(span);
        self.report(Diagnostic::error(message, place).with_help(help));
    }

    /// Reports something that is not there, or not of the right shape; not after a syntax error,
    /// which may have hidden it or the header above it.
    pub(crate) fn structural(&mut self, span: ByteSpan, message: String, help: String) {
        if self.broken_lines.is_empty() {
            self.error(span, message, help);
        }
    }

    /// The document's own table.
    pub(crate) fn root<'t>(&mut self, document: &'t DeTable<'t>) -> Table<'t> {
        for entry in document {
            let name = entry.0.get_ref();
            let is_of_items = [schema::HOOKS, schema::CHILDREN].contains(&name.as_ref());
            if !is_of_items && schema::keys_of(name).is_empty() {
                self.unknown_in_root(entry);
            }
        }
        Table {
            shown: "the manifest",
            known: &[],
            header: ByteSpan::new(0..0),
            entries: document,
        }
    }

    /// Reports an unknown key whose value may be a secret, without the value.
    fn unknown_secret(&mut self, table: &str, (key, value): Entry<'_>) -> bool {
        let name = key.get_ref();
        let may_be = matches!(value.get_ref(), DeValue::String(_)) && schema::may_be_secret(name);
        if may_be {
            let place = self.place(span_of(value)).masked();
            let message = format!("unknown key {} in {table}", quoted(name));
            let help = "a secret does not belong in a manifest: `[model]` says with `key_env`, `key_file` or `key_command` where the model's key is";
            self.report(Diagnostic::error(message, place).with_help(help));
        }
        may_be
    }

    fn unknown_in_root(&mut self, (key, value): Entry<'_>) {
        let name = key.get_ref();
        if self.unknown_secret("the manifest", (key, value)) {
            return;
        }
        let is_table = match value.get_ref() {
            DeValue::Table(_) => true,
            DeValue::Array(items) => items
                .iter()
                .all(|item| matches!(item.get_ref(), DeValue::Table(_))),
            _ => false,
        };
        let tables = || {
            let tables = schema::TABLES.iter().map(|table| table.name);
            tables.chain([schema::HOOKS, schema::CHILDREN])
        };
        let (kind, help) = match (schema::table_with(name), nearest(name, tables())) {
            (Some(table), _) if !is_table => ("key", format!("it belongs below `[{table}]`")),
            (_, Some(schema::HOOKS)) if is_table => {
                ("table", format!("did you mean `[[{}]]`?", schema::HOOKS))
            }
            (_, Some(schema::CHILDREN)) if is_table => (
                "table",
                format!("did you mean `[{}.NAME]`?", schema::CHILDREN),
            ),
            (_, Some(table)) if is_table => ("table", format!("did you mean `[{table}]`?")),
            (Some(table), None) => ("table", format!("write `[[{table}.{name}]]`")),
            _ => {
                let kind = if is_table { "table" } else { "key" };
                (kind, format!("the tables are {}", all_of(tables())))
            }
        };
        self.error(
            span_of(key),
            format!("unknown {kind} {}", quoted(name)),
            help,
        );
    }

    /// A table of the manifest, if it is there.
    pub(crate) fn table<'t>(
        &mut self,
        root: &Table<'t>,
        name: &'static str,
        shown: &'static str,
    ) -> Option<Table<'t>> {
        let (key, value) = root.entries.get_key_value(name)?;
        if let DeValue::Array(_) = value.get_ref() {
            let message = format!("expected one table, found a list: `{name}`");
            self.structural(span_of(key), message, format!("write {shown}, once"));
            return None;
        }
        let schema = ItemSchema {
            shown,
            written: shown,
            keys: schema::keys_of(name),
        };
        self.open(span_of(key), value, &schema)
    }

    /// The tables within a table of the manifest, by names that its author chose.
    pub(crate) fn named<'t>(
        &mut self,
        root: &Table<'t>,
        name: &'static str,
        schema: &ItemSchema,
    ) -> Vec<(Sited<String>, Table<'t>)> {
        let Some((key, value)) = root.entries.get_key_value(name) else {
            return Vec::new();
        };
        let DeValue::Table(entries) = value.get_ref() else {
            let found = value::found(value.get_ref());
            let message = format!("`{name}` must be a table of tables, found {found}");
            self.structural(span_of(key), message, format!("write {}", schema.written));
            return Vec::new();
        };
        if entries.is_empty() {
            let help = format!("remove it, or write {}", schema.written);
            self.structural(span_of(key), format!("`[{name}]` is empty"), help);
        }
        let mut tables = Vec::new();
        for (key, value) in entries {
            let named = Sited {
                value: key.get_ref().clone().into_owned(),
                key: span_of(key),
                span: span_of(key),
            };
            if let Some(table) = self.open(span_of(key), value, schema) {
                tables.push((named, table));
            }
        }
        tables
    }

    /// A value as a table with these keys and no others.
    pub(crate) fn open<'t>(
        &mut self,
        key: ByteSpan,
        value: &'t Spanned<DeValue<'t>>,
        schema: &ItemSchema,
    ) -> Option<Table<'t>> {
        let ItemSchema {
            shown,
            written,
            keys: known,
        } = *schema;
        let DeValue::Table(entries) = value.get_ref() else {
            let message = format!("expected a table, found {}", value::found(value.get_ref()));
            self.structural(span_of(value), message, format!("write {written}"));
            return None;
        };
        let span = span_of(value);
        let header = if span.start == span.end { key } else { span };
        if entries.is_empty() {
            let help = format!("remove it, or set {}", one_of(known.iter().copied()));
            self.structural(header, format!("{shown} is empty"), help);
        }
        let table = Table {
            shown,
            known,
            header,
            entries,
        };
        for (key, value) in entries {
            if !known.contains(&key.get_ref().as_ref()) {
                self.unknown_key(&table, key, value);
            }
        }
        Some(table)
    }

    fn unknown_key(
        &mut self,
        table: &Table<'_>,
        key: &Spanned<DeString<'_>>,
        value: &Spanned<DeValue<'_>>,
    ) {
        let name = key.get_ref();
        if self.unknown_secret(table.shown, (key, value)) {
            return;
        }
        let known = || table.known.iter().copied();
        let help = match (nearest(name, known()), schema::table_with(name)) {
            (Some(word), _) => format!("did you mean `{word}`?"),
            (None, Some(table)) => format!("it belongs in `[{table}]`"),
            (None, None) => format!("the keys are {}", all_of(known())),
        };
        let kind = match value.get_ref() {
            DeValue::Table(_) => "table",
            _ => "key",
        };
        let message = format!("unknown {kind} {} in {}", quoted(name), table.shown);
        self.error(span_of(key), message, help);
    }

    /// Reports that a table lacks a key that it must have.
    pub(crate) fn missing_key(&mut self, table: &Table<'_>, key: &str, help: &str) {
        let known = || table.known.iter().copied();
        // An empty table, and a key that is only written wrong, have messages of their own.
        let is_reported = table.entries.is_empty()
            || table.entries.keys().any(|name| {
                let name = name.get_ref().as_ref();
                name == key || !table.known.contains(&name) && nearest(name, known()) == Some(key)
            });
        if !is_reported {
            let message = format!("{} has no `{key}`", table.shown);
            self.structural(table.header, message, help.to_owned());
        }
    }
}

pub(crate) fn span_of<T>(spanned: &Spanned<T>) -> ByteSpan {
    ByteSpan::new(spanned.span())
}

//! Values of a table, each by its type.

use std::ops::RangeInclusive;
use std::time::Duration;

use podward_policy::ByteSpan;
use toml::Spanned;
use toml::de::{DeArray, DeValue};

use super::{Reader, Sited, Table, span_of};
use crate::schema::ItemSchema;
use crate::shown::{Age, Bytes};
use crate::suggestion::{nearest, one_of, quoted};
use crate::unit;

impl<'s> Reader<'s> {
    /// A string.
    pub(crate) fn text(&mut self, table: &Table<'_>, key: &str) -> Option<Sited<String>> {
        let value = self.value(table, key)?;
        match value.value.get_ref() {
            DeValue::String(text) => {
                let text = text.clone().into_owned();
                Some(value.map(|_| text))
            }
            other => {
                self.wrong_type(key, "a string", other, value.span);
                None
            }
        }
    }

    /// A table within a table.
    pub(crate) fn inner<'t>(
        &mut self,
        table: &Table<'t>,
        key: &str,
        schema: &ItemSchema,
    ) -> Option<Table<'t>> {
        let value = self.value(table, key)?;
        self.open(value.key, value.value, schema)
    }

    /// Any table, as an object of JSON.
    pub(crate) fn object(
        &mut self,
        table: &Table<'_>,
        key: &str,
    ) -> Option<Sited<serde_json::Value>> {
        let value = self.value(table, key)?;
        match value.value.get_ref() {
            DeValue::Table(_) => match json(value.value.get_ref()) {
                Some(object) => Some(value.map(|_| object)),
                None => {
                    let message = format!("`{key}` holds what has no form in JSON");
                    self.error(
                        value.span,
                        message,
                        "leave out dates and numbers that are not finite",
                    );
                    None
                }
            },
            other => {
                self.wrong_type(key, "a table", other, value.span);
                None
            }
        }
    }

    /// A string that is one of these words.
    pub(crate) fn word<T: Copy>(
        &mut self,
        table: &Table<'_>,
        key: &str,
        words: &[(&'static str, T)],
    ) -> Option<Sited<T>> {
        let text = self.text(table, key)?;
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == text.value) {
            return Some(text.map(|_| *value));
        }
        let names = || words.iter().map(|(word, _)| *word);
        let help = match nearest(&text.value, names()) {
            Some(word) => format!("did you mean `{word}`?"),
            None => format!("write {}", one_of(names())),
        };
        let message = format!("`{key}` cannot be {}", quoted(&text.value));
        self.error(text.span, message, help);
        None
    }

    /// A string that a constructor accepts.
    pub(crate) fn parsed<T>(
        &mut self,
        table: &Table<'_>,
        key: &str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<Sited<T>> {
        let text = self.text(table, key)?;
        match parse(&text.value) {
            Ok(value) => Some(text.map(|_| value)),
            Err(why) => {
                let message = format!("`{key}` cannot be {}", quoted(&text.value));
                self.error(text.span, message, why);
                None
            }
        }
    }

    /// A whole number within a range.
    pub(crate) fn count(
        &mut self,
        table: &Table<'_>,
        key: &str,
        range: RangeInclusive<u32>,
    ) -> Option<Sited<u32>> {
        let value = self.value(table, key)?;
        let DeValue::Integer(integer) = value.value.get_ref() else {
            self.wrong_type(key, "a whole number", value.value.get_ref(), value.span);
            return None;
        };
        let number = i128::from_str_radix(integer.as_str(), integer.radix());
        match number.ok().and_then(|number| u32::try_from(number).ok()) {
            Some(number) if range.contains(&number) => Some(value.map(|_| number)),
            Some(_) | None => {
                let message = format!("`{key}` is out of range");
                let help = format!("write a number from {} to {}", range.start(), range.end());
                self.error(value.span, message, help);
                None
            }
        }
    }

    /// A time: a string with units.
    pub(crate) fn duration(&mut self, table: &Table<'_>, key: &str) -> Option<Sited<Duration>> {
        self.quantity(
            table,
            key,
            "a time with its unit",
            "90s",
            "s",
            unit::duration,
        )
    }

    /// A time of whole seconds: a string with units.
    pub(crate) fn seconds(&mut self, table: &Table<'_>, key: &str) -> Option<Sited<Duration>> {
        let what = "a time with its unit";
        self.quantity(table, key, what, "5m", "s", unit::whole_seconds)
    }

    /// A time that may be nothing: a string with units.
    pub(crate) fn grace(&mut self, table: &Table<'_>, key: &str) -> Option<Sited<Duration>> {
        self.quantity(table, key, "a time with its unit", "10s", "s", unit::grace)
    }

    /// A size in bytes: a string with a unit.
    pub(crate) fn size(&mut self, table: &Table<'_>, key: &str) -> Option<Sited<Bytes>> {
        let parse = |text: &str| unit::size(text).map(Bytes);
        self.quantity(table, key, "a size with its unit", "64KiB", "B", parse)
    }

    /// How long something is kept: a string with units, days among them.
    pub(crate) fn age(&mut self, table: &Table<'_>, key: &str) -> Option<Sited<Age>> {
        let parse = |text: &str| unit::age(text).map(Age);
        self.quantity(table, key, "a time with its unit", "14d", "d", parse)
    }

    /// The size of a store in bytes: a string with a unit.
    pub(crate) fn store_size(&mut self, table: &Table<'_>, key: &str) -> Option<Sited<Bytes>> {
        let parse = |text: &str| unit::store_size(text).map(Bytes);
        self.quantity(table, key, "a size with its unit", "1GiB", "B", parse)
    }

    /// Yes or no.
    pub(crate) fn flag(&mut self, table: &Table<'_>, key: &str) -> Option<Sited<bool>> {
        let value = self.value(table, key)?;
        match value.value.get_ref() {
            DeValue::Boolean(flag) => {
                let flag = *flag;
                Some(value.map(|_| flag))
            }
            other => {
                self.wrong_type(key, "`true` or `false`", other, value.span);
                None
            }
        }
    }

    fn quantity<T>(
        &mut self,
        table: &Table<'_>,
        key: &str,
        expected: &str,
        example: &str,
        unit: &str,
        parse: impl FnOnce(&str) -> Result<T, &'static str>,
    ) -> Option<Sited<T>> {
        let value = self.value(table, key)?;
        match value.value.get_ref() {
            DeValue::String(text) => match parse(text) {
                Ok(quantity) => Some(value.map(|_| quantity)),
                Err(why) => {
                    let message = format!("`{key}` cannot be {}: {why}", quoted(text));
                    let help = format!("write {expected}, such as `\"{example}\"`");
                    self.error(value.span, message, help);
                    None
                }
            },
            DeValue::Integer(number) => {
                let message = format!("`{key}` has no unit");
                let help =
                    format!("if you mean {number}{unit}, write `{key} = \"{number}{unit}\"`");
                self.error(value.span, message, help);
                None
            }
            other => {
                self.wrong_type(key, "a string", other, value.span);
                None
            }
        }
    }

    /// A list of strings, each of which a constructor accepts; the same one twice is an error.
    pub(crate) fn texts<T: PartialEq>(
        &mut self,
        table: &Table<'_>,
        key: &str,
        mut parse: impl FnMut(&str) -> Result<T, (String, String)>,
    ) -> Option<Sited<Vec<Sited<T>>>> {
        let list = self.list(table, key)?;
        let mut items: Vec<Sited<T>> = Vec::new();
        let mut seen = std::collections::BTreeMap::<&str, ByteSpan>::new();
        for item in list.value {
            let span = span_of(item);
            let DeValue::String(text) = item.get_ref() else {
                self.wrong_type(key, "a list of strings", item.get_ref(), span);
                continue;
            };
            if let Some(first) = seen.insert(text, span) {
                self.repeated(key, text, span, first);
                continue;
            }
            match parse(text) {
                Ok(value) => items.push(Sited {
                    value,
                    key: span,
                    span,
                }),
                Err((message, help)) => self.error(span, message, help),
            }
        }
        Some(list.map(|_| items))
    }

    /// A list of strings in which the order counts and the same one may stand twice.
    pub(crate) fn words(&mut self, table: &Table<'_>, key: &str) -> Option<Sited<Vec<String>>> {
        let list = self.list(table, key)?;
        let mut words = Vec::new();
        for item in list.value {
            let span = span_of(item);
            match item.get_ref() {
                DeValue::String(text) if text.contains('\0') => {
                    let message = format!("`{key}` holds a NUL character");
                    self.error(span, message, "no program can be given one");
                    return None;
                }
                DeValue::String(text) => words.push(text.clone().into_owned()),
                other => {
                    self.wrong_type(key, "a list of strings", other, span);
                    return None;
                }
            }
        }
        Some(list.map(|_| words))
    }

    /// Reports that a list has the same item twice.
    pub(crate) fn repeated(&mut self, key: &str, text: &str, span: ByteSpan, first: ByteSpan) {
        let message = format!("{} is in `{key}` twice", quoted(text));
        let diagnostic = crate::diagnostic::Diagnostic::error(message, self.place(span))
            .with_related("first here", self.place(first))
            .with_help("remove one of the two");
        self.report(diagnostic);
    }

    /// A list.
    pub(crate) fn list<'t>(
        &mut self,
        table: &Table<'t>,
        key: &str,
    ) -> Option<Sited<&'t DeArray<'t>>> {
        let value = self.value(table, key)?;
        match value.value.get_ref() {
            DeValue::Array(array) => Some(value.map(|_| array)),
            other => {
                self.wrong_type(key, "a list", other, value.span);
                None
            }
        }
    }

    /// A list of tables, however it is written.
    pub(crate) fn tables<'t>(
        &mut self,
        table: &Table<'t>,
        key: &str,
        schema: &ItemSchema,
    ) -> Option<Sited<Vec<Table<'t>>>> {
        let value = self.value(table, key)?;
        let DeValue::Array(array) = value.value.get_ref() else {
            let found = found(value.value.get_ref());
            let message = format!("`{key}` must be a list of tables, found {found}");
            self.structural(value.key, message, format!("write {}", schema.written));
            return None;
        };
        let items = array
            .iter()
            .filter_map(|item| self.open(span_of(item), item, schema))
            .collect();
        Some(value.map(|_| items))
    }

    fn value<'t>(&self, table: &Table<'t>, key: &str) -> Option<Sited<&'t Spanned<DeValue<'t>>>> {
        let (key, value) = table.entries.get_key_value(key)?;
        Some(Sited {
            value,
            key: span_of(key),
            span: span_of(value),
        })
    }

    fn wrong_type(&mut self, key: &str, expected: &str, found: &DeValue<'_>, span: ByteSpan) {
        let message = format!("`{key}` must be {expected}, found {}", self::found(found));
        let place = self.place(span);
        let diagnostic = crate::diagnostic::Diagnostic::error(message, place);
        let diagnostic = match (expected, found) {
            ("a string", DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_)) => {
                let written = self.source().slice(span);
                diagnostic.with_help(format!("write `{key} = \"{written}\"`"))
            }
            ("a whole number", DeValue::String(_)) => diagnostic.with_help("leave out the quotes"),
            ("`true` or `false`", DeValue::String(_)) => {
                diagnostic.with_help("write one of the two words, without quotes")
            }
            ("a list" | "a list of strings", DeValue::String(_)) => {
                let written = self.source().slice(span);
                diagnostic.with_help(format!("write `{key} = {}`", as_list(key, written)))
            }
            _ => diagnostic,
        };
        self.report(diagnostic);
    }
}

/// A string as the list that is meant: a command's words are items of their own.
fn as_list(key: &str, written: &str) -> String {
    let inner = written
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .filter(|inner| !inner.contains(['"', '\'', '\\']));
    match inner {
        Some(line) if key.ends_with("command") && line.contains(' ') => {
            let words: Vec<String> = line
                .split_whitespace()
                .map(|word| format!("\"{word}\""))
                .collect();
            format!("[{}]", words.join(", "))
        }
        _ => format!("[{written}]"),
    }
}

/// A value's type, for people.
pub(super) fn found(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "a truth value",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// A value as JSON; `None` if it has no form there.
fn json(value: &DeValue<'_>) -> Option<serde_json::Value> {
    Some(match value {
        DeValue::String(text) => text.as_ref().into(),
        DeValue::Boolean(flag) => (*flag).into(),
        DeValue::Integer(integer) => {
            let number = i128::from_str_radix(integer.as_str(), integer.radix()).ok()?;
            i64::try_from(number).ok()?.into()
        }
        DeValue::Float(float) => {
            let number = float.as_str().replace('_', "").parse::<f64>().ok()?;
            serde_json::Number::from_f64(number)?.into()
        }
        DeValue::Datetime(_) => return None,
        DeValue::Array(items) => {
            let items = items.iter().map(|item| json(item.get_ref()));
            items.collect::<Option<Vec<_>>>()?.into()
        }
        DeValue::Table(entries) => {
            let entries = entries
                .iter()
                .map(|(key, value)| Some((key.get_ref().to_string(), json(value.get_ref())?)));
            serde_json::Value::Object(entries.collect::<Option<_>>()?)
        }
    })
}

//! The replacement itself, on bytes: what is not touched stays as it is.

use std::borrow::Cow;

use memchr::memmem;
use similar::TextDiff;

use crate::file_edit::near_miss::near_miss;
use crate::text::cut_to;

/// Occurrences are not counted beyond this.
const COUNT_MAX: usize = 100;

/// More steps of a diff take long, and nobody reads the result.
const DIFF_STEPS_MAX: usize = 50_000_000;

/// What to replace by what.
#[derive(Debug)]
pub(crate) struct Edit {
    pub(crate) old: String,
    pub(crate) new: String,
    pub(crate) occurrences: Occurrences,
}

/// Which occurrences are replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Occurrences {
    /// One, and there must be no other.
    TheOnlyOne,
    /// Each.
    All,
}

/// A file after an edit.
#[derive(Debug)]
pub(crate) struct Edited {
    pub(crate) contents: Vec<u8>,
    pub(crate) n_replaced: usize,
}

/// Why an edit was not made.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum EditError {
    /// The old text does not occur.
    NotFound,
    /// It occurs more than once: the lines where it begins, up to [`COUNT_MAX`].
    Ambiguous(Vec<usize>),
    /// The file would be larger than this many bytes.
    TooLarge(u64),
}

impl Edit {
    /// Replaces in `contents`; the result has at most `bytes_max` bytes.
    pub(crate) fn apply(&self, contents: &[u8], bytes_max: u64) -> Result<Edited, EditError> {
        let (old, new) = self.in_line_ends_of(contents);
        if self.occurrences == Occurrences::TheOnlyOne {
            let starts = overlapping(contents, old.as_bytes());
            if starts.len() > 1 {
                let lines = starts.iter().map(|at| line_of(contents, *at)).collect();
                return Err(EditError::Ambiguous(lines));
            }
        }
        let mut replaced = Vec::with_capacity(contents.len());
        let mut rest_start = 0;
        let mut n_replaced = 0;
        for at in memmem::find_iter(contents, old.as_bytes()) {
            replaced.extend_from_slice(contents.get(rest_start..at).unwrap_or_default());
            replaced.extend_from_slice(new.as_bytes());
            rest_start = at + old.len();
            n_replaced += 1;
            if u64::try_from(replaced.len()).is_ok_and(|len| len > bytes_max) {
                return Err(EditError::TooLarge(bytes_max));
            }
        }
        if n_replaced == 0 {
            return Err(EditError::NotFound);
        }
        replaced.extend_from_slice(contents.get(rest_start..).unwrap_or_default());
        Ok(Edited {
            contents: replaced,
            n_replaced,
        })
    }

    /// The texts as they stand in a file whose lines all end with CRLF: a model reads and writes
    /// LF.
    fn in_line_ends_of(&self, contents: &[u8]) -> (Cow<'_, str>, Cow<'_, str>) {
        let is_found = memmem::find(contents, self.old.as_bytes()).is_some();
        let is_crlf_only = || {
            let n_lf = memchr::memchr_iter(b'\n', contents).count();
            n_lf > 0 && memmem::find_iter(contents, b"\r\n").count() == n_lf
        };
        let has_line_end = self.old.contains('\n') || self.new.contains('\n');
        let has_cr = self.old.contains('\r') || self.new.contains('\r');
        if has_line_end && !has_cr && is_crlf_only() {
            return (crlf(&self.old), crlf(&self.new));
        }
        // The other way round: CRLF was asked for, the file has none.
        if !is_found && self.old.contains("\r\n") && memchr::memchr(b'\r', contents).is_none() {
            return (
                Cow::Owned(self.old.replace("\r\n", "\n")),
                Cow::Owned(self.new.replace("\r\n", "\n")),
            );
        }
        (Cow::Borrowed(&self.old), Cow::Borrowed(&self.new))
    }
}

impl EditError {
    /// What went wrong, for a reader who may not see the file.
    pub(crate) fn stated(&self, shown: &str) -> String {
        match self {
            Self::NotFound => {
                format!("`old_string` does not occur in `{shown}`; nothing was changed")
            }
            Self::Ambiguous(lines) => {
                let at_least = if lines.len() >= COUNT_MAX {
                    "at least "
                } else {
                    ""
                };
                format!(
                    "`old_string` occurs {at_least}{} times in `{shown}`; nothing was changed: add \
                     the lines around the one you mean, or set `replace_all`",
                    lines.len()
                )
            }
            Self::TooLarge(bytes_max) => {
                format!("`{shown}` would be larger than {bytes_max} bytes; nothing was changed")
            }
        }
    }

    /// The same with what the file's text tells.
    pub(crate) fn explained(&self, shown: &str, edit: &Edit, contents: &[u8]) -> String {
        let stated = self.stated(shown);
        match self {
            Self::NotFound => match near_miss(&edit.old, contents) {
                Some(hint) => format!("{stated}. {hint}"),
                None => stated,
            },
            Self::Ambiguous(lines) => {
                let first: Vec<String> = lines.iter().take(10).map(usize::to_string).collect();
                let more = if lines.len() > first.len() {
                    ", …"
                } else {
                    ""
                };
                format!("{stated} (lines {}{more})", first.join(", "))
            }
            Self::TooLarge(_) => stated,
        }
    }
}

/// The change as a unified diff, cut to `bytes_max`.
pub(crate) fn diff(
    shown: &str,
    edit: &Edit,
    before: &[u8],
    edited: &Edited,
    bytes_max: usize,
) -> String {
    if diff_steps(edit, before, edited.n_replaced) > DIFF_STEPS_MAX {
        return "[the change is too large to show]\n".to_owned();
    }
    let before = String::from_utf8_lossy(before);
    let after = String::from_utf8_lossy(&edited.contents);
    let diff = TextDiff::from_lines(&*before, &*after)
        .unified_diff()
        .context_radius(3)
        .header(&format!("a/{shown}"), &format!("b/{shown}"))
        .to_string();
    cut_to(diff, bytes_max)
}

/// At most as many steps as a diff takes: lines times changed lines (Myers). What is the same at
/// both ends costs nothing, so one replacement is compared with itself alone.
fn diff_steps(edit: &Edit, before: &[u8], n_replaced: usize) -> usize {
    let n_lines = |text: &[u8]| 1 + memchr::memchr_iter(b'\n', text).count();
    let n_changed = n_lines(edit.old.as_bytes()) + n_lines(edit.new.as_bytes());
    if n_replaced == 1 {
        return n_changed.saturating_mul(n_changed);
    }
    let n_all_changed = n_changed.saturating_mul(n_replaced);
    n_lines(before)
        .saturating_add(n_all_changed)
        .saturating_mul(n_all_changed)
}

/// The starts of all occurrences, those that overlap included, up to [`COUNT_MAX`].
fn overlapping(contents: &[u8], old: &[u8]) -> Vec<usize> {
    let finder = memmem::Finder::new(old);
    let mut starts = Vec::new();
    let mut from = 0;
    while let Some(at) = contents.get(from..).and_then(|rest| finder.find(rest)) {
        starts.push(from + at);
        if starts.len() == COUNT_MAX {
            break;
        }
        from += at + 1;
    }
    starts
}

/// The line, from 1, of a byte.
pub(crate) fn line_of(contents: &[u8], at: usize) -> usize {
    1 + memchr::memchr_iter(b'\n', contents.get(..at).unwrap_or(contents)).count()
}

fn crlf(text: &str) -> Cow<'_, str> {
    if text.contains('\n') {
        Cow::Owned(text.replace('\n', "\r\n"))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests;

//! Models that a manifest adds to those that come with podward.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;

use podward_policy::ByteSpan;

use super::{Model, PROGRAMS, Programs, parse};
use crate::{builtins, reader};

/// A longer model is refused: it is read again for every call of its program.
const BLOCK_BYTES: usize = 16 * 1024;

/// More added programs are refused.
const MOST_PROGRAMS: usize = 4096;

/// The readings beyond data that an added model may ask for.
const SPECIALS: &[&str] = &["env", "shell", "ssh", "xargs"];

/// Models of programs beside those that are built in.
///
/// They only ever add operations to a call: a program without a model is one operation, its
/// command, and so is one with a model, with what the model finds beside it. None of them stands
/// for a program that has a model already, and none is a wrapper that needs no rule of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddedPrograms {
    /// What one `program` line and the lines below it say.
    blocks: Vec<Arc<str>>,
    by_name: HashMap<String, usize>,
    by_prefix: Vec<(String, usize)>,
}

/// What is wrong in a text with models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramProblem {
    /// The bytes of the text that are meant.
    pub span: ByteSpan,
    /// What is wrong: lower case, no full stop.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl AddedPrograms {
    /// Adds the models of one text.
    ///
    /// # Errors
    /// Everything that is wrong in the text, in its order; nothing of it is added then.
    pub fn add(&mut self, text: &str) -> Result<(), Vec<ProgramProblem>> {
        let mut problems = Vec::new();
        let mut programs = Programs::default();
        parse::family(text, &mut programs);
        for problem in &programs.problems {
            let before = text.get(..offset(text, problem.word)).unwrap_or_default();
            let line = before.rsplit('\n').next().unwrap_or_default();
            let help = help(line, &problem.what);
            problems.push(found(text, problem.word, problem.what.clone(), help));
        }
        let mut added = self.clone();
        for block in blocks(text) {
            added.block(text, block, &mut problems);
        }
        if problems.is_empty() {
            *self = added;
            return Ok(());
        }
        // Two checks may find the same.
        problems.sort_by_key(|problem| problem.span.start);
        problems.dedup_by_key(|problem| problem.span);
        Err(problems)
    }

    /// How many models there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// The models without what does not count: comments, blanks, empty lines.
    #[must_use]
    pub fn canonical(&self) -> String {
        let mut text = String::new();
        for line in self.blocks.iter().flat_map(|block| block.lines()) {
            let words: Vec<&str> = parse::uncommented(line).split_ascii_whitespace().collect();
            if !words.is_empty() {
                text.push_str(&words.join(" "));
                text.push('\n');
            }
        }
        text
    }

    /// The model of a program that has no built-in one, by the last part of its path.
    pub(crate) fn get(&self, name: &str) -> Option<Model<'_>> {
        let begins = |(prefix, _): &&(String, usize)| name.starts_with(prefix.as_str());
        let by_prefix = || self.by_prefix.iter().find(begins).map(|(_, idx)| idx);
        let idx = self.by_name.get(name).or_else(by_prefix)?;
        let mut programs = Programs::default();
        parse::family(self.blocks.get(*idx)?, &mut programs);
        programs.models.into_iter().next()
    }

    /// Whether a program has a model here.
    pub(crate) fn has(&self, name: &str) -> bool {
        let by_prefix = self.by_prefix.iter();
        self.by_name.contains_key(name)
            || by_prefix
                .into_iter()
                .any(|(prefix, _)| name.starts_with(prefix))
    }

    /// Adds one model and reports what no added model may say.
    fn block<'t>(&mut self, text: &'t str, block: &'t str, problems: &mut Vec<ProgramProblem>) {
        let mut lines = block.lines().map(|line| {
            let words: Vec<&str> = parse::uncommented(line).split_ascii_whitespace().collect();
            words
        });
        let names = lines.next().unwrap_or_default();
        let keyword = names.first().copied().unwrap_or(block);
        if block.len() > BLOCK_BYTES {
            let message = format!("a model is at most {BLOCK_BYTES} bytes long");
            problems.push(found(text, keyword, message, None));
        }
        if self.blocks.len() >= MOST_PROGRAMS {
            let message = format!("at most {MOST_PROGRAMS} models can be added");
            problems.push(found(text, keyword, message, None));
            return;
        }
        let idx = self.blocks.len();
        self.blocks.push(block.into());
        for name in names.iter().skip(1) {
            if let Err((message, help)) = self.name(name, idx) {
                problems.push(found(text, name, message, Some(help.to_owned())));
            }
        }
        for words in lines {
            let Some((word, (message, help))) = forbidden(&words) else {
                continue;
            };
            problems.push(found(text, word, message.to_owned(), Some(help.to_owned())));
        }
    }

    fn name(&mut self, name: &str, idx: usize) -> Result<(), (String, &'static str)> {
        let plain = name.strip_suffix('*').unwrap_or(name);
        if plain.is_empty() || plain.contains(['/', '*', '"', '\'', '\\', '$']) {
            let help = "write the last part of the program's path; `*` stands for any rest of it";
            return Err((format!("`{name}` is no program's name"), help));
        }
        if PROGRAMS.get(plain).is_some() {
            let help = "what podward knows of a program cannot be replaced: leave it out here";
            return Err((format!("`{name}` has a model that is built in"), help));
        }
        if builtins::is_builtin(plain) || reader::is_reserved(plain) {
            let help = "it is a part of the shell: leave it out here";
            return Err((format!("`{name}` is no program"), help));
        }
        let is_new = match name.strip_suffix('*') {
            Some(prefix) => {
                let is_new = self.by_prefix.iter().all(|(other, _)| other != prefix);
                self.by_prefix.push((prefix.to_owned(), idx));
                is_new
            }
            None => self.by_name.insert(name.to_owned(), idx).is_none(),
        };
        if is_new {
            return Ok(());
        }
        let help = "put everything that is known of a program below one `program` line";
        Err((format!("`{name}` has two models"), help))
    }
}

/// What an added model may not say, although it is a line of the format.
fn forbidden<'t>(words: &[&'t str]) -> Option<(&'t str, (&'static str, &'static str))> {
    match words {
        ["wrapper", word @ "neutral"] => Some((
            word,
            (
                "an added wrapper cannot be neutral",
                "write `wrapper kept`: a program of a manifest needs a rule of its own",
            ),
        )),
        ["special", word] if !SPECIALS.contains(word) => Some((
            word,
            (
                "a special reading that an added model cannot have",
                "write `env`, `shell`, `ssh` or `xargs`, or leave the line out",
            ),
        )),
        _ => None,
    }
}

/// The parts of a text that begin with a `program` line.
fn blocks(text: &str) -> impl Iterator<Item = &str> {
    let mut starts: Vec<usize> = text
        .lines()
        .filter(|line| {
            let mut words = parse::uncommented(line).split_ascii_whitespace();
            words.next() == Some("program")
        })
        .map(|line| offset(text, line))
        .collect();
    starts.push(text.len());
    let pairs: Vec<(usize, usize)> = starts
        .iter()
        .copied()
        .zip(starts.iter().skip(1).copied())
        .collect();
    pairs
        .into_iter()
        .filter_map(|(start, end)| text.get(start..end))
}

/// Where a part of a text begins.
fn offset(text: &str, part: &str) -> usize {
    part.as_ptr().addr().saturating_sub(text.as_ptr().addr())
}

fn found(text: &str, word: &str, message: String, help: Option<String>) -> ProgramProblem {
    let start = offset(text, word);
    ProgramProblem {
        span: ByteSpan::new(start..start + word.len()),
        message,
        help,
    }
}

/// What to do about a line that says nothing known.
fn help(line: &str, message: &str) -> Option<String> {
    let help = if message.ends_with("is no role") && line.trim_start().starts_with("operands") {
        "the roles of operands are `read`, `write`, `output`, `data`, `command` and others that \
         docs/programs.md lists, with `...` behind the one of which there may be any number"
    } else if message.ends_with("is no role") {
        "begin a line with a role, such as `read`, `write`, `output`, `exec`, `data`, or with \
         `program`, `sub`, `operands`, `style`, `wrapper`"
    } else if message.ends_with("is no option") {
        "an option begins with `-` or `+`; operands have a line of their own, `operands ROLE…`"
    } else if message.ends_with("before the first `program`") {
        "begin with `program NAME`"
    } else {
        return None;
    };
    Some(help.to_owned())
}

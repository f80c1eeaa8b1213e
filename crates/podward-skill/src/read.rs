//! From the bytes of a `SKILL.md` to a skill, or all that is wrong with it.

#[cfg(test)]
mod tests;

use podward_policy::{ByteSpan, KnownTools};

use crate::compile::ListPlace;
use crate::fence;
use crate::header;
use crate::name::SkillName;
use crate::problem::{Gravity, Problem};
use crate::tool_lists::ToolLists;
use crate::yaml;

/// A larger file is refused unread. The format advises less than 5,000 tokens.
pub const MAX_FILE_BYTES: usize = 1024 * 1024;

/// Larger front matter is refused unread.
pub const MAX_HEADER_BYTES: usize = 64 * 1024;

/// The format advises no more lines of instructions.
const MOST_BODY_LINES: usize = 500;

/// More problems than this are not told: nobody reads them.
const MOST_PROBLEMS: usize = 100;

/// A skill: what its `SKILL.md` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// `name`, which is also that of its directory.
    pub name: SkillName,
    /// `description`: what the model is told of it before it is used.
    pub description: Box<str>,
    /// `license`.
    pub license: Option<Box<str>>,
    /// `compatibility`.
    pub compatibility: Option<Box<str>>,
    /// The texts of `metadata`, in the order written.
    pub metadata: Vec<(Box<str>, Box<str>)>,
    /// Whether the model may start it too: `disable-model-invocation` is absent or `false`.
    pub started_by: StartedBy,
    /// `allowed-tools` and `disallowed-tools`.
    pub tools: ToolLists,
    /// The file up to the instructions. Read again it is the same skill with an empty body, so it is
    /// what a record of a running skill keeps.
    pub header: Box<str>,
    /// The instructions: all behind the closing `---`, as written.
    pub body: Box<str>,
}

/// Who may start a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StartedBy {
    /// A person, and the model by itself.
    PersonOrModel,
    /// A person only.
    Person,
}

/// What was found in a `SKILL.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The skill; `None` if one of the problems is an error.
    pub skill: Option<Skill>,
    /// All that is wrong, in the order of the text.
    pub problems: Vec<Problem>,
    /// What it lists as far as that could be read, also of a file with errors: to tell what else is wrong
    /// in it, and never what it restricts.
    pub listed: ToolLists,
    /// The text that the spans of the problems refer to. Bytes that are no UTF-8 are `U+FFFD` in it.
    pub text: Box<str>,
}

impl Reading {
    /// What the skill lists; a file with errors allows no tool.
    #[must_use]
    pub fn tools(&self) -> ToolLists {
        match &self.skill {
            Some(skill) => skill.tools.clone(),
            None => ToolLists::nothing(),
        }
    }
}

/// Reads a `SKILL.md`; `directory` is the name of the directory that holds it.
#[must_use]
pub fn read(directory: &str, bytes: &[u8]) -> Reading {
    if bytes.len() > MAX_FILE_BYTES {
        let message = format!("a skill is at most {MAX_FILE_BYTES} bytes long");
        let help = "put long material in files beside it, which are read when they are needed";
        let problem = Problem::error(ByteSpan::new(0..0), message, help);
        return Reading {
            skill: None,
            problems: vec![problem],
            listed: ToolLists::nothing(),
            text: Box::default(),
        };
    }
    let (text, not_utf8) = decode(bytes);
    let mut problems: Vec<Problem> = not_utf8.into_iter().collect();
    let mut listed = ToolLists::nothing();
    let skill = match problems.is_empty() {
        true => read_text(directory, &text, (&mut problems, &mut listed)),
        false => None,
    };
    add_wrong_patterns(&listed, &mut problems);
    let is_broken = problems
        .iter()
        .any(|problem| problem.gravity == Gravity::Error);
    if problems.len() > MOST_PROBLEMS {
        // Stable: the heavy ones first, each kind in the order of the text.
        problems.sort_by_key(|problem| std::cmp::Reverse(problem.gravity));
        problems.truncate(MOST_PROBLEMS);
    }
    problems.sort_by_key(|problem| (problem.span.start, problem.span.end));
    Reading {
        skill: skill.filter(|_| !is_broken),
        problems,
        listed,
        text: text.into(),
    }
}

/// Entries whose patterns are none are as wrong as those that cannot be read. That does not hang on
/// which tools there are.
fn add_wrong_patterns(listed: &ToolLists, problems: &mut Vec<Problem>) {
    let known = KnownTools::built_in();
    let compiled = listed.compile(&ListPlace::new("SKILL.md", &known));
    let wrong = compiled.problems.into_iter();
    problems.extend(wrong.filter(|problem| problem.gravity == Gravity::Error));
}

/// The text, and where it is none.
fn decode(bytes: &[u8]) -> (String, Option<Problem>) {
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return (text.to_owned(), None),
        Err(error) => error,
    };
    let at = error.valid_up_to();
    let byte = bytes.get(at).copied().unwrap_or_default();
    let problem = Problem::error(
        ByteSpan::new(at..at + '\u{fffd}'.len_utf8()),
        format!("the byte 0x{byte:02X} is not valid UTF-8"),
        "a skill is UTF-8 text: save it in that encoding",
    );
    (String::from_utf8_lossy(bytes).into_owned(), Some(problem))
}

fn read_text(
    directory: &str,
    text: &str,
    (problems, listed): (&mut Vec<Problem>, &mut ToolLists),
) -> Option<Skill> {
    let parts = match fence::split(text) {
        Ok(parts) => parts,
        Err(problem) => {
            problems.push(problem);
            return None;
        }
    };
    if parts.front.len() > MAX_HEADER_BYTES {
        let start = parts.front.start;
        problems.push(Problem::error(
            ByteSpan::new(start..start),
            format!("the front matter is at most {MAX_HEADER_BYTES} bytes long"),
            "what the model is to do belongs below the closing `---`",
        ));
        return None;
    }
    let document = yaml::parse(text, parts.front.clone());
    let n_lines = text
        .get(parts.body.clone())
        .unwrap_or_default()
        .lines()
        .count();
    if n_lines > MOST_BODY_LINES {
        problems.push(Problem::new(
            Gravity::Hint,
            ByteSpan::new(parts.body.start..parts.body.start),
            format!("the instructions have {n_lines} lines: the model reads all of them at once"),
            format!("keep them below {MOST_BODY_LINES}; put details in files beside it"),
        ));
    }
    problems.extend(header::list_in_body(text, &parts.body));
    let header = header::read(directory, text, &parts.front, document, (problems, listed))?;
    Some(Skill {
        name: header.name,
        description: header.description,
        license: header.license,
        compatibility: header.compatibility,
        metadata: header.metadata,
        started_by: header.started_by,
        tools: header.tools,
        header: text.get(..parts.body.start).unwrap_or_default().into(),
        body: text.get(parts.body).unwrap_or_default().into(),
    })
}

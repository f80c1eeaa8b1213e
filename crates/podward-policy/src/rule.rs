//! One compiled rule, and whether its pattern matches what an operation is about.

mod command;
pub(crate) mod forms;
pub(crate) mod path;
pub(crate) mod tools;
pub(crate) mod url;

use std::sync::Arc;

use memchr::memchr2;

use crate::action::Action;
use crate::operation::{PathSubject, Subject, UrlSubject, WholeText};
use crate::pattern::{Glob, Hit, Problem, Signs, Words, words};
use crate::source::Location;
use crate::text::Text;
use crate::work::{Exhausted, Work};
pub(crate) use command::{before_first_hole, has_unknown_program};
use forms::{Forms, Quotes};
use path::PathPattern;
use tools::ToolPattern;
use url::UrlPattern;

/// A compiled rule. There may be very many: what few rules have is kept apart.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    /// As written.
    pub(crate) pattern: Arc<str>,
    origin: Arc<Origin>,
    further: Option<Box<Further>>,
    line: u32,
    column: u32,
    pub(crate) action: Action,
    pub(crate) grantable: bool,
    /// The pattern is `*`: it says of a tool what a default says of all.
    pub(crate) is_catch_all: bool,
    /// Unknown code may do what the rule's tools do.
    pub(crate) is_reached_by_code: bool,
    has_operator: bool,
    has_quotes: bool,
    /// Bytes at the pattern's end that stand for what is below a directory.
    n_below: u16,
}

/// What rules of the same tools in the same file have in common.
#[derive(Debug)]
pub(crate) struct Origin {
    pub(crate) tool: ToolPattern,
    /// The tools as written.
    pub(crate) written_tool: Box<str>,
    pub(crate) file: Arc<str>,
    /// Unknown code may do what the tools do.
    pub(crate) is_reached_by_code: bool,
    quotes: Quotes,
}

/// What few rules have.
#[derive(Debug, Clone)]
struct Further {
    message: Option<Arc<str>>,
    /// Seconds.
    ask_timeout: Option<u32>,
    forms: Forms,
}

/// What a pattern says, compiled for all kinds of texts.
pub(crate) struct RuleSource<'a> {
    pub(crate) origin: Arc<Origin>,
    pub(crate) action: Action,
    pub(crate) pattern: &'a str,
    pub(crate) message: Option<&'a str>,
    pub(crate) grantable: bool,
    pub(crate) ask_timeout: Option<u32>,
    pub(crate) location: &'a Location,
}

/// How far an operand that is known in part counts (D2.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operand {
    /// Wherever some filling matches.
    Possible,
    /// Where every filling matches; a file name pattern wherever some filling does.
    Certain,
}

impl Origin {
    pub(crate) fn new(tool: ToolPattern, written_tool: &str, file: Arc<str>) -> Self {
        Self {
            is_reached_by_code: tool.is_reached_by_code(),
            quotes: Quotes::for_tool(&tool),
            tool,
            written_tool: written_tool.into(),
            file,
        }
    }
}

impl Rule {
    /// Compiles a rule whose tool is already known to be one.
    pub(crate) fn new(source: RuleSource<'_>) -> Result<Self, Vec<Problem>> {
        let pattern = source.pattern;
        let signs = Signs::of(pattern);
        let forms = Forms::new(pattern, signs, source.action, source.origin.quotes)?;
        let message: Option<Arc<str>> = source.message.map(Into::into);
        let is_plain = message.is_none() && source.ask_timeout.is_none() && forms.is_empty();
        Ok(Self {
            is_catch_all: matches!(pattern, "*" | "**"),
            is_reached_by_code: source.origin.is_reached_by_code,
            has_operator: forms.has_operator().unwrap_or(signs.has_operator()),
            has_quotes: signs.has_quotes(),
            n_below: path::n_below(pattern, source.action),
            further: (!is_plain).then(|| {
                Box::new(Further {
                    message,
                    ask_timeout: source.ask_timeout,
                    forms,
                })
            }),
            pattern: pattern.into(),
            origin: source.origin,
            line: source.location.line,
            column: source.location.column,
            action: source.action,
            grantable: source.grantable,
        })
    }

    pub(crate) fn tool(&self) -> &ToolPattern {
        &self.origin.tool
    }

    /// The tools as written.
    pub(crate) fn written_tool(&self) -> &str {
        &self.origin.written_tool
    }

    pub(crate) fn location(&self) -> Location {
        Location {
            file: Arc::clone(&self.origin.file),
            line: self.line,
            column: self.column,
        }
    }

    pub(crate) fn message(&self) -> Option<&Arc<str>> {
        self.further.as_ref()?.message.as_ref()
    }

    /// Seconds.
    pub(crate) fn ask_timeout(&self) -> Option<u32> {
        self.further.as_ref()?.ask_timeout
    }

    fn forms(&self) -> Option<&Forms> {
        self.further.as_ref().map(|further| &further.forms)
    }

    /// For texts without a form of their own.
    pub(crate) fn plain(&self) -> Glob<'_> {
        let kept = self.forms().and_then(Forms::plain);
        kept.unwrap_or_else(|| Glob::written(&self.pattern))
    }

    pub(crate) fn command(&self) -> Glob<'_> {
        match self.forms().and_then(Forms::command) {
            Some(kept) => kept,
            None if self.has_quotes => forms::command_of(self.words().tokens).into_glob(),
            None => forms::written_command(&self.pattern),
        }
    }

    /// Another reading of the quotes, for restrictive rules.
    pub(crate) fn loose_command(&self) -> Option<Glob<'_>> {
        if !self.has_quotes || !self.is_restrictive() {
            return None;
        }
        match self.forms().filter(|forms| forms.command().is_some()) {
            Some(kept) => kept.loose_command(),
            None => Some(forms::command_of(self.words().loose?).into_glob()),
        }
    }

    /// For whole lines, if the pattern has a shell operator and so can match no simple command.
    pub(crate) fn line(&self) -> Option<Glob<'_>> {
        let kept = || self.forms().and_then(Forms::line);
        self.has_operator
            .then(|| kept().unwrap_or_else(|| forms::written_command(&self.pattern)))
    }

    pub(crate) fn path(&self) -> PathPattern<'_> {
        let written = || {
            let n_needed = self.pattern.len() - usize::from(self.n_below);
            Glob::written_with_optional_end(&self.pattern, n_needed)
        };
        let kept = self.forms().and_then(Forms::path);
        PathPattern::new(kept.unwrap_or_else(written))
    }

    pub(crate) fn url(&self) -> UrlPattern<'_> {
        match self.forms().and_then(|forms| forms.url.as_deref()) {
            Some(parts) => UrlPattern::Parts(parts),
            None => UrlPattern::Opaque(self.plain()),
        }
    }

    /// The only text that the pattern matches, if it has no wildcards.
    pub(crate) fn literal(&self) -> Option<&str> {
        match self.forms().and_then(Forms::literal) {
            Some(literal) => literal,
            None => memchr2(b'*', b'?', self.pattern.as_bytes())
                .is_none()
                .then_some(&*self.pattern),
        }
    }

    /// How the pattern stands as one for commands.
    pub(crate) fn words(&self) -> Words {
        words(&self.plain().tokens())
    }

    pub(crate) const fn has_operator(&self) -> bool {
        self.has_operator
    }

    pub(crate) const fn is_restrictive(&self) -> bool {
        match self.action {
            Action::Allow => false,
            Action::Ask | Action::Deny => true,
        }
    }

    /// The same as a deny: what it would see of a text that an allow does not.
    pub(crate) fn as_restrictive(&self) -> Option<Self> {
        Self::new(RuleSource {
            origin: Arc::clone(&self.origin),
            action: Action::Deny,
            pattern: &self.pattern,
            message: None,
            grantable: false,
            ask_timeout: None,
            location: &self.location(),
        })
        .ok()
    }

    /// Whether an allow by this rule is one for what the operation is about, and not only for
    /// whatever comes. A restrictive rule always counts.
    pub(crate) fn may_name(&self, subject: &Subject) -> bool {
        match subject {
            Subject::Url(_) => self.is_restrictive() || self.url().names_host(),
            Subject::Command(_)
            | Subject::Path(_)
            | Subject::Tree(_)
            | Subject::Plain(_)
            | Subject::Unknown(_) => true,
        }
    }

    /// Whether the pattern matches what an operation is about. The tool is not looked at, nor
    /// the text of the whole call.
    pub(crate) fn hit(&self, subject: &Subject, operand: Operand, work: &mut Work) -> Hit {
        let is_refused_url = match subject {
            Subject::Url(url) => url.has_user_info && !self.is_restrictive(),
            Subject::Command(_)
            | Subject::Path(_)
            | Subject::Tree(_)
            | Subject::Plain(_)
            | Subject::Unknown(_) => false,
        };
        if self.is_catch_all && !is_refused_url {
            return Hit::Must;
        }
        let found = match subject {
            Subject::Command(command) => self.hit_command(command, work),
            Subject::Path(path) => self.hit_path(path, operand, work),
            Subject::Tree(path) => match self.is_restrictive() {
                true => self.path().hit_below(path, work),
                false => self.path().hit_all_below(path, work),
            },
            Subject::Url(url) => self.hit_url(url, operand, work),
            Subject::Plain(text) => Ok(self.plain().hit_text(text, &(0..0), work)),
            Subject::Unknown(_) => Ok(Hit::May),
        };
        Hit::or_may(found)
    }

    /// Whether the pattern matches the text of a whole call, or what it was before something was
    /// appended. Only a restrictive pattern with a shell operator sees it.
    pub(crate) fn hit_whole(&self, whole: Option<&WholeText>, work: &mut Work) -> Hit {
        let (Some(whole), Some(line)) = (whole, self.line()) else {
            return Hit::No;
        };
        if !self.is_restrictive() {
            return Hit::No;
        }
        let found = match line.matches(&whole.stripped, &(0..0), work) {
            Ok(false) => line.matches_head(&whole.stripped, &whole.heads, work),
            found => found,
        };
        Hit::or_may(found.map(Hit::certain))
    }

    fn hit_path(
        &self,
        path: &PathSubject,
        operand: Operand,
        work: &mut Work,
    ) -> Result<Hit, Exhausted> {
        match self.is_restrictive() {
            true => self.path().hit_any_spelling(path, operand, work),
            false => self.path().hit_every_form(path, work),
        }
    }

    fn hit_url(
        &self,
        url: &UrlSubject,
        operand: Operand,
        work: &mut Work,
    ) -> Result<Hit, Exhausted> {
        match self.is_restrictive() {
            true => {
                let hit = self.url().hit_any(url, work);
                Ok(operand.count(hit, &url.text))
            }
            false => self.url().hit_covered(url, work),
        }
    }
}

impl Operand {
    /// What a possible match of a text is worth.
    pub(crate) fn count(self, hit: Hit, text: &Text) -> Hit {
        match (self, hit) {
            (Self::Certain, Hit::May) if has_expansion(text) => Hit::No,
            (Self::Possible | Self::Certain, hit) => hit,
        }
    }
}

/// Whether a text has a hole that is no file name pattern.
pub(crate) fn has_expansion(text: &Text) -> bool {
    text.holes().iter().any(|hole| hole.kind.is_expansion())
}

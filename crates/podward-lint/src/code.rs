//! The kinds of findings.

use std::fmt;

/// A kind of finding. The words are part of the interface: scripts and CI name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// No operation of any call is decided by the rule.
    NeverDecides,
    /// Of what the pattern matches as it is written, earlier rules decide all.
    HardlyDecides,
    /// What the rule decides was not found out.
    Undecided,
    /// No text of the tool is one that the pattern matches.
    MatchesNothing,
    /// The same, for its quotes.
    Quotes,
    /// No tool has a name like this.
    UnknownTool,
    /// An earlier allow lets through a part of what the rule denies.
    DenyAfterAllow,
    /// The program of an allow runs whatever its arguments say.
    RunsAnything,
    /// Flags can be written in another way.
    FlagOrder,
    /// A `*` goes on with the word before it.
    GluedStar,
    /// The pattern names a path, and commands are compared with it.
    PathForBash,
    /// The pattern names a program by a path that is no place, or that it does not need.
    ProgramPath,
    /// The rule meets texts that are no commands.
    ReachesArguments,
    /// Nobody is there to answer what the rule asks.
    UnansweredAsk,
}

/// How bad a finding is; the worst is the greatest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing: it may be meant.
    Note,
    /// The rule hardly does what its author means.
    Warning,
    /// What a rule is to stop gets through, or anything is allowed.
    Error,
}

impl Code {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::NeverDecides,
        Self::HardlyDecides,
        Self::Undecided,
        Self::MatchesNothing,
        Self::Quotes,
        Self::UnknownTool,
        Self::DenyAfterAllow,
        Self::RunsAnything,
        Self::FlagOrder,
        Self::GluedStar,
        Self::PathForBash,
        Self::ProgramPath,
        Self::ReachesArguments,
        Self::UnansweredAsk,
    ];

    /// The word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NeverDecides => "never-decides",
            Self::HardlyDecides => "hardly-decides",
            Self::Undecided => "undecided",
            Self::MatchesNothing => "matches-nothing",
            Self::Quotes => "quotes",
            Self::UnknownTool => "unknown-tool",
            Self::DenyAfterAllow => "deny-after-allow",
            Self::RunsAnything => "runs-anything",
            Self::FlagOrder => "flag-order",
            Self::GluedStar => "glued-star",
            Self::PathForBash => "path-for-bash",
            Self::ProgramPath => "program-path",
            Self::ReachesArguments => "reaches-arguments",
            Self::UnansweredAsk => "unanswered-ask",
        }
    }

    /// One sentence on what it is, without a full stop.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::NeverDecides => "A rule that earlier rules keep from ever deciding",
            Self::HardlyDecides => {
                "A rule of which earlier rules decide all that its pattern says as written"
            }
            Self::Undecided => "What a rule decides was not found out within the bounds",
            Self::MatchesNothing => "A pattern that matches no text of its tool",
            Self::Quotes => "Quotes that keep a pattern from matching",
            Self::UnknownTool => "A glob that fits no tool",
            Self::DenyAfterAllow => "A deny of which an earlier allow lets through a part",
            Self::RunsAnything => {
                "An allow for a program that runs whatever its arguments or files say"
            }
            Self::FlagOrder => "A rule that names flags in one spelling of several",
            Self::GluedStar => "A `*` that goes on with a word, and so allows other words",
            Self::PathForBash => "A pattern for paths in a rule for commands",
            Self::ProgramPath => {
                "A program that is named by a path that is no place, or needs none"
            }
            Self::ReachesArguments => "A pattern that begins with `*` and meets quoted text",
            Self::UnansweredAsk => "A question in a manifest that expects nobody to answer",
        }
    }

    /// How bad it is.
    #[must_use]
    pub const fn severity(self) -> Severity {
        match self {
            Self::DenyAfterAllow | Self::FlagOrder => Severity::Error,
            Self::NeverDecides
            | Self::HardlyDecides
            | Self::Undecided
            | Self::MatchesNothing
            | Self::Quotes
            | Self::UnknownTool
            | Self::RunsAnything
            | Self::GluedStar
            | Self::PathForBash
            | Self::ProgramPath => Severity::Warning,
            Self::ReachesArguments | Self::UnansweredAsk => Severity::Note,
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Severity {
    /// The word in front of a message.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

//! Bounds on what is read. A bound only ever removes an allow: beyond it the text is unknown.

/// Longest text that is read: room for a whole file written by one here-document. The work grows
/// with the length alone (nesting has its own bound): tens of milliseconds for the worst text known.
pub(crate) const TEXT_BYTES: usize = 128 * 1024;

/// Longest text that is read as a plain command: lines are far below it, and what is longer pays
/// for the reader anyway.
pub(crate) const PLAIN_BYTES: usize = 4 * 1024;

/// Deepest nesting of lists, groups, quotes and substitutions: real commands stay below 10, and
/// this many levels fit a stack of 256 KiB with room to spare.
pub(crate) const DEPTH: usize = 40;

/// Most simple commands in one text: whole scripts are judged by name, not by text.
pub(crate) const COMMANDS: usize = 512;

/// Most words in one text.
pub(crate) const WORDS: usize = 16 * 1024;

/// Most operations of one text: each can cost a walk over all rules.
pub(crate) const OPERATIONS: usize = 8 * 1024;

/// Deepest nesting of wrappers and of shell texts inside shell texts.
pub(crate) const WRAPPERS: usize = 8;

/// Most words that one word's braces are expanded to: a few names, not a generator.
pub(crate) const BRACE_WORDS: usize = 64;

/// Most opening braces in one word: each is looked for to the word's end.
pub(crate) const BRACES: usize = 32;

/// Most places where `((` is read a second time as two groups: each doubles the work below it.
pub(crate) const SECOND_READINGS: usize = 16;

/// Most directories that a relative path may start from.
pub(crate) const BASES: usize = 4;

/// Longest path of a directory that is followed: the kernel takes no longer one.
pub(crate) const DIRECTORY_BYTES: usize = 4 * 1024;

/// Most rounds of a loop over literal words that are read one by one.
pub(crate) const LOOP_ROUNDS: usize = 8;

/// Longest text kept for one variable.
pub(crate) const VALUE_BYTES: usize = 4 * 1024;

/// Deepest nesting of function calls whose bodies are walked once more.
pub(crate) const CALLS: usize = 4;

/// Commands that are walked before bodies are no longer walked more than once.
pub(crate) const FUEL: usize = 4 * COMMANDS;

/// Bytes of text that are read once more for as much as a command is walked.
pub(crate) const BYTES_A_COMMAND: usize = 64;

/// Most ways to spell the words of one command that name what is run: a program and its script behind
/// a wrapper have some tens.
pub(crate) const SPELLINGS: usize = 128;

/// Directories of one `find` whose files are followed into its commands.
pub(crate) const FIND_ROOTS: usize = 8;

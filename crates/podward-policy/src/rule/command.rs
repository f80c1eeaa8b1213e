//! Whether a pattern matches a command, in all its forms.

use super::Rule;
use crate::operation::CommandSubject;
use crate::pattern::{Fold, Glob, Hit, Shape, is_exempt, program_of};
use crate::text::{Hole, Text};
use crate::work::{Exhausted, Work};

impl Rule {
    pub(super) fn hit_command(
        &self,
        command: &CommandSubject,
        work: &mut Work,
    ) -> Result<Hit, Exhausted> {
        let program = command.name_start..command.name_end;
        if !self.is_restrictive() {
            let hit = command_hit(
                &self.command(),
                &command.written,
                work,
                Form {
                    is_written: true,
                    program: &program,
                    fold: &(0..0),
                    exempts: false,
                    known: Hit::No,
                },
            )?;
            // What runs is not known: only a rule for everything covers it (D3.3).
            let hit = match has_unknown_program(command) {
                true => hit.min(Hit::May),
                false => hit,
            };
            return self.hit_everywhere(hit, command, work);
        }
        let mut best = Hit::No;
        for glob in std::iter::once(self.command()).chain(self.loose_command()) {
            let written = Form {
                is_written: true,
                program: &program,
                fold: &program,
                exempts: glob.is_floating(),
                known: best,
            };
            best = best.max(command_hit(&glob, &command.written, work, written)?);
            for text in &command.further {
                if best == Hit::Must {
                    return Ok(best);
                }
                let program = program_of(text.known_part());
                let further = Form {
                    is_written: false,
                    program: &program,
                    fold: &program,
                    exempts: glob.is_floating(),
                    known: best,
                };
                best = best.max(command_hit(&glob, text, work, further)?);
            }
            for text in command.located().iter().flatten() {
                if best == Hit::Must {
                    return Ok(best);
                }
                best = best.max(self.hit_located(&glob, text, best, work)?);
            }
        }
        Ok(match best {
            // A value is data: the operator of a pattern has to stand in the text (D6).
            Hit::May
                if self.has_operator()
                    && !holds_operator(command.written.known_part())
                    && !has_unknown_program(command) =>
            {
                Hit::No
            }
            best => best,
        })
    }

    /// What a match of a command as it is written is worth to an allow: what is run has to be named by
    /// the pattern wherever that may lie.
    fn hit_everywhere(
        &self,
        as_written: Hit,
        command: &CommandSubject,
        work: &mut Work,
    ) -> Result<Hit, Exhausted> {
        let mut all = as_written;
        for spellings in command.located() {
            let mut best = Hit::No;
            for text in spellings {
                if all <= best {
                    break;
                }
                best = best.max(self.hit_located(&self.command(), text, best, work)?);
            }
            all = all.min(best);
        }
        Ok(all)
    }

    /// A directory that is not known is no part of what a floating pattern is about (D3.2).
    fn hit_located(
        &self,
        glob: &Glob<'_>,
        text: &Text,
        known: Hit,
        work: &mut Work,
    ) -> Result<Hit, Exhausted> {
        let fold = match self.is_restrictive() {
            true => program_of(text.known_part()),
            false => 0..0,
        };
        let located = Form {
            is_written: true,
            program: &NOWHERE,
            fold: &fold,
            exempts: self.is_restrictive() && glob.is_floating(),
            known,
        };
        command_hit(glob, text, work, located)
    }
}

/// Whether the program that a command runs is not known.
pub(crate) fn has_unknown_program(command: &CommandSubject) -> bool {
    let program = command.name_start..=command.name_end;
    command
        .written
        .holes()
        .iter()
        .any(|hole| program.contains(&hole.at))
}

/// No place in a text.
const NOWHERE: Fold = usize::MAX..usize::MAX;

/// One form of a command.
struct Form<'a> {
    is_written: bool,
    program: &'a Fold,
    fold: &'a Fold,
    /// The exception of D3.2 applies.
    exempts: bool,
    /// What another form is: less than more of it counts for nothing.
    known: Hit,
}

fn command_hit(
    glob: &Glob<'_>,
    text: &Text,
    work: &mut Work,
    form: Form<'_>,
) -> Result<Hit, Exhausted> {
    if let Some(known) = text.as_known() {
        let found = glob.matches(known, form.fold, work)?;
        return Ok(if found { Hit::Must } else { Hit::No });
    }
    if glob.differs_at_start(before_first_hole(text), work)? {
        return Ok(Hit::No);
    }
    let is_exempt = |hole: &Hole| form.exempts && is_exempt(hole, form.program);
    let all_exempt = text.holes().iter().all(is_exempt);
    if all_exempt && !glob.may_meet_known(text, work)? {
        return Ok(Hit::No);
    }
    let bounds = glob.bounds(text, |hole| !is_exempt(hole), work)?;
    if bounds.most <= form.known {
        return Ok(Hit::No);
    }
    if let Some(hit) = bounds.settled() {
        return Ok(hit);
    }
    work.spend(text.known_part().len())?;
    let shape = match form.is_written {
        true => Shape::written(text, form.program, form.fold),
        false => Shape::further(text, form.program),
    };
    match form.exempts {
        true => glob.hit_beyond_exempt(&shape, bounds, work),
        false => glob.hit(&shape, bounds, work),
    }
}

/// The words before the one that holds the first hole: each filling begins with them.
pub(crate) fn before_first_hole(text: &Text) -> &str {
    let before = text.known_start().rsplit_once(' ');
    before.map_or("", |(words, _)| words)
}

fn holds_operator(text: &str) -> bool {
    text.contains(['|', ';', '&', '<', '>', '`', '$'])
}

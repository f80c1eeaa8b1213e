//! Whole directories that a program deletes, moves or changes with all that lies below.

use crate::arg::Arg;
use crate::calls::Call;
use crate::operations::TreeAccess;
use crate::options::Usage;
use crate::programs::{Role, Special};
use crate::walk::Walker;

/// Options of `find` behind which it still works on all that it finds, and those with a value.
const FIND_ALL: &[&str] = &[
    "-delete",
    "-depth",
    "-d",
    "-follow",
    "-mount",
    "-xdev",
    "-print",
    "-print0",
    "-ls",
    "-H",
    "-L",
    "-P",
    "-type",
    "-mindepth",
    "-noleaf",
    "-exec",
    "-execdir",
    "-ok",
    "-okdir",
];

impl Walker<'_, '_> {
    /// What lies below a directory is deleted or moved with it (D2.2).
    pub(super) fn trees(&mut self, call: &Call<'_>, usage: &Usage<'_>) {
        if call.elsewhere {
            return;
        }
        let program = call.args.first().and_then(Arg::program).unwrap_or_default();
        let program = program.rsplit('/').next().unwrap_or_default();
        let has = |options: &[&str]| {
            usage
                .options_given
                .iter()
                .any(|option| options.contains(option))
        };
        let is_recursive = has(&["-r", "-R", "--recursive"]);
        let operands: Vec<Arg> = usage
            .effects
            .iter()
            .filter(|effect| effect.option.is_none())
            .filter(|effect| matches!(effect.role, Role::Read | Role::Write | Role::Move))
            .filter_map(|effect| effect.value.clone())
            .collect();
        let moved = usage
            .effects
            .iter()
            .filter(|effect| effect.option.is_none() && effect.role == Role::Move)
            .filter_map(|effect| effect.value.clone());
        let here = || Arg::known_text(".", call.span);
        let (trees, access): (Vec<Arg>, _) = match program {
            "rm" | "grm" | "srm" | "chmod" | "chown" | "chgrp" | "setfacl" if is_recursive => {
                (operands, TreeAccess::Writes)
            }
            "trash" | "trash-put" => (operands, TreeAccess::Writes),
            "mv" | "gmv" => (moved.collect(), TreeAccess::Moves),
            "git" => match git_subcommand(call) {
                Some("rm") if is_recursive && !has(&["--cached", "-n", "--dry-run"]) => {
                    (operands, TreeAccess::Writes)
                }
                Some("mv") => (moved.collect(), TreeAccess::Moves),
                Some("clean") if has(&["-f", "--force"]) && !has(&["-n", "--dry-run"]) => {
                    match operands.is_empty() {
                        true => (vec![here()], TreeAccess::Writes),
                        false => (operands, TreeAccess::Writes),
                    }
                }
                _ => return,
            },
            "rsync" if call.args.iter().any(deletes) => {
                let target = operands.last().cloned();
                (target.into_iter().collect(), TreeAccess::Writes)
            }
            "rsync" if call.args.iter().any(removes_sources) => {
                let n_sources = operands.len().saturating_sub(1);
                let sources = operands.into_iter().take(n_sources);
                (sources.collect(), TreeAccess::Moves)
            }
            _ if usage.special == Some(Special::Find) && works_on_all(call) => {
                if !deletes_found(call, usage) {
                    return;
                }
                (found(call, operands), TreeAccess::Writes)
            }
            _ => return,
        };
        let bases = self.bases.clone();
        for tree in &trees {
            self.sink.tree(tree, access, &bases);
        }
    }
}

/// The subcommand of a call of git.
fn git_subcommand<'c>(call: &'c Call<'_>) -> Option<&'c str> {
    const SUBCOMMANDS: &[&str] = &["rm", "mv", "clean"];
    call.args
        .iter()
        .skip(1)
        .filter_map(Arg::known)
        .find(|word| SUBCOMMANDS.contains(word))
}

/// Whether an argument of rsync deletes files of the target.
fn deletes(arg: &Arg) -> bool {
    let text = arg.prefix();
    text.starts_with("--del") && !text.starts_with("--delay")
}

/// Whether an argument of rsync removes what was copied.
fn removes_sources(arg: &Arg) -> bool {
    arg.prefix().starts_with("--remove-s")
}

/// The directories below which lies all that a `find` finds.
fn found(call: &Call<'_>, operands: Vec<Arg>) -> Vec<Arg> {
    match named_by_tests(call.args) {
        Some(path) => vec![Arg::known_text(path, call.span)],
        None if operands.is_empty() => vec![Arg::known_text(".", call.span)],
        None => operands,
    }
}

/// Whether no test of a `find` leaves out a part of what it finds.
fn works_on_all(call: &Call<'_>) -> bool {
    call.args
        .iter()
        .map(Arg::prefix)
        .filter(|text| text.starts_with(['-', '!', '(']))
        .take_while(|text| !text.starts_with("-exec") && !text.starts_with("-ok"))
        .all(|text| FIND_ALL.contains(&text) || is_path_test(text))
        && (named_by_tests(call.args).is_some()
            || !call.args.iter().any(|arg| is_path_test(arg.prefix())))
}

fn is_path_test(word: &str) -> bool {
    matches!(word, "-path" | "-wholename")
}

/// The directory below which all lies that a `find` finds, as its only test of paths says:
/// `find . -path './a/*'`.
pub(crate) fn named_by_tests(args: &[Arg]) -> Option<&str> {
    let is_other = |arg: &Arg| matches!(arg.prefix(), "!" | "-not" | "-o" | "-or" | "," | "-prune");
    if args.iter().any(is_other) {
        return None;
    }
    let mut named = args.windows(2).filter_map(|pair| match pair {
        [test, pattern] if is_path_test(test.prefix()) => Some(pattern.known()),
        _ => None,
    });
    let pattern = named.next()??;
    let directory = pattern.strip_suffix("/*")?;
    let is_plain = !directory.contains(['*', '?', '[', '\\']) && !matches!(directory, "" | ".");
    (is_plain && named.next().is_none()).then_some(directory)
}

/// Whether a `find` deletes what it finds.
fn deletes_found(call: &Call<'_>, usage: &Usage<'_>) -> bool {
    usage.effects.iter().any(|effect| match effect.role {
        Role::InPlace => true,
        Role::CommandUntil => {
            let program = effect.range.and_then(|(start, _)| call.args.get(start + 1));
            let program = program.and_then(Arg::program).unwrap_or_default();
            matches!(
                program.rsplit('/').next(),
                Some("rm" | "grm" | "unlink" | "shred")
            )
        }
        _ => false,
    })
}

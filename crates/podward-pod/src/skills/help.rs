//! What can be done where a skill does not start or end.

use podward_worker::SkillError;

/// What can be done about it, for people.
pub(crate) const fn help(error: &SkillError) -> Option<&'static str> {
    match error {
        SkillError::Unknown { .. } => Some(
            "`podward skills list --manifest FILE` shows the skills; a prompt whose first word is \
             `/name` always means one",
        ),
        SkillError::Broken { .. } => {
            Some("`podward skills lint DIR` shows all that is wrong with it")
        }
        SkillError::AlreadyActive { .. } => {
            Some("leave it out: it still counts; or end it first: `podward skills end POD NAME`")
        }
        SkillError::TooMany { .. } => Some("end one first: `podward skills end POD NAME`"),
        // The message says it all.
        _ => None,
    }
}

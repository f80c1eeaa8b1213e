//! The scope of a pod: what its layers declare, within what a pod above has.

use std::path::Path;

use podward_scope::{Protected, Scope, ScopeDecl, ScopeError};

use super::PodRequest;
use crate::layers::Loaded;
use crate::skills::Catalogue;
use crate::workplace::Workplace;

/// What is declared of the scope, here and in pods above.
pub(super) fn declared(loaded: &Loaded, skills: &Catalogue, workspace: &Path) -> ScopeDecl {
    let decl = skills.readable_in(&loaded.resolved.scope);
    match &loaded.under {
        Some(under) => under.estate.scope.tighten(decl, workspace),
        None => decl,
    }
}

/// Opens it, and finds out what the kernel holds of it.
pub(super) fn open_scope(
    request: &PodRequest,
    decl: &ScopeDecl,
    workspace: &Path,
    workplace: &Workplace,
    protected: &[Protected],
) -> Result<Scope, ScopeError> {
    let temp = workplace.temp();
    let scope = match &request.loaded.under {
        Some(under) => Scope::open_within(
            decl,
            &under.estate.scope.within(),
            workspace,
            &temp,
            protected,
        ),
        None => Scope::open(decl, workspace, &temp, protected),
    };
    scope?.confine(&request.helper)
}

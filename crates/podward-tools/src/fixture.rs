//! What the tests of the tools share: a workspace on disk, and calls made in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use podward_gate::{Call, CallFacts, CallId, Gate, Permit, Settled, Submitted};
use podward_policy::{Action, KnownTools, Lowered, Policies, Policy, PolicySpec, ToolName};
use podward_scope::{Scope, ScopeDecl};
use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::keep::Keep;
use crate::registry::Registry;
use crate::skill::NoSkills;
use crate::spawn::NoChildren;
use crate::tool::{
    Judge, Meanwhile, Place, Proposal, RunContext, ToolLimits, ToolOutput, Unjudged,
};

/// A workspace `w`, a home `home` and a directory `outside`, on disk.
pub(crate) struct World {
    dir: TempDir,
    pub(crate) decl: ScopeDecl,
    pub(crate) limits: ToolLimits,
    pub(crate) policies: Policies,
    pub(crate) judge: Arc<dyn Judge>,
    pub(crate) cancel: CancellationToken,
    pub(crate) keep: Option<Arc<dyn Keep>>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::inside(TempDir::new().unwrap())
    }

    pub(crate) fn inside(dir: TempDir) -> Self {
        for name in ["w", "home", "outside", "temp"] {
            fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        Self {
            dir,
            decl: ScopeDecl::default(),
            limits: ToolLimits::default(),
            policies: Policies::default(),
            judge: Arc::new(Unjudged),
            cancel: CancellationToken::new(),
            keep: None,
        }
    }

    /// Makes files of the workspace; a name that ends in `/` is a directory.
    pub(crate) fn with(self, files: &[(&str, &str)]) -> Self {
        for (name, contents) in files {
            self.write(name, contents.as_bytes());
        }
        self
    }

    pub(crate) fn write(&self, name: &str, contents: &[u8]) {
        let path = self.path(name);
        if name.ends_with('/') {
            fs::create_dir_all(path).unwrap();
            return;
        }
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }

    /// A path below the workspace, or beside it: `../outside/x`.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.real().join("w")
    }

    pub(crate) fn real(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    pub(crate) fn contents(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn place(&self) -> Place {
        Place::new(self.root(), Some(self.real().join("home")))
    }

    pub(crate) fn context(&self) -> RunContext {
        let temp = self.real().join("temp");
        let scope = Scope::open(&self.decl, &self.root(), &temp, &[]).unwrap();
        RunContext {
            scope: Arc::new(scope),
            place: self.place(),
            limits: self.limits.clone(),
            policies: self.policies.clone(),
            environment: Vec::new(),
            keep: self.keep.clone(),
            judge: Arc::clone(&self.judge),
            skills: Arc::new(NoSkills),
            children: Arc::new(NoChildren),
            session: None,
            cancel: self.cancel.clone(),
        }
    }

    pub(crate) fn propose(&self, tool: &str, arguments: Value) -> Proposal {
        Registry::built_in()
            .propose(tool, arguments, &self.place())
            .unwrap()
    }

    /// Proposes a call and runs it, whatever the policies say of it.
    pub(crate) fn call(&self, tool: &str, arguments: Value) -> ToolOutput {
        let proposal = self.propose(tool, arguments);
        self.run(proposal)
    }

    /// The text of a call that succeeds.
    #[track_caller]
    pub(crate) fn text(&self, tool: &str, arguments: Value) -> String {
        let output = self.call(tool, arguments);
        assert!(!output.is_error, "{}", output.content);
        output.content
    }

    /// The text of a call that fails.
    #[track_caller]
    pub(crate) fn failure(&self, tool: &str, arguments: Value) -> String {
        let output = self.call(tool, arguments);
        assert!(output.is_error, "{}", output.content);
        output.content
    }

    /// What is found before a person is asked about a call; `None`: nothing is looked at.
    pub(crate) fn precheck(
        &self,
        tool: &str,
        arguments: Value,
        meanwhile: Meanwhile,
    ) -> Option<Result<(), String>> {
        let proposal = self.propose(tool, arguments);
        let look = proposal.invocation.precheck(&self.context(), meanwhile)?;
        Some(look())
    }

    pub(crate) fn run(&self, proposal: Proposal) -> ToolOutput {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let ctx = self.context();
        runtime.block_on(proposal.invocation.run(permit(), &ctx))
    }
}

/// A permit for a test's call, from a gate that allows everything.
pub(crate) fn permit() -> Permit {
    let facts = CallFacts::new(
        CallId::new("call").unwrap(),
        ToolName::new("read").unwrap(),
        "{}",
        Lowered::NothingToRun,
    );
    match Gate::new(Policies::default()).submit(Call::new(facts, ())) {
        Submitted::Settled(Settled::Run(permitted)) => permitted.release().0,
        _ => panic!("a gate without policies runs every call"),
    }
}

/// A place that is judged by its text alone.
pub(crate) fn text_place() -> Place {
    Place::new("/work", Some(PathBuf::from("/home/ada"))).isolated()
}

/// Policies of one layer: its default, and rules of tool, pattern and action.
pub(crate) fn policies(default: Action, rules: &[(&str, &str, Action)]) -> Policies {
    let mut spec = PolicySpec::new(default);
    for (tool, pattern, action) in rules {
        spec = spec.rule(*tool, *pattern, *action);
    }
    let compiled = Policy::compile(&spec, &KnownTools::built_in()).unwrap();
    Policies::from(compiled.policy)
}

/// Whether `path` is a directory that this process may not write into.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The names in a directory, sorted.
pub(crate) fn names(path: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

//! The hooks that manifests declare: programs of the user, started once for each event.

mod asked;
mod input;
mod process;
mod program;
mod script;
#[cfg(test)]
mod tests;
mod writable;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use podward_manifest::{DeclaredHook, HookEvent as Declared, KeyCommand};
use podward_policy::{ToolGlob, ToolName};
use podward_protocol::SessionId;
use podward_protocol::hook::{HookDecision, HookEvent, HookOutput};
use podward_worker::{
    Hook, HookError, Hooks, PostTool, PreToolAction, PreToolCall, PromptSubmit, SyntheticResult,
    TurnAction, TurnEnd,
};

use crate::accounts::Accounts;
pub(crate) use asked::{Asked, AskedHooks};
use process::Launch;
pub(crate) use program::Program;
pub use program::ProgramProblem;
use program::Surroundings;
pub(crate) use writable::Writable;

/// What a hook says that gives no reason.
const NO_REASON: &str = "it gives no reason";

/// The `PATH` of hooks where podward has none.
const DEFAULT_PATH: &[u8] = b"/usr/local/bin:/usr/bin:/bin";

/// Variables with their values.
type Environment = Vec<(OsString, OsString)>;

/// What all hooks of a pod are told alike.
#[derive(Debug)]
pub(crate) struct HookContext {
    pub(crate) session: SessionId,
    pub(crate) pod: String,
    /// The directory that the pod works in, and every hook.
    pub(crate) workspace: PathBuf,
    /// The variables of every hook, without those of podward's own.
    pub(crate) environment: Vec<(OsString, OsString)>,
}

/// The programs of all hooks, found and checked.
#[derive(Debug)]
pub(crate) struct HookPrograms(Vec<(DeclaredHook, Program)>);

impl HookPrograms {
    /// Finds the programs of hooks in a workspace.
    ///
    /// # Errors
    /// One is not there, cannot be run, or could have been written by others or be replaced by
    /// tools; all of them are told.
    pub(crate) fn find(
        hooks: &[DeclaredHook],
        workspace: &Path,
        environment: &Environment,
        accounts: &Accounts,
        writable: &Writable,
    ) -> Result<Self, Vec<ProgramProblem>> {
        let surroundings = Surroundings {
            directory: workspace,
            path: path_of(environment),
            accounts,
            writable,
        };
        let mut found = Vec::new();
        let mut problems = Vec::new();
        for hook in hooks {
            match program::find(hook, surroundings) {
                Ok(program) => found.push((hook.clone(), program)),
                Err(problem) => problems.push(problem),
            }
        }
        if problems.is_empty() {
            Ok(Self(found))
        } else {
            Err(problems)
        }
    }

    /// Every file that a hook runs: a tool that could write one would run as the user.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        let files = self.0.iter().flat_map(|(_, program)| &program.files);
        files.map(PathBuf::as_path)
    }

    /// Files of hooks that a tool could write if they were no hook's, each with its hook: what
    /// they load from beside them is not protected.
    pub(crate) fn exposed<'a>(
        &'a self,
        is_writable: impl Fn(&Path) -> bool + 'a,
    ) -> impl Iterator<Item = (&'a str, &'a Path)> {
        self.0.iter().flat_map(move |(hook, program)| {
            let exposed = program.files.iter().filter(|file| is_writable(file));
            // The last name of a file is the one without symlinks.
            exposed
                .last()
                .map(|file| (hook.name.as_str(), file.as_path()))
        })
    }

    /// The hooks, in the order in which they were declared.
    pub(crate) fn hooks(self, context: impl Into<Arc<HookContext>>) -> Hooks {
        let context = context.into();
        let mut hooks = Hooks::new();
        for (declared, program) in self.0 {
            let hook = Arc::new(CommandHook::new(&declared, &program, &context));
            hooks = match declared.event {
                Declared::PreToolCall => hooks.pre_tool_call(hook),
                Declared::PromptSubmit => hooks.prompt_submit(hook),
                Declared::PostTool => hooks.post_tool(hook),
                Declared::TurnEnd => hooks.turn_end(hook),
                // They see no event of the worker: `asked` has them.
                Declared::PermissionAsked => hooks,
            };
        }
        hooks
    }

    /// The hooks that are told of questions, in the order in which they were declared.
    pub(crate) fn asked(&self, context: &Arc<HookContext>) -> AskedHooks {
        let declared = self.0.iter();
        let asked = declared.filter(|(hook, _)| hook.event == Declared::PermissionAsked);
        let hooks = asked.map(|(hook, program)| CommandHook::new(hook, program, context));
        AskedHooks(hooks.map(Arc::new).collect())
    }
}

/// Finds what prints a key: it is held to what hooks are held to.
///
/// # Errors
/// As for a hook.
pub(crate) fn key_program(
    command: &KeyCommand,
    environment: &Environment,
    accounts: &Accounts,
    writable: &Writable,
) -> Result<Program, ProgramProblem> {
    let surroundings = Surroundings {
        directory: &command.directory,
        path: path_of(environment),
        accounts,
        writable,
    };
    program::find_key(command, surroundings)
}

fn path_of(environment: &Environment) -> &OsStr {
    let path = environment.iter().find(|(name, _)| name == "PATH");
    path.map_or(OsStr::new(""), |(_, path)| path)
}

/// The variables of hooks, and of what prints a key: those of podward itself but for `is_secret`, and a `PATH` without
/// entries that hang on where a program happens to run, or where tools could put programs.
pub(crate) fn environment(
    variables: &[(OsString, OsString)],
    is_secret: impl Fn(&OsStr, &OsStr) -> bool,
    writable: &Writable,
) -> Environment {
    let kept = variables.iter().filter(|(name, value)| {
        // They say what this podward was started with, or would start another one oddly.
        let is_own = name.as_bytes().starts_with(b"PODWARD_");
        !is_own && name != "PATH" && !is_secret(name, value)
    });
    let path = variables.iter().rfind(|(name, _)| name == "PATH");
    let path = path.map_or(DEFAULT_PATH, |(_, path)| path.as_bytes());
    let entries: Vec<&[u8]> = path
        .split(|byte| *byte == b':')
        .filter(|entry| entry.starts_with(b"/"))
        .filter(|entry| !writable.can_fill(Path::new(OsStr::from_bytes(entry))))
        .collect();
    let path = OsString::from_vec(entries.join(&b':'));
    let mut environment: Environment = kept.cloned().chain([("PATH".into(), path)]).collect();
    environment.sort();
    environment
}

/// A program that is started for each event.
struct CommandHook {
    name: Box<str>,
    /// `None`: those of every tool.
    tools: Option<ToolGlob>,
    program: PathBuf,
    arguments: Vec<OsString>,
    timeout: Duration,
    context: Arc<HookContext>,
}

impl CommandHook {
    fn new(declared: &DeclaredHook, program: &Program, context: &Arc<HookContext>) -> Self {
        Self {
            name: declared.name.as_str().into(),
            tools: declared.tool.clone(),
            program: program.path.clone(),
            arguments: program.arguments.clone(),
            timeout: declared.timeout,
            context: Arc::clone(context),
        }
    }

    fn is_about(&self, tool: &ToolName) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.matches(tool))
    }

    /// Runs the program over an event; `None`: it has nothing against it.
    async fn ask(&self, event: HookEvent) -> Result<Option<HookOutput>, HookError> {
        let output = self.start(event).await?;
        let output = HookOutput::parse(&output.stdout).map_err(|error| {
            // Which shows what it wrote instead, often an error of its own.
            let said = match output.stderr.as_str() {
                "" => String::new(),
                said => format!("; standard error: {said}"),
            };
            HookError::new(format!("{error}{said}"))
        })?;
        Ok(output.filter(|output| output.decision != HookDecision::None))
    }

    /// Runs the program over an event: what it wrote.
    async fn start(&self, event: HookEvent) -> Result<process::Output, HookError> {
        let word = match &event {
            HookEvent::PreToolCall(_) => Declared::PreToolCall,
            HookEvent::PromptSubmit(_) => Declared::PromptSubmit,
            HookEvent::PostTool(_) => Declared::PostTool,
            HookEvent::TurnEnd(_) => Declared::TurnEnd,
            HookEvent::PermissionAsked(_) => Declared::PermissionAsked,
        };
        let failed = |why: &dyn std::fmt::Display| HookError::new(why.to_string());
        let input = input::line(&self.context, &self.name, event).map_err(|e| failed(&e))?;
        let launch = Launch {
            program: &self.program,
            arguments: &self.arguments,
            directory: &self.context.workspace,
            environment: self.environment(word.as_str()),
            timeout: self.timeout,
        };
        let output = process::run(&launch, &input)
            .await
            .map_err(|e| failed(&e))?;
        if !output.stderr.is_empty() {
            tracing::info!(hook = %self.name, stderr = ?output.stderr, "a hook wrote to its standard error");
        }
        Ok(output)
    }

    fn environment(&self, event: &str) -> Vec<(OsString, OsString)> {
        let context = &self.context;
        let own: [(&str, &OsStr); 5] = [
            ("PODWARD_HOOK", OsStr::new(&*self.name)),
            ("PODWARD_HOOK_EVENT", OsStr::new(event)),
            ("PODWARD_POD", OsStr::new(&context.pod)),
            ("PODWARD_SESSION", OsStr::new(context.session.as_str())),
            ("PODWARD_WORKSPACE", context.workspace.as_os_str()),
        ];
        let own = own.map(|(name, value)| (name.into(), value.to_owned()));
        context.environment.iter().cloned().chain(own).collect()
    }

    /// For what has already happened a hook has no say.
    async fn tell(&self, event: HookEvent) -> Result<(), HookError> {
        match self.ask(event).await? {
            None => Ok(()),
            Some(output) => Err(HookError::new(format!(
                "it wants to stop what has already happened: {}",
                words(output)
            ))),
        }
    }
}

fn words(output: HookOutput) -> Box<str> {
    match output.message {
        Some(message) if !message.trim().is_empty() => message.into(),
        Some(_) | None => NO_REASON.into(),
    }
}

#[async_trait]
impl Hook<PreToolCall> for CommandHook {
    fn name(&self) -> &str {
        &self.name
    }

    async fn on(&self, event: &mut PreToolCall) -> Result<PreToolAction, HookError> {
        if !self.is_about(event.facts().tool()) {
            return Ok(PreToolAction::Continue);
        }
        let Some(input) = input::pre_tool_call(event.facts(), event.stage()) else {
            return Ok(PreToolAction::Continue);
        };
        Ok(match self.ask(input).await? {
            None => PreToolAction::Continue,
            Some(output) => match output.decision {
                HookDecision::None => PreToolAction::Continue,
                HookDecision::Refuse => {
                    PreToolAction::Result(SyntheticResult::refuse(words(output)))
                }
                HookDecision::Abort => PreToolAction::Abort {
                    reason: words(output),
                },
            },
        })
    }
}

#[async_trait]
impl Hook<PromptSubmit> for CommandHook {
    fn name(&self) -> &str {
        &self.name
    }

    async fn on(&self, event: &mut PromptSubmit) -> Result<TurnAction, HookError> {
        Ok(match self.ask(input::prompt_submit(&event.prompt)).await? {
            None => TurnAction::Continue,
            Some(output) => TurnAction::Abort {
                reason: words(output),
            },
        })
    }
}

#[async_trait]
impl Hook<PostTool> for CommandHook {
    fn name(&self) -> &str {
        &self.name
    }

    async fn on(&self, event: &mut PostTool) -> Result<(), HookError> {
        if !self.is_about(event.facts.tool()) {
            return Ok(());
        }
        self.tell(input::post_tool(&event.facts, &event.output))
            .await
    }
}

#[async_trait]
impl Hook<TurnEnd> for CommandHook {
    fn name(&self) -> &str {
        &self.name
    }

    async fn on(&self, event: &mut TurnEnd) -> Result<(), HookError> {
        self.tell(input::turn_end(event)).await
    }
}

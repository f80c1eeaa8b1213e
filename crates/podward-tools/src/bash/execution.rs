//! Running one command line, confined, to its end.

use std::ffi::OsString;
use std::time::Duration;

use podward_scope::family::start_own;
use podward_scope::{Confined, Ending, Launch, Report};
use rustix::process::{Pid, Signal};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::process::Child;
use tokio::time::Instant;

use crate::bash::Command;
use crate::bash::capture::Capture;
use crate::bash::environment::{find_bash, settled};
use crate::files::FileError;
use crate::tool::{RunContext, ToolOutput};

/// What a command has between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(2);

/// What the end of a killed command may take: longer, and it is given up.
const LAST: Duration = Duration::from_secs(5);

/// Runs `command` to its end, its time-out or its cancellation, whichever comes first.
pub(crate) async fn execute(command: Command, ctx: &RunContext) -> ToolOutput {
    let limit = ctx.limits.bash_timeout;
    let timeout = command.timeout.map_or(limit, |asked| asked.min(limit));
    if ctx.cancel.is_cancelled() {
        return ToolOutput::failure("the call was cancelled before the command ran");
    }
    match start(&command.text, ctx) {
        Ok(running) => {
            let capture = Capture::new(ctx.limits.output_bytes);
            let (capture, end) = running.finish(capture, timeout, ctx).await;
            output(capture.into_text(), &end, timeout)
        }
        Err(error) => ToolOutput::failure(format!("the command was not run: {error}")),
    }
}

struct Running {
    helper: Child,
    control: UnixStream,
    output: pipe::Receiver,
}

fn start(text: &str, ctx: &RunContext) -> Result<Running, FileError> {
    let environment = settled(&ctx.environment);
    let Some(program) = find_bash(&environment) else {
        return Err(FileError::new(
            "there is no bash in /bin, in /usr/bin or along the PATH; install it",
        ));
    };
    let arguments = ["--noprofile", "--norc", "-c", text];
    let Confined {
        mut command,
        control,
    } = ctx.scope.command(Launch {
        program: &program,
        arguments: arguments.map(OsString::from).to_vec(),
        directory: &ctx.place.cwd,
        grace: GRACE,
    })?;
    let io = |error: std::io::Error| FileError::new(error.to_string());
    // One pipe for both: what is said comes in the order in which it was said.
    let (reader, writer) = std::io::pipe().map_err(io)?;
    command
        .envs(environment)
        .stdout(writer.try_clone().map_err(io)?)
        .stderr(writer);
    let mut command = tokio::process::Command::from(command);
    let helper = start_own(|| command.spawn(), Child::id).map_err(io)?;
    // It holds ends of the pipe and of the socket that only the helper shall hold.
    drop(command);
    control.set_nonblocking(true).map_err(io)?;
    Ok(Running {
        helper,
        control: UnixStream::from_std(control).map_err(io)?,
        output: pipe::Receiver::from_owned_fd(reader.into()).map_err(io)?,
    })
}

/// How a command came to its end.
#[derive(Debug, Default)]
struct End {
    /// Why it was ended, if it did not end by itself.
    stopped: Option<Stop>,
    /// The last thing that the helper said.
    report: Option<Report>,
    /// Whether something could not be killed.
    lingering: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    TimedOut,
    Cancelled,
}

impl Running {
    async fn finish(
        mut self,
        mut capture: Capture,
        timeout: Duration,
        ctx: &RunContext,
    ) -> (Capture, End) {
        let mut end = End::default();
        let (reports, stop) = self.control.into_split();
        let mut reports = Some(BufReader::new(reports).lines());
        // Dropped, it tells the helper to end everything.
        let mut stop = Some(stop);
        let mut group = None;
        let mut output = Some(self.output);
        let mut buffer = vec![0; 16 * 1024];
        let deadline = tokio::time::sleep(timeout);
        tokio::pin!(deadline);
        while output.is_some() || reports.is_some() {
            tokio::select! {
                read = next_bytes(&mut output, &mut buffer) => match read {
                    Some(bytes) => capture.push(bytes),
                    None => output = None,
                },
                report = next_report(&mut reports) => match report {
                    Some(Report::Started { pid }) => group = Some(pid),
                    Some(Report::Ready { .. }) => {}
                    Some(report) => end.report = Some(report),
                    None => {
                        reports = None;
                        // Its children are ended by now, unless it was killed.
                        if end.report.is_none() {
                            kill_group(group);
                        }
                        deadline.as_mut().reset(Instant::now() + LAST);
                        stop = None;
                    }
                },
                () = ctx.cancel.cancelled(), if stop.is_some() => {
                    end.stopped = Some(Stop::Cancelled);
                    stop = None;
                    deadline.as_mut().reset(Instant::now() + GRACE + LAST);
                }
                () = &mut deadline => {
                    if stop.take().is_none() {
                        kill_group(group);
                        end.lingering = true;
                        break;
                    }
                    end.stopped = Some(Stop::TimedOut);
                    deadline.as_mut().reset(Instant::now() + GRACE + LAST);
                }
            }
        }
        if end.lingering {
            tracing::warn!(?group, "a command could not be ended");
        } else if let Err(error) = self.helper.wait().await {
            tracing::warn!(%error, "a command's helper was lost");
        }
        (capture, end)
    }
}

/// The next bytes; `None`: there are no more.
async fn next_bytes<'a>(
    output: &mut Option<pipe::Receiver>,
    buffer: &'a mut [u8],
) -> Option<&'a [u8]> {
    match output {
        Some(open) => match open.read(buffer).await {
            Ok(0) | Err(_) => None,
            Ok(n_bytes) => buffer.get(..n_bytes),
        },
        None => std::future::pending().await,
    }
}

type Reports = tokio::io::Lines<BufReader<tokio::net::unix::OwnedReadHalf>>;

/// The next report; `None`: there are no more.
async fn next_report(reports: &mut Option<Reports>) -> Option<Report> {
    match reports {
        Some(open) => match open.next_line().await {
            Ok(Some(line)) => Report::parse(&line),
            Ok(None) | Err(_) => None,
        },
        None => std::future::pending().await,
    }
}

fn kill_group(group: Option<u32>) {
    let group = group
        .and_then(|pid| i32::try_from(pid).ok())
        .and_then(Pid::from_raw);
    if let Some(group) = group {
        // It may be gone.
        let _ = rustix::process::kill_process_group(group, Signal::KILL);
    }
}

fn output(mut text: String, end: &End, timeout: Duration) -> ToolOutput {
    let mut notes = Vec::new();
    match end.stopped {
        Some(Stop::TimedOut) => notes.push(format!(
            "timed out after {timeout:?}; killed with everything it started"
        )),
        Some(Stop::Cancelled) => {
            notes.push("cancelled; killed with everything it started".to_owned());
        }
        None => {}
    }
    match &end.report {
        Some(Report::Ended { ending, ended }) => {
            match ending {
                Ending::Exit(0) => {}
                Ending::Exit(code) => notes.push(format!("exit code {code}")),
                Ending::Signal(signal) if end.stopped.is_none() => {
                    notes.push(format!("ended by signal {signal}{}", signal_name(*signal)));
                }
                Ending::Signal(_) => {}
            }
            if *ended > 0 && end.stopped.is_none() {
                notes.push(format!(
                    "background processes do not outlive the call: {ended} ended"
                ));
            }
        }
        Some(Report::Failed(why) | Report::Unsupported(why)) => {
            return ToolOutput::failure(format!("the command was not run: {why}"));
        }
        Some(Report::Ready { .. } | Report::Started { .. }) | None => {
            notes.push("how it ended is not known".to_owned());
        }
    }
    if end.lingering {
        notes.push("a part of it could not be killed".to_owned());
    }
    let ended_well = matches!(
        end,
        End {
            stopped: None,
            report: Some(Report::Ended {
                ending: Ending::Exit(0),
                ..
            }),
            lingering: false,
        }
    );
    if !text.is_empty() && !text.ends_with('\n') && !notes.is_empty() {
        text.push('\n');
    }
    for note in &notes {
        text.push_str(&format!("[{note}]\n"));
    }
    if text.is_empty() {
        text.push_str("[no output]\n");
    }
    ToolOutput {
        content: text,
        is_error: !ended_well,
    }
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        1 => " (SIGHUP)",
        2 => " (SIGINT)",
        3 => " (SIGQUIT)",
        4 => " (SIGILL)",
        6 => " (SIGABRT)",
        7 => " (SIGBUS)",
        8 => " (SIGFPE)",
        9 => " (SIGKILL)",
        11 => " (SIGSEGV)",
        13 => " (SIGPIPE)",
        14 => " (SIGALRM)",
        15 => " (SIGTERM)",
        24 => " (SIGXCPU)",
        25 => " (SIGXFSZ)",
        31 => " (SIGSYS)",
        // The number says it.
        _ => "",
    }
}

//! Rules and calls of any number, always the same ones: like those of a real table, only more.

use podward_policy::{
    Action, ByteSpan, CommandSubject, HoleKind, KnownTools, LayerKind, LayerName, Location,
    Lowered, Need, Operation, Operations, PathForm, PathSubject, Policies, Policy, PolicySpec,
    RuleSpec, Subject, Text, TextBuilder, ToolName, UrlSubject,
};

/// What is looked for, and where in the table the rule stands that decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hit {
    /// One of the first twenty.
    Early,
    /// One of the last tenth.
    Late,
    /// None.
    Never,
}

pub(crate) const HITS: [Hit; 3] = [Hit::Early, Hit::Late, Hit::Never];

/// A tool and a text, as a call gives them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) tool: &'static str,
    pub(crate) text: String,
}

/// SplitMix64.
#[derive(Debug, Clone)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        usize::try_from(z % u64::try_from(n).unwrap()).unwrap()
    }
}

const HEAD: [(&str, &str); 20] = [
    ("bash", "git status*"),
    ("bash", "git diff *"),
    ("bash", "git log *"),
    ("bash", "ls *"),
    ("bash", "cargo test *"),
    ("bash", "rm -rf *"),
    ("bash", "* --force*"),
    ("bash", "sudo *"),
    ("bash", "curl *|*sh"),
    ("read", "**/*.env"),
    ("read", "~/.ssh/*"),
    ("read", "src/*"),
    ("file_edit", "src/*"),
    ("file_write", "**/*.pem"),
    ("file_edit", "/etc/*"),
    ("web_fetch", "https://*.github.com/*"),
    ("web_fetch", "https://docs.rs/*"),
    ("web_fetch", "http://169.254.169.254/*"),
    ("mcp__github__*", "*delete*"),
    ("*", "*id_rsa*"),
];

const PATH_TOOLS: [&str; 5] = ["read", "file_edit", "file_write", "glob", "grep"];

/// A rule of a kind with a number of its own, and a text that it alone matches.
fn numbered(kind: usize, n: usize) -> (&'static str, String, &'static str, String) {
    let path_tool = PATH_TOOLS[n % PATH_TOOLS.len()];
    let bash = |pattern: String, text: String| ("bash", pattern, "bash", text);
    let path = |pattern: String, text: String| (path_tool, pattern, path_tool, text);
    let url = |pattern: String, text: String| ("web_fetch", pattern, "web_fetch", text);
    match kind {
        0..=11 => bash(format!("npm run task:{n}*"), format!("npm run task:{n}")),
        12..=19 => bash(
            format!("kubectl -n ns-{n} get *"),
            format!("kubectl -n ns-{n} get pods"),
        ),
        20..=27 => bash(format!("make target-{n}"), format!("make target-{n}")),
        28..=35 => bash(format!("* --flag-{n} *"), format!("tool --flag-{n} yes")),
        36..=39 => bash(format!("*noun_{n}_*"), format!("drop noun_{n}_ now")),
        40..=44 => bash(
            format!("docker run * img-{n}:*"),
            format!("docker run --rm img-{n}:1"),
        ),
        45..=54 => path(
            format!("/home/u/proj-{n}/**"),
            format!("/home/u/proj-{n}/a.rs"),
        ),
        55..=62 => path(format!("lib/x_{n}/**/*.rs"), format!("lib/x_{n}/b/c.rs")),
        63..=68 => path(format!("**/conf-{n}.json"), format!("a/conf-{n}.json")),
        69..=73 => path(format!("**/*.ext{n}"), format!("a/b.ext{n}")),
        74..=79 => path(format!("**/dir-{n}/**"), format!("a/dir-{n}/b")),
        80..=83 => url(
            format!("https://*.x-{n}.example.org/*"),
            format!("https://a.x-{n}.example.org/"),
        ),
        84..=91 => url(
            format!("https://host-{n}.example.com/*"),
            format!("https://host-{n}.example.com/"),
        ),
        92..=95 => (
            "mcp__tracker__*",
            format!("*\"id\":\"T-{n}\"*"),
            "mcp__tracker__get",
            format!("{{\"id\":\"T-{n}\"}}"),
        ),
        96..=98 => ("skill", format!("skill-{n}"), "skill", format!("skill-{n}")),
        _ => (
            "*",
            format!("*secret-{n}*"),
            "read",
            format!("a/secret-{n}"),
        ),
    }
}

fn action(random: &mut Random) -> Action {
    [Action::Allow, Action::Ask, Action::Deny][random.below(3)]
}

/// Rules of one table, the same for the same number.
pub(crate) fn rules(n_rules: usize) -> Vec<RuleSpec> {
    let mut random = Random(7);
    let file: std::sync::Arc<str> = "podward.toml".into();
    let rule = |idx: usize, tool: &str, pattern: String, action| RuleSpec {
        tool: tool.to_owned(),
        pattern,
        action,
        message: None,
        grantable: true,
        ask_timeout: None,
        location: Location {
            file: std::sync::Arc::clone(&file),
            line: u32::try_from(idx + 1).unwrap(),
            column: 1,
        },
    };
    (0..n_rules)
        .map(|idx| match HEAD.get(idx) {
            Some((tool, pattern)) => rule(idx, tool, (*pattern).to_owned(), action(&mut random)),
            None => {
                let (tool, pattern, ..) = numbered(random.below(100), idx);
                rule(idx, tool, pattern, action(&mut random))
            }
        })
        .collect()
}

pub(crate) fn spec(n_rules: usize) -> PolicySpec {
    let mut spec = PolicySpec::new(Action::Ask);
    spec.rules = rules(n_rules);
    spec
}

pub(crate) fn compiled(n_rules: usize) -> Policy {
    Policy::compile_unread(&spec(n_rules), &KnownTools::built_in()).unwrap()
}

pub(crate) fn policies(n_rules: usize) -> Policies {
    Policies::from(compiled(n_rules)).indexed()
}

/// As many layers of the same rules.
pub(crate) fn layers(n_rules: usize, n_layers: usize) -> Policies {
    let kinds = [LayerKind::Machine, LayerKind::User, LayerKind::Manifest];
    let layer = |kind: &LayerKind| (LayerName { kind: *kind }, compiled(n_rules));
    Policies::new(kinds.iter().take(n_layers).map(layer).collect()).indexed()
}

/// Sixteen targets of about so many bytes.
pub(crate) fn targets(n_rules: usize, hit: Hit, n_bytes: usize) -> Vec<Target> {
    let mut random = Random(13);
    // The same draws as for the rules: which kind each number got.
    let mut kinds = Random(7);
    let kinds: Vec<usize> = (0..n_rules)
        .map(|idx| {
            let kind = if idx < HEAD.len() {
                0
            } else {
                kinds.below(100)
            };
            kinds.below(3);
            kind
        })
        .collect();
    let early = [
        ("bash", "git status -s"),
        ("bash", "cargo test --all"),
        ("bash", "rm -rf build"),
        ("bash", "tool --force x"),
        ("read", "app/.env"),
        ("read", "src/main.rs"),
        ("file_edit", "src/lib/a.rs"),
        ("web_fetch", "https://docs.rs/x"),
    ];
    (0..16)
        .map(|idx| {
            let (tool, text) = match hit {
                Hit::Early => {
                    let (tool, text) = early[idx % early.len()];
                    (tool, text.to_owned())
                }
                Hit::Late if n_rules > 2 * HEAD.len() => {
                    let at = n_rules - 1 - random.below(n_rules / 10);
                    let (.., tool, text) = numbered(kinds[at], at);
                    (tool, text)
                }
                Hit::Late | Hit::Never => {
                    let (.., tool, text) = numbered(idx * 6, 4_000_000 + random.below(99_999));
                    (tool, text)
                }
            };
            let text = padded(tool, text, n_bytes, idx);
            Target { tool, text }
        })
        .collect()
}

/// The text with more of the same kind in it, where rules of this kind leave it open.
fn padded(tool: &str, text: String, n_bytes: usize, idx: usize) -> String {
    let filler = match tool {
        "bash" => " --opt a",
        "web_fetch" => "docs/",
        _ if tool.starts_with("mcp") => " ",
        "skill" => "",
        _ => "dir/",
    };
    let missing = n_bytes.saturating_sub(text.len());
    let mut more = filler.repeat(missing / filler.len().max(1));
    if filler.is_empty() {
        more.clear();
    }
    match tool {
        "skill" => text,
        "bash" if text.starts_with("make") => text,
        "bash" | "web_fetch" => format!("{text}{more}"),
        _ if tool.starts_with("mcp") => format!("{text}{more}"),
        // Before the name at the end, behind the first directory.
        _ => match text.rsplit_once('/') {
            Some((front, name)) if idx.is_multiple_of(2) || !front.contains("conf") => {
                format!("{front}/{more}{name}")
            }
            _ => text,
        },
    }
}

/// One operation, with one form of its text.
pub(crate) fn operation(target: &Target) -> Operation {
    operation_on(target, Text::known(target.text.as_str()))
}

fn operation_on(target: &Target, text: Text) -> Operation {
    let subject = match target.tool {
        "bash" => command(text),
        "web_fetch" => {
            let rest = target.text.strip_prefix("https://").unwrap();
            let host_len = rest.find('/').unwrap_or(rest.len());
            Subject::Url(UrlSubject {
                text,
                host: ByteSpan::new(8..8 + host_len),
                has_user_info: false,
            })
        }
        tool if PATH_TOOLS.contains(&tool) => Subject::path(PathSubject {
            lexical: PathForm {
                absolute: match target.text.starts_with('/') {
                    true => text.clone(),
                    false => TextBuilder::new().known("/w/").text(&text).build(),
                },
                short: text,
                home: None,
            },
            resolved: None,
            further: Vec::new(),
        }),
        _ => Subject::Plain(text),
    };
    Operation {
        tool: ToolName::new(target.tool).unwrap(),
        subject,
        need: Need::Full,
        span: None,
        partial: Vec::new(),
    }
}

fn command(text: Text) -> Subject {
    let known = text.known_part();
    let name_end = known.find(' ').unwrap_or(known.len());
    Subject::Command(CommandSubject {
        name_start: 0,
        name_end,
        written: text,
        further: Vec::new(),
        place: None,
    })
}

/// Calls with one operation, one form, no hole.
pub(crate) fn calls(n_rules: usize, hit: Hit, n_bytes: usize) -> Vec<Lowered> {
    let targets = targets(n_rules, hit, n_bytes);
    targets
        .iter()
        .map(|target| operation(target).into())
        .collect()
}

/// Sixteen calls, two operations of each with a hole where their last word or name is: the value of a
/// variable, in quotes or not, or a file name pattern.
pub(crate) fn calls_with_holes(
    n_rules: usize,
    n_operations: usize,
    n_bytes: usize,
) -> Vec<Lowered> {
    let kinds = [HoleKind::Quoted, HoleKind::Unquoted, HoleKind::FileGlob];
    let all: Vec<Target> = HITS
        .iter()
        .flat_map(|hit| targets(n_rules, *hit, n_bytes))
        .collect();
    (0..16)
        .map(|idx| {
            let mut n_holes = 0;
            let of_call = all
                .iter()
                .cycle()
                .skip(idx * 13)
                .step_by(7)
                .take(n_operations);
            let operations = of_call.map(|target| match with_hole(target, kinds[idx % 3]) {
                Some(text) if n_holes < 2 => {
                    n_holes += 1;
                    operation_on(target, text)
                }
                Some(_) | None => operation(target),
            });
            let operations = Operations::from_vec(operations.collect()).unwrap();
            Lowered::Operations(operations)
        })
        .collect()
}

/// `None`: the texts of the tool have no holes.
fn with_hole(target: &Target, kind: HoleKind) -> Option<Text> {
    let (separator, kind) = match target.tool {
        "bash" => (' ', kind),
        "web_fetch" if kind == HoleKind::FileGlob => return None,
        "web_fetch" => ('/', kind),
        tool if PATH_TOOLS.contains(&tool) => ('/', kind),
        _ => return None,
    };
    let (front, _) = target.text.rsplit_once(separator)?;
    let text = TextBuilder::new()
        .known(front)
        .known(&separator.to_string());
    Some(text.hole(kind).build())
}
